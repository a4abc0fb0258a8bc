"""What is code and what may be raw HTML, made plain enough that no Markdown reader sees it otherwise.

Readers of Markdown differ. So a fence counts only if every one of them must see it, and see it end where we do; any
other is broken by a backslash and its lines are text. Nothing stays open at the end.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MARKERS: Final = r"[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+|>[ \t]?)*"
"""Bullets, numbers and quotes that a block may stand behind."""
FENCE: Final = re.compile(MARKERS + r"(`{3,}(?=[^`]*$)|~{3,})")
PREFIX: Final = re.compile(MARKERS)
ITEM: Final = re.compile(r"( *)([-*+]|\d{1,9}[.)]) {1,4}(?=[^ \t])")
HEADING: Final = re.compile(r" *#{1,6}[ \t]")
BARE: Final = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]*$")
"""A list item without text: readers differ on what follows before the next blank line."""
RULE: Final = re.compile(r" *([-*_])(?:[ \t]*\1){2,}[ \t]*$")
HTML: Final = (
    r"(?ai)[ \t]*<(?:(?P<tag>script|pre|style|textarea)(?![\w-])|(?P<comment>!--)|(?P<instruction>\?)"
    r"|(?P<cdata>!\[CDATA\[)|(?P<declaration>![A-Z])|(?P<other>/?[A-Z]))"
)
"""The beginning of raw HTML; all kinds but the last may run on over blank lines until their end is met."""
ENDS: Final = {"comment": "-->", "instruction": "?>", "cdata": "]]>", "declaration": ">"}
LATE_FENCE: Final = r"(?<=>)([ \t]*)(?=`{3,}[^`]*$|~{3})"
"""A fence right behind the end of raw HTML: some readers begin a new line there."""
NAMED: Final = r"(?<=\]):"
TARGET: Final = r"[ \t]*(?:<.*|[^\s<]\S*)"
TITLE: Final = r"\"(?:\\.|[^\"\\])*\"|'[^']*'|\([^()]*\)"
QUOTES: Final = ('"', "'", "(")
OPEN_COMMENT, END_COMMENT = "<!--", "-->"

Items = tuple[tuple[int, int, str], ...]
"""List items that are open for certain, outermost first: column of the marker, column of the text, kind of marker."""


class Line(NamedTuple):
    """A line: is it code in a fence, may it be raw HTML, does a block begin with it to every reader?"""

    text: str
    code: bool = False
    raw: bool = False
    fresh: bool = False


class Markup(NamedTuple):
    """What raw HTML may be open: the ends it waits for, and whether it lasts to the next blank line."""

    ends: tuple[str, ...] = ()
    to_blank: bool = False

    def __bool__(self) -> bool:
        return bool(self.ends) or self.to_blank


class Fence(NamedTuple):
    """The beginning of a fence: its column, its characters, the column of the innermost certain item, the items."""

    column: int
    run: str
    home: int
    items: Items


def settle(lines: list[str]) -> tuple[list[Line], int]:
    """The lines with nothing left open and no fence in doubt, and how many ends had to be added."""
    page = Page(lines)
    while page.at < len(page.lines):
        if not page.take_fence():
            page.take_line()
    return page.ended()


class Page:
    """Lines on their way: which are settled, and what is open where the next one stands."""

    __slots__ = ("at", "bare", "closed", "doubtful", "items", "lines", "markup", "settled")

    def __init__(self, lines: list[str]) -> None:
        self.lines = list(lines)
        self.settled: list[Line] = []
        self.items: Items = ()
        self.markup = Markup()
        self.at = self.closed = self.doubtful = 0
        self.bare = False

    @property
    def before(self) -> str:
        """The line before the next one; the first stands below the delimiter of its section."""
        return self.lines[self.at - 1] if self.at else "---"

    def take_fence(self) -> bool:
        """Settle a whole fence, if one begins here to every reader."""
        line = self.lines[self.at]
        if not fence_of(line) or self.at < self.doubtful or self.bare or self.markup or is_html(line):
            return False
        fence = opening(line, self.items, self.before)
        end, certain = find_end(self.lines, self.at, fence)
        if not certain:
            self.doubtful = end + 1
            return False
        self.settled += fenced(self.lines[self.at : end + 1], fence, end < len(self.lines))
        self.closed += end == len(self.lines)
        self.at, self.items = end + 1, fence.items
        return True

    def take_line(self) -> None:
        """Settle a line of text."""
        line, following = self.lines[self.at], "".join(self.lines[self.at + 1 : self.at + 2])
        inside, self.markup = self.markup, within(line, self.markup)
        raw = bool(inside or self.markup) or is_html(line)
        self.items = () if raw else open_items(line, self.items, self.before)
        fresh = not raw and is_fresh(line, self.items)
        self.settled.append(Line(broken(line, following, raw), False, raw, fresh))
        self.bare = bool(line.strip(" \t")) and (self.bare or bool(BARE.match(line)))
        self.at += 1
        if is_quoted(line) and following.strip(" \t") and not following.lstrip(" \t").startswith(">"):
            self.lines.insert(self.at, "")

    def ended(self) -> tuple[list[Line], int]:
        """The settled lines, with the ends that raw HTML still waits for, and how many ends there were to add."""
        ends = missing(self.settled, self.markup)
        apart = [Line("")] if ends and ends[0] != ">" and is_quoted(self.settled[-1].text) else []
        return self.settled + apart + [Line(end) for end in ends], self.closed + len(ends)


def broken(line: str, following: str, raw: bool) -> str:
    """The line without what may swallow the next: no fence, no link definition that is not complete."""
    if not line.strip(" \t"):
        return ""
    line = re.sub(LATE_FENCE, r"\1\\", line) if raw else line
    found = fence_of(line)
    line = f"{line[: found.start(1)]}\\{line[found.start(1) :]}" if found else line
    return re.sub(NAMED, lambda colon: colon_of(line, colon, following, raw), line) if "]:" in line else line


def colon_of(line: str, colon: re.Match[str], following: str, raw: bool) -> str:
    """A colon, escaped where it would make what stands before and after it the definition of a link."""
    return r"\:" if names(line, colon, raw) and runs_on(line[colon.end() :], following) else ":"


def names(line: str, colon: re.Match[str], raw: bool) -> bool:
    """Whether what stands in brackets before a colon may be the name of a link: it begins the line, or one before.

    Behind raw HTML it may begin anywhere.
    """
    inner = line[: colon.start() - 1]
    start = max(inner.rfind("["), inner.rfind("]"))
    return start < 0 or (inner[start] == "[" and (raw or start == prefix_end(line)))


def runs_on(rest: str, following: str) -> bool:
    """Whether the definition of a link may go on in the next line: its target, or its title."""
    found = re.match(TARGET, rest)
    if not found:
        return True
    if found[0].lstrip().startswith("<"):
        return any(quote in rest for quote in QUOTES) or following.lstrip().startswith(QUOTES)
    title = rest[found.end() :].strip()
    if not title:
        return following.lstrip().startswith(QUOTES)
    return title.startswith(QUOTES) and not re.match(TITLE, title)


def fence_of(line: str) -> re.Match[str] | None:
    """What may open or close a fence at the beginning of a line, as its first group."""
    return FENCE.match(line) if "```" in line or "~~~" in line else None


def fenced(lines: list[str], fence: Fence, ended: bool) -> list[Line]:
    """The lines of a fence; its last is the end, which is made where there is none."""
    body = [Line(line, True) for line in lines]
    if ended:
        return [*body[:-1], Line(lines[-1].rstrip(), True)]
    while len(body) > 1 and not body[-1].text.strip():
        body.pop()
    return [*body, Line(" " * fence.column + fence.run, True)]


def opening(line: str, items: Items, before: str) -> Fence:
    """The fence a line opens; its column is negative where readers differ."""
    found = fence_of(line)
    assert found
    inner = open_items(line, items, before)
    column = found.start(1)
    if line[:column].strip(" "):
        marked = ITEM.match(line)
        if not marked or marked.end() != column or not inner or inner[-1][1] != column:
            return Fence(-1, found[1], 0, inner)
    home = inner[-1][1] if inner else 0
    known = column - home <= 3 and "|" not in line  # with a bar in it, the line may be the head of a table
    return Fence(column if known else -1, found[1], home, inner)


def find_end(lines: list[str], start: int, fence: Fence) -> tuple[int, bool]:
    """The line that ends a fence, or the number of lines if none does; and whether every reader sees it so.

    Where they may differ it is the line at which they do.
    """
    if fence.column < 0:
        return start, False
    nested = fence.column if fence.column > 1 else 0
    for at in range(start + 1, len(lines)):
        line = lines[at]
        if not line.strip(" \t"):
            continue
        if depth(line) < nested:
            return at, False
        if is_end(line, fence.run):
            column = len(line) - len(line.lstrip(" "))
            tabbed = line[column] == "\t"
            if nested <= column <= fence.home + 3 and not tabbed:
                return at, set(line.strip(" \t")) == {fence.run[0]}
            if nested and (tabbed or column <= nested + 3):
                return at, False
    return len(lines), True


def is_end(line: str, run: str) -> bool:
    """Whether some reader may take the line for the end of a fence that began with the run."""
    core = line.strip(" \t")
    return core.startswith(run) and not core.strip("`~")


def depth(line: str) -> int:
    """How far a line is indented at least: readers differ on how wide a tab is."""
    indent = line[: len(line) - len(line.lstrip(" \t"))]
    return len(indent) + 2 * indent.count("\t")


def open_items(line: str, items: Items, before: str) -> Items:
    """The list items that are open for certain after a line."""
    if not line.strip(" \t"):
        return items
    column = len(line) - len(line.lstrip(" "))
    if line[column] == "\t":
        return ()
    kept = tuple(item for item in items if item[1] <= column)
    found = ITEM.match(line)
    if not found or RULE.match(line) or column - (kept[-1][1] if kept else 0) > 3:
        return kept
    kind = found[2][-1]
    sibling = (column, kind) in {(at, of) for at, _, of in items}
    sure = sibling or found[2] in ("-", "*", "+", "1.", "1)") or not before.strip(" \t")
    return (*kept, (column, found.end(), kind)) if sure else kept


def is_quoted(line: str) -> bool:
    """Whether the line is part of a quote; one that follows without a mark would be too, to most readers."""
    return ">" in line and ">" in line[: prefix_end(line)]


def is_fresh(line: str, items: Items) -> bool:
    """Whether the line begins a list item or a heading to every reader, given the items open after it."""
    column = len(line) - len(line.lstrip(" "))
    is_item = bool(items) and items[-1][0] == column and bool(ITEM.match(line))
    outer = items[:-1] if is_item else items
    return column == (outer[-1][1] if outer else 0) and (is_item or bool(HEADING.match(line)))


def is_html(line: str) -> bool:
    """Whether raw HTML may begin on the line."""
    return "<" in line and bool(re.match(HTML, line[prefix_end(line) :]))


def within(line: str, markup: Markup) -> Markup:
    """What may be open after a line."""
    if not line.strip(" \t"):
        return Markup(markup.ends)
    if "<" not in line and not markup.ends:
        return markup
    waiting, spots = [], [prefix_end(line)]
    for end in markup.ends:
        found = search(end, line, 0)
        spots += [found] if found else []
        waiting += [] if found else [end]
    to_blank = markup.to_blank
    for spot in spots:
        end, other = begun(line, spot)
        to_blank |= other
        waiting += [end] if end and end not in waiting else []
    return Markup(tuple(waiting), to_blank)


def begun(line: str, spot: int) -> tuple[str, bool]:
    """The end that HTML begun at a place waits for, if it is not met on the same line; and whether a tag began."""
    while found := re.compile(HTML).match(line, spot):
        kind = found.lastgroup or ""
        if kind == "other":
            return "", True
        end = ENDS.get(kind) or f"</{found[kind].lower()}>"
        spot = search(end, line, found.end())
        if not spot:
            return end, False
    return "", False


def search(end: str, line: str, start: int) -> int:
    """The place behind an end, or 0."""
    found = re.compile(re.escape(end), re.IGNORECASE | re.ASCII).search(line, start)
    return found.end() if found else 0


def prefix_end(line: str) -> int:
    """Where the text of a line begins, behind bullets, numbers and quotes."""
    found = PREFIX.match(line)
    return found.end() if found else 0


def missing(lines: list[Line], markup: Markup) -> list[str]:
    """The ends that raw HTML still waits for, to a reader of Markdown or to one that only looks for comments."""
    text = "\n".join(line.text for line in lines)
    start = text.rfind(OPEN_COMMENT)
    commented = start >= 0 and text.find(END_COMMENT, start + len(OPEN_COMMENT)) < 0
    ends = {*markup.ends, END_COMMENT} if commented else {*markup.ends}
    return sorted(ends, reverse=True, key=lambda end: (end != ">", end))
