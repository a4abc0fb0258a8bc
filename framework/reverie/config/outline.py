"""Which keys of config.json have an owner, and at which levels they may stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import attrs

from reverie_hookspecs.errors import PluginError
from reverie_hookspecs.settings import LEVELS, READER, ZONE, Block, Level, Reader, time_zone

if TYPE_CHECKING:
    from .document import Tree


TIMEZONE: Final = "timezone"
"""The key of ``gateway`` that every time zone falls to; no block owns it."""


class Key(NamedTuple):
    """One key of one block; a block of None is ``gateway.timezone``."""

    path: str
    name: str
    attribute: str
    levels: tuple[Level, ...]
    reader: Reader | None
    zone: bool
    block: type[Block] | None
    field: attrs.Attribute[Any] | None

    @property
    def dotted(self) -> str:
        """``dreaming.dreamHour``"""
        return f"{self.path}.{self.name}" if self.path else self.name

    @property
    def default(self) -> Any:
        """The value of a key that stands nowhere."""
        return getattr(defaults(self.block), self.attribute) if self.block else "UTC"


class Outline:
    """The sections that a set of blocks owns: ``keys`` by path and name, ``inner`` the sections below a path."""

    def __init__(self, blocks: Iterable[type[Block]]) -> None:
        self.keys: dict[str, dict[str, list[Key]]] = {"": {TIMEZONE: [CLOCK]}}
        self.inner: dict[str, set[str]] = {"": set()}
        self.reach: dict[str, set[Level]] = {}
        for block in blocks:
            for key in keys_of(block):
                self.keys.setdefault(key.path, {}).setdefault(key.name, []).append(key)
                self._reach(key)

    def _reach(self, key: Key) -> None:
        parts = key.path.split(".") if key.path else []
        for depth, name in enumerate(parts):
            self.inner.setdefault(".".join(parts[:depth]), set()).add(name)
            self.reach.setdefault(".".join(parts[: depth + 1]), set()).update(key.levels)

    def names(self, path: str, level: Level) -> set[str]:
        """What may stand directly in the section at a path."""
        known = {name for name, keys in self.keys.get(path, {}).items() if any(level in key.levels for key in keys)}
        below = f"{path}." if path else ""
        return known | {name for name in self.inner.get(path, ()) if level in self.reach[below + name]}

    def __iter__(self) -> Iterator[Key]:
        """Every key once, in the order of its blocks."""
        seen = dict.fromkeys((path, name) for path, names in self.keys.items() for name in names)
        return iter(self.keys[path][name][0] for path, name in seen)


@lru_cache(maxsize=8)
def outline_of(blocks: tuple[type[Block], ...]) -> Outline:
    """The outline of some blocks, made once."""
    return Outline(blocks)


def keys_of(block: type[Block]) -> tuple[Key, ...]:
    """The keys a block names; PluginError if the class is no proper block."""
    if block not in _KEYS:
        _KEYS[block] = tuple(_key(block, each) for each in _fields(block))
    return _KEYS[block]


def defaults(block: type[Block]) -> Block:
    """A block of which nothing is set."""
    if block not in _UNSET:
        _UNSET[block] = block()
    return _UNSET[block]


def _fields(block: type[Block]) -> list[attrs.Attribute[Any]]:
    if "__attrs_attrs__" not in vars(block) or not isinstance(getattr(block, "path", None), str):
        raise improper(block, "give it a `path` and decorate it with attrs.frozen")
    fields = [each for each in attrs.fields(block) if each.init]
    if bare := [each.name for each in fields if each.default is attrs.NOTHING]:
        raise improper(block, f"give {', '.join(bare)} a default")
    return fields


def improper(block: type[Block], remedy: str) -> PluginError:
    return PluginError(f"settings class {block.__qualname__} is no block of config.json; {remedy}")


def _key(block: type[Block], each: attrs.Attribute[Any]) -> Key:
    held = each.metadata
    levels = held.get(LEVELS, block.levels)
    return Key(block.path, camel(each.name), each.name, levels, held.get(READER), ZONE in held, block, each)


def camel(name: str) -> str:
    """memory_budget_chars -> memoryBudgetChars"""
    first, *rest = name.strip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def section(tree: Mapping[str, Any], path: str) -> Tree:
    """The object at a dotted path, or an empty one."""
    node: Any = tree
    for name in path.split(".") if path else ():
        node = node.get(name)
        if not isinstance(node, dict):
            return {}
    return node  # type: ignore[no-any-return]


CLOCK: Final = Key("", TIMEZONE, TIMEZONE, ("gateway",), time_zone, False, None, None)
_KEYS: Final[dict[type[Block], tuple[Key, ...]]] = {}
_UNSET: Final[dict[type[Block], Block]] = {}
