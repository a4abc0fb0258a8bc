"""The stage that closes a run: outcome, run log, diary, record of ops."""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from typing import Any, Final

from attrs import evolve, frozen

from reverie_hookspecs import Dream, Run

from . import diary, night
from .runlog import RunLog

BEGUN: Final = "begun"
"""The outcome of a run that is under way, or was killed."""


@frozen
class Audit:
    """Closes the runs of one agent; ``write`` adds text to a file of the records folder (name, text, heading)."""

    runs: RunLog
    write: Callable[[str, str, str], None]
    changed: Callable[[Run], Collection[str]]
    clock: Callable[[], datetime]
    verified: Callable[[Dream], Dream] = lambda dream: dream

    def close(self, dream: Dream) -> Dream:
        """The letter with its outcome; a rehearsal is judged and not written down."""
        dream = self.verified(dream)  # once more: a stage may have written since
        if dream.rehearsal:
            return judged(dream)
        dream = judged(evolve(dream, changed=tuple(sorted({*dream.changed, *self.changed(dream.run)}))))
        self.runs.append(line(dream, self.clock()))  # first: what is not logged can be neither seen nor undone
        if dream.outcome != "skipped-empty":
            self.write("DREAMS.md", diary.entry(dream), diary.HEADING)
            if records := diary.promotions(dream):
                self.write("promotions.jsonl", diary.encode(records), "")
        return dream


def begun(run: Run, now: datetime, **more: Any) -> dict[str, Any]:
    """The line that says a run began; its last line says how it ended."""
    return {**head(run, now), "ended": None, "outcome": BEGUN, "changed": [], **more}


def lost(
    begun: dict[str, Any], changed: Collection[str], found: datetime, reason: str, *, back: bool = False
) -> dict[str, Any]:
    """The last line of a run that ended before its audit; ``back``: what it did is being taken back."""
    stands = "what it changed is taken back" if back else "what it changed stands and can be undone"
    told = f"{reason}; {stands}" if changed else reason
    return {**begun, "ended": stamp(found), "outcome": "error", "reason": told, "changed": sorted(changed)}


def judged(dream: Dream) -> Dream:
    outcome = night.judge(dream)
    return evolve(dream, outcome=outcome, reason=night.reason_of(dream, outcome))


def line(dream: Dream, ended: datetime) -> dict[str, Any]:
    """What the run log keeps of a run; times in UTC, the date is the agent's local one, cost in US dollars."""
    return {
        **head(dream.run, ended),
        "mode": dream.mode,
        "outcome": dream.outcome,
        "reason": dream.reason,
        "changed": list(dream.changed),
        "moved": len(dream.moved),
        "sessions": dream.sessions,
        "tokens": {"input": dream.usage.input_tokens, "output": dream.usage.output_tokens},
        "cost": dream.usage.cost,
    }


def head(run: Run, ended: datetime) -> dict[str, Any]:
    """The fields every run has; ``slot`` is the scheduled time it served, or null."""
    return {
        "run": run.id,
        "agent": run.agent,
        "kind": run.kind,
        "slot": None,
        "date": run.day.isoformat(),
        "started": stamp(run.started),
        "ended": stamp(ended),
    }


def stamp(moment: datetime) -> str:
    """ISO 8601 in UTC, to the millisecond, with a Z."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
