"""A storm on one archive: readers, indexers, a writer of notes and nights, all at once."""

from __future__ import annotations

import logging
import sqlite3
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Final

from reverie.kernel import Kernel
from reverie.markdown import entry_hash
from reverie_hookspecs import Refused

from .nights import Proposer, add, deployed, ended, forked

ACTORS: Final = ("reader", "reader", "reader", "reader", "indexer", "indexer", "writer", "night")
NOTES: Final = 40
"""Notes that stand from the beginning and never change."""
LINES: Final = 60
"""Lines of a note that is rewritten whole: a reader sees all of one version, or all of the other."""


def note(word: str) -> str:
    return "".join(
        f"- {word} stands in line {number} of this note, with more words around it\n" for number in range(LINES)
    )


def steady(number: int) -> str:
    return f"- steady{number} never changes\n"


def furnished(folder: Path) -> Path:
    root = folder / "alfred"
    (root / "memory").mkdir(parents=True)
    (root / "AGENTS.md").write_text("Be kind.\n")
    (root / "MEMORY.md").write_text("# Memory\n\n- tea\n")
    (root / "memory" / "changing.md").write_text(note("evenly"))
    for number in range(NOTES):
        (root / "memory" / f"still{number}.md").write_text(steady(number))
    return root


class Wrong(logging.Handler):
    """Takes note of every warning: a retrieval that was not noted is one."""

    def __init__(self, told: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self.told = told

    def emit(self, record: logging.LogRecord) -> None:
        if "were not noted" in record.getMessage() or "locked" in record.getMessage():
            self.told(f"wrong {record.getMessage()}")


def reader(made: Kernel, root: Path, turn: int, told: Callable[[str], None]) -> None:
    """A still note is always found, and of the changing one only one version."""
    agent, number = made.agent(), turn % NOTES
    assert made.archive is not None
    hits = made.archive.search(agent.corpus, f"steady{number}", 1)
    if [hit.path for hit in hits] != [f"memory/still{number}.md"]:
        told(f"wrong steady{number} finds {[hit.path for hit in hits]}")
    told("".join(f"noted {hit.entry_hash}" for hit in hits))
    found = made.archive.search(agent.corpus, "evenly oddly", 20)
    words = {word for hit in found for word in ("evenly", "oddly") if word in hit.snippet and "changing" in hit.path}
    for hit in found:
        told(f"noted {hit.entry_hash}" if hit.entry_hash else "")
    if len(words) != 1:
        told(f"wrong the changing note shows {sorted(words)}")


def indexer(made: Kernel, root: Path, turn: int, told: Callable[[str], None]) -> None:
    made.index(made.agent().corpus)


def writer(made: Kernel, root: Path, turn: int, told: Callable[[str], None]) -> None:
    new = root / "memory" / ".new"
    new.write_text(note("oddly" if turn % 2 else "evenly"))
    new.rename(root / "memory" / "changing.md")
    (root / "memory" / f"more{turn % 50}.md").write_text(f"- turn {turn} of the writer\n")
    time.sleep(0.01)


def night(made: Kernel, root: Path, turn: int, told: Callable[[str], None]) -> None:
    try:
        outcome = made.run(made.agent()).outcome
    except Refused:
        return
    if outcome == "error":
        told("wrong a night ended in error")


ACTS: Final = {"reader": reader, "indexer": indexer, "writer": writer, "night": night}


def act(kind: str, root: Path, until: float, out: Path) -> None:
    made = deployed(root, Proposer((add("- dreamt of the sea"),)) if kind == "night" else Proposer())
    with out.open("w", buffering=1) as file:

        def told(line: str) -> None:
            if line:
                print(line, file=file)

        logging.getLogger().addHandler(Wrong(told))
        turn = 0
        while time.time() < until:
            try:
                ACTS[kind](made, root, turn, told)
            except Exception as error:
                told(f"wrong {kind}: {type(error).__name__}: {error}")
            turn += 1
        told(f"turns {turn}")


def storm(folder: Path, seconds: float) -> tuple[list[str], dict[str, int]]:
    """Let it blow: what went wrong, and how often each kind of actor had its turn."""
    root = furnished(folder)
    made = deployed(root)
    made.index(made.agent().corpus)
    until = time.time() + seconds
    outs = [folder / f"told-{number}" for number in range(len(ACTORS))]
    children = [
        forked(lambda kind=kind, out=out: act(kind, root, until, out))  # type: ignore[misc]
        for kind, out in zip(ACTORS, outs, strict=True)
    ]
    codes = [ended(child) for child in children]
    lines = [line for out in outs for line in out.read_text().splitlines()]
    wrong = [line for line in lines if line.startswith("wrong")] + [f"ended with {code}" for code in codes if code]
    turns: Counter[str] = Counter()
    for kind, out in zip(ACTORS, outs, strict=True):
        turns[kind] += int(out.read_text().rsplit("turns ", 1)[-1])
    made.index(made.agent().corpus)
    return wrong + lost(made, lines), dict(turns)


def lost(made: Kernel, lines: list[str]) -> list[str]:
    """Retrievals of the notes that never change that were not counted; what is gone meanwhile counts anew."""
    noted = Counter(line.removeprefix("noted ") for line in lines if line.startswith("noted "))
    with closing(sqlite3.connect(made.agent().corpus.database)) as database:
        rows = database.execute("SELECT entry_hash, retrieval_count FROM kb_entry_lifecycle").fetchall()
    counted = {bytes(key).hex(): count for key, count in rows}
    still = [entry_hash(steady(number)) for number in range(NOTES)]
    return [
        f"{key[:8]} was noted {noted[key]} times and counts {counted.get(key, 0)}"
        for key in still
        if counted.get(key, 0) != noted[key]
    ]
