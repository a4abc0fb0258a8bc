"""What a run leaves to be read: DREAMS.md for a person, promotions.jsonl for the record of its ops."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from typing import Any

from reverie_hookspecs import Dream, Op, Run

HEADING = "# Dreams\n\nWhat each night did, newest last.\n"
LIMIT = 500
MOST = 200
"""Moves that the diary names one by one."""


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
        *([f"- and {rest:,} more, which `reverie dream show` lists"] if rest else []),
        *(f"- {told}" for told in ops(dream)),
    ]
    return "\n" + "\n".join(lines) + "\n"


def undone(run: Run, target: str, changed: Sequence[str]) -> str:
    """The diary's paragraph of an undo."""
    started = run.started.astimezone(UTC)
    files = "\n".join(f"- restored {single(path)}" for path in changed)
    return (
        f"\n## {started:%Y-%m-%dT%H:%M:%SZ} — {single(run.agent)}: undone\n\n"
        f"run `{run.id}` takes back `{target}`\n\n{files}\n"
    )


def ops(dream: Dream) -> Iterator[str]:
    """A line for each op of the run, with what became of it."""
    for op, became, reason in fates(dream):
        text = single(op.content or op.target, 160)
        quote = f" (quote: “{single(op.quote, 160)}”)" if op.quote else ""
        yield f"{became} {op.op} {single(op.file)}: {text}{quote}{': ' * bool(reason)}{single(reason)}"


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
