"""Putting right: taking back what a commit added that came to nothing, and what a killed run left half done."""

from __future__ import annotations

import errno
import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from attrs import evolve

from reverie.journal import Batch, Block, Write, digest
from reverie_hookspecs import ABSENT, Refused, ReverieError

from . import draft
from .place import writable
from .swap import Overtaken, Swapped, carry, clear, content, finish, put_back, retire, spot, standing, swap, told

if TYPE_CHECKING:
    from .pen import Pen

logger = logging.getLogger(__name__)


class Span(NamedTuple):
    """Where what an append added stands in a file now; ``unclear`` if the file was changed before it."""

    state: Literal["whole", "part", "absent", "unclear"]
    start: int = 0
    end: int = 0


def span(data: bytes | None, write: Write) -> Span:
    """Look for what an append added, where it was added or further down.

    A part counts only at the very end of the file: what follows it could be somebody's own line.
    """
    if data is None:
        return Span("absent")
    if write.before != ABSENT and not write.began(data):
        return Span("unclear")
    start = data.find(write.data, write.size)
    if start >= 0:
        return Span("whole", start, start + len(write.data))
    rest = data[write.size :]
    part = rest and write.before != ABSENT and write.data.startswith(rest)
    return Span("part", write.size, len(data)) if part else Span("absent")


# Taking back


def abandon(pen: Pen, batch: Sequence[Write], reason: str) -> None:
    """Take back everything that may stand of writes an error has stopped, and close their intent.

    What cannot be taken back now stays intended: the next write finds it and tries again.
    """
    try:
        if roll_back(pen, batch[-1]):
            _withdraw(pen, batch, batch[:-1], reason)
    except OSError as error:
        logger.warning("%s: could not take back all of a write (%s); the next one will", batch[-1].path, error)


def retract(pen: Pen, batch: Sequence[Write], laid: Sequence[Write], reason: str) -> None:
    """The same where the file itself is known to be untouched, and ``laid`` are the appends that were done."""
    try:
        _withdraw(pen, batch, laid, reason)
    except OSError as error:
        logger.warning("%s: could not take back all of a write (%s); the next one will", batch[-1].path, error)


def roll_back(pen: Pen, write: Write) -> bool:
    """Have the old file in its place again; False if that cannot be had."""
    if write.op == "append":
        return take_out(pen, write)
    if write.op == "rename":
        return _name_back(pen, write)
    at = spot(pen.root, write)
    if standing(pen.disk, at, write) != "new":
        clear(pen.disk, at, write)
        return True
    pen.rescue(write, put_back(pen.disk, at, write))
    return told(content(pen.disk, at.path), write) != "new"


def _withdraw(pen: Pen, batch: Sequence[Write], laid: Sequence[Write], reason: str) -> None:
    """Take appends out of the archives again, drop the pre-image, remove the folders that were made."""
    for write in reversed(laid):
        if not take_out(pen, write):
            return
    pen.backups.drop(batch[-1].backup)
    for write in reversed(batch):
        pen.tidy(write.made)
    pen.journal.close(batch, "withdrawn", reason=reason)


def take_out(pen: Pen, write: Write) -> bool:
    """Take what an append added out of its file again; False if others keep writing there."""
    path, at = pen.at(write.path), spot(pen.root, write)
    if write.before == ABSENT:
        made = standing(pen.disk, at, write) == "new"
        clear(pen.disk, at)
        if not made:
            return True
    for _ in range(5):
        data = content(pen.disk, path)
        found = span(data, write)
        if data is None or found.state in ("absent", "unclear"):
            return True
        if found.end == len(data) and found.start and pen.disk.cut(path, len(data), found.start):
            return True
        rest = data[: found.start] + data[found.end :]
        if _rewritten(pen, write, data, None if write.before == ABSENT and not rest else rest):
            return True
    return False


