"""One source cut up for the index: a pure function of its text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from hashlib import sha256
from typing import Final, NamedTuple

from reverie.markdown import entry_hash, read_front_matter, unified

from .chunk import Cutter, Outline, Piece
from .provenance import Kind

STALE: Final = "memory/archive/stale.md"
RETIRED: Final = "stale__"
USUAL: Final = 5
"""Importance of what says nothing of it."""

_DATE: Final = re.compile(r"-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\d-])(?<=((?<![\d-])[12]\d\d\d-\d\d-\d\d))")
"""A date is group 1; what is looked for is its first hyphen, for that takes a sixth of the time."""
_IMPORTANCE: Final = re.compile(r"\[importance:[ \t]*(-?\d{1,9})[ \t]*\]", re.IGNORECASE)
_NUMBER: Final = re.compile(r"#\d+(?!\w)")
_SUPERSEDING: Final = re.compile(r"(?:^|\W)(?:supersede[sd]?|replaces?|obsoletes?)\Z", re.IGNORECASE)
_FARTHEST: Final = 200
"""Characters between the begin of such a word and its number."""
_WIDEST: Final = 12
"""Characters of the longest of these words, and one before it."""
_STAMP: Final = re.compile(r"^[ \t]*<!--[ \t]*stale\b([^\n]*?)-->", re.MULTILINE | re.IGNORECASE)
_FIELD: Final = re.compile(r"(invalid_at|superseded_by)[ \t:=]+([^;\s]+(?:[ T]\d\d:\d\d[^;\s]*)?)", re.IGNORECASE)


class Mark(NamedTuple):
    """Something that an entry says of itself, and where."""

    at: int
    kind: str
    value: str


class Life(NamedTuple):
    """One entry as the index keeps it; ``key`` is the 32 bytes of its hash. ``invalid_at`` is in milliseconds."""

    start: int
    end: int
    key: bytes
    importance: int
    date: str | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    invalid_at: int | None = None


class Parts(NamedTuple):
    """What a source is made of."""

    importance: int
    pieces: tuple[Piece, ...]
    entries: tuple[Life, ...]


def parts(path: str, text: str, kind: Kind, target: int, overlap: int) -> Parts:
    """The chunks and entries of a source; of a note of a vault, the one entry is all of it."""
    plain = unified(text)
    outline = Outline(plain)
    cutter = Cutter(plain, outline.heads, target, overlap)
    importance = importance_of(text)
    if kind == "shared":
        entries: tuple[Life, ...] = (note_life(path, len(cutter.lines), importance),)
    else:
        entries = tuple(lives(plain, outline.spans, cutter.starts, importance, stale=path == STALE))
    return Parts(importance, tuple(cutter.pieces()), entries)


def lives(
    plain: str, spans: list[tuple[int, int]], starts: list[int], importance: int, *, stale: bool = False
) -> Iterable[Life]:
    """The entries at these offsets, each with what it says of itself."""
    marks = marked(plain, stale=stale) if spans else []
    line = at = 0
    for start, end in spans:
        line = bisect_right(starts, start, line)
        life = Life(line, bisect_left(starts, end, line), key(plain[start:end]), importance)
        while at < len(marks) and marks[at].at < start:
            at += 1
        if at < len(marks) and marks[at].at < end:
            life = told(life, marks[at : bisect_left(marks, (end,), at)], starts[line])
        yield life


def marked(plain: str, *, stale: bool = False) -> list[Mark]:
    """What entries say of themselves, in order: dates, importance, what they supersede, and in ``stale.md`` stamps."""
    found = [Mark(match.start(1), "date", match[1]) for match in _DATE.finditer(plain)]
    found += [Mark(match.start(), "importance", match[1]) for match in _IMPORTANCE.finditer(plain)]
    found += [
        Mark(match.start(), "supersedes", match[0]) for match in _NUMBER.finditer(plain) if supersedes(plain, match)
    ]
    if stale:
        found += [Mark(match.start(), "stamp", match[1]) for match in _STAMP.finditer(plain)]
    return sorted(found)


def supersedes(plain: str, number: re.Match[str]) -> bool:
    """Whether the word before a number says that what carries it is out of date."""
    at = number.start()
    if not plain[at - 1 : at].isspace():
        return False
    before = plain[max(0, at - _FARTHEST) : at].rstrip()
    return before[-1:].lower() in ("s", "d", "e") and bool(_SUPERSEDING.search(before[-_WIDEST:]))


def told(life: Life, marks: list[Mark], first: int) -> Life:
    """The entry with what its marks say; its date stands in its first line, which ends at the offset ``first``."""
    values: dict[str, list[str]] = {}
    for mark in marks:
        if mark.kind != "date" or mark.at < first:
            values.setdefault(mark.kind, []).append(mark.value)
    invalid_at, by = stamped(values["stamp"][-1]) if "stamp" in values else (None, None)
    return life._replace(
        date=values["date"][0] if "date" in values else None,
        importance=bounded(int(values["importance"][0])) if "importance" in values else life.importance,
        supersedes=" ".join(dict.fromkeys(values.get("supersedes", ()))) or None,
        invalid_at=invalid_at,
        superseded_by=by,
    )


def stamped(stamp: str) -> tuple[int | None, str | None]:
    """When an entry became invalid, and what took its place: ``2026-03-04 from a.md; invalid_at …; superseded_by …``.

    Where no ``invalid_at`` can be read, the day of the stamp counts.

    >>> stamped(" 2026-03-04 from a.md; invalid_at 1970-01-01T00:00:01Z; superseded_by #12 ")
    (1000, '#12')
    """
    fields = {name.lower(): value for name, value in _FIELD.findall(stamp)}
    day = _DATE.search(stamp)
    when = moment(fields.get("invalid_at", "")) if "invalid_at" in fields else None
    return when if when is not None else moment(day[1] if day else ""), fields.get("superseded_by")


def moment(text: str) -> int | None:
    """Milliseconds of an ISO date or time, UTC if it names no zone, or of a number of them; None if it is neither."""
    if text.isdecimal():
        return int(text) if len(text) < 16 else None
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return None
    return int((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1000)


def key(words: str) -> bytes:
    """The bytes of the hash of an entry; what ``entry_hash`` gives in hex, but quicker."""
    if "<!--" in words:
        return bytes.fromhex(entry_hash(words))
    return sha256(" ".join(words.split()).encode()).digest()


def note_life(path: str, lines: int, importance: int) -> Life:
    """A note of a vault: it is known by its name, whether retired or not."""
    name = path.rpartition("/")[2][:-3].casefold()
    return Life(1, lines, note_key(name.removeprefix(RETIRED)), importance)


def note_key(name: str) -> bytes:
    return sha256(f"note {name}".encode("utf-8", "surrogatepass")).digest()


def importance_of(text: str) -> int:
    """What the front matter says, within 1 to 10; 5 if it says nothing of use."""
    if not text.startswith("---"):
        return USUAL
    value = read_front_matter(text).data.get("importance")
    try:
        return bounded(int(float(value))) if isinstance(value, int | float | str) and value is not True else USUAL
    except (ValueError, OverflowError):
        return USUAL


def bounded(value: int) -> int:
    return max(1, min(10, value))


def stem(path: str) -> str:
    """The name of a source, without what kind of file it is."""
    name = path.rpartition("/")[2]
    return name[:-3] if name[-3:].lower() == ".md" else name


def searchable(path: str, indexed: Callable[[str], str]) -> Callable[[str, str], tuple[str, str]]:
    """What of a chunk of this source is given to FTS5, and taken back from it: its text, and file name and headings."""
    name = stem(path)

    def both(text: str, headings: str) -> tuple[str, str]:
        return indexed(text), indexed(f"{name} {headings}")

    return both
