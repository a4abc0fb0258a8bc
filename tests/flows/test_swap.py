"""Every slot is swapped once, through entry points and configuration, as a deployment would."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from attrs import define, evolve

from reverie.config import Config
from reverie.kernel import Kernel
from reverie_hookspecs import (
    Agent,
    Applying,
    Dream,
    Op,
    Plugin,
    PluginError,
    Policy,
    Proposal,
    Section,
    Skipped,
    Stage,
    Tool,
    hookimpl,
)

from .launcher import furnish

OURS = {point.name: (point,) for point in entry_points(group="reverie") if point.value.startswith("reverie_plugins")}
DONE = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"


@define(eq=False)
class OtherSections(Plugin):
    slot = "sections"

    @hookimpl
    def compose_section(self, agent: Agent) -> Section:
        return Section("only", agent.files.read("MEMORY.md").text, file="MEMORY.md", length=9_000)


@define(eq=False)
class OtherBanner(Plugin):
    slot = "budget-banner"

    @hookimpl(wrapper=True)
    def compose_section(self, agent: Agent) -> Generator[None, list[Section], list[Section]]:
        sections = yield
        return [evolve(section, body=f"(loud) {section.body}") for section in sections]


@define(eq=False)
class OtherCompactor(Plugin):
    slot = "compactor"

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        return Stage("compactor", lambda dream: dream.note("compactor", "mine"))


@define(eq=False)
class OtherApplier(Plugin):
    """Makes nothing, and says so."""

    slot = "applier"
    provides = (Applying,)

    @hookimpl
    def on_dream(self, agent: Agent) -> Stage:
        return Stage("apply", self.apply, "ops", after=("select",))

    def apply(self, dream: Dream) -> Dream:
        return evolve(dream, skipped=tuple(Skipped(op, "not tonight") for op in dream.ops))


@define(eq=False)
class OtherSelector(Plugin):
    """Takes the last op alone."""

    slot = "op-selector"

    @hookimpl(wrapper=True)
    def select_ops(self, dream: Dream) -> Generator[None, list[Proposal], list[Proposal]]:
        proposals = yield
        return [evolve(proposal, ops=proposal.ops[-1:]) for proposal in proposals]


@define(eq=False)
class Proposer(Plugin):
    @hookimpl
    def select_ops(self, dream: Dream) -> Proposal:
        return Proposal((Op("add", "MEMORY.md", "- one"), Op("add", "MEMORY.md", "- two", score=1.0, recall_count=5)))


@define(eq=False)
class Doorkeeper(Plugin):
    """Refuses one section, one stage and one tool, whoever offers them."""

    provides = (Policy,)

    def refuses(self, agent: Agent, value: object) -> str | None:
        return "not here" if getattr(value, "name", "") in ("user", "compactor", "dig") else None


@define(eq=False)
class Insistent(Plugin):
    """Puts back in an outermost wrapper what a policy refuses."""

    @hookimpl(wrapper=True, tryfirst=True)
    def compose_section(self, agent: Agent) -> Generator[None, list[Section], list[Section]]:
        sections = yield
        return [*[section for section in sections if section.name != "user"], Section("user", "put back")]


@define(eq=False)
class Digger(Plugin):
    @hookimpl(specname="tool_registry")
    def dig(self, agent: Agent) -> Tool:
        return Tool("dig", "Dig.", dict, lambda params: "hole")

    @hookimpl(specname="tool_registry")
    def fill(self, agent: Agent) -> Tool:
        return Tool("fill", "Fill.", dict, lambda params: "flat")


STRANGERS: dict[str, type[Plugin]] = {
    "other-sections": OtherSections,
    "other-banner": OtherBanner,
    "other-compactor": OtherCompactor,
    "other-applier": OtherApplier,
    "other-selector": OtherSelector,
    "proposer": Proposer,
    "doorkeeper": Doorkeeper,
    "insistent": Insistent,
    "digger": Digger,
}


@pytest.fixture
def deploy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A deployment with one agent, our plugins and some of the strangers above, selected as given."""
    module = ModuleType("stranger_rooms")
    monkeypatch.setitem(sys.modules, "stranger_rooms", module)
    for cls in STRANGERS.values():
        setattr(module, cls.__name__, cls)

    def make(*names: str, **plugins: bool | str) -> Kernel:
        root = furnish(tmp_path / "alfred", MEMORY=DONE, USER="- tall\n")
        choice = {slot.replace("_", "-"): who for slot, who in plugins.items()}
        text = {"gateway": {}, "plugins": choice, "agents": [{"id": "alfred", "workspace": str(root)}]}
        (tmp_path / "config.json").write_text(json.dumps(text))
        strangers = {
            name: (EntryPoint(name, f"stranger_rooms:{STRANGERS[name].__name__}", "reverie"),) for name in names
        }
        return Kernel.load(Config.load(tmp_path / "config.json", tmp_path, {}), {}, {**OURS, **strangers})

    return make


