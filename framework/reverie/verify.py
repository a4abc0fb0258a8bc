"""Verify: whatever left a memory file in a run must stand somewhere else before the run may end well.

It believes no stage. The moves that were told are looked up, and so is every line that a memory file lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from attrs import evolve

from reverie_hookspecs import Dream, Op, Skipped, Snapshot

from .night import VERIFY
from .workspace.change import Change

MEMORY: Final = ("MEMORY.md", "USER.md")
NAMED: Final = 3
"""How many losses a reason names."""


def missing(dream: Dream, changes: Sequence[Change], read: Callable[[str], Snapshot]) -> list[str]:
    """What left a memory file and stands nowhere, a sentence for each; ``changes`` are those of the run."""
    texts: dict[str, str] = {}
    for change in changes:
        texts[change.path] = texts.get(change.path, "") + held(change.after)
    told = untrue(dream, lambda path: plain(held(read(path))))
    return [*told, *(lost for change in changes if change.path in MEMORY for lost in losses(dream, change, texts))]


def condemned(dream: Dream, gone: Sequence[str], end: str) -> Dream:
    """The letter of a run that lost something: it has applied and moved nothing."""
    more = f" and {len(gone) - NAMED} more" if len(gone) > NAMED else ""
    reason = f"{'; '.join(gone[:NAMED])}{more}; {end}"
    skipped = [Skipped(one.op, "the run was taken back") for one in dream.applied]
    page = evolve(dream, applied=(), moved=(), skipped=(*dream.skipped, *skipped))
    return page.failed(VERIFY, reason)


def untrue(dream: Dream, read: Callable[[str], str]) -> Iterator[str]:
    """The moves that were told and are not true."""
    counts = Counter((move.to, plain(move.text)) for move in dream.moved)
    found = {to: read(to) for to in {to for to, _ in counts}}
    for (to, text), count in counts.items():
        if found[to].count(text) < count:
            yield f"{brief(text)} was to stand in {to} and does not"


def losses(dream: Dream, change: Change, texts: dict[str, str]) -> Iterator[str]:
    """The lines that a memory file lost and no file of the run holds.

    A file that somebody edited meanwhile says nothing, for the loss may be theirs.
    """
    if "unreadable" in (change.before.state, change.after.state):
        return
    after = Counter(stripped(held(change.after)))
    gone = [line for line in Counter(stripped(held(change.before))) - after if not points(line, texts)]
    ops = [one.op for one in dream.applied if one.op.file == change.path and one.op.op != "add"]
    elsewhere = {line for path, text in texts.items() if path != change.path for line in stripped(text)}
    for line in gone:
        if line not in elsewhere and not any(accounts(op, line, texts) for op in ops):
            yield f"{brief(line)} left {change.path} and stands nowhere"


def accounts(op: Op, line: str, texts: dict[str, str]) -> bool:
    """Whether an op took a line, or part of it, and what it took stands: in a file of the run, or in its content."""
    target = plain(op.target)
    touches = any(part and (part in line or line in part) for part in stripped(target))
    return touches and (target in plain(op.content) or any(target in plain(text) for text in texts.values()))


def points(line: str, paths: Collection[str]) -> bool:
    """Whether a line only says where something went: such lines are ours and come and go."""
    return any(path in line for path in paths if path not in MEMORY)


def held(snapshot: Snapshot) -> str:
    return "" if snapshot.state == "unreadable" else snapshot.text


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def stripped(text: str) -> Iterator[str]:
    """The lines that are not blank."""
    return filter(None, (" ".join(line.split()) for line in plain(text).split("\n")))


def brief(text: str) -> str:
    """The beginning of a text, quoted, on one line."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= 60 else line[:59] + '…'}”"