def _rewritten(pen: Pen, write: Write, data: bytes, rest: bytes | None) -> bool:
    """Replace a file by what is left of it; a write of its own in the journal, so that a kill does no harm."""
    look = pen.disk.look(pen.at(write.path))
    ends = draft.ends(data, rest)
    own = Write(draft.new_id(), write.run, write.path, "withdraw", **ends, root=pen.home, mode=look.mode if look else 0)
    pen.journal.intend([own])
    at = spot(pen.root, own)
    try:
        result = retire(pen.disk, at, own, data) if rest is None else swap(pen.disk, at, own, data, rest, growing=True)
    except OSError:
        roll_back(pen, own)
        raise
    if isinstance(result, Overtaken):
        pen.rescue(own, result)
        pen.journal.close([own], "withdrawn")
        return False
    pen.journal.close([result.write], "written", lingering=result.lingering)
    return True


def _name_back(pen: Pen, write: Write) -> bool:
    source, target = pen.at(write.path), pen.at(write.to)
    here, there = pen.disk.look(source), pen.disk.look(target)
    if here is None and there is not None and digest(content(pen.disk, target) or b"") == write.after:
        pen.disk.move(target, source)
    elif here is not None and there is not None and here.ident == there.ident:
        pen.disk.unlink(target)
    return True


# After a kill


def mend(pen: Pen) -> list[str]:
    """Finish or take back what killed runs left below the pen's root; a sentence for each.

    Under the root's write lock no intent for it can be of a run that is still writing.
    """
    done = []
    for batch in pen.journal.open_intents():
        if batch.writes[-1].root == pen.home:
            done += _attended(pen, batch)
    try:
        pen.journal.dismiss()
    except OSError as error:
        logger.warning("%s: what names no write there could not be closed: %s", pen.journal.path, error)
    return done


def _attended(pen: Pen, batch: Batch) -> list[str]:
    """Put right what a killed run left, if it can have been one; nothing in the journal stops the others."""
    main = batch.writes[-1]
    try:
        if reason := _strange(pen, batch.writes):
            logger.warning("%r: the journal names a write that is not mended: %s", main.path, reason)
            pen.journal.close(batch.writes, "written" if batch.written else "withdrawn", reason=reason)
            return []
        return _mended(pen, batch)
    except (OSError, ValueError, OverflowError, ReverieError) as error:
        logger.warning("%r: what a killed run left could not be put right: %s", main.path, error)
        return []


def whole(writes: Sequence[Write]) -> bool:
    """Whether these are the writes of one batch, or the first ones of it, in their order."""
    main = writes[-1]
    alike = {(write.id, write.run, write.root, write.of) for write in writes}
    return (
        len(alike) == 1
        and [write.number for write in writes] == list(range(len(writes)))
        and all(write.op == "append" for write in writes[:-1])
        and (main.number + 1 < main.of or main.of == 1 or main.op in ("replace", "remove"))
    )


def _strange(pen: Pen, writes: Sequence[Write]) -> str:
    """Why writes cannot have been begun here, so that none is touched; empty if they can."""
    if not whole(writes):
        return "its lines are not those of one batch"
    try:
        for path in (path for write in writes for path in (write.path, write.to) if path):
            writable(pen.disk, pen.root, path)
    except Refused as error:
        return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in str(error))
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        return "no file has so long a name"
    return ""


def _mended(pen: Pen, batch: Batch) -> list[str]:
    main = batch.writes[-1]
    if batch.written:
        return _relieved(pen, batch)
    if main.number + 1 != main.of:  # killed while it wrote its intent, so before it did anything
        pen.journal.close(batch.writes, "withdrawn", reason="the run was killed")
        return [f"{main.path}: a killed run had done nothing yet"]
    stands = _append_stands if main.op == "append" else _rename_stands if main.op == "rename" else _stands
    if stands(pen, batch.writes):
        return [f"{main.path}: what a killed run had written is complete"]
    return [f"{main.path}: {_backed_out(pen, batch.writes)}"]


