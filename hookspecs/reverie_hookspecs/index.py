"""What an index is told, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Literal

from attrs import field, frozen

from .corpus import Corpus

Provenance = Literal["owner", "agent", "untrusted", "system"]


@frozen
class Chunk:
    """A piece of one source: ``start`` and ``end`` are its lines, counted from 1, both included."""

    text: str
    start: int
    end: int
    headings: tuple[str, ...] = ()


@frozen
class Entry:
    """A bullet with its continuation lines, or an h3-h6 block; ``hash`` is its identity across moves."""

    hash: str
    text: str
    start: int
    end: int
    importance: int = 5


@frozen
class Source:
    """One text of a corpus that is new or changed, cut up."""

    path: str
    text: str = field(repr=False)
    provenance: Provenance = "untrusted"
    entries: tuple[Entry, ...] = field(default=(), repr=False)
    chunks: tuple[Chunk, ...] = field(default=(), repr=False)


@frozen
class Indexing:
    """The letter of one index run: what changed, what vanished, what was reported.

    ``changed`` may read each source only as it is asked for, so that the first run of a large corpus stays small.
    """

    corpus: Corpus
    full: bool = False
    changed: Sequence[Source] = ()
    vanished: tuple[str, ...] = ()
    unchanged: int = 0
    reports: tuple[str, ...] = ()


@frozen
class IndexJob:
    """Something that hears of changed sources; the archive's own is called ``index``.

    One placed before it may add sources (they are untrusted), one after it sees which changed.
    """

    name: str
    run: Callable[[Indexing], Indexing] = field(repr=False)
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()


@frozen
class Hit:
    """A passage that answers a query; lines are counted from 1, both included."""

    path: str
    start_line: int
    end_line: int
    score: float
    snippet: str
    headings: tuple[str, ...] = ()
    origin_class: Provenance = "untrusted"
    importance: int = 5
    corpus: str = "memory"
    date: str = ""
    entry_hash: str = ""
    invalid_at: datetime | None = None
    superseded_by: str = ""


@frozen
class Lines:
    """Some lines of a file, counted from 1, both ends included; ``truncated`` says that more follow."""

    path: str
    text: str
    start: int
    end: int
    total: int
    truncated: bool = False
