"""Many processes on one workspace: reverie's own writers, killed ones, and programs that know nothing of them."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from reverie.workspace import Folder
from reverie_hookspecs import Edit, Moved, Run, Snapshot

NOTE, ARCHIVE, MEMORY = "memory/note.md", "memory/archive/completed.md", "MEMORY.md"
EDITS = 20


def own(root: Path, name: str) -> None:
    """Add lines to MEMORY.md, move some to the archive, note others; tell each line that was written."""
    files = Folder.at(root)
    files.wait = 120
    for number in range(EDITS):
        run = Run(f"{name}-{number}", name, "dream", datetime.now(UTC))
        line = f"- own {name} {number}\n"
        print(f"+{line}", end="", flush=True)
        if number % 3 == 0:
            done = files.commit(MEMORY, partial(added, line=line), run).outcome
        elif number % 3 == 1:
            done = "contested"
            files.commit(MEMORY, lambda s: moved(s, name), run)
        else:
            done = "written"
            files.append(NOTE, line, run)
        print(f"{'=' if done == 'written' else '-'}{line}", end="", flush=True)


def added(snapshot: Snapshot, line: str) -> Edit:
    return Edit(snapshot.text + line)


def moved(snapshot: Snapshot, name: str) -> Edit | None:
    """Move the first of our lines to the archive."""
    mine = [line for line in snapshot.text.splitlines(keepends=True) if line.startswith(f"- own {name} ")]
    return Edit(snapshot.text.replace(mine[0], "", 1), (Moved(ARCHIVE, mine[0]),)) if mine else None


def foreign(root: Path, name: str) -> None:
    """Append lines as any program does: open, one write, close, with a pause in between now and then."""
    dice = random.Random(name)
    for number in range(EDITS * 3):
        line = f"- foreign {name} {number}\n"
        fd = os.open(root / dice.choice((MEMORY, MEMORY, ARCHIVE, NOTE)), os.O_WRONLY | os.O_APPEND)
        if dice.random() < 0.3:
            time.sleep(dice.random() * 0.002)
        os.write(fd, line.encode())
        os.close(fd)
        print(f"={line}", end="", flush=True)
        time.sleep(dice.random() * 0.006)


def start(kind: str, root: Path, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, kind, str(root), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "memory/archive").mkdir(parents=True)
    for path in (MEMORY, ARCHIVE, NOTE):
        (tmp_path / path).write_text(f"# {path}\n")
    return tmp_path


def lines(root: Path) -> Counter[str]:
    return Counter(line for path in (MEMORY, ARCHIVE, NOTE) for line in (root / path).read_text().splitlines())


def finished(process: subprocess.Popen[str]) -> list[str]:
    said, errors = process.communicate(timeout=200)
    assert process.returncode in (0, -signal.SIGKILL), errors
    return said.splitlines()


def clean(root: Path) -> bool:
    return not list(root.rglob(".reverie-*")) and not Folder.at(root).journal.open_intents()


def test_eight_writers_and_four_strangers_lose_and_double_no_line(root: Path) -> None:
    started = [start("own", root, f"w{n}") for n in range(8)] + [start("foreign", root, f"f{n}") for n in range(4)]
    said = [line for process in started for line in finished(process)]
    written = {line[1:] for line in said if line.startswith("=")}
    found = lines(root)
    assert {line: found[line] for line in written if found[line] != 1} == {}
    assert {line: count for line, count in found.items() if count > 1} == {}
    assert len(written) > 8 * EDITS // 4
    assert clean(root)


def test_writers_killed_at_random_lose_and_double_no_line_of_anybody(root: Path) -> None:
    dice = random.Random(7)
    strangers = [start("foreign", root, f"f{n}") for n in range(2)]
    said: list[str] = []
    for number in range(8):
        process = start("own", root, f"k{number}")
        assert process.stdout
        said += [process.stdout.readline().rstrip("\n")]  # it has begun
        time.sleep(dice.random() * 0.08)
        process.kill()
        said += finished(process)
    said += [line for process in strangers for line in finished(process)]
    Folder.at(root).repair()
    found = lines(root)
    written = {line[1:] for line in said if line.startswith("=")}
    assert {line: found[line] for line in written if found[line] != 1} == {}
    assert {line: count for line, count in found.items() if count > 1} == {}
    assert clean(root)


if __name__ == "__main__":
    {"own": own, "foreign": foreign}[sys.argv[1]](Path(sys.argv[2]), sys.argv[3])
