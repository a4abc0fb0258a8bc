"""A kill, a full disk or a foreign writer at any operation: every file old or new, nothing lost, nothing twice."""

from __future__ import annotations

import errno
import itertools
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from reverie.undo import undo
from reverie.workspace import Folder
from reverie.workspace.disk import Disk
from reverie_hookspecs import Edit, Moved, Refused, ReverieError, Run, Snapshot

STARTED = datetime(2026, 3, 4, 5, 0, 7, tzinfo=UTC)
LOOKS = {os.lstat, os.fstat, os.read, os.pread, os.scandir}
MEMORY = "# M\n\n- keep\n- gone DONE\n- tail\n"
CUT = "# M\n\n- keep\n- tail\n"
BLOCK = "- gone DONE\n"
ARCHIVE = "memory/archive/completed.md"
OLD = "# Completed\n\n- old DONE\n"
Tree = dict[str, tuple[bytes, int]]


class Death(BaseException):
    """The process is no more: nothing it does afterwards reaches the disk."""


class Fate(Disk):
    """Counts the operations that change something or fail, and does something at one of them.

    ``how``: die ``before`` or ``after`` it or ``half`` way through a write, or let it fail with an error's name.
    ``meddle`` is what somebody else does just before operation ``when``.
    """

    def __init__(self, at: int = 0, how: str = "", when: int = 0, meddle: Callable[[], None] | None = None) -> None:
        self.at, self.how, self.when, self.meddle = at, how, when, meddle
        self.count = 0
        self.dead = False
        self.meddled = False

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.dead:
            raise Death
        if operation in LOOKS:
            return operation(*args, **kwargs)
        self.count += 1
        if self.count == self.when and self.meddle:
            self.meddled = True
            self.meddle()
        due = self.count == self.at
        if due and operation is os.write and self.how not in ("before", "after"):
            os.write(args[0], args[1][: len(args[1]) // 2])
        if (due and self.how == "before") or (due and self.how == "half" and operation is os.write):
            self.die()
        if due and self.how in ("ENOSPC", "EACCES", "EIO"):
            number = getattr(errno, self.how)
            raise OSError(number, os.strerror(number))
        done = None if operation is os.fsync else operation(*args, **kwargs)
        if due and self.how == "after":
            if isinstance(done, int) and operation is os.open:
                os.close(done)  # as the end of a process does
            self.die()
        return done

    def die(self) -> None:
        self.dead = True
        raise Death


def a_run(number: int) -> Run:
    return Run(f"x-{number}", "x", "dream", STARTED.replace(minute=number))


def sweep(snapshot: Snapshot) -> Edit | None:
    if BLOCK not in snapshot.text:
        return None
    return Edit(snapshot.text.replace(BLOCK, "", 1), (Moved(ARCHIVE, BLOCK, "# Completed"),))


def workspace(root: Path, archived: str | None = OLD) -> Path:
    root.mkdir()
    (root / "MEMORY.md").write_text(MEMORY)
    (root / "USER.md").write_text("u\n")
    (root / "USER.md").chmod(0o600)
    if archived is not None:
        (root / "memory/archive").mkdir(parents=True)
        (root / ARCHIVE).write_text(archived)
    return root


def text(root: Path, path: str) -> str:
    file = root / path
    return file.read_text() if file.exists() else "-"


def tree(root: Path) -> Tree:
    """Every file but the records, with its mode; folders count, too."""
    found: Tree = {}
    for path in root.rglob("*"):
        if ".dreaming" not in path.parts:
            found[str(path.relative_to(root))] = (path.read_bytes() if path.is_file() else b"/", path.stat().st_mode)
    return found


def safe(root: Path) -> Folder:
    """The files on a disk that does what it is told, quickly."""
    return Folder.at(root, disk=Fate())


def clean(files: Folder) -> bool:
    return not files.journal.open_intents() and not list(files.root.rglob(".reverie-*"))


def commit(files: Folder, number: int) -> str:
    return files.commit("MEMORY.md", sweep, a_run(number)).outcome


def append_new(files: Folder, number: int) -> None:
    files.append("memory/note.md", "- n\n", a_run(number), heading="# N")


def append_old(files: Folder, number: int) -> None:
    files.append("USER.md", "- n\n- a long line that may be torn\n", a_run(number))


def replace(files: Folder, number: int) -> None:
    files.replace(files.read("USER.md"), "another text\n", a_run(number))


def create(files: Folder, number: int) -> None:
    files.replace(files.read("memory/a/b.md"), "a text\n", a_run(number))


def remove(files: Folder, number: int) -> None:
    files.remove(files.read("USER.md"), a_run(number))


def rename(files: Folder, number: int) -> None:
    files.rename(files.read("USER.md"), "memory/q/z.md", a_run(number))


def take_back(files: Folder, number: int) -> None:
    undo(files, "x-1", a_run(number))


ACTS = [commit, append_new, append_old, replace, create, remove, rename]
SETTINGS = [None, OLD, OLD.rstrip("\n")]


def fates(how: str, fresh: Callable[[], Path], act: Callable[[Folder, int], object]) -> Iterator[tuple[Path, str]]:
    """The act on a fresh workspace, once for each operation it has; the workspace, and how it went."""
    for at in itertools.count(1):
        root, disk = fresh(), Fate(at, how)
        end = "done"
        try:
            act(Folder.at(root, disk=disk), 2)
        except Death:
            end = "killed"
        except ReverieError as error:
            end = str(error)
        if disk.count < at:
            return
        yield root, end


def freshly(tmp_path: Path, archived: str | None = None) -> Callable[[], Path]:
    numbers = itertools.count(1)
    return lambda: workspace(tmp_path / str(next(numbers)), archived)


@pytest.mark.parametrize("how", ["before", "after", "half"])
@pytest.mark.parametrize("act", ACTS)
def test_a_write_killed_at_any_operation_leaves_old_or_new_and_the_next_run_puts_it_right(
    tmp_path: Path, act: Callable[[Folder, int], object], how: str
) -> None:
    fresh = freshly(tmp_path)
    old, reference = tree(fresh()), fresh()
    act(safe(reference), 2)
    new = tree(reference)
    tried = 0
    for root, _ in fates(how, fresh, act):
        for path, found in tree(root).items():
            torn = how == "half" and act is append_old and found[0].startswith(b"u\n")
            assert found in (old.get(path), new.get(path)) or ".reverie-" in path or torn, path
        assert act in (remove, rename) or all(path in tree(root) for path in old)
        files = safe(root)
        files.repair()
        assert tree(root) in (old, new)
        assert clean(files)
        if tree(root) == old:
            act(safe(root), 3)
            assert tree(root) == new
            undo(safe(root), "x-3", a_run(4))
        else:
            undo(safe(root), "x-2", a_run(4))
        assert tree(root) == old
        tried += 1
    assert tried > 8


@pytest.mark.parametrize("how", ["ENOSPC", "EACCES", "EIO"])
@pytest.mark.parametrize("act", ACTS)
def test_a_write_that_fails_at_any_operation_leaves_nothing_behind_and_says_so(
    tmp_path: Path, act: Callable[[Folder, int], object], how: str
) -> None:
    fresh = freshly(tmp_path)
    old, reference = tree(fresh()), fresh()
    act(safe(reference), 2)
    new = tree(reference)
    failed = 0
    for root, end in fates(how, fresh, act):
        assert tree(root) == (new if end == "done" else old), end
        assert end == "done" or "was not written" in end or "cannot be read" in end
        if end != "done":
            act(safe(root), 3)
            assert tree(root) == new
            failed += 1
    assert failed > 4


@pytest.mark.parametrize("archived", SETTINGS)
def test_a_block_stands_in_its_archive_once_whatever_kill_came_before(tmp_path: Path, archived: str | None) -> None:
    for how in ("before", "half"):
        (tmp_path / how).mkdir()
        for root, _ in fates(how, freshly(tmp_path / how, archived), commit):
            assert BLOCK in text(root, "MEMORY.md") + text(root, ARCHIVE)
            commit(safe(root), 3)
            assert text(root, "MEMORY.md") == CUT
            assert text(root, ARCHIVE).count(BLOCK) == 1


def append_line(root: Path) -> None:
    with (root / "MEMORY.md").open("a") as file:
        file.write("- foreign\n")


def edit_in_place(root: Path) -> None:
    (root / "MEMORY.md").write_text("- foreign\n" + (root / "MEMORY.md").read_text())


def save_atomically(root: Path) -> None:
    (root / "m.tmp").write_text("- foreign\n" + (root / "MEMORY.md").read_text())
    (root / "m.tmp").replace(root / "MEMORY.md")


def append_to_archive(root: Path) -> None:
    (root / ARCHIVE).parent.mkdir(parents=True, exist_ok=True)
    with (root / ARCHIVE).open("a") as file:
        file.write("- foreign\n")


MEDDLING = [append_line, edit_in_place, save_atomically, append_to_archive]


def everything(root: Path) -> str:
    return text(root, "MEMORY.md") + text(root, ARCHIVE)


@pytest.mark.parametrize("archived", [None, OLD])
@pytest.mark.parametrize("meddle", MEDDLING)
def test_b24b_a_file_written_once_by_somebody_else_at_any_operation_keeps_both_texts(
    tmp_path: Path, meddle: Callable[[Path], None], archived: str | None
) -> None:
    for when in itertools.count(1):
        root = workspace(tmp_path / str(when), archived)
        disk = Fate(when=when, meddle=lambda root=root: meddle(root))  # type: ignore[misc]
        assert commit(Folder.at(root, disk=disk), 1) == "written"
        if not disk.meddled:
            assert when > 20
            return
        assert everything(root).count("- foreign\n") == 1
        assert BLOCK not in text(root, "MEMORY.md")
        assert text(root, ARCHIVE).count(BLOCK) == 1
        assert clean(safe(root))


@pytest.mark.parametrize("archived", [None, OLD])
@pytest.mark.parametrize("meddle", MEDDLING)
def test_a_kill_after_somebody_else_wrote_loses_no_line_and_doubles_none(
    tmp_path: Path, meddle: Callable[[Path], None], archived: str | None
) -> None:
    numbers = itertools.count()
    for when, later in itertools.product(range(3, 30, 2), (0, 1, 2, 4, 7, 11, 16)):
        for how in ("before", "after"):
            root = workspace(tmp_path / str(next(numbers)), archived)
            disk = Fate(when + later, how, when, lambda root=root: meddle(root))  # type: ignore[misc]
            with suppress(Death):
                commit(Folder.at(root, disk=disk), 1)
            safe(root).repair()
            assert everything(root).count("- foreign\n") == disk.meddled
            assert BLOCK in everything(root)
            assert clean(safe(root))
            commit(safe(root), 2)
            assert everything(root).count("- foreign\n") == disk.meddled
            assert everything(root).count(BLOCK) == 1


class Restless(Fate):
    """Somebody else changes MEMORY.md before every single operation."""

    def __init__(self, root: Path, write: Callable[[Path, int], None]) -> None:
        super().__init__()
        self.root, self.write = root, write

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        if operation not in LOOKS:
            self.write(self.root / "MEMORY.md", self.count + 1)
        return super().call(operation, *args, **kwargs)


def anew(file: Path, number: int) -> None:
    file.write_text(f"{MEMORY}- edit {number}\n")


def anew_atomically(file: Path, number: int) -> None:
    file.with_suffix(".tmp").write_text(f"{MEMORY}- edit {number}\n")
    file.with_suffix(".tmp").replace(file)


def prefixed(file: Path, number: int) -> None:
    file.write_text(f"- edit {number}\n{file.read_text()}")


@pytest.mark.parametrize("archived", [None, OLD])
@pytest.mark.parametrize("write", [anew, anew_atomically, prefixed])
def test_b24_a_file_edited_at_every_try_is_left_alone_and_nothing_is_written_anywhere(
    tmp_path: Path, write: Callable[[Path, int], None], archived: str | None
) -> None:
    root = workspace(tmp_path / "w", archived)
    disk = Restless(root, write)
    assert commit(Folder.at(root, disk=disk), 1) == "contested"
    assert text(root, ARCHIVE) == ("-" if archived is None else archived)
    assert f"- edit {disk.count}\n" in text(root, "MEMORY.md")
    assert BLOCK in text(root, "MEMORY.md")
    assert not (root / "memory").exists() or archived
    assert not list((root / ".dreaming").glob("backups/*"))
    assert clean(safe(root))


@pytest.mark.parametrize("how", ["before", "after", "half"])
def test_an_undo_killed_at_any_operation_is_completed_by_the_next(tmp_path: Path, how: str) -> None:
    def undone() -> Path:
        root = fresh()
        files = safe(root)
        commit(files, 1)
        append_new(files, 1)
        remove(files, 1)
        return root

    fresh = freshly(tmp_path)
    old, new = tree(fresh()), tree(undone())
    for root, _ in fates(how, undone, take_back):
        safe(root).repair()
        assert all(found in (old.get(path), new.get(path)) for path, found in tree(root).items())
        undo(safe(root), "x-1", a_run(3))
        assert tree(root) == old
        assert clean(safe(root))


@pytest.mark.parametrize("how", ["before", "after", "half"])
def test_a_repair_killed_at_any_operation_is_completed_by_the_next(tmp_path: Path, how: str) -> None:
    numbers = itertools.count()
    for first in (8, 12, 15, 19, 22, 25, 28):
        for at in itertools.count(1):
            root = workspace(tmp_path / str(next(numbers)), None)
            with suppress(Death):
                commit(Folder.at(root, disk=Fate(first, "half" if first == 15 else "after")), 1)
            disk = Fate(at, how)
            with suppress(Death):
                Folder.at(root, disk=disk).repair()
            if disk.count < at:
                break
            commit(safe(root), 2)
            assert (text(root, "MEMORY.md"), text(root, ARCHIVE).count(BLOCK)) == (CUT, 1)
            assert clean(safe(root))


def test_blocks_left_by_a_kill_are_not_archived_again_though_their_file_was_edited_since(tmp_path: Path) -> None:
    killed = (root for root, end in fates("after", freshly(tmp_path, OLD), commit) if end == "killed")
    root = next(root for root in killed if BLOCK in text(root, ARCHIVE))
    assert text(root, "MEMORY.md") == MEMORY
    edit_in_place(root)
    said = safe(root).repair()
    assert [line for line in said if "they stay archived" in line], said
    assert text(root, ARCHIVE).count(BLOCK) == 1
    assert commit(safe(root), 2) == "written"
    assert text(root, ARCHIVE).count(BLOCK) == 1
    (root / "MEMORY.md").write_text(MEMORY)
    assert commit(safe(root), 3) == "written"
    assert text(root, ARCHIVE).count(BLOCK) == 2, "an equal block of another day is archived"


def test_a_decision_that_raises_leaves_nothing_behind(tmp_path: Path) -> None:
    root = workspace(tmp_path / "w")
    old, calls = tree(root), []

    def decide(snapshot: Snapshot) -> Edit | None:
        calls.append(1)
        if len(calls) == 1:
            append_line(root)
            return sweep(snapshot)
        raise Refused("no")

    with pytest.raises(Refused, match="no"):
        Folder.at(root).commit("MEMORY.md", decide, a_run(1))
    (root / "MEMORY.md").write_text(MEMORY)
    assert tree(root) == old
    assert clean(safe(root))


KILLER = """
import os, signal, sys
from datetime import UTC, datetime
from reverie.workspace import Folder
from reverie.workspace.disk import Disk
from reverie_hookspecs import Edit, Moved, Run
class Mortal(Disk):
    left = int(sys.argv[2])
    def call(self, operation, /, *args, **kwargs):
        if operation in (os.write, os.fsync, os.rename, os.link, os.unlink) or operation.__name__ == "_rename":
            self.left -= 1
            if self.left < 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return operation(*args, **kwargs)
block = "- gone DONE\\n"
def decide(s):
    return Edit(s.text.replace(block, ""), (Moved("memory/archive/completed.md", block, "# Completed"),))
run = Run("x-1", "x", "dream", datetime(2026, 3, 4, tzinfo=UTC))
Folder.at(sys.argv[1], disk=Mortal()).commit("MEMORY.md", decide, run)
"""


@pytest.mark.parametrize("left", [2, 5, 8, 10, 12, 13, 14, 16])
def test_a_process_killed_by_the_system_leaves_old_or_new_and_no_lock(tmp_path: Path, left: int) -> None:
    root = workspace(tmp_path / "w", None)
    ended = subprocess.run([sys.executable, "-c", KILLER, str(root), str(left)], check=False, timeout=60)
    assert ended.returncode == -signal.SIGKILL
    assert text(root, "MEMORY.md") in (MEMORY, CUT)
    Folder.at(root).repair()
    assert commit(Folder.at(root), 2) in ("written", "unchanged")
    assert (text(root, "MEMORY.md"), text(root, ARCHIVE).count(BLOCK)) == (CUT, 1)
    assert clean(safe(root))


def test_errors_are_told_with_what_to_do(tmp_path: Path) -> None:
    root = workspace(tmp_path / "w")
    with pytest.raises(ReverieError, match=r"MEMORY\.md was not written: .* free some space"):
        commit(Folder.at(root, disk=Fate(12, "ENOSPC")), 1)


class NoExchange(Fate):
    """A system that cannot exchange two names, nor tell who has a file open."""

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        if operation.__name__ in ("_rename", "fcntl"):
            raise OSError(errno.ENOSYS, "not here")
        return super().call(operation, *args, **kwargs)


class NoLinks(NoExchange):
    """A file system without hard links, besides."""

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        if operation is os.link:
            raise OSError(errno.EPERM, "not here")
        return super().call(operation, *args, **kwargs)


@pytest.mark.parametrize("how", ["before", "after", "half"])
@pytest.mark.parametrize("kind", [NoExchange, NoLinks])
def test_lesser_systems_keep_old_or_new_too(
    tmp_path: Path, kind: type[Fate], how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.workspace.disk.GRACE", 0)
    for act in (commit, remove, rename, create):
        fresh = freshly(tmp_path / act.__name__)
        (tmp_path / act.__name__).mkdir()
        old, reference = tree(fresh()), fresh()
        act(Folder.at(reference, disk=kind()), 2)
        new = tree(reference)
        for at in itertools.count(1):
            root, disk = fresh(), kind(at, how)
            with suppress(Death):
                act(Folder.at(root, disk=disk), 2)
            if disk.count < at:
                break
            Folder.at(root, disk=kind()).repair()
            assert tree(root) in (old, new)
            assert clean(safe(root))


@pytest.mark.parametrize("meddle", MEDDLING)
def test_a_system_that_cannot_exchange_names_is_blind_for_one_instant_and_to_one_way_of_saving(
    tmp_path: Path, meddle: Callable[[Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reverie.workspace.disk.GRACE", 0)
    lost = 0
    for when in itertools.count(1):
        root = workspace(tmp_path / str(when), None)
        disk = NoExchange(when=when, meddle=lambda root=root: meddle(root))  # type: ignore[misc]
        assert commit(Folder.at(root, disk=disk), 1) == "written"
        if not disk.meddled:
            break
        lost += 1 - everything(root).count("- foreign\n")
        assert text(root, ARCHIVE).count(BLOCK) == 1
        assert clean(safe(root))
    assert lost == (meddle is save_atomically)


def test_what_is_written_to_a_replaced_file_through_an_old_handle_is_carried_over_later(tmp_path: Path) -> None:
    root = workspace(tmp_path / "w")
    files = Folder.at(root)
    with (root / "MEMORY.md").open("a") as held:
        assert commit(files, 1) == "written"
        assert len(list(root.glob(".reverie-*.old"))) == 1
        print("- late", file=held, flush=True)
        files.append("USER.md", "- other\n", a_run(2))
        assert text(root, "MEMORY.md") == f"{CUT}- late\n"
        print("- late", file=held, flush=True)
    files.repair()
    assert text(root, "MEMORY.md") == f"{CUT}- late\n- late\n"
    assert clean(files)
    undo(files, "x-1", a_run(3))
    assert text(root, "MEMORY.md") == f"{MEMORY}- late\n- late\n"


def test_a_replaced_file_rewritten_through_an_old_handle_is_kept_among_the_pre_images(tmp_path: Path) -> None:
    root = workspace(tmp_path / "w")
    with (root / "MEMORY.md").open("r+") as held:
        assert commit(Folder.at(root), 1) == "written"
        held.write("theirs")
    Folder.at(root).repair()
    assert text(root, "MEMORY.md") == CUT
    assert any("theirs" in file.read_text() for file in (root / ".dreaming/backups").iterdir())
    assert clean(safe(root))
