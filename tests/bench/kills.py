"""Kill a night at random moments; prints how many were killed, and fails at the first broken promise.

python tests/bench/kills.py [--count 300] [--seed 0]
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.flows.nights import reference_of
from tests.flows.test_killed_night import duration, killed_at_random


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--count", type=int, default=300)
    words.add_argument("--seed", type=int, default=0)
    chosen = words.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        reference = reference_of(Path(folder, "reference"))
        lasts = duration(Path(folder, "timed"))
        dice = random.Random(chosen.seed)
        killed = 0
        for number in range(chosen.count):
            killed += killed_at_random(Path(folder, str(number)), reference, dice.random() * lasts * 1.1)
    print(f"{chosen.count} nights of {lasts * 1000:.0f} ms: {killed} killed, each file old or new, nothing lost")


if __name__ == "__main__":
    main()
