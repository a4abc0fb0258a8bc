"""Putting one file in the place of another, so that a kill leaves the old or the new and nobody's text is lost.

Two dot names stand beside the file meanwhile: ``.new`` is the file to come, ``.old`` a second name of the old one.
Where the system can exchange two names, ``.new`` afterwards names whatever stood in the place at that instant. Which
names there are, and which of them are one file, tells how far a killed run had come.
"""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from attrs import evolve

from reverie.journal import Write, digest
from reverie_hookspecs import ABSENT

from .disk import Disk, Look

Standing = Literal["old", "new", "unknown"]
NEWLINES = (b"\n", b"\r")


class Spot(NamedTuple):
    """A file to be replaced, and the two names beside it."""

    path: str
    new: str
    old: str

    @property
    def folder(self) -> str:
        return os.path.dirname(self.path)  # noqa: PTH120 - paths are strings here, for speed


class Swapped(NamedTuple):
    """A replacement that stands, as it came out.

    ``found`` is what the old file held in the end, where somebody had appended to it: that was carried over.
    ``lingering``: somebody still has the old file open, so ``.old`` was kept.
    """

    write: Write
    found: bytes | None = None
    lingering: bool = False


class Overtaken(NamedTuple):
    """Somebody else wrote, so theirs stays; ``orphan`` is a text of theirs that had no place left."""

    orphan: bytes = b""


def spot(root: str, write: Write) -> Spot:
    """Where a write takes place: the dot names follow from its id."""
    path = f"{root}/{write.path}"
    stem = f"{os.path.dirname(path)}/.reverie-{write.id}-{write.number}"  # noqa: PTH120
    return Spot(path, f"{stem}.new", f"{stem}.old")


def content(disk: Disk, path: str) -> bytes | None:
    """The bytes at a path, or None."""
    try:
        return disk.read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


# The three replacements


def swap(
    disk: Disk, at: Spot, write: Write, expected: bytes, data: bytes, *, growing: bool = False
) -> Swapped | Overtaken:
    """Put ``data`` in the place of ``expected``; compare before and after.

    ``growing``: go on though somebody has appended since, for that will be carried over.
    """
    look = disk.look(at.path)
    if look is None:
        return Overtaken()
    disk.create(at.new, data, look.mode, look.owner)
    try:
        linked = disk.link(at.path, at.old)
        now = content(disk, at.path)
        if now != expected and not (growing and linked and now and now.startswith(expected)):
            clear(disk, at)
            return Overtaken()
        if not (linked and disk.exchange(at.new, at.path)):
            disk.rename(at.new, at.path)
    except FileNotFoundError:  # it was taken away under our hands
        clear(disk, at)
        return Overtaken()
    disk.sync(at.folder)
    return finish(disk, at, write)


def place(disk: Disk, at: Spot, data: bytes, mode: int | None = None) -> bool:
    """Put a new file where none is; False if there is one by now."""
    disk.create(at.new, data, mode)
    try:
        disk.move(at.new, at.path)
    except FileExistsError:
        disk.unlink(at.new)
        return False
    disk.sync(at.folder)
    return True


def retire(disk: Disk, at: Spot, write: Write, expected: bytes) -> Swapped | Overtaken:
    """Take a file away that holds ``expected``."""
    if content(disk, at.path) != expected:
        return Overtaken()
    disk.move(at.path, at.old)
    disk.sync(at.folder)
    return finish(disk, at, write)


# What follows, in the run itself or in the one that finds it killed


def finish(disk: Disk, at: Spot, write: Write, again: bool = False) -> Swapped | Overtaken:
    """After the replacement: read the old file once more, carry over what was appended, drop it.

    Put back if it was changed otherwise. ``again``: a killed run may have carried it over already.
    """
    if write.before == ABSENT:
        disk.unlink(at.new)
        return Swapped(write)
    shown = at.new if disk.look(at.new) else at.old
    if shown == at.old and disk.look(shown) is None:
        return Swapped(write)
    lingering = not disk.still(shown, 0.0 if again else 0.25)
    found = disk.read(shown)
    tail = found[write.size :]
    if not write.began(found) or (tail and write.after == ABSENT):
        return put_back(disk, at, write)
    if tail:
        write = evolve(carry(disk, at.path, write, tail, again), before=digest(found), size=len(found))
    disk.unlink(at.new)
    if not lingering:
        disk.unlink(at.old)
    return Swapped(write, found if tail else None, lingering)


