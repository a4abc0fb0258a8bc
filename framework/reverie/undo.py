"""Taking a run back: every file it wrote holds again what it held before, byte for byte.

What was written to a file since is merged with that; where the two conflict, nothing is touched anywhere.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Final, Literal

from attrs import evolve, frozen

from reverie_hookspecs import ABSENT, NotFound, Refused, Run, Snapshot, StaleSnapshot

from .journal import Write, digest
from .merge import BOM, NEWLINES, merge
from .workspace import Folder
from .workspace.backup import KEPT
from .workspace.change import Change
from .workspace.folder import explained
from .workspace.pen import Pen
from .workspace.reading import judged

logger = logging.getLogger(__name__)
Verdict = Literal["restore", "keep", "merge"]
Flaw = Literal["conflict", "gone"]
"""Why a file cannot be had as it was: what was written since conflicts, or nobody keeps what it held."""
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
    def pieces(self) -> list[Trail]:
        """The same in pieces, between which somebody else wrote to the file."""
        pairs = enumerate(pairwise(self.effects), 1)
        breaks = [at for at, (one, other) in pairs if one.after != other.before]
        ends = pairwise([0, *breaks, len(self.effects)])
        return [evolve(self, effects=self.effects[start:end]) for start, end in ends]

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
    def turn(self) -> int:
        """Text comes back before it goes: a file that only gains lines is first, one that only loses some is last.

        So a kill in between leaves each line of memory somewhere, in its file or in the archive.
        """
        old, new = (Counter((data or b"").splitlines()) for data in (self.trail.now, self.target))
        return bool(old - new) - bool(new - old)

    @property
    def restores(self) -> bool:
        """Whether that is anything else than it holds now."""
        return self.target != self.trail.now


def verdict(trail: Trail) -> Verdict:
    """What an undo does with a file: restore it, keep it since it is as before already, or merge.

    Merged is whatever somebody else wrote to, after the run or between two writes of it.
    """
    if trail.digest == trail.before:
        return "keep"
    return "restore" if len(trail.pieces) == 1 and trail.digest == trail.after else "merge"


def undo(files: Folder, run_id: str, run: Run, roots: Collection[str] = ()) -> tuple[str, ...]:
    """Restore every file a run changed; the paths that were, those of a vault absolute.

    Itself a run, ``run``, which can be undone. ``roots`` are the folders beside this one, a vault's for one, that a
    run of this agent may have written below: the journal alone is not believed. Raises NotFound for a run without
    writes; Refused, with nothing changed, if a file was changed since in a way that conflicts, or a pre-image is gone.
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
    """What a run made of each file; once more for each time that somebody else wrote to it in between.

    A version that is nowhere any more is unreadable, with the reason.
    """
    found = []
    for folder in _folders(files, run_id, roots):
        pen = folder.pen
        trails, store = _trails(pen, run_id)
        for trail in (piece for whole in trails for piece in whole.pieces):
            first, last = trail.effects[0], trail.effects[-1]
            before = store.snapshot(trail, first.before, first.size)
            found.append(Change(trail.path, before, store.snapshot(trail, last.after, last.length), pen.home))
    return found


# Finding what files held


class Store:
    """Every content that can be had of files a run wrote, by digest: held somewhere, or made anew of its writes."""

    def __init__(self, pen: Pen, writes: Sequence[Write]) -> None:
        self.pen = pen
        self.writes = writes
        self.paths = list(dict.fromkeys(effect.path for write in writes for effect in effects(write)))
        self._made: dict[str, bytes] | None = None

    def find(self, path: str, wanted: str, size: int) -> bytes | None:
        """The content of a file with that digest and size; it may be the beginning of a longer one."""
        if wanted in (digest(b""), ABSENT):
            return b""
        held = self._held(path, wanted, size)
        if held is not None:
            return held
        if self._made is None:
            self._made = self._remade()
        return self._made.get(wanted)

    def snapshot(self, trail: Trail, wanted: str, size: int) -> Snapshot:
        """The same as a snapshot."""
        if wanted == ABSENT:
            return Snapshot(trail.path, "missing")
        data = self.find(trail.path, wanted, size)
        if data is None:
            return Snapshot(trail.path, "unreadable", reason="this version is nowhere any more")
        return judged(trail.path, data)

    def _held(self, path: str, wanted: str, size: int) -> bytes | None:
        for data in self._all(path):
            if len(data) >= size and digest(data[:size]) == wanted:
                return data[:size]
        return None

    def _remade(self) -> dict[str, bytes]:
        """What each write left, made of what it found; the run's writes in their order, so that one leads on."""
        made = {ABSENT: b"", digest(b""): b""}
        for write in self.writes:
            before = made.get(write.before)
            if before is None:
                before = self._held(write.path, write.before, write.size)
            left = None if before is None else write.leaves(before)
            if before is not None and left is not None:
                made |= {write.before: before, write.after: left}
        return made

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


