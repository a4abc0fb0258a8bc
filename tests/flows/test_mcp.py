"""A client and the server, as two processes, over standard input and output."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from .strangers import NAMES, Served

VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with closing(Served(tmp_path_factory.mktemp("served"))) as one:
        yield one


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Served]:
    """A deployment that a test may change."""
    with closing(Served(tmp_path)) as one:
        yield one


class Caller:
    """A real client, called from a test that knows nothing of event loops."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal, self.client = portal, client

    def list(self) -> dict[str, Any]:
        return {tool.name: tool for tool in self.portal.call(self.client.list_tools).tools}

    def call(self, name: str, /, **arguments: Any) -> Any:
        return self.portal.call(self.client.call_tool, name, arguments)

    def refused(self, name: str, /, **arguments: Any) -> str:
        """The text of a tool error."""
        result = self.call(name, **arguments)
        assert result.is_error and result.structured_content is None
        return str(result.content[0].text)


@contextmanager
def called(served: Served, mode: str, log: Path | None = None) -> Iterator[Caller]:
    """A client of a server of its own."""
    words = served.command("mcp", "--agent", "alfred")
    parameters = StdioServerParameters(command=words[0], args=words[1:], env=served.environ)
    with (log or Path("/dev/null")).open("w") as errors, start_blocking_portal() as portal:
        transport = stdio_client(parameters, errlog=errors)
        with portal.wrap_async_context_manager(Client(transport, mode=mode, read_timeout_seconds=20)) as client:  # type: ignore[arg-type]
            yield Caller(portal, client)


@pytest.fixture(scope="module", params=["legacy", "auto"])
def caller(request: pytest.FixtureRequest, served: Served) -> Iterator[Caller]:
    with called(served, request.param) as one:
        assert one.client.protocol_version == VERSIONS[request.param]
        yield one


def test_tools_are_listed_with_schemas_and_annotations(caller: Caller) -> None:
    tools = caller.list()
    assert list(tools) == NAMES
    for tool in tools.values():
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["type"] == "object"
    assert tools["weather"].description == "The weather of a city."
    assert tools["weather"].input_schema["properties"]["name"] == {"type": "string", "description": "Which city."}
    hints = {
        name: (t.annotations.read_only_hint, t.annotations.destructive_hint, t.annotations.open_world_hint)
        for name, t in tools.items()
    }
    assert hints["weather"] == (True, False, True)
    assert hints["nap"] == (False, False, False)
    assert hints["drown"] == (False, True, False)


def test_an_answer_is_structured_and_the_same_as_text_without_escapes(caller: Caller) -> None:
    result = caller.call("weather", name="東京", maxDays=2)
    wanted = {"city": "東京", "days": ['雨 "wet"', '雨 "wet"'], "unit": "mm"}
    assert result.structured_content == wanted and not result.is_error
    assert json.loads(result.content[0].text) == wanted
    assert "東京" in result.content[0].text and "\\u" not in result.content[0].text


def test_an_answer_that_is_no_object_stands_under_result(caller: Caller) -> None:
    result = caller.call("nap")
    assert result.structured_content == {"result": "slept"} and result.content[0].text == "slept"
    assert caller.call("drown").structured_content == {"result": None}


def test_half_a_character_does_not_break_the_wire(caller: Caller) -> None:
    assert caller.call("halve").content[0].text == "tea ?"


def test_wrong_arguments_are_told_before_anything_is_called(caller: Caller) -> None:
    assert caller.refused("weather", nam="Oslo") == (
        'weather: there is no argument "nam"; did you mean "name"?; name is missing, and a string is expected'
    )
    told = caller.refused("weather", name="Oslo", maxDays=9, unit="foot")
    assert "maxDays is 9, and a whole number from 1 to 7 is expected" in told
    assert 'unit is "foot", and "mm" or "inch" is expected' in told


def test_an_unknown_tool_names_the_nearest(caller: Caller) -> None:
    assert caller.refused("wether") == 'there is no tool "wether"; did you mean "weather"?'
    assert caller.refused("opaque").startswith('there is no tool "opaque"')


