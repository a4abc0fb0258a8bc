"""The whole of one night's compaction of one text, as a value: pure, idempotent, and the text never grows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from attrs import field, frozen

from reverie.markdown.entry import Entry, entries
from reverie.markdown.line import LineCount, ending, line_end, newline, unified

from .lead import read_lead
from .marker import ARCHIVE, POSSIBLE, SOURCE, Sign, rules, terminal
from .pointer import label_of, pointer, shared_count, shared_line, stamp

_CROSSES: Final = "❌✗✘🚫⛔"
_CROSS: Final = re.compile(rf"(?:[-*] |#{{3,6}}[ \t]+)[*_]{{0,3}}(?:[0-9]{{1,4}}[.)] )?[{_CROSSES}]")
_INTRODUCTION: Final = re.compile(r"[:：][*_\s]*\Z")
_RULE: Final = re.compile(r"(?:(?:-[ \t]*+){3,}+|(?:\*[ \t]*+){3,}+|(?:_[ \t]*+){3,}+)$", re.MULTILINE)
_SAFE_NEXT: Final = re.compile(r"[ \t]*(?:\n|\Z)|[-*+] |#|```|~~~|>")
_BOUNDARY: Final = re.compile(rf"[ \t]*$|#{{1,6}}(?:[ \t]|$)|{_RULE.pattern}", re.MULTILINE)
_LIST_LINE: Final = re.compile(r"[-*+] |[ \t]")
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
_TEXT: Final = re.compile(r"^[ \t]*[^ \t\n]", re.MULTILINE)


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
    """A finished entry with the line that would stay for it; ``pointer`` is empty where it is the longer of the two.

    ``ruling`` says of a heading that it rules how the ✅ under it are read.
    """

    entry: Entry
    label: str
    status: str
    pointer: str
    sign: Sign
    ruling: bool


Parting = tuple[str, str, str, Sign, bool]
"""The fields of Found but for the entry."""
Known = dict[tuple[str, tuple[str, ...]], Parting | None]
"""What was found of an entry's text under its titles: one night looks twice at some, and lists repeat themselves."""


class Share(NamedTuple):
    """The shared line of a section: where its number stands, and the number."""

    start: int
    end: int
    count: int


class Edit(NamedTuple):
    """A stretch of the text, and what stands there afterwards."""

    start: int
    end: int
    text: str


class Survey:
    """One walk down a text: the finished entries in order, and the shared lines by section."""

    __slots__ = ("before", "crossed", "crosses", "day", "found", "introduction", "known", "shares", "text")

    def __init__(self, plain: str, day: str, known: Known) -> None:
        self.text, self.day, self.known = plain, day, known
        self.found: list[Found] = []
        self.shares: dict[int, Share] = {}
        self.crosses = any(cross in plain for cross in _CROSSES)
        self.crossed: set[tuple[int, tuple[str, ...]]] = set()
        self.before, self.introduction = 0, ""

    def walk(self) -> None:
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
        self.found = [found for found in self.found if found.sign != "tick" or key_of(found.entry) not in self.crossed]

    def judge(self, entry: Entry) -> bool:
        """Note the entry if it is finished and may leave; whether it is."""
        if entry.pinned or not entry.whole:
            return False
        path = (*entry.path, self.introduction) if self.introduction else entry.path
        key = (self.text[entry.start : entry.end], path)
        if key not in self.known:
            self.known[key] = parting(*key, self.day)
        parted = self.known[key]
        if parted:
            self.found.append(Found(entry, *parted))
        return parted is not None

    def keep(self, entry: Entry, shared: bool) -> None:
        """Note what an entry that stays says of its neighbours: that a ✅ beside it is no end, or how many are gone."""
        if self.crosses and _CROSS.match(self.text, entry.start):
            self.crossed.add(key_of(entry))
        if shared and not entry.level and entry.section not in self.shares:
            end = line_end(self.text, entry.start)
            if count := shared_count(self.text[entry.start : end].rstrip("\n")):
                start = entry.start + 2
                self.shares[entry.section] = Share(start, start + len(str(count)), count)


def parting(text: str, path: tuple[str, ...], day: str) -> Parting | None:
    """What would become of an entry that is finished, None if it is not."""
    verdict = terminal(text, path)
    if not verdict.status:
        return None
    lead = read_lead(text.partition("\n")[0])
    label = label_of(lead, verdict)
    line = pointer(lead, label, verdict.status, day)
    left = line if len(text.rstrip()) > len(line) else ""
    return label, verdict.status, left, verdict.sign, lead.heading and rules(lead.text)


def key_of(entry: Entry) -> tuple[int, tuple[str, ...]]:
    return entry.section, entry.path


def introduced(gap: str, last: str) -> str:
    """The line that introduces the list after a gap; a blank gap ends no list."""
    line = gap.strip().rpartition("\n")[2]
    return last if not line else line if _INTRODUCTION.search(line) else ""


