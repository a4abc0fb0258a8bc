"""A storm: nights, writers through Files and programs that know nothing of either, all on one workspace at once."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from reverie.runlog import new_run
from reverie_hookspecs import Dream, Plugin, Proposal, Refused, StaleSnapshot, hookimpl

from .nights import add, deployed, ended, forked, remove

MEMORY, NOTE, PRUNED = "MEMORY.md", "memory/note.md", "memory/archive/pruned.md"
HEADS: Final = {MEMORY: "# Memory\n\n", NOTE: "# Note\n\n", PRUNED: "# Pruned\n\n"}
ACTORS: Final = ("night", "night", "night", "replace", "replace", "foreign", "foreign", "foreign")
PATIENCE: Final = 120.0


class Proposing(Plugin):
    """Proposes one line, and to take out an earlier one of its own."""

    def __init__(self, name: str) -> None:
        self.name, self.number = name, 0

    @hookimpl
    def select_ops(self, dream: Dream) -> Proposal:
        lines = dream.agent.files.read(MEMORY).text.splitlines()
        mine = [line for line in lines if line.startswith(f"- {self.name} ") and lines.count(line) == 1]
        old = [remove(mine[0])] if len(mine) > 3 else []
        return Proposal((*old, add(f"- {self.name} {self.number:03} of many")), self.name)


def night(root: Path, name: str, edits: int, wrote: Callable[[str], None]) -> None:
    """Nights, one after the other; each adds a line, and takes one out when there are enough."""
    proposing = Proposing(name)
    made = deployed(root, proposing, dreaming={"maxChangesPerRun": 5}, memory={"memoryBudgetChars": 0})
    agent = made.agent()
    end = time.monotonic() + PATIENCE
    while proposing.number < edits and time.monotonic() < end:
        try:
            dream = made.run(agent)
        except Refused:
            time.sleep(0.002)
            continue
        if any(one.op.op == "add" for one in dream.applied):
            wrote(f"- {name} {proposing.number:03} of many")
        proposing.number += 1


def replace(root: Path, name: str, edits: int, wrote: Callable[[str], None]) -> None:
    """Read a file, add a line, put it in its place; again if somebody else was quicker."""
    agent = deployed(root).agent()
    run = new_run(name, "test", "UTC", datetime.now(UTC))
    number, end = 0, time.monotonic() + PATIENCE
    while number < edits and time.monotonic() < end:
        snapshot = agent.files.read(MEMORY)
        line = f"- {name} {number:03} of many"
        try:
            agent.files.replace(snapshot, f"{snapshot.text}{line}\n", run)
        except StaleSnapshot:
            continue
        wrote(line)
        number += 1


def foreign(root: Path, name: str, edits: int, wrote: Callable[[str], None]) -> None:
    """Append as any program does: open, one write, close."""
    dice = random.Random(name)
    for number in range(edits):
        line = f"- {name} {number:03} of many"
        with (root / dice.choice((MEMORY, MEMORY, NOTE, PRUNED))).open("ab", buffering=0) as file:
            file.write(f"{line}\n".encode())
        wrote(line)
        time.sleep(dice.random() * 0.01)


ACTS: Final = {"night": night, "replace": replace, "foreign": foreign}


def act(kind: str, root: Path, name: str, edits: int, told: Path) -> None:
    """What one actor does; each line that it wrote is told in a file of its own."""
    with told.open("w", buffering=1) as file:
        ACTS[kind](root, name, edits, lambda line: print(line, file=file))


def storm(folder: Path, edits: int) -> tuple[Counter[str], dict[str, list[str]]]:
    """Let it blow: how often each line stands, and by actor the lines that were written."""
    root = folder / "alfred"
    for path, head in {**HEADS, "AGENTS.md": "Be kind.\n"}.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(head)
    names = [f"{kind}{number}" for number, kind in enumerate(ACTORS)]
    for name in names:
        (folder / name).mkdir()
    children = [
        forked(lambda kind=kind, name=name: act(kind, root, name, edits, folder / name / "told"))  # type: ignore[misc]
        for kind, name in zip(ACTORS, names, strict=True)
    ]
    codes = [ended(child) for child in children]
    assert codes == [0] * len(codes), codes
    found = Counter(line for path in HEADS for line in (root / path).read_text("utf-8").splitlines())
    return found, {name: (folder / name / "told").read_text().splitlines() for name in names}


def survived(found: Counter[str], told: dict[str, list[str]], edits: int) -> list[str]:
    """What went wrong: lines that stand nowhere or twice, and actors that came to nothing."""
    lines = [line for written in told.values() for line in written]
    wrong = [f"{line} stands {found[line]} times" for line in lines if found[line] != 1]
    wrong += [f"{line} stands {count} times" for line, count in found.items() if count > 1 and " of many" in line]
    for name, written in told.items():
        if len(written) < (edits if not name.startswith("night") else edits // 3):
            wrong.append(f"{name} wrote {len(written)} lines of {edits}")
    return wrong
