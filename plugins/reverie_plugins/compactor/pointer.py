"""What is left behind for a finished entry."""

from __future__ import annotations

import re
from typing import Final

from .lead import Lead, linked
from .marker import ARCHIVE, Verdict

LONGEST_LABEL: Final = 70

_SHARED: Final = re.compile(rf"- ([0-9]{{1,9}}) finished: {re.escape(ARCHIVE)}[ \t]*")
_EDGE: Final = " \t—–:：·|,;.，。；★☆→✅\ufe0f-("
_OPENERS: Final = re.compile(r"<!--.*?(?:-->|$)|`{3,}|~{2,}")
"""What would open a comment or a fence, or strike, in the line that stays."""
_LEADING: Final = re.compile(r"^(?:[<>#|=+~]|[-*+](?=\s))+")
_PAIRS: Final = ("**", "__", "~~", "`", "*", "_")


def label_of(lead: Lead, verdict: Verdict) -> str:
    """The name of an entry: its first link verbatim, else the text before its marker, else that after it.

    At most 70 characters, cut at a word, links aside.
    """
    link = linked(lead.text)
    if link and not _OPENERS.search(link):
        return link
    if verdict.sign == "strike":
        name = tidy(lead.text[: verdict.after].replace("~~", ""))
    else:
        name = tidy(lead.text[: verdict.before]) or tidy(lead.text[verdict.after :])
    return shortened(name) or verdict.status


def tidy(text: str) -> str:
    """The text on one line, without separators at its ends, emphasis that it leaves open, or what opens a block."""
    name = trimmed(" ".join(_OPENERS.sub(" ", text).split()))
    bold = name[:2]
    if bold in ("**", "__") and name.endswith(bold) and name.count(bold) == 2:
        name = trimmed(name[2:-2])
    for mark in _PAIRS:
        if name.count(mark) % 2:
            name = name.replace(mark, "")
    return trimmed(name)


def trimmed(name: str) -> str:
    bare = _LEADING.sub("", name.strip(_EDGE)).strip(_EDGE)
    return bare.lstrip(f"]){_EDGE}").rstrip(f"[{_EDGE}")


def shortened(name: str) -> str:
    """The name in at most 70 characters, cut at a word.

    >>> len(shortened("word " * 40)), shortened("short")
    (70, 'short')
    """
    if len(name) <= LONGEST_LABEL:
        return name
    cut = name[: LONGEST_LABEL - 1]
    at_word = cut if name[LONGEST_LABEL - 1] == " " else cut.rpartition(" ")[0]
    return f"{tidy(at_word or cut)}…"


def pointer(lead: Lead, label: str, status: str, day: str) -> str:
    """The line that stays in the place of a long entry; a heading keeps its marker."""
    mark = lead.mark if lead.heading else "-"
    return f"{mark} {label} — {status} {day} ({ARCHIVE})"


def shared_line(count: int) -> str:
    """The line that a section's short entries share."""
    return f"- {count} finished: {ARCHIVE}"


def shared_count(line: str) -> int:
    """How many entries the line stands for, 0 if it is no shared line."""
    found = _SHARED.fullmatch(line)
    return int(found[1]) if found else 0
