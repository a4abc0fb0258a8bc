"""Rescue: an index that is damaged, or is none of ours, goes aside, and what Markdown cannot yield is saved from it."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Final

from .store import PAGE, Store, ident_of, now, plain_key

LIFE: Final = "kb_entry_lifecycle"
LOG: Final = "kb_retrieval_log"
COUNTS: Final = ("first_seen", "last_retrieved", "retrieval_count", "invalid_at")
TEXTS: Final = ("supersedes_key", "superseded_by")
COMPANIONS: Final = ("", "-wal", "-shm", "-journal")
LATEST: Final = 2**53

Row = dict[str, Any]


def moved_aside(path: Path) -> Path:
    """The name it has from now on: ``kb.sqlite.corrupt-`` and the time in milliseconds; its log goes with it."""
    aside = Path(f"{path}.corrupt-{now()}")
    while aside.exists():
        aside = Path(f"{path}.corrupt-{int(aside.name.rpartition('-')[2]) + 1}")
    for ending in COMPANIONS:
        with suppress(FileNotFoundError):
            Path(f"{path}{ending}").rename(f"{aside}{ending}")
    return aside


def rescue(path: Path, tokenizer: str, ident: tuple[int, int] | None = None) -> str:
    """Move an index aside, begin a new one with what could be saved of it; a sentence that says so.

    Nothing happens, and nothing is said, if there is none, or another one than the one of this ``ident``.
    """
    if not path.exists() or (ident and ident_of(path) != ident):
        return ""
    aside = moved_aside(path)
    lives, log = salvaged(aside)
    with Store.open(path, create=tokenizer) as store:
        saved(store, lives, log)
    return (
        f"the index was damaged, or none of ours: it is kept as {aside.name}, and made anew from the files; "
        f"the ages and counts of {len(lives)} entries and {len(log)} retrievals were saved from it"
    )


def saved(store: Store, lives: Iterable[Row], log: Iterable[tuple[str, int]]) -> None:
    """Put what was saved into a new index; the run that follows drops what has no text any more."""
    names = ("entry_hash", *COUNTS, *TEXTS)
    statement = f"INSERT OR IGNORE INTO {LIFE} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"
    store.begin()
    connection = store.connection()
    connection.executemany(statement, (tuple(row[name] for name in names) for row in lives))
    connection.executemany(f"INSERT INTO {LOG} (entry_hash, at) VALUES (?, ?)", log)
    store.commit()


def salvaged(path: Path) -> tuple[list[Row], list[tuple[str, int]]]:
    """The lifecycle rows and the log, as far as they can be read; with a header of ours if its own is of no use."""
    lives, log = readable(path)
    if lives or log:
        return lives, log
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=".reverie-") as folder:
        copy = Path(folder) / "kb.sqlite"
        try:
            shutil.copyfile(path, copy)
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{path}-wal", f"{copy}-wal")
            return readable(copy) if mended(copy) else ([], [])
        except OSError:
            return [], []


def mended(copy: Path) -> bool:
    """Give a file the header that one of ours of its size has; False if it can be none."""
    size = copy.stat().st_size
    if size < PAGE:
        return False
    pattern = copy.with_name("pattern.sqlite")
    with Store.open(pattern, create="unicode61"):
        pass
    header = bytearray(pattern.read_bytes()[:100])
    header[28:32] = (size // PAGE).to_bytes(4, "big")
    header[92:96] = header[24:28]
    header[32:40] = bytes(8)  # no list of free pages
    with copy.open("r+b") as file:
        file.write(header)
    return True


def readable(path: Path) -> tuple[list[Row], list[tuple[str, int]]]:
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            lives = {row["entry_hash"]: row for raw in rows(connection, LIFE) if (row := life(raw))}
            log = {(raw.get("id"), *entry) for raw in rows(connection, LOG) if (entry := logged(raw))}
            return list(lives.values()), [(name, at) for _, name, at in sorted(log, key=lambda row: row[2])]
    except sqlite3.Error:
        return [], []


def rows(connection: sqlite3.Connection, table: str) -> Iterator[Row]:
    """The rows of a table by the names of its columns: from the begin up to what is damaged, then from the end."""
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error):
            cursor = connection.execute(f"SELECT * FROM {table} ORDER BY {first_column(connection, table)} {order}")
            names = [column[0] for column in cursor.description]
            while (row := cursor.fetchone()) is not None:
                yield dict(zip(names, row, strict=True))
            return


def first_column(connection: sqlite3.Connection, table: str) -> str:
    """What a table is kept in the order of: its key, if it has one."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return next((f'"{column[1]}"' for column in columns if column[5]), "1")


def life(raw: Row) -> Row | None:
    """A lifecycle row of sound values; None if it has no hash."""
    key = hash_of(raw.get("entry_hash"))
    if key is None:
        return None
    row: Row = {"entry_hash": key}
    row |= {name: whole(raw.get(name)) for name in COUNTS}
    row |= {name: value if isinstance(value := raw.get(name), str) else None for name in TEXTS}
    row["retrieval_count"] = row["retrieval_count"] or 0
    return row


def logged(raw: Row) -> tuple[str, int] | None:
    key, at = hash_of(raw.get("entry_hash")), whole(raw.get("at"))
    return (key.hex(), at) if key is not None and at is not None else None


def hash_of(value: object) -> bytes | None:
    """The 32 bytes of a hash that was kept as such, or in hex."""
    if isinstance(value, str):
        return plain_key(value)
    return value if isinstance(value, bytes) and len(value) == 32 else None


def whole(value: object) -> int | None:
    return value if isinstance(value, int) and 0 <= value < LATEST else None
