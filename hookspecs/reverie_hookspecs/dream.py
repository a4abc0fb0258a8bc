"""A run of the night: its stages, and the letter they write on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Final, Literal

from attrs import evolve, field, frozen

from .agent import Agent
from .files import Run
from .model import Usage

Scope = Literal["gather", "sweep", "ops", "share", "session"]
SCOPES: Final[tuple[Scope, ...]] = ("gather", "sweep", "ops", "share", "session")
"""The parts of a run in their order; stages that say nothing of each other are run in it."""
Mode = Literal["auto", "propose"]
Outcome = Literal[
    "skipped-disabled", "skipped-quiet", "error", "applied", "proposed", "skipped-empty", "no-changes", "undone"
]


@frozen
class Op:
    """One change to a memory file, as proposed.

    ``file`` is MEMORY.md or USER.md. ``target`` is verbatim text of it that stands there exactly once: what is replaced
    or removed, or for an add the line it goes below; an add without one, or with one that is not found, goes to the
    end. A newline in it matches any newline. ``content`` is the new text.

    The selector takes a durable add from ``score`` (0 to 1) and ``recall_count`` (in how many messages it was stated)
    on that the settings ask for, 0.6 and 2; the defaults here are below both, so that an add says what it is worth. It
    takes none that is ``unverified``: its source found no evidence.

    An op of tier ``episodic`` is an add to the note of its ``topic``, a slug: ``memory/<topic>.md``, while
    ``memory.writeRouting`` is on. ``file``, ``target``, ``score`` and ``recall_count`` are not looked at then.

    ``reason`` and ``quote`` are written down for whoever reads the record.
    """

    op: Literal["add", "replace", "remove"]
    file: str
    content: str = ""
    target: str = ""
    topic: str = ""
    tier: Literal["durable", "episodic"] = "durable"
    reason: str = ""
    score: float = 0.0
    recall_count: int = 1
    quote: str = ""
    unverified: bool = False


@frozen
class SetAside:
    """An op that was proposed and not taken, with the reason; it may be accepted by hand."""

    op: Op
    reason: str


@frozen
class Proposal:
    """What one source of ideas wants changed tonight; a failure is a value, so that others' ideas survive it.

    ``source`` is its name in the record. The first ops are taken first, as far as the caps of the night reach.
    """

    ops: tuple[Op, ...] = ()
    source: str = ""
    summary: str = ""
    aside: tuple[SetAside, ...] = ()
    failure: str = ""
    usage: Usage = Usage()
    prompt_chars: int = 0
    sessions: int = 0


@frozen
class Applied:
    """An op that stands in its file now."""

    op: Op


@frozen
class Skipped:
    """An op that a guard held back, with the reason."""

    op: Op
    reason: str


@frozen
class Excerpt:
    """A message of a transcript, as evidence."""

    session: str
    role: Literal["user", "assistant"]
    text: str
    at: datetime


@frozen
class Size:
    """A memory file against its budget, in characters; ``digest`` is the snapshot that was measured."""

    length: int
    budget: int
    digest: str

    @property
    def ratio(self) -> float:
        """Length over budget; 1.0 where the budget is off."""
        return self.length / self.budget if self.budget else 1.0

    @property
    def over(self) -> bool:
        return 0 < self.budget < self.length


@frozen
class Move:
    """A block that left a memory file in this run: what it was, and where it stands now."""

    file: str
    to: str
    text: str
    label: str = ""


@frozen
class Note:
    """A line of the diary: which stage says what."""

    stage: str
    text: str
    failed: bool = False


@frozen
class Dream:
    """The letter of one run: each stage adds a page, none erases one.

    ``rehearsal`` is a dry run: its files are an overlay and nothing reaches the disk. ``outcome`` is empty until
    the audit has closed the run.
    """

    agent: Agent
    run: Run
    mode: Mode = "auto"
    rehearsal: bool = False
    excerpts: tuple[Excerpt, ...] = ()
    sessions: int = 0
    newest_activity: datetime | None = None
    sizes: Mapping[str, Size] = field(factory=dict)
    proposals: tuple[Proposal, ...] = ()
    ops: tuple[Op, ...] = ()
    aside: tuple[SetAside, ...] = ()
    applied: tuple[Applied, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    moved: tuple[Move, ...] = ()
    changed: tuple[str, ...] = ()
    notes: tuple[Note, ...] = ()
    usage: Usage = Usage()
    outcome: Outcome | None = None
    reason: str = ""

    def note(self, stage: str, text: str) -> Dream:
        """The letter with one more line."""
        return evolve(self, notes=(*self.notes, Note(stage, text)))

    def failed(self, stage: str, reason: str) -> Dream:
        """The letter with a failure on it; the run will end in ``error``."""
        return evolve(self, notes=(*self.notes, Note(stage, reason, failed=True)))

    @property
    def failures(self) -> tuple[Note, ...]:
        return tuple(note for note in self.notes if note.failed)


@frozen
class Stage:
    """One named step of a run.

    ``run`` takes the letter and returns it with a page more; what it raises is recorded and the next stage runs.
    ``writes`` means "changes Markdown": in propose mode such a stage is not run. ``limit`` is in seconds.
    """

    name: str
    run: Callable[[Dream], Dream] = field(repr=False)
    scope: Scope = "sweep"
    writes: bool = True
    limit: float = 600.0
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
