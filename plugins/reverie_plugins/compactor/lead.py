"""The lead line of an entry taken apart, and two views of it in which what is quoted is blotted out."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

BLOT: Final = "\x00"
"""Stands in a view for each character that is not the writer's own word: code, links, quotes."""

_MARK: Final = re.compile(r"(?:[-*] |#{3,6}(?=[ \t]|$))[ \t]*")
_CLOSING: Final = re.compile(r"[ \t]+#+$")
_BOX: Final = re.compile(r"\[([^\w\n]|[xX])\](?=[ \t]|$)[ \t]*|\[[ \t]*[xX]?[ \t]*\](?=[ \t]|$)[ \t]*")
_NUMBER: Final = re.compile(r"^(?:[0-9]{1,4}[.)]|#[0-9]+:?)[ \t]+")
_LINK: Final = re.compile(r"!?\[\[[^\[\]\n]*\]\]|!?\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\((?:[^()\n]|\([^()\n]*\))*\)")
_TARGET: Final = re.compile(r"(?<=\])\((?:[^()\n]|\([^()\n]*\))*\)")
_TICKS: Final = re.compile(r"`+")
_SILENT: Final = (
    re.compile(r"<!--.*?(?:-->|$)"),
    re.compile(r"<?\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s<>]+>?"),
    re.compile(
        r"(?<!\w)\"[^\"]{1,300}\"(?!\w)|“[^”]{1,300}”|«[^»]{1,300}»|„[^“]{1,300}“|「[^」]{1,300}」|『[^』]{1,300}』"
    ),
    re.compile(r"~~(?=\S).+?~~"),
)


class Lead(NamedTuple):
    """A lead line: ``mark`` begins it, ``box`` is what its box holds, None without one, ``text`` is what stands after
    mark, box and number."""

    mark: str
    box: str | None
    text: str

    @property
    def heading(self) -> bool:
        return self.mark.startswith("#")

    @property
    def ticked(self) -> bool:
        return self.box in ("x", "X")


def read_lead(line: str) -> Lead:
    """Take the first line of an entry apart.

    >>> read_lead("### [x] 2. Trip ##")
    Lead(mark='###', box='x', text='Trip')
    """
    mark = _MARK.match(line)
    rest = line[mark.end() if mark else 0 :].rstrip()
    name = mark[0].rstrip() if mark else ""
    if name.startswith("#") and rest.endswith("#"):
        rest = _CLOSING.sub("", rest).rstrip()
    boxed = _BOX.match(rest)
    if boxed:
        rest = rest[boxed.end() :]
    return Lead(name, boxed and (boxed[1] or " "), _NUMBER.sub("", rest, count=1))


def view(text: str) -> str:
    """The text with code, links, quotes, addresses, comments and struck runs blotted out, at its length.

    >>> view("see `DONE` and [DONE](x.md)").count(BLOT)
    18
    """
    return silence(_LINK.sub(blot, without_code(text)))


def spoken(text: str) -> str:
    """The text as one hears it: code, quotes and addresses blotted out, of a link what it shows.

    >>> spoken("see [the plan](x.md)")
    'see [the plan]'
    """
    return _TARGET.sub("", silence(without_code(text)))


def silence(text: str) -> str:
    """The text with comments, addresses, quotes and struck runs blotted out."""
    for pattern in _SILENT:
        text = pattern.sub(blot, text)
    return text


def without_code(text: str) -> str:
    """The text with its code spans blotted out: a run of backticks up to the next one as long."""
    runs = [run.span() for run in _TICKS.finditer(text)] if "`" in text else []
    pieces: list[str] = []
    at = index = 0
    partner = partners(runs)
    while index < len(runs):
        if partner[index]:
            start, index = runs[index][0], partner[index]
            pieces += text[at:start], BLOT * (runs[index][1] - start)
            at = runs[index][1]
        index += 1
    return "".join((*pieces, text[at:])) if pieces else text


def partners(runs: list[tuple[int, int]]) -> list[int]:
    """For each run of backticks the index of the next one as long, 0 if there is none."""
    following: dict[int, int] = {}
    partner = [0] * len(runs)
    for index in range(len(runs) - 1, -1, -1):
        length = runs[index][1] - runs[index][0]
        partner[index] = following.get(length, 0)
        following[length] = index
    return partner


def linked(text: str) -> str:
    """The first link of the text verbatim, with what it shows and where it goes; images, wikilinks and code aside."""
    for link in _LINK.finditer(without_code(text)):
        shown = text[link.start() : link.end()]
        if shown.startswith("[") and not shown.startswith("[["):
            return shown
    return ""


def blot(match: re.Match[str]) -> str:
    return BLOT * (match.end() - match.start())
