"""The workspace's own files as sections, the memory rule, and the menu of skills."""

from __future__ import annotations

import logging
import re
from typing import Final

from attrs import define

from reverie_hookspecs import (
    Agent,
    Archive,
    ArchiveSettings,
    DreamSettings,
    IsolationSettings,
    MemorySettings,
    NotFound,
    Plugin,
    Section,
    hookimpl,
)

from . import template
from .night import moves_out, unsearchable

logger = logging.getLogger(__name__)
ORDER: Final = ("memory-rule", "agents", "identity", "soul", "user", "skills", "retrieval", "memory", "heartbeat")
SKILL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
AUTO: Final = 80
"""Characters that the description of a learned skill may have in the menu."""
LONG: Final = 1536
"""Characters that any description may have in the menu, as in Claude Code's own."""


@define(eq=False)
class Sections(Plugin):
    """MEMORY RULE, the six files of the workspace, and AVAILABLE SKILLS."""

    blocks = (MemorySettings, ArchiveSettings, IsolationSettings, DreamSettings)

    archive: Archive | None

    @hookimpl(specname="compose_section")
    def memory_rule(self, agent: Agent) -> Section:
        return placed("memory-rule", rule(agent, self.archive))

    @hookimpl(specname="compose_section")
    def agents(self, agent: Agent) -> Section:
        if agent.files.read("AGENTS.md").state == "missing":
            from shlex import quote

            raise NotFound(
                f"AGENTS.md is missing in {agent.files.root}, and nothing is composed without it; "
                f"`reverie init {quote(str(agent.files.root))}` makes one"
            )
        return shown(agent, "agents", "AGENTS.md", "AGENT IDENTITY")

    @hookimpl(specname="compose_section")
    def identity(self, agent: Agent) -> Section:
        return shown(agent, "identity", "IDENTITY.md")

    @hookimpl(specname="compose_section")
    def soul(self, agent: Agent) -> Section:
        return shown(agent, "soul", "SOUL.md")

    @hookimpl(specname="compose_section")
    def user(self, agent: Agent) -> Section:
        return shown(agent, "user", "USER.md", "USER PROFILE")

    @hookimpl(specname="compose_section")
    def skills(self, agent: Agent) -> Section | None:
        lines, notes = menu(agent)
        if not lines:
            for note in notes:
                logger.warning("%s: %s", agent.id, note)
            return None
        return placed("skills", "\n".join(lines), "AVAILABLE SKILLS", notes=notes)

    @hookimpl(specname="compose_section")
    def memory(self, agent: Agent) -> Section:
        return shown(agent, "memory", "MEMORY.md", "LONG-TERM MEMORY")

    @hookimpl(specname="compose_section")
    def heartbeat(self, agent: Agent) -> Section:
        return shown(agent, "heartbeat", "HEARTBEAT.md", "HEARTBEAT CONFIG")


def shown(agent: Agent, name: str, file: str, title: str = "") -> Section:
    """A file of the workspace as a section; a missing one has an empty body, an unreadable one raises."""
    return placed(name, agent.files.read(file).text, title, file)


def placed(name: str, body: str, title: str = "", file: str = "", notes: tuple[str, ...] = ()) -> Section:
    """A section after all that come before it and before the rest, whichever of them are there."""
    at = ORDER.index(name)
    return Section(name, body, title, file, len(body) if file else 0, notes, ORDER[:at], ORDER[at + 1 :])


def rule(agent: Agent, archive: Archive | None) -> str:
    """The memory rule; the two tiers only where a record of events can be found again."""
    memory = agent.settings[MemorySettings]
    paragraphs = [template("memory_rule.md").substitute(root=agent.files.root)]
    if moves_out(agent.settings, archive):
        paragraphs[0] += "\n" + template("memory_night.md").substitute()
    if memory.write_routing and not unsearchable(agent.settings, archive):
        paragraphs.append(template("memory_tiers.md").substitute(folder=memory.episodic_archive_dir))
    return "\n\n".join(paragraphs)


def menu(agent: Agent) -> tuple[list[str], tuple[str, ...]]:
    """A line for each skill that may be called, by name, and notes on those that have none."""
    lines: dict[str, str] = {}
    notes = []
    for path in agent.files.names("skills", deep=True):
        folder, _, rest = path.removeprefix("skills/").partition("/")
        if rest != "SKILL.md":
            continue
        name, line, note = entry(agent, folder, path)
        if name in lines:
            line, note = "", f"{path} is left out: another skill is called {name}"
        lines |= {name: line} if line else {}
        notes += [note] if note else []
    return [lines[name] for name in sorted(lines)], tuple(notes)


def entry(agent: Agent, folder: str, path: str) -> tuple[str, str, str]:
    """A skill's name and its line in the menu, or why it has none."""
    from reverie.markdown.skill import read_skill  # its YAML library is loaded only where there is a skill

    snapshot = agent.files.read(path)
    if snapshot.state == "unreadable":
        return "", "", f"{path} is left out: {snapshot.reason}"
    skill = read_skill(snapshot.text, folder)
    if skill.error or not SKILL_NAME.fullmatch(skill.name):
        return "", "", f"{path} is left out: {skill.error or 'its name is not of the form a-z, 0-9, -'}"
    about = cut(skill.description, AUTO if skill.origin == "auto" else LONG)
    line = f"/{skill.name}: {about}" if about else f"/{skill.name}"
    return skill.name, line if skill.invocable else "", ""


def cut(text: str, most: int) -> str:
    """The text, its end replaced by an ellipsis where it is longer than ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
