"""What FTS5 is given: one spelling of everything, stems, identifiers in parts, and scripts without spaces in grams."""

from __future__ import annotations

import sqlite3
import unicodedata
from collections.abc import Iterator

import pytest
from hypothesis import given, settings, strategies as st

from reverie_plugins.fts5_archive.date import is_month, phrases
from reverie_plugins.fts5_archive.identifier import extras
from reverie_plugins.fts5_archive.script import RUN, asked, spelled
from reverie_plugins.fts5_archive.stem import root, stem
from reverie_plugins.fts5_archive.text import fold, indexed, tokenizer, tokens, words

SETTINGS = ("unicode61", "trigram", "porter", "ascii")
ASSIGNED = st.characters(exclude_categories=["Cn", "Cs"], max_codepoint=0x2FFFF)
SPACELESS = "漢字語東京のひらカタナー한국어สวัสดีกินข้าวພາສາລາວភាសាខ្មែរမြန်မာဘာသာ々〇"


@pytest.fixture(scope="module", params=SETTINGS)
def fts(request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f'CREATE VIRTUAL TABLE t USING fts5(text, tokenize="{tokenizer(request.param)}")')
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
    yield connection
    connection.close()


def seen(fts: sqlite3.Connection, text: str) -> list[str]:
    """The words that FTS5 makes of a text."""
    fts.execute("DELETE FROM t")
    fts.execute("INSERT INTO t VALUES (?)", (text,))
    return [term for term, _ in sorted(fts.execute("SELECT term, offset FROM v"), key=lambda row: row[1])]


def stems(fts: sqlite3.Connection) -> bool:
    return "porter" in fts.execute("SELECT sql FROM sqlite_master WHERE name = 't'").fetchone()[0]


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        *(("caresses", "caress"), ("ponies", "poni"), ("ties", "ti"), ("cats", "cat"), ("agreed", "agre")),
        *(("feed", "feed"), ("plastered", "plaster"), ("hopping", "hop"), ("filing", "file"), ("falling", "fall")),
        *(
            ("conflated", "conflat"),
            ("happy", "happi"),
            ("sky", "sky"),
            ("relational", "relat"),
            ("controll", "control"),
        ),
        *(("sensibility", "sensibl"), ("electrical", "electr"), ("adoption", "adopt"), ("rate", "rate"), ("as", "as")),
    ],
)
def test_a_stem_is_that_of_porter(word: str, expected: str) -> None:
    assert stem(word) == expected


ENDINGS = (
    "ational tional enci izer logi bli alli entli ousli ization ator alism fulness biliti ical ness icate ful ative"
)
PARTS = st.sampled_from([*ENDINGS.split(), "s", "es", "ies", "eed", "ed", "ing", "y", "ll", "e", "ion", "ement", "al"])


@settings(max_examples=150)
@given(st.lists(st.tuples(st.text("aeioubcdlstyxwzéя0", max_size=6), PARTS, PARTS | st.just("")), max_size=30))
def test_stems_are_those_of_fts5(made: list[tuple[str, str, str]]) -> None:
    several = ["".join(parts) for parts in made]
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE VIRTUAL TABLE t USING fts5(text, tokenize='porter unicode61 remove_diacritics 0')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, 'instance')")
        connection.execute("INSERT INTO t VALUES (?)", (" ".join(several),))
        rows = sorted(connection.execute("SELECT offset, term FROM v"))
    assert [term for _, term in rows] == [stem(word) for word in several]
    connection.close()


@given(st.text("aeioubcdlsty", min_size=1, max_size=5), PARTS, PARTS)
def test_every_word_begins_with_the_root_of_its_stem(begin: str, ending: str, other: str) -> None:
    word = begin + ending + other
    assert word.startswith(root(stem(word)))


@settings(max_examples=150)
@given(st.text(ASSIGNED.filter(lambda letter: not RUN.match(letter)) | st.sampled_from("aZ_-'ı İßé \n"), max_size=30))
def test_words_are_those_of_fts5(fts: sqlite3.Connection, text: str) -> None:
    mine = words(fold(text))
    expected = [stem(word) for word in mine] if stems(fts) else mine
    assert seen(fts, indexed(text))[: len(mine)] == expected


