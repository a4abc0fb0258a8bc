"""reverie config: show, check, migrate"""

from __future__ import annotations

import json
import os

import click

from reverie.config import Config, home, locate
from reverie_hookspecs import ConfigError, Refused

from .deployment import kernel
from .terminal import emit, say, table


@click.group("config")
def command() -> None:
    """Show or check the configuration."""


@command.command()
@click.option("--agent", default="", metavar="AGENT", help="The settings of this agent; else those of the gateway.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@click.pass_context
def show(ctx: click.Context, agent: str, as_json: bool) -> None:
    """Print every effective value and where it comes from: agent, gateway or default, and whether it was clamped."""
    deployment = kernel(ctx)
    known = {entry.id for entry in deployment.config.agents}
    chosen = agent if agent in known or not agent else deployment.agent(agent).id
    effective = deployment.config.effective(chosen if chosen in known else None)
    if as_json:
        emit({one.path: {"value": one.value, "origin": one.origin, "clamped": one.clamped} for one in effective})
        return
    rows = [
        (one.path, json.dumps(one.value, ensure_ascii=False), one.origin + ", clamped" * one.clamped)
        for one in effective
    ]
    table(("key", "value", "origin"), rows)


@command.command()
@click.option("--json", "as_json", is_flag=True, help="Print the remarks as JSON.")
@click.pass_context
def check(ctx: click.Context, as_json: bool) -> None:
    """Read the configuration and say everything that is odd about it; what is fatal exits 2."""
    root = ctx.find_root().params
    folder = home(os.environ)
    config = Config.load(locate(root.get("config"), os.environ, folder), folder, os.environ)
    root["quiet"] = True
    try:
        config = kernel(ctx).config
    except ConfigError:  # the plugins cannot be selected: say what else is odd first
        for odd in (*config.remarks, *config.skipped):
            say(str(odd))
        raise
    remarks = [str(remark) for remark in (*config.remarks, *config.skipped)]
    if as_json:
        emit({"file": str(config.file) if config.file else None, "remarks": remarks})
        return
    for remark in remarks:
        say(remark)
    if config.file is None:
        say(f"There is no configuration in {config.home}: every default applies. `reverie init` writes one.")
    else:
        told = f"{len(remarks)} remark{'s' * (len(remarks) != 1)}" if remarks else "nothing odd"
        say(f"{config.file}: {len(config.agents)} agent(s), {told}")


@command.command("migrate")
@click.option("--dry-run", is_flag=True, help="Show what would be added; write nothing.")
@click.pass_context
def bring_up_to_date(ctx: click.Context, dry_run: bool) -> None:
    """Add the keys that are missing in an older file, with defaults that change nothing; a backup is kept beside it."""
    from reverie.config import migrate

    folder = home(os.environ)
    file = locate(ctx.find_root().params.get("config"), os.environ, folder)
    if file is None:
        raise Refused(f"there is no configuration in {folder} to bring up to date; `reverie init` writes one")
    for line in migrate(file, rehearsal=dry_run).told or [f"{file} is up to date"]:
        say(line)
