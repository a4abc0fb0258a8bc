"""The evolving text of one file: each op is made on it or held back, and what is lost of the original is counted."""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

from reverie.markdown import headings, newline, pinned
from reverie_hookspecs import Op

from .search import NEWLINE, below, occurrences, once, shielded, stands, torn, visible, whole_line

NEW, ORIGINAL, PINNED = 0, 1, 2
UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
OVER: Final = "the file is over its budget, so it may only get shorter"


@frozen
class Cut:
    """A block that leaves the text, and the titles that it stood under."""

    text: str
    path: tuple[str, ...]


class Draft:
    """A text on which ops are made in turn.

    ``mask`` says of each character whether it is new, original, or original and pinned; ``lost`` counts the original
    characters that are gone; ``cuts`` are what must stand in an archive before this text may be written.
    """

    def __init__(self, text: str, over: bool = False) -> None:
        self.text = text
        self.over = over
        self.newline = newline(text)
        self.mask = bytearray([ORIGINAL]) * len(text)
        for start, end in pinned(text):
            self.mask[start:end] = bytes([PINNED]) * (end - start)
        self.lost = 0
        self.torn = torn(text)
        self.cuts: list[Cut] = []

    def make(self, op: Op) -> str:
        """Make one op; or leave the text as it is, and say why."""
        if reason := flaw(op):
            return reason
        if op.op == "add":
            return self.add(op.content, op.target)
        return self.replace(op.target, "" if op.op == "remove" else op.content)

    # The three ops

    def add(self, content: str, anchor: str = "") -> str:
        """Add a text below its anchor; at the end where that does not stand exactly once, or stands in a fence."""
        if self.over:
            return OVER
        if stands(self.text, content):
            return "it stands already"
        lines = self.lines(content)
        place = once(self.text, anchor.strip("\r\n")) if visible(anchor) else None
        if place is None or shielded(self.text, place[1] - 1):
            return self.splice(*self.end(), self.ending(lines))
        stop = below(self.text, place[1])
        return self.splice(stop, stop, self.newline + lines)

    def replace(self, target: str, content: str) -> str:
        """Put a text in the place of the target, nothing for a removal; white space around the target stays."""
        found = occurrences(self.text, target)
        if len(found) != 1:
            return "its target stands nowhere" if not found else "its target stands more than once"
        start, end = found[0]
        new = self.dressed(self.text[start:end], content)
        if self.over and len(new) > end - start:
            return OVER
        if new == self.text[start:end] or (content and self.within(new, start, end)):
            return "it stands already"
        stop = end if content else whole_line(self.text, start, end)
        cut = self.cut(start, stop)
        removed = end - start - self.mask.count(NEW, start, end)
        if reason := self.splice(start, stop, new, guarded=True, standing=min(removed, len(new))):
            return reason
        self.lost += max(0, min(removed, end - start - len(new)))
        if cut.text not in new:
            self.cuts.append(cut)
        return ""

    # Their parts

    def splice(self, start: int, end: int, new: str, *, guarded: bool = False, standing: int = 0) -> str:
        """Put a text in the place of a stretch, unless that would change what is pinned, or tear a fence.

        ``guarded``: the stretch must touch no pinned section; otherwise it is white space at the end. ``standing`` are
        the characters of the new text that stand for original ones: they are lost once they go.
        """
        text = self.text[:start] + new + self.text[end:]
        touched = guarded and any(start < stop and end > begin for begin, stop in pinned(self.text))
        if touched or (guarded and PINNED in self.mask[start:end]):
            return "it touches a pinned section"
        mask = self.mask[:start] + bytes([ORIGINAL]) * standing + bytes(len(new) - standing) + self.mask[end:]
        pins = pinned(text)
        if mask.count(PINNED) > sum(mask.count(PINNED, begin, stop) for begin, stop in pins):
            return "a pinned section would be pinned no more"
        if any(mask.count(ORIGINAL, begin, stop) for begin, stop in pins):
            return "text that is not pinned would be"
        if not self.torn and torn(text):
            return "a fence or comment would be left open"
        self.text, self.mask = text, mask
        return ""

    def lines(self, content: str) -> str:
        """A content with this file's newlines."""
        return NEWLINE.sub(self.newline, content.strip())

    def dressed(self, old: str, content: str) -> str:
        """What stands in the place of ``old``: the content, with the white space that was around the other."""
        bare = old.strip()
        if not content or not bare:
            return self.lines(content)
        start = old.index(bare)
        return old[:start] + self.lines(content) + old[start + len(bare) :]

    def within(self, new: str, start: int, end: int) -> bool:
        """Whether the new text stands there already, around the old one."""
        inner = re.finditer(f"(?={re.escape(self.text[start:end])})", new)
        return any(found.start() <= start and self.text.startswith(new, start - found.start()) for found in inner)

    def cut(self, start: int, end: int) -> Cut:
        """The block of a stretch, with where it stands."""
        above = [heading.path for heading in headings(self.text) if heading.start <= start]
        return Cut(self.text[start:end], above[-1] if above else ())

    def end(self) -> tuple[int, int]:
        """The white space at the end of the text."""
        return len(self.text.rstrip(" \t\r\n")), len(self.text)

    def ending(self, lines: str) -> str:
        """What stands after the last visible character, once lines are appended after a blank line."""
        start, end = self.end()
        lead = self.newline * 2 if start else ""
        final = not start or NEWLINE.search(self.text, start, end)
        return lead + lines + (self.newline if final else "")


def flaw(op: Op) -> str:
    """Why an op cannot be made on any text, or nothing."""
    if op.op not in ("add", "replace", "remove"):
        return f"{op.op!r} is no op: add, replace or remove"
    if op.op != "add" and not visible(op.target):
        return "it names no target"
    if op.op != "remove" and not visible(op.content):
        return "it has no content"
    if op.op != "remove" and UNWRITABLE.search(op.content):
        return "its content holds characters that no text file may hold"
    if op.op != "add" and torn(op.target):
        return "its target holds half a fence or comment, and what follows would change its meaning"
    return "its content leaves a fence or comment open" if op.op != "remove" and torn(op.content) else ""
