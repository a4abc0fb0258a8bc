"""The Markdown toolbox: lines, headings, sections, pinned ranges, slugs, and what it shares with markdown-it."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from markdown_it import MarkdownIt

import reverie.markdown
from reverie.markdown import (
    HeadingPath,
    LineCount,
    blocks,
    body_start,
    ending,
    headings,
    is_slug,
    newline,
    pinned,
    sections,
    split,
    tidied,
    unified,
)

ROOT = Path(__file__).parents[2]
NEWLINES = ("\n", "\r\n", "\r")
STRANGE = "\v\f\x1c\x1d\x1e\x85\u2028\u2029\x00\ud800\udfff"
ANY_TEXT = st.text(st.characters(codec=None) | st.sampled_from("\r\n#-`~ \t" + STRANGE), max_size=60)

INDENTS = ["", "", "", " ", "  ", "   ", "    ", "      ", "\t", " \t"]
STARTS = ["# h", "## h ##", "#", "#x", "####### x", "```", "````", "```py", "``` a`b", "~~~", "~~~~", "- ", "* ", "+ "]
STARTS += ["-", "1. ", "2. ", "1)", "01. ", "-\t", "-     ", "---", "- - -", "***", "==", "--", "text", "**b**", "`c`"]
LINES = st.builds(lambda indent, parts: indent + "".join(parts), st.sampled_from(INDENTS),
                  st.lists(st.sampled_from([*STARTS, *INDENTS]), min_size=1, max_size=3))  # fmt: skip
DOCUMENTS = st.builds(
    lambda lines, last: "".join(f"{line}{end}" for line, end in lines) + last,
    st.lists(st.tuples(LINES, st.sampled_from([*NEWLINES, "\n\n"])), max_size=9),
    st.sampled_from(["", "text", "```", "# h"]),
)


def as_markdown_it_has_it(text: str) -> tuple[list[tuple[int, int]], list[list[int]]]:
    """Line and level of each top-level ATX heading, and the lines of each fence, wherever it stands."""
    tokens = MarkdownIt("commonmark").parse(text)
    atx = [token for token in tokens if token.type == "heading_open" and token.markup[0] == "#" and not token.level]
    fences = [token.map for token in tokens if token.type == "fence"]
    return [(token.map[0], len(token.markup)) for token in atx if token.map], [lines for lines in fences if lines]


def as_we_have_it(text: str) -> tuple[list[tuple[int, int]], list[list[int]]]:
    plain = unified(text)
    found = list(blocks(text))

    def line(offset: int) -> int:
        whole = offset < len(plain) or plain.endswith("\n")
        return plain.count("\n", 0, offset) + (not whole)

    atx = [(line(b.start), b.level) for b in found if b.kind == "heading" and not b.depth]
    return atx, [[line(b.start), line(b.end)] for b in found if b.kind == "fence"]


@pytest.mark.parametrize("room", reverie.markdown.ROOMS)
def test_the_examples_of_the_toolbox_run(room: str) -> None:
    assert not doctest.testmod(importlib.import_module(f"reverie.markdown.{room}")).failed


def test_every_name_is_loaded_on_use_and_stands_where_the_table_says() -> None:
    for room, names in reverie.markdown.ROOMS.items():
        module = importlib.import_module(f"reverie.markdown.{room}")
        for name in names:
            assert getattr(reverie.markdown, name) is getattr(module, name)
    assert sorted(reverie.markdown.__all__) == sorted(n for names in reverie.markdown.ROOMS.values() for n in names)
    source = (ROOT / "framework/reverie/markdown/__init__.py").read_text("utf-8")
    assert set(re.findall(r"(\w+) as \1", source)) == {*reverie.markdown.__all__}


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'haedings'"):
        _ = reverie.markdown.haedings


@given(ANY_TEXT)
def test_lines_joined_again_are_the_text(text: str) -> None:
    assert "".join(split(text)) == text


@given(ANY_TEXT)
def test_a_line_ends_at_three_newlines_and_nowhere_else(text: str) -> None:
    assert split(text) == [line for line in re.split(r"(?<=\n)|(?<=\r)(?!\n)", text) if line]


@given(ANY_TEXT)
def test_a_unified_text_keeps_every_offset(text: str) -> None:
    plain = unified(text)
    assert len(plain) == len(text) and "\r" not in plain
    assert plain.count("\n") == sum(bool(ending(line)) for line in split(text))
    assert all(a == b for a, b in zip(text, plain, strict=True) if a not in "\r\n")


@given(ANY_TEXT)
def test_sections_joined_again_are_the_text(text: str) -> None:
    spans = list(sections(text))
    assert "".join(text[span.start : span.end] for span in spans) == text
    assert all(span.heading and span.heading.level <= 2 and span.heading.start == span.start for span in spans[1:])


@settings(max_examples=400)
@given(DOCUMENTS)
def test_headings_and_fences_agree_with_markdown_it(text: str) -> None:
    assert as_we_have_it(text) == as_markdown_it_has_it(text)


@pytest.mark.parametrize(
    "text",
    [
        "- a\n  ```\n  # no\n  ```\n# yes\n",
        "- a\n  ```\n  code\nb\n# yes\n",
        "- a\n\n  ```\n\n  code\n\n- b\n# yes\n",
        "1. a\n   - b\n\n         code\n     ```\n     x\n   # in a\n# yes\n",
        "-\n\n  # not in the item\n",
        "text\n-\n# yes\n",
        "text\n2. no item\n   ```\n# yes\n",
        "    # code\n\ttext\n# yes\n",
        "text\n    # lazy\n# yes\n",
        "- a\n# ends the item\n  # top\n",
        "-\t```\n\tx\n# yes\n",
        "- - - a\n      # deep\n    # less\n  # least\n# none\n",
        "```\n~~~\n# no\n```\n~~~\n# no\n",
        "````\n```\n# no\n````\n# yes\n",
        "``` a`b\n# yes\n",
        "# a #\n## b # c\n### d ##x\n#\n####### e\n#f\n",
        "- a\nlazy\n===\n# yes\n",
        "  01. x\n      ```\n      y\n",
        "* * *\n- - -\n***\n# yes\n",
        "- [x] a\n\n      code\n\n  b\n\n c\n# yes\n",
        "10) a\n    ```\n    # no\n   # ends it\n",
        "   * a\n    # code, outside the item\n",
    ],
)
def test_hard_cases_agree_with_markdown_it(text: str) -> None:
    assert as_we_have_it(text) == as_markdown_it_has_it(text)


def test_real_files_agree_with_markdown_it(inputs: Path) -> None:
    files = sorted(path for folder in ("memory", "user", "soul", "folders") for path in (inputs / folder).rglob("*.md"))
    assert files
    for path in files:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        if len(text) < 60_000:
            assert as_we_have_it(text) == as_markdown_it_has_it(text), path.name


@pytest.mark.parametrize(
    "text", ["<!--\n# no\n-->\n# yes\n", "<div>\n# no\n\n# yes\n", "<pre>\n\n# no\n</pre>\n# yes\n"]
)
def test_a_heading_in_raw_html_is_none(text: str) -> None:
    assert [heading.title for heading in headings(text)] == ["yes"]


def test_an_unclosed_comment_goes_to_the_end_and_says_so() -> None:
    (block,) = blocks("<!-- a\n# no\n")
    assert (block.kind, block.end, block.closed) == ("html", 12, False)


def test_a_comment_that_a_list_item_ends_is_not_closed() -> None:
    assert [(block.kind, block.depth, block.closed) for block in blocks("- <!-- a\n- b\n")] == [("html", 1, False)]


@pytest.mark.parametrize(("text", "closed"), [("```\na\n```\n", True), ("```\na\n", False), ("- ```\n  a\nb\n", False)])
def test_a_fence_says_whether_it_is_closed(text: str, closed: bool) -> None:
    assert [block.closed for block in blocks(text)] == [closed]


def test_what_is_nested_too_deep_counts_as_text_and_costs_no_more() -> None:
    assert list(blocks("- " * 10_000 + "x\n" + "\n" * 10_000)) == []


def test_a_heading_knows_the_headings_it_stands_under() -> None:
    text = "### early\n# A\n## B\n#### D\n## C\n### E\n# F\n"
    assert [heading.path for heading in headings(text)] == [
        ("early",),
        ("A",),
        ("A", "B"),
        ("A", "B", "D"),
        ("A", "C"),
        ("A", "C", "E"),
        ("F",),
    ]


@given(st.lists(st.integers(1, 6), max_size=20))
def test_a_path_holds_one_title_a_level_and_never_a_deeper_one_first(levels: list[int]) -> None:
    path = HeadingPath()
    for number, level in enumerate(levels):
        assert path.enter(level, str(number))[-1] == str(number)
        assert path.levels == sorted(set(path.levels)) and len(path.levels) == len(path.titles)


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# a", "a"),
        ("   ##   a b  ", "a b"),
        ("# a ##", "a"),
        ("# a#", "a#"),
        ("# #", ""),
        ("#", ""),
        ("# a \\# ##  ", "a \\#"),
    ],
)
@pytest.mark.parametrize("end", ["", *NEWLINES])
def test_a_title_is_without_its_marks(line: str, title: str, end: str) -> None:
    assert [heading.title for heading in headings(line + end)] == [title]


@pytest.mark.parametrize("line", ["    # a", "\t# a", "#a", "####### a", "a # b", "\\# a", "- # a", "> # a"])
def test_what_is_no_top_level_heading(line: str) -> None:
    assert list(headings(line)) == []


@pytest.mark.parametrize(
    "line",
    ["## User", "## user profile", "## Feedback: Ann", "## Preference", "## Preferences", "## Profile", "## **USER**"],
)
def test_pinned_sections(line: str) -> None:  # D08
    assert pinned(f"a\n{line}\nb\n# c\n") == [(2, 5 + len(line))]


@pytest.mark.parametrize(
    "line", ["## Users", "# User", "### User", "##User", "## My Preferences", "## Profiled", "User\n---"]
)
def test_sections_that_are_not_pinned(line: str) -> None:  # D09
    assert pinned(f"{line}\nb\n") == []


def test_a_pinned_section_goes_on_through_h3_and_fences() -> None:  # D10
    text = "## User\n### sub\n- q\n```\n# no\n```\n## Next\n"
    assert [text[start:end] for start, end in pinned(text)] == [text.removesuffix("## Next\n")]


def test_a_heading_in_front_matter_is_none() -> None:
    text = "---\nname: x\n# comment\n---\n# A\n"
    assert [heading.title for heading in headings(text)] == ["A"]
    assert next(iter(sections(text))).heading is None


@pytest.mark.parametrize("slug", ["a", "a-b", "2026", "x" * 64])
def test_slugs(slug: str) -> None:  # C01
    assert is_slug(slug)


@pytest.mark.parametrize(
    "slug", ["", "-a", "a-", "a--b", "A", "a_b", "a.b", "../x", "x" * 65, None, "a\n", "é", "٣", 7]
)
def test_what_is_no_slug(slug: object) -> None:  # C02
    assert not is_slug(slug)


@given(st.text("ab1-", max_size=20))
def test_a_tidied_topic_of_kebab_letters_is_a_slug_or_empty(topic: str) -> None:
    assert tidied(topic) == "" or is_slug(tidied(topic))


@pytest.mark.parametrize(
    ("text", "end"), [("a\r\n", "\r\n"), ("a\r", "\r"), ("a\n", "\n"), ("a", ""), ("", ""), ("a\x85", "")]
)
def test_the_newline_a_text_ends_with(text: str, end: str) -> None:
    assert ending(text) == end


@pytest.mark.parametrize(("text", "most"), [("a\r\nb\r\nc\n", "\r\n"), ("a\rb\r", "\r"), ("a", "\n"), ("a\nb\r", "\n")])
def test_the_newline_most_lines_end_with(text: str, most: str) -> None:
    assert newline(text) == most


def test_lines_are_counted_for_rising_offsets() -> None:
    count = LineCount("a\nb\n\nc")
    assert [count.at(offset) for offset in (0, 1, 2, 4, 5)] == [1, 1, 2, 3, 4]


def test_a_rule_on_the_first_line_is_no_front_matter() -> None:
    assert (
        body_start("---\n\ntext\n\n---\n")
        == body_start("---\n# A\nx: y\n---\n")
        == body_start("----\na: b\n---\n")
        == 0
    )
