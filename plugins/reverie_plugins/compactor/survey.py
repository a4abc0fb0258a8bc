"""One walk down a text: which of its entries are finished, and what stands beside them."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from reverie.markdown.entry import Entry, entries
from reverie.markdown.line import line_end

from .lead import read_lead
from .marker import ARCHIVE, POSSIBLE, Sign, rules, terminal
from .pointer import label_of, pointer, shared_count

_CROSSES: Final = "❌✗✘🚫⛔"
_CROSS: Final = re.compile(rf"(?:[-*] |#{{3,6}}[ \t]+)[*_]{{0,3}}(?:[0-9]{{1,4}}[.)] )?[{_CROSSES}]")
_INTRODUCTION: Final = re.compile(r"[:：][*_\s]*\Z")


class Parting(NamedTuple):
    """What would be written of a finished entry; ``pointer`` is the line that stays for it, empty where that is the
    longer of the two. ``ruling`` says of a heading that it rules how the ✅ under it are read."""

    label: str
    status: str
    pointer: str
    sign: Sign
    ruling: bool


Known = dict[tuple[str, tuple[str, ...]], Parting | None]
"""What was found of an entry's text under its titles: one night looks twice at some, and lists repeat themselves."""


class Found(NamedTuple):
    """A finished entry by its offsets; ``section`` is the offset of its h1 or h2."""

    start: int
    end: int
    level: int
    section: int
    path: tuple[str, ...]
    parting: Parting


class Share(NamedTuple):
    """The shared line of a section: where its number stands, and the number."""

    start: int
    end: int
    number: int


class Survey:
    """The finished entries in order, and the shared lines by section."""

    __slots__ = ("before", "crossed", "crosses", "day", "found", "introduction", "known", "shares", "text")

    def __init__(self, plain: str, day: str, known: Known) -> None:
        self.text, self.day, self.known = plain, day, known
        self.found: list[Found] = []
        self.shares: dict[int, Share] = {}
        self.crosses = any(cross in plain for cross in _CROSSES)
        self.crossed: set[tuple[int, tuple[str, ...]]] = set()
        self.before, self.introduction = 0, ""

    def walk(self) -> Survey:
        """Look at every entry; only one whose lead holds something like a marker is judged."""
        shared = ARCHIVE in self.text
        marks = (mark.start() for mark in POSSIBLE.finditer(self.text))
        mark = next(marks, -1)
        for entry in entries(self.text):
            if entry.start > self.before:
                self.introduction = introduced(self.text[self.before : entry.start], self.introduction)
            self.before = entry.end
            while 0 <= mark < entry.start:
                mark = next(marks, -1)
            if (not 0 <= mark < entry.end or not self.judge(entry)) and (shared or self.crosses):
                self.keep(entry, shared)
        if self.crossed:
            self.found = [found for found in self.found if not self.beside_crosses(found)]
        return self

    def judge(self, entry: Entry) -> bool:
        """Note the entry if it is finished and may leave; whether it is."""
        if entry.pinned or not entry.whole:
            return False
        path = (*entry.path, self.introduction) if self.introduction else entry.path
        key = (self.text[entry.start : entry.end], path)
        if key not in self.known:
            self.known[key] = part(*key, self.day)
        parting = self.known[key]
        if parting:
            self.found.append(Found(entry.start, entry.end, entry.level, entry.section, entry.path, parting))
        return parting is not None

    def keep(self, entry: Entry, shared: bool) -> None:
        """Note what an entry that stays says of its neighbours: that a ✅ beside it is no end, or how many are gone."""
        if self.crosses and _CROSS.match(self.text, entry.start):
            self.crossed.add((entry.section, entry.path))
        if shared and not entry.level and entry.section not in self.shares:
            line = self.text[entry.start : line_end(self.text, entry.start)]
            if number := shared_count(line.rstrip("\n")):
                start = entry.start + 2
                self.shares[entry.section] = Share(start, start + len(line.split(" ", 2)[1]), number)

    def beside_crosses(self, found: Found) -> bool:
        return found.parting.sign == "tick" and (found.section, found.path) in self.crossed


def introduced(gap: str, last: str) -> str:
    """The line that introduces the list after a gap; a blank gap ends no list."""
    line = gap.strip().rpartition("\n")[2]
    return last if not line else line if _INTRODUCTION.search(line) else ""


def part(text: str, path: tuple[str, ...], day: str) -> Parting | None:
    """What would be written of an entry, None if it is not finished."""
    verdict = terminal(text, path)
    if not verdict.status:
        return None
    lead = read_lead(text.partition("\n")[0])
    label = label_of(lead, verdict)
    line = pointer(lead, label, verdict.status, day)
    left = line if len(text.rstrip()) > len(line) else ""
    return Parting(label, verdict.status, left, verdict.sign, lead.heading and rules(lead.text))
