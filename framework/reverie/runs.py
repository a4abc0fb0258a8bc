"""The runs of a deployment: nights and undos, noted when they begin and when they end, and those that were killed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from attrs import define, evolve

from reverie_hookspecs import Agent, Dream, DreamSettings, Refused, ReverieError, Run, archive_off

from . import audit, diary, night, undo, verify
from .kernel import folder_of
from .runlog import RunLog, new_run, refuse_twice

if TYPE_CHECKING:
    from reverie_hookspecs import Stage

    from .kernel import Kernel
    from .workspace.change import Change

logger = logging.getLogger(__name__)
PATIENCE: Final = 5.0
"""Seconds until what a killed run started has let go of its lock."""
BACK: Final = "the whole run was taken back"


@define(eq=False)
class Runs:
    """What is done to the agents of one kernel."""

    kernel: Kernel

    def dream(self, agent: Agent, rehearsal: bool, told: Callable[[Stage], None]) -> Dream:
        """One night, or the rehearsal of one."""
        run, mode = self.new(agent, "dream"), night.mode_of(agent.settings)
        off = night.switched_off(agent.settings)
        if off and not rehearsal:
            return Dream(agent, run, mode, outcome="skipped-disabled", reason=off)
        if rehearsal:
            agent = rehearsing(agent)
            return night.dream(Dream(agent, run, mode, True), self.kernel.plan(agent, mode="auto"), told)
        with folder_of(agent).lock():
            self.close_lost(agent)
            RunLog.of(agent).append(audit.begun(run, self.kernel.clock(), mode=mode))
            return night.dream(Dream(agent, run, mode), self.planned(agent, run), told)

    def new(self, agent: Agent, kind: str) -> Run:
        return new_run(agent.id, kind, agent.settings[DreamSettings].dream_timezone, self.kernel.clock())

    def planned(self, agent: Agent, run: Run) -> list[Stage]:
        """The plan of a run that is about to begin; that there can be none is an end of it too, and is logged."""
        try:
            return self.kernel.plan(agent)
        except ReverieError as error:
            self.fail(agent, run, str(error))
            raise

    # Undo

    def undo(self, agent: Agent, target: str, rehearsal: bool) -> dict[str, Any]:
        """Take a run back; what is refused is refused before anything is noted."""
        run, runs = self.new(agent, "undo"), RunLog.of(agent)
        if rehearsal:
            refuse_twice(runs.runs(), target)
            files = folder_of(agent).overlay()
            changed = sorted(undo.undo(files, target, run))
            return {"run": run.id, "undoes": target, "changed": changed, "changes": files.changes()}
        with folder_of(agent).lock():
            self.close_lost(agent)
            refuse_twice(runs.runs(), target)
            return self.taken_back(agent, target, run)

    def taken_back(self, agent: Agent, target: str, run: Run) -> dict[str, Any]:
        """The line of an undo that is done now, under the lock."""
        files, runs = folder_of(agent), RunLog.of(agent)
        if not undo.restorable(files, target):
            raise Refused(f"nothing of run {target} is left to take back: each of its files is as it was before it")
        runs.append(audit.begun(run, self.kernel.clock(), undoes=target))
        try:
            changed = sorted(undo.undo(files, target, run))
        except ReverieError as error:
            self.fail(agent, run, str(error), undoes=target)
            raise
        line = {**audit.head(run, self.kernel.clock()), "outcome": "undone", "undoes": target, "changed": changed}
        runs.append(line)
        changes, former = undo.changes(files, run.id), undo.changes(files, target)
        try:
            files.record("DREAMS.md", diary.undone(run, target, changes, former), diary.HEADING)
        except ReverieError as error:
            logger.warning("%s is taken back, and the diary does not say so: %s", target, error)
        return line | {"changes": changes}

    # Verify

    def verified(self, dream: Dream) -> Dream:
        """The letter, if all that left a memory file stands; else the run is taken back, and that is its failure."""
        if any(note.stage == night.VERIFY for note in dream.failures):
            return dream
        files = folder_of(dream.agent)
        changes = undo.changes(files, dream.run.id)
        gone = verify.missing(dream, changes, files.read) or (self.unindexed(dream) if changes else [])
        return verify.condemned(dream, gone, self.sent_back(dream)) if gone else dream

    def sent_back(self, dream: Dream) -> str:
        """Take back a run that is not over yet; how that went, in a few words."""
        own = self.new(dream.agent, "undo")
        try:
            if dream.rehearsal:
                undo.undo(folder_of(dream.agent), dream.run.id, own)
            else:
                self.taken_back(dream.agent, dream.run.id, own)
        except ReverieError as error:
            return f"and it could not be taken back: {error}"
        return BACK

    def unindexed(self, dream: Dream) -> list[str]:
        """The moved entries that a search would not find, once the index is brought up to date."""
        archive, corpus = self.kernel.archive, dream.agent.corpus
        if dream.rehearsal or archive is None or archive_off(dream.agent.settings):
            return []
        hashes = verify.hashes(dream)
        try:
            self.kernel.index(corpus)
            return verify.unfound(hashes, archive.holds(corpus, hashes) if hashes else set())
        except ReverieError as error:
            return [f"what moved could not be indexed: {error}"]

    # Runs that were killed

    def mend(self, agent: Agent, reason: str = "") -> list[dict[str, Any]]:
        """Put right what killed runs left; Refused while a run is under way."""
        with folder_of(agent).lock(PATIENCE if reason else 0.0):
            return self.close_lost(agent, reason)

    def close_lost(self, agent: Agent, reason: str = "") -> list[dict[str, Any]]:
        """Repair what killed runs left, and log the end of those that never came to it: their lines.

        A night that lost something is taken back whole; so is an undo, for half of one is neither state.
        """
        folder_of(agent).repair()
        open_runs = [line for line in RunLog.of(agent).runs() if line.get("outcome") == audit.BEGUN]
        return [self.closed(agent, line, reason) for line in reversed(open_runs)]

    def closed(self, agent: Agent, line: dict[str, Any], reason: str) -> dict[str, Any]:
        """The last line of a run that was killed; what cannot stand is taken back before it is written."""
        files, told = folder_of(agent), reason or "it ended before it was closed"
        changes = self.changes(agent, line["run"])
        flaws = self.flaws(agent, line, changes)
        back = bool(flaws) and self.roll_back(agent, line["run"])
        told = "; ".join([told, *flaws[: verify.NAMED]])
        ended = audit.lost(line, {change.path for change in changes}, self.kernel.clock(), told, back=back)
        RunLog.of(agent).append(ended)
        try:
            files.record("DREAMS.md", diary.lost(ended), diary.HEADING)
        except ReverieError as error:
            logger.warning("the diary does not name the run %s: %s", line["run"], error)
        return ended

    def changes(self, agent: Agent, run: str) -> Sequence[Change]:
        """What a run did, as far as anybody can say."""
        try:
            return undo.changes(folder_of(agent), run)
        except ReverieError as error:
            logger.warning("what %s changed cannot be told: %s", run, error)
            return ()

    def flaws(self, agent: Agent, line: dict[str, Any], changes: Sequence[Change]) -> list[str]:
        """Why what a killed run did cannot stand."""
        if not changes:
            return []
        if line.get("kind") == "undo":
            return ["half an undo is none"]
        run = Run(line["run"], agent.id, "dream", self.kernel.clock())
        return verify.missing(Dream(agent, run), changes, folder_of(agent).read)

    def roll_back(self, agent: Agent, target: str) -> bool:
        """Take back what a killed run did; False if that cannot be, so that it stays."""
        try:
            if undo.restorable(folder_of(agent), target):
                self.taken_back(agent, target, self.new(agent, "undo"))
        except ReverieError as error:
            logger.warning("%s was killed, and what it did stays: %s", target, error)
            return False
        return True

    def fail(self, agent: Agent, run: Run, reason: str, **more: str) -> None:
        """Log the end of a run that came to nothing."""
        line = audit.begun(run, self.kernel.clock(), **more)
        RunLog.of(agent).append(audit.lost(line, folder_of(agent).changed_by(run), self.kernel.clock(), reason))


def rehearsing(agent: Agent) -> Agent:
    """The agent with its files behind an overlay."""
    files = folder_of(agent).overlay()
    return evolve(agent, files=files, corpus=evolve(agent.corpus, files=files))
