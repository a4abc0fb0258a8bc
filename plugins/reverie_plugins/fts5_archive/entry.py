"""The entries of a source as the index keeps them: all their places in one value, all their hashes in another."""

from __future__ import annotations

import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from struct import Struct
from typing import Any, Final, NamedTuple

WHOLE: Final = 32
"""Bytes of a hash."""
PREFIX: Final = 8
"""Bytes of it by which kb_entries knows an entry that has a row in kb_entry_lifecycle."""
SILENT: Final = (None, None, None)
Said = tuple[Any, ...]
"""What an entry says of itself: what it supersedes, what took its place, since when it is invalid; and its hash."""
_PLACE: Final = Struct("<III")
_ROW: Final = "SELECT places, keys FROM kb_entries WHERE source = ?"
_LIFE: Final = """
SELECT entry_hash, invalid_at, superseded_by FROM kb_entry_lifecycle
WHERE entry_hash >= ? ORDER BY entry_hash LIMIT 1
"""


class Placed(NamedTuple):
    """One entry; the key is its hash, or the begin of it."""

    start: int
    end: int
    importance: int
    date: str
    key: bytes


def placed(start: int, end: int, importance: int, date: str | None) -> bytes:
    """The place of one entry: its lines, importance and date."""
    return _PLACE.pack(start, end, importance | int(date.replace("-", "")) << 4 if date else importance)


def entries(places: bytes, keys: bytes) -> Iterator[Placed]:
    """What is kept of the entries of a source.

    >>> list(entries(placed(3, 4, 5, "2026-03-04") + placed(5, 5, 7, None), b"12345678abcdefgh"))[0]
    Placed(start=3, end=4, importance=5, date='2026-03-04', key=b'12345678')
    """
    return (entry(places, keys, at) for at in range(len(places) // _PLACE.size))


def entry(places: bytes, keys: bytes, at: int) -> Placed:
    start, end, stamp = _PLACE.unpack_from(places, at * _PLACE.size)
    day, width = stamp >> 4, WHOLE if len(keys) > len(places) else PREFIX
    date = f"{day // 10_000:04d}-{day // 100 % 100:02d}-{day % 100:02d}" if day else ""
    return Placed(start, end, stamp & 15, date, keys[at * width : (at + 1) * width])


def parted(keys: bytes) -> list[bytes]:
    """Whole hashes, one by one."""
    return [keys[at : at + WHOLE] for at in range(0, len(keys), WHOLE)]


def prefixes(keys: Sequence[bytes]) -> bytes:
    """The begins of hashes, in one value."""
    return b"".join([key[:PREFIX] for key in keys])


def held_keys(connection: sqlite3.Connection, source: int) -> list[bytes]:
    """The keys of the entries of a source."""
    row = connection.execute(_ROW, (source,)).fetchone()
    return [one.key for one in entries(*row)] if row else []


def whole_key(connection: sqlite3.Connection, key: bytes) -> bytes:
    """The whole hash that begins so; what was given if there is none."""
    life = life_of(connection, key)
    return life[0] if life else key


def life_of(connection: sqlite3.Connection, key: bytes) -> tuple[bytes, int | None, str | None] | None:
    row: tuple[bytes, int | None, str | None] | None = connection.execute(_LIFE, (key,)).fetchone()
    return row if row and row[0].startswith(key) else None


def entry_at(
    connection: sqlite3.Connection, source: int, line: int
) -> tuple[int, str, str, int | None, str | None] | None:
    """Importance, date, hash in hex, ``invalid_at`` and ``superseded_by`` of the entry that has a line, or None."""
    row = connection.execute(_ROW, (source,)).fetchone()
    if not row:
        return None
    places, keys = row
    size = _PLACE.size
    at = bisect_right(range(len(places) // size), line, key=lambda at: _PLACE.unpack_from(places, at * size)[0]) - 1
    if at < 0 or (found := entry(places, keys, at)).end < line:
        return None
    life = life_of(connection, found.key) if len(found.key) == PREFIX else None
    key, invalid_at, superseded_by = life or (found.key, None, None)
    return found.importance, found.date, key.hex(), invalid_at, superseded_by
