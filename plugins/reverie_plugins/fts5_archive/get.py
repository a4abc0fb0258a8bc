"""Reading lines of one source: exactly the files that are indexed, and what jobs added."""

from __future__ import annotations

from typing import Final

from reverie.markdown import split
from reverie_hookspecs import Corpus, Lines, NotFound, Refused, Snapshot, Unreadable

from .scan import indexable, nfc, spellings

MOST: Final = 2_000
"""Lines that are given at once."""
WIDEST: Final = 64 * 1024
"""Bytes that are given at once."""


def get(corpus: Corpus, path: str, start: int = 1, lines: int = 200) -> Lines:
    """Lines of one file, or of a source that a job added; nothing is recorded.

    Refused for what is not indexed, NotFound for what is not there, Unreadable for what cannot be read.
    """
    return excerpt(path, text_of(corpus, path), start, lines)


def text_of(corpus: Corpus, path: str) -> str:
    """The whole text of a source of the corpus."""
    if indexable(path, corpus.kind):
        found = snapshot(corpus, path)
        if found.state == "unreadable":
            kind = Refused if "is a link" in found.reason else Unreadable
            raise kind(f"{path} cannot be read: {found.reason}")
        if found.state != "missing":
            return found.data.decode("utf-8-sig", "replace")
    added = added_text(corpus, path)
    if added is not None:
        return added
    if indexable(path, corpus.kind):
        raise NotFound(f"there is no file {path}; memory_search names those there are")
    raise Refused(f"{path} is none of the files that can be read here; give a path as memory_search named it")


def snapshot(corpus: Corpus, path: str) -> Snapshot:
    """What the file holds, however its name is composed on disk."""
    found = Snapshot(path, "missing")
    for name in spellings(corpus.files.root, path):
        found = corpus.files.read(name)
        if found.state != "missing":
            break
    return found


def added_text(corpus: Corpus, path: str) -> str | None:
    if not corpus.database.exists():
        return None
    from .store import Store

    return Store.look(corpus.database, lambda store: store.added_text(nfc(path)), None)


def excerpt(path: str, text: str, start: int = 1, count: int = 200) -> Lines:
    r"""The lines from ``start`` on, at most ``count``, 2,000 and 64 KiB; whole ones, but for a first that is too long.

    >>> excerpt("a.md", "1\n2\n3\n4\n5\n", 2, 2)
    Lines(path='a.md', text='2\n3', start=2, end=3, total=5, truncated=True)
    """
    lines = [line.rstrip("\r\n") for line in split(text)]
    start, count = max(1, start), max(1, min(count, MOST))
    chosen, room = [], WIDEST
    for line in lines[start - 1 : start - 1 + count]:
        size = len(line.encode("utf-8", "replace")) + 1
        if size > room + 1:
            break
        chosen.append(line)
        room -= size
    end = start - 1 + len(chosen)
    if not chosen and end < len(lines):
        chosen, end = [clipped(lines[end], WIDEST)], end + 1
        return Lines(path, chosen[0], start, end, len(lines), True)
    return Lines(path, "\n".join(chosen), start, end, len(lines), end < len(lines) and start <= len(lines))


def clipped(line: str, size: int) -> str:
    """As much of a line as so many bytes hold, cut at a character."""
    return line.encode("utf-8", "replace")[:size].decode("utf-8", "ignore")
