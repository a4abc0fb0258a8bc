"""Characters that nobody sees, and line ends that only some see."""

from __future__ import annotations

import re
from typing import Final

BREAK: Final = re.compile("\r\n?|[\v\f\x1c-\x1e\x85\u2028\u2029]")
"""What a program or a model may take for the end of a line, other than a newline."""
HIDDEN: Final = re.compile(
    "[\0-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""Controls, bidi controls, zero-width characters, fillers, variation selectors and tags, a run at a time."""
SURROGATE: Final = re.compile("[\ud800-\udfff]")
BOM: Final = "\ufeff"


def visible(text: str) -> tuple[str, int]:
    r"""The text as a person sees it, and how many characters were taken out or replaced.

    Every line end becomes ``\n``; a lone surrogate becomes U+FFFD. What makes letters or emoji look as they
    should is kept, where it does so.
    """
    text = BREAK.sub("\n", text.removeprefix(BOM))
    if not HIDDEN.search(text):
        return without_surrogates(text)
    from .script import wanted  # rarely needed, and its character classes take time to compile

    gone = 0

    def seen(found: re.Match[str]) -> str:
        nonlocal gone
        kept = wanted(text[found.start() - 1 : found.start()], found[0], text[found.end() : found.end() + 1])
        gone += len(found[0]) - len(kept)
        return kept

    clean, replaced = without_surrogates(HIDDEN.sub(seen, text))
    return clean, gone + replaced


def without_surrogates(text: str) -> tuple[str, int]:
    """The text with U+FFFD for each lone surrogate, and how many there were."""
    return SURROGATE.subn("\ufffd", text)


def single_line(text: str) -> str:
    """The visible text with every stretch of white space made one blank."""
    return " ".join(visible(text)[0].split())
