"""Whatever stands in the file, it is a configuration or a sentence, and each value is one that may be."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reverie.config import Config, template
from reverie.config.outline import outline_of, section
from reverie.config.value import read
from reverie_hookspecs import DOCUMENTED, ConfigError


def loaded(tmp_path: Path, text: str | bytes, environ: dict[str, str] | None = None) -> Config:
    file = tmp_path / "config.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))
    return Config.load(file, tmp_path / "home", environ or {"HOME": str(tmp_path)})


def outcome(tmp_path: Path, text: str | bytes) -> Config | ConfigError:
    """The configuration, or the sentences in its place."""
    try:
        return loaded(tmp_path, text)
    except ConfigError as error:
        told = error
    assert told.problems
    assert all(str(tmp_path) in problem for problem in told.problems)
    return told


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for all examples: each writes its own configuration over the last."""
    return tmp_path_factory.mktemp("room")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(min_value=-(10**400), max_value=10**400),
    st.floats(allow_nan=False),
    st.sampled_from([math.inf, -math.inf, -0.0, 1e308]),
    st.text(max_size=8),
    st.sampled_from(
        ["auto", "propose", "warn", "error", "UTC", "Asia/Bangkok", "memory/x", "trigram", "${HOME}", "\ud800"]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
KEYS = [key for key in outline_of(DOCUMENTED) if key.path or "gateway" in key.levels]
ALLOWED = {
    "dreaming.staggerWindowMinutes": range(56),
    "sessionCompaction.thresholdPercent": range(1, 100),
    "sessionCompaction.quietMinutes": range(1, 10081),
    "sessionCompaction.maxSessionsPerRun": range(1, 101),
    "dreaming.dreamHour": range(24),
    "dreaming.dreamMinute": range(60),
    "dreaming.staleness.keepImportance": range(11),
    "knowledge.shared.staleness.keepImportance": range(11),
    "knowledge.reflection.dayOfWeek": range(7),
    "knowledge.reflection.hour": range(24),
    "knowledge.reflection.minute": range(60),
    "skillLearning.pruneHour": range(24),
    "memory.overBudget": ("warn", "error"),
    "dreaming.mode": ("auto", "propose"),
    "knowledge.shared.mode": ("auto", "propose"),
    "skillLearning.mode": ("auto", "propose"),
}


def text_of(tree: Any) -> str:
    """JSON, with what no double holds written as such a number."""
    return json.dumps(tree).replace("Infinity", "1e999")


def put(path: str, name: str, value: Any) -> dict[str, Any]:
    """A tree that holds one value at one place."""
    tree: dict[str, Any] = {name: value}
    for part in reversed(path.split(".") if path else []):
        tree = {part: tree}
    return tree


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(KEYS), VALUES, VALUES)
def test_any_value_at_any_documented_key_ends_as_itself_as_its_clamp_or_as_what_the_next_level_says(
    room: Path, key: Any, own: Any, general: Any
) -> None:
    tree = {
        "gateway": put(key.path, key.name, general),
        "agents": [{"id": "a"} | (put(key.path, key.name, own) if key.path else {}), {"id": "b"}],
    }
    config = loaded(room, text_of(tree), {"HOME": "/h"})
    found = {each.path: each for each in config.effective("a")}[key.dotted]
    document = json.loads(text_of(tree))
    expected, origin = key.default, "default"
    for level in reversed(key.levels):
        held = document["gateway"] if level == "gateway" else document["agents"][0]
        raw = section(held, key.path).get(key.name)
        if raw is None:
            continue
        raw = raw.replace("${HOME}", "/h") if isinstance(raw, str) else raw
        try:
            expected, origin = read(key, raw), level
        except ValueError:
            continue
    if key.dotted == "knowledge.archive.chunkOverlap":
        expected = min(expected, 399)
    assert (found.value, found.origin) == (expected, origin)
    assert type(found.value) is type(key.default)
    assert not isinstance(found.value, int | float) or found.value >= (16 if key.name == "chunkTokens" else 0)
    assert found.value in ALLOWED.get(key.dotted, (found.value,))
    assert all(str(remark).isprintable() for remark in config.remarks)
    for name in ("a", "b", None):
        values = config.settings(name)
        assert all(isinstance(values[block], block) for block in DOCUMENTED)


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_a_configuration_or_a_sentence(room: Path, data: bytes) -> None:
    outcome(room, data)


@settings(max_examples=150, deadline=None)
@given(VALUES, VALUES, VALUES)
def test_any_tree_is_a_configuration_or_a_sentence(room: Path, gateway: Any, agents: Any, plugins: Any) -> None:
    tree = {"gateway": gateway, "agents": agents, "plugins": plugins}
    found = outcome(room, text_of(tree))
    assert isinstance(found, ConfigError) or (found.agents and all(str(each).isprintable() for each in found.remarks))


WHOLE = json.dumps(
    template() | {"agents": [{"id": "a", "isolateMemory": True}, {"id": "b", "memory": {"zz": 1}}]}, indent=1
)


@settings(max_examples=300, deadline=None)
@given(
    st.integers(0, len(WHOLE)),
    st.integers(0, 4),
    st.binary(max_size=4) | st.sampled_from([b"", b'"', b"{", b"}", b"null"]),
)
def test_a_file_with_a_few_bytes_changed_is_a_configuration_or_a_sentence(
    room: Path, at: int, cut: int, patch: bytes
) -> None:
    data = WHOLE.encode()
    found = outcome(room, data[:at] + patch + data[at + cut :])
    assert isinstance(found, ConfigError) or all(str(each).isprintable() for each in found.remarks)
