"""The archive keeps the contract of its slot."""

from __future__ import annotations

from pathlib import Path

from reverie.testing import ArchiveContract
from reverie_hookspecs import Indexer, Plugin
from reverie_plugins.fts5_archive import Fts5Archive


class TestFts5Archive(ArchiveContract):
    def archive(self, indexer: Indexer) -> Plugin:
        return Fts5Archive(indexer)


def test_a_hit_stands_under_the_headings_of_its_line(tmp_path: Path) -> None:
    memory = "# M\n\n## One\n\n- apples\n\n## Two\n\n### Three #\n\n- pears\n\n## Four\n- plums\n"
    _, agent, archive = TestFts5Archive().made(tmp_path, {"MEMORY.md": memory})
    for query, trail in {"apples": ("M", "One"), "pears": ("M", "Two", "Three"), "plums": ("M", "Four")}.items():
        assert archive.search(agent.corpus, query, 1, 40)[0].headings == trail
