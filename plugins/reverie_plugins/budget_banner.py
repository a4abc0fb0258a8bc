"""The budget banner: say loudly, above its section, that a memory file is too long."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from attrs import define, evolve

from reverie_hookspecs import (
    Agent,
    Archive,
    ArchiveSettings,
    DreamSettings,
    IsolationSettings,
    MemorySettings,
    Plugin,
    Section,
    hookimpl,
)

from . import template
from .night import moves_out

SHRUNK: Final = "shrunk"
"""A section with this note shows an index in place of its file, and needs no banner."""


@define(eq=False)
class BudgetBanner(Plugin):
    """Stands around MEMORY.md and USER.md; the files themselves are never touched."""

    blocks = (MemorySettings, ArchiveSettings, DreamSettings, IsolationSettings)

    archive: Archive | None = None

    @hookimpl(wrapper=True, tryfirst=True)
    def compose_section(self, agent: Agent) -> Generator[None, list[Section], list[Section]]:
        sections = yield
        memory = agent.settings[MemorySettings]
        swept = {"MEMORY.md"} if moves_out(agent.settings, self.archive) else set()
        return [
            bannered(section, memory.budgets.get(section.file, 0), memory.over_budget, section.file in swept)
            for section in sections
        ]


def bannered(section: Section, budget: int, severity: str, swept: bool) -> Section:
    """The section, under a banner if its file is longer than its budget, in characters; 0 is no budget.

    ``swept`` says that a night moves text out of the file, so the banner may point there.
    """
    if not 0 < budget < section.length or SHRUNK in section.notes:
        return section
    figures = {"length": f"{section.length:,}", "budget": f"{budget:,}", "percent": -(-section.length * 100 // budget)}
    banner = template(f"banner_{severity}.md").substitute(file=section.file, **figures)
    sweep = "\n" + template("banner_sweep.md").substitute() if swept else ""
    note = f"over budget: {section.length:,} of {budget:,} characters"
    return evolve(section, body=f"{banner}{sweep}\n\n{section.body}", notes=(*section.notes, note))
