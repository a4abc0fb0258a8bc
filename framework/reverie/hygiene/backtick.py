"""Backticks: where they pair, and what between them is an import."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from functools import cache
from typing import Final, NamedTuple

AT: Final = r"(?:@++|&(?:#0{0,5}64|#[xX]0{0,4}40|commat);)"
SIGN: Final = re.compile(AT + r"(?=[^\s`])")
LOOSE: Final = r"[\w./+:%#@&;~\\-]*"
STRICT: Final = r"(?:[^\W_]|(?<=[^\W_])_+(?=[^\W_])|[./+:%#@&;\\-])*"
"""Paths of characters that end nothing in Markdown, and hold whatever another import could begin with.

``_`` and ``~`` may end an emphasis; the loose kind is for text where none can have begun.
"""
RUN: Final = re.compile("`+")
TICK: Final = re.compile(r"\\[\\`]|`+")


class Span(NamedTuple):
    """A code span of a stretch of text, its backticks included."""

    start: int
    end: int


class Scan(NamedTuple):
    """The code spans of a text, first come first served, and the lengths of backtick runs that pair with none."""

    spans: list[Span]
    alone: set[int]


@cache
def target(path: str) -> re.Pattern[str]:
    """An import."""
    return re.compile(AT + path)


@cache
def tight(path: str) -> re.Pattern[str]:
    """A code span that holds one import and nothing else."""
    return re.compile(rf"(?<![`\\~])(`++)\\*{AT}{path}\1(?!`)")


def scan(text: str) -> Scan:
    """Pair the backticks of a text for itself."""
    if "`" not in text:
        return Scan([], set())
    by_length: dict[int, list[int]] = {}
    for found in RUN.finditer(text):
        by_length.setdefault(len(found[0]), []).append(found.start())
    spans: list[Span] = []
    alone: set[int] = set()
    at = 0
    while tick := TICK.search(text, at):
        at = tick.end()
        if tick[0][0] == "\\":
            continue
        length = len(tick[0])
        same = by_length.get(length, [])
        pair = bisect_left(same, at)
        if pair < len(same):
            at = same[pair] + length
            spans.append(Span(tick.start(), at))
        else:
            alone.add(length)
    return Scan(spans, alone)


def tick_lengths(text: str) -> Counter[int]:
    """How often a run of backticks of each length stands there; a backslash before one may take its first away."""
    lengths: Counter[int] = Counter()
    for found in RUN.finditer(text):
        lengths[len(found[0])] += 1
        if text[found.start() - 1 : found.start()] == "\\" and len(found[0]) > 1:
            lengths[len(found[0]) - 1] += 1
    return lengths


def free_ticks(lengths: list[Counter[int]], solid: set[int]) -> str:
    """The fewest backticks that pair with none there."""
    taken = {length for counted in lengths for length in counted} - solid
    return "`" * next(length for length in range(1, len(taken) + 2) if length not in taken)


def ticks_of(text: str, span: Span) -> int:
    """The length of the backtick run that a span begins with."""
    found = RUN.match(text, span.start)
    return len(found[0]) if found else 0
