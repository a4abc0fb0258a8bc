"""Taking a run back: every file it wrote holds again what it held before, byte for byte, or nothing is touched."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Final, Literal

from attrs import frozen

from reverie_hookspecs import ABSENT, NotFound, Refused, Run, Snapshot, StaleSnapshot

from .journal import Write, digest
from .workspace import Folder
from .workspace.backup import KEPT
from .workspace.change import Change
from .workspace.folder import explained
from .workspace.pen import Pen
from .workspace.reading import judged

logger = logging.getLogger(__name__)
Verdict = Literal["restore", "keep", "refuse"]
SHOWN: Final = 20
"""Lines of a diff in a refusal."""


@frozen
class Effect:
    """What one write of a run did to one file; a rename has two."""

    path: str
    before: str
    after: str
    size: int
    length: int
    write: Write


@frozen
class Trail:
    """All a run did to one file, in order, and what the file holds now (None: nothing is there)."""

    path: str
    effects: Sequence[Effect]
    now: bytes | None

    @property
    def before(self) -> str:
        return self.effects[0].before

    @property
    def after(self) -> str:
        return self.effects[-1].after

    @property
    def digest(self) -> str:
        return ABSENT if self.now is None else digest(self.now)

    @property
    def made(self) -> tuple[str, ...]:
        """The folders the run made for it."""
        return tuple(folder for effect in self.effects for folder in effect.write.made)

    @property
    def mode(self) -> int:
        """The mode the file had, 0 if the journal does not say."""
        return next((effect.write.mode for effect in self.effects if effect.write.mode), 0)


@frozen
class Step:
    """One file and what it is to hold."""

    trail: Trail
    target: bytes | None

    @property
    def restores(self) -> bool:
        """Whether that is anything else than it holds now."""
        return self.target != self.trail.now


def verdict(trail: Trail) -> Verdict:
    """What an undo does with a file: restore it, keep it since it is as before already, or refuse.

    Refused is whatever somebody else wrote to, after the run or between two writes of it.
    """
    if trail.digest == trail.before:
        return "keep"
    whole = all(one.after == other.before for one, other in pairwise(trail.effects))
    return "restore" if whole and trail.digest == trail.after else "refuse"


def undo(files: Folder, run_id: str, run: Run, roots: Collection[str] = ()) -> tuple[str, ...]:
    """Restore every file a run changed; the paths that were, those of a vault absolute.

    Itself a run, ``run``, which can be undone. ``roots`` are the folders beside this one, a vault's for one, that a
    run of this agent may have written below: the journal alone is not believed. Raises NotFound for a run without
    writes; Refused, with nothing changed, if a file was changed since or a pre-image is gone.
    """
    with explained(f"what run {run_id} changed"), ExitStack() as stack:
        pens = [stack.enter_context(folder.writing()) for folder in _folders(files, run_id, roots)]
        plans = [(pen, _plan(pen, run_id)) for pen in pens]
        if not any(steps for _, steps in plans):
            raise NotFound(f"the journal holds no write of a run {run_id}, so there is nothing to undo")
        done: list[tuple[Pen, Step]] = []
        try:
            for pen, step in [(pen, step) for pen, steps in plans for step in steps if step.restores]:
                _restore(pen, step, run)
                done.append((pen, step))
        except BaseException:
            _back(done, run)
            raise
        for pen, steps in plans:
            _tidy(pen, steps)
    return tuple(step.trail.path if pen.home == files.pen.home else pen.at(step.trail.path) for pen, step in done)


def restorable(files: Folder, run_id: str, roots: Collection[str] = ()) -> list[str]:
    """The paths an undo would restore; refuses as that would, and touches nothing."""
    from datetime import UTC, datetime

    rehearsal = Run(f"{run_id}-rehearsal", "", "undo", datetime.now(UTC))
    return list(undo(files.overlay(), run_id, rehearsal, roots))


def changes(files: Folder, run_id: str, roots: Collection[str] = ()) -> list[Change]:
    """What a run made of each file, for showing; a version that is nowhere any more is unreadable, with the reason."""
    found = []
    for folder in _folders(files, run_id, roots):
        pen = folder.pen
        trails = _trails(pen, run_id)
        store = Store(pen, [trail.path for trail in trails])
        for trail in trails:
            first, last = trail.effects[0], trail.effects[-1]
            before = store.snapshot(trail, first.before, first.size)
            found.append(Change(trail.path, before, store.snapshot(trail, last.after, last.length), pen.home))
    return found


# Finding what files held


class Store:
    """Every content that is still there of some files: what they hold, and their pre-images, by digest."""

    def __init__(self, pen: Pen, paths: Iterable[str]) -> None:
        self.pen = pen
        self.paths = list(dict.fromkeys(paths))

    def find(self, path: str, wanted: str, size: int) -> bytes | None:
        """The content of a file with that digest and size; it may be the beginning of a longer one."""
        if wanted == digest(b""):
            return b""
        for data in self._all(path):
            if len(data) >= size and digest(data[:size]) == wanted:
                return data[:size]
        return None

    def snapshot(self, trail: Trail, wanted: str, size: int) -> Snapshot:
        """The same as a snapshot."""
        if wanted == ABSENT:
            return Snapshot(trail.path, "missing")
        data = self.find(trail.path, wanted, size)
        if data is None:
            return Snapshot(trail.path, "unreadable", reason="this version is nowhere any more")
        return judged(trail.path, data)

    def _all(self, first: str) -> Iterator[bytes]:
        """The file's own versions, then those of the others: it may have been renamed."""
        for path in (first, *(path for path in self.paths if path != first)):
            now = self.pen.held(path)
            if now is not None:
                yield now
            for name in self.pen.backups.of(self.pen.label(path)):
                yield self.pen.backups.read(name) or b""


