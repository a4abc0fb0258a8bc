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

from attrs import define, evolve, field

from reverie_hookspecs import (
    Agent,
    Block,
    ConfigError,
    Conversation,
    Corpus,
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
    from reverie_hookspecs import Dream, Indexing, Mode, Run, Scope, Stage, Tool

    from .composition import Composed

logger = logging.getLogger(__name__)
T = TypeVar("T")
ISOLATION = "isolation"
PATIENCE = 5.0
"""Seconds until what a killed run started has let go of its lock."""


def now() -> datetime:
    return datetime.now(UTC)


@define(eq=False)
class Kernel:
    """One deployment: its configuration, its active plugins, its agents. Nothing of it is global."""

    config: Config
    rows: Sequence[selection.Row]
    plugins: Mapping[str, Plugin]
    hooks: Hooks
    clock: Callable[[], datetime] = now
    _policies: Mapping[str, Policy] = field(factory=dict)

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
        built = building.build(rows, {})
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
        return cls(claimed, stand, plugins, hooks, clock, policies)  # type: ignore[arg-type]

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

    def index(self, corpus: Corpus, full: bool = False) -> Indexing:
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

    def run(
        self, agent: Agent, *, rehearsal: bool = False, told: Callable[[Stage], None] = lambda stage: None
    ) -> Dream:
        """Dream now. A rehearsal runs every stage on an overlay: reads see what was written, the disk sees nothing."""
        from reverie_hookspecs import Dream

        from . import audit, night
        from .runlog import RunLog

        selection.demand(self.rows, self.config.plugins)
        run, mode = self._new_run(agent, "dream"), night.mode_of(agent.settings)
        off = night.switched_off(agent.settings)
        if off and not rehearsal:
            return Dream(agent, run, mode, outcome="skipped-disabled", reason=off)
        if rehearsal:
            agent = rehearsing(agent)
            return night.dream(Dream(agent, run, mode, True), self.plan(agent, mode="auto"), told)
        with self.lock(agent):
            self._close_lost(agent)
            RunLog.of(agent).append(audit.begun(run, self.clock(), mode=mode))
            return night.dream(Dream(agent, run, mode), self._planned(agent, run), told)

    def _new_run(self, agent: Agent, kind: str) -> Run:
        from reverie_hookspecs import DreamSettings

        from .runlog import new_run

        return new_run(agent.id, kind, agent.settings[DreamSettings].dream_timezone, self.clock())

    def _planned(self, agent: Agent, run: Run) -> list[Stage]:
        """The plan of a run that is about to begin; that there can be none is an end of it too, and is logged."""
        try:
            return self.plan(agent)
        except ReverieError as error:
            self._close_lost(agent, str(error))
            raise

    def mend(self, agent: Agent, reason: str = "") -> None:
        """Put right what a killed run left, and log it with the reason; Refused while a run is under way."""
        with self._files(agent).lock(PATIENCE if reason else 0.0):
            self._close_lost(agent, reason)

    def _close_lost(self, agent: Agent, reason: str = "") -> None:
        """Repair what killed runs left, and log the end of those that never came to it."""
        from . import audit
        from .runlog import RunLog

        files, runs = self._files(agent), RunLog.of(agent)
        files.repair()
        for line in runs.runs():
            if line.get("outcome") == audit.BEGUN:
                changed = {write.path for write in files.journal.writes(line["run"])}
                runs.append(audit.lost(line, changed, self.clock(), reason))

    def undo(self, agent: Agent, target: str, *, rehearsal: bool = False) -> dict[str, Any]:
        """Take a run back: the line of the undo's own run, with the paths that were restored in ``changed``."""
        from . import undo
        from .runlog import RunLog, refuse_twice

        run = self._new_run(agent, "undo")
        refuse_twice(RunLog.of(agent).runs(), target)
        if rehearsal:
            return {"run": run.id, "undoes": target, "changed": undo.restorable(self._files(agent), target)}
        with self.lock(agent):
            self._close_lost(agent)
            return self._taken_back(agent, target, run)

    def _taken_back(self, agent: Agent, target: str, run: Run) -> dict[str, Any]:
        """Undo a run, those of its undos first that were killed half way; what is refused is refused beforehand."""
        from . import audit, diary, undo
        from .runlog import RunLog, unfinished

        files, runs = self._files(agent), RunLog.of(agent)
        halves = unfinished(runs.runs(), target)
        if not halves:
            undo.restorable(files, target)
        runs.append(audit.begun(run, self.clock(), undoes=target))
        try:
            changed = sorted({path for name in (*halves, target) for path in undo.undo(files, name, run)})
        except ReverieError as error:
            self._close_lost(agent, str(error))
            raise
        line = {**audit.head(run, self.clock()), "outcome": "undone", "undoes": target, "changed": changed}
        files.record("DREAMS.md", diary.undone(run, target, changed), diary.HEADING)
        runs.append(line)
        return line

    def _verified(self, dream: Dream) -> Dream:
        """The letter, if all that left a memory file stands; else the run is taken back, and that is its failure."""
        from . import undo, verify

        files = self._files(dream.agent)
        gone = verify.missing(dream, undo.changes(files, dream.run.id), files.read)
        if not gone:
            return dream
        own = self._new_run(dream.agent, "undo")
        try:
            if dream.rehearsal:
                undo.undo(files, dream.run.id, own)
            else:
                self._taken_back(dream.agent, dream.run.id, own)
        except ReverieError as error:
            return verify.condemned(dream, gone, f"and it could not be taken back: {error}")
        return verify.condemned(dream, gone, "the whole run was taken back")

    def lock(self, agent: Agent) -> AbstractContextManager[None]:
        """The one lock of the agent's workspace, over all processes."""
        return self._files(agent).lock()

    def _files(self, agent: Agent) -> Folder:
        files = agent.files
        assert isinstance(files, Folder)
        return files

    def _own_stages(self, agent: Agent) -> list[Stage]:
        """The stages the kernel itself adds: they hold the places that the others name."""
        from reverie_hookspecs import Stage

        from . import night
        from .audit import Audit
        from .runlog import RunLog

        files = self._files(agent)
        audit = Audit(RunLog.of(agent), files.record, files.changed_by, self.clock)
        select = partial(night.propose, ask=self.hooks.select_ops)
        return [
            Stage("gather", lambda dream: dream, "gather", writes=False),
            Stage("review", night.measure, "ops", writes=False, after=("gather",), before=("select",)),
            Stage("select", select, "ops", writes=False, before=("apply",)),
            Stage(night.VERIFY, self._verified, "ops", writes=False),
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


def rehearsing(agent: Agent) -> Agent:
    """The agent with its files behind an overlay."""
    assert isinstance(agent.files, Folder)
    files = agent.files.overlay()
    return evolve(agent, files=files, corpus=evolve(agent.corpus, files=files))


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
        if name and any((folder / file).exists() for file in ("AGENTS.md", "MEMORY.md")):
            return folder.resolve()
        is_folder = bool(name) and folder.is_dir()
    except (OSError, ValueError, RuntimeError):
        is_folder = False
    if is_folder:
        raise UnknownAgent(
            f"{name} is a folder without AGENTS.md or MEMORY.md, so no workspace; `reverie init {name}` makes it one"
        )
    if not name:
        raise UnknownAgent(
            "name an agent or the path of a workspace"
            + (f"; configured are {', '.join(sorted(known))}" if known else "; no agent is configured")
        )
    hint = selection.nearest(name, known) if known else "; no agent is configured, so give the path of a workspace"
    raise UnknownAgent(f"no agent is called {name!r}, and no folder is there{hint}")
