"""The two tools with which an agent reads its memory."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from attrs import asdict, field, frozen

from reverie_hookspecs import Agent, Hit, Indexer, Tool

from .answer import Answer, asked_all

SEARCH: Final = (
    "Search your memory: notes, archives, and all of MEMORY.md. Give words, a name, an identifier, a date or a whole "
    "question; any text is a query. Answers passages, best first, each with its file and lines. Entries that are no "
    "longer valid come last and say so."
)
GET: Final = "Read lines of one memory file, by the path and the lines that memory_search named."


def about(text: str, *, lenient: bool = False, **more: Any) -> Any:
    return field(metadata={"about": text, "lenient": lenient}, **more)


@frozen
class Search:
    """What memory_search takes."""

    query: str = about("What to look for, in any words.")
    max_results: float | None = about("How many passages, 1 to 20; 6 if left out.", lenient=True, default=None)
    corpus: str = about("memory: your own notes; shared: what agents share; all: both.", default="memory")
    passage_tokens: float | None = about("How long a passage is, 40 to 400 tokens; 120 if left out.", default=None)
    max_tokens: float | None = about("At most so many tokens of text in all.", default=None)


@frozen
class Get:
    """What memory_get takes."""

    path: str = about("The file, as a hit names it: MEMORY.md, USER.md or memory/….md.")
    from_: int = about("The first line, counted from 1.", default=1)
    lines: int = about("How many lines, 2000 at most.", default=200)


def search_tool(agent: Agent, indexer: Indexer) -> Tool:
    return Tool("memory_search", SEARCH, Search, partial(searched, agent, indexer))


def get_tool(agent: Agent) -> Tool:
    return Tool("memory_get", GET, Get, partial(got, agent))


def searched(agent: Agent, indexer: Indexer, params: Search) -> dict[str, Any]:
    """The answer as plain values; what is empty is left out."""
    answer = asked_all(
        agent,
        indexer,
        params.query,
        params.corpus,
        clamped(params.max_results, 6, 1, 20),
        clamped(params.passage_tokens, 120, 40, 400),
        None if params.max_tokens is None else clamped(params.max_tokens, 0, 1, 1_000_000),
    )
    return plain(answer)


def plain(answer: Answer) -> dict[str, Any]:
    told: dict[str, Any] = {"hits": [as_json(hit) for hit in answer.hits]}
    return told | ({"notice": answer.notice} if answer.notice else {})


def as_json(hit: Hit) -> dict[str, Any]:
    """A hit with the names it has on the wire."""
    values = {
        "path": hit.path,
        "startLine": hit.start_line,
        "endLine": hit.end_line,
        "score": round(hit.score, 4),
        "snippet": hit.snippet,
        "headings": list(hit.headings),
        "originClass": hit.origin_class,
        "importance": hit.importance,
        "date": hit.date,
        "corpus": hit.corpus,
        "entryHash": hit.entry_hash,
        "invalidAt": hit.invalid_at.isoformat() if hit.invalid_at else "",
        "supersededBy": hit.superseded_by,
    }
    return {name: value for name, value in values.items() if value not in ("", [])}


def got(agent: Agent, params: Get) -> dict[str, Any]:
    from .get import get

    found = asdict(get(agent.corpus, params.path, params.from_, params.lines))
    return {
        "path": found["path"],
        "text": found["text"],
        "from": found["start"],
        "to": found["end"],
        "totalLines": found["total"],
        "truncated": found["truncated"],
    }


def clamped(value: float | None, usual: int, least: int, most: int) -> int:
    """A number that a model gave, floored and within bounds; ``usual`` where it gave none.

    >>> [clamped(value, 6, 1, 20) for value in (0, 50, 2.7, None, float("nan"))]
    [1, 20, 2, 6, 6]
    """
    if value is None or value != value:  # not a number
        return usual
    return int(max(least, min(most, value)))
