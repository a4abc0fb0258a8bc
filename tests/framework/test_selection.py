from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint
from types import ModuleType

import pytest
from attrs import define

from reverie import building, selection
from reverie_hookspecs import (
    Archive,
    ConfigError,
    Plugin,
    PluginError,
    Policy,
    Vault,
)


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Callable[..., selection.Points]:
    """Make entry points for plugin classes, as an installed distribution would offer them."""

    def make(**plugins: object) -> selection.Points:
        module = ModuleType("stranger_shelf")
        monkeypatch.setitem(sys.modules, "stranger_shelf", module)
        points = {}
        for name, plugin in plugins.items():
            setattr(module, name, plugin)
            slot = name.replace("_", "-")
            points[slot] = (EntryPoint(slot, f"stranger_shelf:{name}", selection.GROUP),)
        return points

    return make


@define(eq=False)
class Plain(Plugin):
    pass


@define(eq=False)
class Keeper(Plugin):
    provides = (Archive,)


@define(eq=False)
class OtherKeeper(Plugin):
    slot = "keeper"
    provides = (Archive,)


@define(eq=False)
class Asker(Plugin):
    archive: Archive


@define(eq=False)
class Hoper(Plugin):
    archive: Archive | None


@define(eq=False)
class Sentry(Plugin):
    provides = (Policy,)


def states(rows: list[selection.Row] | tuple[selection.Row, ...]) -> dict[str, str]:
    return {row.name: row.state for row in rows}


def test_a_plugin_sits_in_the_slot_of_its_name(shelf: Callable[..., selection.Points]) -> None:
    [row] = selection.choose(shelf(plain=Plain), {})
    assert (row.slot, row.state, row.plugin) == ("plain", "active", Plain)


def test_one_that_names_anothers_slot_waits_until_it_is_chosen(shelf: Callable[..., selection.Points]) -> None:
    points = shelf(keeper=Keeper, other=OtherKeeper)
    rows = selection.choose(points, {})
    assert states(rows) == {"keeper": "active", "other": "waiting"}
    assert '"plugins": {"keeper": "other"}' in next(row.reason for row in rows if row.name == "other")
    assert states(selection.choose(points, {"keeper": "other"})) == {"keeper": "off", "other": "active"}


def test_false_empties_a_slot_and_imports_nothing_of_it() -> None:
    points = {"broken": (EntryPoint("broken", "no_such_module_at_all:Broken", selection.GROUP),)}
    assert states(selection.choose(points, {"broken": False})) == {"broken": "off"}
    assert states(selection.choose(points, {"*": False})) == {"broken": "off"}
    assert "no_such_module_at_all" not in sys.modules


def test_star_false_leaves_only_what_is_named(shelf: Callable[..., selection.Points]) -> None:
    rows = selection.choose(shelf(plain=Plain, keeper=Keeper), {"*": False, "plain": True})
    assert states(rows) == {"keeper": "off", "plain": "active"}


def test_a_broken_plugin_is_a_row(shelf: Callable[..., selection.Points]) -> None:
    points = {
        "gone": (EntryPoint("gone", "no_such_module_at_all:Gone", selection.GROUP),),
        **shelf(odd=object(), plain=Plain),
    }
    rows = {row.name: row for row in selection.choose(points, {})}
    assert states([*rows.values()]) == {"gone": "failed", "odd": "failed", "plain": "active"}
    assert "ModuleNotFoundError" in rows["gone"].reason and "no Plugin class" in rows["odd"].reason


