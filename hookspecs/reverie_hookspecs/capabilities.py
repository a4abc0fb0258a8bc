"""What a plugin can be asked for: small protocols, each filled by whoever provides it.

A plugin names those it fills in ``provides`` and asks for one by a field of that type; ``Archive | None`` is an
optional need. Only Policy may have several providers: one refusal is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from .agent import Agent
    from .corpus import Corpus
    from .dream import Dream
    from .files import Run
    from .index import Hit, Indexing, IndexJob, Lines
    from .model import Completion, ModelRequest
    from .section import Section
    from .tool import Route, Tool


class Archive(Protocol):
    """Memory beyond the prompt: searchable text of one corpus at a time.

    ``reverie.testing.ArchiveContract`` says what is expected of it.
    """

    def search(
        self, corpus: Corpus, query: str, limit: int = 6, passage_tokens: int = 120, max_tokens: int | None = None
    ) -> list[Hit]:
        """The best passages, best first; any text is a query, none raises."""

    def explain(self, corpus: Corpus, query: str, limit: int = 6) -> list[str]:
        """How a query is understood and why its passages come in that order, line by line, for a person."""

    def get(self, corpus: Corpus, path: str, start: int = 1, lines: int = 200) -> Lines:
        """Lines of one file of the corpus; Refused or NotFound for what is none."""

    def holds(self, corpus: Corpus, hashes: Collection[str]) -> set[str]:
        """Those of the entries, each named by its hash, that are indexed."""


class Vault(Protocol):
    """Notes shared between agents, each known by a free name."""

    def find(self, corpus: Corpus, name: str) -> str | None:
        """The path of the live note of that name."""

    def similar(self, corpus: Corpus, text: str) -> Sequence[tuple[str, float]]:
        """Notes with the share of the text's leading words they hold, best first."""

    def read(self, corpus: Corpus, name: str) -> str:
        """The whole note."""

    def write(self, corpus: Corpus, name: str, text: str, run: Run) -> str:
        """Create or replace a note; its path."""

    def remove(self, corpus: Corpus, name: str, run: Run) -> None:
        """Take a note away; its pre-image is kept."""


class Model(Protocol):
    """A language model that answers and does nothing else."""

    def complete(self, request: ModelRequest) -> Completion:
        """Answer one request; raises ReverieError with the reason where there is no usable answer."""


class Applying(Protocol):
    """Puts ops into memory files, safely; ``reverie.testing.ApplyingContract`` says what that means."""

    def apply(self, dream: Dream) -> Dream:
        """The letter, once each of its ``ops`` stands or was held back: a page of ``applied`` and ``skipped``.

        What left a file is named in ``moved``. Everything is written through ``dream.agent.files``.
        """


class Sessions(Protocol):
    """The conversations an agent has with Claude Code."""

    def idle(self, agent: Agent, session: str) -> bool:
        """Whether nothing is under way in it."""

    def notify(self, agent: Agent, session: str, text: str) -> bool:
        """Put a notice into its next turn; False if it has ended."""

    def turns(self, agent: Agent, since: datetime) -> Sequence[Mapping[str, Any]]:
        """The turns that ended since, oldest first."""


class Policy(Protocol):
    """May refuse anything an agent would see or do; it can never allow what another refused."""

    def refuses(self, agent: Agent, value: Section | Tool | IndexJob | Route | object) -> str | None:
        """A sentence for whoever asked, or None."""


class Indexer(Protocol):
    """Brings a corpus's index up to date; the kernel provides it, and whoever has written asks it."""

    def index(self, corpus: Corpus, full: bool = False) -> Indexing:
        """Run the index jobs of the corpus."""
