"""Fields that a stranger wrote plainly, by their type: JSON has types already, so nothing is coerced."""

from __future__ import annotations

import enum
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import attrs
import pytest
from hypothesis import given, settings, strategies as st

from reverie.config import Config
from reverie.config.outline import keys_of
from reverie.config.value import read
from reverie_hookspecs import Block

if TYPE_CHECKING:
    from somewhere import Unheard  # type: ignore[import-not-found]


class Colour(enum.Enum):
    RED = "red"


def shout(word: str) -> str:
    return word.upper()


@attrs.frozen
class Place:
    city_name: str = "Oslo"
    height: float = 0.0


@attrs.frozen
class Plain(Block):
    path = "plain"

    word: str = "a"
    number: float = 1.5
    whole: int = 1
    switch: bool = True
    words: list[str] = attrs.Factory(list)
    row: tuple[str, ...] = ()
    pair: tuple[int, str] = (1, "a")
    counts: dict[str, int] = attrs.Factory(dict)
    names: frozenset[str] = frozenset()
    maybe: str | None = None
    either: int | str = 3
    choice: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    place: Place = Place()
    places: tuple[Place, ...] = ()
    anything: Any = None
    positive: int = attrs.field(default=1, validator=attrs.validators.gt(0))
    upper: str = attrs.field(default="", converter=shout)
    somewhere: Path = Path("x")


@attrs.frozen
class Lost(Block):
    path = "lost"

    thing: Unheard = None


KEYS = {key.name: key for key in keys_of(Plain)}
FITS: list[tuple[str, Any, Any]] = [
    ("word", "b", "b"),
    ("number", 2, 2.0),
    ("number", 2.5, 2.5),
    ("whole", 7, 7),
    ("switch", False, False),
    ("words", ["x", "y"], ["x", "y"]),
    ("words", [], []),
    ("row", ["x"], ("x",)),
    ("pair", [2, "b"], (2, "b")),
    ("counts", {"a": 1}, {"a": 1}),
    ("names", ["x", "x"], frozenset({"x"})),
    ("maybe", "x", "x"),
    ("either", 4, 4),
    ("either", "x", "x"),
    ("choice", "b", "b"),
    ("colour", "red", Colour.RED),
    ("place", {"cityName": "Rome", "height": 3}, Place("Rome", 3.0)),
    ("places", [{"cityName": "Rome"}, {}], (Place("Rome"), Place())),
    ("anything", {"a": [1]}, {"a": [1]}),
    ("positive", 3, 3),
    ("upper", "abc", "ABC"),
]
UNFIT: list[tuple[str, Any, str]] = [
    ("word", 1, "a string"),
    ("word", ["b"], "a string"),
    ("number", "2", "a number"),
    ("number", True, "a number"),
    ("number", 10**400, "a number"),
    ("number", float("inf"), "a number"),
    ("whole", 7.0, "a whole number"),
    ("whole", "7", "a whole number"),
    ("whole", True, "a whole number"),
    ("switch", 1, "true or false"),
    ("switch", "false", "true or false"),
    ("words", "xy", "a value of type list[str]"),
    ("words", ["x", 1], "a value of type list[str]"),
    ("words", {"x": 1}, "a value of type list[str]"),
    ("row", "xy", "a value of type tuple[str, ...]"),
    ("pair", [2], "a value of type tuple[int, str]"),
    ("pair", [2, "b", 3], "a value of type tuple[int, str]"),
    ("pair", "2b", "a value of type tuple[int, str]"),
    ("counts", {"a": "1"}, "a value of type dict[str, int]"),
    ("counts", [["a", 1]], "a value of type dict[str, int]"),
    ("names", "xy", "a value of type frozenset[str]"),
    ("maybe", 1, "a value of type str | None"),
    ("either", True, "a value of type int | str"),
    ("either", 1.5, "a value of type int | str"),
    ("choice", "c", "a value of type typing.Literal['a', 'b']"),
    ("colour", "blue", "a value of type Colour"),
    ("place", {"cityNam": "Rome"}, "a value of type Place"),
    ("place", {"cityName": 3}, "a value of type Place"),
    ("place", {"city_name": "Rome"}, "a value of type Place"),
    ("place", [], "a value of type Place"),
    ("places", {"cityName": "Rome"}, "a value of type tuple["),
    ("positive", 0, "must be > 0"),
    ("upper", 3, "a string"),
]


@pytest.mark.parametrize(("name", "raw", "value"), FITS)
def test_a_value_of_the_type_is_taken(name: str, raw: Any, value: Any) -> None:
    found = read(KEYS[name], raw)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(("name", "raw", "expected"), UNFIT, ids=lambda each: str(each)[:30])
def test_a_value_of_another_type_is_refused_with_what_was_expected(name: str, raw: Any, expected: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  the message is looked at below
        read(KEYS[name], raw)
    assert expected in str(caught.value)


def test_a_type_that_cannot_be_found_refuses_every_value() -> None:
    with pytest.raises(ValueError, match=r"of a type that can be found .*Unheard"):
        read(keys_of(Lost)[0], 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(sorted(KEYS)), VALUES)
def test_any_value_is_taken_or_refused_and_what_is_taken_has_its_type(name: str, raw: Any) -> None:
    try:
        value = read(KEYS[name], raw)
    except ValueError:
        return
    kinds: dict[str, Any] = {"number": float, "anything": object, "either": (int, str), "maybe": (str, type(None))}
    assert isinstance(value, kinds.get(name, type(KEYS[name].default)))


def test_plain_fields_fall_through_like_any_other_with_one_remark(tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    gateway = {"plain": {"word": "x", "whole": 2, "place": {"cityName": "Rome"}, "names": ["b", "a"]}}
    agents = [{"id": "a", "plain": {"word": 7, "whole": 3, "places": [{}]}}]
    file.write_text(json.dumps({"gateway": gateway, "agents": agents}))
    config = Config.load(file, tmp_path, {}).claimed_by([Plain])
    assert config.settings("a")[Plain] == Plain(
        word="x", whole=3, place=Place("Rome"), places=(Place(),), names=frozenset("ab")
    )
    assert [str(remark) for remark in config.remarks] == [
        'agents[a].plain.word: 7 is not a string; "x", from gateway.plain.word, is used'
    ]
