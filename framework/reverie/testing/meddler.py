"""Files between whose reads and writes somebody else writes, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reverie_hookspecs import Committed, Decide, Edit, Files, Run, Snapshot


class Meddled:
    """Stands before an agent's files; after the first look at ``path``, ``meddle`` is called."""

    def __init__(self, files: Files, path: str, meddle: Callable[[], None]) -> None:
        self._files, self._path = files, path
        self._meddle: Callable[[], None] | None = meddle

    def read(self, path: str) -> Snapshot:
        found = self._files.read(path)
        self._looked(path)
        return found

    def commit(self, path: str, decide: Decide, run: Run) -> Committed:
        def disturbed(snapshot: Snapshot) -> Edit | None:
            edit = decide(snapshot)
            self._looked(path)
            return edit

        return self._files.commit(path, disturbed, run)

    def _looked(self, path: str) -> None:
        if path == self._path and self._meddle:
            meddle, self._meddle = self._meddle, None
            meddle()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)
