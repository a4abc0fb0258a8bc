"""The store: one kb.sqlite, and every statement that is put to it."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from reverie_hookspecs import Corpus, Indexer, ReverieError, Unreadable

if TYPE_CHECKING:
    from peewee import SqliteDatabase

    from .scan import Look

logger = logging.getLogger(__name__)
T = TypeVar("T")
APPLICATION: Final = 0x52766B62
"""``Rvkb``: what marks a file as ours."""
LAYOUT: Final = 1
"""Version of the tables."""
PAGE: Final = 16_384
HASH: Final = 64 << 20
"""Bytes of postings that FTS5 collects before it writes them down."""
PATIENCE: Final = 60.0
"""Seconds that a run waits for others who write."""
TURN: Final = 120.0
"""Seconds to wait for another run over the same index; it is safe, if wasteful, to go on without."""
BRIEF: Final = 5.0
"""Seconds that a reader waits."""
CODES: Final = {
    sqlite3.SQLITE_BUSY: "somebody else has been writing to it for long; try again",
    sqlite3.SQLITE_LOCKED: "somebody else has been writing to it for long; try again",
    sqlite3.SQLITE_FULL: "the disk is full; free some space",
    sqlite3.SQLITE_READONLY: "it may not be written; see to the permissions",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; see to the permissions",
    sqlite3.SQLITE_PERM: "it may not be used; see to the permissions",
    sqlite3.SQLITE_IOERR: "the disk failed; see to it",
    sqlite3.SQLITE_NOMEM: "there is not enough memory; free some",
    sqlite3.SQLITE_INTERRUPT: "it was interrupted; try again",
    sqlite3.SQLITE_AUTH: "it may not be used; see to the permissions",
}
"""What is nobody's damage, and what to do."""


class Known(NamedTuple):
    """A source as it was indexed last."""

    path: str
    id: int
    size: int
    mtime_ns: int
    inode: int
    digest: bytes | None
    kind: str


class State(NamedTuple):
    """What the index knows of itself."""

    revision: int
    signature: str
    indexed_at: int | None
    drift: int


class Damaged(Exception):
    """The file is no index of ours, or no longer one."""


