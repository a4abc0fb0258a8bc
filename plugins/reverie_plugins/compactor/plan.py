"""The whole of one night's compaction of one text, as a value: pure, idempotent, and the text never grows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from attrs import evolve, field, frozen

from reverie.markdown.entry import Entry, entries
from reverie.markdown.line import LineCount, ending, newline, unified

from .lead import read_lead
from .marker import ARCHIVE, POSSIBLE, SOURCE, Sign, terminal
from .pointer import label_of, pointer, shared_count, shared_line, stamp

_CROSSES: Final = "❌✗✘🚫⛔"
_CROSS: Final = re.compile(rf"(?:[-*] |#{{3,6}}[ \t]+)[*_]{{0,3}}(?:[0-9]{{1,4}}[.)] )?[{_CROSSES}]")
_INTRODUCTION: Final = re.compile(r"[:：][*_\s]*\Z")
_SAFE_NEXT: Final = re.compile(r"[ \t]*(?:\n|\Z)|[-*+] |#|```|~~~|>")
_BOUNDARY: Final = re.compile(r"[ \t]*$|#{1,6}(?:[ \t]|$)|(?:[-*_][ \t]*){3,}$")


@frozen
class Finished:
    """One entry that leaves: its text as it stood, where, and what it is called.

    ``line`` is counted from 1 in the text it was found in; ``left`` says what stays in its place.
    """

    text: str
    label: str
    status: str
    path: tuple[str, ...]
    line: int
    left: str
    stamp: str = field(repr=False)
    newline: str = field(repr=False)

    @property
    def archived(self) -> str:
        """Exactly what is appended to the archive: the text, its stamp on a line of its own, a blank line."""
        own = ending(self.text)
        return f"{self.text}{'' if own else self.newline}{self.stamp}{self.newline}{self.newline}"


@frozen
class Plan:
    """What is to become of a text: the new one, what leaves it, and the entries that leave no trace in it, by label."""

    text: str = field(repr=False)
    finished: tuple[Finished, ...] = ()
    unshared: tuple[str, ...] = ()


class Found(NamedTuple):
    """A finished entry with the line that would stay for it; ``pointer`` is empty where it is the longer of the two."""

    entry: Entry
    label: str
    status: str
    pointer: str
    sign: Sign


class Share(NamedTuple):
    """The shared line of a section: where its number stands, and the number."""

    start: int
    end: int
    count: int


class Survey(NamedTuple):
    """What one walk down a text finds: finished entries in order, and the shared lines by section."""

    found: list[Found]
    shares: dict[int, Share]


class Edit(NamedTuple):
    """A stretch of the text, and what stands there afterwards."""

    start: int
    end: int
    text: str


def plan(text: str, day: str, source: str = SOURCE) -> Plan:
    """Move what is finished out of a text; ``day`` is written into pointers and stamps, as YYYY-MM-DD.

    Planned again, the new text loses nothing more.
    """
    result = Plan(text)
    while POSSIBLE.search(result.text):
        step, settled = step_of(result.text, day, source)
        result = Plan(step.text, result.finished + step.finished, result.unshared + step.unshared)
        if settled or not step.finished:
            break
    return result


def step_of(text: str, day: str, source: str) -> tuple[Plan, bool]:
    """One pass, and whether another would find nothing: a heading that stays now may end its section afterwards."""
    plain = unified(text)
    survey = look(plain, day)
    chosen = [found for found in survey.found if movable(plain, found)]
    settled = not any(found.entry.level for found in survey.found)
    if not chosen:
        return Plan(text), True
    edits, unshared = settle(text, chosen, survey.shares)
    return Plan(render(text, edits), tuple(finish(text, chosen, edits, day, source)), unshared), settled


def look(plain: str, day: str) -> Survey:
    """Walk down a text and judge each entry whose lead bears something like a marker."""
    survey, crossed, introduction, before = Survey([], {}), set(), "", 0
    crosses = any(cross in plain for cross in _CROSSES)
    for entry in entries(plain):
        if entry.start > before:
            introduction = introduced(plain[before : entry.start], introduction)
        before = entry.end
        lead_end = plain.find("\n", entry.start, entry.end)
        lead_end = entry.end if lead_end < 0 else lead_end
        if entry.pinned or not entry.whole or not POSSIBLE.search(plain, entry.start, lead_end):
            ...
    return survey


def introduced(gap: str, last: str) -> str:
    """The line that introduces the list after a gap; a blank gap ends no list."""
    line = gap.strip().rpartition("\n")[2]
    return last if not line else line if _INTRODUCTION.search(line) else ""
