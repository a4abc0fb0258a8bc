"""An older file is brought up to date without losing or overwriting a byte of what somebody wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reverie.config import Config, migrated, template
from reverie.config.outline import outline_of, section
from reverie_hookspecs import DOCUMENTED, DreamSettings, SharedSettings

KEYS = [key for key in outline_of(DOCUMENTED) if "gateway" in key.levels]
SMALL = {"gateway": {"dreaming": {"mode": "auto"}}, "agents": [{"id": "a"}]}


def aged(version: str | None, gateway: Any = None, **rest: Any) -> dict[str, Any]:
    """A configuration of some version."""
    age = {} if version is None else {"configVersion": version}
    return age | {"gateway": gateway if gateway is not None else {}, "agents": [{"id": "a"}], **rest}


def write(tmp_path: Path, tree: Any, name: str = "config.json") -> Path:
    file = tmp_path / name
    file.write_text(tree if isinstance(tree, str) else json.dumps(tree, indent=2), "utf-8")
    return file


def modes(tree: Any) -> tuple[Any, Any]:
    return tuple(section(tree, f"gateway.{path}").get("mode") for path in ("dreaming", "knowledge.shared"))  # type: ignore[return-value]


# What changes


@pytest.mark.parametrize("version", [None, "0.0.1", "1.0.20", "1.0.23", "1.0.24", "1.0.25"])
def test_an_older_tree_gets_every_missing_key_at_the_default_of_the_table(version: str | None) -> None:
    tree, added, _ = migrated(aged(version))
    assert added == (*(f"gateway.{key.dotted}" for key in KEYS), "plugins")
    expected = template()
    expected["gateway"]["memory"]["writeRouting"] = False
    assert tree == expected | {"agents": [{"id": "a"}]}


def test_what_is_set_even_to_null_or_to_nonsense_is_not_overwritten() -> None:
    gateway = {
        "timezone": None,
        "memory": None,
        "dreaming": {"dreamHour": 99, "quietMinutes": None, "staleness": [1], "zz": 1},
        "knowledge": "off",
        "api": {"key": "k"},
    }
    tree, added, _ = migrated(aged("1.0.20", gateway, plugins=None, other=[1]))
    assert {name: tree["gateway"][name] for name in ("timezone", "memory", "knowledge", "api")} == {
        name: gateway[name] for name in ("timezone", "memory", "knowledge", "api")
    }
    dreaming = tree["gateway"]["dreaming"]
    assert {name: dreaming[name] for name in ("dreamHour", "quietMinutes", "staleness", "zz")} == gateway["dreaming"]
    assert "gateway.dreaming.dreamMinute" in added
    assert not {each for each in added if each.startswith(("gateway.memory", "gateway.knowledge", "plugins"))}
    assert (tree["plugins"], tree["other"], tree["agents"]) == (None, [1], [{"id": "a"}])


def test_the_order_of_what_stood_there_is_kept_and_new_keys_come_after() -> None:
    tree, _, _ = migrated(
        {"agents": [{"id": "a"}], "configVersion": "1.0.20", "gateway": {"zz": 1, "dreaming": {"mode": "auto"}}}
    )
    assert list(tree) == ["agents", "configVersion", "gateway", "plugins"]
    assert list(tree["gateway"])[:2] == ["zz", "dreaming"]
    assert next(iter(tree["gateway"]["dreaming"])) == "mode"
    assert next(iter(migrated({"gateway": {}, "agents": []}).tree)) == "configVersion"


@pytest.mark.parametrize(
    ("version", "before", "after"),
    [
        ("1.0.23", "propose", "auto"),
        ("1.0.0", "propose", "auto"),
        ("0.9.99", "propose", "auto"),
        ("1.0.24", "propose", "propose"),
        ("1.0.25", "propose", "propose"),
        ("1.0.26", "propose", "propose"),
        ("1.0.100", "propose", "propose"),
        (None, "propose", "propose"),
        ("1.0.23", "auto", "auto"),
        ("1.0.23", "PROPOSE", "PROPOSE"),
        ("1.0.23", True, True),
    ],
)
def test_the_retired_default_is_renewed_before_1_0_24_and_never_later(
    version: str | None, before: Any, after: Any
) -> None:
    gateway = {"dreaming": {"mode": before}, "knowledge": {"shared": {"mode": before}}, "api": {"mode": "propose"}}
    tree, _, remarks = migrated(aged(version, gateway, agents=[{"id": "a", "dreaming": {"mode": "propose"}}]))
    assert modes(tree) == (after, after)
    assert tree["gateway"]["api"] == {"mode": "propose"}
    assert tree["agents"] == [{"id": "a", "dreaming": {"mode": "propose"}}]
    if before != after:
        (remark,) = remarks
        assert remark.path == "gateway.dreaming.mode and gateway.knowledge.shared.mode"
        assert 'the default before 1.0.24, and counts as "auto"' in remark.message


def test_of_one_retired_mode_the_remark_names_that_one() -> None:
    _, _, (remark,) = migrated(aged("1.0.3", {"knowledge": {"shared": {"mode": "propose"}}}))
    assert remark.path == "gateway.knowledge.shared.mode"


def test_skill_learning_never_had_another_default() -> None:
    tree, _, remarks = migrated(aged("1.0.3", {"skillLearning": {"mode": "propose"}}))
    assert tree["gateway"]["skillLearning"]["mode"] == "propose"
    assert remarks == ()


def test_a_propose_of_unknown_age_is_kept_and_told() -> None:
    _, _, remarks = migrated(aged(None, {"dreaming": {"mode": "propose"}}))
    assert [remark.path for remark in remarks] == ["gateway.dreaming.mode"]
    assert "is kept, since the file names no version" in remarks[0].message


def test_a_zone_that_fell_to_the_gateways_still_does() -> None:
    tree, added, _ = migrated(aged("1.0.20", {"timezone": "Asia/Bangkok", "dreaming": {"dreamTimezone": "Asia/Tokyo"}}))
    assert tree["gateway"]["dreaming"]["dreamTimezone"] == "Asia/Tokyo"
    assert tree["gateway"]["skillLearning"]["pruneTimezone"] is None
    assert "gateway.skillLearning.pruneTimezone" in added


@pytest.mark.parametrize(
    "version", ["1.0.26", "1.0.27", "1.1.0", "2.0.0", 26, "1.0", "v1.0.20", "1.0.20 ", "", [], "١.٠.٢"]
)
def test_a_current_a_newer_and_an_unreadable_version_leave_the_tree_as_it_is(version: Any) -> None:
    tree = aged(None) | {"configVersion": version}
    assert migrated(tree).tree is tree
    assert migrated(tree).added == ()
    assert len(migrated(tree).remarks) == (version != "1.0.26")


@pytest.mark.parametrize("gateway", [None, [], 3])
def test_a_tree_without_a_gateway_is_left_as_it_is(gateway: Any) -> None:
    tree = {"configVersion": "1.0.1", "gateway": gateway}
    assert migrated(tree).tree is tree


def test_a_version_inside_the_gateway_counts_and_is_renewed_there() -> None:
    tree, _, _ = migrated(aged(None, {"configVersion": "1.0.23", "dreaming": {"mode": "propose"}}))
    assert tree["gateway"]["configVersion"] == "1.0.26"
    assert "configVersion" not in tree
    assert modes(tree)[0] == "auto"


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples: each writes its own configurations over the last."""
    return tmp_path_factory.mktemp("room")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**6), st.text(max_size=4), st.lists(st.integers(), max_size=2)
)
TREES = st.dictionaries(
    st.sampled_from([key.dotted for key in KEYS] + ["api.key", "channels.x.y", "dreaming", "knowledge"]),
    VALUES,
    max_size=6,
)


