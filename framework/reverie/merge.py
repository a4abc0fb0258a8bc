"""Three-way merge of texts, line by line: what both changed stays, or nobody can say, and that is a conflict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeVar

BOM: Final = b"\xef\xbb\xbf"
NEWLINES: Final = (b"\r\n", b"\n", b"\r")
BUDGET: Final = 50_000_000
"""Steps one comparison may take, half a second; what is left then counts as changed altogether."""
LINES: Final = 0x10FFFF
"""Different lines that can be told apart, each as a character."""

T = TypeVar("T", bytes, str)
Run = tuple[int, int, int]
"""Lines that stand in both: where in the one, where in the other, how many."""


class Hunk(NamedTuple):
    """What one side has in the place of lines ``start`` to ``end`` of the base; a line is a character."""

    start: int
    end: int
    text: str
    ours: bool


def merge(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """What becomes of ``base`` with the changes of both; None where they conflict.

    Changes that only touch are both made. Where both insert at one point, ours stands before theirs, and what stands
    in theirs already is not repeated. Where both changed the same lines, theirs stays if ours stands in it whole and no
    line that ours took away does; else that is a conflict. So is a line that both added, each elsewhere.
    """
    if ours == base or theirs == ours:
        return theirs
    if theirs == base:
        return ours
    texts = [data.removeprefix(BOM) for data in (base, ours, theirs)]
    marks = [data.startswith(BOM) for data in (base, ours, theirs)]
    merged = _merged(*texts)
    mark = marks[2] if marks[0] == marks[1] else marks[1]
    return None if merged is None else BOM * mark + merged


def shared(one: T, other: T) -> tuple[int, int]:
    """How much two texts have in common at the head and, besides, at the tail."""
    head = _alike(one, other)
    return head, _alike(one[head:][::-1], other[head:][::-1])


def _alike(one: T, other: T) -> int:
    """The length of their common beginning, found by halves, so that no part is looked at more than twice."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


# Lines, and lines as characters


