"""Which code spans are code to every reader.

One that lets a link, a tag, an emphasis or a cell of a table end inside a code span sees the rest of it as text. Spans
that hold one import and nothing else can end nothing; of others it is asked whether anything before could end in them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from .backtick import SIGN, Scan, Span, tick_lengths, ticks_of, tight

TABLE: Final = re.compile(r"[\s>|:-]*-[\s>|:-]*\Z")
GLUED: Final = re.compile(r"(?:~|(?::/|[wW]{3}\.)\S*)\Z")
"""Text that takes backticks right behind it for its own: a stroke, an address."""
LOOK_BACK: Final = 300
HARMLESS: Final = re.compile(
    r"""\[[^\[\]`@&<]*\](?:\((?:[^()`<"'@&]|"[^"`@&<]*"|'[^'`@&<]*')*\)|(?![(\[]))|<[A-Za-z/][^<>`"'@&\[\]]*>"""
)
"""Links, boxes and tags that end before any backtick, one of ours to come included."""
BOUNDS: Final = tuple(
    (re.compile(opener), re.compile(end))
    for opener, end in ((r"\[", r"\]"), (r"\]\(", r"\)"), (r"~(?=[^\s~])", r"(?<=[^\s~])~"), (r"<(?! )", ">"))
)
"""What begins something, and what ends it inside a code span, to a reader that looks for the end first."""
STRESS: Final = (
    (re.compile(r"\*(?=\S)"), re.compile(r"(?<=\S)\*")),
    (re.compile(r"(?<![^\W_])_|_(?![^\W_])"), re.compile(r"(?<=\S)_(?![^\W_])")),
)
"""The same of emphasis: its end is looked for outside of what a single backtick encloses."""
RAW: Final = {opener for opener, _ in (BOUNDS[2], *STRESS)}
"""Beginnings that a link or a tag around them does not end."""
Bounds = tuple[tuple[re.Pattern[str], re.Pattern[str]], ...]


def agreed(texts: list[str], scanned: list[Scan], raw: list[bool], path: str) -> tuple[list[list[Span]], set[int]]:
    """The code spans of each text that every reader sees, and the lengths of backtick runs that all pair alike.

    Each text was scanned for itself; it is asked whether that could be otherwise if they belong together.
    """
    closed = [{Span(*found.span()) for found in tight(path).finditer(text)} for text in texts]
    lengths = [tick_lengths(text) for text in texts]
    solid = solid_lengths(texts, closed, lengths)
    sure = are_apart(scanned, lengths) and are_whole(texts, scanned, closed, raw)
    code = []
    for text, (spans, _), single, is_raw in zip(texts, scanned, closed, raw, strict=True):
        firm = {span for span in single if ticks_of(text, span) in solid}
        kept = single & set(spans) if is_raw else set(spans)
        code.append(sorted((kept if sure else set()) | firm))
    return code, solid


def solid_lengths(texts: list[str], tight: list[set[Span]], lengths: list[Counter[int]]) -> set[int]:
    """The lengths of backtick runs that stand nowhere but around single imports: every reader pairs those alike."""
    counted = Counter[int]()
    for some in lengths:
        counted.update(some)
    paired = Counter(ticks_of(text, span) for text, spans in zip(texts, tight, strict=True) for span in spans)
    return {length for length, pairs in paired.items() if counted[length] == 2 * pairs}


def are_apart(scanned: list[Scan], lengths: list[Counter[int]]) -> bool:
    """Whether no run that is alone in its text could pair with one of another."""
    texts_with = Counter(length for counted in lengths for length in counted)
    return all(texts_with[length] < 2 for _, alone in scanned for length in alone)


def are_whole(texts: list[str], scanned: list[Scan], tight: list[set[Span]], raw: list[bool]) -> bool:
    """Whether nothing that begins before a code span could end inside it."""
    tabular = any(TABLE.match(text) for text in texts)
    odd = any(is_odd(*page) for page in zip(texts, scanned, tight, raw, strict=True))
    seen: set[re.Pattern[str]] = set()
    for text, (spans, _), closed, is_raw in zip(texts, scanned, tight, raw, strict=True):
        last = 0
        seen |= {BOUNDS[-1][0]} if is_raw else set()
        for span in spans:
            seen |= openers(text[last : span.start + 1])
            code = text[span.start : span.end]
            bare = odd or is_raw or ticks_of(text, span) % 2 == 0 or "`" in inner(text, span)
            bounds = BOUNDS + STRESS if bare else BOUNDS
            if span not in closed and (ends_in(code, seen, bounds) or (tabular and "|" in code) or glued(text, span)):
                return False
            last = span.end
        seen |= openers(text[last:])
    return True


def is_odd(text: str, scanned: Scan, closed: set[Span], raw: bool) -> bool:
    """Whether a reader that pairs backticks otherwise when it looks for the end of an emphasis would pair other ones.

    In raw HTML it also counts what will have backticks once its imports are code.
    """
    spans, alone = scanned
    codes = [inner(text, span) for span in spans if span not in closed]
    mixed = any("`" in code or (raw and SIGN.search(code)) for code in codes)
    return mixed or "\\`" in text or any(length % 2 for length in alone)


def inner(text: str, span: Span) -> str:
    """What a code span holds."""
    ticks = ticks_of(text, span)
    return text[span.start + ticks : span.end - ticks]


def openers(text: str) -> set[re.Pattern[str]]:
    """What a text holds that may begin something."""
    left = HARMLESS.sub("", text)
    return {opener for opener, _ in BOUNDS + STRESS if opener.search(text if opener in RAW else left)}


def ends_in(code: str, seen: set[re.Pattern[str]], bounds: Bounds) -> bool:
    """Whether a code span holds what may end something that was begun."""
    return any(opener in seen and end.search(code) for opener, end in bounds)


def glued(text: str, span: Span) -> bool:
    """Whether what stands right before a code span may take its backticks for its own."""
    return bool(GLUED.search(text, max(0, span.start - LOOK_BACK), span.start))
