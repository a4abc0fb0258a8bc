"""The kernel: gather what the plugins offer, ask policy, put it in order, act."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field

from reverie_hookspecs import (
    Agent,
    Archive,
    Block,
    ConfigError,
    Conversation,
    Corpus,
    Indexer,
    NotFound,
    Plugin,
    PluginError,
    Policy,
    Refused,
    ReverieError,
    Section,
    UnknownAgent,
)

from . import building, selection
from .config import Config
from .hooks import Hooks, Naming
from .ordering import arrange, by_name
from .workspace import Folder

if TYPE_CHECKING:
    import reverie_hookspecs
    from reverie_hookspecs import Dream, Mode, Scope, Stage, Tool

    from .composition import Composed
    from .runs import Runs

logger = logging.getLogger(__name__)
T = TypeVar("T")
ISOLATION = "isolation"


def now() -> datetime:
    return datetime.now(UTC)


class Indexing:
    """The Indexer that plugins are handed; the kernel it asks is there once all of them are built."""

    def __init__(self) -> None:
        self.kernel: Kernel | None = None

    def index(self, corpus: Corpus, full: bool = False) -> reverie_hookspecs.Indexing:
        assert self.kernel is not None
        return self.kernel.index(corpus, full)


@define(eq=False)
class Kernel:
    """One deployment: its configuration, its active plugins, its agents. Nothing of it is global."""

    config: Config
    rows: Sequence[selection.Row]
    plugins: Mapping[str, Plugin]
    hooks: Hooks
    clock: Callable[[], datetime] = now
    _policies: Mapping[str, Policy] = field(factory=dict)
    archive: Archive | None = None

    @classmethod
    def load(
        cls,
        config: Config,
        environ: Mapping[str, str] = os.environ,
        points: selection.Points | None = None,
        clock: Callable[[], datetime] = now,
    ) -> Kernel:
        """The deployment of a configuration; a plugin that cannot stand is a row and a warning, not an error."""
        choice: dict[str, bool | str] = dict(config.plugins)
        if environ.get("REVERIE_DISABLE_PLUGIN_AUTOLOAD") == "1":
            choice.setdefault(selection.EVERY, False)
        try:
            rows = selection.choose(selection.installed() if points is None else points, choice)
        except ConfigError as error:
            raise ConfigError([f"{config.file}: {problem}" for problem in error.problems]) from None
        indexing = Indexing()
        built = building.build(rows, {Indexer: indexing})
        hooks, unfit = Hooks.over(built.plugins, environ.get("REVERIE_TRACE_PLUGINS") == "1")
        stand = [
            row.failed(unfit[row.slot]) if row.slot in unfit and row.state == "active" else row for row in built.rows
        ]
        plugins = {slot: plugin for slot, plugin in built.plugins.items() if slot not in unfit}
        for row in stand:
            if row.state == "failed":
                logger.warning("plugin %s is left out: %s", row.name, row.reason)
        policies = {slot: plugin for slot, plugin in plugins.items() if Policy in plugin.provides}
        claimed = config.claimed_by(blocks_of(plugins.values()))
        archive = next((plugin for plugin in plugins.values() if Archive in plugin.provides), None)
        made = cls(claimed, stand, plugins, hooks, clock, policies, archive)  # type: ignore[arg-type]
        indexing.kernel = made
        return made

    @property
    def home(self) -> Path:
        return self.config.home

    # Agents

    def agents(self) -> list[Agent]:
        """Every configured agent that may be used; one that is refused is logged."""
        usable = []
        for entry in self.config.agents:
            try:
                usable.append(self.agent(entry.id))
            except ReverieError as error:
                logger.warning("%s", error)
        return usable

    def agent(self, name: str = "", conversation: Conversation | None = None) -> Agent:
        """An agent by id or by the path of its workspace; without a name the only one configured."""
        entries = {entry.id: entry for entry in self.config.agents}
        if not name and len(entries) == 1:
            name = next(iter(entries))
        if name in entries:
            return self._configured(name, conversation)
        folder = workspace_of(name, entries)
        for entry in entries.values():
            if real(entry.workspace) == folder:
                return self._configured(entry.id, conversation)
        return self._made(printable(folder.name), folder, folder / ".reverie", None, conversation)

    def _configured(self, name: str, conversation: Conversation | None) -> Agent:
        entry = next(entry for entry in self.config.agents if entry.id == name)
        return self._made(name, entry.workspace, self.home / "agents" / name, name, conversation)

    def _made(self, name: str, root: Path, state: Path, configured: str | None, about: Conversation | None) -> Agent:
        from reverie_hookspecs import IsolationSettings

        settings = self.config.settings(configured)
        if settings[IsolationSettings].isolate_memory and ISOLATION not in self.plugins:
            raise Refused(
                f"agent {name!r} asks for isolateMemory, and no active plugin keeps conversations apart; "
                f"install one for the slot {ISOLATION!r}, or take the key out of its entry"
            )
        if not root.is_dir():
            raise NotFound(f"the workspace of {name!r} is not there: {root}; `reverie init` makes it, or mend its path")
        if about is not None and not (about.channel and about.chat):
            raise Refused("a conversation needs a channel and a chat id; give both as CHANNEL:ID")
        files = Folder.at(root)
        corpus = Corpus(name, "memory", files, state / "kb.sqlite", settings)
        return Agent(name, files, settings, corpus, state, about)

    # The flows: gather, refuse, arrange, act

    def sections(self, agent: Agent) -> list[Section]:
        """The sections of its CLAUDE.md, in order."""
        return arrange(self._admitted(agent, self.hooks.compose_section(agent)))

    def composed(self, agent: Agent) -> Composed:
        """Its CLAUDE.md, with what was cut, escaped and removed."""
        from . import composition

        for row in self.rows:
            if row.slot == "sections" and row.state == "failed":
                raise PluginError(f"nothing is composed while {row.name!r} is left out: {row.reason}")
        return composition.compose(self.sections(agent))

    def compose(self, agent: Agent) -> str:
        """The text of its CLAUDE.md."""
        return str(self.composed(agent).text)

    def tools(self, agent: Agent) -> dict[str, Tool]:
        """The tools the agent may call, by name."""
        return dict(sorted(by_name(self._admitted(agent, self.hooks.tool_registry(agent))).items()))

    def index(self, corpus: Corpus, full: bool = False) -> reverie_hookspecs.Indexing:
        """Bring a corpus's index up to date: its jobs fold one letter."""
        from reverie_hookspecs import Indexing

        letter = Indexing(corpus, full)
        for job in arrange(self.hooks.on_index(corpus)):
            letter = job.run(letter)
        return letter

    def plan(self, agent: Agent, scopes: Collection[Scope] | None = None, mode: Mode | None = None) -> list[Stage]:
        """The stages of a run, in order; of propose mode, only those that write nothing."""
        from . import night

        kept = self._admitted(agent, [*self._own_stages(agent), *self.hooks.on_dream(agent)])
        writing = (mode or night.mode_of(agent.settings)) == "auto"
        return night.plan(kept, night.EVERY if scopes is None else scopes, writing)

    # Runs

    @property
    def runs(self) -> Runs:
        """What is done to agents: nights and undos."""
        from .runs import Runs

        return Runs(self)

    def run(
        self, agent: Agent, *, rehearsal: bool = False, told: Callable[[Stage], None] = lambda stage: None
    ) -> Dream:
        """Dream now. A rehearsal runs every stage on an overlay: reads see what was written, the disk sees nothing."""
        selection.demand(self.rows, self.config.plugins)
        return self.runs.dream(agent, rehearsal, told)

    def undo(self, agent: Agent, target: str, *, rehearsal: bool = False) -> dict[str, Any]:
        """Take a run back: the line of the undo's own run, the paths in ``changed``, what became of them in
        ``changes``."""
        return self.runs.undo(agent, target, rehearsal)

    def mend(self, agent: Agent, reason: str = "") -> list[dict[str, Any]]:
        """Put right what killed runs left, and log their end with the reason: their lines."""
        return self.runs.mend(agent, reason)

    def lock(self, agent: Agent) -> AbstractContextManager[None]:
        """The one lock of the agent's workspace, over all processes."""
        return folder_of(agent).lock()

    def _own_stages(self, agent: Agent) -> list[Stage]:
        """The stages the kernel itself adds: they hold the places that the others name."""
        from reverie_hookspecs import Stage

        from . import night
        from .audit import Audit
        from .runlog import RunLog

        files = folder_of(agent)
        audit = Audit(RunLog.of(agent), files.record, files.changed_by, self.clock, self.runs.verified)
        select = partial(night.propose, ask=self.hooks.select_ops)
        return [
            Stage("gather", lambda dream: dream, "gather", writes=False),
            Stage("review", night.measure, "ops", writes=False, after=("gather",), before=("select",)),
            Stage("select", select, "ops", writes=False, before=("apply",)),
            Stage(night.VERIFY, self.runs.verified, "ops", writes=False),
            Stage(night.AUDIT, audit.close, "session", writes=False),
        ]

    def _admitted(self, agent: Agent, values: Iterable[T]) -> list[T]:
        """The values no policy refuses."""
        return [value for value in values if not self.refusal(agent, value)]

    def refusal(self, agent: Agent, value: object) -> str:
        """Why a policy refuses a value of this agent, or nothing."""
        for slot, policy in self._policies.items():
            with Naming(slot, "refuses"):
                reason = policy.refuses(agent, value)
            if not isinstance(reason, str | None):
                raise PluginError(
                    f"plugin {slot!r} returned {type(reason).__name__} from refuses, which takes a sentence"
                )
            if reason:
                logger.info("%s refused for %s: %s", getattr(value, "name", value), agent.id, reason)
                return reason
        return ""


