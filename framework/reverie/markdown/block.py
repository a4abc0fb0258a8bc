"""The line scanner: where headings, code fences and raw HTML stand, as CommonMark has it.

It follows list items and quotes as far as they decide where a fence ends and what is a heading, and says nothing of
paragraphs and lists themselves. One pass, no object per line: runs of plain lines are skipped by a compiled pattern.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from .line import line_end, unified

Kind = Literal["heading", "fence", "html"]


class Block(NamedTuple):
    """One block: offsets of its first line's begin and of its last line's end, newline included.

    ``level`` is that of a heading, ``depth`` how many list items and quotes are around it; a fence or comment that
    ends with its container or the text is not ``closed``.
    """

    kind: Kind
    start: int
    end: int
    level: int = 0
    depth: int = 0
    closed: bool = True


NONE, PARAGRAPH, FENCE, HTML = range(4)
QUOTE: Final = -1
DEEPEST: Final = 50
"""Containers inside one another; what would be deeper counts as text, so that no line costs more than that."""

_PLAIN: Final = (
    r"(?:[^ \t\n#`~<>=_*+\-0-9]|[#~=_*+-][^ \t\n#`~=_*+-]|\*\*[^*\s]|`{1,2}+[^`\n]|[0-9]{1,9}+[^0-9.)\n])[^\n]*+\n"
)
_TEXT_RUN: Final = re.compile(rf"(?:{_PLAIN}){{1,512}}")
_ITEM_RUN: Final = re.compile(rf"(?:[-*+] {_PLAIN}){{1,512}}")
_BLANK_RUN: Final = re.compile(r"(?:[ \t]*+\n){1,512}")
_HOLLOW_RUN: Final = re.compile(r"(?:[-*+] ?\n){1,512}")
_TOP_HEADING: Final = re.compile(r"(#{1,6})(?=[ \t\n])[^\n]*+\n")
_INDENT: Final = re.compile(r"[ \t]*")
_EOL: Final = r"[ \t]*+(?=\n|\Z)"
_HEADING: Final = re.compile(r"(#{1,6})(?=[ \t\n]|\Z)")
_FENCE: Final = re.compile(r"(`{3,}+)[^`\n]*+(?=\n|\Z)|(~{3,}+)")
_SETEXT: Final = re.compile(rf"(?:=++|-++){_EOL}")
_RULE: Final = re.compile(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,})(?=\n|\Z)")
_MARKER: Final = re.compile(rf"(?P<mark>[-+*]|(?P<number>[0-9]{{1,9}})[.)])(?=[ \t\n]|\Z)(?P<hollow>{_EOL})?")
_TAGS: Final = (
    "address article aside base basefont blockquote body caption center col colgroup dd details dialog dir div dl dt "
    "fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html iframe legend li link "
    "main menu menuitem nav noframes ol optgroup option p param search section summary table tbody td tfoot th thead "
    "title tr track ul"
)
_ATTRIBUTE: Final = r"""[ \t]+[A-Za-z_:][\w:.-]*(?:[ \t]*=[ \t]*(?:[^ \t\n"'=<>`]+|'[^'\n]*'|"[^"\n]*"))?"""
_HTML: Final = re.compile(
    r"(?P<text><(?:script|pre|style|textarea)(?=[ \t>\n]|\Z))|(?P<comment><!--)|(?P<instruction><\?)"
    r"|(?P<cdata><!\[CDATA\[)|(?P<declaration><![A-Za-z])"
    rf"|(?P<block></?(?:{_TAGS.replace(' ', '|')})(?=[ \t\n]|/?>|\Z))"
    rf"|(?P<tag>(?:<[A-Za-z][A-Za-z0-9-]*(?:{_ATTRIBUTE})*[ \t]*/?>|</[A-Za-z][A-Za-z0-9-]*[ \t]*>){_EOL})",
    re.IGNORECASE | re.ASCII,
)
_HTML_END: Final = {
    "text": re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE),
    "comment": re.compile("-->"),
    "instruction": re.compile(r"\?>"),
    "declaration": re.compile(">"),
    "cdata": re.compile(r"\]\]>"),
}


def blocks(text: str, start: int = 0) -> Iterator[Block]:
    """The blocks of the text from ``start``, the begin of a line, in their order.

    >>> [(b.kind, b.start, b.end, b.level) for b in blocks("# A\\n```\\n# no\\n```\\n")]
    [('heading', 0, 4, 1), ('fence', 4, 17, 0)]
    """
    return Scanner(unified(text), start).blocks()


class Scanner:
    """The state of one pass: which containers are open, and which leaf.

    ``stack`` holds for each open list item the column its content begins at, counted from the quote around it, and
    QUOTE for a quote; ``hollow``: the innermost item has nothing in it yet. On the line at hand, ``at`` and ``column``
    say where its unread part begins, ``left`` is the column indentation counts from, ``base`` that of the quote.
    """

    __slots__ = (
        "at", "base", "column", "done", "end_mark", "fence", "hollow", "leaf", "left", "pos", "stack", "start", "text"
    )  # fmt: skip

    def __init__(self, text: str, pos: int) -> None:
        self.text, self.pos = text, pos
        self.at = self.base = self.column = self.left = self.start = 0
        self.stack: list[int] = []
        self.leaf, self.fence, self.hollow = NONE, "", False
        self.end_mark: re.Pattern[str] | None = None
        self.done: list[Block] = []

    def blocks(self) -> Iterator[Block]:
        size = len(self.text)
        while self.pos < size:
            if self.leaf > PARAGRAPH or not self.skip():
                start, self.pos = self.pos, line_end(self.text, self.pos)
                self.read(start)
            if self.done:
                yield from self.done
                self.done.clear()
        if self.leaf >= FENCE:
            self.finish(size, closed=False)
            yield from self.done

    def skip(self) -> bool:
        """Pass over lines whose effect is known beforehand, whatever is open; False if the next one is none such."""
        hollow = False
        if run := _TEXT_RUN.match(self.text, self.pos):
            if self.leaf != PARAGRAPH:
                self.stack, self.leaf = [], PARAGRAPH
        elif run := _ITEM_RUN.match(self.text, self.pos):
            self.stack, self.leaf = [2], PARAGRAPH
        elif run := _TOP_HEADING.match(self.text, self.pos):
            self.stack, self.leaf = [], NONE
            self.done.append(Block("heading", self.pos, run.end(), run.end(1) - self.pos))
        elif not self.hollow and QUOTE not in self.stack and (run := _BLANK_RUN.match(self.text, self.pos)):
            self.leaf = NONE
        elif (self.leaf != PARAGRAPH or self.stack) and (run := _HOLLOW_RUN.match(self.text, self.pos)):
            self.stack, self.leaf, hollow = [2], NONE, True
        else:
            return False
        self.pos, self.hollow = run.end(), hollow
        return True

    def read(self, start: int) -> None:
        """Take in the line that begins at ``start``."""
        depth = self.enter(start)
        if self.leaf >= FENCE:
            if depth == len(self.stack):
                self.go_on()
                return
            self.finish(start, closed=False)
        self.hollow = False
        if self.blank():
            self.cut(depth)
        else:
            self.open(start, depth)

    def enter(self, start: int) -> int:
        """How many of the open containers the line goes on with."""
        self.at, self.column, self.left, self.base = start, 0, 0, 0
        self.indent()
        for depth, width in enumerate(self.stack):
            if width == QUOTE:
                if self.blank() or self.column - self.left >= 4 or self.text[self.at] != ">":
                    return depth
                self.quoted()
            elif self.blank():
                if self.hollow and depth == len(self.stack) - 1:
                    return depth
            elif self.column - self.base < width:
                return depth
            else:
                self.left = self.base + width
        return len(self.stack)

    def indent(self) -> None:
        """Go to the first character that is no blank; a tab goes to the next column that is a multiple of four."""
        end = _INDENT.match(self.text, self.at).end()  # type: ignore[union-attr]
        if self.text.find("\t", self.at, end) < 0:
            self.column += end - self.at
        else:
            for character in self.text[self.at : end]:
                self.column += 4 - self.column % 4 if character == "\t" else 1
        self.at = end

    def quoted(self) -> None:
        """Go past a ``>`` and the blank that may follow it."""
        padded = self.text[self.at + 1 : self.at + 2] in (" ", "\t")
        self.left = self.base = self.column + 1 + padded
        self.at, self.column = self.at + 1, self.column + 1
        self.indent()

    def blank(self) -> bool:
        """Whether nothing is left of the line."""
        return self.at >= len(self.text) or self.text[self.at] == "\n"

    def cut(self, depth: int) -> None:
        """Close the containers from ``depth`` on, and the paragraph."""
        del self.stack[depth:]
        self.leaf = NONE

    def open(self, start: int, depth: int) -> None:
        """Open what the line opens: containers one after the other, then at most one leaf."""
        while not self.blank():
            if self.column - self.left >= 4:
                if self.leaf != PARAGRAPH or (depth < len(self.stack) and self.begins(len(self.stack) - depth)):
                    self.cut(depth)
                return
            whole = depth == len(self.stack)
            if depth < DEEPEST and self.text[self.at] == ">":
                self.cut(depth)
                self.stack.append(QUOTE)
                self.quoted()
            elif depth < DEEPEST and (item := self.item(whole)):
                self.cut(depth)
                self.push(item)
            else:
                self.open_leaf(start, depth, whole)
                return
            depth += 1

    def begins(self, left_out: int) -> bool:
        """Whether a block would begin here, were the line indented less.

        Outside ``left_out`` items such a line is code, and no lazy line of the paragraph: so markdown-it has it,
        CommonMark leaves it to the paragraph.
        """
        at, character = self.at, self.text[self.at]
        if character in ">#`~<":
            html = _HTML.match(self.text, at)
            found = character == ">" or _HEADING.match(self.text, at) or _FENCE.match(self.text, at)
            return bool(found or (html and not html["tag"]))
        return bool(_RULE.match(self.text, at) or (left_out > 1 and _MARKER.match(self.text, at)))

    def item(self, whole: bool) -> re.Match[str] | None:
        """The list marker here, if it begins an item and is no rule or underline, nor barred by a paragraph."""
        if self.text[self.at] not in "-+*0123456789":
            return None
        marker = _MARKER.match(self.text, self.at)
        if not marker or _RULE.match(self.text, self.at):
            return None
        interrupts = self.leaf == PARAGRAPH and whole
        if interrupts and (marker["hollow"] is not None or int(marker["number"] or 1) != 1):
            return None
        return marker

    def push(self, marker: re.Match[str]) -> None:
        """Open a list item; its content begins after the marker and one to four blanks."""
        end = self.column + marker.end("mark") - self.at
        self.at, self.column = marker.end("mark"), end
        self.indent()
        self.hollow = self.blank()
        self.left = end + 1 if self.hollow or self.column - end > 4 else self.column
        self.stack.append(self.left - self.base)

    def open_leaf(self, start: int, depth: int, whole: bool) -> None:
        """A heading, fence, HTML block, rule or underline, or else a line of a paragraph."""
        paragraph = self.leaf == PARAGRAPH
        at, character = self.at, self.text[self.at]
        if character == "#" and (heading := _HEADING.match(self.text, at)):
            self.cut(depth)
            self.done.append(Block("heading", start, self.pos, len(heading[1]), depth))
        elif character in "`~" and (fence := _FENCE.match(self.text, at)):
            self.cut(depth)
            self.leaf, self.start, self.fence = FENCE, start, fence[1] or fence[2]
        elif character == "<" and (html := _HTML.match(self.text, at)) and not (paragraph and html["tag"]):
            self.cut(depth)
            self.leaf, self.start, self.end_mark = HTML, start, _HTML_END.get(html.lastgroup or "")
            self.go_on()
        elif (paragraph and whole and _SETEXT.match(self.text, at)) or _RULE.match(self.text, at):
            self.cut(depth)
        elif not paragraph:
            self.cut(depth)
            self.leaf = PARAGRAPH

    def go_on(self) -> None:
        """The line belongs to the open fence or HTML block, and may be its last."""
        if self.leaf == FENCE:
            if not self.blank() and self.column - self.left < 4 and self.closes():
                self.finish(self.pos)
        elif self.end_mark is None:
            if self.blank():
                self.finish(self.pos)
        elif self.end_mark.search(self.text, self.at, self.pos):
            self.finish(self.pos)

    def closes(self) -> bool:
        """Whether the line closes the open fence: its character, at least as often, and nothing else."""
        line = self.text[self.at : self.pos].rstrip(" \t\n")
        return len(line) >= len(self.fence) and not line.strip(self.fence[0])

    def finish(self, end: int, *, closed: bool = True) -> None:
        """The open fence or HTML block ends at the offset."""
        kind: Kind = "fence" if self.leaf == FENCE else "html"
        self.done.append(Block(kind, self.start, end, depth=len(self.stack), closed=closed))
        self.leaf = NONE
