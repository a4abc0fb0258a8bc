"""The MCP door: what an agent may call, over standard input and output. The SDK is imported here and nowhere else."""

from __future__ import annotations

import json
import logging
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
import mcp.types as types
from anyio.to_thread import run_sync
from attrs import define, field
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError

from reverie_hookspecs import NotFound, Refused, ReverieError

from . import __version__, offer as offering

if TYPE_CHECKING:
    from reverie_hookspecs import Agent

    from .offer import Offer
    from .wire import Wire

logger = logging.getLogger(__name__)
T = TypeVar("T")
AT_ONCE: Final = 32
"""Calls that may be under way; reading and writing have threads of their own."""
GRACE: Final = 5.0
"""Seconds in which calls under way are still answered, once the client has said all it will."""
TICK: Final = 0.05
UNKNOWN: Final = "internal error: it could not be done, and why stands in the log of reverie; carry on without it"
WORDS: Final = {
    "memory_search": "Before you answer anything about earlier work, decisions, dates, people, preferences or open "
    "tasks, search with memory_search: what is not in your prompt may well be remembered there.",
    "memory_get": "Read the lines around what you found with memory_get.",
    "memory_shared_create": "What other agents should know too goes into the shared vault with memory_shared_create.",
    "memory_shared_get": "Read a note of the shared vault in full with memory_shared_get.",
    "task_memory_append": "Write down what this conversation must not forget with task_memory_append.",
}
"""Tool -> when to use it; said only of tools that are there."""