def test_a_refusal_is_the_sentence_of_the_tool(caller: Caller) -> None:
    assert caller.refused("refuse") == "it rains too hard to say; ask again tomorrow"
    assert caller.refused("lose") == "no station is called that: ?"


@pytest.mark.parametrize("name", ["fail", "leave", "puzzle"])
def test_any_other_failure_is_an_internal_error_and_the_server_lives_on(caller: Caller, name: str) -> None:
    told = caller.refused(name)
    assert told.startswith("internal error") and "secret" not in told and "Error" not in told
    assert caller.call("nap").content[0].text == "slept"


def test_a_slow_call_does_not_hold_up_another(caller: Caller) -> None:
    async def both() -> list[str]:
        ended: list[str] = []

        async def call(name: str, arguments: dict[str, Any]) -> None:
            await caller.client.call_tool(name, arguments)
            ended.append(name)

        async with anyio.create_task_group() as group:
            group.start_soon(call, "nap", {"seconds": 0.6})
            await anyio.sleep(0.1)
            group.start_soon(call, "weather", {"name": "Oslo"})
        return ended

    assert caller.portal.call(both) == ["weather", "nap"]


def test_the_instructions_name_the_tools_that_are_there_and_no_others(caller: Caller) -> None:
    told = caller.client.instructions or ""
    assert "weather" in told and "memory_search" not in told and "opaque" not in told and len(told.encode()) <= 2048


@pytest.mark.parametrize("mode", VERSIONS)
def test_two_servers_serve_one_workspace_and_list_anew(own: Served, tmp_path: Path, mode: str) -> None:
    with called(own, mode, tmp_path / "one.log") as one, called(own, mode) as other:
        assert list(one.list()) == list(other.list()) == NAMES
        (own.workspace / "MEMORY.md").write_text("- fickle\n")
        assert "fickle" in one.list() and "fickle" in other.list()
        one.refused("fail")
        assert one.call("fickle").structured_content == other.call("fickle").structured_content == {"result": 1}
    log = (tmp_path / "one.log").read_text("utf-8")
    for line in ("raw noise at import", "noise of a fault", "no luck today", "'opaque' is left out", "the secret key"):
        assert line in log


# By hand


def say(server: subprocess.Popen[str], method: str, number: int | None = None, **params: Any) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": params, **({} if number is None else {"id": number})}
    assert server.stdin is not None
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()


def greet(server: subprocess.Popen[str]) -> str:
    """Shake hands; the server's instructions."""
    assert server.stdin is not None and server.stdout is not None
    server.stdin.write(json.dumps(HELLO) + "\n")
    say(server, "notifications/initialized")
    return str(json.loads(server.stdout.readline())["result"].get("instructions"))


def ending(server: subprocess.Popen[str]) -> tuple[dict[int, Any], str]:
    """What is answered after standard input has ended, by the request's id, and the log; the exit code is 0."""
    out, log = server.communicate(timeout=20)
    assert server.returncode == 0, log
    return {message["id"]: message["result"] for message in map(json.loads, out.splitlines())}, log


def test_everything_that_was_asked_is_answered_before_the_end(served: Served) -> None:
    server = served.start("--workspace", served.workspace)
    greet(server)
    assert server.stdin is not None
    server.stdin.write("this is no JSON\n\n")
    half = {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "tools/call",
        "params": {"name": "weather", "arguments": {"name": "a\ud83c"}},
    }
    server.stdin.write(json.dumps(half) + "\n")
    say(server, "tools/call", 3, name="weather", arguments={"name": "Oslo"})
    say(server, "tools/call", 4, name="nap", arguments={"seconds": 0.4})
    answers, log = ending(server)
    assert answers[2]["structuredContent"]["city"] == "a?"
    assert answers[3]["structuredContent"]["city"] == "Oslo"
    assert log.count("'opaque' is left out") == 1
    assert answers[4]["content"][0]["text"] == "slept"
    for noise in ("noise at import", "raw noise in a call", "noise in a call", "noise of a child"):
        assert noise in log


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_with_what_is_under_way_answered(served: Served, sign: signal.Signals) -> None:
    server = served.start()
    greet(server)
    say(server, "tools/call", 1, name="nap", arguments={"seconds": 0.3})
    time.sleep(0.15)
    server.send_signal(sign)
    assert server.wait(10) == 0
    assert server.stdout is not None and server.stderr is not None
    assert json.loads(server.stdout.readline())["result"]["content"][0]["text"] == "slept"
    assert "Traceback" not in server.stderr.read()


