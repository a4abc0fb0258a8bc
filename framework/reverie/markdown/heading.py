"""Headings: ATX alone, at the top level; the sections they make, and the sections that are pinned."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from .block import Block, Scanner
from .front_matter import body_start
from .line import unified

PINNED: Final = re.compile(r"[\W_]*(?:user|feedback|preferences?|profile)(?![^\W_])", re.IGNORECASE)
_CLOSING: Final = re.compile(r"(?:^|[ \t]+)#+[ \t]*$")


class Heading(NamedTuple):
    """One heading: ``start`` and ``end`` are the offsets of its line, newline included; ``path`` are the titles of
    the headings it stands under, its own last."""

    level: int
    title: str
    start: int
    end: int
    path: tuple[str, ...] = ()


class Span(NamedTuple):
    """A stretch of a text by its offsets, and the heading that it begins with, if any."""

    start: int
    end: int
    heading: Heading | None = None


class HeadingPath:
    """Which headings a place stands under, while one goes down a text."""

    __slots__ = ("levels", "titles")

    def __init__(self) -> None:
        self.levels: list[int] = []
        self.titles: tuple[str, ...] = ()

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """The path once the heading is passed: those of its level and below it no longer count."""
        while self.levels and self.levels[-1] >= level:
            self.levels.pop()
        self.titles = (*self.titles[: len(self.levels)], title)
        self.levels.append(level)
        return self.titles


def headings(text: str) -> Iterator[Heading]:
    r"""Every ATX heading outside fences, comments, list items and front matter.

    >>> [(h.level, h.path) for h in headings("# A\n### B #\n```\n# no\n```\n## C")]
    [(1, ('A',)), (3, ('A', 'B')), (2, ('A', 'C'))]
    """
    plain, path = unified(text), HeadingPath()
    for block in Scanner(plain, body_start(plain)).blocks():
        if block.kind == "heading" and not block.depth:
            words = title(plain, block)
            yield Heading(block.level, words, block.start, block.end, path.enter(block.level, words))


def title(plain: str, block: Block) -> str:
    """The words of a heading, without its marks."""
    words = plain[block.start : block.end].strip(" \t\n").lstrip("#")
    return (_CLOSING.sub("", words) if words.endswith("#") else words).strip(" \t")


def sections(text: str) -> Iterator[Span]:
    """The text cut before every h1 and h2: the spans are the text, in order; the first may have no heading."""
    start, heading = 0, None
    for found in headings(text):
        if found.level <= 2:
            if found.start:
                yield Span(start, found.start, heading)
            start, heading = found.start, found
    if start < len(text):
        yield Span(start, len(text), heading)


def pins(heading: Heading) -> bool:
    """Whether the section of this heading may be changed by nobody but the person and the agent.

    >>> pins(Heading(2, "User profile", 0, 0)), pins(Heading(2, "Users", 0, 0)), pins(Heading(1, "User", 0, 0))
    (True, False, False)
    """
    return heading.level == 2 and PINNED.match(heading.title) is not None


def pinned(text: str) -> list[tuple[int, int]]:
    """The offsets (start, end) of pinned sections, heading included, up to the next h1 or h2."""
    return [(span.start, span.end) for span in sections(text) if span.heading and pins(span.heading)]
