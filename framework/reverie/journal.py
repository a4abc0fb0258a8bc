"""The journal: before a write a line that says what is to be written, after it a line that says how it ended.

One JSON object a line. Writes that belong together (a file and the archives its blocks go to) share an ``id``.
"""

from __future__ import annotations

import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from attrs import evolve, frozen

from reverie_hookspecs import ABSENT, Unreadable

from .line import ALWAYS, ENDED, HEAD, ends, fields, parsed
from .merge import shared
from .workspace.disk import Disk
from .workspace.folder import BACKUPS, JOURNAL

logger = logging.getLogger(__name__)
Outcome = Literal["written", "withdrawn", "left"]
Block = tuple[str, str]
"""A block of text in an archive: the archive's path and the block's digest."""

CHUNK: Final = 1 << 20
LONGEST: Final = 1 << 20
"""Bytes of a replacement that are kept here; of a larger one a later merge will not know what it left."""
TELLING: Final = (b'"open"', b'"left"', b'"reused"')
"""What makes an outcome worth reading when only open intents are looked for."""


@frozen
class Write:
    """One write to one file, as journalled.

    ``op``: ``replace`` (of a missing file: makes it), ``append``, ``remove``, ``rename``, or ``withdraw``, which takes
    back what an ``append`` that came to nothing had added and is no write of the run. ``before`` and ``after`` are
    SHA-256 of the content, or ``absent``; ``size`` and ``length`` its bytes before and after. ``text`` is what an
    append adds: what leads it in, then blocks of ``blocks`` bytes each; or what a replacement puts in the place of the
    bytes ``hunk[0]`` to ``hunk[1]`` of the ``hunk[2]`` there were. ``made`` are the folders it makes.
    """

    id: str
    run: str
    path: str
    op: str
    before: str = ABSENT
    after: str = ABSENT
    size: int = 0
    length: int = 0
    root: str = "."
    backup: str = ""
    mode: int = 0
    text: str = ""
    blocks: tuple[int, ...] = ()
    to: str = ""
    made: tuple[str, ...] = ()
    number: int = 0
    of: int = 1
    hunk: tuple[int, ...] = ()

    @property
    def data(self) -> bytes:
        """The bytes an append adds, or a replacement's hunk."""
        return self.text.encode("utf-8", "surrogateescape")

    def began(self, data: bytes) -> bool:
        """Whether these bytes begin with the content before the write."""
        return self.before != ABSENT and len(data) >= self.size and digest(data[: self.size]) == self.before

    def became(self, data: bytes) -> bool:
        """Whether these bytes begin with the content after the write."""
        return self.after != ABSENT and len(data) >= self.length and digest(data[: self.length]) == self.after

    def leaves(self, before: bytes) -> bytes | None:
        """The content after the write, made of the one before it; None if the journal does not say."""
        found = [before] * (self.op == "rename") + [before + self.data] * (self.op == "append")
        if self.op == "replace" and self.hunk:
            start, end, size = self.hunk
            made, late = before[:start] + self.data + before[end:size], before[size:]
            found = [made, made + late, made + b"\n" + late]  # what was appended to the old file was carried over
        return next((data for data in found if digest(data) == self.after), None)

    def given(self) -> list[bytes]:
        """The blocks an append adds, without what leads them in."""
        data, given = self.data, []
        start = len(data) - sum(self.blocks)
        for length in self.blocks:
            given.append(data[start : start + length])
            start += length
        return given


class Batch(NamedTuple):
    """Writes that belong together and whose end is not known.

    Of ``written`` ones it is, but somebody had the replaced file open and may have gone on writing to it.
    """

    writes: tuple[Write, ...]
    written: bool = False


GUARDS: Final = ("lock", "write-lock", JOURNAL)


