"""Passages: the lines around the best ones, as many as a reader wants to pay for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from .rank import Line, Sheet
from .text import tokens

USUAL: Final = 120
"""Tokens of a passage, if nobody says how many."""
WIDEST: Final = 700
"""Characters of its snippet."""
CHARACTERS: Final = 6
"""Characters of a snippet for each token of a passage, where another size is asked for."""
WIDE: Final = 400
"""Tokens of the widest passage."""
CHOICE: Final = 0.5
"""Worth, of that of the best line, that a line has that is taken with it; the wider the passage, the less."""
GAP: Final = 3
"""Blank lines and headings in a row that a passage may cross."""
ABOVE: Final = 9.0
"""Worth of a heading above that holds what was asked for: more than that of any line."""
LEAD: Final = 0.4
"""Share of a snippet that stands before what was found, where it must be cut."""


class Passage(NamedTuple):
    """Lines of a source, both ends included, and the one for which they were chosen."""

    source: int
    start: int
    end: int
    best: int
    line: Line
    snippet: str


def passages(found: Sheet, size: int) -> Iterator[Passage]:
    """Passages that share no line, best first, each of about so many tokens."""
    used: set[tuple[int, int]] = set()
    for place in sorted(found, key=lambda place: (-found[place].score, place)):
        if place not in used and found[place].score > 0:
            source, start, end = grown(place, found, used, size)
            text = "\n".join(found[source, at].text for at in range(start, end + 1))
            yield Passage(source, start, end, place[1], found[place], snippet(text, focus(place, start, found), size))


def grown(place: tuple[int, int], found: Sheet, used: set[tuple[int, int]], size: int) -> tuple[int, int, int]:
    """The lines taken around one, the better neighbour first, as long as it is worth its place."""
    source, start = place
    end = start
    room = size - cost(found[place])
    least = found[place].score * CHOICE * min(1.0, max(0.0, (WIDE - size) / (WIDE - USUAL)))
    used.add(place)
    while room > 0:
        above, below = worth((source, start - 1), -1, found, used), worth((source, end + 1), 1, found, used)
        if max(above, below) < least:
            break
        taken = (source, start - 1) if above >= below else (source, end + 1)
        room -= cost(found[taken])
        if room < 0:
            break
        used.add(taken)
        start, end = min(start, taken[1]), max(end, taken[1])
    return source, *trimmed(source, start, end, found)


def worth(place: tuple[int, int], step: int, found: Sheet, used: set[tuple[int, int]]) -> float:
    """What a line adds to a passage, less than nothing if it cannot be had; a blank leads to what is behind."""
    for _ in range(GAP):
        line = None if place in used else found.reach(place)
        if line is None:
            return -1.0
        if line.plain or (line.hits and step < 0):
            return line.score if line.plain else ABOVE
        place = place[0], place[1] + step
    return 0.0


def trimmed(source: int, start: int, end: int, found: Sheet) -> tuple[int, int]:
    """The lines without blank ones at their ends."""
    while start < end and not found[source, start].text.strip():
        start += 1
    while end > start and not found[source, end].text.strip():
        end -= 1
    return start, end


def cost(line: Line) -> int:
    return tokens(line.text) + 1


def focus(place: tuple[int, int], start: int, found: Sheet) -> int:
    """Where in the passage its best line has what was found."""
    before = sum(len(found[place[0], at].text) + 1 for at in range(start, place[1]))
    return before + max(0, min(found[place].first, len(found[place].text) - 1))


def snippet(text: str, focus: int, size: int) -> str:
    """The text, cut around what was found if it is too long."""
    most = WIDEST if size == USUAL else CHARACTERS * size
    return text if len(text) <= most else window(text, focus, most)


def window(text: str, focus: int, most: int) -> str:
    """So many characters of a text, around one of them; words stay whole where they can."""
    start = max(0, min(focus - int(most * LEAD), len(text) - most + 2))
    end = min(len(text), start + most - 2)
    if start and (gap := text.find(" ", start, min(focus, start + 40))) >= 0:
        start = gap + 1
    if end < len(text) and (gap := text.rfind(" ", max(focus + 1, end - 40), end)) >= 0:
        end = gap
    return f"{'…' if start else ''}{text[start:end].strip()}{'…' if end < len(text) else ''}"
