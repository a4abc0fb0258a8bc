"""Entries, their identity, front matter and SKILL.md."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from reverie.markdown import blocks, entries, entry_hash, read_front_matter, read_skill, split

ATOMS = [
    "# H",
    "## User",
    "### h",
    "- a",
    "* b",
    "- ",
    "  - c",
    "  text",
    "text",
    "",
    "",
    "---",
    "```",
    "  ```",
    "1. n",
]
ATOMS += ["+ p", "> q", "<!--", "-->", "  <!-- s -->", "§", "===", "\ttab", " one", "- - -", "| t |"]
TEXTS = st.builds(
    lambda lines, end: end.join(lines) + end,
    st.lists(st.sampled_from(ATOMS), max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
)


def texts_of(text: str) -> list[str]:
    return [text[entry.start : entry.end] for entry in entries(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("- a\n- b\n", ["- a\n", "- b\n"]),
        ("* a\n  b\n c\n- d", ["* a\n  b\n c\n", "- d"]),
        ("- a\n\n  b\n\nc\n", ["- a\n\n  b\n"]),
        ("- a\n\n b\n", ["- a\n"]),
        ("- a\nlazy\n| t |\n\n- b\n", ["- a\nlazy\n| t |\n", "- b\n"]),
        ("- a\n1. b\n- c\n+ d\n- e\n> f\n", ["- a\n", "- c\n", "- e\n"]),
        ("- a\n§\n- b\n---\n- c\n# H\n", ["- a\n", "- b\n", "- c\n"]),
        ("- a\n  ```\n  # no\n\n  - no\n  ```\n- b\n", ["- a\n  ```\n  # no\n\n  - no\n  ```\n", "- b\n"]),
        ("- a\n```\n- no\n```\n- b\n", ["- a\n", "- b\n"]),
        ("<!--\n- no\n-->\n- b\n", ["- b\n"]),
        ("---\nname: x\n- no\n---\n- b\n", ["- b\n"]),
        ("+ a\n1. b\n  - c\n-\td\n-e\n- - -\n* * *\n", []),
        ("-\n- \n-", ["- \n"]),
        ("### a\n- b\n\n- c\n", ["### a\n- b\n", "- c\n"]),
        ("#### a\nb\n# c\n", ["#### a\nb\n"]),
        ("### a\n```\n\n# no\n\n```\nb\n\nc\n", ["### a\n```\n\n# no\n\n```\nb\n"]),
        ("### a\n### b\n\n", ["### a\n", "### b\n"]),
        ("# a\n## b\ntext\n", []),
        ("- a\r\n  b\r\n\r\n- c\r", ["- a\r\n  b\r\n", "- c\r"]),
        ("- a\x85b\u2028c\n", ["- a\x85b\u2028c\n"]),
    ],
)
def test_what_an_entry_is(text: str, found: list[str]) -> None:
    assert texts_of(text) == found


def test_an_entry_knows_where_it_stands() -> None:
    text = "- o\n# A\n- a\n### B\n\n- b\n## User\n- c\n"
    assert [(entry.level, entry.path, entry.section, entry.pinned) for entry in entries(text)] == [
        (0, (), 0, False),
        (0, ("A",), 4, False),
        (3, ("A",), 4, False),
        (0, ("A", "B"), 4, False),
        (0, ("A", "User"), 23, True),
    ]


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("- a\n  ```\n  b\n  ```\n", True),
        ("- a\n  ```\n  b\n", False),
        ("- a\n  <!-- b\n", False),
        ("### a\n```\nb\n", False),
        ("### a\n```\nb\n```\n", True),
    ],
)
def test_an_entry_with_an_open_fence_or_comment_is_not_whole(text: str, whole: bool) -> None:
    assert [entry.whole for entry in entries(text)] == [whole]


@settings(max_examples=300)
@given(TEXTS)
def test_entries_rise_never_overlap_and_are_whole_lines(text: str) -> None:
    at, borders = 0, {0}
    for line in split(text):
        borders.add(max(borders) + len(line))
    for entry in entries(text):
        assert at <= entry.start < entry.end and {entry.start, entry.end} <= borders
        at = entry.end


@settings(max_examples=300)
@given(TEXTS)
def test_no_entry_begins_in_a_fence_or_comment_at_the_top_level(text: str) -> None:
    starts = [entry.start for entry in entries(text)]
    found = [block for block in blocks(text) if block.kind != "heading" and not block.depth]
    assert not [start for start in starts for block in found if block.start <= start < block.end]


def test_an_entry_keeps_its_hash_through_white_space_and_stamps() -> None:  # J15
    same = [
        "- a  b\n  c",
        "- a b c",
        "- a b\r\n  c\r\n  <!-- archived 2026-03-04 from MEMORY.md -->\r\n\r\n",
        "- a\tb c\n",
    ]
    assert len({entry_hash(text) for text in same}) == 1
    assert entry_hash("- a b d") != entry_hash("- a b c")
    assert entry_hash("- a <!-- b -->") != entry_hash("- a")
    assert len(entry_hash("- \udc80\x00")) == 64


def test_front_matter_is_read_with_any_newline() -> None:  # L03
    for end in ("\n", "\r\n", "\r"):
        text = end.join(["---", "updatedAt: 2026-01-02", "tags: [a, b]", "3: x", "---", "# A", ""])
        found = read_front_matter(text)
        assert text[found.end :].startswith("# A") and not found.error
        assert {key: str(value) for key, value in found.data.items()} == {
            "updatedAt": "2026-01-02",
            "tags": "['a', 'b']",
        }


LAUGHS = "a: &a [x]\n" + "".join(f"b{n}: [*a, *a]\n" for n in range(9))


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("a: b: c", "no YAML"),
        ("a: !!python/object:os.system x", "no YAML"),
        ("a: 2026-13-45", "cannot be read"),
        ("a: !!bool maybe", "cannot be read"),
        ("a: !!int ''", "cannot be read"),
        ("a: " + "9" * 5000, "cannot be read"),
        (LAUGHS, "more than 8 aliases"),
        ("a: " + "[" * 40 + "]" * 40, "32 deep"),
        ("a: " + "x" * 66_000, "over 64 KiB"),
        ("a: \x00", "no YAML"),
        ("a: \udc80", "cannot be read"),
        ("a: *nobody", "no YAML"),
        ("a: 1\n--- \nb: 2", ""),
    ],
)
def test_bad_front_matter_is_a_value(source: str, reason: str) -> None:
    found = read_front_matter(f"---\n{source}\n---\ntext")
    assert found.end and reason in found.error and bool(found.data) == (not reason)


@given(st.text(st.characters(codec=None) | st.sampled_from("\n:-[]{}&*!'\"#|>%@ "), max_size=60))
def test_no_front_matter_raises(source: str) -> None:
    found = read_front_matter(f"---\nk: {source}\n---\n")
    assert not (found.error and found.data)


def test_a_skill_says_what_it_is() -> None:
    text = "---\nname: bake\ndescription: >\n  Bake\n  bread\nmetadata:\n  origin: auto\n  pinned: true\n---\nBody"
    skill = read_skill(text, "folder")
    assert (skill.name, skill.description, skill.invocable, skill.origin) == ("bake", "Bake bread", True, "auto")
    assert skill.metadata["pinned"] is True and text[skill.body :] == "Body"


@pytest.mark.parametrize(
    ("value", "invocable"), [("false", False), ("'false'", False), ("true", True), ("no", False), ("1", True)]
)
def test_a_skill_is_hidden_only_where_it_says_so(value: str, invocable: bool) -> None:
    assert read_skill(f"---\nuser-invocable: {value}\n---\n", "x").invocable is invocable


@pytest.mark.parametrize(
    "text", ["", "just text", "---\nname: [a]\ndescription: {}\nmetadata: x\n---\n", "---\nname: ''\n---\n"]
)
def test_a_skill_without_a_usable_name_is_called_like_its_folder(text: str) -> None:
    skill = read_skill(text, "folder")
    assert (skill.name, skill.description, skill.origin) == ("folder", "", "")


def test_a_broken_skill_says_why() -> None:
    skill = read_skill("---\nname: a: b\n---\n", "folder")
    assert skill.name == "folder" and "no YAML" in skill.error


def test_real_files_have_entries(inputs: Path) -> None:
    found = sum(
        len(texts_of(path.read_bytes().decode("utf-8", "replace"))) for path in (inputs / "memory").glob("*.md")
    )
    assert found > 500
