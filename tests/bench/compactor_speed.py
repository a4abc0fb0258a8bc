"""How long the compactor's plan takes, as a ratio to reading, splitting and writing the same bytes; and its memory.

    python tests/bench/compactor_speed.py

Each size is timed in one run, the plan and the bare work in turn, and the medians are compared. Real memory files are
read from the folder that REVERIE_INPUTS names, by default ``../shared/inputs`` beside the checkout; without it made-up
ones stand in. A target that is missed exits 1.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

from reverie_plugins.compactor.plan import plan

ROOT = Path(__file__).parents[2]
INPUTS = Path(os.environ.get("REVERIE_INPUTS") or ROOT.parent / "shared" / "inputs")
RUNS = 5
RATIO, MEMORY, LINEAR = 25, 40, 1.6
DAY = "2026-03-04"
MADE_UP = "# Log\n\n## May\n- Rent the van — DONE\n- tape\n  in blue\n\n```\n# no\n```\n\n### ✅ Trip\ntext\n\nProse.\n"
MANY = 2_500_000


def decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def real_text() -> str:
    """All real memory files in a row, or made-up ones."""
    files = sorted((INPUTS / "memory").glob("*.md")) if INPUTS.is_dir() else []
    return "".join(decoded(path.read_bytes()) for path in files) or MADE_UP * 2000


def bare_work(path: Path) -> None:
    """Read, split into lines, write again."""
    lines = decoded(path.read_bytes()).splitlines(keepends=True)
    path.with_suffix(".copy").write_bytes("".join(lines).encode("utf-8", "surrogateescape"))


def timed(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def best(text: str) -> float:
    """The least seconds of processor time of three plans: a busy machine must not make a line look like a curve."""
    return min(timed(lambda: plan(text, DAY), time.process_time) for _ in range(3))


def ratio(text: str, place: Path) -> tuple[float, float]:
    """Seconds of the plan, and how often the bare work would fit in."""
    path = place / "MEMORY.md"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    pairs = [(timed(lambda: plan(text, DAY)), timed(lambda: bare_work(path))) for _ in range(RUNS)]
    taken, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    return taken, taken / bare


def peak(text: str) -> float:
    """Peak memory of the plan and its archived blocks, in sizes of the file."""
    size = len(text.encode("utf-8", "surrogateescape"))
    tracemalloc.start()
    kept = [finished.archived for finished in plan(text, DAY).finished]
    highest = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del kept
    return highest / size


def main() -> int:
    plan(MADE_UP, DAY)
    missed = 0
    real = real_text()
    print(f"{'text':30} {'seconds':>8} {'ratio':>7} {'memory':>7}")
    with tempfile.TemporaryDirectory() as place:
        for million in (1, 10):
            text = (real * (million * 1_000_000 // len(real) + 1))[: million * 1_000_000]
            taken, times = ratio(text, Path(place))
            most = peak(text)
            missed += times > RATIO or most > MEMORY
            print(f"{f'real files, {million} million':30} {taken:8.3f} {times:7.1f} {most:7.1f}")
    for line in ("- \n", "-a\n", "- x\n"):
        half, full = (line * (MANY // part) + "- z DONE\n" for part in (2, 1))
        first, second = best(half), best(full)
        most = peak(half)
        growth = second / (2 * first)
        missed += growth > LINEAR or most > MEMORY
        print(f"{f'{MANY} times {line!r}':30} {second:8.3f} {f'x{2 * growth:.2f}':>7} {most:7.1f}")
    print(
        f"ratio: to reading, splitting and writing, at most {RATIO}; x: twice the text against half of it; memory: in"
    )
    print(f"sizes of the file, at most {MEMORY}. targets: " + ("MISSED" if missed else "held"))
    return missed


if __name__ == "__main__":
    sys.exit(main())
