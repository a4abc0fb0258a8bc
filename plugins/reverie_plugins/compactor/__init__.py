"""The compactor: finished entries leave MEMORY.md, word for word, for an archive that is indexed like any note."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from attrs import define, evolve

from reverie_hookspecs import (
    Archive,
    ArchiveSettings,
    Edit,
    IsolationSettings,
    Plugin,
    hookimpl,
)
from reverie_plugins.night import unsearchable

if TYPE_CHECKING:
    from reverie_hookspecs import Agent, Dream, Snapshot, Stage

    from .plan import Plan

NAME: Final = "compactor"
HEADING: Final = "# Completed\n\n"
MOST_NAMED: Final = 20
"""Entries that one line of the diary names."""


@define(eq=False)
class Compactor(Plugin):
    """Sweeps finished entries out of MEMORY.md before anyone thinks about it."""

    blocks = (ArchiveSettings, IsolationSettings)

    archive: Archive | None

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        from reverie_hookspecs import Stage  # composing needs none

        return Stage(NAME, self.sweep, after=("gather", "index"), before=("staleness", "route-out", "review"))

    def sweep(self, dream: Dream) -> Dream:
        """The letter, once what is finished has moved."""
        if off := unsearchable(dream.agent.settings, self.archive):
            return dream.note(NAME, f"the archive is off ({off}): nothing was moved")
        return swept(dream)


def swept(dream: Dream) -> Dream:
    """The letter, with what moved."""
    from .marker import ARCHIVE, SOURCE

    plans: list[Plan] = []
    decide = partial(decided, day=dream.run.day.isoformat(), plans=plans)
    done = dream.agent.files.commit(SOURCE, decide, dream.run)
    if done.outcome == "contested":
        told = f"{SOURCE} was left alone: somebody else kept writing to it; the next night tries again"
        return evolve(dream.note(NAME, told), reason=told)
    if done.outcome == "unchanged" or not plans:
        return dream
    return accounted(dream, plans[-1], SOURCE, ARCHIVE)


def decided(snapshot: Snapshot, day: str, plans: list[Plan]) -> Edit | None:
    """What is to become of the file; the plan behind it is the last of ``plans``."""
    from reverie_hookspecs import Moved

    from .marker import ARCHIVE
    from .plan import plan

    if snapshot.state == "missing":
        return None
    made = plan(snapshot.text, day)
    plans.append(made)
    if not made.finished:
        return None
    return Edit(made.text, tuple(Moved(ARCHIVE, one.archived, HEADING) for one in made.finished))


def accounted(dream: Dream, made: Plan, source: str, archive: str) -> Dream:
    """The letter with every entry that moved, and those of which no line is left."""
    from reverie_hookspecs import Move

    moves = tuple(Move(source, archive, one.text, one.label) for one in made.finished)
    count = len(moves)
    told = f"moved {count} finished {'entry' if count == 1 else 'entries'} from {source} to {archive}"
    dream = evolve(dream, moved=(*dream.moved, *moves), changed=(*dream.changed, source, archive)).note(NAME, told)
    if made.unshared:
        dream = dream.note(NAME, f"no line is left of: {named(made.unshared)}")
    return dream


def named(labels: tuple[str, ...]) -> str:
    """Some by name, the rest by number.

    >>> named(("a", "b"))
    'a; b'
    """
    rest = len(labels) - MOST_NAMED
    return "; ".join(labels[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")
