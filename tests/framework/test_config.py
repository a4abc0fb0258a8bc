"""Where a setting comes from: the agent, the gateway, the default; and what stays as it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from reverie.config import Config, Effective, Skipped
from reverie.config.outline import Key, outline_of
from reverie_hookspecs import (
    DOCUMENTED,
    ArchiveSettings,
    DreamSettings,
    IsolationSettings,
    MemorySettings,
    SessionCompactionSettings,
    SharedSettings,
    SkillLearningSettings,
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
    assert {block: config.settings(None)[block] for block in DOCUMENTED} == {block: block() for block in DOCUMENTED}
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
