"""The budget banner: say loudly, above its section, that a memory file is too long."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from attrs import define, evolve

from reverie_hookspecs import Agent, MemorySettings, Plugin, Section, hookimpl

from . import template

SHRUNK: Final = "shrunk"
"""A section with this note shows an index in place of its file, and needs no banner."""


@define(eq=False)
class BudgetBanner(Plugin):
    """Stands around MEMORY.md and USER.md; the files themselves are never touched."""

    blocks = (MemorySettings,)

    @hookimpl(wrapper=True, tryfirst=True)
    def compose_section(self, agent: Agent) -> Generator[None, list[Section], list[Section]]:
        sections = yield
        memory = agent.settings[MemorySettings]
        budgets = {"MEMORY.md": memory.memory_budget_chars, "USER.md": memory.user_budget_chars}
        return [bannered(section, budgets.get(section.file, 0), memory.over_budget) for section in sections]


def bannered(section: Section, budget: int, severity: str) -> Section:
    """The section, under a banner if its file is longer than its budget, in characters; 0 is no budget."""
    if not 0 < budget < section.length or SHRUNK in section.notes:
        return section
    figures = {"length": f"{section.length:,}", "budget": f"{budget:,}", "percent": section.length * 100 // budget}
    banner = template(f"banner_{severity}.md").substitute(file=section.file, **figures)
    note = f"over budget: {section.length:,} of {budget:,} characters"
    return evolve(section, body=f"{banner}\n\n{section.body}", notes=(*section.notes, note))
