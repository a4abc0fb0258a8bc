"""Taking runs back: byte for byte, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.journal import Write, digest
from reverie.undo import Effect, Trail, changes, restorable, undo, verdict
from reverie.workspace import Folder
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
    (root / "MEMORY.md").write_bytes((root / "MEMORY.md").read_bytes() + b"- theirs\n")
    (root / "memory/new.md").write_text("theirs\n")
    (root / "people/user.md").chmod(0o644)
    before = tree(root)
    with pytest.raises(Refused) as caught:
        undo(files, "x-1", a_run(2))
    told = str(caught.value)
    assert "nothing was changed: MEMORY.md, memory/new.md changed since" in told
    assert str(root / "MEMORY.md") in told
    assert ".dreaming/backups/MEMORY.md." in told
    assert "+- café- theirs" in told.replace("caf\ufffd", "café")
    assert tree(root) == before
    with pytest.raises(Refused):
        restorable(files, "x-1")
    assert files.journal.writes("x-2") == []


def test_an_edit_between_two_writes_of_one_run_is_not_undone_over(root: Path, files: Folder) -> None:
    files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
    (root / "MEMORY.md").write_text("one\n- theirs\n")
    files.commit("MEMORY.md", lambda s: Edit(s.text + "two\n"), a_run(1))
    with pytest.raises(Refused, match="changed since"):
        undo(files, "x-1", a_run(2))


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

    def test_a_version_that_is_nowhere_any_more_says_so(self, root: Path, files: Folder) -> None:
        files.commit("MEMORY.md", lambda s: Edit("one\n"), a_run(1))
        (root / "MEMORY.md").write_text("theirs\n")
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
        (a_trail(C, A, B), "refuse"),
        (a_trail(A, A, B), "keep"),
        (a_trail(None, A, None), "restore"),
        (a_trail(A, None, A), "restore"),
        (a_trail(None, None, A), "keep"),
        (a_trail(b"", None, A), "refuse"),
        (a_trail(C, A, B, B, C), "restore"),
        (a_trail(C, A, B, A, C), "refuse"),
        (a_trail(A, A, B, B, A), "keep"),
    ],
)
def test_a_file_is_restored_kept_or_refused(trail: Trail, said: str) -> None:
    assert verdict(trail) == said


@given(st.lists(st.sampled_from([A, B, C, None]), min_size=2, max_size=6).filter(lambda ends: len(ends) % 2 == 0))
def test_no_file_is_restored_that_is_not_as_the_run_left_it(ends: list[bytes | None]) -> None:
    for now in (A, B, C, None):
        if verdict(a_trail(now, *ends)) == "restore":
            assert now == ends[-1]
            assert ends[1:-1:2] == ends[2::2]


def test_a_root_that_only_the_journal_names_is_not_touched(root: Path, files: Folder, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.md").write_text("- theirs\n")
    beside = files.beside(elsewhere)
    beside.replace(beside.read("a.md"), "- ours\n", a_run(1))
    with pytest.raises(Refused, match="no root of this agent"):
        undo(files, "x-1", a_run(2))
    assert (elsewhere / "a.md").read_text() == "- ours\n"
