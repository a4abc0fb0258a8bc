"""The class every plugin wears."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from attrs import define

from .errors import PluginError
from .settings import Block

if TYPE_CHECKING:
    import click

    from .tool import Duty, Route


@define(eq=False)
class Plugin:
    """Base class of plugins: hooks are what a plugin does, its class attributes what it is, its fields what it needs.

    A subclass is decorated with ``@define(eq=False)``. Each field is typed with a capability and handed in by the
    kernel. The callables of ``commands``, ``routes`` and ``duties`` take the plugin as their first argument.
    """

    slot: ClassVar[str] = ""
    """The slot it fills; empty is the name of its entry point."""
    provides: ClassVar[tuple[type, ...]] = ()
    """The capabilities it fills."""
    blocks: ClassVar[tuple[type[Block], ...]] = ()
    """The keys of config.json it reads."""
    commands: ClassVar[tuple[click.Command, ...]] = ()
    """Commands put under the launcher."""
    routes: ClassVar[tuple[Route, ...]] = ()
    """Routes put under the HTTP door."""
    duties: ClassVar[tuple[Duty, ...]] = ()
    """Work with a clock of its own."""
    requires_reverie: ClassVar[str] = ""
    """The versions of reverie it works with, a PEP 440 range."""

    @classmethod
    def __attrs_init_subclass__(cls) -> None:
        if cls.__eq__ is not object.__eq__:
            raise PluginError(
                f"plugin class {cls.__qualname__} compares by value, and pluggy would take two plugins for one; "
                "decorate it with @define(eq=False)"
            )
