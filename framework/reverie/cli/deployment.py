"""The deployment a command works on, loaded on first use."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING

import click

from reverie import config
from reverie.kernel import Kernel

from .terminal import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from reverie_hookspecs import Agent

AGENT = "An agent's id, or the path of its workspace; may be left out with one agent configured."


def kernel(ctx: click.Context) -> Kernel:
    """The kernel of this call; the configuration's remarks are told once, on standard error."""
    root = ctx.find_root()
    if not isinstance(root.obj, Kernel):
        home = config.home(os.environ)
        file = config.locate(root.params.get("config"), os.environ, home)
        root.obj = Kernel.load(config.Config.load(file, home, os.environ))
        for remark in () if root.params.get("quiet") else root.obj.config.remarks:
            say(f"config: {remark}", err=True)
        for skipped in root.obj.config.skipped:
            say(f"config: {skipped}", err=True)
    return root.obj


def stranger(ctx: click.Context, name: str) -> click.Command | None:
    """A plugin's command of that name, bound to the plugin in its slot; None if no active plugin has one."""
    for plugin in kernel(ctx).plugins.values():
        for command in plugin.commands:
            if command.name == name:
                return bound(command, plugin)
    return None


def unknown(ctx: click.Context, word: str, known: Iterable[str]) -> str:
    """What to say of a word that is no command: the nearest one, strangers' included."""
    from reverie.config.remark import nearest

    strangers = [command.name or "" for plugin in kernel(ctx).plugins.values() for command in plugin.commands]
    near = nearest(word, [*known, *strangers])
    return f"There is no command {word!r}. {f'Did you mean {near!r}?' if near else '`reverie` alone lists them.'}"


def bound(command: click.Command, plugin: object) -> click.Command:
    """The command with the plugin as its callback's first argument; in a group, every command below it."""
    import copy

    twin = copy.copy(command)
    if isinstance(twin, click.Group):
        twin.commands = {name: bound(child, plugin) for name, child in twin.commands.items()}
    elif twin.callback is not None:
        twin.callback = partial(twin.callback, plugin)
    return twin


def agent_argument(function: Callable[..., object]) -> Callable[..., object]:
    """The argument that names an agent."""
    return click.argument("agent", default="", metavar="[AGENT|PATH]")(function)


def chosen(ctx: click.Context, name: str) -> tuple[Kernel, Agent]:
    """The deployment and the agent of that name or path."""
    loaded = kernel(ctx)
    return loaded, loaded.agent(name)