@given(st.text())
def test_folding_keeps_lines_and_is_done_once(text: str) -> None:
    folded = fold(text)
    assert folded.count("\n") == text.count("\n")
    assert fold(folded) == folded


@given(st.text(ASSIGNED))
def test_two_compositions_are_one(text: str) -> None:
    composed, apart = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert fold(composed) == fold(apart)
    assert indexed(composed) == indexed(apart)


@pytest.mark.parametrize(
    "spellings",
    [
        ("ISTANBUL", "İstanbul", "ıstanbul", "istanbul"),
        ("Straße", "STRASSE", "strasse", "STRAẞE"),
        ("café", "CAFE\u0301", "Café", "cafe"),
        ("Ångström", "A\u030angstro\u0308m", "angstrom"),
        ("ΣΟΦΟΣ", "σοφος", "σοφοσ"),
        ("Việt", "viet", "VIE\u0323\u0302T"),
    ],
)
def test_spellings_of_one_word_are_one(spellings: tuple[str, ...]) -> None:
    assert len({fold(word) for word in spellings}) == 1


def test_letters_of_other_scripts_keep_their_marks() -> None:
    assert fold("Йод и пойма") == "йод и пойма"


@settings(max_examples=200)
@given(st.text(SPACELESS, min_size=2, max_size=30), st.data())
def test_any_two_characters_in_sequence_are_a_word_of_the_index(
    fts: sqlite3.Connection, text: str, data: st.DataObject
) -> None:
    plain = fold(text)
    held = set(seen(fts, indexed(f"on {text}, A")))
    for run in RUN.finditer(plain):
        for at in range(len(run[0]) - 1):
            assert run[0][at : at + 2] in held
        assert set(asked(run[0])) <= held


@pytest.mark.parametrize(
    ("run", "expected"),
    [("漢", ["漢"]), ("漢字典", ["漢字", "字典", "典"]), ("กินข", ["กิน", "ินข", "กิ", "ิน", "นข", "ข"])],
)
def test_runs_are_spelled_in_grams(run: str, expected: list[str]) -> None:
    assert spelled(run).split() == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("leaseGuard", ["lease", "Guard"]),
        ("HTTPServer parseURL", ["HTTP", "Server", "parse", "URL"]),
        ("disk_cache", ["diskcache"]),
        ("src/disk_cache.ts:12", ["diskcache"]),
        ("route-out", ["routeout"]),
        ("snake_caseMixed", ["snakecaseMixed", "snake", "case", "Mixed"]),
        ("2026-03-04, a - b, _x_, -", []),
        ("plain words", []),
        ("é leaseGuard", ["lease", "Guard"]),
        ("x" * 200 + "_y", []),
    ],
)
def test_identifiers_are_taken_apart_and_together(text: str, expected: list[str]) -> None:
    assert extras(text) == expected


@given(st.text())
def test_no_text_is_too_odd_to_index(text: str) -> None:
    assert indexed(text) == indexed(text)
    assert tokens(text) <= len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("5 march 2026", ["2026 03 05"]),
        ("march 5th, 2026", ["2026 03 05"]),
        ("the 3rd of sept. 2025", ["2025 09 03"]),
        ("may 2025", ["2025 05"]),
        ("july 4", ["07 04"]),
        ("on 7 may and 8 may 2023", ["05 07", "2023 05 08"]),
        ("2026-03-05", []),
        ("march on, 45 may 99", []),
    ],
)
def test_written_dates_become_those_of_iso(text: str, expected: list[str]) -> None:
    assert phrases(text) == expected


def test_months_are_known_by_their_names() -> None:
    assert [word for word in ("may", "sept", "decent", "marble", "december") if is_month(word)] == [
        *("may", "sept", "december")
    ]


@pytest.mark.parametrize(("text", "expected"), [("", 0), ("abcd", 1), ("abcde", 2), ("漢字", 2), ("กิน", 3), ("é", 1)])
def test_tokens_are_counted_by_script(text: str, expected: int) -> None:
    assert tokens(text) == expected
