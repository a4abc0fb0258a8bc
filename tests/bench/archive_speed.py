"""How fast the archive indexes, as ratios to what SQLite and the file system take for the same, in one run.

    python tests/bench/archive_speed.py [1000 10000 100000] [--keep FOLDER]

Notes of about 2 KB are generated: sentences of made-up words of which few are common, with identifiers, dates and
headings between them. ``raw`` inserts the same chunks into one FTS5 table in one transaction, ``walk`` lists the folder
and looks at each file. A target that is missed is marked, and exits 1; a target for a size counts at that size.
"""

from __future__ import annotations

import argparse
import datetime as dt
import itertools
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reverie.workspace import Folder
from reverie_hookspecs import ArchiveSettings, Corpus, Indexing, Settings, StalenessSettings

SYLLABLES = [
    "ba",
    "ce",
    "di",
    "fo",
    "gu",
    "ka",
    "le",
    "mi",
    "no",
    "pu",
    "ra",
    "se",
    "ti",
    "vo",
    "zu",
    "shi",
    "tor",
    "ben",
    "lan",
    "mar",
    "dex",
    "fin",
    "gal",
    "hob",
    "jun",
]
LIMITS = {1_000: 0.0, 10_000: 3.0, 100_000: 2.0}
"""S1: how many times the raw insert a full index may take."""
MEMORY = {10_000: 120.0, 100_000: 250.0}
"""S4: megabytes over the interpreter."""


