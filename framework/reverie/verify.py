"""Verify: whatever left a memory file in a run must stand somewhere else before the run may end well.

It believes no stage. The moves that were told are looked up, and so is every line that a memory file lost.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final

from attrs import evolve

from reverie_hookspecs import Dream, Op, Skipped, Snapshot

from .night import VERIFY
from .workspace.change import Change

MEMORY: Final = ("MEMORY.md", "USER.md")
POINTER: Final = re.compile(r"- \d+ finished: (\S+)")
"""The line that the short entries of a section share."""
NAMED: Final = 3
"""How many losses a reason names."""


def missing(dream: Dream, changes: Sequence[Change], read: Callable[[str], Snapshot]) -> list[str]:
    """What left a memory file and stands nowhere, a sentence for each; ``changes`` are those of the run."""
    lost = [one for change in changes if change.path in MEMORY for one in losses(dream, change, changes, read)]
    return [*untrue(dream, lambda path: plain(held(read(path)))), *lost]


def hashes(dream: Dream) -> dict[str, str]:
    """The entries that moved to where a search looks: hash -> text."""
    from reverie.markdown import entries, entry_hash

    found: dict[str, str] = {}
    for move in dream.moved:
        if move.to.startswith("memory/"):
            text = readable(move.text)
            texts = (text[entry.start : entry.end] for entry in entries(text))
            found |= {entry_hash(one): one for one in texts}
    return found


def readable(text: str) -> str:
    """A text as an index has it: bytes that are no UTF-8 are replaced."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def unfound(moved: dict[str, str], held: Collection[str]) -> list[str]:
    """The entries that are not in the index, a sentence for each."""
    lost = [text for key, text in moved.items() if key not in held]
    return [f"{brief(text)} was moved, and the index does not hold it" for text in lost]


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


def losses(dream: Dream, change: Change, changes: Sequence[Change], read: Callable[[str], Snapshot]) -> Iterator[str]:
    """The lines that a memory file lost, and that stand in no file of the run.

    Where somebody has edited the file since, nobody can say: the loss may be theirs.
    """
    if change.before.state == "unreadable":
        yield f"what {change.path} held before is nowhere, so nobody can say what it lost"
    if "unreadable" in (change.before.state, change.after.state):
        return
    after = Counter(lines(held(change.after)))
    others = {one.path for one in changes if one.path != change.path}
    elsewhere = {line for one in changes if one.path in others for line in lines(held(now(one, read)))}
    ops = [one.op for one in dream.applied if one.op.file == change.path and one.op.op != "add"]
    archived = "\n".join(plain(held(now(one, read))) for one in changes if one.path in others)
    kept = [op for op in ops if plain(op.target) in archived or plain(op.target) in plain(op.content)]
    for line in Counter(lines(held(change.before))) - after:
        if line not in elsewhere and not points(line, others) and not accounted(line, kept, after):
            yield f"{brief(line)} left {change.path} and stands nowhere"


def now(change: Change, read: Callable[[str], Snapshot]) -> Snapshot:
    """What a file holds: on disk, for it may have been changed behind our back; of a vault, what the run left."""
    return read(change.path) if change.root == "." else change.after


def accounted(line: str, ops: Sequence[Op], after: Collection[str]) -> bool:
    """Whether the ops, made in their order, make of a line what stands in the file now, or nothing at all.

    Each of these ops has put what it took where it can be found.
    """
    for op in ops:
        line = taken(line, op)
    rest = [part for part in lines(line) if part not in after]
    return not rest


def taken(line: str, op: Op) -> str:
    """A line, once an op is made on it; of a target of several lines the line may hold one, or the edge of one."""
    target, content = plain(op.target).strip(), plain(op.content).strip() if op.op == "replace" else ""
    if "\n" not in target:
        return line.replace(" ".join(target.split()), " ".join(content.split()), 1)
    first, *inner, last = lines(target)
    if line in (first, last, *inner):
        return ""
    if line.endswith(first):
        return line.removesuffix(first) + next(iter(lines(content)), "")
    return [*lines(content), ""][-1] + line.removeprefix(last) if line.startswith(last) else line


def points(line: str, paths: Collection[str]) -> bool:
    """Whether a line is the one that tells how many entries went where, which is ours and changes every night."""
    found = POINTER.fullmatch(line)
    return found is not None and found[1] in paths


def held(snapshot: Snapshot) -> str:
    return "" if snapshot.state == "unreadable" else snapshot.text


def plain(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def lines(text: str) -> list[str]:
    """The lines that are not blank, white space collapsed."""
    return [words for line in plain(text).split("\n") if (words := " ".join(line.split()))]


def brief(text: str) -> str:
    """The beginning of a text, quoted, on one line."""
    line = " ".join(text.split())
    return f"“{line if len(line) <= 60 else line[:59] + '…'}”"
