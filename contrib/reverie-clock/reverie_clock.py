"""An example plugin: one section, one stage between two others, settings, a command, and a stand-in for a slot."""

from __future__ import annotations

from datetime import UTC, datetime

import click
from attrs import define, frozen

from reverie_hookspecs import Agent, Block, Dream, Plugin, Section, Stage, hookimpl, text


@frozen
class ClockSettings(Block):
    """What stands under "clock" in config.json, at the gateway or at an agent."""

    path = "clock"

    label: str = text("UTC")
    """What the section calls the clock."""


@click.command("clock")
def clock(plugin: Clock) -> None:
    """Tell the time."""
    click.echo(plugin.time())


@define(eq=False)
class Clock(Plugin):
    """Tells the agent which clock it lives by, and notes the time between compactor and route-out."""

    blocks = (ClockSettings,)
    commands = (clock,)

    def time(self) -> str:
        """The time of day in UTC, to the minute."""
        return f"{datetime.now(UTC):%H:%M} UTC"

    @hookimpl
    def compose_section(self, agent: Agent) -> Section:
        label = agent.settings[ClockSettings].label
        return Section("clock", f"Times are {label} unless said otherwise.", after=("identity",), before=("soul",))

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        return Stage("clock", self.note, writes=False, after=("compactor",), before=("route-out", "staleness"))

    def note(self, dream: Dream) -> Dream:
        """The letter with the time on it."""
        return dream.note("clock", f"it was {self.time()}")


@define(eq=False)
class Sundial(Plugin):
    """Sits in the compactor's slot when the configuration says so, and moves nothing: the smallest stand-in."""

    slot = "compactor"

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        return Stage("compactor", lambda dream: dream.note("compactor", "the sundial moves nothing"), writes=False)
