"""A storm of eight processes on one archive; prints how often each had its turn, and what went wrong.

python tests/bench/archive_storm.py [--seconds 60]
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.flows.archive_storm import storm


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--seconds", type=float, default=60.0)
    with tempfile.TemporaryDirectory() as folder:
        wrong, turns = storm(Path(folder), words.parse_args().seconds)
    print(turns)
    print("\n".join(wrong[:20]) or "nothing went wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
