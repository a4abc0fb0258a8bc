"""``@path`` outside code: Claude Code would read the file, so each becomes a code span.

What an author marked as code stays as it is, if it is code to every reader: one that lets a link, a tag or an emphasis
end inside a code span would see the rest of it as text. Our own code spans hold nothing that could end anything, and
are as many backticks long as nothing else beside them is, so that no reader can pair them otherwise.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from .block import Line

AT: Final = r"(?:@++|&(?:#0{0,5}64|#[xX]0{0,4}40|commat);)"
SIGN: Final = re.compile(AT + r"(?=[^\s`])")


class Grammar(NamedTuple):
    """What is taken for a path, and what for a code span that holds one import and nothing else."""

    target: re.Pattern[str]
    tight: re.Pattern[str]


def grammar(path: str) -> Grammar:
    tight = re.compile(rf"(?<![`\\~])(`++)\\*{AT}{path}\1(?!`)")
    return Grammar(re.compile(AT + path), tight)


LOOSE: Final = grammar(r"[\w./+:%#@&;~\\-]*")
STRICT: Final = grammar(r"(?:[^\W_]|(?<=[^\W_])_+(?=[^\W_])|[./+:%#@&;\\-])*")
"""Paths of characters that end nothing in Markdown, and hold whatever another import could begin with.

