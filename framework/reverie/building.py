"""Build the chosen plugins, each with the capabilities it needs."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from types import ModuleType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import attrs
from attrs import evolve, frozen

from reverie_hookspecs import Plugin, PluginError, Policy

from .config.outline import keys_of
from .selection import Row

Needs = dict[str, tuple[type, bool]]


@frozen
class Built:
    """The rows after building, and the plugins that stand, by slot."""

    rows: tuple[Row, ...]
    plugins: Mapping[str, Plugin]

    def providing(self, capability: type) -> list[Any]:
        """The plugins that provide a capability."""
        return [plugin for plugin in self.plugins.values() if capability in plugin.provides]


def build(rows: Iterable[Row], given: Mapping[type, object]) -> Built:
    """Instantiate the active plugins in the order of their needs.

    ``given`` are capabilities of the kernel itself. What cannot be built becomes a failed row, and so does whatever
    needs it; the others stand.
    """
    state = {row.slot: row for row in rows if row.state == "active"}
    rest = [row for row in rows if row.state != "active"]
    providers = claim(state)
    needs = {slot: read_needs(state, slot) for slot in state}
    plugins: dict[str, Plugin] = {}
    for slot in in_order(state, needs, providers):
        made = make(state[slot], needs[slot], providers, plugins, given)
        if isinstance(made, Row):
            state[slot] = made
        else:
            plugins[slot] = made
    ordered = sorted([*state.values(), *rest], key=lambda row: (row.slot, row.name))
    return Built(tuple(ordered), {slot: plugins[slot] for slot in sorted(plugins)})


def described(row: Row) -> dict[str, Any]:
    """A row for a person or a program: its hooks, the blocks it reads and what it needs by name."""
    from .hooks import implemented

    needs = read_needs({row.slot: evolve(row, state="active")}, row.slot) if row.plugin else {}
    blocks = row.plugin.blocks if row.plugin else ()
    return {
        "slot": row.slot,
        "plugin": row.name,
        "state": row.state,
        "from": row.distribution,
        "hooks": implemented(row.plugin) if row.plugin else [],
        "settings": sorted({getattr(block, "path", "?") or "agents[]" for block in blocks}),
        "needs": [getattr(cap, "__name__", str(cap)) + "?" * optional for cap, optional in needs.values()],
        "reason": row.reason,
    }


def claim(state: dict[str, Row]) -> dict[type, str]:
    """Capability -> the slot that provides it; a second claimant becomes a failed row that names both.

    Our own plugin goes before a stranger's: installing one changes nothing until the configuration says so.
    """
    providers: dict[type, str] = {}
    for slot, row in sorted(state.items(), key=lambda item: (not ours(item[1]), item[0])):
        taken = [cap for cap in provided(row) if cap is not Policy and cap in providers]
        if taken:
            other = providers[taken[0]]
            state[slot] = row.failed(
                f"{taken[0].__name__} is provided by both {other!r} and {slot!r}; switch one off in config.json"
            )
            continue
        providers |= dict.fromkeys((cap for cap in provided(row) if cap is not Policy), slot)
    return providers


def provided(row: Row) -> tuple[type, ...]:
    return row.plugin.provides if row.plugin else ()


def ours(row: Row) -> bool:
    """Whether the plugin ships with reverie, or sits where the configuration put it."""
    return row.slot != row.name or (row.point is not None and row.point.value.startswith("reverie_plugins."))


def read_needs(state: dict[str, Row], slot: str) -> Needs:
    """What the plugin's fields ask for: field -> (capability, optional); a field that cannot be read fails the row."""
    row = state[slot]
    if row.state != "active" or row.plugin is None:
        return {}
    try:
        return {field.name: need(hint(row.plugin, field)) for field in attrs.fields(row.plugin)}
    except (NameError, TypeError, attrs.exceptions.NotAnAttrsClassError) as error:
        state[slot] = row.failed(f"its needs cannot be read: {error}; import what a field is typed with at run time")
        return {}


def hint(plugin: type[Plugin], field: attrs.Attribute[Any]) -> Any:
    """The type of a field; one written as text is looked up in the module of the class that declares it."""
    if not isinstance(field.type, str):
        return field.type
    home = next(cls for cls in plugin.__mro__ if field.name in inspect.get_annotations(cls))
    probe = ModuleType(home.__module__)
    probe.__annotations__ = {"field": field.type}
    return get_type_hints(probe, vars(sys.modules[home.__module__]))["field"]


def need(hint: Any) -> tuple[type, bool]:
    """The capability of a field's type, and whether it may be missing."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    return next(part for part in parts if part is not NoneType), NoneType in parts


def in_order(state: dict[str, Row], needs: Mapping[str, Needs], providers: Mapping[type, str]) -> list[str]:
    """The active slots, providers first; those in a circle become failed rows."""
    while True:
        graph = {
            slot: {providers[cap] for cap, _ in needs[slot].values() if cap in providers}
            for slot, row in state.items()
            if row.state == "active"
        }
        try:
            return [slot for slot in TopologicalSorter(graph).static_order() if slot in graph]
        except CycleError as error:
            circle = error.args[1]
            for slot in circle[:-1]:
                state[slot] = state[slot].failed("plugins need one another in a circle: " + " -> ".join(circle))


def make(
    row: Row,
    needs: Needs,
    providers: Mapping[type, str],
    plugins: Mapping[str, Plugin],
    given: Mapping[type, object],
) -> Plugin | Row:
    """The plugin with its needs handed in, or its row, failed."""
    for block in row.plugin.blocks if row.plugin else ():
        try:
            keys_of(block)
        except (PluginError, TypeError, AttributeError) as error:
            return row.failed(str(error))
    values: dict[str, object] = {}
    for field, (capability, optional) in needs.items():
        values[field] = given.get(capability) or plugins.get(providers.get(capability, ""))
        if values[field] is None and not optional:
            name = getattr(capability, "__name__", str(capability))
            return row.failed(f"needs {name}, and no active plugin provides it; switch one on, or this one off")
    try:
        assert row.plugin is not None
        return row.plugin(**values)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a stranger's constructor may raise anything
        return evolve(row, state="failed", reason=f"cannot be built: {type(error).__name__}: {error}; mend it")
