"""The applier's decisions: what becomes of a text, as a pure function of the text and the ops."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings, strategies as st

from reverie.markdown import pinned
from reverie_hookspecs import Op
from reverie_plugins.applier.plan import Plan, plan
from reverie_plugins.applier.search import bare, occurrences, stands, torn, visible

MEMORY = "MEMORY.md"
REST = "and a line that is long enough for a quarter of the text to hold what goes\n" * 3


def add(content: str, anchor: str = "") -> Op:
    return Op("add", MEMORY, content, anchor)


def replace(target: str, content: str) -> Op:
    return Op("replace", MEMORY, content, target)


def remove(target: str) -> Op:
    return Op("remove", MEMORY, target=target)


def texts(made: Plan) -> list[str]:
    return [cut.text for cut in made.cuts]


@pytest.mark.parametrize(
    ("text", "op", "budget", "result"),
    [
        pytest.param("a" * 25 + "b" * 75, remove("a" * 25), 0, "b" * 75, id="B02"),
        pytest.param("a" * 26 + "b" * 74, remove("a" * 26), 0, None, id="B03"),
        pytest.param("a" * 9000 + "b" * 1000, remove("a" * 9000), 8000, "b" * 1000, id="B04"),
        pytest.param("a" * 9001 + "b" * 999, remove("a" * 9001), 8000, None, id="B04-more"),
        pytest.param("x" * 8000, add("- ok"), 8000, "x" * 8000 + "\n\n- ok", id="B06"),
        pytest.param("x" * 8001, add("- ok"), 8000, None, id="B07"),
        pytest.param("TAG" + "x" * 8001, replace("TAG", "GAT"), 8000, "GAT" + "x" * 8001, id="B08"),
        pytest.param("TAG" + "x" * 8001, replace("TAG", "GATE"), 8000, None, id="B08-grown"),
        pytest.param(f"tea {REST}", replace("tea", r"cost $& and $1 \1"), 0, rf"cost $& and $1 \1 {REST}", id="B11"),
        pytest.param("aaa bbbbbbbbbbbbb", remove("aa"), 0, None, id="B12"),
        pytest.param("- likes tea daily\n", add("- new", "likes tea"), 0, "- likes tea daily\n- new\n", id="B14"),
        pytest.param("- tea\n\n\n", add("- rye", "missing"), 0, "- tea\n\n- rye\n", id="B15"),
        pytest.param("", add("- first"), 0, "- first\n", id="B16"),
        pytest.param("## User\n- keep me", remove("- keep me"), 0, None, id="B20"),
        pytest.param("- tea\n" + "x" * 200, remove("- tea"), 0, "x" * 200, id="B22"),
    ],
)
def test_a_case_comes_out_as_it_should(text: str, op: Op, budget: int, result: str | None) -> None:
    made = plan(text, [op], budget)
    assert made.text == (text if result is None else result)
    assert bool(made.reasons[0]) is (result is None)


def test_b10_a_removal_that_goes_too_far_takes_only_the_others_of_its_kind_along() -> None:
    made = plan("a" * 80 + "b" * 20, [remove("a" * 80), add("- ok", "bbb")])
    assert made.text == "a" * 80 + "b" * 20 + "\n\n- ok"
    assert "80 of 100 characters" in made.reasons[0] and not made.reasons[1] and not made.cuts


def test_b23_what_a_rejected_rewrite_would_have_cut_is_archived_nowhere() -> None:
    made = plan("a" * 80 + "b" * 20, [remove("a" * 80), replace("b" * 20, "c")])
    assert made.cuts == () and made.text == "a" * 80 + "b" * 20


@pytest.mark.parametrize(
    ("text", "target", "left"),
    [
        ("- a\n- b\n- c\n", "- b", "- a\n- c\n"),
        ("- a\n- b\n- c\n", "- b\n", "- a\n- c\n"),
        ("- a\n- b", "\n- b", "- a"),
        ("- a\n- b\nlazy\n", "- b", "- a\n\nlazy\n"),
        ("one\n- b\ntwo\n", "- b", "one\n\ntwo\n"),
        ("one\n- b\n---\n", "- b", "one\n\n---\n"),
        ("one\n\n- b\ntwo\n", "- b", "one\n\ntwo\n"),
        ("- a b c\n", " b", "- a c\n"),
        ("- a\r\n- b\r\n- c\r\n", "- b", "- a\r\n- c\r\n"),
        ("- a\r- b\r- c\r", "- b", "- a\r- c\r"),
        ("- a\r\n  x\r\n- c\r\n", "- a\n  x", "- c\r\n"),
    ],
)
def test_a_removal_leaves_neither_a_hole_nor_a_joined_paragraph(text: str, target: str, left: str) -> None:
    tail = "# T\n\n" + REST
    made = plan(text + tail, [remove(target)])
    assert made.text == left + tail
    assert texts(made)[0].replace("\r\n", "\n").strip("\r\n") == target.strip("\n")


@pytest.mark.parametrize(
    ("text", "op", "result"),
    [
        ("- a\n  more\n- c\n", add("- b", "- a"), "- a\n  more\n- b\n- c\n"),
        ("# H\n- a\n", add("- b", "# H"), "# H\n- b\n- a\n"),
        ("- a", add("- b", "- a"), "- a\n- b"),
        ("- a\r\n- c\r\n", add("- b\n  d", "- a\n"), "- a\r\n- b\r\n  d\r\n- c\r\n"),
        ("```\n- a\n```\n", add("- b", "- a"), "```\n- a\n```\n\n- b\n"),
        ("- a\n- a\n", add("- b", "- a"), "- a\n- a\n\n- b\n"),
        ("  \n", add("- b"), "- b\n"),
        ("- a", add("- b"), "- a\n\n- b"),
        ("- a\r\n", add("- b"), "- a\r\n\r\n- b\r\n"),
        ("- a\n", add("  - b \n\n"), "- a\n\n- b\n"),
        ("- b  x\n", add("* b x"), "- b  x\n"),
        ("- cafe\u0301\n", add("- caf\u00e9"), "- cafe\u0301\n"),
        ("- tea daily\n", add("- tea"), "- tea daily\n\n- tea\n"),
        (f"  - sub\n{REST}", replace("  - sub", "- bus"), f"  - bus\n{REST}"),
        (f"- a\n{REST}", replace("- a\n", "- b"), f"- b\n{REST}"),
        (f"- tea daily\n{REST}", replace("tea", "tea daily"), f"- tea daily\n{REST}"),
        (f"- tea\n{REST}", replace("tea", "tea"), f"- tea\n{REST}"),
    ],
)
def test_text_goes_where_a_reader_expects_it(text: str, op: Op, result: str) -> None:
    assert plan(text, [op]).text == result


@pytest.mark.parametrize(
    ("op", "told"),
    [
        (add(""), "no content"),
        (add(" \n\u200b"), "no content"),
        (replace("- a", " "), "no content"),
        (remove(""), "no target"),
        (remove(" \n"), "no target"),
        (remove("nowhere"), "stands nowhere"),
        (add("- a\0b"), "no text file may hold"),
        (add("- a\ud800b"), "no text file may hold"),
        (add("```\n- a"), "leaves a fence or comment open"),
        (replace("- a", "<!-- x"), "leaves a fence or comment open"),
        (remove("```"), "half a fence"),
        (Op("delete", MEMORY, target="- a"), "is no op"),  # type: ignore[arg-type]
    ],
)
def test_an_op_that_cannot_be_made_says_why(op: Op, told: str) -> None:
    text = f"- a\n\n```\ncode\n```\n\n{REST}"
    made = plan(text, [op])
    assert made.text == text and told in made.reasons[0]


USER = f"## User\n- keep me\n\n## Log\n- old\n{REST}"


@pytest.mark.parametrize(
    "ops",
    [
        [remove("keep me\n\n## Log")],
        [replace("## User", "## Other")],
        [remove("## User\n")],
        [add("## Log of mine", "## User"), remove("- keep me")],
        [add("# Top", "## User"), replace("keep me", "k")],
        [replace("e", "x")],
    ],
)
def test_pinned_text_stays_pinned_whatever_comes_first(ops: list[Op]) -> None:
    made = plan(USER, ops)
    start, end = pinned(made.text)[0]
    assert made.text[start:end] == "## User\n- keep me\n\n"


def test_an_add_may_go_into_a_pinned_section_and_nothing_else_may_slide_into_it() -> None:
    made = plan(USER, [add("- more", "- keep me"), remove("## Log\n- old"), add("## Profile", "- old")])
    assert made.text.startswith("## User\n- keep me\n- more\n\n## Log\n- old\n")
    assert made.reasons == ("", "text that is not pinned would be", "text that is not pinned would be")


def test_text_that_stands_for_original_text_is_lost_once_it_goes() -> None:
    lines = [f"- line number {n} of the file, which says something" for n in range(12)]
    text = "\n".join(lines) + "\n"
    ops = [
        op
        for n, line in enumerate(lines)
        for op in (replace(line, f"{'x' * len(line)}{n:02}"), remove(f"{'x' * len(line)}{n:02}"))
    ]
    made = plan(text, ops)
    assert made.text == text and "rejected" in made.reasons[0]


@pytest.mark.parametrize("op", [remove("`js"), remove("``js"), remove("!"), replace("js", "x"), remove("code")])
def test_a_piece_of_a_fence_is_taken_only_if_the_fence_stays_one(op: Op) -> None:
    text = f"{REST}\n```js\ncode\n```\n\n<!-- a -->\n"
    made = plan(text, [op])
    assert not torn(made.text)


def test_many_ops_are_planned_in_time() -> None:
    text = "".join(f"- x{n} and more words in this line to make it long\n" for n in range(200))
    ops = [op for n in range(200) for op in (replace(f"x{n} ", f"y{n} "), replace(f"z{n} ", f"x{n} "))]
    assert plan(text, ops).text != text
    assert occurrences("a" * 200_000, "a" * 20_000 + "b") == []


def test_ops_are_made_in_turn_on_the_evolving_text() -> None:
    made = plan(f"- a\n{REST}", [replace("- a", "- b"), replace("- b", "- c"), add("- d", "- c")])
    assert made.text == f"- c\n- d\n{REST}"
    assert texts(made) == ["- a", "- b"]


def test_only_original_text_counts_as_lost() -> None:
    big = "- " + "x" * 300
    made = plan("y" * 100, [add(big), remove(big)])
    assert made.text.strip() == "y" * 100


def test_a_replacement_that_holds_the_old_text_archives_nothing() -> None:
    assert plan(f"- tea\n{REST}", [replace("- tea", "- tea and rye")]).cuts == ()
    assert texts(plan(f"- tea\n{REST}", [replace("- tea", "- rye")])) == ["- tea"]


def test_a_chain_that_would_go_on_another_night_is_held_back() -> None:
    text = f"- a\n- b\n{REST}"
    made = plan(text, [replace("- b", "- c"), replace("- a", "- b")])
    assert "once more" in "".join(made.reasons)
    assert plan(made.text, [replace("- b", "- c"), replace("- a", "- b")][made.reasons[0] != "" :]).text == made.text


def test_a_cut_says_under_which_headings_it_stood() -> None:
    [cut] = plan(f"# M\n## Log\n### May\n- a\n{REST}", [remove("- a")]).cuts
    assert cut.path == ("M", "Log", "May")


# Promises, over random documents and random ops

LINES = st.sampled_from(
    [
        "# M",
        "## User",
        "## Log",
        "- a",
        "- b",
        "- a b",
        "* c",
        "  more",
        "### h",
        "```",
        "",
        "text",
        "ä漢\u200d",
        "## Profile",
    ]
)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r", "\n\n"])


@st.composite
def documents(draw: st.DrawFn) -> str:
    lines = draw(st.lists(st.tuples(LINES, NEWLINES), max_size=14))
    text = "".join(map("".join, lines))
    return text if draw(st.booleans()) else text.rstrip("\r\n")


@st.composite
def ops_for(draw: st.DrawFn, text: str) -> list[Op]:
    """Ops whose targets often stand in the text."""

    def piece() -> str:
        start = draw(st.integers(0, max(len(text) - 1, 0)))
        return text[start : start + draw(st.integers(0, 12))]

    def words() -> str:
        return draw(st.one_of(LINES, st.text(max_size=8), st.just(piece()), st.just(f"{piece()} and {piece()}")))

    kinds = draw(st.lists(st.sampled_from(["add", "replace", "remove"]), max_size=5))
    return [Op(kind, MEMORY, words(), draw(st.one_of(st.just(piece()), LINES))) for kind in kinds]  # type: ignore[arg-type]


CASES = st.data()


def drawn(data: st.DataObject) -> tuple[str, list[Op], int, Plan]:
    text = data.draw(documents())
    ops, budget = data.draw(ops_for(text)), data.draw(st.sampled_from([0, 5, 20, 1000]))
    return text, ops, budget, plan(text, ops, budget)


@settings(max_examples=300)
@given(CASES)
def test_a_file_keeps_its_share_and_never_becomes_blank(data: st.DataObject) -> None:
    text = data.draw(documents())
    ops, budget = data.draw(ops_for(text)), data.draw(st.sampled_from([0, 5, 20, 1000]))
    over = 0 < budget < len(text)
    limit = (90 if over else 25) * len(text) / 100
    cutting = plan(text, [op for op in ops if op.op != "add"], budget)
    newlines = 2 * len(cutting.applied)
    assert len(text) - len(cutting.text) <= limit + newlines
    removing = plan(text, [op for op in ops if op.op == "remove"], budget)
    assert sum(len(cut.text.rstrip("\r\n")) for cut in removing.cuts) <= limit
    made = plan(text, ops, budget)
    assert visible(made.text) or not visible(text)
    assert not over or len(made.text) <= len(text)


@settings(max_examples=300)
@given(CASES)
def test_pinned_text_stands_as_it_did(data: st.DataObject) -> None:
    text, _, _, made = drawn(data)
    now = [made.text[start:end] for start, end in pinned(made.text)]
    for start, end in pinned(text):
        lines = [line for line in text[start:end].splitlines() if line.strip()]
        assert subsequence(lines, [line for part in now for line in part.splitlines()]), text[start:end]


def subsequence(wanted: list[str], lines: list[str]) -> bool:
    rest = iter(lines)
    return all(line in rest for line in wanted)


@settings(max_examples=300)
@given(CASES)
def test_every_original_word_stands_in_the_text_or_in_the_archive(data: st.DataObject) -> None:
    text, ops, _, made = drawn(data)
    kept = Counter("".join(made.text.split()))
    for cut in made.cuts:
        kept.update("".join(cut.text.split()))
    assert Counter("".join(text.split())) <= kept
    for op, reason in zip(ops, made.reasons, strict=True):
        if op.op == "remove" and not reason:
            assert any(op.target.strip() in cut.text.replace("\r\n", "\n").replace("\r", "\n") or
                       op.target.strip() in cut.text for cut in made.cuts)  # fmt: skip


@settings(max_examples=300)
@given(CASES)
def test_the_applied_ops_once_more_change_nothing(data: st.DataObject) -> None:
    _, ops, budget, made = drawn(data)
    again = plan(made.text, [ops[index] for index in made.applied], budget)
    assert again.text == made.text


@settings(max_examples=300)
@given(CASES)
def test_an_ambiguous_target_and_a_held_back_op_change_nothing(data: st.DataObject) -> None:
    text, ops, budget, made = drawn(data)
    if not made.applied:
        assert made.text == text and made.cuts == ()
    first = plan(text, ops[:1], budget)
    if ops and ops[0].op != "add" and len(occurrences(text, ops[0].target)) > 1:
        assert first.text == text and first.reasons[0]


@given(st.text(alphabet="ab\r\n", max_size=20), st.text(alphabet="ab\n", min_size=1, max_size=3))
def test_occurrences_overlap_and_match_any_newline(text: str, target: str) -> None:
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    count = sum(plain.startswith(target, start) for start in range(len(plain)))
    found = occurrences(text, target, most=99)
    assert len(found) == count
    assert all(text[s:e].replace("\r\n", "\n").replace("\r", "\n") == target for s, e in found)


def test_what_stands_is_told_by_whole_lines() -> None:
    assert stands("# A\n\n* likes   tea\n  daily\n", "- likes tea\n  daily")
    assert not stands("- likes tea daily", "- likes tea")
    assert not stands("- a\n", " \n")


@pytest.mark.parametrize(
    ("text", "is_torn"),
    [("```\na\n```", False), ("```\na", True), ("<!-- a", True), ("<!-- a -->", False), ("<p>", False)],
)
def test_half_a_fence_or_comment_is_torn(text: str, is_torn: bool) -> None:
    assert torn(text) is is_torn


def test_a_note_comes_without_its_bullet() -> None:
    assert [bare(" - a"), bare("* a\n b"), bare("-a")] == ["a", "a\n b", "-a"]
