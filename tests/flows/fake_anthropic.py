#!/usr/bin/env python3
"""A scripted stand-in for the Anthropic Messages API, on loopback.

Standard library only; Python >= 3.11. A test points a real client at it (the `anthropic` SDK through
`base_url=`, the `claude` CLI through the environment variable ANTHROPIC_BASE_URL), scripts what "the
model" answers, and afterwards reads what the client asked.

    with FakeAnthropic() as fake:
        fake.push(text("hello"))                          # answers the next model call, once
        fake.push(tool_use("mcp__kb__memory_search", {"query": "tea"}), text("done"))
        fake.when(user_says("/weather"), text("rain"))    # a rule: answers every call it matches
        fake.when(system_says("reviewer"), structured({"ops": []}))
        client = anthropic.Anthropic(base_url=fake.base_url, api_key="fake")
        subprocess.run(["claude", "-p", "hi"], env={**fake.claude_env(home), "PATH": os.environ["PATH"]})
        ...
        assert fake.calls[0].prompt == "hi"

For each POST /v1/messages an answer is picked in this order: the first `when` rule that matches, then
the queue (`push`), then `default`. With none of the three the server answers HTTP 500 and records the
call in `fake.unscripted`, so a test can say `assert not fake.unscripted`.

Served paths
    POST /v1/messages                 "stream": true -> server-sent events, otherwise one JSON object
    POST /v1/messages/count_tokens    a rough count: characters / 4
    GET  /v1/models, /v1/models/{id}  any model id exists; context window from `context_window`
    GET|HEAD /                        200, an empty object (the `claude` CLI probes its base URL)
    anything else                     404 not_found_error, in Anthropic's error form

What the `claude` CLI (2.1.197 and 2.1.332 were tried) does that a test must know
    - It always streams. If a stream breaks off early it may ask again without streaming.
    - `-p` makes one model call per turn, with no side calls, when claude_env() is used.
    - Its user messages carry <system-reminder> blocks and there are messages of role "system" between
      the turns: use `Call.prompt`, or `user_says`, not the raw last message.
    - Newer versions keep MCP tools out of "tools" until the model asks for them through ToolSearch (a
      scripted tool_use runs all the same); claude_env() turns that off, so that `has_tool` works.
    - With --json-schema the answer must be a call of the tool StructuredOutput: use `structured`.
    - `/compact` asks for a summary: answer text("<summary>...</summary>"), matched by
      user_says("create a detailed summary").
    - Context size is what the scripted usage says: text("...", usage={"input_tokens": 90_000}).

As a program:  fake_anthropic.py --port 0 --script replies.json --log calls.jsonl
(the first line on stdout is the base URL; `--help` shows the form of the script file).
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = [
    "Call",
    "FakeAnthropic",
    "Reply",
    "blocks",
    "error",
    "has_tool",
    "model_is",
    "structured",
    "system_says",
    "text",
    "thinking",
    "tool_use",
    "user_says",
]

# ------------------------------------------------------------------------------------- replies


@dataclass(frozen=True)
class Reply:
    """One scripted answer. Build it with `text`, `tool_use`, `thinking`, `blocks` or `error`."""

    content: tuple[dict[str, Any], ...] = ()
    stop_reason: str = "end_turn"
    stop_details: dict[str, Any] | None = None
    usage: dict[str, Any] = field(default_factory=dict)
    #: seconds to wait before the first byte of the answer
    delay: float = 0.0
    #: seconds to wait between two streamed events
    event_delay: float = 0.0
    #: HTTP status; anything other than 200 sends `error_type`/`error_message` instead of content
    status: int = 200
    error_type: str = ""
    error_message: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    #: with streaming: send this many events, then an SSE `error` event and stop (None = never)
    fail_after: int | None = None
    #: close the socket: before any byte (0), or, streaming, after this many events (None = never)
    drop_after: int | None = None

    def __add__(self, other: Reply) -> Reply:
        """Join two replies into one message: text("let me look") + tool_use(...)."""
        return Reply(
            content=self.content + other.content,
            stop_reason=other.stop_reason,
            stop_details=other.stop_details,
            usage={**self.usage, **other.usage},
            delay=max(self.delay, other.delay),
            event_delay=max(self.event_delay, other.event_delay),
            fail_after=other.fail_after,
            drop_after=other.drop_after,
        )


def text(value: str, **options: Any) -> Reply:
    """A message of one text block. Options are `Reply`'s fields (usage=, delay=, stop_reason=, ...)."""
    return Reply(content=({"type": "text", "text": value},), **options)


