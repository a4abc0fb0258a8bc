"""What ``reverie config show`` prints: every setting, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator

from attrs import frozen

from .outline import Outline
from .value import Blocks, Levels, Origin, resolve


@frozen
class Effective:
    """One setting of an agent, or of the gateway: ``dreaming.dreamHour``, its value and the level it comes from.

    ``clamped`` says that something else stands in the file, and was cut, drawn into its range or replaced.
    """

    path: str
    value: object
    origin: Origin
    clamped: bool = False


def effective(outline: Outline, blocks: Blocks, levels: Levels, *, agent: bool) -> Iterator[Effective]:
    """Every key of every block, in their order; without an agent those that may stand at gateway level."""
    for key in outline:
        if not agent and "gateway" not in key.levels:
            continue
        value, origin, clamped = resolve(key, levels)
        final = getattr(blocks[key.block], key.attribute) if key.block else value
        yield Effective(key.dotted, final, origin, clamped or final != value)