def _trails(pen: Pen, run_id: str) -> tuple[list[Trail], Store]:
    """What a run did below one root, file by file, in the order it first touched them; and what contents there are."""
    trails: dict[str, list[Effect]] = {}
    writes = [write for write in pen.journal.writes(run_id) if write.root == pen.home]
    for effect in (effect for write in writes for effect in effects(write)):
        trails.setdefault(effect.path, []).append(effect)
    return [Trail(path, found, pen.held(path)) for path, found in trails.items()], Store(pen, writes)


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
    trails, store = _trails(pen, run_id)
    found = [(trail, _step(store, trail)) for trail in trails]
    if conflicts := [trail for trail, step in found if step == "conflict"]:
        raise Refused(_refusal(store, run_id, conflicts))
    if gone := [trail.path for trail, step in found if step == "gone"]:
        raise Refused(
            f"run {run_id} cannot be undone: the pre-image of {', '.join(gone)} is gone (the newest {KEPT} of a file "
            "are kept). Nothing was changed"
        )
    return sorted((step for _, step in reversed(found) if isinstance(step, Step)), key=lambda step: step.turn)


def _step(store: Store, trail: Trail) -> Step | Flaw:
    """What a file is to hold: the pieces of what the run did to it are taken back one by one, the last one first."""
    said = verdict(trail)
    if said == "merge" and any(effect.write.op == "rename" for effect in trail.effects):
        return "conflict"
    target = trail.now
    for piece in reversed(trail.pieces) if said == "merge" else [trail]:
        step = _backed(store, evolve(piece, now=target))
        if not isinstance(step, Step):
            return step
        target = step.target
    return Step(trail, target)


def _backed(store: Store, piece: Trail) -> Step | Flaw:
    """What a file is to hold after one piece is taken back."""
    said = verdict(piece)
    if said == "keep":
        return Step(piece, piece.now)
    if said == "merge" and (piece.now is None or piece.after == ABSENT):
        return "conflict"
    before = None if piece.before == ABSENT else store.find(piece.path, piece.before, piece.effects[0].size)
    if before is None and piece.before != ABSENT:
        return _without(piece) if said == "merge" else "gone"
    return Step(piece, before) if said == "restore" else _merged(store, piece, before)


def _merged(store: Store, piece: Trail, before: bytes | None) -> Step | Flaw:
    """What it held before the run and what was written since; a file that the run made goes where nothing is left."""
    left = store.find(piece.path, piece.after, piece.effects[-1].length)
    head = heading(piece.effects[0].write) if before is None else b""
    merged = None if left is None else merge(left, head if before is None else before, piece.now or b"")
    if merged is None:
        return "conflict"
    return Step(piece, None if merged.removeprefix(BOM).strip() == head.strip() else merged)


def heading(write: Write) -> bytes:
    """What an append began a new file with: it stays while anything stands below it."""
    return write.data[: len(write.data) - sum(write.blocks)] if write.op == "append" else b""


def _without(piece: Trail) -> Step | Flaw:
    """The file without what was appended to it, where nobody keeps what it held before."""
    data = piece.now
    for effect in reversed(piece.effects):
        data = None if data is None else lifted(data, effect.write)
    return "gone" if data is None else Step(piece, data)


def lifted(data: bytes, write: Write) -> bytes | None:
    """A content without the blocks of an append, if they stand in it once, together, as whole lines; else None."""
    text = b"".join(write.given())
    at = data.find(text) if write.op == "append" and text else -1
    end = at + len(text)
    if at < 0 or data.find(text, at + 1) >= 0:
        return None
    whole = data[:at].endswith(NEWLINES) or not at
    return data[:at] + data[end:] if whole and (text.endswith(NEWLINES) or end == len(data)) else None


def _refusal(store: Store, run_id: str, trails: Sequence[Trail]) -> str:
    names = ", ".join(trail.path for trail in trails)
    head = f"run {run_id} cannot be undone, and nothing was changed: {names} changed since. Merge by hand:"
    return "\n".join([head, *(_versions(store, trail) for trail in trails)])


def _versions(store: Store, trail: Trail) -> str:
    """Both versions of a file that was changed since, and what was changed."""
    pen = store.pen
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
