"""Chunks: a text cut at its lines into pieces of about one size, which share a few lines with their neighbours."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import Final, NamedTuple

from reverie.markdown import unified
from reverie.markdown.block import Block
from reverie.markdown.entry import BULLET, Entry, Walk
from reverie.markdown.front_matter import body_start
from reverie.markdown.heading import HeadingPath, title
from reverie_hookspecs import Chunk

LONGEST: Final = 2_000
"""Characters of a line that stay together although they are over the size, if there is no end of a word in them."""
_SENTENCE: Final = re.compile(r"[.!?…]+[\"')\]»”’]*(?=\s)|[。！？；｡]+[」』）”’]*")
_END: Final = re.compile(r"\s|[。！？；｡]+[」』）”’]*")


class Piece(NamedTuple):
    """One chunk before it is anybody's: lines from 1, both included."""

    start: int
    end: int
    text: str
    path: tuple[str, ...]


class Outline(Walk):
    """The spans of the entries of a text and, on the way, its headings: the offset of each with the titles it stands
    under."""

    __slots__ = ("heads", "spans", "trail")

    def __init__(self, plain: str) -> None:
        super().__init__(plain, body_start(plain))
        self.heads: list[tuple[int, tuple[str, ...]]] = []
        self.spans: list[tuple[int, int]] = []
        self.trail = HeadingPath()
        for _ in self.entries():
            pass

    def bullets(self, end: int) -> Iterator[Entry]:
        self.spans += [bullet.span() for bullet in BULLET.finditer(self.text, self.pos, end)]
        self.torn.clear()
        return iter(())

    def close(self, head: Block, end: int) -> Entry:
        entry = super().close(head, end)
        self.spans.append((entry.start, entry.end))
        return entry

    def pass_by(self, block: Block) -> Iterator[Entry]:
        if block.kind == "heading" and not block.depth and block.start < block.end:
            self.heads.append((block.start, self.trail.enter(block.level, title(self.text, block))))
        return super().pass_by(block)


def chunks(text: str, target: int, overlap: int) -> Iterator[Chunk]:
    r"""The chunks of a text of about ``target`` tokens, sharing whole lines of up to ``overlap`` tokens.

    >>> [(c.start, c.end, c.headings) for c in chunks("# A\n\none two\n\n## B\nthree\n", 4, 0)]
    [(1, 3, ('A',)), (5, 6, ('A', 'B'))]
    """
    plain = unified(text)
    for piece in Cutter(plain, Outline(plain).heads, target, overlap).pieces():
        yield Chunk(piece.text, piece.start, piece.end, piece.path)


