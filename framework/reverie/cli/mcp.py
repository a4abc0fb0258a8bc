"""reverie mcp"""

from __future__ import annotations

import logging
import os
import sys
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import click

from .deployment import kernel
from .tools import AGENT_OPTION, CONVERSATION_OPTION

if TYPE_CHECKING:
    from reverie_hookspecs import Agent


@click.command("mcp")
@AGENT_OPTION
@click.option("--workspace", default="", metavar="PATH", help="The path of a workspace, in place of --agent.")
@CONVERSATION_OPTION
@click.pass_context
def command(ctx: click.Context, agent: str, workspace: str, conversation: str) -> None:
    """Serve an agent's tools to an MCP client, over standard input and output.

    A client starts it: `claude mcp add reverie -- reverie mcp --agent AGENT`. What goes wrong is told on standard
    error; without --conversation, GATEWAY_ORIGIN_CHANNEL and GATEWAY_ORIGIN_CHAT_ID name it.
    """
    from reverie import offer, wire

    if agent and workspace:
        raise click.UsageError("--agent and --workspace exclude each other; give one of them")
    line = wire.taken()  # before any plugin is imported: it may print
    deployment = kernel(ctx)
    whose = partial(offer.meant, deployment, agent or workspace, offer.origin(conversation, os.environ))
    whose()
    from reverie import mcp

    def refresh(one: Agent) -> None:
        if not offer.withheld(one):
            deployment.index(one.corpus)

    mcp.serve(mcp.Desk(whose, partial(offer.offers, deployment, told=set()), refresh), line)
    leave()


def leave() -> None:
    """End now: a call that hangs, or a client that says nothing, would hold the threads they are in for ever."""
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    os._exit(0)