class Journal:
    """The journal at a path; ``skipped`` counts lines that are none, as the last full reading found them."""

    def __init__(self, path: str, disk: Disk) -> None:
        self.path = path
        self.disk = disk
        self.skipped = 0
        self._ident: tuple[int, int] | None = None
        self._offset = 0
        self._torn = False
        self._open: dict[str, list[bytes]] = {}
        self._closed: dict[str, dict[str, Any]] = {}
        self._left: Counter[Block] = Counter()
        self._under_way: dict[str, list[Write]] = {}

    def intend(self, writes: Iterable[Write]) -> None:
        """Say what is about to be written; on disk when this returns."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        batch = list(writes)
        self._add([{"do": "intent", "id": write.id, "at": at, **_row(write)} for write in batch], sync=True)
        self._under_way[batch[0].id] = batch

    def close(
        self,
        writes: Sequence[Write],
        outcome: Outcome,
        *,
        reason: str = "",
        left: Sequence[Block] = (),
        reused: Sequence[Block] = (),
        lingering: bool = False,
    ) -> None:
        """Say how writes that belong together ended, each as it came out.

        ``left`` are blocks that stand in an archive though nothing was cut, ``reused`` such blocks of old that were
        not written again; ``lingering``: somebody has the replaced file open.
        """
        row = {"do": "outcome", "id": writes[0].id, "run": writes[0].run, "outcome": outcome}
        rare: dict[str, Any] = {"reason": reason, "left": left, "reused": reused, "open": lingering}
        if outcome == "written" and self._under_way.pop(writes[0].id, None) != list(writes):
            rare["as"] = [{key: getattr(write, key) for key in ENDED} for write in writes]
        self._add([row | {key: value for key, value in rare.items() if value}], sync=False)

    def runs(self) -> list[str]:
        """The runs that wrote something which stands, in the order they began."""
        found: dict[str, None] = {}
        for line in self._lines(0):
            row = parsed(line) if b'"outcome"' in line else None
            if row and row["do"] == "outcome" and row.get("outcome") == "written":
                found[row["run"]] = None
        return list(found)

    def writes(self, run: str) -> list[Write]:
        """What a run wrote, in order, each as it came out; what it took back itself is left out."""
        self.skipped = 0
        key, intents, done = json.dumps(run).encode(), dict[str, list[Write]](), list[Write]()
        for line in self._lines(0):
            row = parsed(line) if key in line else None
            if row is None:
                self.skipped += bool(line) and not (HEAD.match(line) and line.endswith(b"}") and key not in line)
            elif row["run"] == run:
                done += _step(intents, row)
        return [write for write in done if not self._touched(write)]

    def open_intents(self) -> list[Batch]:
        """The writes whose end is not known: of a run that was killed, or of one under way."""
        self.scan()
        found = [self._batch(key) for key in self._open]
        return [batch for batch in found if batch.writes]

    def dismiss(self) -> None:
        """Close the intents that name no write: whoever left them, there is nothing to be done about them."""
        self.scan()
        senseless = [key for key in self._open if not self._batch(key).writes]
        if senseless:
            logger.warning("%s: %d intents in it name no write; they are passed over", self.path, len(senseless))
            row = {"run": "", "outcome": "withdrawn", "reason": "it names no write"}
            self._add([{"do": "outcome", "id": key, **row} for key in senseless], sync=False)

    def left(self) -> Counter[Block]:
        """Blocks that killed runs left in archives; each may be taken for written as often as it counts."""
        return Counter(self._left)

    def scan(self) -> None:
        """Take note of the lines added since the last scan."""
        look = self.disk.look(self.path)
        ident = look.ident if look else None
        if ident != self._ident or (look and look.size < self._offset):
            self._forget(ident)
        for line in self._lines(self._offset):
            self._offset += len(line) + 1
            self._note(line)
        self._torn = look is not None and self._offset < look.size

    def _batch(self, key: str) -> Batch:
        """What the lines of an open intent say, without those that name no write."""
        outcome = self._closed.get(key)
        rows = [row for row in map(parsed, self._open[key]) if row]
        writes = _ended([write for write in map(_write, rows) if write], outcome)
        return Batch(tuple(write for write in writes if not self._touched(write)), outcome is not None)

    def _touched(self, write: Write) -> bool:
        """Whether a write is said to be one of the records themselves, which nobody writes that way."""
        records = os.path.dirname(self.path)  # noqa: PTH120 - paths are strings here, for speed
        root = os.path.dirname(records) if write.root == "." else write.root  # noqa: PTH120
        rests = [f"{root}/{path}".removeprefix(f"{records}/") for path in (write.path, write.to)]
        return any(rest.startswith(BACKUPS) or rest in GUARDS for rest in rests)

    def _forget(self, ident: tuple[int, int] | None) -> None:
        self._ident, self._offset, self._torn = ident, 0, False
        for kept in (self._open, self._closed, self._left):
            kept.clear()

    def _add(self, rows: list[dict[str, Any]], sync: bool) -> None:
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows)
        torn, self._torn = self._torn, True
        self.disk.append(self.path, b"\n" * torn + text.encode(), create=True, sync=sync)
        self._torn = False

    def _lines(self, offset: int) -> Iterator[bytes]:
        """Whole lines from an offset on, a megabyte at a time; one torn at the end is left out."""
        pieces: list[bytes] = []
        while chunk := self._chunk(offset):
            offset += len(chunk)
            first, *more = chunk.split(b"\n")
            pieces.append(first)
            if more:
                yield b"".join(pieces)
                yield from more[:-1]
                pieces = more[-1:]
            if len(chunk) < CHUNK:
                return

    def _chunk(self, offset: int) -> bytes:
        try:
            return self.disk.tail(self.path, offset, CHUNK)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise Unreadable(f"{self.path} cannot be read: {error.strerror}; nothing is written without it") from error

    def _note(self, line: bytes) -> None:
        head = HEAD.match(line)
        if head is None:
            return
        key = head[2].decode()
        if head[1] == b"intent":
            self._open.setdefault(key, []).append(line)
            return
        row = parsed(line) if any(word in line for word in TELLING) else None
        self._left += Counter(_blocks(row, "left"))
        self._left -= Counter(_blocks(row, "reused"))
        if row and row.get("open"):
            self._closed[key] = row
        else:
            self._open.pop(key, None)
            self._closed.pop(key, None)


def digest(data: bytes) -> str:
    """SHA-256 in hex."""
    return sha256(data).hexdigest()


def changed(before: bytes, after: bytes) -> tuple[tuple[int, ...], str]:
    """What turns one content into the other: the ``hunk`` and the ``text`` of a write; neither if it is too large."""
    head, tail = shared(before, after)
    middle = after[head : len(after) - tail]
    if len(middle) > LONGEST:
        return (), ""
    return (head, len(before) - tail, len(before)), middle.decode("utf-8", "surrogateescape")


def _row(write: Write) -> dict[str, Any]:
    """The fields of a write that say anything."""
    row = {key: getattr(write, key) for key in ("run", "root", "path", "op", *ENDED)}
    rest = ("mode", "to", "made", "number", "of", "blocks", "hunk", "text")
    row |= {key: getattr(write, key) for key in rest}
    return {key: value for key, value in row.items() if value or key in ALWAYS}


def _write(row: dict[str, Any]) -> Write | None:
    """The write an intent names; None where a field has no sense."""
    found = fields(row)
    return None if found is None else Write(**found)


def _ended(writes: Iterable[Write], row: dict[str, Any] | None) -> list[Write]:
    """Writes as an outcome says they came out."""
    found = row.get("as") if row else None
    told = list(writes)
    if not isinstance(found, list) or len(found) != len(told) or not all(isinstance(end, dict) for end in found):
        return told
    return [evolve(write, **ends(end, write.root, write.path)) for write, end in zip(told, found, strict=True)]


def _step(intents: dict[str, list[Write]], row: dict[str, Any]) -> list[Write]:
    """The writes that a line of the journal finishes; an intent is kept until its outcome comes."""
    if row["do"] == "intent":
        write = _write(row)
        intents.setdefault(row["id"], []).extend([write] if write else [])
        return []
    writes = _ended(intents.pop(row["id"], []), row)
    return [write for write in writes if write.op != "withdraw"] if row.get("outcome") == "written" else []


def _blocks(row: dict[str, Any] | None, key: str) -> list[Block]:
    found = row.get(key) if row else None
    pairs = [pair for pair in found if isinstance(pair, list) and len(pair) == 2] if isinstance(found, list) else []
    return [(path, block) for path, block in pairs if isinstance(path, str) and isinstance(block, str)]
