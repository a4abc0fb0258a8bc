"""An archive without a database: every search reads the notes, and ranks their lines."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from math import log

from attrs import asdict, define, field, frozen

from reverie.markdown import entries, entry_hash, headings
from reverie_hookspecs import (
    Agent,
    Archive,
    ArchiveSettings,
    Corpus,
    Hit,
    Indexer,
    Indexing,
    IndexJob,
    IsolationSettings,
    Lines,
    NotFound,
    Plugin,
    Refused,
    Tool,
    archive_off,
    hookimpl,
)

WORD = re.compile(r"[a-z0-9]+")
SPACELESS = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
ROOT = ("MEMORY.md", "USER.md")


@frozen
class Query:
    query: str = field(metadata={"about": "What to look for, in any words."})


@frozen
class Place:
    path: str = field(metadata={"about": "The file, as a hit names it."})
    start: int = field(default=1, metadata={"about": "The first line."})
    lines: int = field(default=200, metadata={"about": "How many lines."})


@define(eq=False)
class ArchiveMemory(Plugin):
    """Searches what the files say at that moment."""

    slot = "fts5-archive"
    provides = (Archive,)
    blocks = (ArchiveSettings, IsolationSettings)

    indexer: Indexer | None = None

    def search(
        self, corpus: Corpus, query: str, limit: int = 6, passage_tokens: int = 120, max_tokens: int | None = None
    ) -> list[Hit]:
        lines, weight = weighed(corpus, query)
        scored = [(score(line, weight), line) for line in lines]
        best = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
        return [line.hit(points, corpus.kind) for points, line in best[:limit]]

    def explain(self, corpus: Corpus, query: str, limit: int = 6) -> list[str]:
        _, weight = weighed(corpus, query)
        return [f"{term}: weight {weight.get(term, 0.0):.2f}" for term in dict.fromkeys(terms(query))]

    def get(self, corpus: Corpus, path: str, start: int = 1, lines: int = 200) -> Lines:
        if path not in paths(corpus):
            raise NotFound(f"{path!r} is no file of this memory; name one that a search named")
        snapshot = corpus.files.read(path)
        if snapshot.state != "text":
            raise Refused(f"{path} cannot be read: {snapshot.reason or snapshot.state}")
        whole = snapshot.text.splitlines()
        first = max(start, 1)
        some = whole[first - 1 : first - 1 + min(lines, 2000)]
        last = first + len(some) - 1
        return Lines(path, "\n".join(some), first, max(last, 0), len(whole), bool(some) and last < len(whole))

    def holds(self, corpus: Corpus, hashes: Collection[str]) -> set[str]:
        texts = (text_of(corpus, path) for path in paths(corpus))
        return {entry_hash(t[e.start : e.end]) for t in texts for e in entries(t)} & set(hashes)

    @hookimpl
    def on_index(self, corpus: Corpus) -> IndexJob | None:
        return None if archive_off(corpus.settings) else IndexJob("index", nothing_to_do)

    @hookimpl(specname="tool_registry")
    def memory_search(self, agent: Agent) -> Tool | None:
        def call(params: Query) -> object:
            return {"hits": [asdict(hit) for hit in self.search(agent.corpus, params.query)]}

        return None if archive_off(agent.settings) else Tool("memory_search", "Search your memory.", Query, call)

    @hookimpl(specname="tool_registry")
    def memory_get(self, agent: Agent) -> Tool | None:
        def call(params: Place) -> object:
            return asdict(self.get(agent.corpus, params.path, params.start, params.lines))

        return None if archive_off(agent.settings) else Tool("memory_get", "Read lines of a note.", Place, call)


def nothing_to_do(letter: Indexing) -> Indexing:
    """There is no index that could be out of date."""
    return letter


@frozen
class Line:
    """One line of a note, with its words."""

    path: str
    number: int
    text: str
    headings: tuple[str, ...]
    terms: tuple[str, ...]

    def hit(self, points: float, corpus: str) -> Hit:
        return Hit(self.path, self.number, self.number, points, self.text[:700], self.headings, "agent", corpus=corpus)


def weighed(corpus: Corpus, query: str) -> tuple[list[Line], dict[str, float]]:
    """Every line, and what each word of the query is worth: the rarer, the more."""
    wanted = set(terms(query))
    lines = [line for path in paths(corpus) for line in lines_of(corpus, path)]
    counts = Counter(term for line in lines for term in wanted & set(line.terms))
    return lines, {term: log(1 + len(lines) / counts[term]) for term in counts}


def paths(corpus: Corpus) -> list[str]:
    """The files that may be read."""
    files = corpus.files
    return [path for path in ROOT if files.read(path).state == "text"] + files.names("memory", deep=True)


def text_of(corpus: Corpus, path: str) -> str:
    snapshot = corpus.files.read(path)
    return snapshot.text if snapshot.state == "text" else ""


def lines_of(corpus: Corpus, path: str) -> Iterator[Line]:
    text = text_of(corpus, path)
    above = {text.count("\n", 0, heading.start) + 1: heading.path for heading in headings(text)}
    trail: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), 1):
        trail = above.get(number, trail)
        if line.strip():
            yield Line(path, number, line.strip(), trail, tuple(terms(f"{line} {' '.join(trail)}")))


def terms(text: str) -> Iterator[str]:
    """Words without case and accents; of scripts without spaces, every two characters in sequence."""
    plain = "".join(c for c in unicodedata.normalize("NFKD", text).casefold() if not unicodedata.combining(c))
    yield from WORD.findall(plain)
    for run in SPACELESS.findall(unicodedata.normalize("NFC", text)):
        yield from (run[at : at + 2] for at in range(len(run) - 1))


def score(line: Line, weight: dict[str, float]) -> float:
    """The weight of the words that a line shares with the query, less for a long line."""
    shared = sum(weight.get(term, 0.0) for term in set(line.terms))
    return shared / (1 + len(line.terms) / 50)
