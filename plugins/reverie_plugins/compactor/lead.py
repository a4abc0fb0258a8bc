"""The lead line of an entry taken apart: what it is marked with, and a view of it in which quoted text is blotted out."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

BLOT: Final = "\x00"
"""Stands in a view for each character that is not the writer's own word: code, links, quotes."""

MARK: Final = re.compile(r"(?:[-*] |#{3,6}(?=[ \t]|$))[ \t]*")
_CLOSING: Final = re.compile(r"[ \t]+#+[ \t]*$")
_BOX: Final = re.compile(r"\[([^\w\n]|[xX])\](?=[ \t]|$)[ \t]*|\[[ \t]*[xX]?[ \t]*\](?=[ \t]|$)[ \t]*")
_NUMBER: Final = re.compile(r"^(?:[0-9]{1,4}[.)]|#[0-9]+:?)[ \t]+")
_STRIKE: Final = re.compile(r"[*_]{0,3}~~(?=\S)(.+?)~~[*_]{0,3}")
_TICK: Final = re.compile(r"[*_]{0,3}✅\ufe0f?[ \t]*")
_LAST_TICK: Final = re.compile(r"✅\ufe0f?[*_.!\s]*$")
_LINK: Final = re.compile(r"!?\[\[[^\]\n]*\]\]|!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\((?:[^()\n]|\([^()\n]*\))*\)")
_TICKS: Final = re.compile(r"`+")
_QUOTED: Final = (
    re.compile(r"<!--.*?(?:-->|$)"),
    _LINK,
    re.compile(r"<?\b[a-z][a-z0-9+.-]*://[^\s<>]+>?", re.IGNORECASE),
    re.compile(
        r"(?<!\w)\"[^\"]{1,300}\"(?!\w)|“[^”]{1,300}”|«[^»]{1,300}»|„[^“]{1,300}“|「[^」]{1,300}」|『[^』]{1,300}』"
    ),
    re.compile(r"~~(?=\S).+?~~"),
)
_SILENT: Final = tuple(pattern for pattern in _QUOTED if pattern is not _LINK)
_TARGET: Final = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]*\))*\)")


class Lead(NamedTuple):
    """A lead line: ``mark`` begins it, ``text`` is what stands after mark, box and number.

    ``box`` is what the box holds, None without one; ``struck`` the end of a struck run the text begins with, ``tick``
    the end of a ✅ it begins with, each 0 without; ``last_tick`` is the begin of a ✅ it ends with, -1 without.
    ``view`` is the text with what is not the writer's own word blotted out, at its length.
    """

    mark: str
    box: str | None
    text: str
    struck: int = 0
    tick: int = 0
    last_tick: int = -1
    view: str = ""

    @property
    def heading(self) -> bool:
        return self.mark.startswith("#")

    @property
    def spoken(self) -> str:
        """The text as one hears it."""
        return spoken(self.text)

    @property
    def ticked(self) -> bool:
        return self.box in ("x", "X")


def read_lead(line: str) -> Lead:
    """Take the first line of an entry apart."""
    mark = MARK.match(line)
    rest = line[mark.end() if mark else 0 :].rstrip()
    name = mark[0].rstrip() if mark else ""
    if name.startswith("#"):
        rest = _CLOSING.sub("", rest)
    boxed = _BOX.match(rest)
    if boxed:
        rest = rest[boxed.end() :]
    return mark_up(Lead(name, boxed and (boxed[1] or " "), _NUMBER.sub("", rest, count=1)))


def mark_up(lead: Lead) -> Lead:
    """The lead with its strike, its ticks and its view."""
    struck, tick, last = _STRIKE.match(lead.text), _TICK.match(lead.text), _LAST_TICK.search(lead.text)
    return lead._replace(
        struck=struck.end() if struck else 0,
        tick=tick.end() if tick else 0,
        last_tick=last.start() if last else -1,
        view=view(lead.text),
    )


def view(text: str) -> str:
    """The text with code, links, quotes, addresses, comments and struck runs blotted out, at its length.

    >>> view("see `DONE` and [DONE](x.md)").count(BLOT)
    18
    """
    text = without_code(text)
    for pattern in _QUOTED:
        text = pattern.sub(blot, text)
    return text


def spoken(text: str) -> str:
    """The text as one hears it: code, quotes and addresses blotted out, of a link what it shows."""
    text = without_code(text)
    for pattern in _SILENT:
        text = pattern.sub(blot, text)
    return _TARGET.sub("", text)


def without_code(text: str) -> str:
    """The text with its code spans blotted out: a run of backticks up to the next one as long."""
    runs = [run.span() for run in _TICKS.finditer(text)]
    following: dict[int, int] = {}
    partner = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        start, end = runs[index]
        partner[index] = following.get(end - start, 0)
        following[end - start] = index
    pieces, at, index = [], 0, 0
    while index < len(runs):
        if partner[index]:
            start, index = runs[index][0], partner[index]
            pieces += text[at:start], BLOT * (runs[index][1] - start)
            at = runs[index][1]
        index += 1
    return "".join((*pieces, text[at:]))


def blot(match: re.Match[str]) -> str:
    return BLOT * (match.end() - match.start())


def linked(text: str) -> str:
    """The first link of the text verbatim, with what it shows and where it goes; images and code aside."""
    for link in _LINK.finditer(without_code(text)):
        shown = text[link.start() : link.end()]
        if shown.startswith("[") and not shown.startswith("[["):
            return shown
    return ""
