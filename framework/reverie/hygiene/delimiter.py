"""Lines that could be taken for the beginning of a section."""

from __future__ import annotations

from typing import Final

DASHES: Final = (
    "-\u02d7\u058a\u05be\u1400\u1806\u2010\u2011\u2012\u2013\u2014\u2015\u2043\u2212\u23af\u2500\u2501\u2504\u2505"
    "\u2508\u2509\u254c\u254d\u2574\u2576\u2578\u257a\u2796\u2e17\u2e1a\u2e3a\u2e3b\u2e40\u2e5d\u301c\u3030\u30a0"
    "\u30fc\ufe31\ufe32\ufe58\ufe63\uff0d\uff70\U00010ead"
)
"""The hyphen, and what looks like one."""
RULED: Final = DASHES + "|:+ \t"
"""What rules and the second line of tables are made of: no name."""
BLANK_BRAILLE: Final = "\u2800"


def delimiter(title: str) -> str:
    """The line a section begins with."""
    return f"--- {title} ---"


def is_delimiter(line: str) -> bool:
    """Whether a line, white space aside, reads as the beginning of a section.

    >>> is_delimiter("  --- SOUL ---"), is_delimiter("--- | ---"), is_delimiter("a --- b ---")
    (True, False, False)
    """
    core = line.replace(BLANK_BRAILLE, " ").strip()
    if len(core) < 5 or core[0] not in DASHES or core[-1] not in DASHES:
        return False
    left = len(core) - len(core.lstrip(DASHES))
    right = len(core) - len(core.rstrip(DASHES))
    name = core[left : len(core) - right]
    if not name.strip(RULED):
        return False
    spaced = name[0].isspace() or name[-1].isspace()
    return (spaced and min(left, right) >= 2 and max(left, right) <= 5) or left == right == 3


def escaped(line: str) -> str:
    """The line with a backslash before its first visible character."""
    start = len(line) - len(line.replace(BLANK_BRAILLE, " ").lstrip())
    return f"{line[:start]}\\{line[start:]}"


def escape_delimiters(lines: list[str]) -> tuple[list[str], int]:
    """The lines, none of them a delimiter any more, and how many were."""
    clean = [escaped(line) if is_delimiter(line) else line for line in lines]
    return clean, sum(new is not old for new, old in zip(clean, lines, strict=True))
