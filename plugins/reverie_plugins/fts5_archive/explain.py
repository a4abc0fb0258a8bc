"""Explaining a search to a person, line by line."""

from __future__ import annotations

from collections.abc import Iterator

from .query import Term
from .rank import LABEL
from .search import Explained, Found


def told(found: Found) -> list[str]:
    """How a query was understood, what FTS5 was asked, and why its passages come in that order."""
    explained = found.explained
    if not explained.terms:
        return [found.notice]
    return [*map(term, explained.terms), *asked(explained), *chunks(explained), *passages(explained)]


def term(one: Term) -> str:
    if not one.chunks:
        return f"{one.kind} {one.text!r}: not in the index"
    held = f"in {one.chunks} chunk{'s' * (one.chunks > 1)}"
    if one.near:
        return f"{one.kind} {one.text!r}: not in the index; near it, {held}: {', '.join(one.keys)}"
    return f"{one.kind} {one.text!r}: {'at most ' if one.kind in ('phrase', 'date') else ''}{held}"


def asked(explained: Explained) -> Iterator[str]:
    if explained.plan.match:
        how = "ranked by bm25" if explained.plan.ranked else "the newest, for all terms are common"
        yield f"asked: {explained.plan.match} ({how})"


def chunks(explained: Explained) -> Iterator[str]:
    for chunk in explained.chunks:
        yield f"chunk {chunk.path}:{chunk.start}-{chunk.end}  bm25 {chunk.score:.3f}"


def passages(explained: Explained) -> Iterator[str]:
    for passage in explained.passages:
        line = passage.line
        words = ", ".join(explained.terms[index].text for index in line.hits) or "none of its own"
        boost = f", x {1 + LABEL} for its label" if line.label else ""
        yield (
            f"passage {line.chunk.path}:{passage.start}-{passage.end}  score {line.score:.3f} for line {passage.best}: "
            f"line {line.own:.2f}, around {line.near:.2f}, chunk {line.best:.2f}{boost}; matched: {words}"
        )
