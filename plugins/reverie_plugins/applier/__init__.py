"""The applier: puts ops into MEMORY.md and USER.md within bounds, and keeps every word that leaves them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from attrs import define, evolve

from reverie_hookspecs import (
    Applying,
    Archive,
    ArchiveSettings,
    IsolationSettings,
    MemorySettings,
    Plugin,
    Refused,
    ReverieError,
    hookimpl,
)
from reverie_plugins.night import unsearchable

if TYPE_CHECKING:
    from reverie_hookspecs import Agent, Dream, Edit, Move, Op, Snapshot, Stage

    from .draft import Cut
    from .plan import Plan

NAME: Final = "apply"
FILES: Final = ("MEMORY.md", "USER.md")
ARCHIVE: Final = "memory/archive/pruned.md"
UNSEARCHED: Final = ".dreaming/pruned.md"
"""Where what is cut goes while the archive is off: kept, and not indexed."""
HEADING: Final = "# Pruned\n\n"
CONTESTED: Final = "somebody else kept writing to the file; it was left alone"


@define(eq=False)
class Applier(Plugin):
    """Makes the ops of a run, or says of each why it was held back."""

    provides = (Applying,)
    blocks = (MemorySettings, ArchiveSettings, IsolationSettings)

    archive: Archive | None = None

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        from reverie_hookspecs import Stage  # composing needs none

        return Stage(NAME, self.apply, "ops", after=("select",), before=("verify",))

    def apply(self, dream: Dream) -> Dream:
        """The letter, with what became of each op; a file that cannot be written fails, and the others go on."""
        if not dream.ops:
            return dream
        off = unsearchable(dream.agent.settings, self.archive)
        to = UNSEARCHED if off else ARCHIVE
        results = [*(in_file(dream, path, to) for path in FILES), in_notes(dream, off), stray(dream)]
        return accounted(dream, results, to)


class Result(NamedTuple):
    """What became of some of a run's ops: index -> why it was held back, or ``""``; what was cut, and from where."""

    reasons: dict[int, str]
    cuts: tuple[Cut, ...] = ()
    file: str = ""
    failure: str = ""


def in_file(dream: Dream, path: str, to: str) -> Result:
    """Make the durable ops of one memory file; ``to`` is where goes what they cut."""
    mine = {index: op for index, op in enumerate(dream.ops) if op.file == path and op.tier == "durable"}
    if not mine:
        return Result({})
    plans: list[Plan] = []
    decide = partial(
        decided, ops=list(mine.values()), budget=dream.agent.settings[MemorySettings].budgets[path], to=to, plans=plans
    )
    try:
        done = dream.agent.files.commit(path, partial(decide, day=dream.run.day.isoformat()), dream.run)
    except ReverieError as error:
        return Result(dict.fromkeys(mine, str(error)), file=path, failure=str(error))
    if done.outcome == "contested":
        return Result(dict.fromkeys(mine, CONTESTED))
    made = plans[-1]
    return Result(dict(zip(mine, made.reasons, strict=True)), made.cuts, path)


def decided(snapshot: Snapshot, day: str, ops: Sequence[Op], budget: int, to: str, plans: list[Plan]) -> Edit | None:
    """What is to become of the file; the plan behind it is the last of ``plans``."""
    from reverie.markdown import newline
    from reverie_hookspecs import Edit, Moved
    from reverie_plugins.stamp import stamp, stamped

    from .plan import plan

    text = snapshot.text
    made = plan(text, ops, budget)
    plans.append(made)
    if made.text == text:
        return None
    marks = (stamp("pruned", day, snapshot.path, cut.path) for cut in made.cuts)
    blocks = (stamped(cut.text, mark, newline(text)) for cut, mark in zip(made.cuts, marks, strict=True))
    return Edit(made.text, tuple(Moved(to, block, HEADING) for block in blocks))


def in_notes(dream: Dream, off: str) -> Result:
    """Add each episodic op to the note of its topic; ``off`` is why it could not be found there."""
    mine = {index: op for index, op in enumerate(dream.ops) if op.tier == "episodic"}
    found, failure = dict[int, str](), ""
    for index, op in mine.items():
        try:
            found[index] = f"the archive is off ({off})" if off else noted(dream, op)
        except Refused as error:
            found[index] = str(error)
        except ReverieError as error:
            found[index] = failure = str(error)
    return Result(found, failure=failure)


def noted(dream: Dream, op: Op) -> str:
    """Write one episodic note; why it was held back, or nothing."""
    from reverie.workspace.episodic import note

    from .draft import flaw
    from .search import bare

    memory = dream.agent.settings[MemorySettings]
    if not memory.write_routing:
        return "memory.writeRouting is off, so there are no episodic notes"
    if op.op != "add":
        return "an episodic note is only ever added"
    if reason := flaw(op):
        return reason
    done = note(dream.agent.files, memory.episodic_archive_dir, op.topic, bare(op.content), dream.run)
    return "" if done.outcome == "written" else "it stands already"


def stray(dream: Dream) -> Result:
    """The ops that name no memory file."""
    told = f"it names no memory file: {' or '.join(FILES)}"
    return Result({i: told for i, op in enumerate(dream.ops) if op.file not in FILES and op.tier != "episodic"})


def accounted(dream: Dream, results: Sequence[Result], to: str) -> Dream:
    """The letter with each op's fate, in their order, what moved, and what failed."""
    from reverie_hookspecs import Applied, Skipped

    reasons = {index: reason for result in results for index, reason in result.reasons.items()}
    applied = [Applied(op) for index, op in enumerate(dream.ops) if not reasons[index]]
    skipped = [Skipped(op, reasons[index]) for index, op in enumerate(dream.ops) if reasons[index]]
    dream = evolve(
        dream,
        applied=(*dream.applied, *applied),
        skipped=(*dream.skipped, *skipped),
        moved=(*dream.moved, *moves(results, to)),
    ).note(NAME, f"applied {len(applied)} of {len(dream.ops)} ops")
    for result in results:
        dream = dream.failed(NAME, result.failure) if result.failure else dream
    return dream


def moves(results: Sequence[Result], to: str) -> Iterator[Move]:
    """Each block that was cut, as the record of the run keeps it."""
    from reverie_hookspecs import Move

    for result in results:
        for cut in result.cuts:
            yield Move(result.file, to, cut.text, " ".join(cut.text.split())[:70])