# The plan


def _folders(files: Folder, run_id: str, others: Collection[str]) -> list[Folder]:
    """The roots a run wrote below, in the order of their paths, so that two undos cannot wait for each other."""
    journal, home = files.journal, files.pen.home
    roots = {home} | {write.root for write in journal.writes(run_id)}
    roots |= {write.root for batch in journal.open_intents() for write in batch.writes if write.run == run_id}
    if strange := sorted(root for root in roots if root != home and root not in others):
        raise Refused(f"run {run_id} is said to have written below {strange[0]}, which is no root of this agent")
    folders = [files if root == home else files.beside(root) for root in roots]
    return sorted(folders, key=lambda folder: str(folder.root))


def _trails(pen: Pen, run_id: str) -> list[Trail]:
    """What a run did below one root, file by file, in the order it first touched them."""
    trails: dict[str, list[Effect]] = {}
    for write in pen.journal.writes(run_id):
        for effect in effects(write) if write.root == pen.home else ():
            trails.setdefault(effect.path, []).append(effect)
    return [Trail(path, found, pen.held(path)) for path, found in trails.items()]


def effects(write: Write) -> list[Effect]:
    """What a write did to each file it touched."""
    if write.op != "rename":
        return [Effect(write.path, write.before, write.after, write.size, write.length, write)]
    return [
        Effect(write.path, write.before, ABSENT, write.size, 0, write),
        Effect(write.to, ABSENT, write.after, 0, write.length, write),
    ]


def _plan(pen: Pen, run_id: str) -> list[Step]:
    """Every file of a root that the run wrote to, the last one first; all refusals come here."""
    trails = _trails(pen, run_id)
    refused = [trail for trail in trails if verdict(trail) == "refuse"]
    if refused:
        raise Refused(_refusal(pen, run_id, refused))
    store = Store(pen, [trail.path for trail in trails])
    return [_step(store, trail, run_id) for trail in reversed(trails)]


def _step(store: Store, trail: Trail, run_id: str) -> Step:
    target = None if trail.before == ABSENT else store.find(trail.path, trail.before, trail.effects[0].size)
    if target is None and trail.before != ABSENT:
        raise Refused(
            f"run {run_id} cannot be undone: the pre-image of {trail.path} is gone (the newest {KEPT} of a file are "
            "kept). Nothing was changed"
        )
    return Step(trail, target)


def _refusal(pen: Pen, run_id: str, trails: Sequence[Trail]) -> str:
    names = ", ".join(trail.path for trail in trails)
    head = f"run {run_id} cannot be undone, and nothing was changed: {names} changed since. Merge by hand:"
    return "\n".join([head, *(_versions(pen, trail) for trail in trails)])


def _versions(pen: Pen, trail: Trail) -> str:
    """Both versions of a file that was changed since, and what was changed."""
    store = Store(pen, [trail.path])
    kept = [name for effect in trail.effects if (name := effect.write.backup)]
    first = trail.effects[0]
    before = pen.backups.where(kept[0]) if kept else f"its first {first.size} bytes" if first.size else "no file"
    left = store.find(trail.path, trail.after, trail.effects[-1].length)
    since = _diff(left, trail.now) if left is not None else "  (what the run left is nowhere any more)"
    return f"{trail.path}\n  before the run: {before}\n  now: {pen.at(trail.path)}\n  changed since:\n{since}"


def _diff(one: bytes, other: bytes | None) -> str:
    from difflib import unified_diff  # only a refusal needs it

    old, new = (data.decode("utf-8", "replace").splitlines() for data in (one, other or b""))
    lines = list(unified_diff(old, new, "as the run left it", "now", lineterm="", n=1))
    more = [f"  … {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
    return "\n".join([f"  {line}" for line in lines[:SHOWN]] + more)


# Doing it


def _restore(pen: Pen, step: Step, run: Run) -> None:
    trail = step.trail
    if not pen.put(_snapshot(trail.path, trail.now), step.target, run, mode=trail.mode):
        raise StaleSnapshot(f"{trail.path} was written by somebody else this moment; nothing is undone, try again")


def _tidy(pen: Pen, steps: Sequence[Step]) -> None:
    """Take away the folders that the run made for files that are gone again."""
    made = sorted({folder for step in steps if step.target is None for folder in step.trail.made})
    try:
        pen.tidy(made)
    except OSError as error:
        logger.warning("a folder made by the run could not be taken away: %s", error)


def _back(done: Sequence[tuple[Pen, Step]], run: Run) -> None:
    """Put files that were restored already back to what they held before the undo, which came to nothing."""
    for pen, step in reversed(done):
        path, now = step.trail.path, step.trail.now
        if not pen.put(_snapshot(path, step.target), now, run, mode=step.trail.mode):
            logger.warning("%s was restored, and could not be put back when the undo failed", pen.at(path))


def _snapshot(path: str, data: bytes | None) -> Snapshot:
    return Snapshot(path, "missing") if data is None else Snapshot(path, "text", data)
