"""Ranking: first the chunks, by FTS5; then the lines of the best, which decide where passages begin."""

from __future__ import annotations

import re
import sqlite3
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from math import log
from typing import Final, NamedTuple

from .identifier import forms, words as identifiers
from .lexicon import Lexicon
from .query import Plan, Term
from .script import WIDE
from .stem import root
from .text import fold, inside

POOL: Final = 20
"""Chunks whose lines are scored."""
NEWEST: Final = 50
"""Chunks whose lines are scored where chunks cannot be."""
NEAR: Final = 2
"""Lines above and below that speak for a line."""
LABEL: Final = 0.3
"""What a line has more if the name it begins with is asked for."""
TITLE: Final = 1.0
"""What a line has more if headings above it say all that is asked for."""
RISE: Final = 1.2
LENGTH: Final = 0.75
"""The constants of BM25."""
_LABEL: Final = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])?\s*(?:\*\*|__|`)?([^:\n]{1,48}?)(?:\*\*|__|`)?:")
_WORD: Final = re.compile(r"[^\W_]*")
_HEADING: Final = re.compile(r"\s{0,3}#{1,6}\s")
_CHUNK: Final = """
SELECT chunk.id, chunk.source, chunk.start_line, chunk.end_line, chunk.text, chunk.headings,
    source.path, source.origin, source.importance
FROM kb_chunks chunk JOIN kb_sources source ON source.id = chunk.source WHERE chunk.id IN
"""
_RANKED: Final = """
SELECT rowid, -bm25(kb_fts, 1.0, 1.0) AS score FROM kb_fts WHERE kb_fts MATCH ? ORDER BY score DESC LIMIT ?
"""
_NEWEST: Final = "SELECT rowid, 0.0 FROM kb_fts WHERE kb_fts MATCH ? ORDER BY rowid DESC LIMIT ?"


class Candidate(NamedTuple):
    """A chunk that may answer."""

    id: int
    source: int
    start: int
    end: int
    text: str
    headings: str
    path: str
    origin: str
    importance: int
    score: float


class Line:
    """One line of the best chunks. ``hits`` are the terms in it, each with how often, ``first`` the place of the first
    of them; a heading or a blank one is ``plain`` no text."""

    __slots__ = ("best", "chunk", "first", "hits", "label", "near", "own", "plain", "score", "size", "text")

    def __init__(self, text: str, chunk: Candidate) -> None:
        self.text, self.chunk, self.best = text, chunk, chunk.score
        self.hits: dict[int, int] = {}
        self.first = -1
        self.plain, self.label = True, False
        self.size, self.own, self.near, self.score = 1, 0.0, 0.0, 0.0


Lines = dict[tuple[int, int], Line]
"""Lines by their source and number."""
_AROUND: Final = """
SELECT chunk.id, chunk.source, chunk.start_line, chunk.end_line, chunk.text, chunk.headings,
    source.path, source.origin, source.importance
FROM kb_chunks chunk JOIN kb_sources source ON source.id = chunk.source
WHERE chunk.source = ? AND chunk.start_line <= ? AND chunk.end_line >= ? LIMIT 1
"""