def plan(text: str, day: str, source: str = SOURCE) -> Plan:
    """Move what is finished out of a text; ``day`` is written into pointers and stamps, as YYYY-MM-DD.

    Planned again, the new text loses nothing more.
    """
    result, known = Plan(text), Known()
    while POSSIBLE.search(result.text):
        step, settled = step_of(result.text, day, source, known)
        result = Plan(step.text, result.finished + step.finished, result.unshared + step.unshared)
        if settled or not step.finished:
            break
    return result


def step_of(text: str, day: str, source: str, known: Known) -> tuple[Plan, bool]:
    """One pass, and whether another would find nothing: what bars an entry now may be gone afterwards."""
    plain = unified(text)
    survey = Survey(plain, day, known)
    survey.walk()
    bare = text.count("\r") > text.count("\r\n")
    chosen = [found for found in survey.found if movable(plain, found) and not (bare and joins(text, found))]
    if not chosen:
        return Plan(text), True
    edits, unshared = settle(text, chosen, survey.shares)
    settled = len(chosen) == len(survey.found) and not any(found.ruling for found in chosen)
    return Plan(render(text, edits), tuple(finish(text, chosen, edits, day, source)), unshared), settled


def movable(plain: str, found: Found) -> bool:
    """Whether the lines around an entry keep their meaning without it."""
    entry = found.entry
    following = _TEXT.search(plain, entry.end)
    if following and plain[following.start()] in " \t":
        return False  # it may belong to a list at the end of the entry
    if entry.level:
        return bool(found.pointer) or not goes_on(plain, entry.end)
    if _SAFE_NEXT.match(plain, entry.end):
        return True
    return _RULE.match(plain, entry.end) is not None and (bool(found.pointer) or bounded(plain, entry.start))


def joins(text: str, found: Found) -> bool:
    r"""Whether a ``\r`` before and a ``\n`` after it might become one newline without the entry."""
    return not found.pointer and text.startswith("\n", found.entry.end)


def goes_on(plain: str, offset: int) -> bool:
    """Whether text follows before the next heading, so that it would slide under another one."""
    following = _TEXT.search(plain, offset)
    while following and _RULE.match(plain, following.start()):
        following = _TEXT.search(plain, line_end(plain, following.start()))
    return following is not None and not _HEADING.match(plain, following.start())


def bounded(plain: str, offset: int) -> bool:
    """Whether no paragraph ends above the list that ends here: a rule under it would make it a heading."""
    while offset:
        start = plain.rfind("\n", 0, offset - 1) + 1
        if _BOUNDARY.match(plain, start):
            return True
        if not _LIST_LINE.match(plain, start):
            return False
        offset = start
    return False


def settle(text: str, chosen: list[Found], shares: dict[int, Share]) -> tuple[list[Edit], tuple[str, ...]]:
    """The edits that make the text shorter, and the labels of the entries that then leave no line in it."""
    edits = arranged(text, chosen, shares, adding=True)
    if sum(len(edit.text) - (edit.end - edit.start) for edit in edits) < 0:
        return edits, ()
    lost = tuple(found.label for found in chosen if not found.pointer and found.entry.section not in shares)
    return arranged(text, chosen, shares, adding=False), lost


def arranged(text: str, chosen: list[Found], shares: dict[int, Share], *, adding: bool) -> list[Edit]:
    """What stands where: pointers, and for the short entries of a section one line where the first of them was."""
    short = Counter(found.entry.section for found in chosen if not found.pointer)
    edits = [
        Edit(share.start, share.end, str(share.count + short[section]))
        for section, share in shares.items()
        if section in short
    ]
    new = {section: shared_line(count) for section, count in short.items() if adding and section not in shares}
    for entry, _, _, pointed, *_ in chosen:
        line = pointed or new.pop(entry.section, "")
        edits.append(Edit(entry.start, entry.end, line and line + ending(text[entry.end - 2 : entry.end])))
    return sorted(edits)


def render(text: str, edits: list[Edit]) -> str:
    """The text with the edits made; whatever they do not touch is as it was."""
    pieces, at = [], 0
    for start, end, replacement in edits:
        pieces += text[at:start], replacement
        at = end
    return "".join((*pieces, text[at:]))


def finish(text: str, chosen: list[Found], edits: list[Edit], day: str, source: str) -> Iterator[Finished]:
    """The entries that leave, with what is left of each and the stamp that it bears."""
    left = {edit.start: edit.text for edit in edits}
    line, most = LineCount(unified(text)), newline(text)
    for entry, label, status, *_ in chosen:
        whole = text[entry.start : entry.end]
        yield Finished(
            whole,
            label,
            status,
            entry.path,
            line.at(entry.start),
            left[entry.start].rstrip("\r\n"),
            stamp(day, source, entry.path),
            ending(whole) or most,
        )
