"""The store: making it, opening it, and what becomes of one that is damaged or none of ours."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from attrs import evolve

from reverie.markdown import entry_hash
from reverie.workspace import Folder
from reverie_hookspecs import ArchiveSettings, Corpus, Indexing, ReverieError, Settings, Unreadable
from reverie_plugins.fts5_archive.index import job
from reverie_plugins.fts5_archive.lifecycle import record
from reverie_plugins.fts5_archive.store import APPLICATION, PAGE, Damaged, Store, answered, held, reading

NOTES = 30


class Kernel:
    """Indexes, as the kernel would."""

    def index(self, corpus: Corpus, full: bool = False) -> Indexing:
        return job(corpus).run(Indexing(corpus, full))


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    root = tmp_path / "w"
    (root / "memory").mkdir(parents=True)
    for number in range(NOTES):
        file = root / f"memory/{number}.md"
        file.write_text(f"# Log {number}\n" + "".join(f"- kiln {number} fires {turn}\n" for turn in range(40)))
        os.utime(file, (1_700_000_000, 1_700_000_000))
    state = tmp_path / "state"
    return Corpus("a", "memory", Folder.at(root), state / "kb.sqlite", Settings({ArchiveSettings: ArchiveSettings()}))


def index(corpus: Corpus, full: bool = False) -> Indexing:
    return Kernel().index(corpus, full)


def ask(corpus: Corpus, statement: str) -> list[tuple[object, ...]]:
    with contextlib.closing(sqlite3.connect(corpus.database, isolation_level=None)) as connection:
        return connection.execute(statement).fetchall()


def kilns(connection: sqlite3.Connection) -> int:
    """Chunks that answer a search, read in whole."""
    statement = (
        "SELECT text, bm25(kb_fts) FROM kb_fts JOIN kb_chunks c ON c.id = kb_fts.rowid WHERE kb_fts MATCH 'kiln'"
    )
    statement = statement.replace("SELECT text", "SELECT c.text")
    rows = connection.execute(statement).fetchall()
    assert all(str(row[0]).count("kiln") for row in rows)
    return len(rows)


def aside(corpus: Corpus) -> list[Path]:
    return sorted(corpus.database.parent.glob("kb.sqlite.corrupt-*"))


def test_a_new_store_is_marked_as_ours(corpus: Corpus) -> None:
    index(corpus)
    assert ask(corpus, "PRAGMA application_id") == [(APPLICATION,)]
    assert ask(corpus, "PRAGMA page_size") == [(PAGE,)]
    assert ask(corpus, "PRAGMA journal_mode") == [("wal",)]
    assert corpus.database.read_bytes()[68:72] == APPLICATION.to_bytes(4, "big")
    tables = {"kb_sources", "kb_chunks", "kb_fts", "kb_words", "kb_common", "kb_entries", "kb_entry_lifecycle",
              "kb_retrieval_log", "kb_index_state"}  # fmt: skip
    assert tables <= {row[0] for row in ask(corpus, "SELECT name FROM sqlite_master")}
    assert ask(corpus, "SELECT count FROM kb_common WHERE term = 'kiln'")[0][0] >= NOTES


def test_what_is_not_there_is_not_made_by_looking(corpus: Corpus) -> None:
    assert Store.look(corpus.database, lambda store: store.state(), None) is None
    with pytest.raises(FileNotFoundError), Store.open(corpus.database):
        pass
    assert not corpus.database.parent.exists()


def test_an_empty_file_becomes_a_store(corpus: Corpus) -> None:
    corpus.database.parent.mkdir()
    corpus.database.touch()
    assert len(index(corpus).changed) == NOTES
    assert aside(corpus) == []


def test_a_log_that_was_left_behind_is_not_taken_for_ours(corpus: Corpus) -> None:
    index(corpus)
    data = corpus.database.read_bytes()
    corpus.database.unlink()
    Path(f"{corpus.database}-wal").write_bytes(data)
    assert len(index(corpus).changed) == NOTES
    with reading(corpus, Kernel()) as connection:
        assert kilns(connection) >= NOTES


def test_a_store_that_became_another_file_is_opened_anew(corpus: Corpus) -> None:
    index(corpus)
    with Store.open(corpus.database) as store:
        assert store.state().revision == 1
        for ending in ("", "-wal", "-shm"):
            Path(f"{corpus.database}{ending}").unlink(missing_ok=True)
        index(corpus)
        index(corpus, full=True)
        assert store.state().revision == 2


def test_several_threads_have_a_connection_each(corpus: Corpus) -> None:
    index(corpus)
    found: list[int] = []
    with Store.open(corpus.database) as store:

        def count() -> None:
            found.append(kilns(store.connection()))
            store.close()

        threads = [threading.Thread(target=count) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(set(found)) == 1
    assert len(found) == 4


def test_the_first_search_indexes(corpus: Corpus) -> None:
    with reading(corpus, Kernel()) as connection:
        assert kilns(connection) >= NOTES


@pytest.mark.parametrize(
    "content", [b"garbage", b"garbage " * 9000, b"SQLite format 3\0" + b"\xff" * 5000, b"\0" * 4096]
)
def test_what_is_no_database_goes_aside_and_is_said_once(corpus: Corpus, content: bytes) -> None:
    corpus.database.parent.mkdir()
    corpus.database.write_bytes(content)
    assert Store.look(corpus.database, lambda store: store.state(), None) is None
    letter = index(corpus)
    assert len(letter.changed) == NOTES
    assert "was damaged, or none of ours" in letter.reports[0]
    assert [file.read_bytes() for file in aside(corpus)] == [content]
    assert index(corpus).reports == ()


def test_the_lives_in_a_strangers_database_are_saved_by_the_names_of_their_columns(corpus: Corpus) -> None:
    corpus.database.parent.mkdir()
    with contextlib.closing(sqlite3.connect(corpus.database, isolation_level=None)) as connection:
        connection.execute("PRAGMA user_version = 7")
        connection.execute(
            "CREATE TABLE kb_entry_lifecycle (retrieval_count, extra, entry_hash TEXT, first_seen, invalid_at)"
        )
        rows = [
            (3, "x", entry_hash("- kiln 1 fires 1"), 5000, "soon"),
            (9, "x", entry_hash("- gone"), 5000, None),
            (1, "x", "no hash", 5000, None),
            (-4, "x", entry_hash("- kiln 1 fires 2").upper(), 10**18, 77),
        ]
        connection.executemany("INSERT INTO kb_entry_lifecycle VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("CREATE TABLE kb_retrieval_log (at INTEGER, entry_hash TEXT)")
        connection.execute("INSERT INTO kb_retrieval_log VALUES (6000, ?)", (entry_hash("- kiln 1 fires 1"),))
    letter = index(corpus)
    assert "3 entries and 1 retrievals were saved" in letter.reports[0]
    columns = "hex(entry_hash), first_seen, last_retrieved, retrieval_count, invalid_at"
    saved = ask(corpus, f"SELECT {columns} FROM kb_entry_lifecycle WHERE retrieval_count OR invalid_at")
    assert sorted(saved) == sorted([
        (entry_hash("- kiln 1 fires 1").upper(), 5000, 6000, 4, None),
        (entry_hash("- kiln 1 fires 2").upper(), 1_700_000_000_000, None, 0, 77),
    ])  # fmt: skip
    assert len(ask(corpus, "SELECT * FROM kb_entry_lifecycle")) == NOTES * 40


def used(corpus: Corpus) -> bytes:
    """The bytes of an index with retrievals in it, and one still in its log."""
    index(corpus)
    record(corpus, [entry_hash(f"- kiln {number} fires {number}") for number in range(NOTES)], 1000)
    index(corpus)
    record(corpus, [entry_hash("- kiln 1 fires 1")], 2000)
    ask(corpus, "PRAGMA wal_checkpoint(TRUNCATE)")
    return corpus.database.read_bytes()


def hits(corpus: Corpus) -> int:
    return answered(corpus, Kernel(), kilns)


@pytest.mark.parametrize("damage", ["noise", "zeros"])
def test_whichever_page_is_damaged_the_index_is_whole_again(corpus: Corpus, damage: str) -> None:
    good = used(corpus)
    wanted = hits(corpus)
    dice = random.Random(damage)
    kept = 0
    for page in range(len(good) // PAGE):
        junk = dice.randbytes(PAGE) if damage == "noise" else bytes(PAGE)
        for ending in ("-wal", "-shm"):
            Path(f"{corpus.database}{ending}").unlink(missing_ok=True)
        corpus.database.write_bytes(good[: page * PAGE] + junk + good[(page + 1) * PAGE :])
        index(corpus)
        hits(corpus)
        index(corpus, full=True)
        assert hits(corpus) == wanted, page
        assert ask(corpus, "PRAGMA quick_check") == [("ok",)]
        assert len(held(corpus, [entry_hash(f"- kiln {number} fires 3") for number in range(NOTES)])) == NOTES
        kept += int(str(ask(corpus, "SELECT total(retrieval_count) > 20 FROM kb_entry_lifecycle")[0][0]))
    assert kept > len(good) // PAGE // 2


def test_where_only_the_header_is_damaged_everything_is_saved(corpus: Corpus) -> None:
    good = used(corpus)
    corpus.database.write_bytes(random.Random(1).randbytes(100) + good[100:])
    assert f"{NOTES * 40} entries and 1 retrievals were saved" in index(corpus).reports[0]
    assert ask(corpus, "SELECT sum(retrieval_count), max(last_retrieved) FROM kb_entry_lifecycle") == [
        (NOTES + 1, 2000)
    ]
    assert len(aside(corpus)) == 1
    assert [path.name for path in corpus.database.parent.iterdir() if path.name.startswith(".reverie-")] == []


def test_the_rows_before_and_after_a_damaged_page_are_saved(corpus: Corpus) -> None:
    used(corpus)
    many = [(bytes.fromhex(entry_hash(f"- x {number}")),) for number in range(4000)]
    with contextlib.closing(sqlite3.connect(corpus.database, isolation_level=None)) as connection:
        connection.executemany("INSERT INTO kb_entry_lifecycle (entry_hash, places) VALUES (?, 1)", many)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        total = connection.execute("SELECT count(*) FROM kb_entry_lifecycle").fetchone()[0]
        pages = connection.execute(
            "SELECT pageno FROM dbstat WHERE name = 'kb_entry_lifecycle' AND pagetype = 'leaf' ORDER BY path"
        ).fetchall()
    data = bytearray(corpus.database.read_bytes())
    middle = pages[len(pages) // 2][0] - 1
    data[middle * PAGE : (middle + 1) * PAGE] = b"\xff" * PAGE
    corpus.database.write_bytes(data)
    from reverie_plugins.fts5_archive.rescue import salvaged

    lives, log = salvaged(corpus.database)
    assert total * 0.6 < len(lives) < total
    assert len(log) == 1


def test_a_search_in_a_damaged_index_says_to_ask_again(corpus: Corpus) -> None:
    index(corpus)
    with pytest.raises(Unreadable, match="made anew; ask again"), reading(corpus, Kernel()):
        raise sqlite3.DatabaseError("database disk image is malformed")
    assert len(aside(corpus)) == 1
    assert hits(corpus) >= NOTES


def test_a_database_that_nobody_may_open_is_explained(corpus: Corpus) -> None:
    corpus.database.mkdir(parents=True)
    with pytest.raises(ReverieError, match="cannot be opened"):
        index(corpus)
    with pytest.raises(ReverieError, match="cannot be opened"):
        held(corpus, [entry_hash("- a")])


def test_a_stores_mark_is_checked_before_its_tables(corpus: Corpus) -> None:
    index(corpus)
    ask(corpus, "PRAGMA user_version = 99")
    with pytest.raises(Damaged), Store.open(corpus.database):
        pass
    assert "none of ours" in index(corpus).reports[0]


def test_looking_for_text_imports_nothing_heavy() -> None:
    heavy = ("mcp", "yaml", "rich", "cattrs", "difflib", "asyncio", "subprocess", "tempfile")
    code = (
        "import sys, reverie_plugins.fts5_archive.store as s; from pathlib import Path\n"
        "s.Store.look(Path('/nowhere/kb.sqlite'), lambda store: store.state(), None)\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_lookup_in_another_corpus_makes_none(corpus: Corpus, tmp_path: Path) -> None:
    other = evolve(corpus, database=tmp_path / "other/kb.sqlite")
    assert held(other, [entry_hash("- a")]) == set()
    assert not other.database.parent.exists()
