"""What is made harmless, and what stays exactly as it was."""

from __future__ import annotations

import doctest
import os
import sys
import unicodedata
from importlib import import_module
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.hygiene import cleanse, is_delimiter, single_line, visible
from reverie.hygiene.character import HIDDEN

FOLDER = Path(os.environ.get("REVERIE_INPUTS") or Path(__file__).parents[3] / "shared" / "inputs")
REAL = sorted(FOLDER.rglob("*.md"))

KEPT = {
    "family": "👨\u200d👩\u200d👧\u200d👦",
    "heart on fire": "❤\ufe0f\u200d🔥",
    "pirate flag": "\U0001f3f4\u200d☠\ufe0f",
    "rainbow flag": "🏳\ufe0f\u200d🌈",
    "skin and profession": "👩🏽\u200d⚕\ufe0f",
    "black cat": "🐈\u200d⬛",
    "warning": "⚠\ufe0f",
    "stop": "🛑 stop",
    "registered": "Brand®\ufe0f",
    "arrow": "↔\ufe0f",
    "keycap": "1\ufe0f\u20e3 and #\ufe0f\u20e3",
    "Scotland": "\U0001f3f4\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "Wales and Texas": "\U0001f3f4\U000e0067\U000e0062\U000e0077\U000e006c\U000e0073\U000e007f "
    "\U0001f3f4\U000e0075\U000e0073\U000e0074\U000e0078\U000e007f",
    "regional flag": "🇩🇪",
    "Persian": "می\u200cخواهم نمی\u200cدانم",
    "Arabic with joiner": "ه\u200dه",
    "Urdu": "کیا حال ہے",
    "Arabic with marks": "مُحَمَّد",
    "end of ayah": "بسم\u06dd",
    "Hindi": "क्\u200dष और श्री",
    "Hindi without joining": "क्\u200cष",
    "Bengali": "র\u200d্যাব",
    "Malayalam": "നന്\u200dമ",
    "Sinhala": "ශ්\u200dරී ලංකා",
    "Thai": "ประเทศ\u200bไทย",
    "Thai with marks": "น้ำ\u200bแข็ง",
    "Lao": "ສະ\u200bບາຍ",
    "Khmer": "ភាសា\u200bខ្មែរ",
    "Burmese": "မြန်မာ\u200bစာ",
    "Hebrew and a mark": "שלום\u200f!",
    "Hebrew with points": "שָׁלוֹם\u200e 5",
    "Latin in Hebrew": "\u200eשלום",
    "Vietnamese": "Tiếng Việt, cà phê",
    "Japanese": "日本語、テスト。\u3000全角",
    "Korean": "한국어 메모",
    "combining accents": "e\u0301",
    "no-break blank": "10\u00a0km",
    "tab": "a\tb",
}
UNCHANGED = {
    "prose": "Tea at four.\n\nMilk first, *always*; see [the list](notes/tea.md) and https://example.org/a_b(c).",
    "e-mail": "write to ann@example.org or <bob@example.org>",
    "web address with a person": "https://mastodon.example/@ann/1 and [video](https://tube.example/@bob)",
    "sign alone": "5 @ 3 and @ home",
    "diff hunk": "@@ -1,2 +3,4 @@ x",
    "code span": "use `@decorator` and `npm i @scope/pkg --save` here",
    "two-backtick span": "``a ` @b`` end",
    "span over a line": "run `npm i\n@scope/pkg` now",
    "span with brackets": "- [x] `list[@a]` and `x(@b)`",
    "span with a pipe": "`cat @a | less`",
    "span in a link": "see [`@scope/pkg`](https://example.org)",
    "span beside emphasis": "**Key**: `@a/b` and _more_ `git log --author=@me *.py`",
    "span beside tags": "so <b>x</b> `y @z` <i>w</i>",
    "spans in items": "- `a @b`\n- **c** `d @e`\n- unclosed ` tick",
    "tick in another paragraph": "a ` b\n\n`c @d`",
    "fence": "```python\n@property\ndef f(): ...\n```",
    "fence of tildes": "~~~\n@a ``` @b\n~~~",
    "fence in a fence": "````md\n```\n@a\n```\n````",
    "fence end with blanks before": "```\n@a\n   ```",
    "fence with an indented fence": "```\n    ```\n@a\n```",
    "fence in an item": "- a\n  ```\n  @b\n  ```\n- c",
    "fence on an item": "- ```\n  @b\n  ```",
    "fence in a deep item": "1. a\n   - b\n     ```sh\n     npm i @c/d\n\n     x\n     ```\n2. e",
    "fence in a wide item": "x\n\n10. a\n\n    ```\n    @b\n    ```",
    "fence after a paragraph": "text:\n```\n@a\n```\nmore",
    "comment": "<!-- marker:1 -->\n- a",
    "comment in a sentence": "a <!-- b --> c",
    "marker of a tool in code": "`<!-- x -->` and text",
    "details": "<details>\n<summary>a</summary>\n\n```\n@b\n```\n\n</details>",
    "pre": "<pre>\na\n\nb\n</pre>\n\n```\n@b\n```",
    "rule": "a\n\n---\n\nb\n\n***",
    "setext": "Title\n---\n\nOther\n===",
    "table": "| a | b |\n|---|---|\n| `x` | y |",
    "table without outer bars": "a | b\n--- | ---\nc | d",
    "front matter": "---\nname: x\n---\ntext",
    "forwarded mail": "---------- Forwarded message ---------",
    "certificate": "-----BEGIN CERTIFICATE-----",
    "definition": '[a]: https://example.org "Title"\n[b]: x',
    "label and colon": "- [ISSUE-1]: done\n- x[0]:\n- see [[note]]:",
    "quote": "> a\n> b\n\nc",
    "dashes in prose": "— a quote —\n- a - b -",
}


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_what_a_script_or_an_emoji_needs_is_kept(text: str) -> None:
    assert cleanse(f"a {text} b\n{text}") == (f"a {text} b\n{text}", 0, 0, 0, 0)


