"""Where a setting comes from: the agent, the gateway, the default; and what stays as it is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import attrs
import pytest

from reverie.config import AgentEntry, Config, Effective, Remark, Skipped, home, locate, template
from reverie.config.outline import Key, outline_of
from reverie_hookspecs import (
    DOCUMENTED,
    ArchiveSettings,
    Block,
    ConfigError,
    DreamSettings,
    IsolationSettings,
    IsolationTools,
    MemorySettings,
    PluginError,
    ReflectionSettings,
    SessionCompactionSettings,
    SharedSettings,
    SharedStalenessSettings,
    SkillLearningSettings,
    UnknownAgent,
    integer,
    text,
    zone,
)
from reverie_hookspecs.settings import READER

HAIKU = "claude-haiku-4-5-20251001"
STALENESS = {
    "enabled": True,
    "staleTtlDays": 90,
    "keepImportance": 7,
    "minRetrievalKeep": 1,
    "supersession": True,
    "recordRetrievals": True,
    "maxInvalidationsPerRun": 50,
}
TABLE: dict[str, dict[str, Any]] = {
    "": {"timezone": "UTC"},
    "memory": {
        "memoryBudgetChars": 8000,
        "userBudgetChars": 3000,
        "overBudget": "warn",
        "writeRouting": False,
        "episodicArchiveDir": "memory",
    },
    "dreaming": {
        "enabled": True,
        "mode": "auto",
        "dreamHour": 3,
        "dreamMinute": 0,
        "dreamTimezone": "UTC",
        "quietMinutes": 30,
        "lookbackDays": 3,
        "maxChangesPerRun": 3,
        "reviewModel": HAIKU,
        "promotionThreshold": 0.6,
        "minRecallCount": 2,
        "autoRouteOut": True,
        "maxCostUsd": 1.0,
        "staggerWindowMinutes": 30,
    },
    "dreaming.staleness": STALENESS,
    "knowledge.archive": {"enabled": True, "tokenizer": "unicode61", "chunkTokens": 400, "chunkOverlap": 80},
    "knowledge.shared": {"enabled": True, "project": "global", "root": "", "mode": "auto", "graph": False},
    "knowledge.shared.staleness": STALENESS,
    "knowledge.reflection": {
        "enabled": True,
        "dayOfWeek": 0,
        "hour": 4,
        "minute": 0,
        "timezone": "UTC",
        "maxClustersPerRun": 5,
        "reviewModel": HAIKU,
    },
    "sessionCompaction": {"enabled": False, "thresholdPercent": 50, "quietMinutes": 60, "maxSessionsPerRun": 5},
    "skillLearning": {
        "enabled": True,
        "mode": "auto",
        "minToolCalls": 5,
        "reviewModel": HAIKU,
        "maxAutoSkills": 20,
        "maxAgeDays": 30,
        "minUsesToKeep": 2,
        "maxReviewsPerDay": 20,
        "pruneHour": 3,
        "pruneTimezone": "UTC",
        "notify": True,
    },
}
ENTRY = {"isolateMemory": False, "disableArchive": False, "isolation.tools": ()}
DEFAULTS = {
    **{f"{path}.{name}" if path else name: value for path, keys in TABLE.items() for name, value in keys.items()},
    **ENTRY,
}
GATEWAY_ONLY = {
    *(f"knowledge.reflection.{name}" for name in TABLE["knowledge.reflection"]),
    *(f"knowledge.shared.staleness.{name}" for name in STALENESS if name != "recordRetrievals"),
    "dreaming.maxCostUsd",
    "timezone",
}
KEYS = {key.dotted: key for key in outline_of(DOCUMENTED)}


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


# The table


def test_every_documented_key_has_its_documented_default_and_no_other_key_exists(tmp_path: Path) -> None:
    effective = made(tmp_path).effective("alfred")
    assert {each.path: each.value for each in effective} == DEFAULTS
    assert len(effective) == len(DEFAULTS)
    assert {(each.origin, each.clamped) for each in effective} == {("default", False)}


def test_every_default_has_the_type_of_its_key(tmp_path: Path) -> None:
    for each in made(tmp_path).effective("alfred"):
        assert type(each.value) is type(DEFAULTS[each.path]), each.path


def test_every_documented_key_has_a_reader() -> None:
    assert all(READER in field.metadata for block in DOCUMENTED for field in attrs.fields(block))


def test_a_workspace_without_configuration_gets_every_default(tmp_path: Path) -> None:
    config = Config.load(None, tmp_path, {})
    assert (config.agents, config.skipped, config.remarks, config.file, config.timezone) == ((), (), (), None, "UTC")
    assert dict(config.settings(None)._blocks) == {block: block() for block in DOCUMENTED}
    assert {each.path: each.value for each in config.effective()} == {
        path: value for path, value in DEFAULTS.items() if path not in ENTRY
    }


# Levels

OTHER: dict[str, tuple[Any, Any]] = {
    "timezone": ("Asia/Tokyo", "Europe/Berlin"),
    "memory.overBudget": ("error", "warn"),
    "memory.episodicArchiveDir": ("memory/log", "memory/a/b"),
    "knowledge.archive.tokenizer": ("trigram", "porter"),
    "knowledge.shared.project": ("team-1", "x"),
    "knowledge.shared.root": ("/srv/kb", "~/kb"),
    "isolation.tools": (["a"], ["b", "c"]),
    "dreaming.promotionThreshold": (0.25, 1),
    "dreaming.maxCostUsd": (0, 2.5),
}


def others(key: Key) -> tuple[Any, Any]:
    """Two values a key may have that are not its default."""
    if key.dotted in OTHER:
        return OTHER[key.dotted]
    if isinstance(key.default, bool):
        return not key.default, key.default
    if isinstance(key.default, int):
        return key.default + 1, key.default + 2
    if key.zone:
        return "Asia/Tokyo", "Europe/Berlin"
    return ("propose", "auto") if key.name == "mode" else ("model-a", "model-b")


def as_read(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@pytest.mark.parametrize("path", [path for path in DEFAULTS if path not in ENTRY])
def test_a_gateway_value_is_every_agents_value(tmp_path: Path, path: str) -> None:
    value, _ = others(KEYS[path])
    config = made(tmp_path, put(path, value))
    for name in ("alfred", "berta", None):
        found = {each.path: each for each in config.effective(name)}
        assert found[path] == Effective(path, value, "gateway")
        changed = {each.path for each in found.values() if each.value != DEFAULTS[each.path]}
        follow = {each.dotted for each in KEYS.values() if each.zone} if path == "timezone" else set()
        assert changed == {path} | follow
    assert told(config) == []


@pytest.mark.parametrize("path", [path for path in DEFAULTS if path not in GATEWAY_ONLY])
def test_an_agents_value_goes_before_the_gateways_and_is_nobody_elses(tmp_path: Path, path: str) -> None:
    general, own = others(KEYS[path])
    config = made(tmp_path, put(path, general) if path not in ENTRY else {}, put(path, own))
    found = {each.path: each for each in config.effective("alfred")}
    assert found[path] == Effective(path, as_read(own), "agent")
    other = {each.path: each for each in config.effective("berta")}
    assert other[path].value == (DEFAULTS[path] if path in ENTRY else general)
    assert told(config) == []


@pytest.mark.parametrize("path", sorted(GATEWAY_ONLY - {"timezone"}))
def test_a_gateways_key_at_an_agent_is_not_used_and_is_told_once(tmp_path: Path, path: str) -> None:
    config = made(tmp_path, {}, put(path, others(KEYS[path])[0]))
    assert {each.path: each.value for each in config.effective("alfred")} == DEFAULTS
    (remark,) = config.remarks
    assert f"agents[alfred].{path}".startswith(remark.path)
    assert "counts at gateway level only" in remark.message


@pytest.mark.parametrize("path", [path for path in DEFAULTS if path not in ENTRY])
def test_null_is_not_set_at_either_level(tmp_path: Path, path: str) -> None:
    config = made(tmp_path, put(path, None), put(path, None))
    assert {each.path: each.value for each in config.effective("alfred")} == DEFAULTS
    assert [remark for remark in told(config) if "gateway level only" not in remark] == []


WRONG = [[], {}, {"a": 1}, [1], "\ud800"]


@pytest.mark.parametrize("path", [path for path in DEFAULTS if path not in GATEWAY_ONLY and path not in ENTRY])
@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_a_value_of_the_wrong_type_falls_to_the_gateways_with_one_remark(tmp_path: Path, path: str, wrong: Any) -> None:
    general, _ = others(KEYS[path])
    config = made(tmp_path, put(path, general), put(path, wrong))
    found = {each.path: each for each in config.effective("alfred")}[path]
    (line,) = told(config)
    assert line.startswith(f"agents[alfred].{path}: ")
    if path.endswith((".mode", ".overBudget")):
        fallback = "warn" if path.endswith("overBudget") else "propose"
        assert found == Effective(path, fallback, "agent", True)
    else:
        assert found == Effective(path, general, "gateway")
        assert f"from gateway.{path}, is used" in line


# Cases


def test_f04_a_switch_in_quotes_falls_through_with_a_warning(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.enabled", "false"))
    assert config.settings("alfred")[DreamSettings].enabled is True
    assert told(config) == ['gateway.dreaming.enabled: "false" is not true or false; true, the default, is used']
    config = made(tmp_path, put("dreaming.enabled", False), put("dreaming.enabled", "true"))
    assert config.settings("alfred")[DreamSettings].enabled is False
    assert told(config) == [
        'agents[alfred].dreaming.enabled: "true" is not true or false; false, from gateway.dreaming.enabled, is used'
    ]


MODES = {"dreaming": DreamSettings, "knowledge.shared": SharedSettings, "skillLearning": SkillLearningSettings}


@pytest.mark.parametrize("value", ["AUTO", "Auto", " auto", "", "dry-run", True, False, 0, 1.5, [], ["auto"], {}])
@pytest.mark.parametrize("path", MODES)
def test_f05_anything_but_exactly_auto_is_propose(tmp_path: Path, path: str, value: Any) -> None:
    block: Any = MODES[path]
    config = made(tmp_path, put(f"{path}.mode", value))
    assert config.settings("berta")[block].mode == "propose"
    assert len(told(config)) == 1
    config = made(tmp_path, put(f"{path}.mode", "auto"), put(f"{path}.mode", value))
    assert config.settings("alfred")[block].mode == "propose"
    assert config.settings("berta")[block].mode == "auto"
    assert len(told(config)) == 1


@pytest.mark.parametrize("path", MODES)
def test_propose_itself_needs_no_warning(tmp_path: Path, path: str) -> None:
    assert told(made(tmp_path, put(f"{path}.mode", "propose"))) == []


def test_f07_half_an_hour_is_no_hour(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.dreamHour", 3.5))
    assert config.settings("alfred")[DreamSettings].dream_hour == 3
    assert told(config) == [
        "gateway.dreaming.dreamHour: 3.5 is not a whole number from 0 to 23; 3, the default, is used"
    ]


@pytest.mark.parametrize(("value", "used"), [(56, 55), (-5, 0), ("x", 30), (0, 0), (55, 55), (12.9, 12), (1e300, 55)])
def test_f08_the_stagger_window_is_clamped(tmp_path: Path, value: Any, used: int) -> None:
    config = made(tmp_path, put("dreaming.staggerWindowMinutes", value))
    assert config.settings("alfred")[DreamSettings].stagger_window_minutes == used
    found = {each.path: each for each in config.effective("alfred")}["dreaming.staggerWindowMinutes"]
    assert found.clamped == (value not in ("x", used))
    assert len(told(config)) == (value != used)


@pytest.mark.parametrize(
    ("own", "clock", "used"),
    [
        ("Mars/X", "Asia/Bangkok", "Asia/Bangkok"),
        (None, "Asia/Bangkok", "Asia/Bangkok"),
        (7, "Asia/Bangkok", "Asia/Bangkok"),
        ("Mars/X", "Venus/Y", "UTC"),
        ("Europe/Berlin", "Asia/Bangkok", "Europe/Berlin"),
        ("UTC", "Asia/Bangkok", "UTC"),
        (None, None, "UTC"),
    ],
)
def test_f17_a_zone_falls_to_the_gateways_and_then_to_utc(tmp_path: Path, own: Any, clock: Any, used: str) -> None:
    paths = {"dreaming.dreamTimezone": DreamSettings, "skillLearning.pruneTimezone": SkillLearningSettings}
    for path in (*paths, "knowledge.reflection.timezone"):
        config = made(tmp_path, put(path, own) | {"timezone": clock})
        found = {each.path: each for each in config.effective("alfred")}[path]
        assert found.value == used
        assert found.origin == ("default" if used == "UTC" and own != "UTC" else "gateway")
        assert len(told(config)) == (own in ("Mars/X", 7)) + (clock == "Venus/Y")


def test_a_zone_of_an_agent_falls_to_the_gateways_own_first(tmp_path: Path) -> None:
    gateway = {"timezone": "Asia/Bangkok", "dreaming": {"dreamTimezone": "Asia/Tokyo"}}
    config = made(tmp_path, gateway, put("dreaming.dreamTimezone", "Mars/X"))
    assert config.settings("alfred")[DreamSettings].dream_timezone == "Asia/Tokyo"
    assert told(config)[0].endswith('"Asia/Tokyo", from gateway.dreaming.dreamTimezone, is used')
    gateway["dreaming"] = {"dreamTimezone": "Venus/Y"}
    config = made(tmp_path, gateway, put("dreaming.dreamTimezone", "Mars/X"))
    assert config.settings("alfred")[DreamSettings].dream_timezone == "Asia/Bangkok"
    assert [line.endswith('"Asia/Bangkok", from gateway.timezone, is used') for line in told(config)] == [True, True]


@pytest.mark.parametrize(
    ("clock", "used"), [("Asia/Tokyo", "Asia/Tokyo"), ("Mars/X", "UTC"), (None, "UTC"), (3, "UTC")]
)
def test_the_gateways_time_zone_is_a_property(tmp_path: Path, clock: Any, used: str) -> None:
    assert made(tmp_path, {"timezone": clock}).timezone == used


def test_f19_no_changes_a_run_is_a_value_and_no_mistake(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.maxChangesPerRun", 0))
    assert config.settings("alfred")[DreamSettings].max_changes_per_run == 0
    assert told(config) == []


def test_f25_null_of_an_agent_is_the_gateways_value(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.quietMinutes", 5), put("dreaming.quietMinutes", None))
    assert config.settings("alfred")[DreamSettings].quiet_minutes == 5
    assert told(config) == []


@pytest.mark.parametrize("value", ["9000", -1, 0.5, True, 1e999, [9000]])
def test_h06_a_budget_that_is_none_is_the_default(tmp_path: Path, value: Any) -> None:
    file = tmp_path / "config.json"
    budgets = json.dumps({"memoryBudgetChars": value, "userBudgetChars": value}).replace("Infinity", "1e999")
    file.write_text(f'{{"gateway": {{"memory": {budgets}}}, "agents": [{{"id": "a"}}]}}')
    config = Config.load(file, tmp_path, {})
    memory = config.settings("a")[MemorySettings]
    assert (memory.memory_budget_chars, memory.user_budget_chars) == (8000, 3000)
    assert len(told(config)) == 2


def test_n01_and_n02_a_doubtful_switch_skips_its_agent_and_the_others_start(tmp_path: Path) -> None:
    entries = [
        {"id": "a", "isolateMemory": "true"},
        {"id": "b", "disableArchive": 1},
        {"id": "c", "isolateMemory": None},
        {"id": "d", "isolateMemory": True, "disableArchive": False},
    ]
    config = made(tmp_path, agents=entries)
    assert [entry.id for entry in config.agents] == ["d"]
    assert config.settings("d")[IsolationSettings] == IsolationSettings(True, False)
    assert [skipped.agent for skipped in config.skipped] == ["agents[a]", "agents[b]", "agents[c]"]
    assert config.skipped[0] == Skipped(
        "agents[a]", 'isolateMemory: "true" is not true or false; write that, or take the key out'
    )


def test_n09_session_compaction_is_clamped(tmp_path: Path) -> None:
    low = {"thresholdPercent": 0, "quietMinutes": 0, "maxSessionsPerRun": 0}
    high = {"thresholdPercent": 150, "quietMinutes": 99999, "maxSessionsPerRun": 500}
    config = made(tmp_path, {"sessionCompaction": low}, {"sessionCompaction": high})
    assert config.settings("alfred")[SessionCompactionSettings] == SessionCompactionSettings(False, 99, 10080, 100)
    assert config.settings("berta")[SessionCompactionSettings] == SessionCompactionSettings(False, 1, 1, 1)
    assert len(told(config)) == 6
    assert "gateway.sessionCompaction.thresholdPercent: 0 counts as 1" in told(config)


# Values that fit alone and not together


@pytest.mark.parametrize(
    ("gateway", "agent", "used", "remarks"),
    [
        (
            {"chunkTokens": 100, "chunkOverlap": 100},
            {},
            99,
            ["gateway.knowledge.archive.chunkOverlap: 100 counts as 99"],
        ),
        ({"chunkTokens": 50}, {}, 49, []),
        ({"chunkOverlap": 300}, {}, 300, []),
        (
            {"chunkOverlap": 300},
            {"chunkTokens": 200},
            199,
            ["agents[alfred].knowledge.archive.chunkOverlap: 300 counts as 199"],
        ),
        (
            {"chunkTokens": 50, "chunkOverlap": 60},
            {"enabled": True},
            49,
            ["gateway.knowledge.archive.chunkOverlap: 60 counts as 49"],
        ),
    ],
)
def test_the_overlap_is_drawn_below_the_chunk(
    tmp_path: Path, gateway: Any, agent: Any, used: int, remarks: list[str]
) -> None:
    config = made(tmp_path, put("knowledge.archive", gateway), put("knowledge.archive", agent))
    assert config.settings("alfred")[ArchiveSettings].chunk_overlap == used
    found = {each.path: each for each in config.effective("alfred")}["knowledge.archive.chunkOverlap"]
    assert (found.value, found.clamped) == (used, used in (49, 99, 199))
    assert told(config) == remarks


def test_a_folder_of_notes_is_read_without_its_decorations(tmp_path: Path) -> None:
    config = made(tmp_path, put("memory.episodicArchiveDir", "./memory/log/"))
    assert config.settings("alfred")[MemorySettings].episodic_archive_dir == "memory/log"


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


# Plugins


def test_the_selection_of_plugins_is_handed_on(tmp_path: Path) -> None:
    chosen = {"shared-promoter": False, "fts5-archive": "archive-memory", "weather": True, "*": True, "x": None}
    config = made(tmp_path, plugins=chosen)
    assert config.plugins == {slot: choice for slot, choice in chosen.items() if slot != "x"}
    assert made(tmp_path).plugins == {}
    assert made(tmp_path, plugins=None).plugins == {}


@attrs.frozen
class Weather(Block):
    path = "weather"

    city_name: str = text("Oslo")
    days: int = integer(3, 1, 9)
    zone: str = zone()
    note: str = ""


@attrs.frozen
class Obsidian(Block):
    path = "knowledge.obsidian"
    levels = ("gateway",)

    vault: str = text("")


@attrs.frozen
class Mood(Block):
    path = ""

    mood: str = text("calm")


def test_a_plugins_section_is_somebody_elses_until_it_is_claimed(tmp_path: Path) -> None:
    gateway = {"weather": {"cityName": "${CITY}", "days": 0, "dayz": 1}, "timezone": "Asia/Tokyo"}
    environ: dict[str, str] = {}
    config = made(tmp_path, gateway, {"weather": {"note": "x"}}, environ)
    assert told(config) == []
    with pytest.raises(PluginError, match="Weather is asked for and claimed by no plugin"):
        config.settings("alfred")[Weather]
    with pytest.raises(ConfigError, match=r"gateway\.weather\.cityName: \$\{CITY\} is not set"):
        config.claimed_by([Weather])
    config = made(tmp_path, gateway, {"weather": {"note": "x"}}, {"CITY": "Rome"}).claimed_by([Weather])
    assert config.settings("alfred")[Weather] == Weather("Rome", 3, "Asia/Tokyo", "x")
    assert config.settings("berta")[Weather] == Weather("Rome", 3, "Asia/Tokyo", "")
    assert config.settings("alfred")[DreamSettings] == DreamSettings(dream_timezone="Asia/Tokyo")
    assert told(config) == [
        "gateway.weather.days: 0 is not a whole number from 1 to 9; 3, the default, is used",
        'gateway.weather.dayz: unknown key, not used; did you mean "days"?',
    ]
    assert {"weather.cityName", "weather.days"} <= {each.path for each in config.effective("alfred")}


def test_a_variable_that_a_claim_finds_missing_in_an_agent_skips_it(tmp_path: Path) -> None:
    config = made(tmp_path, {}, {"weather": {"cityName": "${CITY}"}})
    assert [entry.id for entry in config.agents] == ["alfred", "berta"]
    assert [entry.id for entry in config.claimed_by([Weather]).agents] == ["berta"]


def test_a_section_below_one_of_ours_is_unknown_until_it_is_claimed(tmp_path: Path) -> None:
    config = made(tmp_path, put("knowledge.obsidian.vault", "/v"), put("knowledge.obsidian.vault", "/w"))
    assert told(config) == [
        "gateway.knowledge.obsidian: unknown key, not used",
        "agents[alfred].knowledge.obsidian: unknown key, not used",
    ]
    claimed = config.claimed_by([Obsidian])
    assert claimed.settings("alfred")[Obsidian].vault == "/v"
    assert told(claimed) == ["agents[alfred].knowledge.obsidian: counts at gateway level only, and is not used here"]


def test_claiming_what_is_claimed_changes_nothing(tmp_path: Path) -> None:
    config = made(tmp_path)
    assert config.claimed_by([DreamSettings, MemorySettings]) is config
    assert Config.load(None, tmp_path, {}).claimed_by([Weather]).settings(None)[Weather] == Weather()


def test_a_key_of_a_plugin_in_the_entry_itself_must_be_certain_too(tmp_path: Path) -> None:
    config = made(tmp_path, {"mood": "glad"}, {"mood": 3}).claimed_by([Mood])
    assert [entry.id for entry in config.agents] == ["berta"]
    assert config.settings("berta")[Mood].mood == "glad"


def test_two_blocks_may_share_a_path_and_even_a_key(tmp_path: Path) -> None:
    @attrs.frozen
    class Early(Block):
        path = "dreaming"

        dream_hour: int = integer(3, 0, 12)

    config = made(tmp_path, put("dreaming", {"dreamHour": 20, "enabled": True})).claimed_by([Early])
    assert config.settings("alfred")[Early].dream_hour == 3
    assert config.settings("alfred")[DreamSettings].dream_hour == 20
    assert told(config) == [
        "gateway.dreaming.dreamHour: 20 is not a whole number from 0 to 12; 3, the default, is used"
    ]


def test_a_class_that_is_no_block_is_named(tmp_path: Path) -> None:
    class Bare(Block):
        path = "bare"

    @attrs.frozen
    class Homeless(Block):
        city: str = "x"

    @attrs.frozen
    class Demanding(Block):
        path = "demanding"

        city: str

    for block in (Bare, Homeless, Demanding):
        with pytest.raises(PluginError, match=f"{block.__name__} is no block"):
            made(tmp_path).claimed_by([block])


def test_a_block_that_refuses_its_values_together_falls_to_its_defaults(tmp_path: Path) -> None:
    @attrs.frozen
    class Span(Block):
        path = "span"

        first: int = integer(1)
        last: int = integer(5)

        def __attrs_post_init__(self) -> None:
            if self.first > self.last:
                raise ValueError("first comes before last")

    config = made(tmp_path, {"span": {"first": 9}}).claimed_by([Span])
    assert config.settings("alfred")[Span] == Span(1, 5)
    assert told(config) == ["gateway.span.first: 9 counts as 1"]


# Settings


def test_settings_are_made_when_they_are_asked_for_and_once(tmp_path: Path) -> None:
    made_of: list[int] = []

    @attrs.frozen
    class Counted(Block):
        path = "counted"

        def __attrs_post_init__(self) -> None:
            made_of.append(1)

    settings = made(tmp_path).claimed_by([Counted]).settings("alfred")
    assert made_of == []
    assert settings[Counted] is settings[Counted]
    assert made_of == [1]


def test_settings_compare_by_what_they_say(tmp_path: Path) -> None:
    one = made(tmp_path, put("dreaming.dreamHour", 4))
    assert one.settings("alfred") == one.settings("berta") == one.settings(None)
    assert made(tmp_path, {}, put("dreaming.dreamHour", 5)).settings("alfred") != one.settings("alfred")


def test_without_an_agent_the_gateway_speaks(tmp_path: Path) -> None:
    config = made(tmp_path, put("dreaming.dreamHour", 4), put("dreaming.dreamHour", 5))
    assert config.settings()[DreamSettings].dream_hour == 4
    assert config.settings()[IsolationSettings] == IsolationSettings()
    assert config.settings()[ReflectionSettings] == ReflectionSettings()


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
