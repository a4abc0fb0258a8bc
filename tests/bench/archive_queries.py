"""Whether any text is a query: made-up ones, full of what FTS5 takes for syntax, put to an index of made-up notes.

    python tests/bench/archive_queries.py [--count 200000] [--seed 1]

A query that raises, or a word of the index that is not found, exits 1; the slowest query is named.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import unicodedata
from pathlib import Path

from reverie.testing.world import agent_of
from reverie_hookspecs import Indexing
from reverie_plugins.fts5_archive.index import run as index
from reverie_plugins.fts5_archive.search import search
from reverie_plugins.fts5_archive.store import Store

SYLLABLES = ["ba", "ce", "di", "fo", "gu", "ka", "le", "mi", "no", "pu", "shi", "tor", "ben", "lan", "mar", "dex"]
SYNTAX = [
    *"\"'*()^-+:{}[],;.\\%_#/|&!?\0\n\t",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "NEAR/3",
    "text:",
    "rowid",
    '""',
    "--",
    "…",
]
SCRIPTS = (
    "漢字東京学校",
    "ひらがなカタカナー",
    "한국어서울",
    "กินข้าวแล้ว",
    "ພາສາລາວ",
    "ភាសាខ្មែរ",
    "မြန်မာ",
    "ʼßİıéĳ",
    "🏺👩‍💻",
    "\ud800\udfff",
)


def word(rng: random.Random) -> str:
    return "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3)))


def script(rng: random.Random) -> str:
    letters = rng.choice(SCRIPTS)
    return "".join(rng.choice(letters) for _ in range(rng.randint(1, 6)))


def character(rng: random.Random) -> str:
    return chr(rng.choice((rng.randrange(0x80), rng.randrange(0x3000), rng.randrange(0x110000))))


def query(rng: random.Random) -> str:
    """One query of up to a dozen pieces of every kind."""
    makers = (word, script, character, lambda rng: rng.choice(SYNTAX), lambda rng: str(rng.randrange(3000)))
    pieces = [rng.choice(makers)(rng) for _ in range(rng.randint(0, 8))]
    return rng.choice(("", " ", " ")).join(pieces)


def notes(rng: random.Random, count: int = 150) -> dict[str, str]:
    def line() -> str:
        return "- " + " ".join(rng.choice((word, word, word, script))(rng) for _ in range(12))

    return {
        f"memory/{at}.md": "# Note\n\n" + "\n".join(map(clean, (line() for _ in range(4)))) + "\n"
        for at in range(count)
    }


def clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        texts = notes(rng)
        corpus = agent_of(Path(folder), texts).corpus
        index(Indexing(corpus))
        store = Store(corpus.database)
        failed = tried(store, rng, options.count) + lost(store, texts)
        store.close()
    sys.exit(bool(failed))


def tried(store: Store, rng: random.Random, count: int) -> int:
    """How many queries raise."""
    failed, slowest, begin = 0, (0.0, ""), time.perf_counter()
    for _ in range(count):
        text, start = query(rng), time.perf_counter()
        try:
            search(store.connection(), "memory", text, rng.randint(1, 20))
        except Exception as error:
            failed += 1
            print(f"{text!r} raises {error!r}")
        slowest = max(slowest, (time.perf_counter() - start, text))
    took = time.perf_counter() - begin
    print(f"{count:,} queries in {took:.0f} s, {failed} raise")
    print(f"the slowest takes {slowest[0] * 1e3:.1f} ms: {slowest[1]!r}")
    return failed


def lost(store: Store, texts: dict[str, str]) -> int:
    """How many words are not found in a note that holds them, however they are composed."""
    words = (one for text in texts.values() for one in text.split())
    several = sorted({one for one in words if one.isalpha() and len(one) > 1})
    missed = 0
    for one in several:
        holders = {path for path, text in texts.items() if one in text}
        for spelt in {one, unicodedata.normalize("NFD", one)}:
            hits = search(store.connection(), "memory", spelt, 20).hits
            missed += not holders & {hit.path for hit in hits}
    print(f"{len(several):,} words, {missed} not found")
    return missed


if __name__ == "__main__":
    main()
