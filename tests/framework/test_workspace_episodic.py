"""The writer of episodic notes (cases C01 to C08, B27)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.workspace import Folder
from reverie.workspace.episodic import note, stands
from reverie_hookspecs import Refused, Run, Unreadable

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
RUN = Run("x-1", "x", "dream", STARTED)
NEXT_DAY = Run("x-2", "x", "dream", STARTED + timedelta(days=1))


@pytest.fixture
def files(tmp_path: Path) -> Folder:
    (tmp_path / "w").mkdir()
    return Folder.at(tmp_path / "w")


def text(files: Folder, path: str = "memory/t.md") -> str:
    return files.read(path).text


@pytest.mark.parametrize("topic", ["a", "a-b", "2026", "x" * 64])
def test_c01_a_slug_is_accepted(files: Folder, topic: str) -> None:
    note(files, "memory", topic, "a", RUN)
    assert files.names("memory") == [f"memory/{topic}.md"]


@pytest.mark.parametrize("topic", ["", "-a", "a-", "a--b", "A", "a_b", "a.b", "../x", "x" * 65, "a\n", "é"])
def test_c02_any_other_topic_is_refused(files: Folder, topic: str) -> None:
    with pytest.raises(Refused, match="no topic"):
        note(files, "memory", topic, "a", RUN)
    assert list(files.root.iterdir()) == []


def test_c04_a_note_that_is_a_link_is_refused(files: Folder, tmp_path: Path) -> None:
    (tmp_path / "outside.md").write_text("theirs")
    (files.root / "memory").mkdir()
    (files.root / "memory/t.md").symlink_to(tmp_path / "outside.md")
    with pytest.raises(Refused, match="link"):
        note(files, "memory", "t", "a", RUN)
    assert (tmp_path / "outside.md").read_text() == "theirs"


def test_c08_a_folder_that_is_a_link_is_refused(files: Folder, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (files.root / "memory").symlink_to(tmp_path / "elsewhere")
    for folder in ("memory", "memory/deep"):
        with pytest.raises(Refused, match="link"):
            note(files, folder, "t", "a", RUN)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize(("old", "newline"), [("- old", "\n"), ("# T\r\n- old", "\r\n"), ("- old\n", "\n")])
def test_c05_a_bullet_begins_on_a_line_of_its_own_with_the_newline_of_its_file(
    files: Folder, old: str, newline: str
) -> None:
    (files.root / "memory").mkdir()
    (files.root / "memory/t.md").write_bytes(old.encode())
    note(files, "memory", "t", "new", RUN)
    body = old if old.endswith("\n") else old + newline
    assert (files.root / "memory/t.md").read_bytes() == f"{body}- [2026-03-04] new{newline}".encode()


def test_c06_what_a_bullet_says_already_is_skipped_on_any_day(files: Folder) -> None:
    assert note(files, "memory", "t", "Fired the kiln", RUN).outcome == "written"
    assert note(files, "memory", "t", "Fired  the\nkiln ", NEXT_DAY).outcome == "unchanged"
    assert note(files, "memory", "t", "Fired the kiln twice", NEXT_DAY).outcome == "written"
    assert text(files) == "# T\n\n- [2026-03-04] Fired the kiln\n- [2026-03-05] Fired the kiln twice\n"
    assert len(files.journal.writes("x-2")) == 1


def test_b27_a_note_is_one_line(files: Folder) -> None:
    note(files, "memory", "x-1", " a\n\n b ", RUN)
    assert text(files, "memory/x-1.md") == "# X 1\n\n- [2026-03-04] a b\n"


def test_a_note_without_a_text_or_in_an_unreadable_file_is_refused(files: Folder) -> None:
    with pytest.raises(Refused, match="needs a text"):
        note(files, "memory", "t", " \n", RUN)
    (files.root / "memory").mkdir()
    (files.root / "memory/t.md").write_bytes(b"\0")
    with pytest.raises(Unreadable):
        note(files, "memory", "t", "a", RUN)


@given(st.text().filter(str.strip))
def test_what_was_noted_stands_and_is_one_line(said: str) -> None:
    single = " ".join(said.split())
    line = f"- [2026-03-04] {single}\n"
    assert stands(f"# T\n\n{line}", single)
    assert len(line.splitlines()) == 1
