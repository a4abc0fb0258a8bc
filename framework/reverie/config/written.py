"""What a config.json says: read, held against what is owned, and made a configuration or a list of problems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from reverie_hookspecs.errors import ConfigError

from .configuration import Claims, Config
from .document import Document, Tree, joined, load_bytes, parse
from .entry import AgentEntry, Skipped, admit, doubled
from .expansion import expand, expand_sections
from .outline import outline_of
from .remark import Remark, folded, nearest, printable, shown
from .version import KEY, Version, modernised, version_of

OUTERMOST = ("agents", "gateway", "plugins", KEY)


class Source(NamedTuple):
    """What was read, before anybody claimed a section of it."""

    file: Path
    home: Path
    environ: Mapping[str, str]
    tree: Tree
    remarks: tuple[Remark, ...]


def opened(file: Path, home: Path, environ: Mapping[str, str]) -> Source:
    """A file as it was read, brought up to date in memory."""
    document = parse(load_bytes(file), file)
    with_age, remarks = modernised(document.tree)
    return Source(file, home, environ, with_age, (*_repeated(document), *remarks))


def made(source: Source, claims: Claims) -> Config:
    """The configuration some blocks make of what was read."""
    try:
        return _made(source, claims)
    except RecursionError:
        raise ConfigError([f"{source.file} is nested too deeply to be a configuration; take that out"]) from None


def _made(source: Source, claims: Claims) -> Config:
    gateway, gateway_problems = gateway_of(source, claims)
    plugins, plugin_problems = plugins_of(source)
    agents, skipped, agent_problems = agents_of(source, claims)
    if problems := [*gateway_problems, *plugin_problems, *agent_problems]:
        raise ConfigError([f"{source.file}: {problem}" for problem in problems])
    version = _version(source.tree)
    return Config(source.file, source.home, agents, skipped, plugins, version, claims, gateway, source)


def gateway_of(source: Source, claims: Claims) -> tuple[Tree, list[str]]:
    """The gateway's tree, and what forbids to use it."""
    gateway = source.tree.get("gateway")
    if not isinstance(gateway, dict):
        return {}, [missing(source.tree, "gateway", 'object; add "gateway": {}')]
    return expand_sections(gateway, outline_of(claims).names("", "gateway"), source.environ, "gateway")


def plugins_of(source: Source) -> tuple[dict[str, bool | str], list[str]]:
    """What the deployment selects, slot by slot, and what forbids to use it; null is not set."""
    unset: list[str] = []
    stated = expand(source.tree.get("plugins"), source.environ, "plugins", unset)
    if stated is None:
        return {}, []
    if not isinstance(stated, dict):
        return {}, [f"plugins: {shown(stated)} is not an object; write slots and true, false or a plugin's name"]
    wrong = {slot: choice for slot, choice in stated.items() if not isinstance(choice, bool | str | None)}
    unset += [
        f"{joined('plugins', slot)}: {shown(choice)} is no choice; write true, false or the name of a plugin"
        for slot, choice in wrong.items()
    ]
    return {slot: choice for slot, choice in stated.items() if choice is not None and slot not in wrong}, unset


def agents_of(source: Source, claims: Claims) -> tuple[tuple[AgentEntry, ...], tuple[Skipped, ...], list[str]]:
    """The agents that may be used, those that may not, and what forbids to use any."""
    entries = source.tree.get("agents")
    if not isinstance(entries, list):
        return (), (), [missing(source.tree, "agents", 'array; add "agents": [{"id": "NAME"}]')]
    if twins := doubled(entries):
        return (), (), [f'agents: several entries have the id "{name}"; give each its own' for name in twins]
    outline, folder = outline_of(claims), source.file.parent
    admitted = [admit(entry, at, outline, source.home, folder, source.environ) for at, entry in enumerate(entries)]
    agents = tuple(each for each in admitted if isinstance(each, AgentEntry))
    skipped = tuple(each for each in admitted if isinstance(each, Skipped))
    if agents:
        return agents, skipped, []
    return (), skipped, ['agents: no agent can be used; add one, such as {"id": "NAME"}', *map(str, skipped)]


def missing(tree: Tree, name: str, what: str) -> str:
    """The problem that a part is not there, or is something else, or is spelt another way."""
    if tree.get(name) is not None:
        return f"{name}: {shown(tree[name])} is no {what}"
    near = nearest(name, tree)
    return f'there is no "{name}" {what}' + (f'; is "{printable(near)}" meant?' if near and near != name else "")


def _repeated(document: Document) -> Iterator[Remark]:
    for path in document.repeated:
        yield Remark(path, "stands twice in one object; the last one counts")
    for name in document.tree:
        if name not in OUTERMOST and folded(name) in map(folded, OUTERMOST):
            yield Remark(printable(name), f'is not read; did you mean "{nearest(name, OUTERMOST)}"?')


def _version(tree: Tree) -> Version | None:
    try:
        return version_of(tree)
    except ValueError:
        return None
