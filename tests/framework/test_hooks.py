from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest
from attrs import define, evolve

from reverie.hooks import Hooks, implemented
from reverie_hookspecs import NotFound, Plugin, PluginError, Section, hookimpl

AGENT: Any = object()
Wrapper = Generator[None, list[Section], list[Section]]


@define(eq=False)
class Two(Plugin):
    @hookimpl(specname="compose_section")
    def one(self, agent: object) -> Section:
        return Section("one", "1")

    @hookimpl(specname="compose_section")
    def two(self, agent: object) -> Section | None:
        return Section("two", "2")

    @hookimpl(specname="compose_section")
    def silent(self, agent: object) -> None:
        return None


@define(eq=False)
class Shouting(Plugin):
    @hookimpl(wrapper=True)
    def compose_section(self, agent: object) -> Wrapper:
        sections = yield
        return [evolve(section, body=section.body + "!") for section in sections]


def hooks(**plugins: Plugin) -> Hooks:
    made, unfit = Hooks.over(plugins)
    assert not unfit
    return made


def bodies(made: Hooks) -> set[str]:
    return {section.body for section in made.compose_section(AGENT)}


def test_a_plugin_offers_several_values_of_one_hook_and_none_where_it_is_silent() -> None:
    assert bodies(hooks(two=Two())) == {"1", "2"}
    assert implemented(Two) == ["compose_section"]


def test_a_wrapper_sees_one_flat_list() -> None:
    assert bodies(hooks(two=Two(), shouting=Shouting())) == {"1!", "2!"}


def test_two_deployments_share_nothing() -> None:
    first, second = hooks(two=Two()), hooks(shouting=Shouting())
    assert bodies(first) == {"1", "2"} and bodies(second) == set()


def section(answer: object) -> Plugin:
    @define(eq=False)
    class Answering(Plugin):
        @hookimpl
        def compose_section(self, agent: object) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    return Answering()


def test_a_hook_that_raises_names_plugin_hook_and_remedy() -> None:
    with pytest.raises(
        PluginError, match=r"KeyError in plugin 'odd', hook compose_section: 'x'; mend it.*false"
    ) as caught:
        bodies(hooks(odd=section(KeyError("x"))))
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_error_of_ours_passes_as_it_is_with_a_note() -> None:
    with pytest.raises(NotFound) as caught:
        bodies(hooks(odd=section(NotFound("no AGENTS.md"))))
    assert caught.value.__notes__ == ["in plugin 'odd', hook compose_section"]


@pytest.mark.parametrize("answer", ["text", [Section("a", "b")], 0, False])
def test_a_wrong_answer_counts_as_a_raise(answer: object) -> None:
    with pytest.raises(
        PluginError, match=r"plugin 'odd' returned .* from compose_section, which takes one Section or None"
    ):
        bodies(hooks(odd=section(answer)))


def wrapper(answer: object, *, yields: int = 1, breaks: str = "") -> Plugin:
    @define(eq=False)
    class Wrapping(Plugin):
        @hookimpl(wrapper=True)
        def compose_section(self, agent: object) -> Generator[None, Any, Any]:
            if breaks == "before":
                raise ValueError("before")
            for _ in range(yields):
                yield
            if breaks == "after":
                raise ValueError("after")
            return answer

    return Wrapping()


@pytest.mark.parametrize("answer", [None, "text", [1], (Section("a", "b"),)])
def test_a_wrapper_that_returns_no_list_of_sections_is_named(answer: object) -> None:
    with pytest.raises(PluginError, match=r"plugin 'wrap' returned .* which takes a list of Section"):
        bodies(hooks(two=Two(), wrap=wrapper(answer)))


@pytest.mark.parametrize("breaks", ["before", "after"])
def test_a_wrapper_that_raises_is_named(breaks: str) -> None:
    with pytest.raises(PluginError, match=f"ValueError in plugin 'wrap', hook compose_section: {breaks}"):
        bodies(hooks(two=Two(), wrap=wrapper([], breaks=breaks)))


def test_a_wrapper_that_yields_twice_is_named() -> None:
    with pytest.raises(PluginError, match="plugin 'wrap' yields twice"):
        bodies(hooks(two=Two(), wrap=wrapper([], yields=2)))


def test_a_failure_inside_is_blamed_on_the_one_that_failed() -> None:
    with pytest.raises(PluginError, match="plugin 'odd'") as caught:
        bodies(hooks(odd=section(KeyError("x")), wrap=wrapper([])))
    assert "wrap" not in str(caught.value)


def test_hooks_that_do_not_fit_are_told_and_the_others_stand() -> None:
    @define(eq=False)
    class Misspelt(Plugin):
        @hookimpl
        def compose_sektion(self, agent: object) -> None:
            return None

    @define(eq=False)
    class Misnamed(Plugin):
        @hookimpl
        def compose_section(self, workspace: object) -> None:
            return None

    made, unfit = Hooks.over({"a": Misspelt(), "b": Misnamed(), "two": Two()})
    assert "no hook is called 'compose_sektion'" in unfit["a"]
    assert "compose_section" in unfit["b"] and "workspace" in unfit["b"]
    assert bodies(made) == {"1", "2"}


def test_the_trace_switch_prints_every_hook_call(caplog: pytest.LogCaptureFixture) -> None:
    made, _ = Hooks.over({"two": Two()}, trace=True)
    made.compose_section(AGENT)
    assert any("compose_section" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize(
    "fields",
    [
        {"body": None}, {"body": b"x"}, {"body": 5}, {"name": 5}, {"name": None}, {"name": []}, {"after": None},
        {"before": ("x", 5)}, {"title": 7}, {"notes": (None,)}, {"notes": "x"}, {"file": 1},
    ],
)  # fmt: skip
def test_a_field_of_a_wrong_kind_names_plugin_hook_and_field(fields: dict[str, Any]) -> None:
    odd = Section(**{"name": "odd", "body": "text", **fields})
    with pytest.raises(PluginError, match="plugin 'odd' returned from compose_section a Section whose"):
        bodies(hooks(odd=section(odd)))
    with pytest.raises(PluginError, match="plugin 'wrap' returned from compose_section a Section whose"):
        bodies(hooks(two=Two(), wrap=wrapper([odd])))