def tool_use(name: str, arguments: dict[str, Any], *, id: str | None = None, **options: Any) -> Reply:
    """A message that calls one tool. Join several with `+` for parallel calls."""
    options.setdefault("stop_reason", "tool_use")
    block = {"type": "tool_use", "id": id or f"toolu_{uuid.uuid4().hex[:24]}", "name": name, "input": arguments}
    return Reply(content=(block,), **options)


def thinking(value: str, **options: Any) -> Reply:
    """A thinking block (signature is fake); join it in front of a text or tool_use reply with `+`."""
    block = {"type": "thinking", "thinking": value, "signature": "ZmFrZS1zaWduYXR1cmU="}
    return Reply(content=(block,), **options)


def blocks(content: Iterable[dict[str, Any]], **options: Any) -> Reply:
    """A message made of raw content blocks."""
    return Reply(content=tuple(content), **options)


#: the error types that the API documents, by HTTP status
ERROR_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    504: "timeout_error",
    529: "overloaded_error",
}


def error(
    status: int,
    message: str = "scripted failure",
    *,
    type: str | None = None,
    headers: dict[str, str] | None = None,
    **options: Any,
) -> Reply:
    """An HTTP error in Anthropic's form, e.g. error(429, headers={"retry-after": "1"}), error(529)."""
    return Reply(
        status=status,
        error_type=type or ERROR_TYPES.get(status, "api_error"),
        error_message=message,
        headers=tuple((headers or {}).items()),
        **options,
    )


# --------------------------------------------------------------------------------------- calls


_REMINDER = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)


def flatten(content: Any) -> str:
    """The text of a message's `content` (a string or blocks); tool results are included."""
    if isinstance(content, str):
        return content
    parts: list[str] = []
    for block in content or []:
        if isinstance(block, str):
            parts.append(block)
        elif block.get("type") == "text":
            parts.append(block["text"])
        elif block.get("type") == "tool_result":
            parts.append(flatten(block.get("content")))
    return "\n".join(parts)


@dataclass(frozen=True)
class Call:
    """One request that the server received."""

    method: str
    path: str
    query: str
    headers: dict[str, str]  # names in lower case
    body: Any  # parsed JSON, or None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def system_text(self) -> str:
        return flatten(self.body.get("system"))

    @property
    def tool_names(self) -> list[str]:
        return [tool["name"] for tool in self.body.get("tools") or []]

    @property
    def last_user_text(self) -> str:
        """Text of the last `user` message, tool results included."""
        for message in reversed(self.messages):
            if message["role"] == "user":
                return flatten(message["content"])
        return ""

    @property
    def prompt(self) -> str:
        """`last_user_text` without the <system-reminder> blocks that the `claude` CLI adds."""
        return _REMINDER.sub("", self.last_user_text).strip()

    @property
    def tool_results(self) -> dict[str, str]:
        """tool_use_id -> text, over the whole request."""
        found: dict[str, str] = {}
        for message in self.messages:
            if isinstance(message["content"], list):
                for block in message["content"]:
                    if isinstance(block, dict) and block.get("type") == "tool_result":
                        found[block["tool_use_id"]] = flatten(block.get("content"))
        return found


Matcher = Callable[[Call], bool]
#: a Reply, or a function of the call that returns one
Answer = Reply | Callable[[Call], Reply]


def structured(data: Any, **options: Any) -> Answer:
    """Structured output, in the form that the caller asked for.

    `claude --json-schema` wants a call of its tool StructuredOutput; a request with a forced
    `tool_choice` wants a call of that tool; the SDK's `messages.parse` / `output_config` wants JSON text.
    """

    def answer(call: Call) -> Reply:
        choice = call.body.get("tool_choice") or {}
        if choice.get("type") == "tool":
            return tool_use(choice["name"], data, **options)
        if "StructuredOutput" in call.tool_names:
            return tool_use("StructuredOutput", data, **options)
        return text(json.dumps(data), **options)

    return answer


def user_says(part: str) -> Matcher:
    """Matches a call whose last user message contains `part`."""
    return lambda call: part in call.last_user_text


