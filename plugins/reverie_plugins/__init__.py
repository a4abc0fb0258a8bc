"""The first-party plugins, one module each, found through entry points like any other."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Final

TEMPLATES: Final = Path(__file__).parent / "templates"


def template(name: str) -> Template:
    """A text template from this package's templates folder, without its final newline."""
    return Template((TEMPLATES / name).read_text("utf-8").rstrip("\n"))
