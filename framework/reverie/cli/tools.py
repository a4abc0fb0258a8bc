"""reverie tools"""

from __future__ import annotations

import os
import sys
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

import click

from .deployment import AGENT, kernel
from .terminal import emit, say, table

if TYPE_CHECKING:
    from reverie import offer

AGENT_OPTION = click.option("--agent", default="", metavar="AGENT|PATH", help=AGENT)
CONVERSATION_OPTION = click.option(
    "--conversation", default="", metavar="CHANNEL:ID", help="The conversation, of an agent that keeps them apart."
)


@click.command("tools")
@AGENT_OPTION
@CONVERSATION_OPTION
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON, with the schemas of their arguments.")
@click.pass_context
def command(ctx: click.Context, agent: str, conversation: str, as_json: bool) -> None:
    """List the tools an agent may call, as `reverie mcp` offers them."""
    from reverie import offer

    with redirect_stdout(sys.stderr):  # what a plugin prints is no part of the list
        deployment = kernel(ctx)
        one = offer.meant(deployment, agent, offer.origin(conversation, os.environ))
        found = offer.offers(deployment, one)
    if as_json:
        emit([plain(each) for each in found.values()])
    elif found:
        table(("tool", "arguments", "kind", "about"), [row(each) for each in found.values()])
    else:
        say(f"{one.id}: {offer.withheld(one) or offer.NOTHING}")


def plain(one: offer.Offer) -> dict[str, object]:
    """A tool in plain values."""
    tool = one.tool
    kinds = {"readsOnly": tool.reads_only, "destructive": tool.destructive, "openWorld": tool.open_world}
    return {"name": tool.name, "about": one.about, **kinds, "arguments": one.schema}


def row(one: offer.Offer) -> tuple[str, str, str, str]:
    """A tool on one line; an argument that may be left out stands in brackets."""
    needed = one.schema["required"]
    words = [name if name in needed else f"[{name}]" for name in one.schema["properties"]]
    kind = "reads" if one.tool.reads_only else "destroys" if one.tool.destructive else "writes"
    return one.tool.name, " ".join(words), kind, " ".join(one.about.split())
