"""config.json: where it lies, what it says, and where each setting comes from.

Every name is loaded on first use, since a hook of Claude Code needs but two or three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .configuration import Config as Config
    from .effective import Effective as Effective
    from .entry import AgentEntry as AgentEntry, Skipped as Skipped
    from .migration import Migrated as Migrated, Migration as Migration, migrate as migrate, migrated as migrated
    from .place import home as home, locate as locate
    from .remark import Remark as Remark
    from .template import template as template, write_template as write_template

ROOMS: Final = {
    "configuration": ("Config",),
    "effective": ("Effective",),
    "entry": ("AgentEntry", "Skipped"),
    "migration": ("Migrated", "Migration", "migrate", "migrated"),
    "place": ("home", "locate"),
    "remark": ("Remark",),
    "template": ("template", "write_template"),
}
"""Module -> the names it holds."""

_HOME: Final = {name: room for room, names in ROOMS.items() for name in names}

__all__ = [
    "AgentEntry",
    "Config",
    "Effective",
    "Migrated",
    "Migration",
    "Remark",
    "Skipped",
    "home",
    "locate",
    "migrate",
    "migrated",
    "template",
    "write_template",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value
