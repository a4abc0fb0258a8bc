"""The job that keeps the index of a corpus: it finds what changed, writes it down, and tells the jobs after it."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from attrs import evolve

from reverie_hookspecs import ArchiveSettings, Corpus, Indexing, IndexJob, ReverieError, Source

from .farm import fetched
from .fetch import Fetched, Recipe, Task, digest_of, prepared
from .ledger import Ledger
from .lifecycle import fold
from .scan import LARGEST, Found, Look, Scan, indexable, nfc, odd, scan, words
from .store import PATIENCE, Damaged, Known, Store, alone, damage, explained

if TYPE_CHECKING:
    from typing import Any

NAME: Final = "index"
MANNER: Final = 1
"""Version of how this package cuts text: raised, every index is made anew."""


def job(corpus: Corpus) -> IndexJob:
    """The job named ``index``; the corpus is the one its letter names."""
    return IndexJob(NAME, run)


def run(letter: Indexing) -> Indexing:
    """Bring the index of the corpus up to date: all of it, or nothing of it, is seen by those who read meanwhile.

    Of files in a rehearsal nothing is written at all.
    """
    if rehearsed(letter.corpus.files):
        from .rehearsal import rehearse

        return rehearse(letter)
    path = letter.corpus.database
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ReverieError(f"the index {path} cannot be made: {words(error)}; see to the folder it lies in") from error
    with alone(path.parent):
        try:
            return ran(letter)
        except (Damaged, FileNotFoundError) as error:
            broken: Exception = error
        except sqlite3.Error as error:
            if not damage(error):
                raise explained(path, error) from error
            broken = error
        return mended(letter, broken)


def mended(letter: Indexing, broken: Exception) -> Indexing:
    """The same run over a new index, once the damaged one is out of the way."""
    from .rescue import rescue

    path = letter.corpus.database
    try:
        report = rescue(path, tokenizer(letter.corpus))
        return ran(evolve(letter, reports=(*letter.reports, *filter(None, [report]))))
    except sqlite3.Error as error:
        raise explained(path, error) from broken


def ran(letter: Indexing) -> Indexing:
    corpus = letter.corpus
    with Store.open(corpus.database, create=tokenizer(corpus), patience=PATIENCE) as store:
        if letter.full and store.one("PRAGMA quick_check(1)") != "ok":
            raise Damaged("SQLite finds fault with it")
        try:
            return Pass(letter, store).done()
        finally:
            store.roll_back()


class Pass:
    """One pass over a corpus."""

    def __init__(self, letter: Indexing, store: Store) -> None:
        self.letter, self.corpus, self.store = letter, letter.corpus, store
        self.settings = letter.corpus.settings[ArchiveSettings]
        self.signature = signature(self.settings)
        self.changed: list[str] = []
        self.vanished: list[str] = []
        self.reports: list[str] = []

    def done(self) -> Indexing:
        """The letter, once the index is up to date."""
        found = scan(self.corpus.files.root, self.corpus.kind)
        state = self.store.state()
        renew = self.letter.full or state.signature != self.signature or self.store.lives_lost()
        version, looks = self.store.version(), self.store.looks()
        paths = differing(found, looks)
        if renew or self.letter.changed or self.store.has_added() or paths:
            self.write(found, paths, version, renew)
        elif self.store.one("SELECT 1 FROM kb_retrieval_log LIMIT 1"):
            self.store.begin()
            fold(self.store.connection())
            self.store.commit()
        return self.told(found)

    def write(self, found: Scan, paths: set[str], version: int, renew: bool) -> None:
        """Write down what differs, in one transaction; if others have written meanwhile, it is looked at once more."""
        self.store.begin()
        if self.store.version() != version:
            paths = differing(found, self.store.looks())
        ledger = Ledger(self.store, self.corpus.kind)
        same = self.store.state().signature == self.signature
        if renew := renew and (self.letter.full or not same or self.store.lives_lost()):
            ledger.renew(tokenizer(self.corpus))
        if renew:
            paths = {*found.files, *self.store.looks()}
        added = self.added(found)
        known = self.store.known({*paths, *added})
        self.files(ledger, found, known, [path for path in found.files if path in paths], renew)
        self.add(ledger, known, added)
        self.prune(ledger, found, known, added)
        ledger.close(self.signature)
        fold(self.store.connection())
        self.store.commit()

    def files(self, ledger: Ledger, found: Scan, known: dict[str, Known], paths: Sequence[str], renew: bool) -> None:
        """Fetch the files that look different, or all."""
        tasks = [Task(found.found(path), None if renew else digest(known.get(path))) for path in paths]
        for one in fetched(tasks, recipe_of(self.corpus)):
            file = Found(*one.found)
            self.take(ledger, found, one, file, known.get(file.path), renew)

    def take(self, ledger: Ledger, found: Scan, one: Fetched, file: Found, old: Known | None, renew: bool) -> None:
        """Write down what became of one file."""
        if one.problem:
            self.reports.append(f"{file.path} {one.problem}")
        if one.lost:
            found.closed.append(file.path)
        elif one.gone or one.problem:
            found.files.pop(file.path, None)
        elif old and old.kind == "file" and not renew and old.digest == one.digest:
            ledger.touch(file, old)
        else:
            ledger.put(one, old)
            self.changed.append(file.path)

    def prune(self, ledger: Ledger, found: Scan, known: dict[str, Known], added: dict[str, Source]) -> None:
        """Drop what is there no more; what nobody can see now is kept."""
        for path, old in known.items():
            if path in added or (path in found.files and not found.unknown(path)):
                continue
            if old.kind == "file" and found.unknown(path):
                ledger.keep(old)
            else:
                ledger.drop(old)
                self.vanished.append(path)

    # Sources that other jobs add

    def added(self, found: Scan) -> dict[str, Source]:
        """The sources that jobs before this one have put into the letter, by path."""
        sources = {}
        for source in self.letter.changed:
            path = nfc(source.path)
            if why := self.refusal(path, source, found):
                self.reports.append(f"the added source {path!r} is not indexed: {why}")
            else:
                sources[path] = source
        return sources

    def refusal(self, path: str, source: Source, found: Scan) -> str:
        if not path or odd(path):
            return odd(path) or "it has no path"
        if path in found.files or indexable(path, self.corpus.kind):
            return "a file of the corpus has its path"
        return "it is larger than 16 MiB" if len(source.text) > LARGEST else ""

    def add(self, ledger: Ledger, known: dict[str, Known], added: dict[str, Source]) -> None:
        """Write down the added sources whose text is another one."""
        for path, source in added.items():
            data = source.text.encode("utf-8", "replace")
            mark, old = digest_of(data), known.get(path)
            if old and old.kind == "added" and old.digest == mark and not ledger.fresh:
                continue
            text = data.decode()
            made = prepared(Found(path, path, len(data), 0, 0), mark, text, recipe_of(self.corpus))
            ledger.put(made, old, "added", text)
            self.changed.append(path)

    # What is told

    def told(self, found: Scan) -> Indexing:
        from .changed import Changed

        changed: Sequence[Source] = Changed(self.corpus, sorted(self.changed)) if self.changed else ()
        return evolve(
            self.letter,
            changed=cast("tuple[Source, ...]", changed),
            vanished=(*self.letter.vanished, *sorted(self.vanished)),
            unchanged=self.letter.unchanged + len(set(found.files) - set(self.changed)),
            reports=(*self.letter.reports, *found.reports, *self.reports),
        )


def differing(found: Scan, looks: dict[str, Look]) -> set[str]:
    """The paths of the files that came, went, or look different from how they were indexed."""
    if looks == found.files:
        return set()
    paths = {path for path, look in found.files.items() if looks.get(path) != look}
    return paths | {path for path in looks if path not in found.files and not found.unknown(path)}


def digest(known: Known | None) -> bytes | None:
    return known.digest if known and known.kind == "file" else None


def signature(settings: ArchiveSettings) -> str:
    """What shapes the chunks, and what FTS5 is given of them: a difference makes the index anew."""
    from .text import VERSION

    values: dict[str, Any] = {
        "tokenizer": settings.tokenizer,
        "chunkTokens": settings.chunk_tokens,
        "chunkOverlap": settings.chunk_overlap,
        "text": VERSION,
        "manner": MANNER,
    }
    return json.dumps(values, sort_keys=True)


def tokenizer(corpus: Corpus) -> str:
    from .text import tokenizer as fts5

    return fts5(corpus.settings[ArchiveSettings].tokenizer)


def recipe_of(corpus: Corpus) -> Recipe:
    settings = corpus.settings[ArchiveSettings]
    return Recipe(str(corpus.files.root), corpus.kind, settings.chunk_tokens, settings.chunk_overlap)


def rehearsed(files: object) -> bool:
    """Whether the files are those of a dry run: what is written to them stays in memory."""
    from reverie.workspace.overlay import Overlay

    return isinstance(getattr(files, "disk", None), Overlay)
