"""A kill, a full disk or a foreign writer at any operation: every file old or new, nothing lost, nothing twice."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.workspace import Folder
from reverie.workspace.disk import Disk
from reverie_hookspecs import Edit, Moved, Run, Snapshot

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
LOOKS = {os.lstat, os.fstat, os.read, os.pread, os.scandir}
MEMORY = "# M\n\n- keep\n- gone DONE\n- tail\n"
CUT = "# M\n\n- keep\n- tail\n"
BLOCK = "- gone DONE\n"
ARCHIVE = "memory/archive/completed.md"


class Death(BaseException):
    """The process is no more: nothing it does afterwards reaches the disk."""


class Fate(Disk):
    """Counts the operations and does something at one of them."""

    def __init__(self, at: int = 10**9, how: str = "before") -> None:
        self.at = at
        self.how = how
        self.count = 0
        self.dead = False
        self.meddle: Callable[[], None] | None = None
        self.trace: list[str] = []

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.dead:
            raise Death
        if operation in LOOKS:
            return operation(*args, **kwargs)
        self.count += 1
        name = getattr(operation, "__name__", "?")
        self.trace.append(name)
        due = self.count == self.at
        if due and self.how == "before":
            self.dead = True
            raise Death
        if due and self.how == "half" and operation is os.write:
            os.write(args[0], args[1][: len(args[1]) // 2])
            self.dead = True
            raise Death
        if due and self.how in ("ENOSPC", "EACCES"):
            if operation is os.write:
                os.write(args[0], args[1][: len(args[1]) // 2])
            number = getattr(errno, self.how)
            raise OSError(number, os.strerror(number))
        if due and self.meddle:
            self.meddle()
        done = None if operation is os.fsync else operation(*args, **kwargs)
        if due and self.how == "after":
            self.dead = True
            raise Death
        return done


def a_run(number: int = 1) -> Run:
    return Run(f"x-{number}", "x", "dream", STARTED.replace(minute=number))


def sweep(snapshot: Snapshot) -> Edit | None:
    if BLOCK not in snapshot.text:
        return None
    return Edit(snapshot.text.replace(BLOCK, "", 1), (Moved(ARCHIVE, BLOCK, "# Completed"),))


def start(root: Path, archived: str | None = "# Completed\n\n- old DONE\n") -> None:
    root.mkdir()
    (root / "MEMORY.md").write_text(MEMORY)
    if archived is not None:
        (root / "memory/archive").mkdir(parents=True)
        (root / ARCHIVE).write_text(archived)


def text(root: Path, path: str) -> str:
    return (root / path).read_text() if (root / path).exists() else "-"


def leftovers(root: Path) -> list[str]:
    return [str(path) for path in root.rglob(".reverie-*")]


def commit(files: Folder, number: int = 1) -> str:
    return files.commit("MEMORY.md", sweep, a_run(number)).outcome


def killed(root: Path, at: int, how: str, act: Callable[[Folder], object]) -> Fate:
    disk = Fate(at, how)
    try:
        act(Folder.at(root, disk=disk))
    except Death:
        pass
    return disk


@pytest.mark.parametrize("how", ["before", "after", "half"])
@pytest.mark.parametrize("archived", [None, "# Completed\n\n- old DONE", "# Completed\n\n- old DONE\n"])
def test_a_commit_killed_at_any_operation_leaves_old_or_new_and_is_repaired(
    tmp_path: Path, how: str, archived: str | None
) -> None:
    at = 0
    while True:
        at += 1
        root = tmp_path / str(at)
        start(root, archived)
        disk = killed(root, at, how, commit)
        if not disk.dead and disk.count < at:
            break
        assert text(root, "MEMORY.md") in (MEMORY, CUT), (at, disk.trace)
        if text(root, "MEMORY.md") == CUT:
            assert text(root, ARCHIVE).endswith(BLOCK)
        files = Folder.at(root)
        files.repair()
        new = text(root, "MEMORY.md") == CUT
        assert text(root, ARCHIVE).count(BLOCK) == new, (at, disk.trace)
        assert new or text(root, ARCHIVE) == ("-" if archived is None else archived), (at, disk.trace)
        assert not leftovers(root)
        assert not files.journal.open_intents()
        commit(Folder.at(root), 2)
        assert text(root, "MEMORY.md") == CUT
        assert text(root, ARCHIVE).count(BLOCK) == 1
    assert at > 20