def test_a_module_that_exits_when_imported_is_a_row(tmp_path: object, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rude_plugin.py").write_text("raise SystemExit(3)\n")  # type: ignore[operator]
    monkeypatch.syspath_prepend(str(tmp_path))
    [row] = selection.choose({"rude": (EntryPoint("rude", "rude_plugin:X", selection.GROUP),)}, {})
    assert row.state == "failed" and "SystemExit" in row.reason


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"keper": False}, "no installed plugin is called 'keper'; did you mean 'keeper'"),
        ({"keeper": "plian"}, "no installed plugin is called 'plian'; did you mean 'plain'"),
        ({"keeper": "plain"}, "'plain' does not fit slot 'keeper': it is made for 'plain'"),
        ({"qqq": True}, "called 'qqq'; there are .*, keeper, "),
    ],
)
def test_a_choice_that_cannot_be_meant_is_explained(
    shelf: Callable[..., selection.Points], choice: dict[str, bool | str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        selection.choose(shelf(keeper=Keeper, plain=Plain), choice)


def test_all_problems_of_a_choice_are_told_at_once(shelf: Callable[..., selection.Points]) -> None:
    with pytest.raises(ConfigError) as caught:
        selection.choose(shelf(plain=Plain), {"a1": True, "b2": "c3"})
    assert len(caught.value.problems) == 3


def test_a_documented_name_that_is_not_installed_is_a_row(shelf: Callable[..., selection.Points]) -> None:
    rows = selection.choose(shelf(plain=Plain), {"shared-promoter": False, "applier": True})
    assert states(rows) == {"applier": "not installed", "plain": "active", "shared-promoter": "not installed"}
    with pytest.raises(PluginError, match="safety slot 'applier'"):
        selection.demand(rows, {"applier": True})
    selection.demand(rows, {"applier": False})
    selection.demand(rows, {})


class Distribution:
    def __init__(self, name: str) -> None:
        self.name = name


def test_one_name_from_two_distributions_is_a_row_naming_both(shelf: Callable[..., selection.Points]) -> None:
    points = [shelf(plain=Plain)["plain"][0] for _ in range(2)]
    for point, name in zip(points, ("left", "right"), strict=True):
        object.__setattr__(point, "dist", Distribution(name))
    [row] = selection.choose({"plain": tuple(points)}, {})
    assert row.state == "failed" and "both left and right" in row.reason


def test_a_plugin_for_another_version_is_a_row_with_both(shelf: Callable[..., selection.Points]) -> None:
    @define(eq=False)
    class Future(Plugin):
        requires_reverie = ">=99"

    @define(eq=False)
    class Muddled(Plugin):
        requires_reverie = "newish"

    rows = {row.name: row for row in selection.choose(shelf(future=Future, muddled=Muddled), {})}
    assert "needs reverie >=99, and this is" in rows["future"].reason
    assert "no PEP 440 range" in rows["muddled"].reason


def test_needs_are_handed_in(shelf: Callable[..., selection.Points]) -> None:
    built = building.build(selection.choose(shelf(asker=Asker, hoper=Hoper, keeper=Keeper), {}), {})
    assert built.plugins["asker"].archive is built.plugins["keeper"]  # type: ignore[attr-defined]
    assert built.plugins["hoper"].archive is built.plugins["keeper"]  # type: ignore[attr-defined]


def test_a_missing_provider_fails_whoever_needs_it_and_nobody_else(shelf: Callable[..., selection.Points]) -> None:
    built = building.build(selection.choose(shelf(asker=Asker, hoper=Hoper), {}), {})
    assert {*built.plugins} == {"hoper"}
    [row] = [row for row in built.rows if row.name == "asker"]
    assert row.state == "failed" and "needs Archive, and no active plugin provides it" in row.reason


def test_a_second_provider_is_a_row_naming_both(shelf: Callable[..., selection.Points]) -> None:
    @define(eq=False)
    class Rival(Plugin):
        provides = (Archive,)

    built = building.build(selection.choose(shelf(keeper=Keeper, rival=Rival), {}), {})
    assert {*built.plugins} == {"keeper"}
    assert "both 'keeper' and 'rival'" in next(row.reason for row in built.rows if row.name == "rival")


def test_policies_may_be_many(shelf: Callable[..., selection.Points]) -> None:
    built = building.build(selection.choose(shelf(one=Sentry, two=Sentry), {}), {})
    assert len(built.providing(Policy)) == 2


def test_plugins_that_need_each_other_are_rows(shelf: Callable[..., selection.Points]) -> None:
    @define(eq=False)
    class Left(Plugin):
        provides = (Archive,)
        vault: Vault

    @define(eq=False)
    class Right(Plugin):
        provides = (Vault,)
        archive: Archive

    built = building.build(selection.choose(shelf(left=Left, right=Right, plain=Plain), {}), {})
    assert {*built.plugins} == {"plain"}
    assert all("in a circle" in row.reason for row in built.rows if row.name != "plain")


def test_a_constructor_that_raises_is_a_row(shelf: Callable[..., selection.Points]) -> None:
    @define(eq=False)
    class Faulty(Plugin):
        def __attrs_post_init__(self) -> None:
            raise RuntimeError("no luck")

    built = building.build(selection.choose(shelf(faulty=Faulty), {}), {})
    assert not built.plugins and "RuntimeError: no luck" in built.rows[0].reason


def test_a_need_that_cannot_be_read_is_a_row(shelf: Callable[..., selection.Points]) -> None:
    @define(eq=False)
    class Dangling(Plugin):
        thing: Nowhere  # type: ignore[name-defined] # noqa: F821

    built = building.build(selection.choose(shelf(dangling=Dangling), {}), {})
    assert "its needs cannot be read" in built.rows[0].reason


def test_a_plugin_that_compares_by_value_is_told_so() -> None:
    with pytest.raises(PluginError, match="compares by value"):

        @define
        class Twin(Plugin):
            pass


@pytest.mark.parametrize(
    "attributes",
    [
        {"blocks": 5}, {"blocks": ("x",)}, {"blocks": (int,)}, {"provides": None}, {"provides": ("x",)}, {"slot": 5},
        {"requires_reverie": 5}, {"commands": 5}, {"routes": None}, {"duties": "x"},
    ],
)  # fmt: skip
def test_a_class_attribute_of_a_wrong_kind_is_a_row_and_harms_nothing_else(
    shelf: Callable[..., selection.Points], attributes: dict[str, object]
) -> None:
    odd = type("Odd", (Plain,), attributes)
    built = building.build(selection.choose(shelf(odd=odd, plain=Plain), {}), {})
    [row] = [row for row in built.rows if row.name == "odd"]
    assert row.state == "failed" and row.reason.endswith(("mend it", "a default", "attrs.frozen"))
    assert {*built.plugins} == {"plain"}