class Sheet(Lines):
    """The lines of the best chunks; those around them are read when a passage reaches them, and have no score."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__()
        self.connection = connection

    def reach(self, place: tuple[int, int]) -> Line | None:
        """The line there, if there is one."""
        return self[place] if place in self else self.read(*place)

    def read(self, source: int, number: int) -> Line | None:
        row = self.connection.execute(_AROUND, (source, number, number)).fetchone()
        if row is None:
            return None
        chunk = Candidate._make((*row, 0.0))
        for at, text in enumerate(chunk.text.split("\n"), chunk.start):
            self.setdefault((source, at), Line(text, chunk))
        return self.get((source, number))


def candidates(connection: sqlite3.Connection, plan: Plan, count: int) -> list[Candidate]:
    """The best chunks, best first."""
    if not plan.match:
        return []
    statement, most = (_RANKED, count) if plan.ranked else (_NEWEST, max(count, NEWEST))
    scores = dict(connection.execute(statement, (plan.match, most)))
    marks = ", ".join("?" * len(scores))
    rows = connection.execute(f"{_CHUNK} ({marks})", tuple(scores))
    found = [Candidate._make((*row, scores[row[0]])) for row in rows]
    return sorted(found, key=lambda one: (-one.score, -one.id))


def lines(chunks: Sequence[Candidate], terms: Sequence[Term], lexicon: Lexicon) -> Sheet:
    """Every line of the chunks, scored."""
    found = Sheet(lexicon.connection)
    for chunk in chunks:
        for number, line in read(chunk, terms, lexicon):
            old = found.get((chunk.source, number))
            if old is None or (old.chunk.start == number == old.chunk.end and len(line.hits) > len(old.hits)):
                found[chunk.source, number] = line
    weights = [weight(term, lexicon.size) for term in terms]
    titles = {chunk.id: titled(chunk, terms, weights, lexicon) for chunk in chunks}
    weigh(found, weights, chunks[0].score if chunks else 0.0, titles)
    return found


def titled(chunk: Candidate, terms: Sequence[Term], weights: Sequence[float], lexicon: Lexicon) -> float:
    """How much of what is asked for the headings and the name of the note say already."""
    name = chunk.path.rpartition("/")[2].removesuffix(".md")
    folded = fold(f"{name} {chunk.headings}")
    held = (part for part, term in zip(weights, terms, strict=True) if next(places(folded, term, lexicon), -1) >= 0)
    return sum(held) / (sum(weights) or 1.0)


def weight(term: Term, size: int) -> float:
    """How much a term says: the rarer, the more."""
    return log(1 + (size - term.chunks + 0.5) / (term.chunks + 0.5)) if 0 < term.chunks <= size else 0.05


# What stands in a line


def read(chunk: Candidate, terms: Sequence[Term], lexicon: Lexicon) -> Iterator[tuple[int, Line]]:
    """The lines of a chunk with the terms they hold."""
    raw = chunk.text.split("\n")
    folded = searchable(chunk.text)
    starts = [0, *accumulate(len(line) + 1 for line in folded.split("\n"))]
    found = [Line(text, chunk) for text in raw]
    for index, term in enumerate(terms):
        for place in places(folded, term, lexicon):
            line = found[at := bisect_right(starts, place) - 1]
            line.hits[index] = line.hits.get(index, 0) + 1
            line.first = min(line.first, place - starts[at]) if line.first >= 0 else place - starts[at]
    for line in found:
        settle(line, terms)
    if not any(line.plain for line in found):
        for line in found:
            line.plain = bool(line.text.strip())
    return zip(range(chunk.start, chunk.start + len(found)), found, strict=True)


def searchable(text: str) -> str:
    """A folded text, each line followed by the forms of its identifiers."""
    folded = fold(text)
    found = list(identifiers(text))
    if not found:
        return folded
    several = folded.split("\n")
    starts = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    for start, word in found:
        if more := forms(word):
            several[bisect_right(starts, start) - 1] += f" {fold(' '.join(more))}"
    return "\n".join(several)


def places(folded: str, term: Term, lexicon: Lexicon) -> Iterator[int]:
    """Where a term begins in a text."""
    for key in term.keys:
        if term.kind in ("gram", "part"):
            yield from literal(folded, key)
        elif term.kind in ("phrase", "date"):
            yield from together(folded, key)
        else:
            yield from spoken(folded, key, lexicon)


def literal(folded: str, text: str) -> Iterator[int]:
    at = folded.find(text)
    while at >= 0:
        yield at
        at = folded.find(text, at + 1)


def together(folded: str, phrase: str) -> Iterator[int]:
    """Where the words of a phrase follow each other; grams of a run overlap."""
    first, *rest = phrase.split(" ")
    if WIDE.match(first):
        yield from literal(folded, first + "".join(gram[-1] for gram in rest))
        return
    pattern = r"[\W_]{1,3}".join(map(re.escape, (first, *rest)))
    yield from (found.start() for found in re.finditer(rf"(?<![^\W_]){pattern}(?![^\W_])", folded))


def spoken(folded: str, key: str, lexicon: Lexicon) -> Iterator[int]:
    """Where a word of this key begins."""
    begin = key if lexicon.whole else root(key)
    for at in literal(folded, begin) if len(begin) > 2 else begun(folded, begin):
        if at and inside(folded[at - 1]):
            continue
        end = _WORD.match(folded, at).end()  # type: ignore[union-attr]
        while end < len(folded) and not folded[end].isascii() and inside(folded[end]):
            end += 1
        if lexicon.key(folded[at:end]) == key:
            yield at


def begun(folded: str, begin: str) -> Iterator[int]:
    """Where a word begins so; quicker where a text is full of it."""
    return (found.start() for found in re.finditer(rf"(?<![^\W_]){re.escape(begin)}", folded))


def settle(line: Line, terms: Sequence[Term]) -> None:
    """Say what kind of line it is, and how long."""
    text = line.text
    if not text or text.isspace() or (text.lstrip()[:1] == "#" and _HEADING.match(text)):
        line.plain = False
    line.size = text.count(" ") + 1 if text.isascii() else text.count(" ") + 1 + len(WIDE.findall(text))
    if line.hits and (label := _LABEL.match(text)):
        line.label = line.first < label.end() and any(terms[index].kind == "word" for index in line.hits)


# What a line is worth


def weigh(found: Lines, weights: Sequence[float], top: float, titles: Mapping[int, float]) -> None:
    """Score every line: by itself, by the lines around it, and by its chunk, each as a share of the best."""
    texts = {place: line for place, line in found.items() if line.plain}
    if not texts:
        return
    usual = sum(line.size for line in texts.values()) / len(texts)
    for line in texts.values():
        line.own = value(line.hits, line.size, usual, weights) if line.hits else 0.0
    for source, number in near(texts):
        around = [texts[source, at] for at in range(number - NEAR, number + NEAR + 1) if (source, at) in texts]
        hits: dict[int, int] = {}
        for line in around:
            for index, count in line.hits.items():
                hits[index] = hits.get(index, 0) + count
        size = sum(line.size for line in around)
        texts[source, number].near = value(hits, size, usual * (2 * NEAR + 1), weights)
    most = max(line.own for line in texts.values()) or 1.0
    wide = max(line.near for line in texts.values()) or 1.0
    for line in texts.values():
        line.score = line.own / most + line.near / wide + (line.best / top if top else 0.0)
        line.score += TITLE * titles[line.chunk.id]
        line.score *= 1 + LABEL * line.label


def near(texts: Lines) -> set[tuple[int, int]]:
    """The lines that hold a term, and those around them."""
    return {
        (source, at)
        for (source, number), line in texts.items()
        if line.hits
        for at in range(number - NEAR, number + NEAR + 1)
        if (source, at) in texts
    }


def value(hits: Mapping[int, int], size: int, usual: float, weights: Sequence[float]) -> float:
    """BM25 of a piece of text."""
    base = RISE * (1 - LENGTH + LENGTH * size / usual)
    return sum(weights[index] * count * (RISE + 1) / (count + base) for index, count in hits.items())
