"""Entries: a bullet with its continuation lines, or an h3-h6 heading with what follows up to a blank line or one."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from hashlib import sha256
from typing import Final, NamedTuple

from .block import Block, Scanner
from .front_matter import body_start
from .heading import Heading, HeadingPath, pins, title
from .line import unified

_BREAK: Final = r"[-+*](?:[ \t]|$)|[0-9]{1,9}[.)](?:[ \t]|$)|>|[^\w\n]*$"
"""What ends a bullet although it is glued to it: another item, a quote, a line without a letter or digit."""
# No possessive groups here or in the scanner: Python 3.11.0 to 3.11.4 match them wrongly.
BULLET: Final = re.compile(
    r"^([-*])(?= )(?!(?:[ \t]*\1){2,}[ \t]*$)[^\n]*\n?"
    r"(?:(?:(?:[ \t]*\n)*(?:  | ?\t)[ \t]*[^ \t\n]"  # indented by two or more, whatever blank lines are between
    r"| [^ \t\n]"  # indented by one, and glued
    rf"|(?!{_BREAK})[^ \t\n])[^\n]*\n?)*",  # a lazy line
    re.MULTILINE,
)
_BLANK: Final = re.compile(r"^[ \t]*$", re.MULTILINE)
_STAMP: Final = re.compile(r"^[ \t]+<!--[^\n]*-->[ \t]*$", re.MULTILINE)


class Entry(NamedTuple):
    """One entry: offsets of its first line's begin and its last line's end, newline included.

    ``level`` is 0 for a bullet, 3 to 6 for a heading; ``path`` are the titles it stands under; ``section`` is the
    offset of its h1 or h2, 0 before the first; ``whole`` is false if a fence or comment in it is not closed.
    """

    start: int
    end: int
    level: int = 0
    path: tuple[str, ...] = ()
    section: int = 0
    pinned: bool = False
    whole: bool = True


def entries(text: str) -> Iterator[Entry]:
    r"""The entries of a text in order; none in front matter, in a fence or in a comment, none inside another.

    >>> [(e.level, e.path) for e in entries("# A\n- x\n  y\n- z\n### B\n- of B\n\n- w\n")]
    [(0, ('A',)), (0, ('A',)), (3, ('A',)), (0, ('A', 'B'))]
    """
    plain = unified(text)
    return Walk(plain, body_start(plain)).entries()


def entry_hash(text: str) -> str:
    r"""The identity of an entry: SHA-256 of its text, white space collapsed, indented ``<!-- -->`` lines left out.

    >>> entry_hash("- a  b\n  c") == entry_hash("- a b c") == entry_hash("- a b c\n  <!-- moved -->\n")
    True
    """
    words = _STAMP.sub("", unified(text)).split()
    return sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


class Walk:
    """One walk down a text, from block to block; the bullets are in the gaps between them."""

    __slots__ = ("gap", "head", "path", "pinned", "pos", "reach", "section", "text", "torn", "whole")

    def __init__(self, plain: str, pos: int) -> None:
        self.text, self.pos = plain, pos
        self.path, self.section, self.pinned = HeadingPath(), 0, False
        self.head: Block | None = None
        self.reach, self.whole, self.gap = 0, True, -1
        self.torn: list[int] = []

    def entries(self) -> Iterator[Entry]:
        for block in Scanner(self.text, self.pos).blocks():
            yield from self.pass_by(block)
        end = len(self.text)
        yield from self.pass_by(Block("heading", end, end, 1))

    def pass_by(self, block: Block) -> Iterator[Entry]:
        """The entries that end before the block."""
        top_heading = block.kind == "heading" and not block.depth
        if self.head and block.start < self.reach and not top_heading:
            self.reach = self.blank(block.end)
            self.whole = self.whole and block.closed
            return
        if self.head:
            yield self.close(self.head, min(self.reach, block.start))
        if block.depth:
            if not block.closed:
                self.torn.append(block.start)
            return
        yield from self.bullets(block.start)
        self.pos = block.end
        if top_heading:
            self.enter(block)

    def enter(self, block: Block) -> None:
        """Go under a heading; from h3 on it opens an entry of its own."""
        if block.level >= 3:
            self.head, self.reach, self.whole = block, self.blank(block.end), True
            return
        words = title(self.text, block)
        self.path.enter(block.level, words)
        self.section, self.pinned = block.start, pins(Heading(block.level, words, block.start, block.end))

    def close(self, head: Block, end: int) -> Entry:
        """The h3-h6 entry that ends here; what follows stands under its heading."""
        words = title(self.text, head)
        above = self.path.enter(head.level, words)[:-1]
        self.head, self.pos = None, end
        return Entry(head.start, end, head.level, above, self.section, self.pinned, self.whole)

    def bullets(self, end: int) -> Iterator[Entry]:
        path, section, pinned = self.path.titles, self.section, self.pinned
        for bullet in BULLET.finditer(self.text, self.pos, end):
            start, stop = bullet.span()
            whole = not self.torn or bisect_left(self.torn, start) == bisect_left(self.torn, stop)
            yield Entry(start, stop, 0, path, section, pinned, whole)
        self.torn.clear()

    def blank(self, start: int) -> int:
        """Where the next blank line begins; looked for once, however many headings stand before it."""
        if self.gap < start:
            found = _BLANK.search(self.text, start)
            self.gap = found.start() if found else len(self.text)
        return self.gap