@pytest.mark.parametrize("text", UNCHANGED.values(), ids=UNCHANGED)
def test_harmless_text_stays_as_it_is(text: str) -> None:
    assert cleanse(text) == (text, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("see @README.md.", "see `@README.md`."),
        ("@~/.ssh/id_rsa", "`@~/.ssh/id_rsa`"),
        ("@./a b @../c", "`@./a` b `@../c`"),
        ("(@scope/pkg)", "(`@scope/pkg`)"),
        ("**@ann**, @bob: hi", "**`@ann`**, `@bob`: hi"),
        ("a `b` @c", "a `b` ``@c``"),
        ("`@a", "` ``@a``"),
        ("\\@a", "`\\@a`"),
        ("&#64;a", "`&#64;a`"),
        ("`a\n\nb @c` d", "`a\n\nb ``@c``` d".replace("```", "`` `")),
        ("ask @王 now", "ask `@王` now"),
    ],
)
def test_an_import_becomes_a_code_span(text: str, clean: str) -> None:
    assert cleanse(text).text == clean
    assert cleanse(text).imports == text.count("@") + text.count("&#64;")


def test_imports_stay_where_they_are_meant_and_the_rest_is_done_all_the_same() -> None:
    clean = cleanse("@README.md\u200b\n--- SOUL ---\n```", imports=True)
    assert clean == ("@README.md\n\\--- SOUL ---\n```\n```", 1, 1, 0, 1)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("```\na", "```\na\n```"),
        ("````x\n```\n", "````x\n```\n````"),
        ("~~~\na\n\n\n", "~~~\na\n~~~"),
        ("- a\n  ```\n  b", "- a\n  ```\n  b\n  ```"),
        ("- ```\n  b", "- ```\n  b\n  ```"),
        (" ```\na", " ```\na\n ```"),
        ("<!-- a", "<!-- a\n-->"),
        ("a <!-- b", "a <!-- b\n-->"),
        ("```\n<!--", "```\n<!--\n```\n-->"),
        ("<pre>\na", "<pre>\na\n</pre>"),
        ("<SCRIPT>", "<SCRIPT>\n</script>"),
        ("<?x", "<?x\n?>"),
        ("<![CDATA[ x", "<![CDATA[ x\n]]>"),
        ("> <!-- x", "> <!-- x\n\n-->"),
    ],
)
def test_what_is_open_at_the_end_gets_its_end(text: str, clean: str) -> None:
    assert cleanse(text).text == clean
    assert cleanse(text).closed >= 1


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("- a\n  ```\nb\n  ```", "- a\n  \\```\nb\n  ```\n  ```"),
        ("> ```\n> a\n> ```", "> \\```\n> a\n> \\```"),
        ("a\n    ```\n    b\n    ```", "a\n    \\```\n    b\n    \\```"),
        ("```\na\n```~", "\\```\na\n\\```~"),
        ("<div>\n```\n</div>", "<div>\n\\```\n</div>"),
        ("\t```\n\ta\n\t```", "\t\\```\n\ta\n\t\\```"),
    ],
)
def test_a_fence_that_readers_see_differently_is_broken(text: str, clean: str) -> None:
    assert cleanse(text).text == clean


