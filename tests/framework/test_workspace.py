"""Reading, confinement and the writes of a workspace's files, one after the other."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.workspace import Folder
from reverie.workspace.backup import encoded
from reverie.workspace.disk import LIMIT
from reverie.workspace.lock import lock
from reverie.workspace.place import checked
from reverie_hookspecs import (
    Committed,
    Edit,
    Moved,
    Refused,
    Run,
    Snapshot,
    StaleSnapshot,
    TooLarge,
    Unreadable,
    WriteRefused,
)

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
ARCHIVE = "memory/archive/pruned.md"
ROOT = os.geteuid() == 0


def a_run(number: int = 1) -> Run:
    return Run(f"x-{number}", "x", "dream", STARTED.replace(microsecond=number * 1000))


def commit(files: Folder, path: str, text: str | None, run: Run, *moved: Moved) -> Committed:
    return files.commit(path, lambda _: None if text is None else Edit(text, moved), run)


def records(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def backups(root: Path) -> list[str]:
    return sorted(path.name for path in (root / ".dreaming/backups").glob("*"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "w").mkdir()
    return tmp_path / "w"


@pytest.fixture
def files(root: Path) -> Folder:
    return Folder.at(root)


class TestReading:
    @pytest.mark.parametrize(
        ("data", "state"),
        [
            (b"text", "text"),
            (b" \n", "text"),
            (b"", "empty"),
            (b"\xef\xbb\xbf", "empty"),
            (b"caf\xe9 \xff", "text"),
            (b"x" * 9000 + b"\0", "text"),
            (b"a\0b", "unreadable"),
            ("héllo".encode("utf-16"), "unreadable"),
            ("héllo".encode("utf-16-be"), "unreadable"),
            ("héllo".encode("utf-32"), "unreadable"),
        ],
    )
    def test_a_file_is_text_empty_or_unreadable_by_its_bytes(
        self, root: Path, files: Folder, data: bytes, state: str
    ) -> None:
        (root / "a.md").write_bytes(data)
        assert files.read("a.md").state == state

    def test_a_binary_file_says_where_and_what_to_do(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_bytes(b"ab\0")
        with pytest.raises(Unreadable, match="NUL byte at offset 2; save it as UTF-8"):
            _ = files.read("a.md").text
        with pytest.raises(Unreadable):
            _ = files.read("a.md").digest

    @pytest.mark.parametrize("path", ["no.md", "no/no.md", "file.md/no.md"])
    def test_what_is_not_there_is_missing(self, root: Path, files: Folder, path: str) -> None:
        (root / "file.md").write_text("x")
        assert files.read(path) == Snapshot(path, "missing")

    def test_links_folders_pipes_and_sockets_are_unreadable_and_block_nobody(self, root: Path, files: Folder) -> None:
        (root / "real").mkdir()
        (root / "real/a.md").write_text("x")
        (root / "link.md").symlink_to(root / "real/a.md")
        (root / "dangling.md").symlink_to(root / "nowhere")
        (root / "linked").symlink_to(root / "real")
        os.mkfifo(root / "pipe.md")
        with socket.socket(socket.AF_UNIX) as listener:
            here = Path.cwd()
            os.chdir(root)  # the path of a socket is short
            listener.bind("s.md")
            os.chdir(here)
            found = {
                path: files.read(path) for path in ("link.md", "dangling.md", "linked/a.md", "real", "pipe.md", "s.md")
            }
        assert {snapshot.state for snapshot in found.values()} == {"unreadable"}
        assert "linked is a link" in found["linked/a.md"].reason
        assert "a folder" in found["real"].reason

    @pytest.mark.skipif(ROOT, reason="root may read everything")
    def test_a_file_without_permission_is_unreadable(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("x")
        (root / "a.md").chmod(0)
        assert files.read("a.md").reason == "permission denied"

    def test_a_file_over_the_limit_is_unreadable(self, root: Path, files: Folder) -> None:
        with (root / "a.md").open("wb") as file:
            file.truncate(LIMIT + 1)
        assert files.read("a.md").reason == "it is larger than 64 MiB"

    def test_the_root_itself_may_be_a_link(self, root: Path, tmp_path: Path) -> None:
        (root / "a.md").write_text("x")
        (tmp_path / "door").symlink_to(root)
        files = Folder.at(tmp_path / "door")
        assert files.read("a.md").text == "x"
        assert files.root == root.resolve()

    def test_names_are_markdown_files_sorted_without_links_and_dot_names(self, root: Path, files: Folder) -> None:
        for name in (
            "b.md",
            "A.MD",
            "c.txt",
            ".d.md",
            "sub/e.md",
            "sub/.hidden/f.md",
            "sub/deep/g.md",
            "back\\slash.md",
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("x")
        (root / "h.md").symlink_to(root / "b.md")
        (root / "linked").symlink_to(root / "sub")
        (root / "folder.md").mkdir()
        assert files.names() == ["A.MD", "b.md"]
        assert files.names(deep=True) == ["A.MD", "b.md", "sub/deep/g.md", "sub/e.md"]
        assert files.names("sub") == ["sub/e.md"]
        assert files.names("nowhere") == []

    def test_a_listing_that_cannot_be_had_is_no_empty_one(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("x")
        (root / "memory").symlink_to(root)
        for folder in ("memory", "memory/deep", "a.md"):
            with pytest.raises(Unreadable, match="cannot be listed"):
                files.names(folder)

    def test_reading_makes_nothing(self, root: Path, files: Folder) -> None:
        files.read("a.md")
        files.names(deep=True)
        files.repair()
        assert list(root.iterdir()) == []

    def test_ten_thousand_reads_take_few_operations(self, root: Path) -> None:
        (root / "memory").mkdir()
        (root / "memory/a.md").write_text("x")
        counted: list[object] = []

        class Counting(type(Folder.at(root).disk)):  # type: ignore[misc]
            def call(self, operation, /, *args, **kwargs):  # type: ignore[no-untyped-def]
                counted.append(operation)
                return operation(*args, **kwargs)

        files = Folder.at(root, disk=Counting())
        files.read("memory/a.md")
        assert counted == [os.lstat, os.open, os.fstat, os.read]


class TestConfinement:
    @pytest.mark.parametrize(
        "path",
        [
            "",
            "/etc/passwd",
            "..",
            "../x.md",
            "memory/../../x.md",
            "memory/../x.md",
            "a//b.md",
            "./a.md",
            "a/",
            "a\0.md",
            "..\\x.md",
            "a\\b.md",
            "memory/.",
        ],
    )
    def test_a_path_that_leaves_the_root_or_is_odd_is_refused_with_a_sentence(
        self, root: Path, files: Folder, path: str
    ) -> None:
        for act in (
            lambda: files.read(path),
            lambda: files.append(path, "x", a_run()),
            lambda: commit(files, path, "x", a_run()),
            lambda: commit(files, "a.md", "x", a_run(), Moved(path, "x")),
        ):
            with pytest.raises(Refused, match="is refused"):
                act()
        assert records(root) in ([], [".dreaming/write-lock"])

    @given(st.text(alphabet="a./\\~\0", max_size=12))
    def test_no_accepted_path_leads_out(self, path: str) -> None:
        try:
            checked(path)
        except Refused:
            return
        assert os.path.normpath(os.path.join("/r", path)) == f"/r/{path}"  # noqa: PTH118

    def test_dots_inside_a_name_are_fine(self) -> None:
        assert checked("memory/a..b.md") == ("memory", "a..b.md")

    def test_no_write_follows_a_link_at_the_end_or_on_the_way(self, root: Path, files: Folder, tmp_path: Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/t.md").write_text("theirs")
        (root / "t.md").symlink_to(tmp_path / "outside/t.md")
        (root / "memory").symlink_to(tmp_path / "outside")
        (root / "real.md").write_text("x")
        for path in ("t.md", "memory/t.md", "memory/new.md"):
            for act in (
                lambda path=path: files.append(path, "x", a_run()),
                lambda path=path: commit(files, path, "x", a_run()),
                lambda path=path: files.rename(files.read("real.md"), path, a_run()),
                lambda path=path: commit(files, "real.md", "y", a_run(), Moved(path, "x")),
                lambda path=path: files.remove(Snapshot(path, "text", b"theirs"), a_run()),
                lambda path=path: files.replace(Snapshot(path, "text", b"theirs"), "x", a_run()),
            ):
                with pytest.raises(Refused, match="link"):
                    act()
        assert records(tmp_path / "outside") == ["t.md"]
        assert (tmp_path / "outside/t.md").read_text() == "theirs"
        assert (root / "real.md").read_text() == "x"

    @pytest.mark.parametrize("name", [".dreaming", ".dreaming/backups"])
    def test_records_are_not_kept_behind_a_link(self, root: Path, files: Folder, tmp_path: Path, name: str) -> None:
        (tmp_path / "outside").mkdir()
        (root / "a.md").write_text("x")
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).symlink_to(tmp_path / "outside")
        with pytest.raises(Refused, match="no folder of its own"):
            commit(files, "a.md", "y", a_run())
        if name == ".dreaming":
            with pytest.raises(Refused, match="no folder of its own"):
                files.record("DREAMS.md", "x")
            with pytest.raises(Refused, match="no folder of its own"), files.lock():
                pass
        assert (root / "a.md").read_text() == "x"
        assert list((tmp_path / "outside").iterdir()) == []

    def test_the_journal_the_locks_and_the_backups_are_written_by_nobody_else(self, files: Folder) -> None:
        for name in ("journal.jsonl", "lock", "write-lock", "backups/x.bak"):
            with pytest.raises(Refused, match="own records"):
                files.append(f".dreaming/{name}", "x", a_run())
        files.append(".dreaming/pruned.md", "- x\n", a_run())


class TestCommit:
    def test_what_leaves_stands_in_its_archive_and_the_old_text_in_a_backup(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("- a\n- b\n")
        (root / "MEMORY.md").chmod(0o640)
        done = commit(files, "MEMORY.md", "- a\n", a_run(), Moved(ARCHIVE, "- b\n", "# Pruned"))
        assert done.outcome == "written"
        assert (root / "MEMORY.md").read_text() == "- a\n"
        assert (root / "MEMORY.md").stat().st_mode & 0o777 == 0o640
        assert (root / ARCHIVE).read_text() == "# Pruned\n\n- b\n"
        assert backups(root) == ["MEMORY.md.1772600767001.bak"]
        assert (root / ".dreaming/backups" / backups(root)[0]).read_text() == "- a\n- b\n"

    def test_blocks_for_one_archive_go_there_in_order_after_a_newline_where_one_lacks(
        self, root: Path, files: Folder
    ) -> None:
        (root / ARCHIVE).parent.mkdir(parents=True)
        (root / ARCHIVE).write_bytes(b"# P\r\n- old")
        blocks = (Moved(ARCHIVE, "- b\n"), Moved("memory/t.md", "- c"), Moved(ARCHIVE, "- d\n"))
        commit(files, "MEMORY.md", "x\n", a_run(), *blocks)
        assert (root / ARCHIVE).read_bytes() == b"# P\r\n- old\r\n- b\n- d\n"
        assert (root / "memory/t.md").read_bytes() == b"- c"

    def test_nothing_to_do_touches_nothing(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("- a\n")
        assert commit(files, "MEMORY.md", None, a_run()).outcome == "unchanged"
        assert commit(files, "MEMORY.md", "- a\n", a_run()).outcome == "unchanged"
        assert commit(files, "USER.md", "", a_run()).outcome == "unchanged"
        assert records(root) == ["MEMORY.md"], "B18: no backup"

    def test_b16_a_missing_file_is_made_without_an_empty_backup(self, root: Path, files: Folder) -> None:
        assert commit(files, "MEMORY.md", "- first\n", a_run()).outcome == "written"
        assert (root / "MEMORY.md").read_text() == "- first\n"
        assert backups(root) == []
        (root / "USER.md").touch()
        commit(files, "USER.md", "- u\n", a_run())
        assert backups(root) == []

    def test_b19_the_newest_twenty_pre_images_of_a_file_are_kept(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("0\n")
        (root / "MEMORY.md.1.md").write_text("0\n")
        commit(files, "MEMORY.md.1.md", "1\n", a_run(1))
        for number in range(1, 26):
            commit(files, "MEMORY.md", f"{number}\n", a_run(number))
        mine = [name for name in backups(root) if not name.startswith("MEMORY.md.1.md")]
        assert [(root / ".dreaming/backups" / name).read_text() for name in mine] == [f"{n}\n" for n in range(5, 25)]
        assert len(backups(root)) == 21

    def test_twenty_five_runs_of_one_millisecond_keep_twenty_pre_images_too(self, root: Path) -> None:
        (root / "MEMORY.md").write_text("0\n")
        for number in range(25):
            run = Run(f"x-{number}", "x", "dream", STARTED)
            commit(Folder.at(root), "MEMORY.md", f"{number + 1}\n", run)
        held = {(root / ".dreaming/backups" / name).read_text() for name in backups(root)}
        assert held == {f"{number}\n" for number in range(5, 25)}

    def test_a_run_keeps_one_pre_image_of_a_file_however_often_it_writes(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("0\n")
        for number in range(1, 4):
            commit(files, "MEMORY.md", f"{number}\n", a_run())
        commit(Folder.at(root), "MEMORY.md", "4\n", a_run())
        commit(files, "new.md", "1\n", a_run())
        commit(files, "new.md", "2\n", a_run())
        assert [(root / ".dreaming/backups" / name).read_text() for name in backups(root)] == ["0\n"]
        (root / "MEMORY.md").write_text("theirs\n")
        commit(files, "MEMORY.md", "5\n", a_run())
        assert len(backups(root)) == 2, "somebody else's text is in no pre-image yet"

    def test_a_long_path_still_has_a_pre_image(self, root: Path, files: Folder) -> None:
        path = f"memory/{'ก' * 60}.md"
        commit(files, path, "1\n", a_run(1))
        commit(files, path, "2\n", a_run(2))
        assert len(backups(root)) == 1
        assert encoded("memory/a b.md") == "memory%2Fa%20b.md"

    def test_a28_a_file_changed_between_read_and_rewrite_keeps_both_texts(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("- a\n- x DONE\n")

        def decide(snapshot: Snapshot) -> Edit:
            if "theirs" not in snapshot.text:
                (root / "MEMORY.md").write_text("- a\n- x DONE\n- theirs\n")
            return Edit(snapshot.text.replace("- x DONE\n", ""), (Moved(ARCHIVE, "- x DONE\n"),))

        assert files.commit("MEMORY.md", decide, a_run()).outcome == "written"
        assert (root / "MEMORY.md").read_text() == "- a\n- theirs\n"
        assert (root / ARCHIVE).read_text() == "- x DONE\n"

    def test_b24_a_file_changed_at_every_decision_is_left_alone(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_text("0")
        calls: list[int] = []

        def decide(snapshot: Snapshot) -> Edit:
            calls.append(1)
            (root / "MEMORY.md").write_text(f"theirs {len(calls)}")
            return Edit("ours", (Moved(ARCHIVE, "0"),))

        assert files.commit("MEMORY.md", decide, a_run()).outcome == "contested"
        assert len(calls) == 2
        assert (root / "MEMORY.md").read_text() == "theirs 2"
        assert records(root) == [".dreaming/write-lock", "MEMORY.md"]

    def test_an_unreadable_file_or_archive_is_not_written_to(self, root: Path, files: Folder) -> None:
        (root / "MEMORY.md").write_bytes(b"a\0")
        (root / "a.md").write_text("x")
        for act in (
            lambda: commit(files, "MEMORY.md", "y", a_run()),
            lambda: commit(files, "a.md", "y", a_run(), Moved("MEMORY.md", "x")),
            lambda: files.append("MEMORY.md", "y", a_run()),
            lambda: files.remove(files.read("MEMORY.md"), a_run()),
        ):
            with pytest.raises(Unreadable, match="NUL"):
                act()
        assert (root / "a.md").read_text() == "x"
        assert (root / "MEMORY.md").read_bytes() == b"a\0"

    @pytest.mark.parametrize(
        ("text", "error"), [("a\0b", WriteRefused), ("a\ud800b", WriteRefused), ("x" * (LIMIT + 1), TooLarge)]
    )
    def test_a_text_that_could_not_be_read_again_is_refused(
        self, root: Path, files: Folder, text: str, error: type[Exception]
    ) -> None:
        (root / "a.md").write_text("x")
        for act in (
            lambda: commit(files, "a.md", text, a_run()),
            lambda: files.append("a.md", text, a_run()),
            lambda: commit(files, "a.md", "y", a_run(), Moved(ARCHIVE, text)),
        ):
            with pytest.raises(error, match="was not written"):
                act()
        assert records(root) == [".dreaming/write-lock", "a.md"]
        assert (root / "a.md").read_text() == "x"

    def test_a_file_is_not_its_own_archive(self, files: Folder) -> None:
        with pytest.raises(Refused, match="own archive"):
            commit(files, "a.md", "y", a_run(), Moved("a.md", "x"))

    def test_bytes_that_are_no_text_the_newlines_and_the_bom_survive(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_bytes(b"\xef\xbb\xbf- a\xff\r\n- b\r\n")
        files.commit("a.md", lambda s: Edit(s.text.replace("- b", "- c")), a_run())
        assert (root / "a.md").read_bytes() == b"\xef\xbb\xbf- a\xff\r\n- c\r\n"


class TestOtherWrites:
    def test_append_begins_on_a_line_of_its_own_and_gives_a_new_file_its_heading(
        self, root: Path, files: Folder
    ) -> None:
        (root / "a.md").write_bytes(b"- a\r\n- b")
        files.append("a.md", "- c\r\n", a_run(), heading="# A")
        files.append("memory/x/b.md", "- c\n", a_run(), heading="# B\n")
        assert (root / "a.md").read_bytes() == b"- a\r\n- b\r\n- c\r\n"
        assert (root / "memory/x/b.md").read_text() == "# B\n- c\n"
        assert backups(root) == []

    def test_a_stale_snapshot_is_refused_by_every_write(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("1")
        old, none = files.read("a.md"), files.read("b.md")
        (root / "a.md").write_text("2")
        (root / "b.md").write_text("")
        acts: list[Callable[[], object]] = [
            lambda: files.replace(old, "3", a_run()),
            lambda: files.remove(old, a_run()),
            lambda: files.rename(old, "c.md", a_run()),
            lambda: files.replace(none, "3", a_run()),
        ]
        for act in acts:
            with pytest.raises(StaleSnapshot):
                act()
        assert (root / "a.md").read_text() == "2"
        assert (root / "b.md").read_text() == ""

    def test_replace_may_empty_a_file_and_make_an_empty_one(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("1")
        files.replace(files.read("a.md"), "", a_run())
        files.replace(files.read("b.md"), "", a_run())
        assert (root / "a.md").read_bytes() == (root / "b.md").read_bytes() == b""

    def test_rename_takes_no_name_that_is_taken(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("1")
        (root / "b.md").write_text("2")
        with pytest.raises(Refused, match=r"b\.md exists already"):
            files.rename(files.read("a.md"), "b.md", a_run())
        files.rename(files.read("a.md"), "new/c.md", a_run())
        assert records(root) == [".dreaming/journal.jsonl", ".dreaming/write-lock", "b.md", "new/c.md"]

    def test_a_removed_file_has_a_pre_image(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("1")
        files.remove(files.read("a.md"), a_run())
        files.remove(files.read("nowhere.md"), a_run())
        assert not (root / "a.md").exists()
        assert (root / ".dreaming/backups" / backups(root)[0]).read_text() == "1"

    def test_the_changes_of_a_run_are_named(self, root: Path, files: Folder) -> None:
        (root / "a.md").write_text("1")
        commit(files, "a.md", "2", a_run(1), Moved(ARCHIVE, "x"))
        files.rename(files.read("a.md"), "b.md", a_run(1))
        files.append("c.md", "x", a_run(2))
        assert files.changed_by(a_run(1)) == ["a.md", "b.md", ARCHIVE]

    def test_a_vault_has_its_writes_in_the_records_of_the_workspace_and_its_own_lock(
        self, root: Path, files: Folder, tmp_path: Path
    ) -> None:
        vault = tmp_path / "vault"
        files.beside(vault).append("notes/n.md", "- x\n", a_run())
        assert files.changed_by(a_run()) == [f"{vault}/notes/n.md"]
        assert records(vault) == [".history/write-lock", "notes/n.md"]
        own = Folder.at(vault, vault / ".history")
        own.append("notes/n.md", "- y\n", a_run())
        assert records(vault) == [".history/journal.jsonl", ".history/write-lock", "notes/n.md"]
        assert own.journal.writes("x-1")[0].root == "."

    def test_records_are_appended_each_on_a_line_of_its_own(self, root: Path, files: Folder) -> None:
        files.record("DREAMS.md", "one\n", "# Dreams\n\n")
        with (root / ".dreaming/DREAMS.md").open("a") as file:
            file.write("torn")
        files.record("DREAMS.md", "two\n", "# Dreams\n\n")
        assert (root / ".dreaming/DREAMS.md").read_text() == "# Dreams\n\none\ntorn\ntwo\n"


class TestLock:
    def test_one_run_at_a_time_and_the_second_is_told_who_has_it(self, files: Folder) -> None:
        told = rf"another run is under way \(process {os.getpid()} since 20"
        with files.lock(), pytest.raises(Refused, match=told), files.lock():
            pass
        with files.lock():
            pass

    def test_a_dry_run_locks_nothing(self, root: Path, files: Folder) -> None:
        overlay = files.overlay()
        with overlay.lock(), overlay.lock():
            overlay.append("a.md", "x", a_run())
            overlay.record("DREAMS.md", "x\n")
        assert list(root.iterdir()) == []

    def test_a_lock_is_waited_for(self, root: Path) -> None:
        path = root / ".dreaming/lock"
        taken, free = threading.Event(), threading.Event()

        def hold() -> None:
            with lock(path):
                taken.set()
                free.wait(10)

        thread = threading.Thread(target=hold)
        thread.start()
        taken.wait(10)
        with pytest.raises(Refused), lock(path, 0.01):
            pass
        free.set()
        with lock(path, 10.0):
            pass
        thread.join()
        assert path.read_bytes() == b""

    def test_a_lock_file_that_is_a_link_is_not_followed(self, root: Path, tmp_path: Path) -> None:
        (root / ".dreaming").mkdir()
        (tmp_path / "theirs").write_text("x")
        (root / ".dreaming/lock").symlink_to(tmp_path / "theirs")
        with pytest.raises(Refused), lock(root / ".dreaming/lock"):
            pass
        assert (tmp_path / "theirs").read_text() == "x"

    def test_a_write_waits_for_another_and_gives_up_with_a_sentence(self, root: Path, files: Folder) -> None:
        impatient = Folder.at(root)
        impatient.wait = 0.01
        with files.writing(), pytest.raises(Refused, match="another write"):
            impatient.append("a.md", "x", a_run())
        impatient.append("a.md", "x", a_run())
