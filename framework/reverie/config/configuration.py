"""One config.json: read once, checked once, and asked for one agent at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from attrs import evolve, field, frozen

from reverie_hookspecs.blocks import DOCUMENTED
from reverie_hookspecs.errors import ConfigError, UnknownAgent
from reverie_hookspecs.settings import Block, Settings

from .document import Document, Tree, joined, load_bytes, parse
from .entry import AgentEntry, Skipped, admit, doubled, identified
from .expansion import expand, expand_sections
from .outline import CLOCK, outline_of
from .remark import Remark, folded, nearest, printable, shown, suggestion
from .review import adjusted, review
from .value import Blocks, Levels, resolve
from .version import KEY, Version, modernised, version_of

if TYPE_CHECKING:
    from .effective import Effective

Claims = tuple[type[Block], ...]
OUTERMOST = ("agents", "gateway", "plugins", KEY)


class Source(NamedTuple):
    """What was read, before anybody claimed a section of it."""

    file: Path
    home: Path
    environ: Mapping[str, str]
    tree: Tree
    remarks: tuple[Remark, ...]


@frozen(eq=False, slots=False)
class Config:
    """A configuration that can be used: its agents, who is skipped, and what is to be mended.

    ``file`` is None where there is no configuration: then every default counts and there are no agents.
    ``gateway`` is the gateway's tree, expanded where reverie owns it; ``version`` is None where the file names none.
    """

    file: Path | None
    home: Path
    agents: tuple[AgentEntry, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    plugins: Mapping[str, bool | str] = field(factory=dict)
    version: Version | None = None
    blocks: Claims = DOCUMENTED
    gateway: Tree = field(factory=dict, repr=False)
    _source: Source | None = field(default=None, repr=False)

    @classmethod
    def load(
        cls, file: Path | None, home: Path, environ: Mapping[str, str], blocks: Iterable[type[Block]] = DOCUMENTED
    ) -> Config:
        """The configuration in a file; ConfigError, with every problem found, for one that cannot be used."""
        claims = tuple(dict.fromkeys(blocks))
        if file is None:
            return cls(None, home, blocks=claims)
        file = file.absolute()
        document = parse(load_bytes(file), file)
        with_age, remarks = modernised(document.tree)
        return made(Source(file, home, environ, with_age, (*_repeated(document), *remarks)), claims)

    def claimed_by(self, blocks: Iterable[type[Block]]) -> Config:
        """The same configuration, with the sections of these blocks owned too.

        Raises ConfigError as ``load`` does: what is owned is expanded, and may name a variable that is not set.
        """
        claims = tuple(dict.fromkeys((*self.blocks, *blocks)))
        if claims == self.blocks:
            return self
        return made(self._source, claims) if self._source else evolve(self, blocks=claims)

    @property
    def timezone(self) -> str:
        """``gateway.timezone``, or UTC."""
        return str(resolve(CLOCK, Levels({}, self.gateway)).value)

    @cached_property
    def remarks(self) -> tuple[Remark, ...]:
        """Everything to mend in the file, each once, whether anybody reads the key or not."""
        return tuple(dict.fromkeys(self._remarks()))

    def settings(self, agent: str | None = None) -> Settings:
        """The settings of an agent, or of a workspace that is none's: gateway level and defaults."""
        return Settings(Blocks(self.blocks, self._levels(agent)))

    def effective(self, agent: str | None = None) -> list[Effective]:
        """Every setting of an agent, or of the gateway, with the level it comes from."""
        from .effective import effective

        levels = self._levels(agent)
        return list(effective(outline_of(self.blocks), Blocks(self.blocks, levels), levels, agent=agent is not None))

    def _levels(self, agent: str | None) -> Levels:
        if agent is None:
            return Levels({}, self.gateway)
        for entry in self.agents:
            if entry.id == agent:
                return Levels(dict(entry.raw), self.gateway)
        raise unknown(agent, self)

    def _remarks(self) -> Iterator[Remark]:
        if self._source is None:
            return
        yield from self._source.remarks
        outline, gateway = outline_of(self.blocks), Levels({}, self.gateway)
        yield from review(outline, gateway, "gateway", "gateway", self._source.tree["gateway"])
        yield from adjusted(self.blocks, gateway, "gateway", "gateway")
        written = {name: entry for entry in self._source.tree["agents"] if (name := identified(entry))}
        for entry in self.agents:
            levels, where = self._levels(entry.id), f"agents[{entry.id}]"
            yield from review(outline, levels, "agent", where, written[entry.id])
            yield from adjusted(self.blocks, levels, "agent", where)


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


def unknown(agent: str, config: Config) -> UnknownAgent:
    """The error that no agent may be used under a name."""
    for skipped in config.skipped:
        if skipped.agent == f"agents[{agent}]":
            return UnknownAgent(f"{skipped}; mend its entry in {config.file}")
    known = [entry.id for entry in config.agents]
    hint = suggestion(agent, known) or (f"; there are {', '.join(known)}" if known else "; no agent is configured")
    return UnknownAgent(f'no configured agent is called "{printable(agent)}"{hint}')


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