def _merged(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """The same of texts without a mark at their head."""
    texts = [_lines(data, _newline(theirs, ours, base)) for data in (base, ours, theirs)]
    numbers: dict[bytes, int] = {}
    for line in (line for text in texts for line in text):
        numbers.setdefault(line, len(numbers))
    if len(numbers) > LINES:
        return None
    names = list(numbers)
    signs = ["".join(chr(numbers[line]) for line in text) for text in texts]
    found = _joined(*signs)
    if found is None or any(_telling(names[ord(sign)]) for sign in _doubled(found, *signs)):
        return None
    lines = [names[ord(sign)] for sign in found]
    ends = [_bare(data) for data, text in ((ours, texts[1]), (theirs, texts[2])) if lines[-1:] == text[-1:]]
    if lines and ends and (ends[0] if ends[0] != _bare(base) else ends[-1]):
        lines[-1] = _bared(lines[-1])
    whole = b"".join(lines)
    return whole if whole.splitlines(keepends=True) == lines else None


def _doubled(found: str, base: str, ours: str, theirs: str) -> Iterator[str]:
    """What both have added to the base, each elsewhere, so that the result would hold it twice."""
    whole, old, own, other = map(Counter, (found, base, ours, theirs))
    return (sign for sign in (own - old) & (other - old) if whole[sign] > max(own[sign], other[sign]))


def _telling(line: bytes) -> bool:
    """Whether a line says something of its own; blank ones, rules and comments come again and again."""
    words = line.strip()
    return any(byte > 0x7F or chr(byte).isalnum() for byte in words) and not words.startswith(b"<!--")


def _lines(data: bytes, newline: bytes) -> list[bytes]:
    """Lines with their ends; a last one without gets that of the line before it."""
    lines = data.splitlines(keepends=True)
    if _bare(data):
        lines[-1] += _newline(*lines[-2:-1]) if len(lines) > 1 else newline
    return lines


def _newline(*texts: bytes) -> bytes:
    """The first end of a line there is."""
    firsts = (text.splitlines(keepends=True)[0] for text in texts if text)
    return next((end for first in firsts for end in NEWLINES if first.endswith(end)), b"\n")


def _bare(data: bytes) -> bool:
    """Whether the last line has no end."""
    return bool(data) and not data.endswith(NEWLINES)


def _bared(line: bytes) -> bytes:
    end = next(end for end in NEWLINES if line.endswith(end))
    return line.removesuffix(end)


# Three texts to one


def _joined(base: str, ours: str, theirs: str) -> str | None:
    """Both sides' hunks applied to the base."""
    hunks = [*_hunks(base, ours, True), *_hunks(base, theirs, False)]
    done, at = list[str](), 0
    for group in _groups(sorted(hunks, key=lambda hunk: (hunk.start, hunk.end, not hunk.ours))):
        start, end = group[0].start, max(hunk.end for hunk in group)
        text = _settled(base, group, start, end)
        if text is None:
            return None
        done += [base[at:start], text]
        at = end
    return "".join([*done, base[at:]])


def _groups(hunks: Iterable[Hunk]) -> Iterator[list[Hunk]]:
    """Hunks that overlap or insert at one point, together; those that only touch are apart."""
    group: list[Hunk] = []
    end = 0
    for hunk in hunks:
        if group and (hunk.start < end or hunk[:2] == group[-1][:2]):
            group.append(hunk)
            end = max(end, hunk.end)
        else:
            if group:
                yield group
            group, end = [hunk], hunk.end
    if group:
        yield group


def _settled(base: str, group: Sequence[Hunk], start: int, end: int) -> str | None:
    """What stands in the place of a group; None for a conflict."""
    if len(group) == 1:
        return group[0].text
    ours, theirs = (_applied(base, [hunk for hunk in group if hunk.ours is own], start, end) for own in (True, False))
    if ours == theirs or (ours and ours in theirs and not (set(base[start:end]) - set(ours)) & set(theirs)):
        return theirs
    return ours + theirs if start == end else None


def _applied(base: str, hunks: Iterable[Hunk], start: int, end: int) -> str:
    """What one side has in the place of a part of the base."""
    done, at = list[str](), start
    for hunk in hunks:
        done += [base[at : hunk.start], hunk.text]
        at = hunk.end
    return "".join([*done, base[at:end]])


# Two texts compared


def _hunks(base: str, side: str, ours: bool) -> Iterator[Hunk]:
    """What a side changed, in order; between two hunks stands at least one line of the base."""
    at = to = 0
    runs = sorted(run for run in _runs(base, side) if run[2])
    for start, there, length in [*runs, (len(base), len(side), 0)]:
        if at < start or to < there:
            yield Hunk(at, start, side[to:there], ours)
        at, to = start + length, there + length


def _runs(one: str, other: str) -> Iterator[Run]:
    """Lines that stand in both: at the ends, then those that are there once, then what difflib finds between."""
    gaps, spent = [(0, len(one), 0, len(other))], 0
    while gaps:
        start, end, there, until = gaps.pop()
        head, tail = shared(one[start:end], other[there:until])
        yield from ((start, there, head), (end - tail, until - tail, tail))
        start, end, there, until = start + head, end - tail, there + head, until - tail
        left, right = one[start:end], other[there:until]
        spent += len(left) + len(right)
        if not left or not right or spent > BUDGET:
            continue
        if anchors := _anchors(left, right):
            yield from ((start + at, there + to, 1) for at, to in anchors)
            edges = pairwise([(-1, -1), *anchors, (len(left), len(right))])
            gaps += [
                (start + a + 1, start + c, there + b + 1, there + d) for (a, b), (c, d) in edges if c - a > 1 < d - b
            ]
        elif spent + _cost(left, right) <= BUDGET:
            spent += _cost(left, right)
            yield from ((start + at, there + to, length) for at, to, length in _blocks(left, right))


def _anchors(one: str, other: str) -> list[tuple[int, int]]:
    """Lines that either text has once, as many as stand in the same order in both."""
    from bisect import bisect_left

    counts, others = Counter(one), Counter(other)
    places = {sign: at for at, sign in enumerate(other) if others[sign] == 1}
    pairs = [(at, places[sign]) for at, sign in enumerate(one) if counts[sign] == 1 and sign in places]
    ends: list[int] = []
    lasts: list[int] = []
    before: list[int] = []
    for number, (_, to) in enumerate(pairs):
        rank = bisect_left(ends, to)
        before.append(lasts[rank - 1] if rank else -1)
        ends[rank : rank + 1], lasts[rank : rank + 1] = [to], [number]
    return _chain(pairs, before, lasts[-1] if lasts else -1)


def _chain(pairs: Sequence[tuple[int, int]], before: Sequence[int], last: int) -> list[tuple[int, int]]:
    """The pairs that lead to the last one."""
    found = []
    while last >= 0:
        found.append(pairs[last])
        last = before[last]
    return found[::-1]


def _cost(one: str, other: str) -> int:
    """The most steps difflib may take: every pair of equal lines, once for every block it finds."""
    others = Counter(other)
    pairs = sum(count * others[sign] for sign, count in Counter(one).items())
    return pairs * min(len(one), len(other))


def _blocks(one: str, other: str) -> Iterator[Run]:
    from difflib import SequenceMatcher  # only a merge needs it

    yield from (tuple(block) for block in SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks())  # type: ignore[misc]
