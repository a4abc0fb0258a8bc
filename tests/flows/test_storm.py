"""Eight processes on one workspace: every line survives, and none stands twice."""

from __future__ import annotations

from pathlib import Path

from .nights import clean
from .storm import storm, survived

EDITS = 10


def test_every_line_survives_a_storm_once(tmp_path: Path) -> None:
    found, told = storm(tmp_path, EDITS)
    assert not survived(found, told, EDITS)
    assert clean(tmp_path / "alfred")
