"""The whole of one night's compaction of one text, as a value: pure, idempotent, and the text never grows."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache, partial
from heapq import merge
from itertools import chain
from typing import Final

from attrs import field, frozen

from reverie.markdown.line import LineCount, ending, line_end, newline, unified
from reverie_plugins.stamp import stamp, stamped

from .marker import POSSIBLE, SOURCE
from .pointer import shared_line
from .survey import Found, Known, Share, Survey

_RULE: Final = re.compile(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})$", re.MULTILINE)
_SAFE_NEXT: Final = re.compile(r"[ \t]*(?:\n|\Z)|[-*+] |#|```|~~~|>")
_BOUNDARY: Final = re.compile(rf"[ \t]*$|#{{1,6}}(?:[ \t]|$)|{_RULE.pattern}", re.MULTILINE)
_LIST_LINE: Final = re.compile(r"[-*+] |[ \t]")
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t\n]|\Z)")
_TEXT: Final = re.compile(r"^[ \t]*[^ \t\n]", re.MULTILINE)

Edit = tuple[int, int, str]
"""A stretch of the text, and what stands there afterwards."""


@frozen
class Finished:
    """One entry that leaves: its text as it stood, and what it is called.

    ``line`` is counted from 1 in the text it was found in; ``left`` is the line that stays in its place, or empty.
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
        """Exactly what is appended to the archive."""
        return stamped(self.text, self.stamp, self.newline)


@frozen
class Plan:
    """What is to become of a text: the new one, what leaves it in order, and by label those that leave no line in it,
    their own or a shared one, since it would be no shorter with them."""

    text: str = field(repr=False)
    finished: tuple[Finished, ...] = ()
    unshared: tuple[str, ...] = ()


def plan(text: str, day: str, source: str = SOURCE) -> Plan:
    """Move what is finished out of a text; ``day`` is written into pointers and stamps, as YYYY-MM-DD.

    Planned again, the new text loses nothing more.

    >>> plan("- Van — DONE\\n- tape\\n", "2026-03-04").text
    '- tape\\n'
    """
    whole, known = Plan(text), Known()
    while POSSIBLE.search(whole.text):
        step, settled = step_of(whole.text, day, source, known)
        whole = Plan(step.text, whole.finished + step.finished, whole.unshared + step.unshared)
        if settled:
            break
    return whole


def step_of(text: str, day: str, source: str, known: Known) -> tuple[Plan, bool]:
    """One pass, and whether another would find nothing: what bars an entry now may be gone afterwards."""
    plain = unified(text)
    survey = Survey(plain, day, known).walk()
    bare = text.count("\r") > text.count("\r\n")
    chosen = [found for found in survey.found if movable(plain, found) and not (bare and joins(text, found))]
    if not chosen:
        return Plan(text), True
    lines, unshared = settle(text, chosen, survey.shares)
    new = render(text, merge(counted(chosen, survey.shares), replaced(text, chosen, lines)))
    settled = len(chosen) == len(survey.found) and not any(found.parting.ruling for found in chosen)
    return Plan(new, tuple(finish(text, chosen, lines, day, source)), unshared), settled


def movable(plain: str, found: Found) -> bool:
    """Whether the lines around an entry keep their meaning without it."""
    following = _TEXT.search(plain, found.end)
    if following and plain[following.start()] in " \t":
        return False  # it may belong to a list at the end of the entry
    pointed = bool(found.parting.pointer)
    if found.level:
        return pointed or not goes_on(plain, found.end)
    if _SAFE_NEXT.match(plain, found.end):
        return True
    return _RULE.match(plain, found.end) is not None and (pointed or bounded(plain, found.start))


def joins(text: str, found: Found) -> bool:
    r"""Whether a ``\r`` before and a ``\n`` after it might become one newline without the entry."""
    return not found.parting.pointer and text.startswith("\n", found.end)


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


def settle(text: str, chosen: Sequence[Found], shares: dict[int, Share]) -> tuple[list[str], tuple[str, ...]]:
    """The line that stays for each entry, often none, and the labels of those that leave none at all.

    The short entries of a section have one line together, in the place of the first. Where the text would be no
    shorter with these lines than before, they are left out.
    """
    short = Counter(found.section for found in chosen if not found.parting.pointer)
    new = {section: shared_line(count) for section, count in short.items() if section not in shares}
    lines = [found.parting.pointer or new.pop(found.section, "") for found in chosen]
    edits = chain(counted(chosen, shares), replaced(text, chosen, lines))
    if sum(len(edit) - (end - start) for start, end, edit in edits) < 0:
        return lines, ()
    lost = [found.parting.label for found in chosen if not found.parting.pointer and found.section not in shares]
    return [found.parting.pointer for found in chosen], tuple(lost)


def counted(chosen: Sequence[Found], shares: dict[int, Share]) -> list[Edit]:
    """The numbers of shared lines that stand already, raised by tonight's."""
    short = Counter(found.section for found in chosen if not found.parting.pointer)
    kept = [(share, short[section]) for section, share in shares.items() if section in short]
    return sorted((share.start, share.end, str(share.number + more)) for share, more in kept)


def replaced(text: str, chosen: Sequence[Found], lines: Sequence[str]) -> Iterator[Edit]:
    """Each entry, and the line that stays in its place with the newline that the entry had."""
    for found, line in zip(chosen, lines, strict=True):
        yield found.start, found.end, line and line + ending(text[found.end - 2 : found.end])


def render(text: str, edits: Iterator[Edit]) -> str:
    """The text with the edits made; whatever they do not touch is as it was."""
    pieces: list[str] = []
    at = 0
    for start, end, replacement in edits:
        pieces += text[at:start], replacement
        at = end
    return "".join((*pieces, text[at:]))


def finish(text: str, chosen: Sequence[Found], lines: Sequence[str], day: str, source: str) -> Iterator[Finished]:
    """The entries that leave, each with the stamp that it bears."""
    count, most = LineCount(unified(text)), newline(text)
    mark = cache(partial(stamp, "archived", day, source))
    for found, line in zip(chosen, lines, strict=True):
        whole, (label, status, *_) = text[found.start : found.end], found.parting
        line_number, own = count.at(found.start), ending(whole) or most
        yield Finished(whole, label, status, found.path, line_number, line, mark(found.path), own)
