"""What one index is over."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from attrs import field, frozen

from .files import Files
from .settings import Settings


@frozen
class Corpus:
    """An agent's memory or a vault, with its index: ``database`` may be deleted at any time."""

    name: str
    kind: Literal["memory", "shared"]
    files: Files = field(repr=False)
    database: Path
    settings: Settings = field(repr=False)
