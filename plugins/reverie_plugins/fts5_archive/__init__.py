"""The archive: memory beyond the prompt, indexed into SQLite FTS5."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from attrs import define

from reverie_hookspecs import (
    Archive,
    ArchiveSettings,
    Indexer,
    IsolationSettings,
    MemorySettings,
    Plugin,
    Section,
    StalenessSettings,
    archive_off,
    hookimpl,
)
from reverie_plugins import template

if TYPE_CHECKING:
    from collections.abc import Collection, Generator

    from reverie_hookspecs import Agent, Corpus, Dream, Hit, IndexJob, Lines, Stage, Tool

NAME: Final = "index"
SHRUNK: Final = "shrunk"
BEFORE: Final = ("memory", "heartbeat")
AFTER: Final = ("memory-rule", "agents", "identity", "soul", "user", "skills")


@define(eq=False)
class Fts5Archive(Plugin):
    """Indexes an agent's notes, finds passages in them, and shows an index for a MEMORY.md over its budget."""

    provides = (Archive,)
    blocks = (ArchiveSettings, IsolationSettings, MemorySettings, StalenessSettings)

    indexer: Indexer

    # The capability

    def search(
        self, corpus: Corpus, query: str, limit: int = 6, passage_tokens: int = 120, max_tokens: int | None = None
    ) -> list[Hit]:
        from .answer import asked

        return asked(corpus, query, limit, passage_tokens, max_tokens, self.indexer).hits

    def explain(self, corpus: Corpus, query: str, limit: int = 6) -> list[str]:
        from .explain import told
        from .search import search
        from .store import answered

        return told(answered(corpus, self.indexer, lambda asked: search(asked, corpus.kind, query, limit)))

    def get(self, corpus: Corpus, path: str, start: int = 1, lines: int = 200) -> Lines:
        from .get import get

        return get(corpus, path, start, lines)

    def holds(self, corpus: Corpus, hashes: Collection[str]) -> set[str]:
        from .store import held

        return held(corpus, hashes)

    # What it adds

    @hookimpl
    def on_index(self, corpus: Corpus) -> IndexJob | None:
        from .index import job

        return None if archive_off(corpus.settings) else job(corpus)

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage | None:
        if archive_off(agent.settings):
            return None
        from reverie_hookspecs import Stage  # composing needs none

        return Stage(NAME, self.indexed, "sweep", writes=False, after=("gather",), before=("compactor", "review"))

    def indexed(self, dream: Dream) -> Dream:
        """The letter, once the index is up to date; of a rehearsal as it is, for nothing may be written."""
        if dream.rehearsal:
            return dream
        for report in self.indexer.index(dream.agent.corpus).reports:
            dream = dream.note(NAME, report)
        return dream

    @hookimpl(specname="tool_registry")
    def memory_search(self, agent: Agent) -> Tool | None:
        from .tool import search_tool

        return None if archive_off(agent.settings) else search_tool(agent, self.indexer)

    @hookimpl(specname="tool_registry")
    def memory_get(self, agent: Agent) -> Tool | None:
        from .tool import get_tool

        return None if archive_off(agent.settings) else get_tool(agent)

    @hookimpl(specname="compose_section")
    def retrieval(self, agent: Agent) -> Section | None:
        if archive_off(agent.settings):
            return None
        body = template("memory_retrieval.md").substitute()
        return Section("retrieval", body, "MEMORY RETRIEVAL", after=AFTER, before=BEFORE)

    @hookimpl(specname="compose_section", wrapper=True, trylast=True)
    def shrink(self, agent: Agent) -> Generator[None, list[Section], list[Section]]:
        sections = yield
        budget = agent.settings[MemorySettings].memory_budget_chars
        if not budget or archive_off(agent.settings):
            return sections
        return [shrunk(section, budget) if section.name == "memory" else section for section in sections]


def shrunk(section: Section, budget: int) -> Section:
    """The section as an index, if its file is longer than the budget and has a heading."""
    if section.length <= budget:
        return section
    from attrs import evolve

    from .outline import outline

    index = outline(section.body)
    if not index:
        return section
    lead = template("memory_index.md").substitute(length=f"{section.length:,}", budget=f"{budget:,}")
    note = f"shown as an index: {section.length:,} of {budget:,} characters"
    return evolve(section, body=f"{lead}\n\n{index}", notes=(*section.notes, SHRUNK, note))
