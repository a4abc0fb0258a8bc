"""The workspace's own files as sections, the memory rule, and the menu of skills."""

from __future__ import annotations

import re
from typing import Final

from attrs import define

from reverie_hookspecs import (
    Agent,
    Archive,
    ArchiveSettings,
    IsolationSettings,
    MemorySettings,
    NotFound,
    Plugin,
    Section,
    hookimpl,
)

from . import template

SKILL_NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
AUTO: Final = 80
"""Characters that the description of a learned skill may have in the menu."""
LONG: Final = 1024
"""Characters that any description may have in the menu."""


@define(eq=False)
class Sections(Plugin):
    """MEMORY RULE, the six files of the workspace, and AVAILABLE SKILLS."""

    blocks = (MemorySettings, ArchiveSettings, IsolationSettings)

    archive: Archive | None

    @hookimpl(specname="compose_section")
    def memory_rule(self, agent: Agent) -> Section:
        return Section("memory-rule", rule(agent, searchable(agent, self.archive)), before=("agents",))

    @hookimpl(specname="compose_section")
    def agents(self, agent: Agent) -> Section:
        if agent.files.read("AGENTS.md").state == "missing":
            raise NotFound(
                f"AGENTS.md is missing in {agent.files.root}, and nothing is composed without it; "
                f"`reverie init {agent.files.root}` makes one"
            )
        return shown(agent, "agents", "AGENTS.md", "AGENT IDENTITY", after=("memory-rule",))

    @hookimpl(specname="compose_section")
    def identity(self, agent: Agent) -> Section:
        return shown(agent, "identity", "IDENTITY.md", after=("agents",))

    @hookimpl(specname="compose_section")
    def soul(self, agent: Agent) -> Section:
        return shown(agent, "soul", "SOUL.md", after=("identity",))

    @hookimpl(specname="compose_section")
    def user(self, agent: Agent) -> Section:
        return shown(agent, "user", "USER.md", "USER PROFILE", after=("soul",))

    @hookimpl(specname="compose_section")
    def skills(self, agent: Agent) -> Section | None:
        lines, notes = menu(agent)
        if not lines:
            return None
        after, before = ("user",), ("retrieval", "memory")
        return Section("skills", "\n".join(lines), "AVAILABLE SKILLS", notes=notes, after=after, before=before)

    @hookimpl(specname="compose_section")
    def memory(self, agent: Agent) -> Section:
        return shown(agent, "memory", "MEMORY.md", "LONG-TERM MEMORY", after=("user", "skills", "retrieval"))

    @hookimpl(specname="compose_section")
    def heartbeat(self, agent: Agent) -> Section:
        return shown(agent, "heartbeat", "HEARTBEAT.md", "HEARTBEAT CONFIG", after=("memory",))


def shown(agent: Agent, name: str, file: str, title: str = "", after: tuple[str, ...] = ()) -> Section:
    """A file of the workspace as a section; a missing one has an empty body, an unreadable one raises."""
    text = agent.files.read(file).text
    return Section(name, text, title, file, len(text), after=after)


def searchable(agent: Agent, archive: Archive | None) -> bool:
    """Whether what leaves the prompt can be found again by the agent."""
    switched = agent.settings[ArchiveSettings].enabled and not agent.settings[IsolationSettings].disable_archive
    return archive is not None and switched


def rule(agent: Agent, found: bool) -> str:
    """The memory rule; the two tiers only where a record of events can be found again."""
    memory = agent.settings[MemorySettings]
    text = template("memory_rule.md").substitute(root=agent.files.root)
    if found and memory.write_routing:
        text += "\n\n" + template("memory_tiers.md").substitute(folder=memory.episodic_archive_dir)
    return text


def menu(agent: Agent) -> tuple[list[str], tuple[str, ...]]:
    """A line for each skill that may be called, by name, and notes on those that cannot be read."""
    lines, notes = [], []
    for path in agent.files.names("skills", deep=True):
        folder, _, rest = path.removeprefix("skills/").partition("/")
        if rest != "SKILL.md":
            continue
        line, note = entry(agent, folder, path)
        lines += [line] * bool(line)
        notes += [note] * bool(note)
    return lines, tuple(notes)


def entry(agent: Agent, folder: str, path: str) -> tuple[str, str]:
    """A skill's line in the menu, or why it has none."""
    from reverie.markdown.skill import read_skill  # its YAML library is loaded only where there is a skill

    snapshot = agent.files.read(path)
    if snapshot.state == "unreadable":
        return "", f"{path} is left out: {snapshot.reason}"
    skill = read_skill(snapshot.text, folder)
    if skill.error or not SKILL_NAME.fullmatch(skill.name):
        return "", f"{path} is left out: {skill.error or 'its name is not of the form a-z, 0-9, -'}"
    if not skill.invocable:
        return "", ""
    return f"/{skill.name}: {cut(skill.description, AUTO if skill.origin == 'auto' else LONG)}", ""


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
