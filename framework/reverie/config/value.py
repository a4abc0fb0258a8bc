"""The value of one key: the agent's, else the gateway's, else the default."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from reverie_hookspecs.errors import PluginError
from reverie_hookspecs.settings import Block, Level

from .outline import CLOCK, TIMEZONE, Key, defaults, keys_of, section

if TYPE_CHECKING:
    from .document import Tree

logger = logging.getLogger(__name__)
Origin = Literal["agent", "gateway", "default"]
OURS: Final = "reverie_hookspecs.blocks."
"""Where the documented blocks live: each may be asked for, claimed or not."""
UNREADABLE: Final = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError)
"""What a reader may raise: one of a stranger's may trip over a type it did not expect."""


class Found(NamedTuple):
    """A value, the level it comes from, and whether something else stood there: clamped, cut or replaced."""

    value: Any
    origin: Origin
    clamped: bool = False


class Levels(NamedTuple):
    """The trees a key is looked for in; of a bare workspace there is no agent's."""

    agent: Tree
    gateway: Tree

    def above(self, level: Level) -> Levels:
        """What a value at a level falls to, if it does not count; a zone still finds ``gateway.timezone``."""
        return Levels({}, self.gateway if level == "agent" else {TIMEZONE: self.gateway.get(TIMEZONE)})


def read(key: Key, raw: Any) -> Any:
    """The value a JSON value stands for, or ValueError with what was expected."""
    if key.reader:
        reader = key.reader
    else:
        from .typed import reader_of  # brings cattrs, and only a stranger's plain field needs it

        reader = reader_of(key)
    try:
        return reader(raw)
    except ValueError as error:
        raise ValueError(str(error) or "what it takes") from None
    except UNREADABLE:
        raise ValueError("what it takes") from None


def changed(key: Key, raw: Any, value: Any) -> bool:
    """Whether a reader made something else of what the file says; JSON has but one kind of number and of list."""
    if isinstance(raw, bool) or isinstance(value, bool):
        return raw is not value
    alike = raw == value or (isinstance(value, tuple) and raw == list(value))
    return key.reader is not None and not alike


def resolve(key: Key, levels: Levels) -> Found:
    """The value of a key: null, and what cannot be read, count as not set."""
    for level in key.levels:
        raw = section(getattr(levels, level), key.path).get(key.name)
        if raw is None:
            continue
        try:
            value = read(key, raw)
        except ValueError:
            continue
        return Found(value, level, changed(key, raw, value))
    return resolve(CLOCK, levels) if key.zone else Found(key.default, "default")


class Blocks(Mapping[type[Block], Block]):
    """The blocks of one agent, each made when it is first asked for."""

    def __init__(self, claims: tuple[type[Block], ...], levels: Levels) -> None:
        self._claims = claims
        self._levels = levels
        self._made: dict[type[Block], Block] = {}

    def __getitem__(self, block: type[Block]) -> Block:
        if block not in self._made:
            if block not in self._claims and not block.__module__.startswith(OURS):
                raise PluginError(
                    f"settings class {block.__qualname__} is asked for and claimed by no plugin; "
                    "name it in the `blocks` of the plugin that reads it"
                )
            self._made[block] = build(block, self._levels)
        return self._made[block]

    def __contains__(self, block: object) -> bool:
        return block in self._claims

    def __iter__(self) -> Iterator[type[Block]]:
        return iter(self._claims)

    def __len__(self) -> int:
        return len(self._claims)


def build(block: type[Block], levels: Levels) -> Block:
    """A block with every value that is set; its defaults alone, if it refuses them together."""
    values: dict[str, Any] = {}
    for key in keys_of(block):
        value, origin, _ = resolve(key, levels)
        if origin != "default" and key.field:
            values[key.field.alias or key.attribute] = value
    try:
        return block(**values)
    except UNREADABLE as error:
        logger.warning("settings class %s refuses its values, so its defaults are used: %s", block.__qualname__, error)
        return defaults(block)
