"""Sections that plugins claim, and the settings they are handed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from reverie.config import Config
from reverie_hookspecs import (
    Block,
    ConfigError,
    DreamSettings,
    IsolationSettings,
    MemorySettings,
    PluginError,
    ReflectionSettings,
    integer,
    text,
    zone,
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