def _stands(pen: Pen, writes: Sequence[Write]) -> bool:
    """Whether a replacement stands; it is finished if it does."""
    main, at = writes[-1], spot(pen.root, writes[-1])
    if standing(pen.disk, at, main) != "new":
        clear(pen.disk, at, main)
        return False
    result = finish(pen.disk, at, main, again=True)
    if isinstance(result, Overtaken):
        pen.rescue(main, result)
        return False
    pen.conclude([_settled(pen, write) for write in writes[:-1]], result)
    return True


def _append_stands(pen: Pen, writes: Sequence[Write]) -> bool:
    [write] = writes
    found = span(content(pen.disk, pen.at(write.path)), write)
    if found.state != "whole":
        return False
    if write.before == ABSENT:
        clear(pen.disk, spot(pen.root, write))
    pen.conclude([], Swapped(_settled(pen, write)))
    return True


def _rename_stands(pen: Pen, writes: Sequence[Write]) -> bool:
    [write] = writes
    here, there = pen.disk.look(pen.at(write.path)), pen.disk.look(pen.at(write.to))
    if there is None or (here is not None and here.ident != there.ident):
        return False
    if here is not None:
        pen.disk.unlink(pen.at(write.path))
    pen.conclude([], Swapped(write))
    return True


def _settled(pen: Pen, write: Write) -> Write:
    """An append as it came out, as far as its file still tells."""
    data = content(pen.disk, pen.at(write.path))
    found = span(data, write)
    if data is None or found.state != "whole" or found.start == write.size:
        return write
    return evolve(write, **draft.ends(data[: found.start], data[: found.end]))


def _backed_out(pen: Pen, writes: Sequence[Write]) -> str:
    """Take a killed write back.

    Blocks stay in the archive if the file they were to leave was rewritten since: somebody may have seen them there,
    and cut them himself.
    """
    main = writes[-1]
    now = content(pen.disk, pen.at(main.path))
    if len(writes) > 1 and not (main.before == ABSENT if now is None else main.began(now)):
        left = [block for write in writes[:-1] for block in _left(pen, write)]
        pen.backups.drop(main.backup)
        pen.journal.close(writes, "left", reason="the run was killed", left=left)
        return "a killed run had archived blocks of it, and it was changed since: they stay archived"
    if main.op != "append" or take_out(pen, main):
        _withdraw(pen, writes, writes[:-1], "the run was killed")
    return "what a killed run had begun was taken back"


def _left(pen: Pen, write: Write) -> list[Block]:
    """The blocks of a killed append that stand in its archive."""
    at = spot(pen.root, write)
    if write.before == ABSENT and standing(pen.disk, at, write) != "new":
        clear(pen.disk, at)
        pen.tidy(write.made)
    data = content(pen.disk, pen.at(write.path)) or b""
    if span(data, write).state == "absent":
        return []
    return [(write.path, digest(block)) for block in write.given() if block in data]


def _relieved(pen: Pen, batch: Batch) -> list[str]:
    """Carry over what was appended to a replaced file that somebody had kept open, and drop it when they are done."""
    main, at = batch.writes[-1], spot(pen.root, batch.writes[-1])
    if pen.disk.look(at.old) is None:
        pen.journal.close(batch.writes, "written")
        return []
    done = pen.disk.still(at.old, 0.0)
    found = pen.disk.read(at.old)
    if main.began(found):
        if tail := found[main.size :]:
            main = evolve(carry(pen.disk, at.path, main, tail, again=True), before=digest(found), size=len(found))
    elif done:
        pen.rescue(main, Overtaken(found))
    if done:
        pen.disk.unlink(at.old)
    if done or main is not batch.writes[-1]:
        pen.journal.close([*batch.writes[:-1], main], "written", lingering=not done)
    return [f"{main.path}: somebody still had the replaced file open; what they wrote is carried over"]
