"""The lock of a run: one at a time in a workspace, over all processes and threads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reverie_hookspecs import Refused

from .disk import Disk


@contextmanager
def lock(path: Path, wait: float = 0.0, disk: Disk | None = None) -> Iterator[None]:
    """Hold the lock file at ``path``, made with its folder if missing; its text names the process and the time.

    Refused if somebody else has it for ``wait`` seconds. It goes with the process, however that ends.
    """
    disk = disk or Disk()
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
    with disk.hold(str(path), wait) as fd:
        if fd is None:
            raise Refused(f"another run is under way ({holder(path)}); wait for it to end, or end it")
        _mark(fd, f"process {os.getpid()} since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n")
        try:
            yield
        finally:
            os.ftruncate(fd, 0)


def holder(path: Path) -> str:
    """Who holds the lock, as it says of itself."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:100] or "it began this moment"
    except OSError:
        return "it does not say which"


def _mark(fd: int, text: str) -> None:
    os.ftruncate(fd, 0)
    os.pwrite(fd, text.encode(), 0)
