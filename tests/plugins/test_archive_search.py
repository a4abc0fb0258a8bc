"""Search: passages with exact lines, the best first, what is no longer valid last; any text is a query."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from reverie.markdown import entry_hash
from reverie.testing.world import agent_of
from reverie_hookspecs import Indexing
from reverie_plugins.fts5_archive.explain import told
from reverie_plugins.fts5_archive.index import run
from reverie_plugins.fts5_archive.passage import window
from reverie_plugins.fts5_archive.search import NOTHING, Found, search
from reverie_plugins.fts5_archive.store import Store
from reverie_plugins.fts5_archive.text import tokens

TEXTS = {
    "ja": "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で泣いていた。",
    "zh": "学而时习之不亦说乎有朋自远方来不亦乐乎人不知而不愠不亦君子乎温故而知新可以为师矣三人行必有我师焉",
    "ko": "동해물과 백두산이 마르고 닳도록 하느님이 보우하사 우리나라 만세 무궁화 삼천리 화려강산 대한사람 대한으로",
    "th": "กินข้าวหรือยังวันนี้อากาศดีมากเราไปเดินเล่นที่สวนสาธารณะกันเถอะแล้วค่อยกลับบ้าน",
    "lo": "ສະບາຍດີເຈົ້າຊື່ຫຍັງຂ້ອຍມາຈາກວຽງຈັນພວກເຮົາໄປກິນເຂົ້ານຳກັນ",
    "km": "សួស្តីតើអ្នកសុខសប្បាយទេខ្ញុំមកពីភ្នំពេញយើងទៅញ៉ាំបាយជាមួយគ្នា",
    "my": "မင်္ဂလာပါနေကောင်းလားကျွန်တော်ရန်ကုန်ကလာပါတယ်ထမင်းစားပြီးပြီလား",
}
ENTRY = "- [2026-03-04] [importance: 8] The Café kiln fires at dawn.\n  Bring gloves.\n"
FILES = {
    "MEMORY.md": "# Memory\n\nThe vase is in the cupboard.\n",
    "memory/cafe.md": f"# Oven\n\n## Firing\n\n{ENTRY}",
    "memory/weekly.md": "---\nimportance: 7\n---\n\nkiln schedule is weekly\n",
    "memory/2025-11-02.md": "- Gießerei in der Straße, İZMİR\n- leaseGuard moved to src/disk_cache.ts\n",
    "memory/long.md": f"- begin {'x y ' * 400}needle {'z w ' * 400}end\n",
    **{f"memory/scripts/{name}.md": f"# {name}\n\n- {text}\n" for name, text in TEXTS.items()},
    **{f"memory/filler/{number}.md": f"- tulip {number} in the garden\n\n- pot {number}\n" for number in range(30)},
}


def asked(connection: sqlite3.Connection, query: str, limit: int = 6, **more: int) -> Found:
    return search(connection, "memory", query, limit, **more)


def indexed(folder: Path, files: dict[str, str], **gateway: object) -> Store:
    corpus = agent_of(folder, files, gateway).corpus
    run(Indexing(corpus))
    return Store(corpus.database)


@pytest.fixture(scope="module")
def kb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[sqlite3.Connection]:
    store = indexed(tmp_path_factory.mktemp("kb"), FILES)
    yield store.connection()
    store.close()


def paths(found: Found) -> list[str]:
    return [hit.path for hit in found.hits]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("cafe", ["memory/cafe.md"]),  # I14
        ("CAFÉ kiln", ["memory/cafe.md", "memory/weekly.md"]),
        ("kil", []),
        ("kiln*", ["memory/cafe.md", "memory/weekly.md"]),
        ("NEAR(kiln dawn)", ["memory/cafe.md", "memory/weekly.md"]),
        ("kiln weekly dawn", ["memory/cafe.md", "memory/weekly.md"]),  # I15
        ("GIESSEREI", ["memory/2025-11-02.md"]),
        ("izmir ıstanbul", ["memory/2025-11-02.md"]),
        ("lease guard", ["memory/2025-11-02.md"]),
        ("March 4th", ["memory/cafe.md"]),
        ("vase", ["MEMORY.md"]),
    ],
)
def test_a_query_finds_its_notes(kb: sqlite3.Connection, query: str, expected: list[str]) -> None:
    assert sorted(set(paths(asked(kb, query)))) == sorted(expected)


def test_what_holds_more_of_the_query_comes_first(kb: sqlite3.Connection) -> None:
    assert paths(asked(kb, "CAFÉ kiln"))[0] == "memory/cafe.md"


@pytest.mark.parametrize("query", ["!!!", "", "   ", "\n\t", "؛"])  # I16
def test_nothing_to_search_for_is_said(kb: sqlite3.Connection, query: str) -> None:
    assert asked(kb, query)[:2] == ([], NOTHING)


def test_that_nothing_was_found_is_said(kb: sqlite3.Connection) -> None:
    assert asked(kb, "qqqqzzzz").notice == "nothing was found"


def test_a_hit_says_what_is_known_of_it(kb: sqlite3.Connection) -> None:
    hit = asked(kb, "dawn").hits[0]
    assert (hit.path, hit.origin_class, hit.importance, hit.corpus) == ("memory/cafe.md", "agent", 8, "memory")
    assert hit.headings == ("Oven", "Firing")
    assert (hit.date, hit.entry_hash) == ("2026-03-04", entry_hash(ENTRY))
    assert hit.start_line <= 5 <= hit.end_line == 6
    assert hit.snippet.endswith("Bring gloves.")
    assert (hit.invalid_at, hit.superseded_by) == (None, "")


def test_text_outside_an_entry_has_no_hash_and_the_importance_of_its_note(kb: sqlite3.Connection) -> None:
    hit = asked(kb, "weekly").hits[0]
    assert (hit.entry_hash, hit.importance, hit.date) == ("", 7, "")
    assert (hit.start_line, hit.end_line, hit.snippet) == (5, 5, "kiln schedule is weekly") or hit.start_line < 5


def test_the_date_of_a_note_is_that_of_its_entries_that_have_none(kb: sqlite3.Connection) -> None:
    assert asked(kb, "leaseGuard").hits[0].date == "2025-11-02"


def test_the_entry_is_the_one_that_holds_the_best_line(kb: sqlite3.Connection) -> None:
    hit = asked(kb, "diskCache").hits[0]
    assert hit.entry_hash == entry_hash("- leaseGuard moved to src/disk_cache.ts")


@pytest.mark.parametrize("size", [40, 120, 400])
def test_a_snippet_shows_what_was_found_however_long_the_line(kb: sqlite3.Connection, size: int) -> None:  # I32
    hit = asked(kb, "needle", passage_tokens=size).hits[0]
    assert "needle" in hit.snippet
    assert len(hit.snippet) <= (700 if size == 120 else 6 * size)


def test_every_hit_is_what_stands_on_its_lines(kb: sqlite3.Connection) -> None:
    for query in ("kiln", "tulip garden", "pot", "needle", "学而", "leaseGuard", "oven"):
        for hit in asked(kb, query, 20).hits:
            lines = FILES[hit.path].split("\n")[hit.start_line - 1 : hit.end_line]
            assert lines[0].strip()
            assert lines[-1].strip()
            assert hit.snippet.strip("…") in "\n".join(lines)


def test_passages_share_no_line(kb: sqlite3.Connection) -> None:
    hits = asked(kb, "tulip pot garden kiln", 20).hits
    taken = [(hit.path, at) for hit in hits for at in range(hit.start_line, hit.end_line + 1)]
    assert len(taken) == len(set(taken))


def test_no_more_than_asked_come_and_scores_fall(kb: sqlite3.Connection) -> None:
    hits = asked(kb, "tulip garden", 4).hits
    assert len(hits) == 4
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


@pytest.mark.parametrize("most", [1, 5, 12, 40, 1_000])
def test_all_text_together_is_within_bounds(kb: sqlite3.Connection, most: int) -> None:
    for query in ("tulip garden", "needle", "猫"):
        hits = asked(kb, query, 20, max_tokens=most).hits
        assert hits
        assert sum(tokens(hit.snippet) for hit in hits) <= most


def test_wider_passages_take_more_lines(tmp_path: Path) -> None:
    lines = "".join(f"- note {at} {'lorem ' * 12}\n" for at in range(60))
    store = indexed(tmp_path, {"memory/a.md": lines.replace("note 30", "kiln 30")})
    found = [asked(store.connection(), "kiln", passage_tokens=size).hits[0] for size in (40, 120, 400)]
    spans = [hit.end_line - hit.start_line + 1 for hit in found]
    store.close()
    assert spans == sorted(spans)
    assert spans[2] > spans[0] + 5


STAMP = "<!-- stale 2026-01-02 from memory/a.md; invalid_at 2026-01-02T00:00:00Z; superseded_by #12 -->"
STALE = f"# Stale\n\n- the heron nests here\n  {STAMP}\n"


def test_what_is_no_longer_valid_comes_last(tmp_path: Path) -> None:
    live = {f"memory/{at}.md": f"- a heron was seen {'far away ' * at}\n" for at in range(4)}
    store = indexed(tmp_path, {"memory/archive/stale.md": STALE, **live})
    for limit in (5, 20):
        hits = asked(store.connection(), "heron nests", limit).hits
        assert [hit.path for hit in hits][-1] == "memory/archive/stale.md"
        assert hits[-1].invalid_at == datetime(2026, 1, 2, tzinfo=UTC)
        assert hits[-1].superseded_by == "#12"
        assert hits[-1].score <= hits[-2].score
    assert "memory/archive/stale.md" not in paths(asked(store.connection(), "heron nests", 3))
    store.close()


def test_a_search_can_be_explained(kb: sqlite3.Connection) -> None:
    lines = "\n".join(told(asked(kb, "when does the kiln shedule fire on 4 March 2026 unheardof")))
    for part in ("'kiln': in 2 chunks", "near it", "schedul", "date '2026 03 04'", "not in the index", "bm25"):
        assert part in lines
    assert told(asked(kb, "!!!")) == [NOTHING]


META = st.text(st.sampled_from("\"'*()^-+:{}[]NEARORANDNOT ,.;\\%_kiln\0\n漢猫é") | st.characters(), max_size=50)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(META, st.integers(1, 20), st.integers(40, 400))
def test_any_text_is_a_query(kb: sqlite3.Connection, query: str, limit: int, size: int) -> None:
    found = asked(kb, query, limit, passage_tokens=size)
    assert len(found.hits) <= limit
    assert found.hits or found.notice


@pytest.mark.parametrize(
    "query", ["a" * 100_000, "kiln " * 5_000, "\ud800", " ".join(f"w{at}x" for at in range(9_000))]
)
def test_no_query_is_too_long_or_too_odd(kb: sqlite3.Connection, query: str) -> None:
    assert bool(asked(kb, query).hits) is ("kiln" in query)


WORDS = sorted({word for text in FILES.values() for word in text.replace("\n", " ").split() if word.isalpha()})


@settings(max_examples=120, deadline=None)
@given(st.sampled_from(WORDS))
def test_a_word_that_is_indexed_is_found(kb: sqlite3.Connection, word: str) -> None:
    expected = {path for path, text in FILES.items() if word in text.split()}
    assert expected & set(paths(asked(kb, word, 20)))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from([*WORDS, "Café kiln", "İZMİR Straße", "猫である", "동해물과"]))
def test_compositions_find_the_same(kb: sqlite3.Connection, query: str) -> None:
    composed, apart = unicodedata.normalize("NFC", query), unicodedata.normalize("NFD", query)
    assert asked(kb, composed).hits == asked(kb, apart).hits == asked(kb, query).hits


@pytest.mark.parametrize("tokenizer", ["unicode61", "trigram", "porter", "ascii"])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_parts_of_text_without_spaces_are_found(tmp_path: Path, tokenizer: str, size: int) -> None:
    store = indexed(tmp_path, FILES, knowledge={"archive": {"tokenizer": tokenizer}})
    tried = missed = 0
    for name, text in TEXTS.items():
        for word in text.replace("。", " ").split():
            for at in range(len(word) - size + 1):
                tried += 1
                missed += f"memory/scripts/{name}.md" not in paths(asked(store.connection(), word[at : at + size], 20))
    store.close()
    assert tried > 200
    assert missed == 0


def test_a_part_of_a_word_is_found_with_trigram(tmp_path: Path) -> None:  # I07
    store = indexed(tmp_path, {"memory/a.md": "- photosynthesis\n"}, knowledge={"archive": {"tokenizer": "trigram"}})
    hits = asked(store.connection(), "synth").hits
    store.close()
    assert [hit.snippet for hit in hits] == ["- photosynthesis"]


def test_a_heading_alone_is_found(tmp_path: Path) -> None:
    store = indexed(tmp_path, {"memory/a.md": "# The heron nests\n", "memory/b.md": "# Kettle\n\nIt leaks.\n"})
    assert paths(asked(store.connection(), "heron")) == ["memory/a.md"]
    assert asked(store.connection(), "kettle").hits[0].start_line == 1
    store.close()


@given(st.text("ab ", min_size=30, max_size=300), st.data(), st.integers(20, 60))
def test_a_window_is_within_bounds_and_holds_its_focus(text: str, data: st.DataObject, most: int) -> None:
    focus = data.draw(st.integers(0, len(text) - 1))
    cut = window(text, focus, most)
    assert len(cut) <= most
    assert cut.strip("…") in text