def test_another_plugin_composes_the_sections(deploy: Any) -> None:
    made = deploy("other-sections", sections="other-sections")
    text = made.compose(made.agent())
    assert text.startswith("--- ONLY ---\n") and "MEMORY RULE" not in text


def test_another_plugin_says_that_a_file_is_too_long(deploy: Any) -> None:
    made = deploy("other-banner", budget_banner="other-banner")
    assert "--- USER PROFILE ---\n(loud) - tall" in made.compose(made.agent())


def test_another_plugin_sweeps(deploy: Any) -> None:
    made = deploy("other-compactor", compactor="other-compactor")
    dream = made.run(made.agent())
    assert [note.text for note in dream.notes] == ["mine"] and not dream.changed


@pytest.mark.parametrize("slot", sorted(OURS))
def test_an_empty_slot_leaves_the_others_standing(deploy: Any, slot: str) -> None:
    made = deploy(**{slot: False})
    agent = made.agent()
    assert made.compose(agent).endswith("\n") and made.run(agent).outcome != "error"
    assert slot not in made.plugins


def test_a_stranger_that_waits_changes_nothing(deploy: Any) -> None:
    made, plain = deploy("other-sections", "other-banner", "other-compactor"), deploy()
    assert made.compose(made.agent()) == plain.compose(plain.agent())


def test_a_policy_refuses_sections_stages_and_tools_whoever_puts_them_back(deploy: Any) -> None:
    made = deploy("doorkeeper", "insistent", "digger")
    agent = made.agent()
    text = made.compose(agent)
    assert "USER PROFILE" not in text and "put back" not in text
    assert "compactor" not in [stage.name for stage in made.plan(agent)]
    assert set(made.tools(agent)) == {"fill", "memory_get", "memory_search"}
    assert made.refusal(agent, Section("user", "")) == "not here"


def test_another_plugin_applies(deploy: Any) -> None:
    made = deploy("other-applier", "proposer", applier="other-applier")
    dream = made.run(made.agent())
    assert [one.reason for one in dream.skipped] == ["not tonight"] and not dream.applied
    assert "- two" not in made.agent().files.read("MEMORY.md").text


def test_another_plugin_selects_and_without_any_everything_is_taken(deploy: Any) -> None:
    for choice, kept in (({"op_selector": "other-selector"}, "- two"), ({"op_selector": False}, "- one\n\n- two")):
        made = deploy("other-selector", "proposer", **choice)
        made.run(made.agent())
        assert made.agent().files.read("MEMORY.md").text.endswith(f")\n\n{kept}\n")


def test_without_an_applier_ops_are_written_down_and_nothing_is_made(deploy: Any) -> None:
    made = deploy("proposer", applier=False, compactor=False)
    dream = made.run(made.agent())
    assert dream.outcome == "proposed" and len(dream.ops) == 1 and not dream.changed


def test_a_safety_slot_that_is_named_and_empty_stops_the_run(deploy: Any) -> None:
    made = deploy(isolation=True)
    made.compose(made.agent())
    with pytest.raises(PluginError, match="names the safety slot 'isolation'"):
        made.run(made.agent())


def test_the_environment_can_switch_every_plugin_off(tmp_path: Path) -> None:
    made = Kernel.load(Config.load(None, tmp_path, {}), {"REVERIE_DISABLE_PLUGIN_AUTOLOAD": "1"}, OURS)
    assert dict(made.plugins) == {}


@pytest.mark.parametrize("answer", [ValueError("lost"), 5, True])
def test_a_policy_that_fails_is_named_and_nothing_is_let_through(tmp_path: Path, answer: object) -> None:
    from reverie.hooks import Hooks

    @define(eq=False)
    class Failing(Plugin):
        provides = (Policy,)

        def refuses(self, agent: Agent, value: object) -> Any:
            if isinstance(answer, Exception):
                raise answer
            return answer

    root = furnish(tmp_path / "alfred")
    plain = Kernel.load(Config.load(None, tmp_path, {}), {}, OURS)
    hooks, _ = Hooks.over(plain.plugins)
    made = Kernel(plain.config, plain.rows, plain.plugins, hooks, policies={"guard": Failing()})
    with pytest.raises(PluginError, match="plugin 'guard'"):
        made.compose(made.agent(str(root)))
