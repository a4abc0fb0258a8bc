"""How long `reverie mcp` takes to its first answer, over the import of the SDK itself.

    python tests/bench/mcp_start.py

Each is timed 11 times, in turn, up to the first line on standard output; more than 0.3 s between the medians exits 1.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 11
MOST = 0.3
SDK = "import mcp.types, mcp.server.lowlevel, mcp.server.stdio\nprint(flush=True)\ninput()"
CLIENT = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
HELLO = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": CLIENT})


def first_line(command: list[str], environ: dict[str, str]) -> float:
    start = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environ, text=True) as one:
        assert one.stdin is not None
        assert one.stdout is not None
        one.stdin.write(HELLO + "\n")
        one.stdin.flush()
        assert one.stdout.readline()
        return time.perf_counter() - start


def main() -> int:
    with tempfile.TemporaryDirectory() as place:
        (Path(place) / "AGENTS.md").write_text("A")
        environ = {**os.environ, "REVERIE_HOME": str(Path(place) / "home")}
        reverie = [str(Path(sys.executable).with_name("reverie")), "mcp", "--workspace", place]
        pairs = [(first_line([sys.executable, "-c", SDK], environ), first_line(reverie, environ)) for _ in range(RUNS)]
    sdk, ours = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"the SDK alone {sdk:.3f} s, reverie mcp {ours:.3f} s, {ours - sdk:.3f} s over it (at most {MOST})")
    return ours - sdk > MOST


if __name__ == "__main__":
    raise SystemExit(main())
