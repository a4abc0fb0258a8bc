"""The security boundary of a composed text: whatever stands in memory can forge, import, hide and swallow nothing."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from .block import settle
from .character import single_line as single_line, visible as visible
from .delimiter import DASHES as DASHES, delimiter as delimiter, escape_delimiters, is_delimiter as is_delimiter

LEADING: Final = re.compile(r"(?:[^\S\n]*\n)+")
"""Blank lines."""


class Clean(NamedTuple):
    """A text made harmless, and how often what was done to it.

    ``hidden`` characters were taken out or replaced, ``delimiters`` escaped, ``imports`` made code; ``closed`` fences
    or comments were left open and have their end now.
    """

    text: str
    hidden: int = 0
    delimiters: int = 0
    imports: int = 0
    closed: int = 0


def cleanse(text: str, imports: bool = False) -> Clean:
    """Make the body of a section harmless; done twice it changes nothing more.

    ``imports`` lets ``@path`` be: only for files that the operator writes.
    """
    shown, hidden = visible(text)
    blank = LEADING.match(shown)
    body = shown[blank.end() if blank else 0 :].rstrip()
    lines, delimiters = escape_delimiters(body.split("\n"))
    settled, closed = settle(lines)
    clean, guarded = [line.text for line in settled], 0
    if not imports and ("@" in body or "&" in body):
        from .imports import guard_imports  # half of the expressions that take time to compile

        clean, guarded = guard_imports(settled)
    return Clean("\n".join(clean).strip("\n"), hidden, delimiters, guarded, closed)