class Store:
    """An open database. It is opened anew where the file of its name has become another one."""

    def __init__(self, path: Path, patience: float = BRIEF) -> None:
        self.path, self.patience = path, patience
        self._database: SqliteDatabase | None = None
        self.ident: tuple[int, int] | None = None

    @classmethod
    @contextmanager
    def open(cls, path: Path, *, create: str = "", patience: float = BRIEF) -> Iterator[Store]:
        """The store for as long as the block lasts; ``create`` is the tokenizer of one to be made if there is none.

        Damaged if the file is not ours, FileNotFoundError if there is none and none may be made.
        """
        store = cls(path, patience)
        try:
            store.demand(create)
            yield store
        finally:
            store.close()

    @classmethod
    def look(cls, path: Path, ask: Callable[[Store], T], otherwise: T) -> T:
        """What a store answers; ``otherwise`` if there is none, or none that can be asked."""
        try:
            with cls.open(path) as store:
                return ask(store)
        except (FileNotFoundError, Damaged):
            return otherwise
        except sqlite3.Error as error:
            if damage(error):
                return otherwise
            raise explained(path, error) from error

    # The connection

    @property
    def database(self) -> SqliteDatabase:
        """The database for peewee; no model is ever bound to it."""
        if self._database is None:
            from peewee import SqliteDatabase

            pragmas = {"synchronous": 1, "foreign_keys": 1, "cache_size": -32768}
            self._database = SqliteDatabase(str(self.path), pragmas=pragmas, timeout=self.patience)
        return self._database

    def connection(self) -> sqlite3.Connection:
        """The connection of this thread; FileNotFoundError if the file is gone."""
        if not self.database.is_closed():
            open_one: sqlite3.Connection = raised(self.database.connection)
            if open_one.in_transaction:
                return open_one
        ident = ident_of(self.path)  # before it is opened, for that would make the file
        if self.ident not in (None, ident):
            self.close()
        self.ident = ident
        connection: sqlite3.Connection = raised(self.database.connection)
        return connection

    def close(self) -> None:
        if self._database is not None and not self._database.is_closed():
            with suppress(sqlite3.Error):
                self._database.close()

    def demand(self, create: str) -> None:
        """See that the file is an index of ours, or make it one if there is nothing in it."""
        if create and not self.path.exists():
            for ending in ("-wal", "-shm", "-journal"):  # of one that was deleted
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch()
        mark, layout = self.one("PRAGMA application_id"), self.one("PRAGMA user_version")
        if (mark, layout) == (APPLICATION, LAYOUT):
            return
        if self.one("SELECT count(*) FROM sqlite_master") or mark:
            raise Damaged(f"application_id {mark} and user_version {layout} are not those of an index")
        if not create:
            raise FileNotFoundError(self.path)
        self.make(create)

    def make(self, tokenizer: str) -> None:
        """Make the tables. The file is marked as ours in the same transaction, before it has a write-ahead log."""
        connection = self.connection()
        connection.execute(f"PRAGMA page_size = {PAGE}")
        schema = Path(__file__).with_name("kb.sql").read_text("utf-8")
        self.begin()
        for statement in statements(schema):
            connection.execute(statement)
        self.make_fts(tokenizer)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {LAYOUT}")
        self.commit()
        connection.execute("PRAGMA journal_mode = wal")
        self.close()  # one that began with smaller pages keeps to no limit of memory

    def make_fts(self, tokenizer: str) -> None:
        """An empty full-text index in the place of what there was."""
        run = self.connection().execute
        run("DROP TABLE IF EXISTS kb_words")
        run("DROP TABLE IF EXISTS kb_fts")
        escaped = tokenizer.replace('"', '""')
        run(f"CREATE VIRTUAL TABLE kb_fts USING fts5(text, headings, content='', tokenize=\"{escaped}\")")
        run("INSERT INTO kb_fts (kb_fts, rank) VALUES ('hashsize', ?)", (HASH,))
        run("CREATE VIRTUAL TABLE kb_words USING fts5vocab(kb_fts, 'row')")

    def one(self, statement: str, values: Iterable[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        row = self.connection().execute(statement, tuple(values)).fetchone()
        return row[0] if row else None

    def begin(self) -> None:
        self.connection().execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self.connection().execute("COMMIT")

    def roll_back(self) -> None:
        with suppress(sqlite3.Error, OSError):
            connection = self.connection()
            if connection.in_transaction:
                connection.execute("ROLLBACK")

    # What is asked

    def state(self) -> State:
        row = self.connection().execute("SELECT revision, signature, indexed_at, drift FROM kb_index_state").fetchone()
        if row is None:
            raise Damaged("its state is lost")
        return State(*row)

    def known(self, paths: Collection[str]) -> dict[str, Known]:
        """Of these sources those that are indexed, and all that jobs added."""
        statement = (
            "SELECT path, id, size, mtime_ns, inode, digest, kind FROM kb_sources"
            " WHERE path IN (SELECT value FROM json_each(?)) OR kind = 'added'"
        )
        rows = self.connection().execute(statement, (json.dumps(list(paths)),))
        return {row[0]: Known._make(row) for row in rows}

    def looks(self) -> dict[str, Look]:
        """How every file looked when it was indexed, by its path."""
        rows = self.connection().execute("SELECT path, size, mtime_ns, inode FROM kb_sources WHERE kind = 'file'")
        return {row[0]: row for row in rows}

    def version(self) -> int:
        """Another number than before, if another connection has written since."""
        return int(self.one("PRAGMA data_version"))

    def has_added(self) -> bool:
        """Whether there are sources that jobs added."""
        return self.one("SELECT 1 FROM kb_sources WHERE kind = 'added' LIMIT 1") is not None

    def lives_lost(self) -> bool:
        """Whether entries that grow old are there, and not one row that says since when."""
        if self.one("SELECT 1 FROM kb_entry_lifecycle LIMIT 1"):
            return False
        return self.one("SELECT 1 FROM kb_entries WHERE length(keys) < length(places) LIMIT 1") is not None

    def added_text(self, path: str) -> str | None:
        text: str | None = self.one("SELECT text FROM kb_sources WHERE path = ? AND kind = 'added'", (path,))
        return text

    def held(self, hashes: Collection[str]) -> set[str]:
        """Those of the entries, each named by its hash, that stand in a source."""
        return {name for name in hashes if (key := plain_key(name)) and self.holds(key)}

    def holds(self, key: bytes) -> bool:
        ages = "SELECT 1 FROM kb_entry_lifecycle WHERE entry_hash = ? AND places > 0"
        ageless = "SELECT 1 FROM kb_entries WHERE length(keys) > length(places) AND instr(keys, ?)"
        return bool(self.one(ages, (key,)) or self.one(ageless, (key,)))


def held(corpus: Corpus, hashes: Collection[str]) -> set[str]:
    """Those of the entries, each named by its hash, that are indexed; none if there is no index."""
    return Store.look(corpus.database, lambda store: store.held(hashes), set())


@contextmanager
def reading(corpus: Corpus, indexer: Indexer) -> Iterator[sqlite3.Connection]:
    """A connection to ask; a corpus that was never indexed, or whose index is not ours, is indexed first.

    An index that turns out damaged in the block is moved aside and made anew, and Unreadable says to ask again.
    """
    if not Store.look(corpus.database, lambda store: store.state().indexed_at, None):
        indexer.index(corpus)
    ident = None
    try:
        with Store.open(corpus.database) as store:
            ident = store.ident
            yield store.connection()
    except sqlite3.Error as error:
        if not damage(error):
            raise explained(corpus.database, error) from error
        renew(corpus, ident)
        indexer.index(corpus)
        raise Unreadable(f"the index of {corpus.name} was damaged and has been made anew; ask again") from error


def renew(corpus: Corpus, ident: tuple[int, int] | None) -> None:
    """Begin a new index in the place of a damaged one, unless somebody has done so."""
    from .index import tokenizer
    from .rescue import rescue

    with alone(corpus.database.parent):
        if report := rescue(corpus.database, tokenizer(corpus), ident):
            logger.warning("%s", report)


def ident_of(path: Path) -> tuple[int, int]:
    """What tells one file of this name from another one."""
    seen = path.stat()
    return seen.st_dev, seen.st_ino


def answered(corpus: Corpus, indexer: Indexer, ask: Callable[[sqlite3.Connection], T]) -> T:
    """What is answered to a question; asked once more if the index had to be made anew."""
    try:
        with reading(corpus, indexer) as connection:
            return ask(connection)
    except Unreadable:
        with reading(corpus, indexer) as connection:
            return ask(connection)


def raised(call: Callable[[], Any]) -> Any:
    """What peewee answers, its errors those of SQLite."""
    from peewee import PeeweeException

    try:
        return call()
    except PeeweeException as error:
        cause = error.__cause__ or error.__context__
        raise (cause if isinstance(cause, sqlite3.Error) else error) from None


def damage(error: sqlite3.Error) -> bool:
    """Whether an error says that the file is broken, and not that it could not be used just now."""
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
    return isinstance(error, sqlite3.DatabaseError) and (code & 0xFF) not in CODES


def explained(path: Path, error: sqlite3.Error) -> ReverieError:
    """The failure in a sentence, and what to do."""
    hint = CODES.get(getattr(error, "sqlite_errorcode", -1) & 0xFF, "delete it, and it is made anew")
    return ReverieError(f"the index {path} cannot be used ({error}): {hint}")


def statements(script: str) -> Iterator[str]:
    """The statements of a script, one after the other: a script as a whole would end the transaction."""
    statement = ""
    for line in script.splitlines():
        statement += line + "\n"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


def plain_key(name: str) -> bytes | None:
    """The bytes of a hash in hex, or None if it is none."""
    try:
        key = bytes.fromhex(name)
    except ValueError:
        return None
    return key if len(key) == 32 else None


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let no two runs do the same work: the second waits, and finds nothing to do.

    The lock is on the folder, for SQLite's own on the file would be lost with any descriptor of it that is closed.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        end, pause = time.monotonic() + TURN, 0.001
        while time.monotonic() < end:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(pause)
                pause = min(pause * 1.5, 0.05)
            except OSError:  # a file system without locks
                break
            else:
                break
        yield
    finally:
        os.close(fd)
