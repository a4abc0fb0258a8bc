"""reverie call"""

from __future__ import annotations

import json
import os
import sys
from contextlib import redirect_stdout
from typing import Any, Final

import click

from .deployment import kernel
from .terminal import emit
from .tools import AGENT_OPTION, CONVERSATION_OPTION

EXAMPLE: Final = """'{"query": "tea"}'"""


@click.command("call")
@click.argument("tool", metavar="TOOL")
@click.argument("arguments", default="{}", metavar="[JSON]")
@AGENT_OPTION
@CONVERSATION_OPTION
@click.pass_context
def command(ctx: click.Context, tool: str, arguments: str, agent: str, conversation: str) -> None:
    """Call one tool as a client would, and print its answer as JSON.

    JSON is an object of arguments, '{"query": "tea"}'; `-` reads it from standard input.
    """
    from reverie import offer

    given = parsed(sys.stdin.read() if arguments == "-" else arguments)
    with redirect_stdout(sys.stderr):  # what a plugin prints is no part of the answer
        deployment = kernel(ctx)
        one = offer.meant(deployment, agent, offer.origin(conversation, os.environ))
        answer = offer.chosen(offer.offers(deployment, one), tool, one).call(given)
    emit(answer)


def parsed(text: str) -> dict[str, Any]:
    """The object that was typed."""
    try:
        given = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f'the arguments are no JSON ({error}); write them like \'{{"query": "tea"}}\'') from None
    if not isinstance(given, dict):
        raise click.UsageError('the arguments are no JSON object; write them like \'{"query": "tea"}\'')
    return given
