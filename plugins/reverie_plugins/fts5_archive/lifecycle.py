"""Lifecycle rows: how long each entry has been there, when it was last of use, and what made it invalid."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from itertools import chain
from typing import Any, Final

from reverie_hookspecs import Corpus

from .cut import STALE
from .entry import PREFIX, Said, whole_key
from .provenance import Kind
from .store import explained, now, plain_key

RECORDING: Final = 0.5
"""Seconds that noting a retrieval may wait for others who write."""
_STAGE: Final = "CREATE TEMP TABLE IF NOT EXISTS kb_stage (entry_hash BLOB, places INTEGER, first_seen INTEGER)"
_MERGE: Final = """
INSERT INTO kb_entry_lifecycle (entry_hash, places, first_seen)
SELECT entry_hash, sum(places), min(first_seen) FROM temp.kb_stage GROUP BY entry_hash ORDER BY entry_hash
ON CONFLICT (entry_hash) DO UPDATE SET
    places = places + excluded.places,
    first_seen = min(coalesce(first_seen, excluded.first_seen), coalesce(excluded.first_seen, first_seen))
"""
_TELL: Final = """
UPDATE kb_entry_lifecycle SET
    supersedes_key = coalesce(?, supersedes_key),
    superseded_by = coalesce(superseded_by, ?),
    invalid_at = coalesce(invalid_at, ?)
WHERE entry_hash = ?
"""
_FOLD: Final = """
UPDATE kb_entry_lifecycle SET
    last_retrieved = max(coalesce(last_retrieved, 0), ?), retrieval_count = retrieval_count + ?
WHERE entry_hash = ?
"""


def ages(path: str, kind: Kind = "memory", *, added: bool = False) -> bool:
    """Whether the entries of a source grow old: those of ``memory/**`` that are not pinned, and notes of a vault.

    >>> [ages(path) for path in ("memory/a.MD", "memory/pinned.md", "memory/pinned/x.md", "MEMORY.md")]
    [True, True, False, False]
    """
    if added:
        return False
    return kind == "shared" or (path.startswith("memory/") and not path.casefold().startswith("memory/pinned/"))


class Ages:
    """What one run finds out about entries: collected on the way, written down in the order of their hashes at its
    end, which keeps the table dense."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.rows: list[tuple[bytes, int, int | None]] = []
        self.said: list[tuple[Any, ...]] = []
        connection.execute(_STAGE)
        connection.execute("DELETE FROM temp.kb_stage")

    def arrived(self, keys: Sequence[bytes], said: Sequence[Said], seen: int) -> None:
        """Entries of a new source, first seen then (milliseconds)."""
        self.rows += [(key, 1, seen) for key in keys]
        self.tell(said)

    def changed(
        self, path: str, before: Sequence[bytes], keys: Sequence[bytes], said: Sequence[Said], seen: int
    ) -> None:
        """Entries of a source that had others before, of which the begins of their hashes are known."""
        wholes = {key[:PREFIX]: key for key in keys}
        counts = Counter(key[:PREFIX] for key in keys)
        counts.subtract(key[:PREFIX] for key in before)
        moved = [(wholes.get(key) or whole_key(self.connection, key), count) for key, count in counts.items() if count]
        self.rows += [(key, count, seen if count > 0 else None) for key, count in moved]
        self.tell(said)
        if path == STALE:
            back = "UPDATE kb_entry_lifecycle SET invalid_at = NULL, superseded_by = NULL WHERE entry_hash = ?"
            self.connection.executemany(back, ((key,) for key, count in moved if count < 0))

    def tell(self, said: Sequence[Said]) -> None:
        """Keep what entries say of themselves, which few do."""
        self.said += said
        if len(self.rows) > 5_000:
            self.flush()

    def flush(self) -> None:
        insert(self.connection, "temp.kb_stage", self.rows)
        self.rows.clear()

    def merge(self) -> None:
        """Write down what was collected, and drop the rows whose text is gone."""
        self.flush()
        self.connection.execute(_MERGE)
        self.connection.executemany(_TELL, self.said)
        self.connection.execute("DELETE FROM temp.kb_stage")
        self.connection.execute("DELETE FROM kb_entry_lifecycle WHERE places <= 0")


def insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]], together: int = 40) -> None:
    """Insert whole rows, many with one statement: for short ones that takes two thirds of the time."""
    if not rows:
        return
    whole = len(rows) - len(rows) % together
    row = f"({', '.join('?' * len(rows[0]))})"
    many = (tuple(chain.from_iterable(rows[at : at + together])) for at in range(0, whole, together))
    connection.executemany(f"INSERT INTO {table} VALUES {', '.join([row] * together)}", many)
    connection.executemany(f"INSERT INTO {table} VALUES {row}", rows[whole:])


def forget_places(connection: sqlite3.Connection) -> None:
    """Count the places of all entries anew: every source is about to be told of again."""
    connection.execute("DROP INDEX kb_entry_lifecycle_gone")
    connection.execute("UPDATE kb_entry_lifecycle SET places = 0")


def remember_places(connection: sqlite3.Connection) -> None:
    statement = (
        "CREATE INDEX IF NOT EXISTS kb_entry_lifecycle_gone ON kb_entry_lifecycle (entry_hash) WHERE places <= 0"
    )
    connection.execute(statement)


def fold(connection: sqlite3.Connection) -> None:
    """Take the retrieval log into the rows, up to its last row now; what is unknown is dropped."""
    last = connection.execute("SELECT max(id) FROM kb_retrieval_log").fetchone()[0]
    if last is None:
        return
    grouped = "SELECT entry_hash, max(at), count(*) FROM kb_retrieval_log WHERE id <= ? GROUP BY entry_hash"
    rows = connection.execute(grouped, (last,)).fetchall()
    known = ((at, count, key) for name, at, count in rows if (key := plain_key(str(name))))
    connection.executemany(_FOLD, known)
    connection.execute("DELETE FROM kb_retrieval_log WHERE id <= ?", (last,))


def record(corpus: Corpus, hashes: Sequence[str], at: int | None = None) -> None:
    """Note that entries were found, each once, at a moment in milliseconds; ReverieError if it cannot be noted now."""
    distinct = [name for name in dict.fromkeys(hashes) if plain_key(name)]
    if not distinct or not corpus.database.exists():
        return
    moment = now() if at is None else at
    try:
        with closing(sqlite3.connect(corpus.database, timeout=RECORDING, isolation_level=None)) as connection:
            connection.execute("PRAGMA synchronous = normal")
            connection.execute("BEGIN IMMEDIATE")
            statement = "INSERT INTO kb_retrieval_log (entry_hash, at) VALUES (?, ?)"
            connection.executemany(statement, ((name, moment) for name in distinct))
            connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise explained(corpus.database, error) from error
