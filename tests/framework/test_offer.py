"""What is offered to an agent, and what a call answers."""

from __future__ import annotations

import doctest
import json
import logging
import re
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import anyio
import attrs
import pytest
from hypothesis import given, strategies as st

from reverie import kind, mcp, offer, schema
from reverie.config import Config
from reverie.kernel import Kernel
from reverie_hookspecs import Agent, Conversation, NotFound, PluginError, Refused, Tool

Nothing = attrs.make_class("Nothing", {}, frozen=True)
City = attrs.make_class("City", {"name": attrs.field(type=str)}, frozen=True)


def tool(name: str = "dig", about: Any = "Dig.", params: Any = Nothing, call: Any = lambda params: "hole") -> Tool:
    return Tool(name, about, params, call)


class Shop:
    """Stands for a kernel whose plugins offer these tools."""

    def __init__(self, *tools: Tool) -> None:
        self.stock = {one.name: one for one in tools}

    def tools(self, agent: Agent) -> dict[str, Tool]:
        return self.stock


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    (tmp_path / "AGENTS.md").write_text("A")
    return Kernel.load(Config.load(None, tmp_path, {}), {}, {}).agent(str(tmp_path))


BAD = {
    "space": tool("a b"),
    "empty": tool(""),
    "long": tool("a" * 65),
    "foreign": tool("天気"),
    "mute": tool(about=""),
    "blank": tool(about=" \n"),
    "number": tool(about=5),
    "opaque": tool(params=dict),
    "dead": tool(call="dig"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_tool_nobody_can_use_is_left_out_with_a_warning_and_the_others_stand(
    name: str, agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    bad = attrs.evolve(BAD[name], name=BAD[name].name if BAD[name].name != "dig" else "bad")
    with pytest.raises(PluginError):
        offer.described(bad)
    shop: Any = Shop(bad, tool("fill"))
    assert list(offer.offers(shop, agent)) == ["fill"]
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert repr(bad.name) in caplog.text and "is left out" in caplog.text


def test_the_nearest_tool_is_named_or_all_of_them(agent: Agent) -> None:
    shop: Any = Shop(tool("dig"), tool("fill"))
    found = offer.offers(shop, agent)
    assert offer.chosen(found, "dig", agent) is found["dig"]
    for name, told in (("digg", 'did you mean "dig"'), ("xyzzy", "there are dig, fill")):
        with pytest.raises(NotFound, match=told):
            offer.chosen(found, name, agent)
    with pytest.raises(NotFound, match="no plugin offers"):
        offer.chosen({}, "dig", agent)


def test_a_call_gets_an_instance_and_answers_plain_values() -> None:
    made = offer.described(tool(params=City, call=lambda city: {"city": (city.name, 1)}))
    assert made.call({"name": "Oslo"}) == {"city": ["Oslo", 1]}
    with pytest.raises(Refused, match="dig: name is missing"):
        made.call({})


@pytest.mark.parametrize(
    "answer", [object(), float("nan"), {1, 2}, b"x", {(1, 2): 3}], ids=lambda value: type(value).__name__
)
def test_an_answer_json_cannot_hold_is_a_fault_of_the_plugin(answer: object) -> None:
    made = offer.described(tool(call=lambda params: answer))
    with pytest.raises(PluginError, match="'dig' answered what JSON cannot hold"):
        made.call({})


def test_an_answer_that_holds_itself_is_a_fault_of_the_plugin() -> None:
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(PluginError, match="cannot hold"):
        offer.described(tool(call=lambda params: endless)).call({})


@given(st.text(alphabet=st.characters(codec=None), max_size=40))
def test_every_text_that_is_answered_can_be_sent(text: str) -> None:
    answer = offer.described(tool(call=lambda params: [text])).call({})
    sent = offer.told(answer)
    assert sent.encode("utf-8") and "\\ud" not in sent.replace("\\\\", "")
    if text.isprintable():
        assert answer == [text]


@given(st.text(st.characters(codec="utf-8")), st.integers(10, 60))
def test_a_description_is_cut_to_its_bytes_and_says_so(text: str, most: int) -> None:
    kept = offer.cut(text, most)
    assert len(kept.encode()) <= most
    assert kept == text or (kept.endswith("…") and text.startswith(kept[:-1]))


def test_a_long_description_ends_at_a_word() -> None:
    made = offer.described(tool(about="word " * 1000))
    assert len(made.about.encode()) <= 2048 and made.about.endswith("word…")


# Whose


@pytest.mark.parametrize(
    ("typed", "environ", "meant"),
    [
        ("", {}, None),
        ("", {"GATEWAY_ORIGIN_CHANNEL": "", "GATEWAY_ORIGIN_CHAT_ID": ""}, None),
        ("slack:C1", {}, Conversation("slack", "C1")),
        ("slack:a:b", {"GATEWAY_ORIGIN_CHANNEL": "mail"}, Conversation("slack", "a:b")),
        ("", {"GATEWAY_ORIGIN_CHANNEL": "mail", "GATEWAY_ORIGIN_CHAT_ID": "a:b"}, Conversation("mail", "a:b")),
        ("", {"GATEWAY_ORIGIN_CHANNEL": "mail"}, Conversation("mail", "")),
        ("", {"GATEWAY_ORIGIN_CHAT_ID": "5"}, Conversation("", "5")),
    ],
)
def test_a_conversation_is_typed_or_stands_in_the_environment(
    typed: str, environ: dict[str, str], meant: Conversation | None
) -> None:
    assert offer.origin(typed, environ) == meant


@pytest.mark.parametrize("typed", ["slack", "slack:", ":5", ":"])
def test_half_a_conversation_is_refused(typed: str) -> None:
    with pytest.raises(Refused, match="CHANNEL:ID"):
        offer.origin(typed, {})


# What a model reads first


def test_the_instructions_say_when_to_search_and_name_only_what_is_there() -> None:
    told = mcp.instructions(["memory_get", "memory_search", "weather"])
    assert "Before you answer" in told and "memory_search" in told and "Also offered: weather." in told
    assert "memory_search" not in mcp.instructions(["weather"])
    assert "because" in mcp.instructions([], "because")
    assert len(mcp.instructions([f"tool_{number}" for number in range(999)]).encode()) <= 2048


def test_every_known_tool_is_named_in_its_own_words() -> None:
    assert all(name in words for name, words in mcp.WORDS.items())


def test_a_plugin_that_cannot_list_its_tools_does_not_keep_the_server_from_starting(
    agent: Agent, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(agent: Agent) -> Any:
        raise PluginError("ValueError in plugin 'weather', hook tool_registry: no luck")

    made = mcp.server(mcp.Desk(lambda: agent, fail))
    assert "no tool now: internal error" in (made.instructions or "") and "no luck" in caplog.text


@given(st.text(alphabet=st.characters(codec=None), max_size=20))
def test_a_line_the_client_sends_can_be_read_whatever_it_holds(text: str) -> None:
    found = json.loads(mcp.mended(json.dumps({"a": text})))["a"]
    found.encode("utf-8")
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert found == text


def test_a_line_that_is_no_json_is_left_to_the_sdk() -> None:
    for line in ("\\ud83c", '{"a": "\\ud83c"', "[" * 100_000 + "\\ud83c"):
        assert mcp.mended(line) == line
    assert mcp.mended('{"a": "\\ud83c\\udf75"}') == '{"a": "🍵"}'


@pytest.mark.parametrize("room", [kind, mcp, offer, schema], ids=lambda room: room.__name__)
def test_the_examples_run(room: ModuleType) -> None:
    done = doctest.testmod(room)
    assert done.attempted and not done.failed


def test_the_sdk_is_imported_in_one_room() -> None:
    home = Path(mcp.__file__).parent
    importing = [path for path in home.rglob("*.py") if re.search(r"^\s*(from|import) mcp\b", path.read_text(), re.M)]
    assert importing == [home / "mcp.py"]


def test_a_call_that_hangs_holds_up_the_end_no_longer_than_the_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp, "GRACE", 0.3)
    desk, stuck = mcp.Desk(lambda: None, lambda agent: {}), threading.Event()  # type: ignore[arg-type, return-value]

    async def end() -> float:
        async with anyio.create_task_group() as group:
            group.start_soon(desk.apart, stuck.wait)
            await anyio.sleep(0.05)
            start = anyio.current_time()
            await desk.quiet()
            group.cancel_scope.cancel()
        return anyio.current_time() - start

    try:
        assert 0.25 <= anyio.run(end) < 2
    finally:
        stuck.set()
