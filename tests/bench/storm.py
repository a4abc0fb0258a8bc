"""A storm of eight processes on one workspace; prints what was written and whether every line survived once.

python tests/bench/storm.py [--edits 50] [--times 1]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.flows.storm import storm, survived


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--edits", type=int, default=50)
    words.add_argument("--times", type=int, default=1)
    chosen = words.parse_args()
    wrong: list[str] = []
    for _ in range(chosen.times):
        began = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found, told = storm(Path(folder), chosen.edits)
            wrong += survived(found, told, chosen.edits)
            log = Path(folder, "agents", "alfred", "runs.jsonl").read_text().splitlines()
        ends = Counter(line.split('"outcome": "')[1].split('"')[0] for line in log)
        print(f"{sum(map(len, told.values()))} lines in {time.perf_counter() - began:.1f} s; runs: {dict(ends)}")
    print("\n".join(wrong) or "every line stands, once")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