``_`` and ``~`` may end an emphasis; the loose grammar is for text where none can have begun.
"""
UNSIGNED: Final = re.compile(rf"(?<![^\W_/]){LOOSE.target.pattern}")
STRESS_MARK: Final = re.compile("[_~]")
RUN: Final = re.compile("`+")
TICK: Final = re.compile(r"\\[\\`]|`+")
ADDRESS: Final = re.compile(r"https?://[^\s<>\"'`()\[\]\\*|]*/$")
LOOK_BACK: Final = 300
WORD: Final = r"(?:[^\W\d_]|[@(\"'/.,;?!$%&]|`(?!``+[^`]*$))"
FIRST: Final = re.compile(" {0,3}" + WORD)
NEXT: Final = re.compile(r"[ \t]*" + WORD)
"""Lines that begin with nothing that could begin a block of another kind."""
TABLE: Final = re.compile(r"[\s>|:-]*-[\s>|:-]*$")
GLUED: Final = re.compile(r"(?:~|(?::/|[wW]{3}\.)\S*)$")
"""Text that takes backticks right behind it for its own: a stroke, an address."""
HARMLESS: Final = re.compile(
    r"""\[[^\[\]`@&<]*\](?:\((?:[^()`<"'@&]|"[^"`@&<]*"|'[^'`@&<]*')*\)|(?![(\[]))|<[A-Za-z/][^<>`"'@&\[\]]*>"""
)
"""Links, boxes and tags that end before any backtick, one of ours to come included."""
BOUNDS: Final = tuple(
    (re.compile(opener), re.compile(end))
    for opener, end in ((r"\[", r"\]"), (r"\]\(", r"\)"), (r"~(?=[^\s~])", r"(?<=[^\s~])~"), (r"<[A-Za-z/!?]", ">"))
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


class Span(NamedTuple):
    """A code span of a stretch of text, its backticks included."""

    start: int
    end: int


def guard_imports(lines: list[Line]) -> tuple[list[str], int]:
    """The lines with their imports made code, and how many there were."""
    clean: list[str] = []
    count = 0
    for held in stretches(lines):
        texts, found = guarded(held) if any(SIGN.search(line.text) and not line.code for line in held) else ([], 0)
        clean += texts or [line.text for line in held]
        count += found
    return clean, count


def stretches(lines: list[Line]) -> Iterator[list[Line]]:
    """The lines in stretches that no paragraph reaches across; a line of code is one for itself.

    To some readers a paragraph in a list goes on after a blank line.
    """
    held: list[Line] = []
    for line in lines:
        parted = bool(held) and not held[-1].text and line.text[:1] not in ("", " ", "\t")
        if held and (line.code or held[-1].code or line.fresh or parted):
            yield held
            held = []
        held.append(line)
    yield held


def guarded(lines: list[Line]) -> tuple[list[str], int]:
    """Lines without a blank one between them, with their imports made code, and how many there were."""
    joined = is_paragraph(lines)
    texts = ["\n".join(line.text for line in lines)] if joined else [line.text for line in lines]
    stressed = any(("_" in text or "~" in text) and STRESS_MARK.search(UNSIGNED.sub("", text)) for text in texts)
    rules = STRICT if stressed else LOOSE
    code, ticks = code_spans(texts, [False] if joined else [line.raw for line in lines], rules)
    clean = []
    count = 0
    for text, spans in zip(texts, code, strict=True):
        found = list(targets(text, spans, rules)) if SIGN.search(text) else []
        clean.append(wrapped(text, found, ticks) if found else text)
        count += len(found)
    return "\n".join(clean).split("\n"), count


def is_paragraph(lines: list[Line]) -> bool:
    """Whether the lines are one paragraph to every reader."""
    return bool(FIRST.match(lines[0].text)) and all(NEXT.match(line.text) and not line.raw for line in lines)


def targets(text: str, code: list[Span], rules: Grammar) -> Iterator[Span]:
    """The imports of a text outside of its code."""
    within = iter([*code, Span(len(text), len(text))])
    span = next(within)
    last = done = -1
    for found in SIGN.finditer(text):
        sign = found.start()
        while span.end <= sign:
            span = next(within)
        start = sign - backslashes(text, sign)
        if done <= sign < span.start and imports(text, start, sign, last):
            done = target_end(text, sign, rules)
            yield Span(start, done)
        last = found.end()


def imports(text: str, start: int, sign: int, last: int) -> bool:
    """Whether a sign may begin an import: it is neither in an e-mail address nor in the path of a web address."""
    before = text[start - 1 : start]
    if start < sign or not before:
        return True
    if before.isalnum():
        return text.startswith("@@", sign) or (last >= 0 and not re.search(r"\s", text[last:sign]))
    return not (before == "/" and ADDRESS.search(text, max(0, sign - LOOK_BACK), sign))


def backslashes(text: str, at: int) -> int:
    """How many backslashes stand right before a place."""
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return at - start


def target_end(text: str, sign: int, rules: Grammar) -> int:
    """Where the path behind a sign ends, without what closes the phrase."""
    found = rules.target.match(text, sign)
    return sign + len(found[0].rstrip(".:;&\\-")) if found else sign + 1


def wrapped(text: str, found: list[Span], ticks: str) -> str:
    """The text with these stretches made code spans, set apart from backticks beside them."""
    parts = []
    last = 0
    for start, end in found:
        before = " " if text[start - 1 : start] in ("`", "~") else ""
        after = " " if text[end : end + 1] == "`" else ""
        parts += [text[last:start], before, ticks, text[start:end], ticks, after]
        last = end
    return "".join([*parts, text[last:]])


def code_spans(texts: list[str], raw: list[bool], rules: Grammar) -> tuple[list[list[Span]], str]:
    """The code spans of each text that every reader sees, and backticks that will make another.

    Each text is scanned for itself, and it is asked whether that could be otherwise if they belong together.
    """
    scanned = [scan(text) for text in texts]
    lengths = [tick_lengths(text) for text in texts]
    if not any(SIGN.search(text, *span) for text, (spans, _) in zip(texts, scanned, strict=True) for span in spans):
        return [[] for _ in texts], free_ticks(lengths, set())
    tight = [{Span(*found.span()) for found in rules.tight.finditer(text)} for text in texts]
    solid = solid_lengths(texts, tight, lengths)
    sure = are_apart(scanned, lengths) and are_whole(texts, scanned, tight, raw)
    code = []
    for text, (spans, _), closed, is_raw in zip(texts, scanned, tight, raw, strict=True):
        firm = {span for span in closed if ticks_of(text, span) in solid}
        kept = closed & set(spans) if is_raw else set(spans)
        code.append(sorted((kept if sure else set()) | firm))
    return code, free_ticks(lengths, solid)


def free_ticks(lengths: list[Counter[int]], solid: set[int]) -> str:
    """The fewest backticks that pair with none there."""
    taken = {length for counted in lengths for length in counted} - solid
    return "`" * next(length for length in range(1, len(taken) + 2) if length not in taken)


def scan(text: str) -> tuple[list[Span], set[int]]:
    """The code spans of a text, first come first served, and the lengths of backtick runs that pair with none."""
    if "`" not in text:
        return [], set()
    by_length: dict[int, list[int]] = {}
    for found in RUN.finditer(text):
        by_length.setdefault(len(found[0]), []).append(found.start())
    spans: list[Span] = []
    alone: set[int] = set()
    at = 0
    while tick := TICK.search(text, at):
        at = tick.end()
        if tick[0][0] == "\\":
            continue
        length = len(tick[0])
        same = by_length.get(length, [])
        pair = bisect_left(same, at)
        if pair < len(same):
            at = same[pair] + length
            spans.append(Span(tick.start(), at))
        else:
            alone.add(length)
    return spans, alone


def tick_lengths(text: str) -> Counter[int]:
    """How often a run of backticks of each length stands there; a backslash before one may take its first away."""
    lengths: Counter[int] = Counter()
    for found in RUN.finditer(text):
        lengths[len(found[0])] += 1
        if text[found.start() - 1 : found.start()] == "\\" and len(found[0]) > 1:
            lengths[len(found[0]) - 1] += 1
    return lengths


def solid_lengths(texts: list[str], tight: list[set[Span]], lengths: list[Counter[int]]) -> set[int]:
    """The lengths of backtick runs that stand nowhere but around single imports: every reader pairs those alike."""
    counted = Counter[int]()
    for some in lengths:
        counted.update(some)
    paired = Counter(ticks_of(text, span) for text, spans in zip(texts, tight, strict=True) for span in spans)
    return {length for length, pairs in paired.items() if counted[length] == 2 * pairs}


def ticks_of(text: str, span: Span) -> int:
    """The length of the backtick run that a span begins with."""
    found = RUN.match(text, span.start)
    return len(found[0]) if found else 0


def are_apart(scanned: list[tuple[list[Span], set[int]]], lengths: list[Counter[int]]) -> bool:
    """Whether no run that is alone in its text could pair with one of another."""
    texts_with = Counter(length for counted in lengths for length in counted)
    return all(texts_with[length] < 2 for _, alone in scanned for length in alone)


def are_whole(
    texts: list[str], scanned: list[tuple[list[Span], set[int]]], tight: list[set[Span]], raw: list[bool]
) -> bool:
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


def is_odd(text: str, scanned: tuple[list[Span], set[int]], closed: set[Span], raw: bool) -> bool:
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