def carry(disk: Disk, path: str, write: Write, tail: bytes, again: bool = False) -> Write:
    """Append to a file what was appended to its forerunner; the write as it then came out."""
    now = content(disk, path) or b""
    became = write.became(now)
    ours = now[: write.length] if became else now
    lead = b"" if not ours or ours.endswith(NEWLINES) or tail.startswith(NEWLINES) else b"\n"
    if not (again and tail in now[len(ours) if became else 0 :]):
        disk.append(path, lead + tail, create=True)
    whole = ours + lead + tail
    return evolve(write, after=digest(whole), length=len(whole)) if became else write


def put_back(disk: Disk, at: Spot, write: Write) -> Overtaken:
    """Give the place back to what was found in it; what was appended to ours meanwhile goes along."""
    if write.before == ABSENT:
        return _take_away(disk, at, write)
    if disk.look(at.new) is None:
        return _rename_back(disk, at, write)
    try:
        disk.exchange(at.new, at.path)
    except FileNotFoundError:  # ours was taken away
        disk.rename(at.new, at.path)
        clear(disk, at)
        return Overtaken()
    disk.sync(at.folder)
    disk.still(at.new)
    if _rescued(disk, at, write):
        clear(disk, at)
        return Overtaken()
    disk.exchange(at.new, at.path)  # somebody wrote the whole file anew since: theirs is the newest
    orphan = disk.read(at.new)
    clear(disk, at)
    return Overtaken(orphan)


def _rescued(disk: Disk, at: Spot, write: Write, again: bool = False) -> bool:
    """Whether ``.new`` is our text; what was appended to it while it stood in the place is carried back."""
    ours = content(disk, at.new)
    if ours is None or not write.became(ours):
        return False
    if tail := ours[write.length :]:
        carry(disk, at.path, evolve(write, after=ABSENT), tail, again)
    return True


def _rename_back(disk: Disk, at: Spot, write: Write) -> Overtaken:
    """The same where names cannot be exchanged, and for a file that was taken away."""
    now = content(disk, at.path)
    if now is None:
        disk.move(at.old, at.path)
    elif write.became(now) and disk.look(at.old):
        disk.rename(at.old, at.path)
        if tail := now[write.length :]:
            carry(disk, at.path, evolve(write, after=ABSENT), tail)
    else:
        orphan = content(disk, at.old) or b""
        disk.unlink(at.old)
        return Overtaken(orphan)
    disk.sync(at.folder)
    return Overtaken()


def _take_away(disk: Disk, at: Spot, write: Write) -> Overtaken:
    """Undo the making of a file, unless somebody wrote to it since."""
    disk.unlink(at.new)
    try:
        disk.move(at.path, at.new)
    except FileNotFoundError:
        return Overtaken()
    disk.still(at.new)
    if digest(disk.read(at.new)) == write.after:
        disk.unlink(at.new)
    else:
        disk.move(at.new, at.path)
    return Overtaken()


def clear(disk: Disk, at: Spot, write: Write | None = None) -> None:
    """Take the dot names away from beside a file that was not replaced.

    Given the write, a killed run may have put the old file back and not yet what was appended to the new one.
    """
    disk.unlink(at.old)
    if write is not None:
        _rescued(disk, at, write, again=True)
    disk.unlink(at.new)


# How far a killed run had come


def standing(disk: Disk, at: Spot, write: Write) -> Standing:
    """Which of the two stands in the place, told by the dot names, else by what the file holds."""
    old, new, now = disk.look(at.old), disk.look(at.new), disk.look(at.path)
    if old is None and new is None:
        return told(content(disk, at.path), write)
    if old is None:
        return "new" if write.before == ABSENT and _same(new, now) else "old"
    if _same(old, now):
        return "old"
    if new is None or _same(new, old):
        return "new"
    if digest(content(disk, at.new) or b"") == write.after:
        return "old"
    return "new" if told(content(disk, at.path), write) == "new" else "old"


def told(data: bytes | None, write: Write) -> Standing:
    """Which of the two a file holds; somebody may have appended to it."""
    found = ABSENT if data is None else digest(data)
    if found in (write.before, write.after):
        return "new" if found == write.after else "old"
    if data is None:
        return "unknown"
    old = write.size if write.began(data) else 0
    new = write.length if write.became(data) else 0
    return "unknown" if old == new else "old" if old > new else "new"


def _same(one: Look | None, other: Look | None) -> bool:
    return one is not None and other is not None and one.ident == other.ident
