"""The small words that settings are written in, and how a plugin reads them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Literal, TypeVar, cast

from attrs import field, frozen

B = TypeVar("B", bound="Block")
Level = Literal["agent", "gateway"]
Reader = Callable[[Any], Any]

READER: Final = "reverie.reader"
"""Metadata key: a function from the JSON value to the value used; it raises ValueError with what was expected."""
ZONE: Final = "reverie.zone"
"""Metadata key of a time zone: unset or invalid everywhere, it falls to ``gateway.timezone``, then to UTC."""
LEVELS: Final = "reverie.levels"
"""Metadata key of a field that may stand elsewhere than its block: the levels, nearest first."""


@frozen
class Block:
    """A block of config.json: a plugin subclasses it to say which keys it reads, and where.

    Field names are the JSON keys in snake_case, and every field has a default. Several classes may share a path,
    each reading only the keys it names; the path "" is the agent's entry itself, and an agent is skipped if a value
    there, even null, cannot be read. ``levels`` are the places a value may stand, nearest first;
    ``refresh`` says when a changed value counts: at once, once the plugin is idle, or at the next start.

    A field is written with one of the words below, or plainly (``city: str = "Oslo"``), then its JSON value must
    be of exactly its type.
    """

    path: ClassVar[str]
    levels: ClassVar[tuple[Level, ...]] = ("agent", "gateway")
    refresh: ClassVar[Literal["live", "idle", "start"]] = "live"


@frozen
class Settings:
    """The settings of one agent, looked up by the class that describes them.

    >>> from reverie_hookspecs import MemorySettings
    >>> Settings({MemorySettings: MemorySettings()})[MemorySettings].over_budget
    'warn'
    """

    _blocks: Mapping[type[Block], Block]

    def __getitem__(self, block: type[B]) -> B:
        return cast("B", self._blocks[block])


def flag(default: bool, *, levels: tuple[Level, ...] | None = None) -> bool:
    """A switch: exactly ``true`` or ``false``; ``levels``, if they are not those of its block."""
    return field(default=default, metadata={READER: _boolean} | ({LEVELS: levels} if levels else {}))


def integer(default: int, low: int = 0, high: int | None = None) -> int:
    """A whole number of ``low`` to ``high``, both included; any other value counts as not set."""

    def read(value: Any) -> int:
        if not _finite(value) or value != math.floor(value) or value < low or (high is not None and value > high):
            raise ValueError(f"a whole number {_span(low, high)}")
        return int(value)

    return field(default=default, metadata={READER: read})


def decimal(default: float, low: float = 0.0, high: float | None = None) -> float:
    """A number of ``low`` to ``high``, both included; any other value counts as not set."""

    def read(value: Any) -> float:
        if not _finite(value) or value < low or (high is not None and value > high):
            raise ValueError(f"a number {_span(low, high)}")
        return float(value)

    return field(default=default, metadata={READER: read})


def clamped(default: int, low: int, high: int) -> int:
    """A whole number drawn into ``low`` to ``high``; a fraction is cut off."""

    def read(value: Any) -> int:
        if not _finite(value):
            raise ValueError("a finite number")
        return int(max(low, min(high, math.floor(value))))

    return field(default=default, metadata={READER: read})


def one_of(*words: str, otherwise: str, default: str = "") -> str:
    """One of ``words`` exactly; anything else, of whatever type, is ``otherwise``. The default is the first word."""

    def read(value: Any) -> str:
        return value if isinstance(value, str) and value in (*words, otherwise) else otherwise

    return field(default=default or words[0], metadata={READER: read})


def text(default: str, check: Callable[[str], str] | None = None) -> str:
    """A string; ``check`` may change it, or raise ValueError with what was expected."""

    def read(value: Any) -> str:
        if not isinstance(value, str) or not _encodable(value):
            raise ValueError("a string")
        return check(value) if check else value

    return field(default=default, metadata={READER: read})


def zone() -> str:
    """An IANA time zone; the feature's own, else ``gateway.timezone``, else UTC."""
    return field(default="UTC", metadata={READER: time_zone, ZONE: True})


def time_zone(value: Any) -> str:
    """The name of a time zone this machine knows, or ValueError."""
    if value == "UTC":
        return "UTC"
    try:
        if isinstance(value, str):
            from zoneinfo import ZoneInfo  # costs some milliseconds, and only a zone that is set needs it

            return ZoneInfo(value).key
    except (OSError, ValueError, LookupError):
        pass
    raise ValueError("an IANA time zone such as Europe/Berlin")


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError("true or false")


def _finite(value: Any) -> bool:
    """Whether it is a number that a double can hold; true and false are none."""
    try:
        return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:
        return False


def _encodable(value: str) -> bool:
    """Whether it can be written as UTF-8: JSON may hold half of a surrogate pair."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _span(low: float, high: float | None) -> str:
    return f"of at least {low}" if high is None else f"from {low} to {high}"
