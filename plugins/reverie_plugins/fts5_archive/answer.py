"""Answering a question: which corpora are asked, how their hits are merged, and what is remembered of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

from attrs import frozen

from reverie_hookspecs import Agent, Corpus, Hit, Indexer, ReverieError, StalenessSettings

if TYPE_CHECKING:
    import sqlite3

    from .search import Found

logger = logging.getLogger(__name__)
CORPORA: Final = ("memory", "shared", "all")
NO_VAULT: Final = "there is no shared vault here"


@frozen
class Answer:
    """The hits, best first; ``notice`` says what the reader should know of them."""

    hits: tuple[Hit, ...] = ()
    notice: str = ""


def asked_all(
    agent: Agent, indexer: Indexer, query: str, corpus: str, limit: int, passage_tokens: int, max_tokens: int | None
) -> Answer:
    """The answer of one corpus or of all; an unknown one gives no hit and says so."""
    if corpus not in CORPORA:
        return Answer(notice=f"there is no corpus {corpus!r}; ask for {', '.join(CORPORA)}")
    if corpus == "shared":
        return Answer(notice=NO_VAULT)
    found = asked(agent.corpus, query, limit, passage_tokens, max_tokens, indexer)
    return Answer(tuple(found.hits), found.notice)


def asked(
    corpus: Corpus, query: str, limit: int, passage_tokens: int, max_tokens: int | None, indexer: Indexer
) -> Found:
    """What a corpus answers; one that was never indexed is indexed first. The entries found are remembered."""
    from .search import search
    from .store import answered

    def ask(connection: sqlite3.Connection) -> Found:
        return search(connection, corpus.kind, query, limit, passage_tokens, max_tokens)

    found = answered(corpus, indexer, ask)
    remember(corpus, [hit.entry_hash for hit in found.hits if hit.entry_hash])
    return found


def remember(corpus: Corpus, hashes: Sequence[str]) -> None:
    """Note that entries were found; a failure is logged and changes nothing."""
    if not hashes or not corpus.settings[StalenessSettings].record_retrievals:
        return
    from .lifecycle import record

    try:
        record(corpus, tuple(dict.fromkeys(hashes)))
    except (OSError, ReverieError) as error:
        logger.warning("retrievals of %s were not noted: %s", corpus.name, error)


def merged(own: Sequence[Hit], shared: Sequence[Hit], limit: int) -> list[Hit]:
    """Hits of two corpora by rank, one's own first, each entry once: the scores of two cannot be compared."""
    found: dict[Any, Hit] = {}
    for pair in zip_longest(own, shared):
        for hit in filter(None, pair):
            found.setdefault(hit.entry_hash or (hit.corpus, hit.path, hit.start_line), hit)
    return list(found.values())[:limit]