def built(flat: dict[str, Any]) -> dict[str, Any]:
    """A tree of dotted keys; one that is below a value is left out."""
    tree: dict[str, Any] = {}
    for path, value in flat.items():
        node = tree
        *above, name = path.split(".")
        for part in above:
            node = node.setdefault(part, {}) if isinstance(node.get(part, {}), dict) else {}
        node.setdefault(name, value)
    return tree


def within(small: Any, large: Any) -> bool:
    """Whether every value of a tree stands in another, in the same order."""
    if not isinstance(small, dict):
        return bool(small == large and type(small) is type(large))
    kept = [name for name in large if name in small]
    return kept == list(small) and all(within(small[name], large[name]) for name in small)


@settings(max_examples=150, deadline=None)
@given(TREES, TREES, st.sampled_from(["1.0.24", "1.0.25", None]))
def test_migrating_loses_nothing_adds_once_and_changes_no_setting(
    room: Path, gateway: dict[str, Any], agent: dict[str, Any], version: str | None
) -> None:
    tree = aged(version, built(gateway)) | {"agents": [{"id": "a"} | built(agent), {"id": "b"}]}
    after, _, _ = migrated(tree)
    again = migrated(after)
    assert (again.tree, again.added, again.remarks) == (after, (), ())
    assert within({name: value for name, value in tree.items() if name != "configVersion"}, after)
    old = Config.load(write(room, tree), room, {})
    new = Config.load(write(room, after, "new.json"), room, {})
    for name in ("a", "b", None):
        assert old.settings(name) == new.settings(name)


# In memory


def test_a_command_that_only_reads_migrates_in_memory_and_says_so(tmp_path: Path) -> None:
    gateway = {"dreaming": {"mode": "propose"}, "knowledge": {"shared": {"mode": "propose"}}}
    file = write(tmp_path, aged("1.0.23", gateway))
    before = file.read_bytes()
    config = Config.load(file, tmp_path, {})
    assert config.settings("a")[DreamSettings].mode == config.settings("a")[SharedSettings].mode == "auto"
    assert config.version == (1, 0, 23)
    told = [str(remark) for remark in config.remarks]
    assert (
        told[0] == 'configVersion: 1.0.23 is older than 1.0.26; it is read as "reverie config migrate" would write it'
    )
    assert told[1].startswith("gateway.dreaming.mode and gateway.knowledge.shared.mode: ")
    assert len(told) == 2
    assert file.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["config.json"]


def test_a_mode_of_unknown_age_is_used_as_it_is_without_a_word(tmp_path: Path) -> None:
    config = Config.load(write(tmp_path, aged(None, {"dreaming": {"mode": "propose"}})), tmp_path, {})
    assert config.settings("a")[DreamSettings].mode == "propose"
    assert config.remarks == ()
    assert config.version is None


def test_a_newer_file_is_used_for_what_is_known(tmp_path: Path) -> None:
    file = write(tmp_path, aged("1.1.0", {"dreaming": {"mode": "propose", "dreamHour": 5}}))
    config = Config.load(file, tmp_path, {})
    assert (config.settings("a")[DreamSettings].mode, config.settings("a")[DreamSettings].dream_hour) == ("propose", 5)
    assert len(config.remarks) == 1
