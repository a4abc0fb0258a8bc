"""The lock of a run: one at a time in a workspace, over all processes and threads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from reverie_hookspecs import Refused

from .disk import Disk
from .place import solid
from .reading import reason


@contextmanager
def lock(path: Path, wait: float = 0.0, disk: Disk | None = None) -> Iterator[None]:
    """Hold the lock file at ``path``, made with its folder if missing; its text names the process and the time.

    Refused if somebody else has it for ``wait`` seconds. It goes with the process, however that ends.
    """
    disk = disk or Disk()
    with ExitStack() as stack:
        try:
            solid(disk, str(path.parent))
            fd = stack.enter_context(disk.hold(str(path), wait))
        except OSError as error:
            raise Refused(f"the lock {path} cannot be had: {reason(error)}; see to that file first") from error
        if fd is None:
            raise Refused(f"another run is under way ({holder(path)}); wait for it to end, or end it")
        _mark(fd, f"process {os.getpid()} since {time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime())}\n")
        stack.callback(_mark, fd, "")
        yield


def holder(path: Path) -> str:
    """Who holds the lock, as it says of itself."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()[:100] or "it began this moment"
    except OSError:
        return "it does not say which"


def _mark(fd: int, text: str) -> None:
    """Let the lock file hold a text; a full disk is no reason not to run."""
    with suppress(OSError):
        os.ftruncate(fd, 0)
        os.pwrite(fd, text.encode(), 0)
