"""A run that only says what it would do: the files are those of a dry run, and the index is not written to."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from attrs import evolve

from reverie_hookspecs import Indexing, Source

from .changed import Changed
from .index import differing
from .scan import Look, indexable, scan


def rehearse(letter: Indexing) -> Indexing:
    """The letter with what would change; nothing is written, and no index is made."""
    corpus = letter.corpus
    found, looks = scan(corpus.files.root, corpus.kind), looks_of(corpus.database)
    paths = differing(found, looks)
    changed = set(found.files) if letter.full else paths & set(found.files)
    vanished = paths - set(found.files)
    for change in getattr(corpus.files, "changes", list)():
        if indexable(change.path, corpus.kind):
            (changed if change.after.state in ("text", "empty") else vanished).add(change.path)
    changed -= vanished
    told: Sequence[Source] = Changed(corpus, sorted(changed))
    return evolve(
        letter,
        changed=cast("tuple[Source, ...]", told),
        vanished=(*letter.vanished, *sorted(vanished)),
        unchanged=letter.unchanged + len(set(found.files) - changed - vanished),
        reports=(*letter.reports, *found.reports),
    )


def looks_of(path: Path) -> dict[str, Look]:
    """How files looked when they were indexed, read so that not even a file beside the database is made; nothing if
    it cannot be read."""
    if not path.exists():
        return {}
    still = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro{still}", uri=True)
        try:
            rows = connection.execute("SELECT path, size, mtime_ns, inode FROM kb_sources WHERE kind = 'file'")
            return {row[0]: row for row in rows}
        finally:
            connection.close()
    except sqlite3.Error:
        return {}
