"""How well the compactor tells finished entries from live ones, against labels made by hand.

    python tests/bench/compactor_labels.py [--quiet]

Real memory files with a label for each entry are read from the folder that REVERIE_INPUTS names, by default
``../shared/inputs`` beside the checkout; a text of theirs is printed to the terminal and nowhere else.
An entry counts by its own lead; a bullet inside an h3-h6 entry that is moved counts with that.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from reverie.markdown import entries, unified
from reverie_plugins.compactor.marker import terminal
from reverie_plugins.compactor.plan import plan

ROOT = Path(__file__).parents[2]
INPUTS = Path(os.environ.get("REVERIE_INPUTS") or ROOT.parent / "shared" / "inputs")
PRECISION, MOST_WRONG, RECALL = 0.95, 3, 0.75
WIDTH = 110


class Score(NamedTuple):
    """Moves that a reader would make or not, and marked entries that a reader would move, moved or not."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    missed: int = 0

    def plus(self, other: Score) -> Score:
        return Score(*(mine + its for mine, its in zip(self, other, strict=True)))

    @property
    def precision(self) -> float:
        moved = self.right + self.wrong
        return self.right / moved if moved else 1.0

    @property
    def recall(self) -> float:
        marked = self.found + self.missed
        return self.found / marked if marked else 1.0


class Place(NamedTuple):
    """An entry of a file: its lines, its level, its text, and whether it is moved."""

    first: int
    last: int
    level: int
    text: str
    moved: bool


def places(text: str) -> Iterator[Place]:
    """Every entry, and whether the whole plan moves it."""
    moved = [finished.text for finished in plan(text, "2026-03-04").finished]
    plain = unified(text)
    for entry in entries(text):
        own = text[entry.start : entry.end]
        leaves = own in moved
        if leaves:
            moved.remove(own)
        first = plain.count("\n", 0, entry.start) + 1
        yield Place(first, plain.count("\n", 0, entry.end - 1) + 1, entry.level, own, leaves)


def score(labels: list[dict[str, Any]], text: str) -> tuple[Score, list[str]]:
    """The score of one file, and the lines that were got wrong."""
    known = {place.first: place for place in places(text)}
    headed = [place for place in known.values() if place.level and place.moved]
    total, confused = Score(), []
    for label in labels:
        line = label["lines"][0]
        if label["type"] == "numbered" or any(place.first < line <= place.last for place in headed):
            continue
        place = known.get(line)
        moved, done = place is not None and place.moved, label["human_done"]
        marked = done and label["terminal"]
        total = total.plus(Score(moved and done, moved and not done, marked and moved, marked and not moved))
        if moved and not done:
            confused.append(f"  wrong  {line}: {label['lead'][:WIDTH]}")
        elif marked and not moved:
            why = terminal(place.text).reason or "barred by what is around it" if place else "inside another entry"
            confused.append(f"  missed {line} ({why}): {label['lead'][:WIDTH]}")
    return total, confused


def row(name: str, found: Score) -> str:
    return (
        f"{name:12} {found.right:6} {found.wrong:6} {found.precision:10.3f} "
        f"{found.found:6} of {found.found + found.missed:<4} {found.recall:7.3f}"
    )


def main() -> int:
    folder = INPUTS / "labels"
    if not folder.is_dir():
        print(f"no labels in {folder}: set REVERIE_INPUTS")
        return 0
    total, confused = Score(), []
    print(f"{'file':12} {'right':>6} {'wrong':>6} {'precision':>10} {'found':>6} {'marked':7} {'recall':>7}")
    for path in sorted(folder.glob("*.json")):
        label = json.loads(path.read_text("utf-8"))
        text = (INPUTS / label["file"]).read_bytes().decode("utf-8", "surrogateescape")
        found, lines = score(label["entries"], text)
        total = total.plus(found)
        if any(found):
            print(row(path.stem, found))
        confused += [f"{path.stem}:", *lines] if lines else []
    print(row("all", total))
    if "--quiet" not in sys.argv:
        print(*confused, sep="\n")
    held = total.precision >= PRECISION and total.wrong <= MOST_WRONG and total.recall >= RECALL
    print("targets: " + ("held" if held else f"MISSED ({PRECISION}, {MOST_WRONG} wrong, {RECALL})"))
    return not held


if __name__ == "__main__":
    sys.exit(main())
