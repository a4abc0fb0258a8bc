"""What commands, routes and duties reach everything else through."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from .agent import Agent, Conversation
from .corpus import Corpus
from .dream import Dream, Mode, Scope, Stage
from .index import Indexing


class Deployment(Protocol):
    """One configuration with its active plugins: click's ``ctx.obj``, ``request.deployment``, a duty's argument."""

    @property
    def home(self) -> Path:
        """The folder of all agents and vaults."""

    def agents(self) -> Sequence[Agent]:
        """Every configured agent that may be used."""

    def agent(self, name: str, conversation: Conversation | None = None) -> Agent:
        """An agent by its id, or by the path of its workspace; UnknownAgent, with the nearest known id."""

    def compose(self, agent: Agent) -> str:
        """The text of its CLAUDE.md."""

    def index(self, corpus: Corpus, full: bool = False) -> Indexing:
        """Bring the corpus's index up to date."""

    def plan(self, agent: Agent, scopes: Iterable[Scope] = ..., mode: Mode | None = None) -> list[Stage]:
        """The stages of a run, in order."""

    def run(self, agent: Agent, *, rehearsal: bool = False) -> Dream:
        """Dream now; a rehearsal changes nothing."""

    def lock(self, agent: Agent) -> AbstractContextManager[None]:
        """The one lock of the agent's workspace, over all processes."""
