"""How long the launcher takes to start, as ratios to the bare imports it needs, in one run.

    python tests/bench/startup.py

Each command is timed 15 times, in turn with the others, and the medians are compared; a target that is missed exits 1.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 15
PYTHON = sys.executable
REVERIE = str(Path(PYTHON).with_name("reverie"))
CLICK = "import click"
NEEDS = "import click, attrs, cattrs, pluggy, importlib.metadata as m; m.entry_points(group='reverie')"


def workspace(place: Path) -> Path:
    """A workspace whose files hold 30 KB."""
    root = place / "workspace"
    root.mkdir()
    line = "- The kiln fires on Thursdays; nobody dries washing in the yard that day, `ask @home first`.\n"
    for name in ("AGENTS", "IDENTITY", "SOUL", "USER", "MEMORY", "HEARTBEAT"):
        (root / f"{name}.md").write_text(f"# {name}\n\n## Part\n\n" + line * (5000 // len(line)), "utf-8")
    return root


def timed(command: list[str], environ: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environ)
    return time.perf_counter() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        root = workspace(Path(place))
        environ = {**os.environ, "REVERIE_HOME": str(Path(place) / "home")}
        commands = {
            "import click": [PYTHON, "-c", CLICK],
            "bare imports": [PYTHON, "-c", NEEDS],
            "reverie --version": [REVERIE, "--version"],
            "reverie --help": [REVERIE, "--help"],
            "reverie compose (30 KB)": [REVERIE, "compose", str(root), "--stdout"],
        }
        times: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(RUNS):
            for name, command in commands.items():
                times[name].append(timed(command, environ))
    medians = {name: statistics.median(found) for name, found in times.items()}
    targets = {
        "reverie --version": ("import click", 1.6),
        "reverie --help": ("import click", 1.6),
        "reverie compose (30 KB)": ("bare imports", 1.7),
    }
    for name, median in medians.items():
        print(f"{name:26} {median * 1000:7.1f} ms")
    missed = False
    for name, (baseline, most) in targets.items():
        ratio = medians[name] / medians[baseline]
        missed |= ratio > most
        print(f"{name:26} {ratio:7.2f} times {baseline} (at most {most})")
    return missed


if __name__ == "__main__":
    raise SystemExit(main())
