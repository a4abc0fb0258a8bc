"""reverie-clock through its real entry points."""

from __future__ import annotations

import json
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from click.testing import CliRunner

from reverie.cli import main
from reverie.config import Config
from reverie.kernel import Kernel

try:
    version("reverie-clock")
except PackageNotFoundError:
    pytest.skip("reverie-clock is not installed: pip install -e contrib/reverie-clock", allow_module_level=True)

DONE = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"


def deployment(tmp_path: Path, **plugins: bool | str) -> Kernel:
    root = tmp_path / "alfred"
    root.mkdir()
    (root / "AGENTS.md").write_text("A\n")
    (root / "MEMORY.md").write_text(DONE)
    text = {
        "gateway": {"clock": {"label": "Bergen time"}},
        "plugins": plugins,
        "agents": [{"id": "alfred", "workspace": str(root)}],
    }
    (tmp_path / "config.json").write_text(json.dumps(text))
    return Kernel.load(Config.load(tmp_path / "config.json", tmp_path, {}))


def test_its_section_stands_between_identity_and_soul_with_its_setting(tmp_path: Path) -> None:
    made = deployment(tmp_path)
    text = made.compose(made.agent())
    assert (
        text.index("--- IDENTITY ---") < text.index("--- CLOCK ---\nTimes are Bergen time") < text.index("--- SOUL ---")
    )
    assert not made.config.remarks


def test_its_stage_runs_after_the_compactor_and_notes_the_time(tmp_path: Path) -> None:
    made = deployment(tmp_path)
    stages = [stage.name for stage in made.plan(made.agent())]
    assert stages.index("compactor") < stages.index("clock") < stages.index("review")
    dream = made.run(made.agent())
    assert dream.outcome == "applied" and any(note.stage == "clock" and "UTC" in note.text for note in dream.notes)


def test_the_sundial_waits_until_one_line_of_configuration_puts_it_into_the_slot(tmp_path: Path) -> None:
    made = deployment(tmp_path, compactor="sundial")
    rows = {row.name: row for row in made.rows}
    assert rows["sundial"].state == "active" and rows["compactor"].state == "off"
    dream = made.run(made.agent())
    assert dream.outcome == "skipped-empty" and (tmp_path / "alfred" / "MEMORY.md").read_text() == DONE


def test_installing_the_sundial_changes_nothing(tmp_path: Path) -> None:
    made = deployment(tmp_path)
    assert {row.name: row.state for row in made.rows}["sundial"] == "waiting"
    assert made.run(made.agent()).outcome == "applied"


def test_switched_off_nothing_of_it_is_active(tmp_path: Path) -> None:
    made = deployment(tmp_path, clock=False)
    assert "CLOCK" not in made.compose(made.agent())
    assert "clock" not in [stage.name for stage in made.plan(made.agent())]


def test_its_command_is_found_by_the_launcher() -> None:
    result = CliRunner().invoke(main, ["clock"])
    assert result.exit_code == 0 and result.output.endswith("UTC\n")
    assert "Did you mean 'clock'" in CliRunner().invoke(main, ["clok"]).output
