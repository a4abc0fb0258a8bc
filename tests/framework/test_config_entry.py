"""What an entry, the environment and an existing file hold; where all of it lies, and what reading costs."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from reverie.config import AgentEntry, Config, Remark, home, locate, template
from reverie_hookspecs import (
    ConfigError,
    DreamSettings,
    IsolationTools,
    MemorySettings,
    SharedSettings,
    SharedStalenessSettings,
    UnknownAgent,
)


def put(path: str, value: Any) -> dict[str, Any]:
    """A tree that holds one value at a dotted path."""
    first, _, rest = path.partition(".")
    return {first: put(rest, value) if rest else value}


def made(tmp_path: Path, gateway: Any = None, agent: Any = None, environ: Any = None, **rest: Any) -> Config:
    """The configuration of two agents, the first with some settings of its own."""
    tree = {"gateway": gateway or {}, "agents": [{"id": "alfred"} | (agent or {}), {"id": "berta"}], **rest}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(tree))
    return Config.load(file, tmp_path / "home", environ or {})


def told(config: Config) -> list[str]:
    return [str(remark) for remark in config.remarks]


# Environment


def test_a_variable_is_replaced_in_our_sections_and_nowhere_else(tmp_path: Path) -> None:
    gateway = {
        "timezone": "${ZONE}",
        "dreaming": {"reviewModel": "claude-${KIND}-${N}"},
        "channels": {"token": "${TOKEN}"},
        "models": ["${TOKEN}"],
    }
    agent = {"memory": {"episodicArchiveDir": "memory/${KIND}"}, "workspace": "${ROOM}/w", "slack": "${TOKEN}"}
    environ = {"ZONE": "Asia/Tokyo", "KIND": "x", "N": "4", "ROOM": "/srv"}
    config = made(tmp_path, gateway, agent, environ, plugins={"model": "${KIND}"}, other={"a": "${TOKEN}"})
    settings = config.settings("alfred")
    assert settings[DreamSettings].review_model == "claude-x-4"
    assert settings[DreamSettings].dream_timezone == "Asia/Tokyo"
    assert settings[MemorySettings].episodic_archive_dir == "memory/x"
    assert config.agents[0].workspace == Path("/srv/w")
    assert config.agents[0].raw["slack"] == "${TOKEN}"
    assert config.gateway["channels"] == {"token": "${TOKEN}"}
    assert config.gateway["models"] == ["${TOKEN}"]
    assert config.plugins == {"model": "x"}
    assert told(config) == []


@pytest.mark.parametrize("words", ["$HOME", "${}", "${a-b}", "${ HOME }", "{HOME}", "$${", "${1A}", "${HOME"])
def test_what_is_no_variable_stays(tmp_path: Path, words: str) -> None:
    assert made(tmp_path, plugins={"model": words}, environ={"HOME": "/h"}).plugins == {"model": words}


def test_a_value_is_not_expanded_twice(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.reviewModel", "${A}"), environ={"A": "${B}", "B": "x"})
    assert config.settings("alfred")[DreamSettings].review_model == "${B}"


def test_an_empty_variable_is_set(tmp_path: Path) -> None:
    config = made(tmp_path, put("knowledge.shared.root", "${A}"), environ={"A": ""})
    assert config.settings("alfred")[SharedSettings].root == ""


def test_a_number_from_the_environment_is_a_string_and_its_value_is_not_told(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.dreamHour", "${A}"), put("memory.zz", "${A}"), {"A": "hunter2"})
    assert told(config)[0].startswith('gateway.dreaming.dreamHour: "${A}" is not a whole number')
    assert "hunter2" not in "".join(told(config))


# Agents


def test_a_workspace_is_named_from_the_root_the_home_directory_or_the_folder_of_the_file(tmp_path: Path) -> None:
    named = {"a": None, "b": "/srv/b", "c": "~/c", "d": "rooms/d", "e": "~", "f": "../f"}
    entries = [{"id": name, "workspace": place} for name, place in named.items()]
    config = made(tmp_path, agents=entries, environ={"HOME": "/home/x"})
    assert {entry.id: entry.workspace for entry in config.agents} == {
        "a": tmp_path / "home" / "agents" / "a" / "workspace",
        "b": Path("/srv/b"),
        "c": Path("/home/x/c"),
        "d": tmp_path / "rooms" / "d",
        "e": Path("/home/x"),
        "f": tmp_path / ".." / "f",
    }


def test_an_entry_keeps_what_others_wrote_into_it(tmp_path: Path) -> None:
    entry = {"id": "a", "claude": {"extraFlags": ["--verbose"]}, "telegram": {"token": "t"}}
    config = made(tmp_path, agents=[entry])
    assert config.agents == (AgentEntry("a", tmp_path / "home/agents/a/workspace", entry),)


@pytest.mark.parametrize(("name", "hint"), [("alfed", 'did you mean "alfred"'), ("zzz", "there are alfred, berta")])
def test_an_unknown_agent_is_named_with_the_nearest_known_one(tmp_path: Path, name: str, hint: str) -> None:
    config = made(tmp_path)
    for ask in (config.settings, config.effective):
        with pytest.raises(UnknownAgent, match=f'"{name}".*{hint}'):
            ask(name)


def test_asking_for_a_skipped_agent_says_why_it_is_skipped(tmp_path: Path) -> None:
    config = made(tmp_path, agents=[{"id": "a", "isolateMemory": 1}, {"id": "b"}])
    with pytest.raises(UnknownAgent, match="isolateMemory: 1 is not true or false"):
        config.settings("a")


def test_tools_of_an_isolated_agent_are_a_tuple_of_names(tmp_path: Path) -> None:
    config = made(tmp_path, {}, {"isolation": {"tools": ["clock", "weather"]}})
    assert config.settings("alfred")[IsolationTools].tools == ("clock", "weather")
    assert told(config) == []


def test_recording_retrievals_of_a_vault_is_each_agents_own(tmp_path: Path) -> None:
    gateway = put("knowledge.shared.staleness", {"staleTtlDays": 5})
    config = made(tmp_path, gateway, put("knowledge.shared.staleness.recordRetrievals", False))
    own = config.settings("alfred")[SharedStalenessSettings]
    assert (own.stale_ttl_days, own.record_retrievals) == (5, False)
    assert config.settings("berta")[SharedStalenessSettings].record_retrievals is True
    assert told(config) == []


# What exists already

EXISTING = """{
  "configVersion": "1.0.26",
  "gateway": {
    "bind": "127.0.0.1",
    "port": 10850,
    "timezone": "Asia/Bangkok",
    "api": {"keys": [{"key": "${GATEWAY_KEY}", "agents": ["*"], "admin": true}]},
    "models": [{"id": "sonnet", "contextWindow": 200000}],
    "channels": {"telegram": {"enabled": true, "token": "${TELEGRAM_TOKEN}", "mode": "polling"}},
    "apps": {"shop": {"path": "~/apps/shop", "enabled": true}},
    "orchestration": {"enabled": true, "workers": 3, "limits": {"cpu": 1e3, "tail": [1, 2.50, -0]}},
    "cron": [],
    "memory": {"memoryBudgetChars": 9000, "writeRouting": true},
    "dreaming": {"mode": "propose", "dreamTimezone": "Asia/Tokyo", "staleness": {"staleTtlDays": 30}},
    "knowledge": {"archive": {"tokenizer": "trigram"}, "shared": {"root": "~/.claude-gateway/shared/kb"}},
    "sessionCompaction": {"enabled": true},
    "skillLearning": {"mode": "auto", "notify": false}
  },
  "agents": [
    {
      "id": "alfred",
      "name": "Alfred",
      "description": "สวัสดี",
      "claude": {"model": "opus", "extraFlags": ["--append-system-prompt-file", "x.md"]},
      "telegram": {"token": "${ALFRED_TOKEN}", "allowFrom": [1, 2]},
      "heartbeat": {"every": "30m", "timezone": "UTC"},
      "timezone": "Europe/Berlin",
      "dreaming": {"dreamHour": 5}
    },
    {"id": "shop-bot", "app": "shop", "isolateMemory": true, "disableArchive": true}
  ],
  "apps": {"shop": {"version": "1.2.3"}}
}
"""


def test_an_existing_configuration_is_read_unchanged_and_without_a_word(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(EXISTING, "utf-8")
    config = Config.load(file, tmp_path, {})
    assert config.remarks == ()
    assert config.skipped == ()
    assert config.version == (1, 0, 26)
    assert [entry.id for entry in config.agents] == ["alfred", "shop-bot"]
    assert config.gateway == json.loads(EXISTING)["gateway"]
    assert [entry.raw for entry in config.agents] == json.loads(EXISTING)["agents"]
    assert config.settings("alfred")[DreamSettings].mode == "propose"
    assert config.settings("alfred")[DreamSettings].dream_hour == 5
    assert file.read_text("utf-8") == EXISTING
    assert [each.name for each in tmp_path.iterdir()] == ["config.json"]


# Where it lies


def test_the_home_is_named_by_the_environment_or_the_usual_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert home({"REVERIE_HOME": "/srv/r"}) == Path("/srv/r")
    assert home({"REVERIE_HOME": "~/r", "HOME": "/h"}) == Path("/h/r")
    assert home({"REVERIE_HOME": "r"}) == tmp_path / "r"
    for environ in ({"HOME": "/h"}, {"HOME": "/h", "REVERIE_HOME": ""}):
        assert home(environ) == Path("/h/.claude-gateway")
    assert home({}).name == ".claude-gateway"


def test_the_file_is_named_by_the_option_then_by_the_environment_then_by_the_home(tmp_path: Path) -> None:
    for name in ("option.json", "environ.json", "config.json"):
        (tmp_path / name).write_text("{}")
    environ = {"GATEWAY_CONFIG": str(tmp_path / "environ.json")}
    assert locate(str(tmp_path / "option.json"), environ, tmp_path) == tmp_path / "option.json"
    assert locate(None, environ, tmp_path) == tmp_path / "environ.json"
    assert locate(None, {"GATEWAY_CONFIG": ""}, tmp_path) == tmp_path / "config.json"
    assert locate("~/option.json", {"HOME": str(tmp_path)}, tmp_path) == tmp_path / "option.json"
    assert locate(None, {}, tmp_path / "nowhere") is None


def test_a_named_file_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    for option, environ, word in (("x.json", {}, "--config"), ("", {}, "--config"), (None, "x.json", "GATEWAY_CONFIG")):
        with pytest.raises(ConfigError, match=f"{word} names .* does not exist"):
            locate(option, {"GATEWAY_CONFIG": environ} if isinstance(environ, str) else environ, tmp_path)


def test_a_broken_link_is_a_file_that_cannot_be_read_and_not_none(tmp_path: Path) -> None:
    (tmp_path / "config.json").symlink_to(tmp_path / "gone")
    assert locate(None, {}, tmp_path) == tmp_path / "config.json"


# Cost


def test_loading_and_reviewing_three_agents_takes_less_than_five_milliseconds(tmp_path: Path) -> None:
    own = {"dreaming": {"dreamHour": 4, "staleness": {"enabled": False}}, "memory": {"memoryBudgetChars": 9000}}
    tree = template() | {"agents": [{"id": name} | own for name in "abc"]}
    file = tmp_path / "config.json"
    file.write_text(json.dumps(tree, indent=2))

    def once() -> float:
        start = time.perf_counter()
        config = Config.load(file, tmp_path, {})
        assert config.remarks == ()
        assert config.settings("a")[MemorySettings].memory_budget_chars == 9000
        return time.perf_counter() - start

    assert min(once() for _ in range(20)) < 0.005


def test_the_hot_path_imports_no_more_than_it_needs(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(json.dumps(template() | {"agents": [{"id": "a"}]}))
    program = (
        "import sys; from pathlib import Path; from reverie.config import Config, home, locate;"
        "from reverie_hookspecs import MemorySettings;"
        f"c = Config.load(Path({str(file)!r}), home({{}}), {{}}); c.remarks; c.settings('a')[MemorySettings];"
        "heavy = 'cattrs zoneinfo difflib decimal tempfile importlib.resources logging.handlers dataclasses'.split();"
        "print([name for name in heavy if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_remark_is_one_printable_sentence() -> None:
    assert str(Remark("gateway.memory.x", "unknown key, not used")) == "gateway.memory.x: unknown key, not used"
