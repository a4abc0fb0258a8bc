"""The query: words of any kind as terms, never as syntax; and a question to FTS5 that is bounded."""

from __future__ import annotations

import random
import sqlite3
import string

import pytest
from hypothesis import given, settings, strategies as st

from reverie_plugins.fts5_archive.lexicon import Lexicon, alike, edited, within
from reverie_plugins.fts5_archive.query import FEW, PAIRED, SHARE, Term, composed, known, plan, read
from reverie_plugins.fts5_archive.stem import stem
from reverie_plugins.fts5_archive.text import indexed, tokenizer

NOTES = (
    "The Café kiln fires at dawn.",
    "kiln schedule is weekly",
    "photosynthesis in the leaseGuard of disk_cache",
    "2026-03-05 the retrospective was rescheduled",
    "東京の桜は四月に咲く",
)
META = st.text(st.sampled_from("\"'*()^-+:{}[]NEARORANDNOT ,.;\\%_kiln\0\n漢é"), max_size=40)


def made(setting: str = "unicode61", notes: tuple[str, ...] = NOTES) -> sqlite3.Connection:
    """An index of these texts, one chunk each."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    for statement in (
        "CREATE TABLE kb_chunks (id INTEGER PRIMARY KEY)",
        "CREATE TABLE kb_common (term TEXT PRIMARY KEY, count INTEGER)",
        "CREATE TABLE kb_index_state (signature TEXT)",
        f"CREATE VIRTUAL TABLE kb_fts USING fts5(text, headings, content='', tokenize=\"{tokenizer(setting)}\")",
        "CREATE VIRTUAL TABLE kb_words USING fts5vocab(kb_fts, 'row')",
    ):
        connection.execute(statement)
    connection.execute("INSERT INTO kb_index_state VALUES (?)", (f'{{"tokenizer": "{setting}"}}',))
    for number, text in enumerate(notes, 1):
        connection.execute("INSERT INTO kb_chunks VALUES (?)", (number,))
        connection.execute("INSERT INTO kb_fts (rowid, text, headings) VALUES (?, ?, '')", (number, indexed(text)))
    return connection


def found(connection: sqlite3.Connection, query: str) -> list[int]:
    """The numbers of the texts that FTS5 finds for a query."""
    lexicon = Lexicon(connection)
    question = plan(known(read(query), lexicon), lexicon.size)
    if not question.match:
        return []
    statement = "SELECT rowid FROM kb_fts WHERE kb_fts MATCH ? ORDER BY rank"
    return [row[0] for row in connection.execute(statement, (question.match,))]


@pytest.fixture(scope="module")
def notes() -> sqlite3.Connection:
    return made()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        *(("cafe", [1]), ("CAFÉ kiln", [1, 2]), ("kil", []), ("kiln*", [1, 2]), ("NEAR(kiln dawn)", [1, 2])),
        *(("kiln weekly dawn", [1, 2]), ("firing", [1]), ("lease guard", [3]), ("leaseguard", [3]), ("diskcache", [3])),
        *(("lease_guard", [3]), ("diskCache", [3]), ("5 March 2026", [4]), ("March 5, 2026", [4]), ("shedule", [2])),
        *(
            ("jiln", [1, 2]),
            ("retrosepctivve", [4]),
            ("東京", [5]),
            ("の桜", [5]),
            ("月", [5]),
            ("く", [5]),
            ("京東", []),
        ),
        *(("the", [1, 3, 4]), ("what is the kiln", [1, 2])),
    ],
)
def test_a_query_finds_what_it_means(notes: sqlite3.Connection, query: str, expected: list[int]) -> None:
    assert sorted(found(notes, query)) == expected


def test_what_holds_more_comes_first(notes: sqlite3.Connection) -> None:
    assert found(notes, "CAFÉ kiln")[0] == 1


@pytest.mark.parametrize("setting", ["unicode61", "trigram", "porter", "ascii"])
@pytest.mark.parametrize("query", ["cafe", "firing", "lease guard", "5 March 2026", "東京", "咲く", "kilm", "is"])
def test_every_promise_holds_with_every_tokenizer(setting: str, query: str) -> None:
    assert found(made(setting), query)


def test_parts_of_words_are_found_with_trigram_alone() -> None:
    assert found(made("trigram"), "synth") == [3]
    assert found(made("trigram"), "thesis") == [3]
    assert found(made(), "synth") == []


@pytest.mark.parametrize("query", ["!!!", "", "  \n", "()", "\0", "🏺", "؛", "— … “”"])
def test_signs_are_nothing_to_search_for(query: str) -> None:
    assert read(query) == []


def test_stop_words_go_unless_nothing_is_left() -> None:
    assert [asked.text for asked in read("when did the kiln fire")] == ["kiln", "fire"]
    assert [asked.text for asked in read("to be or not to be")] == ["to", "be", "or", "not"]


@settings(max_examples=300)
@given(META | st.text(max_size=60))
def test_no_text_is_syntax(notes: sqlite3.Connection, query: str) -> None:
    found(notes, query)


@given(st.sampled_from(["kiln", "schedule", "photosynthesis", "retrospective", "rescheduled"]), META)
def test_a_word_is_found_whatever_stands_around_it(notes: sqlite3.Connection, word: str, signs: str) -> None:
    hit = next(number for number, text in enumerate(NOTES, 1) if word in text)
    assert hit in found(notes, f"{signs} {word} {signs}")


def term(text: str, chunks: int) -> Term:
    return Term(text, "word", (text,), (f'"{text}"',), chunks)


def test_all_terms_are_asked_for_where_they_are_few() -> None:
    assert plan([term("a", 300), term("b", 20)], 1_000).match == '"b" OR "a"'


def test_common_terms_come_as_pairs_alone() -> None:
    size = 200_000
    question = plan([term("rare", 10), term("some", 20_000), term("much", 60_000)], size)
    assert question.match == '"rare" OR ("some" AND "much")'
    assert question.ranked


def test_where_every_term_is_common_the_newest_are_taken() -> None:
    question = plan([term("a", 150_000), term("b", 120_000)], 200_000)
    assert (question.match, question.ranked) == ('"b" AND "a"', False)


def test_what_is_not_in_the_index_is_not_asked_for() -> None:
    assert plan([term("a", 0)], 10).match == ""


@given(st.lists(st.integers(0, 200_000), max_size=40), st.sampled_from([10, 5_000, 200_000]))
def test_a_question_scores_a_bounded_number_of_chunks(counts: list[int], size: int) -> None:
    terms = [term(f"w{number}", min(count, size)) for number, count in enumerate(counts)]
    question = plan(terms, size)
    if not question.ranked:
        return
    by = {f'"{one.text}"': one.chunks for one in terms}
    alone = sum(by[clause] for clause in question.match.split(" OR ") if clause in by)
    assert alone <= max(FEW, SHARE * size, PAIRED * size)


# Neighbours


@pytest.mark.parametrize(
    ("one", "other", "edits", "expected"),
    [
        *(("kiln", "kiln", 0, True), ("kiln", "kil", 1, True), ("kiln", "klin", 1, True), ("kiln", "kilns", 1, True)),
        *(
            ("kiln", "jiln", 1, True),
            ("kiln", "lnki", 2, False),
            ("schedule", "shcedulee", 2, True),
            ("a", "", 1, True),
        ),
        ("kiln", "clean", 2, False),
    ],
)
def test_edits_are_counted(one: str, other: str, edits: int, expected: bool) -> None:
    assert within(one, other, edits) is expected
    assert within(other, one, edits) is expected


@settings(max_examples=60)
@given(st.text(string.ascii_lowercase, min_size=1, max_size=8), st.integers(0, 400))
def test_every_word_one_edit_away_is_so(word: str, pick: int) -> None:
    several = sorted(edited(word))
    assert within(word, several[pick % len(several)], 1)


@pytest.mark.parametrize(
    ("word", "indexed_"),
    [
        *(("configuratoin", "configuration"), ("photograpyh", "photograph"), ("volunteerign", "volunteering")),
        *(("calculatr", "calculator"), ("responsibilty", "responsibilities"), ("shceduling", "scheduling")),
    ],
)
def test_words_two_edits_away_are_alike(word: str, indexed_: str) -> None:
    assert alike(word, stem(word), stem(indexed_)) or stem(indexed_) in map(stem, edited(word))


def test_a_short_word_and_one_with_digits_have_no_neighbours() -> None:
    lexicon = Lexicon(made(notes=("kiln abc2d",)))
    assert (lexicon.near("kil"), lexicon.near("abc3d"), lexicon.near("kilm")) == ([], [], ["kiln"])
    assert lexicon.near("a" * 100_000) == []


def test_what_an_identifier_is_made_of_is_not_corrected() -> None:
    assert composed("leaseguard", ["lease", "guard", "leaseguard"])
    assert not composed("qoota", ["qoota", "hook"])


def test_typing_errors_find_their_words() -> None:
    several = ["schedule", "retrospective", "photograph", "configuration", "dawn", "kettle", "mountain", "agency"]
    connection, rng = made(notes=tuple(several)), random.Random(7)
    for _ in range(150):
        word = rng.choice(several)
        wrong = rng.choice(sorted(edited(word)))
        lexicon = Lexicon(connection)
        if len(wrong) >= 4 and not lexicon.count(stem(wrong)):
            assert stem(word) in lexicon.near(wrong), (word, wrong)


@pytest.mark.parametrize("word", ["agreed", "agreeing", "happily", "caresses", "ponies", "ties", "rescheduled"])
def test_a_word_whose_stem_has_another_stem_is_found(word: str) -> None:
    connection = made(notes=(f"they {word} once",))
    assert found(connection, word) == [1]
    assert found(connection, f"{word[0]}x{word[1:]}") == [1]
