"""The index job: what it indexes, what it leaves, what it tells; kills, two at once, and a dry run."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import sys
import threading
import time
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import pytest
from attrs import evolve

from reverie.workspace import Folder
from reverie_hookspecs import ArchiveSettings, Corpus, Indexing, Run, Settings, Source, StalenessSettings
from reverie_plugins.fts5_archive import farm, fetch, scan as scanning
from reverie_plugins.fts5_archive.get import get
from reverie_plugins.fts5_archive.index import job
from reverie_plugins.fts5_archive.provenance import classify
from reverie_plugins.fts5_archive.store import Store


def settings(**archive: object) -> Settings:
    return Settings({ArchiveSettings: ArchiveSettings(**archive), StalenessSettings: StalenessSettings()})


class World:
    """A workspace with its corpus."""

    def __init__(self, root: Path) -> None:
        self.root = root / "workspace"
        (self.root / "memory").mkdir(parents=True)
        self.corpus = Corpus("a", "memory", Folder.at(self.root), root / "state" / "kb.sqlite", settings())

    def write(self, path: str, text: str | bytes, age: float = 100) -> Path:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(file, (time.time() - age, time.time() - age))
        return file

    def index(self, *added: Source, full: bool = False, corpus: Corpus | None = None) -> Indexing:
        corpus = corpus or self.corpus
        return job(corpus).run(Indexing(corpus, full, added))

    def rows(self, statement: str, *values: object) -> list[tuple[object, ...]]:
        connection = sqlite3.connect(self.corpus.database)
        try:
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()

    def found(self, word: str) -> list[str]:
        """The paths of the chunks that hold a word, by the full-text index."""
        statement = (
            "SELECT DISTINCT path FROM kb_fts JOIN kb_chunks c ON c.id = kb_fts.rowid"
            " JOIN kb_sources s ON s.id = c.source WHERE kb_fts MATCH ? ORDER BY path"
        )
        return [str(row[0]) for row in self.rows(statement, f'"{word}"')]

    def sound(self) -> None:
        """The index is what the files say, whichever way it came to be."""
        assert self.rows("PRAGMA quick_check") == [("ok",)]
        fresh = evolve(self.corpus, database=self.corpus.database.with_name("fresh.sqlite"))
        self.index(corpus=fresh)
        tables = (
            "SELECT path, hex(digest), origin, kind, importance FROM kb_sources ORDER BY path",
            "SELECT path, start_line, end_line, c.text, headings FROM kb_chunks c JOIN kb_sources s ON s.id = source"
            " ORDER BY path, start_line, end_line, c.id",
            "SELECT path, hex(places), hex(keys) FROM kb_entries JOIN kb_sources s ON s.id = source ORDER BY path",
            "SELECT hex(entry_hash), places FROM kb_entry_lifecycle ORDER BY entry_hash",
            "SELECT term, doc, cnt FROM kb_words WHERE cnt > 0 ORDER BY term",
        )
        wanted = World.__new__(World)
        wanted.corpus = fresh
        for table in tables:
            assert self.rows(table) == wanted.rows(table)
        for ending in ("", "-wal", "-shm"):
            Path(f"{fresh.database}{ending}").unlink(missing_ok=True)

    def revision(self) -> object:
        return self.rows("SELECT revision FROM kb_index_state")[0][0]


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_exactly_the_memory_files_are_indexed(world: World) -> None:
    for path in ("MEMORY.md", "USER.md", "memory/a.md", "memory/b/c/d.MD", "memory/dreaming/e.md", "memory/f.Md"):
        world.write(path, f"- kiln of {path}\n")
    for path in (
        "AGENTS.md",
        "memory/x.txt",
        "memory/.h.md",
        "memory/.dreams/x.md",
        ".dreaming/DREAMS.md",
        "notes/n.md",
    ):
        world.write(path, "- kiln\n")
    (world.root / "memory/link.md").symlink_to(world.root / "AGENTS.md")
    (world.root / "memory/linked").symlink_to(world.root / "notes")
    (world.root / "memory/folder.md").mkdir()
    world.write("memory/folder.md/in.md", "- kiln\n")
    letter = world.index()
    wanted = ["MEMORY.md", "USER.md", "memory/a.md", "memory/b/c/d.MD", "memory/dreaming/e.md", "memory/f.Md",
              "memory/folder.md/in.md"]  # fmt: skip
    assert [source.path for source in letter.changed] == wanted
    assert world.found("kiln") == wanted
    assert letter.reports == ()
    assert dict(world.rows("SELECT path, origin FROM kb_sources"))["memory/dreaming/e.md"] == "system"
    assert all(get(world.corpus, path).text == f"- kiln of {path}" for path in wanted[:-1])


def test_a_root_that_is_reached_by_a_link_is_indexed(world: World, tmp_path: Path) -> None:
    world.write("memory/a.md", "kiln")
    (tmp_path / "alias").symlink_to(world.root)
    corpus = evolve(world.corpus, files=Folder.at(tmp_path / "alias"))
    assert len(world.index(corpus=corpus).changed) == 1


@pytest.mark.parametrize(
    ("path", "origin"),
    [
        ("MEMORY.md", "agent"),
        ("USER.md", "agent"),
        ("memory/a.md", "agent"),
        ("memory//./b/../a.MD", "agent"),
        ("memory\\a.md", "agent"),
        ("memory/../x.md", "untrusted"),
        ("memory/../../memory/a.md", "untrusted"),
        ("/memory/a.md", "untrusted"),
        ("C:memory/a.md", "untrusted"),
        ("memory/x.txt", "untrusted"),
        ("notes/a.md", "untrusted"),
        ("", "untrusted"),
        ("memory/dreaming/a.md", "system"),
        ("memory/Dreaming/a.md", "system"),
        ("memory/x/../dreaming/a.md", "system"),
        ("memory/.dreams/a.md", "system"),
        (".dreaming/a.md", "system"),
        ("DREAMS.md", "system"),
        ("memory/dreaming.md", "agent"),
    ],
)
def test_provenance_is_known_or_not_trusted(path: str, origin: str) -> None:
    assert classify(path) == origin


def test_in_a_vault_the_notes_alone_are_the_agents() -> None:
    origins = [classify(path, "shared") for path in ("notes/a.md", "notes/x/a.md", "memory/a.md", "reports/a.md")]
    assert origins == ["agent", "untrusted", "untrusted", "untrusted"]


def test_what_did_not_change_is_not_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("memory/a.md", "kiln")
    world.index()
    monkeypatch.setattr(fetch, "read", lambda *args: pytest.fail("read"))
    before = world.corpus.database.read_bytes()
    letter = world.index()
    assert (letter.changed, letter.vanished, letter.unchanged) == ((), (), 1)
    assert world.corpus.database.read_bytes() == before


def test_a_touched_file_is_told_by_its_hash(world: World) -> None:
    world.write("memory/a.md", "kiln")
    world.index()
    before = world.revision()
    chunks = world.rows("SELECT * FROM kb_chunks")
    world.write("memory/a.md", "kiln", age=50)
    letter = world.index()
    assert (letter.changed, letter.unchanged, world.revision()) == ((), 1, before)
    assert world.rows("SELECT * FROM kb_chunks") == chunks


def test_a_file_that_was_just_written_is_looked_into_again(world: World) -> None:
    file = world.write("memory/a.md", "kiln", age=-60)
    world.index()
    stat = file.stat()
    file.write_text("oven")
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    world.index()
    assert (world.found("kiln"), world.found("oven")) == ([], ["memory/a.md"])


def test_an_emptied_file_has_no_chunks(world: World) -> None:
    world.write("memory/a.md", "- kiln\n")
    world.index()
    world.write("memory/a.md", "")
    assert [source.text for source in world.index().changed] == [""]
    assert world.found("kiln") == []
    assert world.rows("SELECT * FROM kb_chunks") == world.rows("SELECT * FROM kb_entries") == []
    world.sound()


def test_a_changed_file_has_its_new_text_alone(world: World) -> None:
    text = "\n".join(f"- line {number} of the kiln log" for number in range(400))
    world.write("memory/a.md", text)
    world.index()
    kept = world.rows("SELECT id FROM kb_chunks ORDER BY id")[:3]
    world.write("memory/a.md", text.replace("line 399", "oven 399"))
    world.index()
    assert world.rows("SELECT id FROM kb_chunks ORDER BY id")[:3] == kept
    assert (world.found("399"), world.found("oven")) == (["memory/a.md"], ["memory/a.md"])
    world.sound()


def test_a_deleted_file_is_pruned_and_told(world: World) -> None:
    world.write("memory/a.md", "- kiln").unlink()
    world.write("memory/b.md", "- kiln")
    world.write("memory/c.md", "- kiln")
    world.index()
    (world.root / "memory/b.md").unlink()
    letter = world.index()
    assert (letter.changed, letter.vanished, letter.unchanged) == ((), ("memory/b.md",), 1)
    world.sound()


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to root")
def test_a_file_without_permission_stays_as_indexed(world: World) -> None:
    file = world.write("memory/a.md", "- kiln")
    world.index()
    world.write("memory/a.md", "- oven")
    file.chmod(0)
    assert "cannot be read: permission denied" in world.index().reports[0]
    assert world.found("kiln") == ["memory/a.md"]


def failing(real: Callable[..., object], path: str) -> Callable[..., object]:
    def call(where: object, *args: object, **kwargs: object) -> object:
        if str(where).endswith(path):
            raise PermissionError(13, "Permission denied", path)
        return real(where, *args, **kwargs)

    return call


@pytest.mark.parametrize("full", [False, True])
def test_a_file_that_cannot_be_read_stays_as_indexed(world: World, monkeypatch: pytest.MonkeyPatch, full: bool) -> None:
    world.write("memory/a.md", "- kiln")
    world.write("memory/b.md", "- lamp")
    world.index()
    world.write("memory/a.md", "- oven")
    monkeypatch.setattr(os, "open", failing(os.open, "memory/a.md"))
    letter = world.index(full=full)
    assert "memory/a.md cannot be read: permission denied" in letter.reports[0]
    assert letter.vanished == ()
    assert (world.found("kiln"), world.found("lamp")) == (["memory/a.md"], ["memory/b.md"])
    assert len(world.rows("SELECT * FROM kb_entry_lifecycle WHERE places = 1")) == 2
    monkeypatch.undo()
    world.index()
    assert world.found("oven") == ["memory/a.md"]
    world.sound()


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("folder", ["memory/x", "memory"])
def test_a_folder_that_cannot_be_listed_prunes_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, folder: str, full: bool
) -> None:
    world.write("memory/x/y/a.md", "- kiln")
    world.write("memory/b.md", "- kiln")
    world.index()
    monkeypatch.setattr(os, "scandir", failing(os.scandir, folder))
    (world.root / "memory/b.md").unlink()
    letter = world.index(full=full)
    assert f"{folder} cannot be listed: permission denied" in letter.reports[0]
    assert letter.vanished == (("memory/b.md",) if folder == "memory/x" else ())
    assert "memory/x/y/a.md" in world.found("kiln")
    monkeypatch.undo()
    world.index()
    world.sound()


def test_a_root_that_is_away_prunes_nothing(world: World) -> None:
    world.write("memory/a.md", "- kiln")
    world.index()
    world.root.rename(world.root.with_name("away"))
    letter = world.index()
    assert letter.vanished == ()
    assert "is not there" in letter.reports[0]
    assert world.found("kiln") == ["memory/a.md"]


def test_what_is_too_large_or_binary_is_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanning, "LARGEST", 100)
    world.write("memory/large.md", "kiln " * 50)
    world.write("memory/binary.md", b"kiln\0")
    world.write("memory/late.md", b"kiln")
    letter = world.index()
    assert sorted(report.split()[0] for report in letter.reports) == ["memory/binary.md", "memory/large.md"]
    assert world.found("kiln") == ["memory/late.md"]
    world.write("memory/late.md", b"\0")
    assert world.index().vanished == ("memory/late.md",)


def test_a_nul_after_the_first_8_kib_is_text(world: World) -> None:
    world.write("memory/a.md", b"kiln\n" + b"x" * 8192 + b"\0\n")
    assert world.index().reports == ()
    assert world.found("kiln") == ["memory/a.md"]


def test_bytes_that_are_no_utf8_are_replaced(world: World) -> None:
    world.write("memory/a.md", b"\xef\xbb\xbfkiln \xff oven\r\n- b\r\n")
    (source,) = world.index().changed
    assert source.text == "kiln � oven\r\n- b\r\n"
    assert world.rows("SELECT text FROM kb_chunks")[0][0] == "kiln � oven \n- b "
    assert get(world.corpus, "memory/a.md").text == "kiln � oven\n- b"


def test_both_spellings_of_a_path_name_one_note(world: World) -> None:
    composed, apart = (unicodedata.normalize(form, "memory/café/naïve.md") for form in ("NFC", "NFD"))
    world.write(apart, "- kiln")
    assert [source.path for source in world.index().changed] == [composed]
    assert [get(world.corpus, path).text for path in (composed, apart)] == ["- kiln", "- kiln"]
    assert [source.text for source in world.index(full=True).changed] == ["- kiln"]
    world.write(composed, "- oven")
    letter = world.index()
    assert len(world.rows("SELECT * FROM kb_sources")) == 1
    assert "another file has the same name" in letter.reports[0] or len(list(world.root.rglob("*.md"))) == 1


def test_names_that_cannot_be_kept_are_reported(world: World) -> None:
    world.write("memory/a\\b.md", "- kiln")
    with suppress(OSError):
        Path(os.fsdecode(os.fsencode(world.root) + b"/memory/\xff.md")).write_text("- kiln")
    assert all("is not indexed" in report for report in world.index().reports)
    assert world.found("kiln") == []


@pytest.mark.parametrize("change", [{"chunk_tokens": 40}, {"chunk_overlap": 0}, {"tokenizer": "trigram"}])
def test_other_settings_make_the_chunks_anew_and_keep_the_lives(world: World, change: dict[str, object]) -> None:
    world.write("memory/a.md", "\n".join(f"- photosynthesis {number} of the plants" for number in range(200)))
    world.index()
    connection = sqlite3.connect(world.corpus.database)
    connection.execute("UPDATE kb_entry_lifecycle SET retrieval_count = 3, first_seen = 7")
    connection.commit()
    connection.close()
    corpus = evolve(world.corpus, settings=settings(**change))
    assert len(world.index(corpus=corpus).changed) == 1
    assert world.rows("SELECT DISTINCT retrieval_count, first_seen, places FROM kb_entry_lifecycle") == [(3, 7, 1)]
    assert world.index(corpus=corpus).changed == ()
    world.corpus = corpus
    world.sound()


def test_a_full_run_does_everything_again(world: World) -> None:
    world.write("memory/a.md", "- kiln")
    world.index()
    before = world.revision()
    assert len(world.index(full=True).changed) == 1
    assert world.revision() == int(str(before)) + 1
    world.sound()


# What other jobs hear and add


def test_the_changed_sources_are_read_one_by_one(world: World) -> None:
    world.write("memory/a.md", "# T\n- x [importance: 8]\n  more\n")
    world.write("MEMORY.md", "- y\n")
    changed = world.index().changed
    assert len(changed) == 2
    first, second = changed
    assert (first.path, first.provenance, first.chunks[0].text) == ("MEMORY.md", "agent", "- y")
    (entry,) = second.entries
    assert (entry.text, entry.start, entry.end, entry.importance) == ("- x [importance: 8]\n  more", 2, 3, 8)
    assert second.chunks[0].headings == ("T",)
    assert changed[-1].path == changed[1:][0].path == "memory/a.md"
    (world.root / "memory/a.md").unlink()
    assert changed[1].text == ""


def test_sources_that_jobs_add_are_found_and_read_and_go_with_their_job(world: World) -> None:
    world.write("memory/a.md", "- kiln")
    page = Source("web/page", "the glaze\nof it", provenance="owner")
    letter = world.index(page)
    assert [(source.path, source.provenance) for source in letter.changed] == [
        ("memory/a.md", "agent"),
        ("web/page", "untrusted"),
    ]
    assert world.found("glaze") == ["web/page"]
    assert world.rows("SELECT origin, kind FROM kb_sources WHERE path = 'web/page'") == [("untrusted", "added")]
    assert get(world.corpus, "web/page", 2).text == "of it"
    assert world.index(page).changed == ()
    assert [source.text for source in world.index(evolve(page, text="oven")).changed] == ["oven"]
    assert (world.found("glaze"), world.found("oven")) == ([], ["web/page"])
    assert world.index().vanished == ("web/page",)
    world.sound()


def test_a_job_cannot_take_the_place_of_a_file(world: World) -> None:
    world.write("memory/a.md", "- kiln")
    letter = world.index(Source("memory/a.md", "glaze"), Source("MEMORY.md", "glaze"), Source("a\\b", "glaze"))
    assert len(letter.reports) == 3
    assert world.found("glaze") == []
    assert world.found("kiln") == ["memory/a.md"]


def test_text_that_no_file_can_hold_is_indexed_all_the_same(world: World) -> None:
    assert [source.text for source in world.index(Source("x", "half \ud800 glaze")).changed] == ["half ? glaze"]
    assert world.found("glaze") == ["x"]


# A dry run


def test_a_dry_run_tells_and_writes_nothing(world: World) -> None:
    world.write("memory/a.md", "- kiln")
    world.write("memory/b.md", "- kiln")
    state = world.corpus.database.parent
    overlay = world.corpus.files.overlay()
    corpus = evolve(world.corpus, files=overlay)
    assert len(world.index(corpus=corpus).changed) == 2
    assert not state.exists()
    world.index()
    before = {path: path.read_bytes() for path in state.iterdir()}
    run = Run("r", "a", "dream", datetime.now(UTC))
    overlay.append("memory/c.md", "- oven", run)
    overlay.append("memory/a.md", "- oven", run)
    overlay.remove(overlay.read("memory/b.md"), run)
    letter = world.index(corpus=corpus)
    assert [(source.path, source.text) for source in letter.changed] == [
        ("memory/a.md", "- kiln\n- oven"),
        ("memory/c.md", "- oven"),
    ]
    assert (letter.vanished, letter.unchanged) == (("memory/b.md",), 0)
    assert {path: path.read_bytes() for path in state.iterdir()} == before


# Several at once


def test_many_files_are_fetched_by_several_processes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(130):
        world.write(f"memory/{number}.md", f"- kiln {number}\n")
    monkeypatch.setattr(farm, "LEAST", 10)
    assert len(world.index().changed) == 130
    monkeypatch.setattr(farm, "CODE", "import sys; sys.exit(3)")
    assert len(world.index(full=True).changed) == 130
    monkeypatch.setattr(sys, "executable", "/nowhere")
    assert len(world.index(full=True).changed) == 130
    world.sound()


def test_two_who_index_at_once_lose_nothing(world: World) -> None:
    for number in range(60):
        world.write(f"memory/{number}.md", f"- kiln {number}\n" * 20)
    letters: list[Indexing] = []
    threads = [threading.Thread(target=lambda: letters.append(world.index())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(len(letter.changed) for letter in letters) == [0, 0, 0, 60]
    world.sound()


def test_two_who_cannot_lock_the_folder_lose_nothing_either(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from reverie_plugins.fts5_archive import store

    monkeypatch.setattr(store, "TURN", 0)
    for number in range(60):
        world.write(f"memory/{number}.md", f"- kiln {number}\n" * 20)
    world.index()
    for number in range(60):
        world.write(f"memory/{number}.md", f"- oven {number}\n" * 20)
    letters: list[Indexing] = []
    threads = [threading.Thread(target=lambda: letters.append(world.index())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(len(letter.changed) for letter in letters) == 60
    world.sound()


def test_a_reader_sees_old_or_new_chunks_and_never_none(world: World) -> None:
    texts = ["- kiln\n" * 400, "- oven\n" * 300]
    world.write("memory/a.md", texts[0])
    world.index()
    seen: list[tuple[object, ...]] = []
    stop = threading.Event()

    def read() -> None:
        with Store.open(world.corpus.database) as store:
            while not stop.is_set():
                seen.append(store.connection().execute("SELECT max(end_line), count(*) FROM kb_chunks").fetchone())

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(8):
        world.write("memory/a.md", texts[turn % 2], age=1000 - turn)
        world.index(full=turn == 5)
    stop.set()
    reader.join()
    assert {row[0] for row in seen} <= {400, 300}
    assert len(set(seen)) == 2


@pytest.fixture(scope="module")
def seed() -> int:
    return random.randrange(2**32)


@pytest.mark.parametrize("turn", range(20))
def test_a_run_that_is_killed_is_completed_by_the_next(world: World, seed: int, turn: int) -> None:
    dice = random.Random(seed + turn)
    for number in range(40):
        world.write(f"memory/{number}.md", f"# {number}\n- kiln {number}\n- lamp\n" * 8)
    if turn % 2:
        world.index()
        for number in range(0, 40, 2):
            world.write(f"memory/{number}.md", f"# {number}\n- oven {number}\n" * 9)
        (world.root / "memory/3.md").unlink()
    child = os.fork()
    if not child:
        try:
            world.index(full=turn % 4 == 1)
        finally:
            os._exit(0)
    time.sleep(dice.random() * 0.05)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    world.index()
    world.sound()
    assert not list(world.corpus.database.parent.glob("*.corrupt-*"))
