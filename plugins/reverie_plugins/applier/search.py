"""Where a text stands in another, whatever newlines either of them has."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final

from reverie.markdown import blocks, split

NEWLINE: Final = re.compile(r"\r\n?|\n")
_ANY: Final = r"(?:\r\n|(?<!\r)\n|\r(?!\n))"
_MARK: Final = re.compile(r"[-*+] +")
_CONTINUED: Final = re.compile(r"[ \t]+[^ \t\r\n]")
_OWN: Final = re.compile(r"[ \t]*(?:[\r\n]|\Z)|(?:[-*+]|\d{1,9}[.)])[ \t]|#{1,6}[ \t]|>|```|~~~")
"""A line that belongs to no paragraph above it."""


def occurrences(text: str, target: str, most: int = 2) -> list[tuple[int, int]]:
    r"""Where the target stands, overlapping ones too, at most so many; a newline in it matches any newline.

    >>> occurrences("aaa b", "aa"), occurrences("a\r\nb", "a\nb")
    ([(0, 2), (1, 3)], [(0, 4)])
    """
    if "\r" in text:
        found = re.finditer(f"(?=({pattern(target)}))", text) if target else iter(())
        return [match.span(1) for match, _ in zip(found, range(most), strict=False)]
    return list(islice(plain_occurrences(text, NEWLINE.sub("\n", target)), most))


def plain_occurrences(text: str, target: str) -> Iterator[tuple[int, int]]:
    """The same where there is only one kind of newline: in time that does not grow with the target."""
    start = text.find(target) if target else -1
    while start >= 0:
        yield start, start + len(target)
        start = text.find(target, start + 1)


def once(text: str, target: str) -> tuple[int, int] | None:
    """Where the target stands, if it does exactly once."""
    found = occurrences(text, target)
    return found[0] if len(found) == 1 else None


def pattern(target: str) -> str:
    return _ANY.join(map(re.escape, NEWLINE.split(target)))


def visible(text: str) -> bool:
    """Whether a reader would see anything of it."""
    return any(character.isprintable() and not character.isspace() for character in text)


def stands(text: str, content: str) -> bool:
    """Whether these lines stand in the text already, white space and bullet marks aside.

    >>> stands("# A\\n* likes  tea\\n", "- likes tea"), stands("- tea daily", "- tea")
    (True, False)
    """
    lines = normal(content)
    return bool(lines) and f"\n{lines}\n" in f"\n{normal(text)}\n"


def normal(text: str) -> str:
    """The lines of a text that are not blank, as they are compared."""
    lines = (" ".join(unicodedata.normalize("NFC", line).split()) for line in split(text))
    return "\n".join(_MARK.sub("- ", line, count=1) if _MARK.match(line) else line for line in lines if line)


def bare(text: str) -> str:
    """A note's text without the bullet it came with."""
    return _MARK.sub("", text.strip(), count=1) if _MARK.match(text.strip()) else text.strip()


def torn(text: str) -> bool:
    """Whether the text holds half a fence or half a comment, so that what follows it would mean something else."""
    return any(not block.closed for block in blocks(f"{text}\n\n"))


def shielded(text: str, offset: int) -> bool:
    """Whether a place lies in a fence, a comment or the like."""
    return any(block.kind != "heading" and block.start <= offset < block.end for block in blocks(text))


def below(text: str, end: int) -> int:
    """Where a new line may begin below what ends at ``end``: its line, and the lines that continue that.

    The offset is that of the line's end, before its newline.
    """
    at = line_stop(text, end)
    while (following := after_newline(text, at)) > at and _CONTINUED.match(text, following):
        at = line_stop(text, following)
    return at


def line_stop(text: str, offset: int) -> int:
    """Where the line of an offset ends, before its newline."""
    found = NEWLINE.search(text, offset)
    return found.start() if found else len(text)


def after_newline(text: str, offset: int) -> int:
    """The offset after the newline that begins at ``offset``; itself if none does."""
    found = NEWLINE.match(text, offset)
    return found.end() if found else offset


def whole_line(text: str, start: int, end: int) -> int:
    """Where a cut ends that takes its line's newline along, so that no blank line is left of it.

    It does not where the cut leaves something of the line, or where two paragraphs would become one.
    """
    begins, past = not start or text[start - 1] in "\r\n", after_newline(text, end)
    if not begins or past == end or text[end - 1] in "\r\n":
        return end
    return past if _OWN.match(text, past) or blank_above(text, start) else end


def blank_above(text: str, start: int) -> bool:
    """Whether nothing, or a blank line, stands above the line that begins at ``start``."""
    above = text[:start].removesuffix("\n").removesuffix("\r").rstrip(" \t")
    return not above or above[-1] in "\r\n"