class Cutter:
    """One text on its way into pieces. ``starts`` are the offsets of its lines, ``reach`` how much stands before each
    line, in quarters of a token."""

    def __init__(self, plain: str, heads: Sequence[tuple[int, tuple[str, ...]]], target: int, overlap: int) -> None:
        self.plain, self.target = plain, target
        self.room, self.lap = 4 * target, 4 * min(overlap, target - 1)
        self.lines = plain.split("\n")
        self.starts = [0, *accumulate(len(line) + 1 for line in self.lines)]
        self.reach = self.starts if plain.isascii() else [0, *accumulate(width(line) + 1 for line in self.lines)]
        self.heads = [bisect_right(self.starts, start) - 1 for start, _ in heads]
        self.paths = [path for _, path in heads]

    def pieces(self) -> Iterator[Piece]:
        """The pieces in order."""
        count = len(self.lines)
        begin = at = self.filled(0)
        while at < count:
            if self.reach[at + 1] - self.reach[at] > self.room + 1:
                yield from self.long(at)
                begin = at = self.filled(at + 1)
                continue
            begin, end = self.span(begin, at)
            yield self.piece(begin, at, end)
            begin, at = self.filled(self.shared(at, end)), self.filled(end)
            begin = min(begin, at)

    def span(self, begin: int, at: int) -> tuple[int, int]:
        """The first line of the piece whose own lines begin ``at``, and the line after its last."""
        if begin < at and self.reach[at + 1] - self.reach[begin] > self.room + 1:
            begin = at
        end = bisect_right(self.reach, self.reach[begin] + self.room + 1, at + 1) - 1
        end = max(at + 1, min(end, len(self.lines)))
        half = self.reach[begin] + self.room // 2
        for head in self.heads[bisect_right(self.heads, at) :]:
            if head >= end:
                break
            if self.reach[head] >= half:
                return begin, head
        return begin, end

    def shared(self, at: int, end: int) -> int:
        """The line with which the next piece begins: among the own lines of this one, unless a section ends here."""
        if end >= len(self.lines) or not self.lap:
            return end
        place = bisect_left(self.heads, end)
        if place < len(self.heads) and self.heads[place] == end:
            return end
        return max(at + 1, bisect_left(self.reach, self.reach[end] - self.lap, at, end))

    def piece(self, begin: int, at: int, end: int) -> Piece:
        last = self.last(at, end)
        text = self.plain[self.starts[begin] : self.starts[last + 1] - 1]
        return Piece(begin + 1, last + 1, text, self.path(at, last))

    def long(self, at: int) -> Iterator[Piece]:
        """The pieces of a line that is too long for one."""
        line, path = self.lines[at], self.path(at, at)
        for start, end in runs(line, self.target):
            yield Piece(at + 1, at + 1, line[start:end], path)

    def path(self, at: int, last: int) -> tuple[str, ...]:
        """The headings that the first line stands under that is none itself."""
        place = bisect_right(self.heads, at)
        while place < len(self.heads) and self.heads[place] <= last and not self.between(place):
            place += 1
        return self.paths[place - 1] if place else ()

    def between(self, place: int) -> bool:
        """Whether text stands between a heading and the one before it."""
        above = self.heads[place - 1] + 1 if place else 0
        return self.filled(above) < self.heads[place]

    def filled(self, line: int) -> int:
        """The first line from there on that is not blank."""
        while line < len(self.lines) and not self.lines[line].strip():
            line += 1
        return line

    def last(self, first: int, end: int) -> int:
        """The last line before ``end`` that is not blank."""
        while end - 1 > first and not self.lines[end - 1].strip():
            end -= 1
        return end - 1


def width(line: str) -> int:
    """How much room a line takes, in quarters of a token."""
    if line.isascii():
        return len(line)
    from .text import tokens

    return 4 * tokens(line)


def runs(line: str, target: int) -> Iterator[tuple[int, int]]:
    """Where a long line is cut: at the end of a sentence or of a word, else after 2,000 characters."""
    at, size = skipped(line, 0), len(line.rstrip())
    while at < size:
        end = cut(line, at, size, target)
        yield at, at + len(line[at:end].rstrip())
        at = skipped(line, end)


def cut(line: str, at: int, size: int, target: int) -> int:
    """The end of the run that begins at ``at``."""
    stop = at + fitting(line, at, target)
    if stop >= size:
        return size
    sentences = [found.end() for found in _SENTENCE.finditer(line, at + 1, stop + 1) if found.end() <= stop]
    if sentences and sentences[-1] - at >= (stop - at) // 2:
        return sentences[-1]
    words = [found.end() for found in _END.finditer(line, at + 1, stop)]
    if words or sentences:
        return max(words[-1:] + sentences[-1:])
    most = max(stop, at + LONGEST)
    found = _END.search(line, stop, min(most, size))
    return found.end() if found else min(most, size)


def fitting(line: str, at: int, target: int) -> int:
    """How many characters from there make up so many tokens."""
    low, high = min(target, len(line) - at), min(4 * target, len(line) - at)
    if width(line[at : at + high]) <= 4 * target:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if width(line[at : at + middle]) <= 4 * target else (low, middle - 1)
    return max(1, low)


def skipped(line: str, at: int) -> int:
    """The first place from there on that is no blank."""
    return at + len(line[at:]) - len(line[at:].lstrip()) if line[at : at + 1].isspace() else at
