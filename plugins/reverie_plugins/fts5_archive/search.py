"""Search: a query in, passages out, best first."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, cast

from attrs import evolve

from reverie_hookspecs import Hit, Provenance

from .entry import entry_at
from .lexicon import Lexicon
from .passage import Passage, passages
from .query import Plan, Term, known, plan, read
from .rank import POOL, Candidate, candidates, lines
from .text import tokens

NOTHING: Final = "nothing to search for"
BETWEEN: Final = " › "
"""Between the titles of a heading path."""
_DAY: Final = re.compile(r"(?<!\d)[12]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?!\d)")
_HEADING: Final = re.compile(r"(#{1,6})[ \t]+(\S.*?)[ \t]*#*\s*$")


class Explained(NamedTuple):
    """How a query was understood: its terms, what FTS5 was asked, the chunks it chose, and the passages taken."""

    terms: tuple[Term, ...] = ()
    plan: Plan = Plan("")
    chunks: tuple[Candidate, ...] = ()
    passages: tuple[Passage, ...] = ()


class Found(NamedTuple):
    """The hits, best first; ``notice`` says why there is none."""

    hits: list[Hit]
    notice: str = ""
    explained: Explained = Explained()


def search(
    connection: sqlite3.Connection,
    corpus_name: str,
    query: str,
    limit: int = 6,
    passage_tokens: int = 120,
    max_tokens: int | None = None,
) -> Found:
    """Passages of about ``passage_tokens`` that answer a query, in all of at most ``max_tokens``; any text is one.

    All of it is read at one moment: somebody may be indexing meanwhile.
    """
    alone = not connection.in_transaction
    if alone:
        connection.execute("BEGIN")
    try:
        return searched(connection, corpus_name, query, limit, passage_tokens, max_tokens)
    finally:
        if alone:
            connection.execute("ROLLBACK")


def searched(
    connection: sqlite3.Connection,
    corpus_name: str,
    query: str,
    limit: int,
    passage_tokens: int,
    max_tokens: int | None,
) -> Found:
    """The same within a transaction."""
    asked = read(query)
    if not asked:
        return Found([], NOTHING)
    lexicon = Lexicon(connection)
    terms = known(asked, lexicon)
    question = plan(terms, lexicon.size)
    chunks = candidates(connection, question, max(POOL, limit))
    size = max(1, min(passage_tokens, max_tokens or passage_tokens))
    chosen, hits = [], []
    for passage, hit in ordered(answers(connection, corpus_name, lines(chunks, terms, lexicon), size, limit), limit):
        chosen.append(passage)
        hits.append(hit)
    within = hits if max_tokens is None else fitting(hits, max_tokens)
    explained = Explained(tuple(terms), question, tuple(chunks), tuple(chosen))
    return Found(within, "" if hits else "nothing was found", explained)


def answers(
    connection: sqlite3.Connection, corpus_name: str, found: Any, size: int, limit: int
) -> Iterator[tuple[Passage, Hit]]:
    """Hits, best first, until enough of them are live."""
    live = 0
    for passage in passages(found, size):
        hit = hit_of(connection, corpus_name, passage)
        yield passage, hit
        live += not gone(hit)
        if live >= limit:
            return


def hit_of(connection: sqlite3.Connection, corpus_name: str, passage: Passage) -> Hit:
    """A passage as it is answered, with what its entry says."""
    chunk = passage.line.chunk
    entry = entry_at(connection, passage.source, passage.best)
    importance, date, key, invalid_at, superseded_by = entry or (chunk.importance, "", "", None, None)
    return Hit(
        path=chunk.path,
        start_line=passage.start,
        end_line=passage.end,
        score=passage.line.score,
        snippet=passage.snippet,
        headings=trail(chunk, passage.best),
        origin_class=cast("Provenance", chunk.origin),
        importance=importance,
        corpus=corpus_name,
        date=date or day(chunk.path),
        entry_hash=key,
        invalid_at=None if invalid_at is None else datetime.fromtimestamp(invalid_at / 1000, UTC),
        superseded_by=superseded_by or "",
    )


def trail(chunk: Candidate, best: int) -> tuple[str, ...]:
    """The titles above a line of a chunk: those the chunk begins under, and those that come before the line."""
    titles = [title for title in chunk.headings.split(BETWEEN) if title]
    for line in chunk.text.split("\n")[: best - chunk.start + 1]:
        if heading := _HEADING.match(line):
            titles = [*titles[: len(heading[1]) - 1], heading[2]]
    return tuple(titles)


def day(path: str) -> str:
    """The date in the name of a file."""
    found = _DAY.search(path.rpartition("/")[2])
    return found[0] if found else ""


def gone(hit: Hit) -> bool:
    """Whether a hit is no longer valid."""
    return hit.invalid_at is not None or bool(hit.superseded_by)


def ordered(found: Iterator[tuple[Passage, Hit]], limit: int) -> list[tuple[Passage, Hit]]:
    """What is live first; what is not after it, with scores below."""
    pairs = list(found)
    live = [pair for pair in pairs if not gone(pair[1])]
    dead = [pair for pair in pairs if gone(pair[1])]
    if live and dead:
        share = min(1.0, live[-1][1].score / dead[0][1].score)
        dead = [(passage, evolve(hit, score=hit.score * share)) for passage, hit in dead]
    return [*live, *dead][:limit]


def fitting(hits: Sequence[Hit], most: int) -> list[Hit]:
    """The hits whose texts together are not longer; the first is cut if it must be."""
    chosen: list[Hit] = []
    for hit in hits:
        size = tokens(hit.snippet)
        if size > most and not chosen:
            hit = evolve(hit, snippet=shortened(hit.snippet, most))
            size = tokens(hit.snippet)
        if size <= most:
            chosen.append(hit)
            most -= size
    return chosen


def shortened(text: str, most: int) -> str:
    """The begin of a text, of at most so many tokens."""
    while tokens(text) > most:
        text = text[: max(1, len(text) * most // tokens(text))] if len(text) > 1 else ""
    return text
