r"""Lines of a text whose newlines stay as they are: a line ends at ``\n``, ``\r\n`` or ``\r``, and nowhere else."""

from __future__ import annotations

import re
from typing import Final

LINE: Final = re.compile(r"[^\r\n]*+(?:\r\n?|\n)|[^\r\n]++")
"""One line with its newline, or the last one without."""


def split(text: str) -> list[str]:
    r"""The lines with their newlines; joined again they are the text.

    >>> split("a\r\nb\rc\x85d\n")
    ['a\r\n', 'b\r', 'c\x85d\n']
    """
    if "\r" in text:
        return LINE.findall(text)
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def unified(text: str) -> str:
    r"""The same text at the same offsets, every newline one ``\n``: of a pair the first half becomes a blank.

    A blank before a newline means nothing to Markdown, so what is found here is found there.

    >>> unified("a\r\nb\rc")
    'a \nb\nc'
    """
    return text.replace("\r\n", " \n").replace("\r", "\n") if "\r" in text else text


def ending(text: str) -> str:
    r"""The newline the text ends with, or ``""``.

    >>> ending("a\r\n")
    '\r\n'
    """
    return "\r\n" if text.endswith("\r\n") else text[-1:] if text[-1:] in ("\n", "\r") else ""


def newline(text: str) -> str:
    r"""The newline most of its lines end with; ``\n`` if it has none."""
    pairs = text.count("\r\n")
    counts = {"\n": text.count("\n") - pairs, "\r\n": pairs, "\r": text.count("\r") - pairs}
    return max(counts, key=counts.__getitem__)


def line_end(text: str, offset: int) -> int:
    """Where the line ends that begins at or holds the offset, its newline included. The text is a unified one."""
    return text.find("\n", offset) + 1 or len(text)


class LineCount:
    """Counts the lines before rising offsets of a unified text, each stretch once."""

    __slots__ = ("line", "offset", "text")

    def __init__(self, text: str) -> None:
        self.text, self.offset, self.line = text, 0, 1

    def at(self, offset: int) -> int:
        """The line number, from 1, of an offset that is no smaller than the last one asked for."""
        self.line += self.text.count("\n", self.offset, offset)
        self.offset = offset
        return self.line
