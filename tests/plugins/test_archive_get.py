"""Reading lines of a source: what may be read, and how much of it at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.workspace import Folder
from reverie_hookspecs import ArchiveSettings, Corpus, NotFound, Refused, Settings, Unreadable
from reverie_plugins.fts5_archive.get import MOST, WIDEST, excerpt, get
from reverie_plugins.fts5_archive.scan import indexable


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    (tmp_path / "w/memory").mkdir(parents=True)
    (tmp_path / "x.md").write_text("outside")
    files = Folder.at(tmp_path / "w")
    return Corpus("a", "memory", files, tmp_path / "kb.sqlite", Settings({ArchiveSettings: ArchiveSettings()}))


def put(corpus: Corpus, path: str, text: str) -> None:
    file = corpus.files.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


@pytest.mark.parametrize(
    "path",
    [
        "memory/../x.md", "/etc/passwd", "AGENTS.md", "memory/x.txt", "./memory/a.md", "", "memory", "memory/", "x.md",
        "memory//a.md", "memory/./a.md", "memory/.a.md", ".dreaming/DREAMS.md", "memory\\a.md", "memory/a\0.md",
        "CLAUDE.md", "memory/.x/a.md", "../w/memory/a.md", "memory/a.md/", "Memory/a.md", "notes/a.md", "memory.md",
    ],
)  # fmt: skip
def test_what_is_not_indexed_is_refused(corpus: Corpus, path: str) -> None:
    for name in ("memory/a.md", "AGENTS.md", "memory/x.txt", "x.md", ".dreaming/DREAMS.md", "CLAUDE.md", "notes/a.md"):
        put(corpus, name, "secret")
    with pytest.raises(Refused):
        get(corpus, path)


@pytest.mark.parametrize("path", ["memory/a..b.md", "MEMORY.md", "USER.md", "memory/..a/b.md", "memory/x/a.MD"])
def test_what_is_indexed_is_read(corpus: Corpus, path: str) -> None:
    if "/." in path:
        assert not indexable(path)
        return
    put(corpus, path, "kiln")
    assert get(corpus, path).text == "kiln"


@pytest.mark.parametrize("target", ["../x.md", "../../x.md", "b.md"])
def test_a_link_is_refused(corpus: Corpus, target: str) -> None:
    put(corpus, "memory/b.md", "inside")
    (corpus.files.root / "memory/evil.md").symlink_to(target)
    with pytest.raises(Refused):
        get(corpus, "memory/evil.md")
    (corpus.files.root / "memory/folder").symlink_to("..")
    with pytest.raises(Refused):
        get(corpus, "memory/folder/memory.md")


def test_a_root_behind_a_link_is_fine(corpus: Corpus, tmp_path: Path) -> None:
    put(corpus, "memory/a.md", "kiln")
    (tmp_path / "alias").symlink_to(corpus.files.root)
    alias = Corpus("a", "memory", Folder.at(tmp_path / "alias"), corpus.database, corpus.settings)
    assert get(alias, "memory/a.md").text == "kiln"


def test_what_is_not_there_is_not_found(corpus: Corpus) -> None:
    for path in ("memory/none.md", "memory/ö.md", "memory/none/none.md", "MEMORY.md"):
        with pytest.raises(NotFound):
            get(corpus, path)
    assert not corpus.database.exists()


def test_a_folder_or_binary_file_is_unreadable(corpus: Corpus) -> None:
    (corpus.files.root / "memory/a.md").mkdir()
    put(corpus, "memory/b.md", "a\0b")
    for path in ("memory/a.md", "memory/b.md"):
        with pytest.raises(Unreadable):
            get(corpus, path)


def test_in_a_vault_only_notes_are_read(corpus: Corpus) -> None:
    for path in ("notes/a.md", "notes/x/a.md", "memory/a.md", "MEMORY.md"):
        put(corpus, path, "kiln")
    vault = Corpus("v", "shared", corpus.files, corpus.database, corpus.settings)
    assert get(vault, "notes/a.md").text == "kiln"
    for path in ("notes/x/a.md", "memory/a.md", "MEMORY.md"):
        with pytest.raises(Refused):
            get(vault, path)


FIVE = "1\n2\r\n3\r4\n5\n"


@pytest.mark.parametrize(
    ("start", "count", "text", "first", "last", "truncated"),
    [
        (2, 2, "2\n3", 2, 3, True),
        (1, 200, "1\n2\n3\n4\n5", 1, 5, False),
        (4, 2, "4\n5", 4, 5, False),
        (99, 200, "", 99, 98, False),
        (-3, 1, "1", 1, 1, True),
        (5, 0, "5", 5, 5, False),
        (1, -1, "1", 1, 1, True),
    ],
)
def test_lines_are_counted_from_one(start: int, count: int, text: str, first: int, last: int, truncated: bool) -> None:
    found = excerpt("a.md", FIVE, start, count)
    assert (found.text, found.start, found.end, found.total, found.truncated) == (text, first, last, 5, truncated)


def test_an_empty_file_has_no_lines() -> None:
    found = excerpt("a.md", "")
    assert (found.text, found.end, found.total, found.truncated) == ("", 0, 0, False)


def test_no_more_is_given_than_fits() -> None:
    assert excerpt("a.md", "x\n" * 5000, 1, 9999).end == MOST
    found = excerpt("a.md", ("y" * 1023 + "\n") * 100)
    assert (found.end, found.truncated, len(found.text)) == (64, True, WIDEST - 1)
    found = excerpt("a.md", "ö" * WIDEST + "\nb")
    assert (found.end, found.truncated, len(found.text.encode())) == (1, True, WIDEST)


@given(st.text("ab\n\r\x85\u2028ö", max_size=60), st.integers(-2, 20), st.integers(-2, 20))
def test_the_pieces_of_a_text_are_the_text(text: str, start: int, count: int) -> None:
    whole = excerpt("a.md", text)
    found = excerpt("a.md", text, start, count)
    lines = whole.text.split("\n")
    if found.end >= found.start:
        assert found.text.split("\n") == lines[found.start - 1 : found.end]
    assert found.truncated == (found.start <= found.total and found.end < found.total)
