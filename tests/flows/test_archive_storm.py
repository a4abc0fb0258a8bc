"""Readers, indexers, a writer and nights on one archive at once."""

from __future__ import annotations

from pathlib import Path

from .archive_storm import storm


def test_nobody_sees_half_a_file_or_a_locked_database_and_no_retrieval_is_lost(tmp_path: Path) -> None:
    wrong, turns = storm(tmp_path, 3.0)
    assert not wrong
    assert min(turns.values()) > 1
