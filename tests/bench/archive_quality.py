"""How well the archive finds, against the reference systems of the same run: Q1 to Q3 and Q5 to Q8.

    python tests/bench/archive_quality.py                          # the tuning split of locomo, and the other sets
    python tests/bench/archive_quality.py --split report           # the split that is reported and never tuned to
    python tests/bench/archive_quality.py --only Q1,Q5

The harness and its data are those of the folder that REVERIE_BENCH names, by default ``../shared/bench`` beside the
checkout; nothing of it is copied. It wants numpy, and PyStemmer for its own systems. A target that is missed exits 1.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from reverie.testing.world import agent_of
from reverie_hookspecs import Indexing
from reverie_plugins.fts5_archive.index import run as index
from reverie_plugins.fts5_archive.search import search
from reverie_plugins.fts5_archive.store import Store

ROOT = Path(__file__).parents[2]
BENCH = Path(os.environ.get("REVERIE_BENCH") or ROOT.parent / "shared" / "bench")
sys.path.insert(0, str(BENCH))

import quality  # noqa: E402
from adapters import base  # noqa: E402

SPLITS: Final = {"dev": {"26", "30", "41", "42", "43"}, "report": {"44", "47", "48", "49", "50"}}
OURS, WIDE, HEAD, PLAIN = "reverie-s120", "reverie-s400", "fts5-porter-head", "fts5-or-nostop"
SCRIPTS: Final = {"xquad_zh": 0.985, "jsquad": 0.955, "xquad_th": 0.985}
KEYWORDS: Final = {2: 0.82, 3: 0.86, 4: 0.87}


class Reverie(base.Adapter):
    """The archive in process: the notes are linked into a workspace and indexed as an agent's."""

    def __init__(self, size: int) -> None:
        self.size = size

    def index(self, folder: Path) -> None:
        self.room = tempfile.TemporaryDirectory()
        notes = {f"memory/{p.relative_to(folder)}": p.read_bytes() for p in sorted(folder.rglob("*.md"))}
        agent = agent_of(Path(self.room.name), notes)
        assert not index(Indexing(agent.corpus)).reports
        self.store = Store(agent.corpus.database)

    def search(self, query: str, k: int) -> list[base.Hit]:
        found = search(self.store.connection(), "memory", query, min(k, 20), self.size)
        return [base.Hit(h.path.removeprefix("memory/"), h.start_line, h.end_line, h.score) for h in found.hits]

    def close(self) -> None:
        self.store.close()
        self.room.cleanup()


for tokens in (120, 200, 400):
    base.register(f"reverie-s{tokens}", lambda size=tokens: Reverie(size))

Check = tuple[str, str, float, float]
"""A target: its name, what is compared, what was reached, and the bar."""


class Bench:
    """The results of one run; each system is asked once for each set."""

    def __init__(self, split: str) -> None:
        self.split, self.results = split, {}

    def of(self, system: str, dataset: str, keywords: int = 0) -> dict[str, Any]:
        key = (system, dataset, keywords)
        if key not in self.results:
            with only(dataset, self.split):
                self.results[key] = quality.run(system, dataset, 0, keywords)
            told = quality.summarise(self.results[key])["groups"]["all"]
            figures = " ".join(f"{name} {told[name]:.3f}" for name in ("recall@1", *NAMES))
            print(f"  {dataset}{f'/kw{keywords}' if keywords else '':4} {system:18} {figures}", flush=True)
        return self.results[key]

    def mean(self, metric: str, *which: Any) -> float:
        return float(quality.summarise(self.of(*which))["groups"]["all"][metric])

    def low(self, metric: str, one: tuple[Any, ...], other: tuple[Any, ...]) -> float:
        return float(quality.paired(self.of(*one), self.of(*other), metric)[1])


NAMES: Final = ("recall@10", "mrr", "rtok@500", "rtok@1000")


@contextmanager
def only(dataset: str, split: str) -> Iterable[None]:
    """Have the harness see the conversations of one split alone."""
    load = quality.load_queries
    if dataset == "locomo" and split in SPLITS:
        names = SPLITS[split]
        quality.load_queries = lambda ds: {k: v for k, v in load(ds).items() if k.split("-")[-1] in names}
    try:
        yield
    finally:
        quality.load_queries = load


def q1(bench: Bench) -> Iterable[Check]:
    ours, ref = bench.mean("rtok@1000", OURS, "locomo"), bench.mean("rtok@1000", HEAD, "locomo")
    yield "Q1", "locomo rtok@1000 / porter-head", ours / ref, 1.07
    yield "Q1", "locomo rtok@1000", ours, 0.815


def q2(bench: Bench) -> Iterable[Check]:
    ours, ref = bench.mean("rtok@500", OURS, "locomo"), bench.mean("rtok@500", HEAD, "locomo")
    yield "Q2", "locomo rtok@500 / porter-head", ours / ref, 1.14


def q3(bench: Bench) -> Iterable[Check]:
    yield "Q3", "locomo recall@10, 400 tokens", bench.mean("recall@10", WIDE, "locomo"), 0.88
    yield "Q3", "locomo MRR, 400 tokens", bench.mean("mrr", WIDE, "locomo"), 0.78
    yield "Q3", "locomo recall@10, less porter-head", bench.low("recall@10", (WIDE, "locomo"), (HEAD, "locomo")), -0.005


def q5(bench: Bench) -> Iterable[Check]:
    groups = quality.summarise(bench.of(OURS, "devnotes"))["groups"]
    yield "Q5", "devnotes recall@10", groups["all"]["recall@10"], 0.98
    kind, found = min(groups.items(), key=lambda group: group[1]["recall@10"])
    yield "Q5", f"devnotes recall@10, {kind}", found["recall@10"], 0.93


def q6(bench: Bench) -> Iterable[Check]:
    for dataset, bar in SCRIPTS.items():
        yield "Q6", f"{dataset} recall@10", bench.mean("recall@10", OURS, dataset), bar


def q7(bench: Bench) -> Iterable[Check]:
    for count, bar in KEYWORDS.items():
        yield "Q7", f"locomo recall@10, {count} words", bench.mean("recall@10", WIDE, "locomo", count), bar


def q8(bench: Bench) -> Iterable[Check]:
    sets = [(name, 0) for name in ("locomo", "devnotes", *SCRIPTS, "madial_en")]
    for dataset, count in (*sets, ("locomo", 2), ("locomo", 4)):
        for metric, ours in (("rtok@1000", OURS), ("recall@10", WIDE)):
            low = bench.low(metric, (ours, dataset, count), (PLAIN, dataset, count))
            yield "Q8", f"{dataset}/{count} {metric}, less or-nostop", low, -0.01


TARGETS: Final[dict[str, Callable[[Bench], Iterable[Check]]]] = {
    f.__name__.upper(): f for f in (q1, q2, q3, q5, q6, q7, q8)
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=(*SPLITS, "all"), default="dev")
    parser.add_argument("--only", default=",".join(TARGETS), help="targets, with commas between")
    options = parser.parse_args()
    bench = Bench(options.split)
    checks = [check for name in options.only.split(",") for check in TARGETS[name](bench)]
    missed = 0
    for name, what, reached, bar in checks:
        missed += reached < bar
        print(f"{'ok    ' if reached >= bar else 'MISSED'} {name} {what:44} {reached:7.3f}  (bar {bar})")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