def test_it_ends_when_nobody_reads_any_more(served: Served) -> None:
    server = served.start()
    greet(server)
    assert server.stdout is not None and server.stderr is not None
    server.stdout.close()
    say(server, "tools/call", 1, name="nap", arguments={})
    assert server.wait(10) == 0 and "Traceback" not in server.stderr.read()


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (("--agent", "alferd"), 2, "did you mean 'alfred'?"),
        (("--agent", "alfred", "--workspace", "/"), 2, "exclude each other"),
        (("--conversation", "slack"), 1, "CHANNEL:ID"),
        (("--conversation", ":5"), 1, "CHANNEL:ID"),
    ],
)
def test_a_start_that_fails_says_why_and_keeps_quiet_on_the_wire(
    served: Served, words: tuple[str, ...], code: int, told: str
) -> None:
    server = served.start(*words)
    out, log = server.communicate(timeout=20)
    assert (server.returncode, out) == (code, "") and told in log and "Traceback" not in log


def test_an_agent_that_keeps_conversations_apart_is_served_in_one_alone(own: Served) -> None:
    own.configure({"isolation": "apart"}, isolateMemory=True)
    chat = {"GATEWAY_ORIGIN_CHANNEL": "slack", "GATEWAY_ORIGIN_CHAT_ID": "C:1"}
    started = [own.start(), own.start(**chat), own.start("--conversation", "mail:a:b", **chat)]
    told = [greet(server) for server in started]
    for server in started:
        say(server, "tools/list", 1)
        say(server, "tools/call", 2, name="who", arguments={})
    answers = [ending(server)[0] for server in started]
    assert [[tool["name"] for tool in one[1]["tools"]] for one in answers] == [[], ["who"], ["who"]]
    assert "keeps its conversations apart" in told[0] and "--conversation" in answers[0][2]["content"][0]["text"]
    assert [one[2].get("structuredContent") for one in answers[1:]] == [
        {"result": ["slack", "C:1"]},
        {"result": ["mail", "a:b"]},
    ]


def test_half_an_origin_stops_only_an_agent_that_keeps_conversations_apart(own: Served) -> None:
    half = {"GATEWAY_ORIGIN_CHANNEL": "slack", "GATEWAY_ORIGIN_CHAT_ID": ""}
    server = own.start(**half)
    greet(server)
    say(server, "tools/call", 1, name="who", arguments={})
    assert ending(server)[0][1]["structuredContent"] == {"result": None}
    own.configure({"isolation": "apart"}, isolateMemory=True)
    refused = own.start(**half)
    out, log = refused.communicate(timeout=20)
    assert (refused.returncode, out) == (1, "") and "channel and a chat id" in log


def test_a_closed_standard_input_is_explained(served: Served) -> None:
    words = ["sh", "-c", 'exec "$@" <&-', "sh", *served.command("mcp")]
    done = subprocess.run(words, env=served.environ, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "let a client start it" in done.stderr and not done.stdout


def test_the_workspace_may_vanish_and_come_back(own: Served) -> None:
    away = own.workspace.with_name("away")
    server = own.start()
    greet(server)
    own.workspace.rename(away)
    say(server, "tools/call", 1, name="nap", arguments={})
    assert server.stdout is not None
    answer = json.loads(server.stdout.readline())["result"]
    assert answer["isError"] and "is not there" in answer["content"][0]["text"]
    away.rename(own.workspace)
    say(server, "tools/call", 2, name="nap", arguments={})
    assert ending(server)[0][2]["content"][0]["text"] == "slept"
