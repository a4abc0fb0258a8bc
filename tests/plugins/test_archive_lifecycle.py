"""Lifecycle rows: who has one, how old it is, what is folded in, and what ends it."""

from __future__ import annotations

import os
import sqlite3
import time
from pathlib import Path
from typing import cast

import pytest

from reverie.markdown import entry_hash
from reverie.workspace import Folder
from reverie_hookspecs import ArchiveSettings, Corpus, Indexing, ReverieError, Settings
from reverie_plugins.fts5_archive.cut import note_key
from reverie_plugins.fts5_archive.entry import entries
from reverie_plugins.fts5_archive.index import job
from reverie_plugins.fts5_archive.lifecycle import record
from reverie_plugins.fts5_archive.store import held

OLD, NEW = 1_700_000_000, 1_750_000_000
STALE = "memory/archive/stale.md"


class World:
    def __init__(self, root: Path, kind: str = "memory") -> None:
        root.mkdir(exist_ok=True)
        files = Folder.at(root)
        settings = Settings({ArchiveSettings: ArchiveSettings()})
        self.corpus = Corpus("a", kind, files, root / ".reverie/kb.sqlite", settings)  # type: ignore[arg-type]

    def write(self, path: str, text: str, when: int = OLD) -> None:
        file = self.corpus.files.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        os.utime(file, (when, when))

    def index(self, full: bool = False) -> Indexing:
        return job(self.corpus).run(Indexing(self.corpus, full))

    def do(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.corpus.database, isolation_level=None)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def entries(self) -> list[tuple[int, int, str, int]]:
        """First and last line, hash and importance of every entry."""
        known = [str(row[0]) for row in self.do("SELECT lower(hex(entry_hash)) FROM kb_entry_lifecycle")]
        return [
            (one.start, one.end, next((name for name in known if name.startswith(one.key.hex())), one.key.hex()),
             one.importance)
            for places, keys in self.do("SELECT places, keys FROM kb_entries ORDER BY source")
            for one in entries(cast("bytes", places), cast("bytes", keys))
        ]  # fmt: skip

    def life(self, text: str, columns: str = "first_seen, retrieval_count, places") -> tuple[object, ...] | None:
        rows = self.do(
            f"SELECT {columns} FROM kb_entry_lifecycle WHERE entry_hash = ?", bytes.fromhex(entry_hash(text))
        )
        return rows[0] if rows else None


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path / "w")


@pytest.mark.parametrize("path", ["memory/a.md", "memory/a.MD", "memory/pinned.md", STALE, "memory/x/pinned/a.md"])
def test_what_is_indexed_under_memory_ages(world: World, path: str) -> None:
    world.write(path, "- a\n")
    world.index()
    assert world.life("- a") == (OLD * 1000, 0, 1)


@pytest.mark.parametrize("path", ["MEMORY.md", "USER.md", "memory/pinned/x.md", "memory/pinned/deep/x.md"])
def test_what_is_pinned_does_not_age_and_is_indexed(world: World, path: str) -> None:
    world.write(path, "- a\n")
    world.index()
    assert world.do("SELECT * FROM kb_entry_lifecycle") == []
    assert [name for _, _, name, _ in world.entries()] == [entry_hash("- a")]
    assert held(world.corpus, [entry_hash("- a")]) == {entry_hash("- a")}


def test_an_entry_keeps_the_age_it_has(world: World) -> None:
    world.write("memory/a.md", "- a\n- b\n")
    world.index()
    world.write("memory/a.md", "- b\n- c\n", NEW)
    world.index()
    assert (world.life("- a"), world.life("- b"), world.life("- c")) == (None, (OLD * 1000, 0, 1), (NEW * 1000, 0, 1))


def test_an_entry_keeps_its_row_when_it_moves(world: World) -> None:
    world.write("memory/a.md", "- a\n- b\n")
    world.index()
    record(world.corpus, [entry_hash("- a")], 5)
    world.write("memory/a.md", "- b\n", NEW)
    world.write("memory/z.md", "- a\n  <!-- archived 2026-01-01 from memory/a.md -->\n", NEW)
    world.index()
    assert world.life("- a") == (OLD * 1000, 1, 1)


def test_an_entry_in_two_files_is_one_row_that_knows_both(world: World) -> None:
    world.write("memory/a.md", "- a  b\n  c\n- x\n- x\n", NEW)
    world.write("memory/b.md", "- a b c\n", OLD)
    world.index()
    assert world.life("- a b c") == (OLD * 1000, 0, 2)
    assert world.life("- x", "places") == (2,)
    assert [name for _, _, name, _ in world.entries()].count(entry_hash("- a b c")) == 2
    (world.corpus.files.root / "memory/a.md").unlink()
    world.index()
    assert (world.life("- a b c"), world.life("- x")) == ((OLD * 1000, 0, 1), None)


def test_a_time_in_the_future_counts_as_now(world: World) -> None:
    world.write("memory/a.md", "- a\n", 4_000_000_000)
    world.index()
    row = world.life("- a")
    assert row
    assert abs(int(str(row[0])) / 1000 - time.time()) < 60


