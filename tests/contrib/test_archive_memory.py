"""reverie-archive-memory through its real entry point: a second archive keeps the same contract."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from reverie.config import Config
from reverie.kernel import Kernel
from reverie.testing import ArchiveContract
from reverie_hookspecs import Indexer, Plugin

try:
    version("reverie-archive-memory")
except PackageNotFoundError:
    pytest.skip("not installed: pip install -e contrib/reverie-archive-memory", allow_module_level=True)


class TestArchiveMemory(ArchiveContract):
    def archive(self, indexer: Indexer) -> Plugin:
        from reverie_archive_memory import ArchiveMemory

        return ArchiveMemory(indexer)


def test_it_takes_the_slot_and_the_night_goes_on_with_it(tmp_path: Path) -> None:
    root = tmp_path / "alfred"
    (root / "memory").mkdir(parents=True)
    (root / "AGENTS.md").write_text("A\n")
    (root / "MEMORY.md").write_text("- [x] oil the gate and the hinges, and the lock of the shed as well\n- tea\n" * 2)
    text = {
        "gateway": {},
        "plugins": {"fts5-archive": "archive-memory"},
        "agents": [{"id": "alfred", "workspace": str(root)}],
    }
    (tmp_path / "config.json").write_text(json.dumps(text))
    made = Kernel.load(Config.load(tmp_path / "config.json", tmp_path, {}))
    agent = made.agent()
    assert made.run(agent).outcome == "applied"
    assert made.archive is not None
    assert [hit.path for hit in made.archive.search(agent.corpus, "hinges")] == ["memory/archive/completed.md"] * 2
    assert not list(tmp_path.rglob("kb.sqlite"))
    assert set(made.tools(agent)) == {"memory_search", "memory_get"}