@define(eq=False)
class Desk:
    """Answers one client: ``agent`` says whose tools are offered, anew each time it is asked.

    ``refresh`` is done once at the start, beside the first calls.
    """

    agent: Callable[[], Agent]
    offers: Callable[[Agent], dict[str, Offer]]
    refresh: Callable[[Agent], object] = lambda agent: None
    underway: int = 0
    _limit: anyio.CapacityLimiter | None = field(default=None, init=False)

    async def list_tools(self, ctx: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Every tool the agent may call now."""
        try:
            found = await self.apart(lambda: self.offers(self.agent()))
        except Exception as error:
            raise MCPError(types.INTERNAL_ERROR, sentence(error, "the list of tools")) from error
        return types.ListToolsResult(tools=[listed(one) for one in found.values()])

    async def call_tool(self, ctx: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        """The answer of a tool, or why there is none in a sentence for the model."""
        try:
            answer = await self.apart(partial(self.answer, params.name, params.arguments or {}))
        except Exception as error:  # noqa: BLE001 - this is the door
            return result(sentence(error, f"the call of {params.name}"), failed=True)
        return result(answer)

    def answer(self, name: str, arguments: dict[str, Any]) -> Any:
        """What a tool answers, in plain JSON values; it may take as long as it likes."""
        agent = self.agent()
        return offering.chosen(self.offers(agent), name, agent).call(arguments)

    async def apart(self, work: Callable[[], T]) -> T:
        """Work that may block, in a thread; whatever ends the program elsewhere is an error like any other there."""
        self._limit = self._limit or anyio.CapacityLimiter(AT_ONCE)
        self.underway += 1
        try:
            return await run_sync(partial(contained, work), abandon_on_cancel=True, limiter=self._limit)
        finally:
            self.underway -= 1

    async def refreshed(self) -> None:
        """Bring the index up to date; a failure is told to the log, for the index of before still answers."""
        try:
            await run_sync(partial(contained, lambda: self.refresh(self.agent())), abandon_on_cancel=True)
        except Exception as error:  # noqa: BLE001 - this is the door
            sentence(error, "bringing the index up to date")

    async def quiet(self) -> None:
        """Wait until every call is answered, though no longer than the grace."""
        with anyio.move_on_after(GRACE):
            await anyio.sleep(TICK)
            while self.underway:
                await anyio.sleep(TICK)
            await anyio.sleep(TICK)


def contained(work: Callable[[], T]) -> T:
    """Work whose SystemExit does not end the server."""
    try:
        return work()
    except Exception:
        raise
    except BaseException as error:
        raise RuntimeError(f"{type(error).__name__} was raised: {error}") from error


def sentence(error: Exception, what: str) -> str:
    """What a model is told of an error: the sentence that was meant for it, or that there is one in the log."""
    if isinstance(error, Refused | NotFound):
        return offering.whole(str(error))
    with suppress(OSError):  # nobody may be reading the log any more
        if isinstance(error, ReverieError):
            logger.error("%s failed: %s", what, error, exc_info=logger.isEnabledFor(logging.DEBUG))
        else:
            logger.error("%s failed", what, exc_info=error)
    return UNKNOWN


def listed(one: Offer) -> types.Tool:
    """A tool as the protocol has it."""
    tool = one.tool
    hints = types.ToolAnnotations(
        read_only_hint=bool(tool.reads_only),
        destructive_hint=bool(tool.destructive),
        open_world_hint=bool(tool.open_world),
    )
    return types.Tool(name=tool.name, description=one.about, input_schema=dict(one.schema), annotations=hints)


def result(answer: Any, failed: bool = False) -> types.CallToolResult:
    """An answer as text, and structured too; what is no object stands under ``result``. An error is text alone."""
    content = [types.TextContent(type="text", text=offering.told(answer))]
    if failed:
        return types.CallToolResult(content=[*content], is_error=True)
    whole = answer if isinstance(answer, dict) else {"result": answer}
    return types.CallToolResult(content=[*content], structured_content=whole)


def instructions(names: list[str], withheld: str = "") -> str:
    """What a model reads before it has seen any tool, in less than 2 KB."""
    if not names:
        return f"reverie, the memory of this agent, offers no tool now: {withheld or offering.NOTHING}."
    said = [words for name, words in WORDS.items() if name in names]
    others = [name for name in names if name not in WORDS]
    if others:
        said.append(f"{'Also offered: ' if said else 'It offers '}{', '.join(others)}.")
    return offering.cut(" ".join(["reverie is the long-term memory of this agent.", *said]), offering.LONGEST)


def server(desk: Desk) -> Server[Any]:
    """The server of one client; what keeps it from listing tools now may have passed when it is asked."""
    agent = desk.agent()
    why = offering.withheld(agent)
    try:
        names = [*desk.offers(agent)]
    except ReverieError as error:
        names, why = [], sentence(error, "the list of tools")
    return Server(
        "reverie",
        version=__version__,
        instructions=instructions(names, why),
        on_list_tools=desk.list_tools,
        on_call_tool=desk.call_tool,
    )


# The wire


class Said(anyio.AsyncFile[str]):
    """What the client says; the end comes only once what it asked is answered, and waiting for it can be given up."""

    desk: Desk

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await run_sync(self.wrapped.readline, abandon_on_cancel=True):
            if line.strip():
                yield mended(line)
        await self.desk.quiet()


def mended(line: str) -> str:
    """A line the SDK can read: one with half of a surrogate pair it would drop, and the client would wait for ever.

    >>> mended('{"a": "tea \\\\ud83c"}')
    '{"a": "tea ?"}'
    """
    if "\\ud" not in line.lower():
        return line
    try:
        return offering.whole(json.dumps(json.loads(line), ensure_ascii=False))
    except (ValueError, RecursionError):
        return line


def serve(desk: Desk, wire: Wire) -> None:
    """Answer the client until it has no more to say, is gone, or asks this process to end."""
    anyio.run(speak, desk, server(desk), wire)


async def speak(desk: Desk, made: Server[Any], wire: Wire) -> None:
    said = Said(wire.reads)
    said.desk = desk
    async with anyio.create_task_group() as group:
        group.start_soon(ended, desk, group.cancel_scope)
        group.start_soon(desk.refreshed)
        try:
            async with stdio_server(said, anyio.wrap_file(wire.writes)) as (reads, writes):
                await made.run(reads, writes, made.create_initialization_options())
        except* OSError:
            logger.debug("the client is gone")
        group.cancel_scope.cancel()


async def ended(desk: Desk, scope: anyio.CancelScope) -> None:
    """End when this process is asked to, with what is under way answered first."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            await desk.quiet()
            scope.cancel()
            return
