"""One agent: who it is, where its files are, what was configured for it."""

from __future__ import annotations

from pathlib import Path

from attrs import field, frozen

from .corpus import Corpus
from .files import Files
from .settings import Settings


@frozen
class Conversation:
    """One conversation of an agent that keeps them apart: a channel and the chat's id in it."""

    channel: str
    chat: str


@frozen
class Agent:
    """An agent as the hooks see it; ``state`` is the folder for what is neither memory nor derived from it."""

    id: str
    files: Files = field(repr=False)
    settings: Settings = field(repr=False)
    corpus: Corpus = field(repr=False)
    state: Path
    conversation: Conversation | None = None