def test_the_end_of_a_fence_loses_its_trailing_white_space() -> None:
    assert cleanse("```\na\n``` \t\nb").text == "```\na\n```\nb"


def test_text_under_a_quote_is_parted_from_it() -> None:
    assert cleanse("> a\nb").text == "> a\n\nb"


@pytest.mark.parametrize("line", ["--- A ---", " --- A ---", "---A---", "-- a --", "——— a ———", "---\u00a0A ---"])
def test_a_delimiter_is_known(line: str) -> None:
    assert is_delimiter(line)


@pytest.mark.parametrize(
    "line", ["", "---", "--- ---", "--- | ---", ":-- | --:", "- a -", "--- a", "a ---", "x --- A ---"]
)
def test_what_is_no_delimiter_is_known(line: str) -> None:
    assert not is_delimiter(line)


def test_every_format_character_is_hidden_but_those_that_are_seen() -> None:
    signs = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
    formats = {c for c in range(sys.maxunicode + 1) if unicodedata.category(chr(c)) in ("Cf", "Cc")}
    left = {c for c in formats - signs - {9, 10} if chr(c) in visible(f"a{chr(c)}b")[0]}
    assert left == set()
    assert all(not HIDDEN.search(chr(c)) for c in signs)


@pytest.mark.parametrize("end", ["\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_every_line_end_becomes_a_newline_and_is_not_counted(end: str) -> None:
    assert visible(f"a{end}b") == ("a\nb", 0)


def test_a_mark_at_the_beginning_of_a_file_is_not_counted() -> None:
    assert cleanse("\ufeffa") == ("a", 0, 0, 0, 0)


def test_lone_surrogates_are_replaced_and_counted() -> None:
    assert visible("a\udc80b") == ("a\ufffdb", 1)


def test_hidden_characters_are_counted_one_by_one() -> None:
    assert cleanse("a\u200b\u200bb\u202ec").hidden == 3


@given(st.text())
def test_a_single_line_is_one_and_has_no_hidden_characters(text: str) -> None:
    line = single_line(text)
    assert len(line.splitlines()) <= 1
    assert line == line.strip()
    assert visible(line) == (line, 0)


@given(st.text())
def test_what_is_visible_stays_visible(text: str) -> None:
    once = visible(text)[0]
    assert visible(once) == (once, 0)


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126, exclude_characters="@&`~<>-[]"), max_size=80))
def test_plain_words_are_never_touched(text: str) -> None:
    assert cleanse(text).text == text.rstrip()


@pytest.mark.skipif(not REAL, reason="no real files here: set REVERIE_INPUTS")
def test_real_files_are_hardly_changed_and_settle_at_once() -> None:
    for file in REAL:
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        clean = cleanse(text)
        assert cleanse(clean.text) == (clean.text, 0, 0, 0, 0), file.name
        assert abs(len(clean.text) + clean.hidden - len(text.replace("\r\n", "\n"))) <= 0.2 * len(text) + 50, file.name


@pytest.mark.parametrize("room", ["delimiter", "script"])
def test_the_examples_run(room: str) -> None:
    tried = doctest.testmod(import_module(f"reverie.hygiene.{room}"))
    assert (tried.failed, tried.attempted > 0) == (0, True)