def blocks_of(plugins: Iterable[Plugin]) -> list[type[Block]]:
    """Every block of config.json that an active plugin reads."""
    return [block for plugin in plugins for block in plugin.blocks]


def folder_of(agent: Agent) -> Folder:
    """The agent's files as what they are."""
    assert isinstance(agent.files, Folder)
    return agent.files


def real(folder: Path) -> Path | None:
    """A folder without links, or None where the links lead in a circle."""
    try:
        return folder.resolve()
    except (OSError, RuntimeError):
        return None


def printable(name: str) -> str:
    """A folder's name as an id: on one line, whatever characters it holds."""
    return "".join(character if character.isprintable() else "_" for character in name) or "workspace"


def workspace_of(name: str, known: Collection[str]) -> Path:
    """The folder a path names, if it is a workspace; UnknownAgent with the nearest known id otherwise."""
    try:
        folder = Path(name).expanduser()
        if name and any((folder / file).exists() for file in ("AGENTS.md", "MEMORY.md", ".dreaming")):
            return folder.resolve()
        is_folder = bool(name) and folder.is_dir()
    except (OSError, ValueError, RuntimeError):
        is_folder = False
    if is_folder:
        from shlex import quote

        raise UnknownAgent(
            f"{name} is a folder without AGENTS.md or MEMORY.md, so no workspace; "
            f"`reverie init {quote(name)}` makes it one"
        )
    if not name:
        raise UnknownAgent(
            "name an agent or the path of a workspace"
            + (f"; configured are {', '.join(sorted(known))}" if known else "; no agent is configured")
        )
    hint = selection.nearest(name, known) if known else "; no agent is configured, so give the path of a workspace"
    raise UnknownAgent(f"no agent is called {name!r}, and no folder is there{hint}")
