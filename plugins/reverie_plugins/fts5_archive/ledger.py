"""The ledger: what a run writes down of each source, within its transaction."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, Final

from .cut import searchable
from .entry import held_keys, parted, prefixes, whole_key
from .fetch import Fetched
from .lifecycle import Ages, ages, forget_places, remember_places
from .provenance import Kind, classify
from .scan import Found
from .store import Known, Store, now

FULL: Final = 1_500
"""Chunks that are collected before they are written."""
SETTLED: Final = 0.05
"""Share of the chunks that may change before the common terms are counted anew."""
SMALL: Final = 2_000
"""Chunks up to which they are counted anew whenever one changes."""
COMMON: Final = 0.01
"""Share of the chunks from which on a term is common."""

_SOURCE: Final = (
    "INSERT INTO kb_sources (id, path, size, mtime_ns, inode, digest, origin, kind, revision, importance, text)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET size = excluded.size,"
    " mtime_ns = excluded.mtime_ns, inode = excluded.inode, digest = excluded.digest, origin = excluded.origin,"
    " kind = excluded.kind, revision = excluded.revision, importance = excluded.importance, text = excluded.text"
)
_CHUNK: Final = "INSERT INTO kb_chunks (id, source, start_line, end_line, text, headings) VALUES (?, ?, ?, ?, ?, ?)"
_CHUNKS: Final = "SELECT id, start_line, end_line, text, headings FROM kb_chunks WHERE source = ? ORDER BY id"
_ENTRIES: Final = (
    "INSERT INTO kb_entries (source, places, keys) VALUES (?, ?, ?)"
    " ON CONFLICT (source) DO UPDATE SET places = excluded.places, keys = excluded.keys"
)
_SEARCH: Final = "INSERT INTO kb_fts (rowid, text, headings) VALUES (?, ?, ?)"
_UNSEARCH: Final = "INSERT INTO kb_fts (kb_fts, rowid, text, headings) VALUES ('delete', ?, ?, ?)"


class Ledger:
    """Writes sources down. ``drift`` counts the chunks that came and went."""

    def __init__(self, store: Store, kind: Kind) -> None:
        self.store, self.kind, self.connection = store, kind, store.connection()
        self.ages = Ages(self.connection)
        self.revision = store.state().revision + 1
        self.drift = 0
        self.fresh = False
        self.sources = count(1 + (store.one("SELECT max(id) FROM kb_sources") or 0))
        self.chunks = count(1 + (store.one("SELECT max(id) FROM kb_chunks") or 0))
        self.rows: dict[str, list[tuple[Any, ...]]] = {_SOURCE: [], _CHUNK: [], _SEARCH: [], _ENTRIES: []}

    def renew(self, tokenizer: str) -> None:
        """An empty full-text index; every source is to be put, or kept, again. Lifecycle rows stay."""
        self.store.make_fts(tokenizer)
        forget_places(self.connection)
        self.fresh = True

    # One source

    def put(self, fetched: Fetched, old: Known | None, kind: str = "file", text: str | None = None) -> None:
        """A source that is new or changed; what it shares with its old chunks from the begin on is left alone."""
        found = Found(*fetched.found)
        source = old.id if old else next(self.sources)
        grows = ages(found.path, self.kind, added=kind == "added")
        origin = "untrusted" if kind == "added" else classify(found.path, self.kind)
        known = (found.size, found.mtime_ns, found.inode, fetched.digest, origin, kind, self.revision)
        self.rows[_SOURCE].append((source, found.path, *known, fetched.importance, text))
        kept = self.replaced(source, fetched) if old else 0
        keys = parted(fetched.keys)
        self.age(source, found, fetched, keys, grows, bool(old))
        for (start, end, words, headings), searched in zip(fetched.chunks[kept:], fetched.searched[kept:], strict=True):
            chunk = next(self.chunks)
            self.rows[_CHUNK].append((chunk, source, start, end, words, headings))
            self.rows[_SEARCH].append((chunk, *searched))
        if keys:
            self.rows[_ENTRIES].append((source, fetched.places, prefixes(keys) if grows else fetched.keys))
        self.drift += len(fetched.chunks) - kept
        if len(self.rows[_CHUNK]) > FULL:
            self.flush()

    def age(
        self, source: int, found: Found, fetched: Fetched, keys: Sequence[bytes], grows: bool, changed: bool
    ) -> None:
        """Tell the lifecycle of its entries, before the old ones are written over."""
        seen = min(abs(found.mtime_ns) // 1_000_000, now())
        before = held_keys(self.connection, source) if changed and grows and not self.fresh else []
        if changed and not keys:
            self.connection.execute("DELETE FROM kb_entries WHERE source = ?", (source,))
        if before:
            self.ages.changed(found.path, before, keys, fetched.said, seen)
        elif grows:
            self.ages.arrived(keys, fetched.said, seen)

    def replaced(self, source: int, fetched: Fetched) -> int:
        """Take away the old chunks of a source, but for those that it begins with as before; how many these are."""
        old = self.connection.execute(_CHUNKS, (source,)).fetchall()
        kept = 0
        if not self.fresh:
            pairs = zip(old, fetched.chunks, strict=False)
            kept = next((place for place, (row, chunk) in enumerate(pairs) if row[1:] != chunk),
                        min(len(old), len(fetched.chunks)))  # fmt: skip
        self.unsearch(fetched.found[0], old[kept:])
        return kept

    def unsearch(self, path: str, chunks: Sequence[tuple[int, int, int, str, str]]) -> None:
        """Take chunks away: FTS5 is told what it was given once."""
        if not self.fresh:
            both = self.searchable(path)
            gone = ((chunk[0], *both(chunk[3], chunk[4])) for chunk in chunks)
            self.connection.executemany(_UNSEARCH, gone)
        self.connection.executemany("DELETE FROM kb_chunks WHERE id = ?", ((chunk[0],) for chunk in chunks))
        self.drift += len(chunks)

    def searchable(self, path: str) -> Any:
        from .text import indexed

        return searchable(path, indexed)

    def drop(self, old: Known) -> None:
        """A source that is no more."""
        self.unsearch(old.path, self.connection.execute(_CHUNKS, (old.id,)).fetchall())
        if not self.fresh and ages(old.path, self.kind, added=old.kind == "added"):
            self.ages.changed(old.path, held_keys(self.connection, old.id), (), (), 0)
        self.connection.execute("DELETE FROM kb_entries WHERE source = ?", (old.id,))
        self.connection.execute("DELETE FROM kb_sources WHERE id = ?", (old.id,))

    def keep(self, old: Known) -> None:
        """A source that nobody can read now: into a new full-text index comes what was known of it."""
        if not self.fresh:
            return
        both = self.searchable(old.path)
        chunks = self.connection.execute(_CHUNKS, (old.id,)).fetchall()
        self.rows[_SEARCH] += [(chunk[0], *both(chunk[3], chunk[4])) for chunk in chunks]
        keys = held_keys(self.connection, old.id) if ages(old.path, self.kind, added=old.kind == "added") else []
        wholes = (whole_key(self.connection, key) for key in keys)
        self.ages.rows += [(key, 1, None) for key in wholes if len(key) == 32]

    def touch(self, found: Found, old: Known) -> None:
        """A file that looks different and holds the same."""
        statement = "UPDATE kb_sources SET size = ?, mtime_ns = ?, inode = ? WHERE id = ?"
        self.connection.execute(statement, (found.size, found.mtime_ns, found.inode, old.id))

    # The whole

    def flush(self) -> None:
        for statement, rows in self.rows.items():
            self.connection.executemany(statement, rows)
            rows.clear()

    def close(self, signature: str) -> None:
        """Bring everything that hangs on the sources up to date."""
        self.flush()
        self.ages.merge()
        if self.fresh:
            remember_places(self.connection)
        state = self.store.state()
        total = self.store.one("SELECT count(*) FROM kb_chunks")
        drift = state.drift + self.drift
        if self.fresh or (self.drift and (drift > SETTLED * total or total < SMALL)):
            self.count_common(total)
            drift = 0
        self.connection.execute(
            "UPDATE kb_index_state SET revision = ?, signature = ?, indexed_at = ?, drift = ?",
            (self.revision if self.drift or self.fresh else state.revision, signature, now(), drift),
        )

    def count_common(self, total: int) -> None:
        """The terms in more than 1 % of the chunks."""
        self.connection.execute("DELETE FROM kb_common")
        statement = "INSERT INTO kb_common SELECT term, doc FROM kb_words WHERE doc > ?"
        self.connection.execute(statement, (COMMON * total,))
