"""One config.json: read once, checked once, and asked for one agent at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from attrs import evolve, field, frozen

from reverie_hookspecs.errors import UnknownAgent
from reverie_hookspecs.settings import Block, Settings

from .outline import CLOCK, outline_of
from .remark import Remark, printable, suggestion
from .value import Blocks, Levels, resolve

if TYPE_CHECKING:
    from .document import Tree
    from .effective import Effective
    from .entry import AgentEntry, Skipped
    from .version import Version
    from .written import Source

Claims = tuple[type[Block], ...]


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
    blocks: Claims = ()
    gateway: Tree = field(factory=dict, repr=False)
    _source: Source | None = field(default=None, repr=False)

    @classmethod
    def load(
        cls, file: Path | None, home: Path, environ: Mapping[str, str], blocks: Iterable[type[Block]] | None = None
    ) -> Config:
        """The configuration in a file; ConfigError, with every problem found, for one that cannot be used.

        ``blocks`` are the sections that are owned; without them those that reverie documents.
        """
        if file is None:
            return cls(None, home, blocks=tuple(blocks or ()))
        file = file.absolute()
        claims = tuple(dict.fromkeys(documented() if blocks is None else blocks))
        from .written import made, opened

        return made(opened(file, home, environ), claims)

    def claimed_by(self, blocks: Iterable[type[Block]]) -> Config:
        """The same configuration, with the sections of these blocks owned too.

        Raises ConfigError as ``load`` does: what is owned is expanded, and may name a variable that is not set.
        """
        claims = tuple(dict.fromkeys((*self.blocks, *blocks)))
        if claims == self.blocks:
            return self
        if self._source is None:
            return evolve(self, blocks=claims)
        from .written import made

        return made(self._source, claims)

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

        levels, claims = self._levels(agent), tuple(dict.fromkeys((*documented(), *self.blocks)))
        return list(effective(outline_of(claims), Blocks(claims, levels), levels, agent=agent is not None))

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
        from .entry import identified
        from .review import adjusted, review

        yield from self._source.remarks
        outline, gateway = outline_of(self.blocks), Levels({}, self.gateway)
        yield from review(outline, gateway, "gateway", "gateway", self._source.tree["gateway"])
        yield from adjusted(self.blocks, gateway, "gateway", "gateway")
        written = {name: entry for entry in self._source.tree["agents"] if (name := identified(entry))}
        for entry in self.agents:
            levels, where = self._levels(entry.id), f"agents[{entry.id}]"
            yield from review(outline, levels, "agent", where, written[entry.id])
            yield from adjusted(self.blocks, levels, "agent", where)


def unknown(agent: str, config: Config) -> UnknownAgent:
    """The error that no agent may be used under a name."""
    for skipped in config.skipped:
        if skipped.agent == f"agents[{agent}]":
            return UnknownAgent(f"{skipped}; mend its entry in {config.file}")
    known = [entry.id for entry in config.agents]
    hint = suggestion(agent, known) or (f"; there are {', '.join(known)}" if known else "; no agent is configured")
    return UnknownAgent(f'no configured agent is called "{printable(agent)}"{hint}')


def documented() -> Claims:
    """The sections that reverie documents; loading them all takes longer than composing needs."""
    from reverie_hookspecs.blocks.documented import DOCUMENTED

    return DOCUMENTED
