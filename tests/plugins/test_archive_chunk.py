"""Chunks: exact lines, nothing left out, one size; and what entries say of themselves."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

from reverie.markdown import entries, entry_hash, unified
from reverie_hookspecs import Chunk
from reverie_plugins.fts5_archive.chunk import LONGEST, Cutter, chunks
from reverie_plugins.fts5_archive.cut import Life, key, moment, parts, stamped


def cut(text: str, target: int = 400, overlap: int = 80) -> list[Chunk]:
    return list(chunks(text, target, overlap))


LINES = st.one_of(
    st.sampled_from(["", "  ", "# A", "## B b", "### C", "- x", "- y y y", "```", "plain words here", "1. z", "\t"]),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=60),
    st.text("ab 。、日本語ไทยกิน한글ພາສາဗမာ!? ", max_size=90),
    st.text("x", min_size=50, max_size=400),
)
TEXTS = st.builds(
    lambda lines, end: end.join(lines), st.lists(LINES, max_size=40), st.sampled_from(["\n", "\r\n", "\r"])
)


@settings(max_examples=300)
@given(TEXTS, st.integers(16, 60), st.integers(0, 40))
def test_every_chunk_is_what_stands_on_its_lines_and_no_line_is_left_out(text: str, target: int, overlap: int) -> None:
    lines = unified(text).split("\n")
    left = [line.split() for line in lines]
    last = 0
    for chunk in cut(text, target, overlap):
        stretch = lines[chunk.start - 1 : chunk.end]
        assert chunk.start <= chunk.end
        assert stretch[0].strip()
        assert stretch[-1].strip()
        assert chunk.end >= last
        if chunk.start < chunk.end or chunk.text == stretch[0]:
            assert chunk.text == "\n".join(stretch)
        else:
            assert chunk.text in stretch[0]
        for number in range(chunk.start, chunk.end + 1):
            if chunk.text == "\n".join(stretch):
                left[number - 1] = []
            else:
                here = "".join(left[number - 1])
                piece = "".join(chunk.text.split())
                assert here.startswith(piece)
                left[number - 1] = [here.removeprefix(piece)]
        last = chunk.end
    assert not any("".join(words) for words in left)


@settings(max_examples=200)
@given(TEXTS, st.integers(16, 60), st.integers(0, 40))
def test_a_chunk_keeps_to_its_size_and_shares_no_more_than_it_may(text: str, target: int, overlap: int) -> None:
    plain = unified(text)
    cutter = Cutter(plain, [], target, overlap)
    found = cut(text, target, overlap)
    for chunk in found:
        if chunk.start < chunk.end:
            assert cutter.reach[chunk.end] - cutter.reach[chunk.start - 1] <= 4 * target + 1
    for one, other in pairwise(found):
        if one.start == one.end == other.start == other.end:
            continue
        assert other.start > one.start
        assert other.end > one.end
        if other.start <= one.end:
            assert cutter.reach[one.end] - cutter.reach[other.start - 1] <= 4 * overlap


def test_a_long_line_stands_alone() -> None:
    found = cut("s\n" + "x" * 500 + "\ne", 16, 4)
    assert [(c.start, c.end, len(c.text)) for c in found] == [(1, 1, 1), (2, 2, 500), (3, 3, 1)]


def test_leading_blank_lines_do_not_count() -> None:
    assert cut("\n\n\nhello") == [Chunk("hello", 4, 4)]


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n\r\n", "\u3000\n"])
def test_a_file_of_white_space_has_no_chunk(text: str) -> None:
    assert cut(text) == []


def test_a_long_line_is_cut_at_the_ends_of_sentences() -> None:
    sentence = "The kiln fires at dawn and cools. "
    found = cut(sentence * 40, 40, 8)
    assert len(found) > 5
    assert all(c.text.endswith(".") and (c.start, c.end) == (1, 1) and len(c.text) <= 160 for c in found)
    assert " ".join(c.text for c in found) == (sentence * 40).strip()


def test_a_long_line_of_a_script_without_blanks_is_cut_at_its_marks() -> None:
    sentence = "窯は夜明けに火を入れて冷ます。"
    found = cut(sentence * 40, 40, 8)
    assert all(c.text.endswith("。") and len(c.text) <= 40 for c in found)
    assert "".join(c.text for c in found) == sentence * 40


def test_a_run_without_an_end_stays_whole_up_to_its_limit() -> None:
    assert [len(c.text) for c in cut("x" * 5000, 16, 4)] == [LONGEST, LONGEST, 1000]


def test_a_heading_begins_a_chunk_that_is_half_full_and_shares_nothing() -> None:
    body = "\n".join(f"- line {number} of some words" for number in range(9))
    found = cut(f"# A\n{body}\n## B\n- b", 100, 40)
    assert [c.headings for c in found] == [("A",), ("A", "B")]
    assert found[1].text == "## B\n- b"


def test_a_heading_soon_after_another_stays_in_its_chunk() -> None:
    assert cut("# A\n## B\ntext\n## C\nmore")[0].headings == ("A", "B")


def test_neighbours_share_whole_lines() -> None:
    text = "\n".join(f"- line {number:02} of some words" for number in range(40))
    found = cut(text, 60, 20)
    assert all(one.end - 3 <= other.start <= one.end for one, other in pairwise(found))


def test_five_megabytes_and_a_line_of_one_are_cut_in_no_time() -> None:
    start = time.perf_counter()
    assert len(cut("- a line of several words, and a number\n" * 125_000)) > 2_000
    assert len(cut("word " * 100_000)) > 250
    assert len(cut("字" * 1_000_000)) == 500
    assert len(cut("x" * 1_000_000)) == 500
    assert time.perf_counter() - start < 8


@settings(max_examples=150)
@given(TEXTS)
def test_the_entries_are_those_of_the_markdown_with_their_lines(text: str) -> None:
    plain = unified(text)
    lines = plain.split("\n")
    made = parts("memory/a.md", text, "memory", 400, 80).entries
    wanted = list(entries(text))
    assert [life.key.hex() for life in made] == [entry_hash(plain[e.start : e.end]) for e in wanted]
    for life, entry in zip(made, wanted, strict=True):
        assert entry_hash("\n".join(lines[life.start - 1 : life.end])) == life.key.hex()
        assert plain.count("\n", 0, entry.start) == life.start - 1


@given(st.text("ab \t\n<!->\u3000\x1c", max_size=40))
def test_the_quick_hash_is_that_of_the_markdown(text: str) -> None:
    assert key(text).hex() == entry_hash(text)


def only(text: str, path: str = "memory/a.md") -> Life:
    (life,) = parts(path, text, "memory", 400, 80).entries
    return life


@pytest.mark.parametrize(
    ("text", "importance"),
    [
        ("- a [importance: 9]", 9),
        ("- a [Importance:99]", 10),
        ("- a [importance: -3]", 1),
        ("- a [importance: x]", 5),
        ("---\nimportance: 8\n---\n- a", 8),
        ("---\nimportance: 8\n---\n- a [importance: 2]", 2),
        ("---\nimportance: many\n---\n- a", 5),
        ("---\nimportance: .nan\n---\n- a", 5),
        ("---\nimportance: true\n---\n- a", 5),
        ("- a", 5),
    ],
)
def test_importance_is_that_of_the_entry_or_of_its_note(text: str, importance: int) -> None:
    assert only(text).importance == importance


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("- supersedes #12", "#12"),
        ("- Superseded #12", "#12"),
        ("- replace #3 and obsoletes\n  #7", "#3 #7"),
        ("- superseding #12", None),
        ("- replaced #3", None),
        ("- obsoleted #7", None),
        ("- replaces: #12", None),
        ("- supersedes PR #12", None),
        ("- Closes #12", None),
        ("- supersedes #12a", None),
        ("- unsupersedes #1", None),
    ],
)
def test_what_an_entry_supersedes(text: str, numbers: str | None) -> None:
    assert only(text).supersedes == numbers


def test_the_date_of_an_entry_is_the_first_in_its_first_line() -> None:
    assert only("- on 2026-03-04, not 2026-05-06").date == "2026-03-04"
    assert only("- on 12026-03-04\n  2026-03-04").date is None


@pytest.mark.parametrize(
    ("stamp", "when", "by"),
    [
        ("2026-03-04 from memory/a.md; invalid_at 1970-01-01T00:00:01+00:00; superseded_by #9", 1000, "#9"),
        ("2026-03-04 from memory/a.md › 2; INVALID_AT: 1970-01-01T00:00:01Z", 1000, None),
        ("1970-01-02 from memory/a.md", 86_400_000, None),
        ("1970-01-02; invalid_at soon", 86_400_000, None),
        ("invalid_at 5", 5, None),
        ("from nowhere", None, None),
    ],
)
def test_a_stamp_is_read_leniently(stamp: str, when: int | None, by: str | None) -> None:
    assert stamped(f" {stamp} ") == (when, by)
    text = f"- x\n  <!-- stale {stamp} -->\n\n"
    life = only(text, "memory/archive/stale.md")
    assert (life.invalid_at, life.superseded_by) == (when, by)
    assert life.key == only("- x").key
    assert only(text).invalid_at is None


@given(st.text(max_size=30))
def test_no_text_is_too_odd_for_a_stamp(text: str) -> None:
    stamped(text)
    moment(text)