class Prose:
    """Words whose frequencies fall as those of a language do."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.words = sorted({"".join(dice.choices(SYLLABLES, k=dice.choice((1, 2, 2, 3)))) for _ in range(12_000)})
        dice.shuffle(self.words)
        self.weights = list(itertools.accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def sentence(self, length: int) -> str:
        words = self.dice.choices(self.words, cum_weights=self.weights, k=length)
        return " ".join(self.name() if self.dice.random() < 0.03 else word for word in words)

    def name(self) -> str:
        """An identifier, path, version or number; few of them are used often."""
        rank = int(200_000 ** self.dice.random())
        base = "".join(SYLLABLES[rank // 25**place % 25] for place in range(1 + (rank > 24) + (rank > 600)))
        shapes = (f"{base}_config", f"src/{base}/index.ts", f"{base}Id", f"#{rank % 9000}", f"v{rank % 9}.{rank % 30}")
        return self.dice.choice(shapes)

    def note(self, number: int) -> tuple[str, str]:
        day = (dt.date(2024, 1, 1) + dt.timedelta(days=number % 900)).isoformat()
        lines = [f"# {day} {self.sentence(4)}", ""]
        while sum(map(len, lines)) < 1900:
            if self.dice.random() < 0.12:
                lines += ["", f"## {self.sentence(3)}", ""]
            lines.append(f"- {self.sentence(self.dice.randint(6, 30))}")
        return f"memory/{number % 97:02d}/{day}-{number:06d}.md", "\n".join(lines) + "\n"


def generated(root: Path, count: int) -> int:
    """Notes below a root; how many bytes they have."""
    prose, size = Prose(random.Random(7)), 0
    for folder in range(97):
        (root / f"memory/{folder:02d}").mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path, text = prose.note(number)
        (root / path).write_text(text, "utf-8")
        size += len(text)
    return size


def corpus_of(root: Path, database: Path) -> Corpus:
    settings = Settings({ArchiveSettings: ArchiveSettings(), StalenessSettings: StalenessSettings()})
    return Corpus("bench", "memory", Folder.at(root), database, settings)


def indexed(corpus: Corpus) -> int:
    from reverie_plugins.fts5_archive.index import job

    return len(job(corpus).run(Indexing(corpus)).changed)


def emptied(database: Path) -> None:
    for ending in ("", "-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)


def walked(root: Path) -> int:
    count, waiting = 0, [str(root)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                elif entry.name.endswith(".md"):
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def inserted(rows: list[tuple[str]], place: Path) -> None:
    emptied(place)
    connection = sqlite3.connect(place, isolation_level=None)
    connection.execute("PRAGMA journal_mode = wal")
    connection.execute("PRAGMA synchronous = normal")
    connection.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
    connection.execute("BEGIN")
    connection.executemany("INSERT INTO f (text) VALUES (?)", rows)
    connection.execute("COMMIT")
    connection.close()


def timed(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def best(call: Callable[[], object], runs: int = 5) -> float:
    return min(timed(call) for _ in range(runs))


def peak(root: Path, database: Path) -> float:
    """Megabytes that a first run in a process of its own takes over what the imports take."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import archive_speed; archive_speed.grown(*sys.argv[2:])"
    command = [sys.executable, "-c", code, str(Path(__file__).parent), str(root), str(database)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def grown(root: str, database: str) -> None:
    import peewee  # noqa: F401

    import reverie_plugins.fts5_archive.index
    import reverie_plugins.fts5_archive.text  # noqa: F401

    before = high_water()
    indexed(corpus_of(Path(root), Path(database)))
    print((high_water() - before) / 1024)


def high_water() -> int:
    """Kilobytes this process has taken at most; Linux."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmHWM:")[2].split()[0])


def touched(root: Path, count: int) -> None:
    """Change every hundredth note."""
    for number, file in enumerate(sorted((root / "memory").rglob("*.md"))):
        if number % 100 == 0:
            file.write_text(file.read_text("utf-8") + f"- changed {time.time_ns()}\n", "utf-8")


def measured(place: Path, count: int) -> bool:
    """One size; whether every target was met."""
    root, database, raw = place / f"notes-{count}", place / f"kb-{count}.sqlite", place / "raw.sqlite"
    size = generated(root, count)
    corpus = corpus_of(root, database)
    time.sleep(0.05)  # what was written this moment would be looked into once more
    runs = 3 if count <= 10_000 else 1

    def full() -> None:
        emptied(database)
        assert indexed(corpus) == count

    first = best(full, runs)
    with sqlite3.connect(database) as connection:
        rows = connection.execute("SELECT text FROM kb_chunks").fetchall()
    connection.close()
    reference = best(lambda: inserted(rows, raw), runs)
    share = sum(Path(f"{database}{e}").stat().st_size for e in ("", "-wal") if Path(f"{database}{e}").exists()) / size
    idle, walk = best(lambda: indexed(corpus)), best(lambda: walked(root))
    changes = []
    for _ in range(3):
        touched(root, count)
        time.sleep(0.05)
        changes.append(timed(lambda: indexed(corpus)))
    memory = peak(root, place / "peak.sqlite")
    emptied(place / "peak.sqlite")
    print(f"{count} notes, {size / 1e6:.1f} MB: raw {reference:.2f} s, walk + stat {walk * 1000:.1f} ms")
    told = [
        told_as("S1 full index", f"{first:.2f} s", first / reference, LIMITS.get(count, 0)),
        told_as("S2 nothing changed", f"{idle * 1000:.1f} ms", idle / walk, 2.0),
        told_as("S3 1 % changed", f"{min(changes) * 1000:.1f} ms", min(changes) / idle, 3.0),
        told_as("S4 memory", f"{memory:.0f} MB", memory, MEMORY.get(count, 0)),
        told_as("S5 size of the index", f"{share * size / 1e6:.1f} MB", share, 2.5),
    ]
    return all(told)


def told_as(what: str, value: str, ratio: float, limit: float) -> bool:
    met = not limit or ratio <= limit
    bound = f"of at most {limit:g}" if limit else "(no target)"
    print(f"  {what:22} {value:>10}   {ratio:6.2f} {bound}{'' if met else '   MISSED'}")
    return met


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, default=[1_000, 10_000])
    parser.add_argument("--keep", type=Path, help="work here, and leave it")
    given = parser.parse_args()
    place = given.keep or Path(tempfile.mkdtemp())
    try:
        met = [measured(place, count) for count in given.sizes]
    finally:
        if not given.keep:
            shutil.rmtree(place)
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
