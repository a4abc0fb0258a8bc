"""What keeps conversations, and an archive, apart."""

from __future__ import annotations

from typing import Any

from attrs import field, frozen

from reverie_hookspecs.settings import READER, Block, flag


def tool_names(value: Any) -> tuple[str, ...]:
    """A list of names."""
    if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
        raise ValueError("a list of names of tools")
    return tuple(value)


@frozen
class IsolationSettings(Block):
    """The switch of isolated memory; it fails closed, so an agent with a value of another type is skipped."""

    path = ""
    levels = ("agent",)
    refresh = "idle"

    isolate_memory: bool = flag(False)
    """Keep the memory of each conversation apart."""
    disable_archive: bool = flag(False)
    """Switch the archive off for this agent, and everything that points at it."""


@frozen
class IsolationTools(Block):
    """What an isolated agent may use beyond the tools that ship with reverie."""

    path = "isolation"
    levels = ("agent",)

    tools: tuple[str, ...] = field(default=(), metadata={READER: tool_names})
    """Tools of other authors, by name; each must also declare itself conversation-safe."""
