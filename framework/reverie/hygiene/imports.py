"""``@path`` outside code: Claude Code would read the file, so each becomes a code span.

What an author marked as code stays as it is, if it is code to every reader. Our own code spans hold nothing that could
end anything, and are as many backticks long as nothing else beside them is, so that no reader can pair them otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from .backtick import LOOSE, SIGN, STRICT, Scan, Span, free_ticks, scan, target, tick_lengths
from .block import Line

ADDRESS: Final = re.compile(r"https?://(?:[^\s<>\"'`()\[\]\\*|@~_]|(?<=/)@|(?<=[^\W_])_(?=[^\W_]))*/\Z")
"""The beginning of a web address up to the name of a person in its path."""
LOOK_BACK: Final = 300
WORD: Final = r"(?:[^\W\d_]|[@(\"'/.,;?!$%&\\]|`(?!``+[^`]*$))"
FIRST: Final = re.compile(" {0,3}" + WORD)
NEXT: Final = re.compile(r"[ \t]*" + WORD)
"""Lines that begin with nothing that could begin a block of another kind."""


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
    """Lines that may be one paragraph, with their imports made code, and how many there were."""
    joined = is_paragraph(lines)
    texts = ["\n".join(line.text for line in lines)] if joined else [line.text for line in lines]
    path = STRICT if any(may_stress(text) for text in texts) else LOOSE
    code, ticks = code_of(texts, [False] if joined else [line.raw for line in lines], path)
    clean = []
    count = 0
    for text, spans in zip(texts, code, strict=True):
        found = list(targets(text, spans, path)) if SIGN.search(text) else []
        clean.append(wrapped(text, found, ticks) if found else text)
        count += len(found)
    return "\n".join(clean).split("\n"), count


def may_stress(text: str) -> bool:
    """Whether an emphasis may begin in a text, its imports aside."""
    if "_" not in text and "~" not in text:
        return False
    left = re.sub(rf"(?<![^\W_/]){target(LOOSE).pattern}", "", text)
    return "_" in left or "~" in left


def code_of(texts: list[str], raw: list[bool], path: str) -> tuple[list[list[Span]], str]:
    """The code spans of each text that matter, and backticks that will make another."""
    scanned = [scan(text) for text in texts]
    code: list[list[Span]] = [[] for _ in texts]
    solid: set[int] = set()
    if any(holds_sign(text, found) for text, found in zip(texts, scanned, strict=True)):
        from .agreement import agreed  # rarely needed, and its expressions take time to compile

        code, solid = agreed(texts, scanned, raw, path)
    return code, free_ticks([tick_lengths(text) for text in texts], solid)


def holds_sign(text: str, scanned: Scan) -> bool:
    """Whether there may be an import in the code of a text."""
    return any(SIGN.search(text, span.start, span.end) for span in scanned.spans)


def is_paragraph(lines: list[Line]) -> bool:
    """Whether the lines are one paragraph to every reader."""
    return bool(FIRST.match(lines[0].text)) and all(NEXT.match(line.text) and not line.raw for line in lines)


def targets(text: str, code: list[Span], path: str) -> Iterator[Span]:
    """The imports of a text outside of its code."""
    within = iter([*code, Span(len(text), len(text))])
    span = next(within)
    last = done = -1
    for found in SIGN.finditer(text):
        sign = found.start()
        while span.end <= sign:
            span = next(within)
        start = sign - backslashes(text, sign)
        if done <= sign < span.start and imports(text, start, sign, last, done):
            done = target_end(text, sign, path)
            yield Span(start, done)
        last = found.end()


def imports(text: str, start: int, sign: int, last: int, done: int) -> bool:
    """Whether a sign may begin an import: it is neither in an e-mail address nor in the path of a web address."""
    before = text[start - 1 : start]
    if start < sign or not before or text.startswith("@@", sign):
        return True
    if before.isalnum():
        return last >= 0 and not re.search(r"\s", text[last:sign])
    return not (before == "/" and ADDRESS.search(text, max(0, done, sign - LOOK_BACK), sign))


def backslashes(text: str, at: int) -> int:
    """How many backslashes stand right before a place."""
    start = at
    while start and text[start - 1] == "\\":
        start -= 1
    return at - start


def target_end(text: str, sign: int, path: str) -> int:
    """Where the path behind a sign ends, without what closes the phrase."""
    found = target(path).match(text, sign)
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
