"""Taking runs back: byte for byte, merged with what was written since, or not at all."""

from __future__ import annotations

import itertools
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reverie.journal import Write, changed, digest
from reverie.undo import Effect, Store, Trail, changes, lifted, restorable, undo, verdict
from reverie.workspace import Folder
from reverie.workspace.disk import Disk
from reverie_hookspecs import ABSENT, Edit, Moved, NotFound, Refused, Run

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ARCHIVE = "memory/archive/completed.md"
A, B, C = b"a\n", b"b\n", b"c\n"


def a_run(number: int) -> Run:
    return Run(f"x-{number}", "x", "dream", STARTED.replace(minute=number))


def tree(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file and folder but the records, with its mode."""
    found = {}
    for path in root.rglob("*"):
        if not {".dreaming", ".history"} & set(path.parts):
            found[str(path.relative_to(root))] = (path.read_bytes() if path.is_file() else b"/", path.stat().st_mode)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "w"
    root.mkdir()
    (root / "MEMORY.md").write_bytes(b"\xef\xbb\xbf- a\r\n- b DONE\r\n- caf\xe9")
    (root / "USER.md").write_text("u\n")
    (root / "USER.md").chmod(0o600)
    (root / "note.md").write_text("- n")
    return root


@pytest.fixture
def files(root: Path) -> Folder:
    return Folder.at(root)


def dream(files: Folder, number: int) -> None:
    """A run that does everything a run can do."""
    run = a_run(number)
    cut = Moved(ARCHIVE, f"- b DONE {number}\r\n", "# Completed")
    files.commit("MEMORY.md", lambda s: Edit(s.text.replace("- a\r\n", f"- a\r\n- {number}\r\n"), (cut,)), run)
    files.append("note.md", f"- {number}\n", run)
    files.append("memory/new.md", "- x\n", run, heading="# New")
    files.append("memory/new.md", "- y\n", run)
    files.rename(files.read("USER.md"), "people/user.md", run)
    files.append("people/user.md", "- more\n", run)
    files.remove(files.read("note.md"), run)


def test_a_run_is_taken_back_byte_for_byte_with_modes_and_folders_and_the_undo_too(root: Path, files: Folder) -> None:
    before = tree(root)
    dream(files, 1)
    after = tree(root)
    restored = undo(files, "x-1", a_run(2))
    assert set(restored) == {"MEMORY.md", ARCHIVE, "memory/new.md", "USER.md", "people/user.md", "note.md"}
    assert tree(root) == before
    undo(Folder.at(root), "x-2", a_run(3))
    assert tree(root) == after
    undo(Folder.at(root), "x-3", a_run(4))
    assert tree(root) == before


def test_runs_are_taken_back_one_after_the_other_after_the_workspace_was_moved(root: Path, files: Folder) -> None:
    states = [tree(root)]
    for number in (1, 2, 3):
        files.append("note.md", f"- {number}\n", a_run(number))
        files.commit("MEMORY.md", lambda s: Edit(s.text + "\n- more", (Moved(ARCHIVE, "x"),)), a_run(number))
        states.append(tree(root))
    moved = Folder.at(root.rename(root.parent / "elsewhere"))
    for number in (3, 2, 1):
        undo(moved, f"x-{number}", a_run(number + 10))
        assert tree(moved.root) == states[number - 1]


def test_an_undo_whose_files_were_changed_since_changes_nothing_and_shows_both_versions(
    root: Path, files: Folder
) -> None:
    dream(files, 1)
    (root / "MEMORY.md").write_bytes((root / "MEMORY.md").read_bytes().replace(b"- 1\r\n", b"- theirs\r\n"))
    (root / "memory/new.md").write_text("theirs\n")
    (root / ARCHIVE).write_bytes((root / ARCHIVE).read_bytes() + b"- this would merge\n")
    (root / "people/user.md").chmod(0o644)
    before = tree(root)
    with pytest.raises(Refused) as caught:
        undo(files, "x-1", a_run(2))
    told = str(caught.value)
    assert "nothing was changed: MEMORY.md, memory/new.md changed since" in told
    assert str(root / "MEMORY.md") in told
    assert ".dreaming/backups/MEMORY.md." in told
    assert "-- 1\n  +- theirs" in told
    assert "+theirs" in told
    assert tree(root) == before
    with pytest.raises(Refused):
        restorable(files, "x-1")
    assert files.journal.writes("x-2") == []


def test_an_edit_between_two_writes_of_one_run_stays_and_both_writes_are_taken_back(root: Path, files: Folder) -> None:
    before = (root / "MEMORY.md").read_bytes()
    files.commit("MEMORY.md", lambda s: Edit(f"- top\n{s.text}"), a_run(1))
    (root / "MEMORY.md").write_bytes((root / "MEMORY.md").read_bytes().replace(b"- b DONE", b"- b"))
    files.commit("MEMORY.md", lambda s: Edit(s.text + "\n- end\n"), a_run(1))
    edited = tree(root)
    undo(files, "x-1", a_run(2))
    assert (root / "MEMORY.md").read_bytes() == before.replace(b"- b DONE", b"- b")
    undo(files, "x-2", a_run(3))
    assert tree(root) == edited


def test_an_edit_of_what_the_first_of_two_writes_made_is_not_undone_over(root: Path, files: Folder) -> None:
    files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
    (root / "MEMORY.md").write_text("- theirs\n")
    files.commit("MEMORY.md", lambda s: Edit(s.text + "two\n"), a_run(1))
    before = tree(root)
    with pytest.raises(Refused, match="changed since"):
        undo(files, "x-1", a_run(2))
    assert tree(root) == before


def test_the_last_write_is_taken_back_first(root: Path, files: Folder) -> None:
    (root / "MEMORY.md").write_text("- a\n- b\n- c\n")
    files.commit("MEMORY.md", lambda s: Edit(s.text.replace("- a", "- one")), a_run(1))
    (root / "MEMORY.md").write_text("- one\n- b\n- c\n- theirs\n")
    files.commit("MEMORY.md", lambda s: Edit(s.text.replace("- one", "- two")), a_run(1))
    undo(files, "x-1", a_run(2))
    assert (root / "MEMORY.md").read_text() == "- a\n- b\n- c\n- theirs\n"


def test_what_comes_back_stands_before_what_was_written_in_its_place(root: Path, files: Folder) -> None:
    (root / "MEMORY.md").write_text("- a\n- b\n- c\n")
    files.commit("MEMORY.md", lambda s: Edit("- a\n- c\n"), a_run(1))
    (root / "MEMORY.md").write_text("- a\n- theirs\n- c\n")
    undo(files, "x-1", a_run(2))
    assert (root / "MEMORY.md").read_text() == "- a\n- b\n- theirs\n- c\n"


class TestMerged:
    """What was written to a file after the run stays, and what the run did is taken back."""

    def test_is_a_memory_file_edited_by_hand(self, root: Path, files: Folder) -> None:
        before = (root / "MEMORY.md").read_bytes()
        dream(files, 1)
        (root / "MEMORY.md").write_bytes((root / "MEMORY.md").read_bytes() + b"\r\n- theirs")
        edited = tree(root)
        assert "MEMORY.md" in restorable(files, "x-1")
        assert tree(root) == edited
        undo(files, "x-1", a_run(2))
        assert (root / "MEMORY.md").read_bytes() == before + b"\r\n- theirs"
        assert (root / "note.md").read_text() == "- n"
        undo(files, "x-2", a_run(3))
        assert tree(root) == edited

    def test_is_an_archive_that_newer_nights_added_to(self, root: Path, files: Folder) -> None:
        (root / ARCHIVE).parent.mkdir(parents=True)
        (root / ARCHIVE).write_text("# Completed\n\n- old\n")
        for number in (1, 2, 3):
            text = f"- {number} DONE\n"
            files.commit("MEMORY.md", lambda s: Edit(s.text + "\n", (Moved(ARCHIVE, text),)), a_run(number))  # noqa: B023
        undo(Folder.at(root), "x-1", a_run(4))
        assert (root / ARCHIVE).read_text() == "# Completed\n\n- old\n- 2 DONE\n- 3 DONE\n"
        undo(Folder.at(root), "x-4", a_run(5))
        assert (root / ARCHIVE).read_text() == "# Completed\n\n- old\n- 1 DONE\n- 2 DONE\n- 3 DONE\n"

    def test_is_an_appended_file_whose_head_was_edited_so_that_nobody_keeps_it(self, root: Path, files: Folder) -> None:
        files.append("note.md", "- 1\n", a_run(1))
        (root / "note.md").write_text("- theirs\n- n\n- 1\n- more\n")
        undo(files, "x-1", a_run(2))
        assert (root / "note.md").read_text() == "- theirs\n- n\n- more\n"

    def test_is_not_an_appended_file_whose_head_and_block_were_edited(self, root: Path, files: Folder) -> None:
        files.append("note.md", "- 1\n", a_run(1))
        (root / "note.md").write_text("- theirs\n- one\n")
        with pytest.raises(Refused, match=r"pre-image of note\.md is gone"):
            undo(files, "x-1", a_run(2))

    @pytest.mark.parametrize("make", ["append", "commit"])
    def test_is_a_file_that_the_run_made(self, root: Path, files: Folder, make: str) -> None:
        if make == "append":
            files.append("memory/x.md", "- x\n", a_run(1), heading="# X")
        else:
            files.commit("memory/x.md", lambda s: Edit("# X\n\n- x\n"), a_run(1))
        made = (root / "memory/x.md").read_text()
        (root / "memory/x.md").write_text(f"{made}- theirs\n")
        undo(files, "x-1", a_run(2))
        assert (root / "memory/x.md").read_text() == ("# X\n\n- theirs\n" if make == "append" else "- theirs\n")
        undo(files, "x-2", a_run(3))
        (root / "memory/x.md").write_text(f"{made}\n \n")
        undo(files, "x-1", a_run(4))
        assert not (root / "memory").exists(), "blank is gone, and the folder that was made for it too"
        undo(files, "x-4", a_run(5))
        assert (root / "memory/x.md").read_text() == f"{made}\n \n"

    def test_is_nothing_of_a_file_taken_away_since_unless_the_run_made_it(self, root: Path, files: Folder) -> None:
        files.append("memory/x.md", "- x\n", a_run(1))
        (root / "memory/x.md").unlink()
        assert undo(files, "x-1", a_run(2)) == ()
        files.append("note.md", "- x\n", a_run(3))
        (root / "note.md").unlink()
        with pytest.raises(Refused, match="changed since"):
            undo(files, "x-3", a_run(4))

    def test_is_nothing_of_a_file_made_anew_since_the_run_took_it_away(self, root: Path, files: Folder) -> None:
        files.remove(files.read("note.md"), a_run(1))
        (root / "note.md").write_text("anew\n")
        with pytest.raises(Refused, match="changed since"):
            undo(files, "x-1", a_run(2))
        (root / "note.md").write_text("- n")
        assert undo(files, "x-1", a_run(2)) == ()

    def test_is_nothing_of_a_renamed_file_that_was_edited_since(self, root: Path, files: Folder) -> None:
        dream(files, 1)
        (root / "people/user.md").write_text("top\n" + (root / "people/user.md").read_text())
        before = tree(root)
        with pytest.raises(Refused, match=r"people/user\.md changed since"):
            undo(files, "x-1", a_run(2))
        assert tree(root) == before

    def test_is_nothing_where_the_journal_does_not_say_what_the_run_left(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit(f"- top\n{s.text}"), a_run(1))
        journal = root / ".dreaming/journal.jsonl"
        lines = journal.read_text().replace('"hunk":', '"other":')
        assert lines != journal.read_text()
        journal.write_text(lines)
        (root / "MEMORY.md").write_bytes(b"- theirs\n" + (root / "MEMORY.md").read_bytes())
        with pytest.raises(Refused, match="what the run left is nowhere any more"):
            undo(files, "x-1", a_run(2))

    def test_is_nothing_where_a_replacement_was_too_large_for_the_journal(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit(s.text + "\n- much" * 200_000), a_run(1))
        assert (root / ".dreaming/journal.jsonl").stat().st_size < 1000
        (root / "MEMORY.md").write_bytes(b"- top\n" + (root / "MEMORY.md").read_bytes())
        with pytest.raises(Refused, match="what the run left is nowhere any more"):
            undo(files, "x-1", a_run(2))

    def test_is_taken_back_where_another_file_fails_half_way(self, root: Path, files: Folder) -> None:
        dream(files, 1)
        (root / "MEMORY.md").write_bytes((root / "MEMORY.md").read_bytes() + b"\n- theirs\n")
        after, put, calls = tree(root), type(files.pen).put, itertools.count()

        def failing(pen: Any, *rest: Any, **more: Any) -> bool:
            return next(calls) != 5 and put(pen, *rest, **more)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(files.pen), "put", failing)
            with pytest.raises(Exception, match="nothing is undone"):
                undo(files, "x-1", a_run(2))
        assert next(calls) > 6
        assert tree(root) == after


class Quick(Disk):
    """A disk that does not wait for its plates."""

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        return None if operation is os.fsync else operation(*args, **kwargs)


RUN, OTHER, HAND = 1, 2, 0
NAMES = ("MEMORY.md", "note.md", ARCHIVE)
ACT = st.tuples(st.sampled_from(NAMES), st.sampled_from("+-ba"), st.integers(0, 12), st.integers(1, 3))
ACTS = st.lists(st.tuples(st.sampled_from((RUN, RUN, HAND)), ACT), min_size=1, max_size=5)
LATER = st.lists(st.tuples(st.sampled_from((OTHER, HAND)), ACT), max_size=4)


class World:
    """A workspace, and for each line of it who made it and whether the run took it away."""

    def __init__(self, root: Path, ends: bool) -> None:
        self.files = Folder.at(root, disk=Quick())
        self.numbers = itertools.count()
        self.made: set[str] = set()
        self.taken: set[tuple[str, str]] = set()
        (root / ARCHIVE).parent.mkdir(parents=True)
        for name in NAMES:
            text = "".join(f"{self.line(HAND)}\n{gap}" for gap in ("\n", "", "", "\n", ""))
            (root / name).write_text(f"# Head\n\n{text}"[: None if ends else -1])

    def line(self, who: int) -> str:
        line = f"- {next(self.numbers)}"
        self.made |= {line} if who == RUN else set()
        return line

    def lines(self, name: str) -> list[str]:
        return [line for line in self.files.read(name).text.splitlines() if line.startswith("- ")]

    def act(self, who: int, name: str, how: str, at: int, size: int) -> None:
        """Insert, cut, cut and archive, or append."""
        lines = self.files.read(name).text.splitlines(keepends=True)
        at = min(at, len(lines))
        cut = [line for line in lines[at : at + size] if line.startswith("- ")]
        if how == "a":
            new = "".join(f"{self.line(who)}\n" for _ in range(size))
            self.append(who, name, new)
        elif how == "+":
            ended = [line if line.endswith("\n") else f"{line}\n" for line in lines]
            new = "".join(f"{self.line(who)}\n" for _ in range(size))
            self.write(who, name, "".join([*ended[:at], new, *ended[at:]]))
        elif cut:
            away = how == "b" and name != ARCHIVE and who != HAND
            block = "".join(f"{self.line(who)}\n" for _ in cut) if away else ""
            self.taken |= {(name, line.strip()) for line in cut} if who == RUN else set()
            rest = "".join(line for line in lines if line not in cut)
            self.write(who, name, rest, (Moved(ARCHIVE, block, "# Completed"),) if away else ())

    def append(self, who: int, name: str, text: str) -> None:
        if who == HAND:
            held = self.files.read(name).text
            self.write(who, name, held + "\n" * (not held.endswith("\n")) + text)
        else:
            self.files.append(name, text, a_run(who))

    def write(self, who: int, name: str, text: str, moved: tuple[Moved, ...] = ()) -> None:
        if who == HAND:
            (self.files.root / name).write_text(text)
        else:
            self.files.commit(name, lambda s: Edit(text, moved), a_run(who))


TALLY: Counter[str] = Counter()


@settings(max_examples=200, deadline=None)
@given(st.booleans(), ACTS, LATER)
def test_an_undo_takes_back_what_the_run_did_and_nothing_else_or_touches_nothing(
    tmp_path_factory: pytest.TempPathFactory, ends: bool, acts: list[Any], later: list[Any]
) -> None:
    world = World(tmp_path_factory.mktemp("w"), ends)
    start = tree(world.files.root)
    for who, act in [*acts, *later]:
        world.act(who, *act)
    before, lines = tree(world.files.root), {name: world.lines(name) for name in NAMES}
    try:
        restored = undo(world.files, "x-1", a_run(3))
    except (Refused, NotFound) as error:
        assert tree(world.files.root) == before
        TALLY[type(error).__name__] += 1
        return
    TALLY["undone"] += 1
    for name in NAMES:
        kept = {line for line in lines[name] if line not in world.made}
        back = {line for path, line in world.taken if path == name and line not in world.made}
        assert sorted(world.lines(name)) == sorted(kept | back)
    if all(who == RUN for who, _ in acts) and not later:
        assert tree(world.files.root) == start
    if restored:
        undo(Folder.at(world.files.root, disk=Quick()), "x-3", a_run(4))
    assert tree(world.files.root) == before


def test_most_of_these_undos_come_about() -> None:
    if sum(TALLY.values()) > 100:
        assert TALLY["undone"] > TALLY["Refused"]


def test_a_run_without_pre_images_cannot_be_undone(root: Path, files: Folder) -> None:
    files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
    for backup in (root / ".dreaming/backups").iterdir():
        backup.unlink()
    with pytest.raises(Refused, match=r"pre-image of MEMORY\.md is gone"):
        undo(files, "x-1", a_run(2))
    assert (root / "MEMORY.md").read_bytes() == b"\xef\xbb\xbfone\n"


def test_a_pre_image_that_was_tampered_with_is_not_used(root: Path, files: Folder) -> None:
    files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
    for backup in (root / ".dreaming/backups").iterdir():
        backup.write_text("- something else\n")
    with pytest.raises(Refused, match="is gone"):
        undo(files, "x-1", a_run(2))


def test_a_run_that_wrote_nothing_has_nothing_to_undo(files: Folder) -> None:
    with pytest.raises(NotFound, match="no write of a run x-9"):
        undo(files, "x-9", a_run(2))


def test_undone_twice_is_undone_once(root: Path, files: Folder) -> None:
    before = tree(root)
    dream(files, 1)
    undo(files, "x-1", a_run(2))
    assert undo(files, "x-1", a_run(3)) == ()
    assert tree(root) == before


def test_what_an_undo_would_restore_is_told_without_touching_anything(root: Path, files: Folder) -> None:
    dream(files, 1)
    before, journal = tree(root), (root / ".dreaming/journal.jsonl").read_bytes()
    assert set(restorable(files, "x-1")) == set(files.changed_by(a_run(1)))
    assert tree(root) == before
    assert (root / ".dreaming/journal.jsonl").read_bytes() == journal


def test_an_undo_spans_the_vault_that_the_run_wrote_to(root: Path, files: Folder, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    (vault / "notes").mkdir(parents=True)
    (vault / "notes/a.md").write_text("- a\n")
    before = tree(root), tree(vault)
    shared = files.beside(vault)
    shared.commit("notes/a.md", lambda s: Edit("- b\n"), a_run(1))
    shared.append("notes/c.md", "- c\n", a_run(1))
    files.commit("MEMORY.md", lambda s: Edit("- m\n"), a_run(1))
    after = tree(root), tree(vault)
    (vault / "notes/a.md").write_text("- theirs\n")
    with pytest.raises(Refused, match=r"notes/a\.md changed since"):
        undo(files, "x-1", a_run(2), {str(vault)})
    (vault / "notes/a.md").write_text("- b\n")
    assert set(undo(files, "x-1", a_run(3), {str(vault)})) == {
        "MEMORY.md",
        f"{vault}/notes/a.md",
        f"{vault}/notes/c.md",
    }
    assert (tree(root), tree(vault)) == before
    undo(files, "x-3", a_run(4), {str(vault)})
    assert (tree(root), tree(vault)) == after


def test_a_file_that_changes_while_it_is_undone_takes_back_the_undo(root: Path, files: Folder) -> None:
    dream(files, 1)
    after = tree(root)
    put = type(files.pen).put
    calls: list[str] = []

    def meddling(pen, before, *rest, **more):  # type: ignore[no-untyped-def]
        calls.append(before.path)
        return len(calls) != 4 and put(pen, before, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(files.pen), "put", meddling)
        with pytest.raises(Exception, match="nothing is undone"):
            undo(files, "x-1", a_run(2))
    assert tree(root) == after
    undo(files, "x-1", a_run(3))


class TestChanges:
    def test_show_what_a_run_made_of_each_file(self, root: Path, files: Folder) -> None:
        old = {path: files.read(path) for path in ("MEMORY.md", "USER.md", "note.md")}
        dream(files, 1)
        found = {change.path: change for change in changes(files, "x-1")}
        for path, snapshot in old.items():
            assert found[path].before == snapshot
        assert found["MEMORY.md"].after == files.read("MEMORY.md")
        assert found["memory/new.md"].before.state == "missing"
        assert found["note.md"].after.state == "missing"

    def test_later_runs_and_appended_lines_do_not_hide_it(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
        files.append("note.md", "- 1\n", a_run(1))
        files.commit("MEMORY.md", lambda s: Edit("two\n"), a_run(2))
        files.append("note.md", "- 2\n", a_run(2))
        found = {change.path: change for change in changes(files, "x-1")}
        assert found["MEMORY.md"].after.text == "one\n"
        assert (found["note.md"].before.text, found["note.md"].after.text) == ("- n", "- n\n- 1\n")

    def test_a_version_that_was_edited_away_is_made_anew(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
        files.append("MEMORY.md", "two\n", a_run(1))
        (root / "MEMORY.md").write_text("theirs\n")
        [change] = changes(files, "x-1")
        assert change.after.text == "one\ntwo\n"

    def test_a_version_that_is_nowhere_any_more_says_so(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
        (root / "MEMORY.md").write_text("theirs\n")
        for backup in (root / ".dreaming/backups").iterdir():
            backup.unlink()
        [change] = changes(files, "x-1")
        assert change.after.state == "unreadable"
        assert "nowhere any more" in change.after.reason


def a_trail(now: bytes | None, *ends: bytes | None) -> Trail:
    """A file that went through these contents in one run, a pair for each write."""
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    write = Write("a", "r", "p", "replace")
    effects = [Effect("p", named(one), named(other), len(one or b""), len(other or b""), write) for one, other in pairs]
    return Trail("p", effects, now)


def named(data: bytes | None) -> str:
    return ABSENT if data is None else digest(data)


@pytest.mark.parametrize(
    ("trail", "said"),
    [
        (a_trail(B, A, B), "restore"),
        (a_trail(C, A, B), "merge"),
        (a_trail(A, A, B), "keep"),
        (a_trail(None, A, None), "restore"),
        (a_trail(A, None, A), "restore"),
        (a_trail(None, None, A), "keep"),
        (a_trail(b"", None, A), "merge"),
        (a_trail(C, A, B, B, C), "restore"),
        (a_trail(C, A, B, A, C), "merge"),
        (a_trail(A, A, B, B, A), "keep"),
    ],
)
def test_a_file_is_restored_kept_or_merged(trail: Trail, said: str) -> None:
    assert verdict(trail) == said


@given(st.lists(st.sampled_from([A, B, C, None]), min_size=2, max_size=6).filter(lambda ends: len(ends) % 2 == 0))
def test_no_file_is_restored_that_is_not_as_the_run_left_it(ends: list[bytes | None]) -> None:
    for now in (A, B, C, None):
        if verdict(a_trail(now, *ends)) == "restore":
            assert now == ends[-1]
            assert ends[1:-1:2] == ends[2::2]


@given(st.lists(st.sampled_from([A, B, C, None]), min_size=2, max_size=8).filter(lambda ends: len(ends) % 2 == 0))
def test_a_trail_falls_into_pieces_where_somebody_else_wrote(ends: list[bytes | None]) -> None:
    trail = a_trail(A, *ends)
    pieces = trail.pieces
    assert [effect for piece in pieces for effect in piece.effects] == list(trail.effects)
    for piece in pieces:
        assert len(piece.pieces) == 1
    for one, other in itertools.pairwise(pieces):
        assert one.after != other.before


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b"x\n- a\n- b\ny\n", b"x\ny\n"),
        (b"- a\n- b\n", b""),
        (b"x\n- a\ny\n- b\n", None),
        (b"- a\n- b\n- a\n- b\n", None),
        (b"x- a\n- b\n", None),
        (b"", None),
    ],
)
def test_blocks_are_lifted_that_stand_in_a_text_once_and_whole(data: bytes, left: bytes | None) -> None:
    assert lifted(data, Write("a", "r", "p", "append", text="# H\n- a\n- b\n", blocks=(4, 4))) == left


def test_a_block_without_an_end_is_lifted_from_the_end_only() -> None:
    write = Write("a", "r", "p", "append", text="- a", blocks=(3,))
    assert lifted(b"x\n- a", write) == b"x\n"
    assert lifted(b"x\n- abc\n", write) is None
    assert lifted(b"x\n- a", Write("a", "r", "p", "replace", text="- a", blocks=(3,))) is None


class TestStore:
    def test_makes_every_version_anew_from_the_first(self, root: Path, files: Folder) -> None:
        versions = [b"a\nb\nc", b"a\nc", b"a\nc\nd\n", b"\xff\nd\n"]
        (root / "MEMORY.md").write_bytes(versions[0])
        for number, text in enumerate(versions[1:]):
            if number == 1:
                files.append("MEMORY.md", "d\n", a_run(1))
            else:
                files.commit("MEMORY.md", lambda s: Edit(text.decode("utf-8", "surrogateescape")), a_run(1))  # noqa: B023
        (root / "MEMORY.md").write_text("theirs\n")
        store = Store(files.pen, files.journal.writes("x-1"))
        for version in versions:
            assert store.find("MEMORY.md", digest(version), len(version)) == version
        assert store.find("MEMORY.md", digest(b"never\n"), 6) is None

    def test_believes_no_hunk_that_leads_elsewhere(self) -> None:
        hunk, text = changed(A, B)
        write = Write("a", "r", "p", "replace", digest(A), digest(C), len(A), len(C), hunk=hunk, text=text)
        assert write.leaves(A) is None


def test_a_root_that_only_the_journal_names_is_not_touched(root: Path, files: Folder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("- theirs\n")
    beside = files.beside(elsewhere)
    beside.replace(beside.read("a.md"), "- ours\n", a_run(1))
    with pytest.raises(Refused, match="no root of this agent"):
        undo(files, "x-1", a_run(2))
    assert (elsewhere / "a.md").read_text() == "- ours\n"