def system_says(part: str) -> Matcher:
    """Matches a call whose system prompt contains `part`."""
    return lambda call: part in call.system_text


def model_is(part: str) -> Matcher:
    """Matches a call whose model id contains `part` (e.g. "haiku")."""
    return lambda call: part in call.model


def has_tool(name: str) -> Matcher:
    """Matches a call that offers the tool `name`."""
    return lambda call: name in call.tool_names


# -------------------------------------------------------------------------------------- server


class FakeAnthropic:
    """The server. Use it as a context manager, or call `start()` and `stop()`."""

    def __init__(
        self,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        default: Answer | None = None,
        api_key: str | None = None,
        context_window: int = 200_000,
        log: Callable[[Call], None] | None = None,
    ) -> None:
        self.default = default
        #: when set, calls without this key (x-api-key or Bearer) get HTTP 401
        self.api_key = api_key
        self.context_window = context_window
        #: every request on any path, in order of arrival
        self.requests: list[Call] = []
        #: model calls for which there was no scripted answer
        self.unscripted: list[Call] = []
        self._log = log
        self._queue: list[Answer] = []
        self._rules: list[tuple[Matcher, Answer]] = []
        self._lock = threading.Lock()
        self._host = host
        self._server = _Server((host, port), _Handler)
        self._server.fake = self
        self._thread: threading.Thread | None = None

    # -- script

    def push(self, *answers: Answer) -> FakeAnthropic:
        """Queue answers; each is used once, in order."""
        with self._lock:
            self._queue.extend(answers)
        return self

    def when(self, matcher: Matcher, answer: Answer) -> FakeAnthropic:
        """Answer every call that matches. Rules go before the queue, the first added first."""
        with self._lock:
            self._rules.append((matcher, answer))
        return self

    def reset(self) -> None:
        """Forget the script and what was recorded."""
        with self._lock:
            self._queue.clear()
            self._rules.clear()
            self.requests.clear()
            self.unscripted.clear()

    # -- record

    @property
    def calls(self) -> list[Call]:
        """The POST /v1/messages requests, in order."""
        with self._lock:
            return [c for c in self.requests if c.method == "POST" and c.path == "/v1/messages"]

    @property
    def pending(self) -> int:
        """Queued answers that no call has used yet."""
        with self._lock:
            return len(self._queue)

    # -- clients

    def claude_env(self, home: str) -> dict[str, str]:
        """Environment for a `claude` CLI that talks to this server only. PATH is for the caller to add.

        `home` should be an empty folder: settings, credentials and transcripts live below it.
        """
        return {
            "HOME": str(home),
            "CLAUDE_CONFIG_DIR": f"{home}/.claude",
            "ANTHROPIC_BASE_URL": self.base_url,
            "ANTHROPIC_API_KEY": self.api_key or "sk-ant-fake",
            # no telemetry, error reports, updates or feature flags: nothing but this server is contacted
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            # offer MCP tools in "tools" straight away
            "ENABLE_TOOL_SEARCH": "false",
            # fail fast on scripted errors (the default is ten tries with growing pauses)
            "CLAUDE_CODE_MAX_RETRIES": "1",
        }

    # -- life

    @property
    def base_url(self) -> str:
        return f"http://{self._host}:{self._server.server_port}"

    def start(self) -> FakeAnthropic:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self._thread is not None:
            self._thread.join(5)

    def __enter__(self) -> FakeAnthropic:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    # -- used by the handler

    def _record(self, call: Call) -> None:
        with self._lock:
            self.requests.append(call)
        if self._log is not None:
            self._log(call)

    def _answer(self, call: Call) -> Reply:
        with self._lock:
            answer = self._pick(call)
            if answer is None:
                self.unscripted.append(call)
                return error(500, f"fake_anthropic: no scripted answer for {call.prompt[:200]!r}")
        return answer if isinstance(answer, Reply) else answer(call)

    def _pick(self, call: Call) -> Answer | None:
        for matcher, answer in self._rules:
            if matcher(call):
                return answer
        return self._queue.pop(0) if self._queue else self.default


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # a client that keeps its connection alive must not hold up stop()
    block_on_close = False
    fake: FakeAnthropic


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Nagle's algorithm plus delayed ACKs cost 40 ms per event otherwise
    disable_nagle_algorithm = True
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def handle(self) -> None:
        # the client may hang up at any time: it timed out, or the test ended it
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            super().handle()

    # -- requests

    def do_HEAD(self) -> None:
        self._record(None)
        self._send_json(200, {}, head=True)

    def do_GET(self) -> None:
        call = self._record(None)
        if call.path == "/":
            self._send_json(200, {})
        elif call.path == "/v1/models":
            self._send_json(200, {"data": [], "has_more": False, "first_id": None, "last_id": None})
        elif call.path.startswith("/v1/models/"):
            self._send_json(200, self._model(call.path.rsplit("/", 1)[1]))
        else:
            self._send_error(error(404, f"no such path: {call.path}"))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            self._record(None)
            self._send_error(error(400, "the body is not JSON"))
            return
        call = self._record(body)
        if self.server.fake.api_key is not None and not self._authorised(call):
            self._send_error(error(401, "invalid x-api-key"))
        elif call.path == "/v1/messages":
            self._messages(call)
        elif call.path == "/v1/messages/count_tokens":
            self._send_json(200, {"input_tokens": self._count(call)})
        else:
            self._send_error(error(404, f"no such path: {call.path}"))

    def _record(self, body: Any) -> Call:
        path, _, query = self.path.partition("?")
        headers = {k.lower(): v for k, v in self.headers.items()}
        call = Call(self.command, path, query, headers, body)
        self.server.fake._record(call)
        return call

    def _authorised(self, call: Call) -> bool:
        key = self.server.fake.api_key
        return call.headers.get("x-api-key") == key or call.headers.get("authorization") == f"Bearer {key}"

    def _model(self, name: str) -> dict[str, Any]:
        return {
            "type": "model",
            "id": name,
            "display_name": name,
            "created_at": "2026-01-01T00:00:00Z",
            "max_input_tokens": self.server.fake.context_window,
            "max_tokens": 64_000,
        }

    @staticmethod
    def _count(call: Call) -> int:
        return max(1, len(json.dumps([call.body.get(k) for k in ("system", "tools", "messages")])) // 4)

    # -- answers

    def _messages(self, call: Call) -> None:
        reply = self.server.fake._answer(call)
        if reply.delay:
            time.sleep(reply.delay)
        if reply.drop_after == 0:
            self.close_connection = True
        elif reply.status != 200:
            self._send_error(reply)
        elif call.body.get("stream"):
            self._stream(call, reply)
        else:
            self._send_json(200, self._message(call, reply), reply.headers)

    def _message(self, call: Call, reply: Reply) -> dict[str, Any]:
        usage = {
            "input_tokens": self._count(call),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": max(1, len(json.dumps(reply.content)) // 4),
            "service_tier": "standard",
        }
        return {
            "id": f"msg_{uuid.uuid4().hex[:24]}",
            "type": "message",
            "role": "assistant",
            "model": call.model,
            "content": list(reply.content),
            "stop_reason": reply.stop_reason,
            "stop_sequence": None,
            "stop_details": reply.stop_details,
            "usage": {**usage, **reply.usage},
        }

    def _events(self, call: Call, reply: Reply) -> Iterable[dict[str, Any]]:
        message = self._message(call, reply)
        opening = {**message, "content": [], "stop_reason": None, "stop_details": None}
        opening["usage"] = {**message["usage"], "output_tokens": 1}
        yield {"type": "message_start", "message": opening}
        yield {"type": "ping"}
        for index, block in enumerate(reply.content):
            start, deltas = _deltas(block)
            yield {"type": "content_block_start", "index": index, "content_block": start}
            for delta in deltas:
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield {
            "type": "message_delta",
            "delta": {
                "stop_reason": reply.stop_reason,
                "stop_sequence": None,
                "stop_details": reply.stop_details,
            },
            "usage": {"output_tokens": message["usage"]["output_tokens"]},
        }
        yield {"type": "message_stop"}

    def _stream(self, call: Call, reply: Reply) -> None:
        self._start(200, "text/event-stream; charset=utf-8", reply.headers, {"transfer-encoding": "chunked"})
        for number, event in enumerate(self._events(call, reply)):
            if reply.fail_after is not None and number >= reply.fail_after:
                failure = {"type": "overloaded_error", "message": "scripted failure in the stream"}
                self._chunk({"type": "error", "error": failure})
                break
            if reply.drop_after is not None and number >= reply.drop_after:
                self.close_connection = True
                return
            self._chunk(event)
            if reply.event_delay:
                time.sleep(reply.event_delay)
        self.wfile.write(b"0\r\n\r\n")

    def _chunk(self, event: dict[str, Any]) -> None:
        data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _send_error(self, reply: Reply) -> None:
        detail = {"type": reply.error_type, "message": reply.error_message}
        self._send_json(reply.status, {"type": "error", "error": detail}, reply.headers)

    def _send_json(
        self, status: int, body: dict[str, Any], headers: Iterable[tuple[str, str]] = (), head: bool = False
    ) -> None:
        data = json.dumps(body).encode()
        self._start(status, "application/json", headers, {"content-length": str(len(data))})
        if not head:
            self.wfile.write(data)

    def _start(self, status: int, kind: str, headers: Iterable[tuple[str, str]], more: dict[str, str]) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("request-id", f"req_{uuid.uuid4().hex[:24]}")
        for name, value in [*more.items(), *headers]:
            self.send_header(name, value)
        self.end_headers()


def _deltas(block: dict[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """The `content_block_start` form of a block, and the deltas that fill it."""
    kind = block["type"]
    if kind == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": t} for t in _pieces(block["text"])]
    if kind in ("tool_use", "server_tool_use"):
        filled = [{"type": "input_json_delta", "partial_json": t} for t in _pieces(json.dumps(block["input"]))]
        return {**block, "input": {}}, filled
    if kind == "thinking":
        filled = [{"type": "thinking_delta", "thinking": t} for t in _pieces(block["thinking"])]
        filled.append({"type": "signature_delta", "signature": block["signature"]})
        return {**block, "thinking": "", "signature": ""}, filled
    return block, []


def _pieces(value: str, size: int = 40) -> list[str]:
    return [value[i : i + size] for i in range(0, len(value), size)]


# --------------------------------------------------------------------------------- command line

SCRIPT_HELP = """\
script file: a JSON object {"rules": [...], "queue": [...], "default": {...}}, each part optional.
An answer is one of
  {"text": "..."}   {"tool_use": "name", "input": {...}}   {"error": 529, "message": "..."}
  {"content": [raw blocks]}   and may carry any of: stop_reason, usage, delay, event_delay,
  fail_after, drop_after, headers (error only).
A rule is an answer with a "when": {"user": "part"} | {"system": "part"} | {"model": "part"} |
  {"tool": "name"}; several keys must all match.
"""


def _load_answer(data: dict[str, Any]) -> Reply:
    data = {k: v for k, v in data.items() if k != "when"}
    if "text" in data:
        return text(data.pop("text"), **data)
    if "tool_use" in data:
        return tool_use(data.pop("tool_use"), data.pop("input", {}), **data)
    if "error" in data:
        return error(data.pop("error"), data.pop("message", "scripted failure"), **data)
    return blocks(data.pop("content"), **data)


def _load_matcher(data: dict[str, str]) -> Matcher:
    made = {"user": user_says, "system": system_says, "model": model_is, "tool": has_tool}
    tests = [made[key](value) for key, value in data.items()]
    return lambda call: all(test(call) for test in tests)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="A scripted stand-in for the Anthropic Messages API.",
        epilog=SCRIPT_HELP,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0, help="0 picks a free one")
    parser.add_argument("--script", help="JSON file with the answers")
    parser.add_argument("--log", help="append every request to this JSON Lines file")
    options = parser.parse_args(argv)

    def log(call: Call) -> None:
        record = {k: getattr(call, k) for k in ("method", "path", "query", "headers", "body")}
        with Path(options.log).open("a", encoding="utf-8") as out:
            out.write(json.dumps(record) + "\n")

    fake = FakeAnthropic(host=options.host, port=options.port, log=log if options.log else None)
    script: dict[str, Any] = {}
    if options.script:
        with Path(options.script).open(encoding="utf-8") as source:
            script = json.load(source)
    for rule in script.get("rules", []):
        fake.when(_load_matcher(rule["when"]), _load_answer(rule))
    fake.push(*(_load_answer(a) for a in script.get("queue", [])))
    fake.default = _load_answer(script.get("default", {"text": "(fake_anthropic) ok"}))
    with fake:
        print(fake.base_url, flush=True)
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
