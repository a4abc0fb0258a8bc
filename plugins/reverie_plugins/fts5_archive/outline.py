"""Core-shrink: what stands in the prompt for a MEMORY.md over its budget, an index made of its headings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from attrs import evolve, frozen

from reverie.markdown import headings, unified

MOST: Final = 4_000
"""Characters an index has at most."""
BRIEF: Final = 100
"""Characters of a brief."""
SHORT: Final = 40
"""Characters of a heading where the index is too long without."""
_TEXT: Final = re.compile(r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(\S[^\n]*)", re.MULTILINE)


@frozen
class Line:
    """One heading of the index, and the first text below it."""

    level: int
    title: str
    brief: str = ""

    def __str__(self) -> str:
        head = f"{'#' * self.level} {self.title}".rstrip()
        return f"{head}\n  {self.brief}" if self.brief else head


def outline(text: str, most: int = MOST) -> str:
    """The index of a text, in at most so many characters; empty if it has no heading.

    What must be cut goes in this order: the briefs, the headings from h3 down, what is long in a heading, and then
    headings from the middle, with their number.
    """
    lines = lines_of(text)
    bare = [evolve(line, brief="") for line in lines]
    top = [line for line in bare if line.level <= 2] or bare
    short = [evolve(line, title=cut(line.title, SHORT)) for line in top]
    fitting = (whole for tried in (lines, bare, top, short) if len(whole := joined(tried)) <= most)
    return next(fitting, "") or hollowed(short, most)


def lines_of(text: str) -> list[Line]:
    """Every heading of the text; an h1 or h2 with the first line of text before the next heading."""
    plain = unified(text)
    found = list(headings(text))
    ends = [*(heading.start for heading in found), len(plain)][1:]
    return [
        Line(heading.level, heading.title, brief(plain[heading.end : end]) if heading.level <= 2 else "")
        for heading, end in zip(found, ends, strict=True)
    ]


def brief(body: str) -> str:
    """The first line of text of a section, its bullet left out; nothing where that opens a fence or a comment."""
    found = _TEXT.search(body)
    words = " ".join(found[1].split()) if found else ""
    return "" if words.startswith(("```", "~~~", "<!--")) else cut(words, BRIEF)


def hollowed(lines: Sequence[Line], most: int) -> str:
    """As many of the first and the last lines as fit, and between them how many are left out."""
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(parted(lines, middle)) <= most else (low, middle - 1)
    return parted(lines, low) if lines else ""


def parted(lines: Sequence[Line], kept: int) -> str:
    """So many of the lines, from both ends, around the number of the rest."""
    front, back = -(-kept // 2), len(lines) - kept // 2
    told = f"… {len(lines) - kept} more headings are not shown …"
    return "\n".join(part for part in (joined(lines[:front]), told, joined(lines[back:])) if part)


def joined(lines: Iterable[Line]) -> str:
    return "\n".join(map(str, lines))


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