def test_a_row_whose_text_is_gone_goes_at_the_next_pass(world: World) -> None:
    world.write("memory/a.md", "- a\n")
    world.index()
    world.write("memory/a.md", "- a edited\n", NEW)
    world.index()
    assert world.life("- a") is None
    assert held(world.corpus, [entry_hash("- a"), entry_hash("- a edited"), "x", "00"]) == {entry_hash("- a edited")}


def test_the_log_is_folded_at_every_run(world: World) -> None:
    world.write("memory/a.md", "- a\n- b\n")
    world.index()
    record(world.corpus, [entry_hash("- a"), entry_hash("- a"), entry_hash("- unknown"), "no hash"], 1000)
    record(world.corpus, [entry_hash("- a")], 500)
    world.index()
    assert world.life("- a", "last_retrieved, retrieval_count") == (1000, 2)
    assert world.life("- b", "last_retrieved, retrieval_count") == (None, 0)
    assert world.do("SELECT * FROM kb_retrieval_log") == []
    record(world.corpus, [entry_hash("- b")], 7)
    assert world.do("SELECT id, at FROM kb_retrieval_log") == [(4, 7)]


def test_retrievals_survive_a_rebuild(world: World) -> None:
    world.write("memory/a.md", "- a\n")
    world.index()
    record(world.corpus, [entry_hash("- a")], 1000)
    world.index(full=True)
    assert world.life("- a", "first_seen, last_retrieved, retrieval_count, places") == (OLD * 1000, 1000, 1, 1)


def test_nothing_is_recorded_where_nothing_is_indexed(world: World) -> None:
    record(world.corpus, [entry_hash("- a")])
    assert not world.corpus.database.exists()
    assert held(world.corpus, [entry_hash("- a")]) == set()


def test_a_retrieval_that_cannot_be_noted_is_soon_given_up(world: World) -> None:
    world.write("memory/a.md", "- a\n")
    world.index()
    other = sqlite3.connect(world.corpus.database, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    start = time.monotonic()
    with pytest.raises(ReverieError, match="try again"):
        record(world.corpus, [entry_hash("- a")])
    assert time.monotonic() - start < 3
    other.close()


def test_what_an_entry_supersedes_is_kept(world: World) -> None:
    world.write("memory/a.md", "- supersedes #12\n- plain\n")
    world.index()
    assert world.life("- supersedes #12", "supersedes_key") == ("#12",)
    assert world.life("- plain", "supersedes_key") == (None,)


def test_stamps_are_read_back_from_the_archive(world: World) -> None:
    stamp = "  <!-- stale 2026-03-04 from memory/a.md; invalid_at 2026-03-04T05:06:07+00:00; superseded_by #9 -->\n\n"
    world.write(STALE, f"- a\n{stamp}- b\n")
    world.write("memory/b.md", f"- c\n{stamp}")
    world.index()
    assert world.life("- a", "invalid_at, superseded_by") == (1_772_600_767_000, "#9")
    assert (
        world.life("- b", "invalid_at, superseded_by") == world.life("- c", "invalid_at, superseded_by") == (None, None)
    )
    world.do("UPDATE kb_entry_lifecycle SET invalid_at = 5")
    world.index(full=True)
    assert world.life("- a", "invalid_at") == (5,)
    world.write(STALE, "- b\n", NEW)
    world.write("memory/archive/restored.md", "- a\n", NEW)
    world.index()
    assert world.life("- a", "first_seen, invalid_at, superseded_by") == (OLD * 1000, None, None)


def test_a_deleted_index_restarts_ages_and_keeps_invalidation(world: World) -> None:
    world.write(STALE, "- a\n  <!-- stale 2026-03-04 from memory/a.md -->\n")
    world.index()
    for ending in ("", "-wal", "-shm"):
        Path(f"{world.corpus.database}{ending}").unlink(missing_ok=True)
    world.index()
    assert world.life("- a", "first_seen, invalid_at") == (OLD * 1000, 1_772_582_400_000)


def test_a_note_of_a_vault_is_one_entry_known_by_its_name(tmp_path: Path) -> None:
    world = World(tmp_path / "v", "shared")
    world.write("notes/kiln.md", "---\nimportance: 8\n---\n# Kiln\n- a\n- b\n")
    world.index()
    assert world.entries() == [(1, 7, note_key("kiln").hex(), 8)]
    record(world.corpus, [note_key("kiln").hex()], 9)
    (world.corpus.files.root / "notes/kiln.md").rename(world.corpus.files.root / "notes/stale__kiln.md")
    world.index()
    rows = world.do("SELECT first_seen, last_retrieved, retrieval_count, places FROM kb_entry_lifecycle")
    assert rows == [(OLD * 1000, 9, 1, 1)]


def test_rows_that_were_lost_are_written_again_with_the_stored_times(world: World) -> None:
    world.write("memory/a.md", "- a\n")
    world.index()
    world.do("DELETE FROM kb_entry_lifecycle")
    world.index()
    assert world.life("- a") == (OLD * 1000, 0, 1)


def test_no_row_is_missed_where_nothing_grows_old(world: World) -> None:
    world.write("MEMORY.md", "- a\n")
    world.index()
    assert world.index().changed == ()
