"""The tools of an agent from the command line."""

from __future__ import annotations

import io
import json
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from reverie import selection

from .launcher import as_json, furnish, reverie
from .strangers import NAMES, install


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A workspace beside which the strangers are installed."""
    monkeypatch.syspath_prepend(install(tmp_path / "strangers"))
    ours, point = selection.installed(), EntryPoint("weather", "stranger_tools:Weather", "reverie")
    monkeypatch.setattr(selection, "installed", lambda: {**ours, "weather": (point,)})
    return furnish(tmp_path / "alfred")


def test_tools_are_listed_with_their_arguments(workspace: Path) -> None:
    told = reverie("tools", "--agent", workspace).output
    assert "weather\tname [maxDays] [unit]\treads\tThe weather of a city." in told
    assert "drown\t\tdestroys\tFlood the archive." in told and "opaque\t" not in told


def test_tools_are_listed_for_a_program(workspace: Path) -> None:
    told = {tool["name"]: tool for tool in as_json("tools", "--agent", workspace)}
    assert {*NAMES} <= {*told}
    assert told["weather"]["arguments"]["required"] == ["name"] and told["weather"]["openWorld"] is True


def test_without_tools_that_is_said(tmp_path: Path, sealed: Path) -> None:
    config = tmp_path / "config.json"
    agent = {"id": "alfred", "workspace": str(furnish(tmp_path / "alfred"))}
    config.write_text(json.dumps({"gateway": {}, "agents": [agent], "plugins": {"*": False}}))
    assert "no plugin offers this agent a tool" in reverie("--config", config, "tools").output


def test_a_call_prints_its_answer_as_json(workspace: Path) -> None:
    done = reverie("call", "weather", '{"name": "東京", "maxDays": 2.0}', "--agent", workspace)
    assert json.loads(done.stdout) == {"city": "東京", "days": ['雨 "wet"'] * 2, "unit": "mm"}
    assert "東京" in done.stdout and "noise in a call" in done.stderr
    assert reverie("call", "nap", "--agent", workspace).stdout == '"slept"\n'


def test_arguments_may_come_from_standard_input(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from click.testing import CliRunner

    from reverie.cli import main

    words = ["call", "weather", "-", "--agent", str(workspace)]
    done = CliRunner().invoke(main, words, input=io.BytesIO('{"name": "Tromsø"}'.encode()))
    assert "Tromsø" in done.stdout and done.exit_code == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("weather",), 1, "weather: name is missing, and a string is expected"),
        (("weather", '{"nam": "Oslo"}'), 1, 'did you mean "name"?'),
        (("weather", '{"name": "Oslo", "maxDays": true}'), 1, "maxDays is true, and a whole number from 1 to 7"),
        (("weather", "Oslo"), 2, "are no JSON"),
        (("weather", '["Oslo"]'), 2, "are no JSON object"),
        (("weather", "[" * 100_000), 2, "are no JSON"),
        (("wether",), 1, 'did you mean "weather"?'),
        (("refuse",), 1, "ask again tomorrow"),
        (("lose",), 1, "no station is called that"),
        (("puzzle",), 1, "'puzzle' answered what JSON cannot hold"),
        (("fail",), 1, "This is a fault of reverie or a plugin"),
        (("weather", "{}", "--conversation", "slack"), 1, "CHANNEL:ID"),
    ],
    ids=[
        "missing",
        "unknown",
        "boolean",
        "no JSON",
        "a list",
        "deep",
        "no tool",
        "refused",
        "not found",
        "no answer",
        "fault",
        "conversation",
    ],
)
def test_what_goes_wrong_is_a_sentence(workspace: Path, words: tuple[str, ...], code: int, told: str) -> None:
    result = reverie("call", *words, "--agent", workspace, code=code)
    assert told in result.stderr
