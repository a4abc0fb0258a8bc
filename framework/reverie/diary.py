"""What a run leaves to be read: DREAMS.md for a person, promotions.jsonl for the record of its ops."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final, Literal

from reverie_hookspecs import Dream, MemorySettings, Op, Run

if TYPE_CHECKING:
    from .workspace.change import Change

HEADING = "# Dreams\n\nWhat each night did, newest last.\n"
LIMIT = 500
MOST = 200
"""Moves that the diary names one by one."""
Fate = Literal["restored", "merged", "removed"]
FATES: Final[dict[Fate, str]] = {
    "restored": "restored",
    "merged": "merged with what was written since",
    "removed": "removed again",
}
"""What an undo did with a file: it is exactly as before the run; it is that and what was written since; it is gone."""


def single(text: str, limit: int = LIMIT) -> str:
    """Foreign text on one line, so that it can forge neither a heading nor a run: white space is folded, control
    and format characters go, and what is longer than ``limit`` characters is cut."""
    folded = " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]", " ", text).split())
    printable = folded.encode("utf-8", "replace").decode("utf-8")
    return printable if len(printable) <= limit else printable[: limit - 1] + "…"


def entry(dream: Dream) -> str:
    """The diary's paragraph of one run."""
    started = dream.run.started.astimezone(UTC)
    shown, rest = dream.moved[:MOST], len(dream.moved[MOST:])
    lines = [
        f"## {started:%Y-%m-%dT%H:%M:%SZ} — {single(dream.agent.id)} ({dream.mode}): {dream.outcome}",
        "",
        f"run `{dream.run.id}`",
        "",
        *(f"- {single(note.stage, 80)}: {'failed: ' * note.failed}{single(note.text)}" for note in dream.notes),
        *(f"- moved from {single(move.file)} to {single(move.to)}: {single(move.label, 120)}" for move in shown),
        *([f"- and {rest:,} more, which stand in the diff of this run"] if rest else []),
        *(f"- {told}" for told in ops(dream)),
    ]
    return "\n" + "\n".join(lines) + "\n"


def undone(run: Run, target: str, changes: Sequence[Change], former: Iterable[Change]) -> str:
    """The diary's paragraph of an undo; ``former`` is what the run had changed that it takes back."""
    started = run.started.astimezone(UTC)
    files = "\n".join(f"- {single(path)}: {FATES[fate]}" for path, fate in returned(changes, former).items())
    return (
        f"\n## {started:%Y-%m-%dT%H:%M:%SZ} — {single(run.agent)}: undone\n\n"
        f"run `{run.id}` takes back `{target}`\n\n{files}\n"
    )


def returned(changes: Iterable[Change], former: Iterable[Change]) -> dict[str, Fate]:
    """What an undo did with each file; ``former`` is what the run had changed that it takes back."""
    before = {change.path: change.before for change in reversed([*former])}  # a file's first one counts
    fates: dict[str, Fate] = {}
    for change in changes:
        same = before.get(change.path) == change.after
        fates[change.path] = "removed" if change.after.state == "missing" else "restored" if same else "merged"
    return fates


def lost(line: dict[str, Any]) -> str:
    """The diary's paragraph of a run that was killed, from its last line in the run log."""
    head = f"## {line.get('started')} — {single(str(line.get('agent')))}: {line.get('outcome')}"
    files = "".join(f"- changed {single(path)}\n" for path in line["changed"])
    return f"\n{head}\n\nrun `{line['run']}`: {single(str(line.get('reason')))}\n\n{files}"


def ops(dream: Dream) -> Iterator[str]:
    """A line for each op of the run, with what became of it."""
    for op, became, reason in fates(dream):
        folder = dream.agent.settings[MemorySettings].episodic_archive_dir
        text = worded(op.op, op.target, op.content, 160)
        quote = f" (quote: “{single(op.quote, 160)}”)" if op.quote else ""
        yield f"{became} {op.op} {single(place(op, folder))}: {text}{quote}{': ' * bool(reason)}{single(reason)}"


def worded(kind: str, target: str, content: str, limit: int) -> str:
    """What an op says: of a replacement the old and the new text, of another one its text."""
    old, new = single(target, limit), single(content, limit)
    return f"{old} -> {new}" if kind == "replace" else old if kind == "remove" else new


def place(op: Op, folder: str) -> str:
    """The file an op is about; ``folder`` is where the episodic notes lie."""
    return f"{folder}/{op.topic}.md" if op.tier == "episodic" else op.file


def fates(dream: Dream) -> Iterator[tuple[Op, str, str]]:
    """Each op with what became of it, and why where it was held back."""
    applied = [one.op for one in dream.applied]
    skipped = {id(one.op): one.reason for one in dream.skipped}
    for op in dream.ops:
        if any(op is other for other in applied):
            yield op, "applied", ""
        elif id(op) in skipped:
            yield op, "skipped", skipped[id(op)]
        else:
            yield op, "proposed", ""
    for one in dream.aside:
        yield one.op, "set aside", one.reason


def promotions(dream: Dream) -> list[dict[str, Any]]:
    """One record an op: its index in the run, the op with JSON names, and what became of it."""
    records = []
    for index, (op, became, reason) in enumerate(fates(dream)):
        records.append({
            "run": dream.run.id,
            "ts": dream.run.started.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "agent": dream.agent.id,
            "mode": dream.mode,
            "index": index,
            "op": op.op,
            "file": op.file,
            "target": op.target,
            "content": op.content,
            "topic": op.topic,
            "tier": op.tier,
            "reason": op.reason,
            "score": op.score,
            "recallCount": op.recall_count,
            "quote": op.quote,
            "outcome": became.replace("set aside", "aside"),
            "why": reason,
        })  # fmt: skip
    return records


def encode(records: list[dict[str, Any]]) -> str:
    """JSON lines in ASCII, so that no text can break a line or fail to be written."""
    return "".join(json.dumps(record, ensure_ascii=True) + "\n" for record in records)
