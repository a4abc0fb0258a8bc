"""What a person is told of a run that was ended, and of taking one back: every command that is printed works."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from attrs import define

from reverie import selection, watch
from reverie.cli import account
from reverie_hookspecs import Dream, Edit, Op, Plugin, Proposal, Stage, hookimpl

from .launcher import as_json, furnish, reverie, tree

VAN = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"
ROOF = "- Mend the roof — DONE, forty tiles and two gutters, the ladder is back at the neighbour's since Monday\n"
ARCHIVE = "memory/archive/completed.md"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "al fred", MEMORY=f"# Memory\n\n{VAN}- tea at four\n")


def memory(workspace: Path) -> str:
    return (workspace / "MEMORY.md").read_text("utf-8")


def edit(workspace: Path, old: str, new: str) -> None:
    assert old in memory(workspace)
    (workspace / "MEMORY.md").write_text(memory(workspace).replace(old, new), "utf-8")


def printed(told: str, word: str) -> list[str]:
    """The words of the one command in a text that begins so, as a shell would split them."""
    [command] = [found for found in re.findall("`([^`]+)`", told) if f" {word} " in f"{found} "]
    name, *words = shlex.split(command)
    assert name == "reverie"
    return words


Install = Callable[..., None]


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Install:
    """Installs a plugin with one stage after the compactor, which acts and loses a line, and with ops to propose."""

    def install(act: Callable[[], None] = lambda: None, ops: Sequence[Op] = (), loses: str = "") -> None:
        def run(dream: Dream) -> Dream:
            act()
            if loses:
                dream.agent.files.commit("MEMORY.md", lambda s: Edit(s.text.replace(loses, "")), dream.run)
            return dream

        @define(eq=False)
        class Stranger(Plugin):
            @hookimpl
            def on_dream(self, agent: object) -> Stage:
                return Stage("stranger", run, limit=0.4, after=("compactor",), writes=False)

            @hookimpl
            def select_ops(self, dream: Dream) -> Proposal:
                return Proposal(tuple(ops), "stranger")

        module = ModuleType("stranger_told")
        module.Stranger = Stranger  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "stranger_told", module)
        found = {**selection.installed(), "stranger": (EntryPoint("stranger", "stranger_told:Stranger", "reverie"),)}
        monkeypatch.setattr(selection, "installed", lambda: found)

    return install


def hang() -> None:
    time.sleep(60)


def interrupt() -> None:
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)


# A run that was ended


@pytest.mark.parametrize("act", [hang, interrupt, lambda: os._exit(0)], ids=["hang", "interrupt", "leave"])
def test_a_run_that_was_ended_says_what_it_changed_and_how_to_see_and_undo_it(
    workspace: Path, stranger: Install, act: Callable[[], None]
) -> None:
    before = tree(workspace)
    stranger(act)
    told = reverie("dream", workspace, code=1).stderr
    [line] = as_json("dream", "log", workspace)
    assert f"run {line['run']} is closed; it had changed MEMORY.md, {ARCHIVE}, and that stands" in told
    assert "-" + VAN.strip() in reverie(*printed(told, "dream show")).output
    reverie(*printed(told, "dream undo"))
    assert tree(workspace) == before


@pytest.mark.parametrize("fault", [RuntimeError("the pipe is torn"), OSError(28, "no space"), ValueError()])
def test_whatever_leaves_the_watched_run_it_is_mended(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    def torn(work: watch.Work, told: Callable[[str], None]) -> object:
        stages: list[str] = []
        with pytest.raises(KeyboardInterrupt):
            work(lambda stage: die(stages, stage.name))
        raise fault

    def die(stages: list[str], name: str) -> None:
        stages.append(name)
        if "compactor" in stages[:-1]:
            raise KeyboardInterrupt

    monkeypatch.setattr(watch, "watched", torn)
    told = reverie("dream", workspace, code=1).stderr
    [line] = as_json("dream", "log", workspace)
    assert line["outcome"] == "error" and line["reason"].startswith(str(fault) or "ValueError")
    assert line["run"] in told and "MEMORY.md" in told and printed(told, "dream undo")


def test_a_run_that_had_changed_nothing_says_so(workspace: Path, stranger: Install) -> None:
    edit(workspace, VAN, "")
    stranger(hang)
    told = reverie("dream", workspace, code=1).stderr
    assert "is closed; it had changed nothing" in told and "`" not in told


def test_a_dry_run_that_was_ended_says_that_nothing_was_changed(workspace: Path, stranger: Install) -> None:
    before = tree(workspace, records=True)
    stranger(hang)
    assert "Dry run: nothing was changed." in reverie("dream", workspace, "--dry-run", code=1).stderr
    assert tree(workspace, records=True) == before


def test_a_run_that_was_refused_closes_no_other(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from reverie.config import Config
    from reverie.kernel import Kernel

    deployment = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    agent = deployment.agent(str(workspace))
    monkeypatch.setattr(Kernel, "mend", lambda *words: pytest.fail("it mends what is not its own"))
    with deployment.lock(agent):
        told = reverie("dream", workspace, code=1).output
    assert "another run is under way" in told and "mended" not in told


# Commands


def test_every_command_that_is_printed_works_with_the_configuration_it_was_given(
    workspace: Path, tmp_path: Path
) -> None:
    file = tmp_path / "some where.json"
    file.write_text(json.dumps({"gateway": {}, "agents": [{"id": "alfred", "workspace": str(workspace)}]}))
    before = tree(workspace)
    told = reverie("--config", file, "dream").output
    after = tree(workspace)
    assert "-" + VAN.strip() in reverie(*printed(told, "dream show")).output
    undone = reverie(*printed(told, "dream undo")).output
    assert tree(workspace) == before
    assert "+" + VAN.strip() in reverie(*printed(undone, "dream show")).output
    reverie(*printed(undone, "dream undo"))
    assert tree(workspace) == after


@pytest.mark.parametrize("cut", [0, 2])
@pytest.mark.parametrize("named", [(), ("--agent",), ("",)])
def test_an_undo_prints_a_command_that_brings_the_run_again(workspace: Path, cut: int, named: tuple[str, ...]) -> None:
    run = as_json("dream", workspace)["run"]
    after = tree(workspace)
    words = [workspace] if named == () else ["--agent", workspace] if named[0] else [os.path.relpath(workspace)]
    told = reverie("dream", "undo", *words, run[: len(run) - cut]).output
    reverie(*printed(told, "dream undo"))
    assert tree(workspace) == after


def test_an_undo_of_a_run_that_only_its_beginning_names_prints_no_run_as_the_agent(
    sealed: Path, workspace: Path
) -> None:
    file = sealed / ".claude-gateway" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"gateway": {}, "agents": [{"id": "alfred", "workspace": str(workspace)}]}))
    run = as_json("dream")["run"]
    after = tree(workspace)
    told = reverie("dream", "undo", run[:-1]).output
    reverie(*printed(told, "dream undo"))
    assert tree(workspace) == after


def test_a_run_that_is_not_there_names_a_log_that_is(workspace: Path) -> None:
    told = reverie("dream", "show", workspace, "nonsense", code=1).output
    reverie(*printed(told, "dream log"))
    assert "'nonsense'" in told


def test_a_run_that_is_taken_back_already_prints_no_command_that_fails(workspace: Path) -> None:
    run = as_json("dream", workspace)["run"]
    undo = as_json("dream", "undo", workspace)["run"]
    told = reverie("dream", "undo", workspace, run, code=1).output
    assert f"by the run {undo}" in told and "`" not in told


@pytest.mark.parametrize("command", ["show", "undo"])
def test_where_nothing_stands_each_command_says_what_it_needs(workspace: Path, command: str) -> None:
    told = reverie("dream", command, workspace, code=1).output
    assert ("nothing to take back" in told) == (command == "undo")
    if command == "show":
        assert "give the id of a run" in told
        reverie(*printed(told, "dream log"))


# Taking a run back


def test_an_undo_says_of_each_file_what_it_did_and_a_dry_run_what_it_would_do(
    workspace: Path, stranger: Install
) -> None:
    (workspace / "USER.md").write_text("- tall\n")
    stranger(ops=[Op("add", "USER.md", "- likes tea", score=1.0, recall_count=9)])
    reverie("dream", workspace)
    (workspace / "MEMORY.md").write_text(memory(workspace) + "- mine\n", "utf-8")
    before = tree(workspace, records=True)
    told = reverie("dream", "undo", workspace, "--dry-run").output
    assert "+" + VAN.strip() in told and "-- likes tea" in told and "+++ /dev/null" in told
    assert "MEMORY.md: would be merged with what was written since\n" in told
    assert "USER.md: would be restored\n" in told and f"{ARCHIVE}: would be removed again\n" in told
    assert "nothing was changed" in told and tree(workspace, records=True) == before
    shown = as_json("dream", "undo", workspace, "--dry-run")
    done = as_json("dream", "undo", workspace)
    fates = {"MEMORY.md": "merged", "USER.md": "restored", ARCHIVE: "removed"}
    for undo in (shown, done):
        assert {file["path"]: file["fate"] for file in undo["files"]} == fates and "changes" not in undo
    assert {f["path"]: f["after"] for f in shown["files"]} == {f["path"]: f["after"] for f in done["files"]}
    assert memory(workspace).endswith("- tea at four\n- mine\n")
    told = reverie("dream", "undo", workspace, done["run"]).output
    assert "MEMORY.md: restored\n" in told and f"{ARCHIVE}: restored\n" in told
    told = reverie("dream", "undo", workspace).output
    assert "MEMORY.md: merged with what was written since\n" in told and f"{ARCHIVE}: removed again\n" in told


def test_the_diary_says_of_each_file_what_an_undo_did(workspace: Path) -> None:
    reverie("dream", workspace)
    (workspace / "MEMORY.md").write_text(memory(workspace) + "- mine\n", "utf-8")
    reverie("dream", "undo", workspace)
    diary = (workspace / ".dreaming" / "DREAMS.md").read_text("utf-8")
    assert f"- {ARCHIVE}: removed again\n" in diary
    assert "- MEMORY.md: merged with what was written since\n" in diary


def test_an_undo_that_was_undone_is_taken_back_again(workspace: Path) -> None:
    reverie("dream", workspace)
    undo = as_json("dream", "undo", workspace)["run"]
    assert "applied, since undone" in reverie("dream", "log", workspace).output
    reverie("dream", "undo", workspace, undo)
    told = reverie("dream", "log", workspace).output
    assert "undone, taken back again" in told and "since undone" not in told


def test_a_refusal_says_how_to_go_on_with_an_older_run(workspace: Path) -> None:
    older = as_json("dream", workspace)["run"]
    (workspace / "MEMORY.md").write_text(memory(workspace) + ROOF, "utf-8")
    newer = as_json("dream", workspace)["run"]
    edit(workspace, "Mend the roof — DONE", "Mend the wall")
    before = tree(workspace)
    for _ in range(2):
        told = reverie("dream", "undo", workspace, code=1).output
        assert newer in told and ".bak" in told and older in printed(told, "dream undo")
    assert tree(workspace) == before
    reverie(*printed(told, "dream undo"))
    assert VAN in memory(workspace) and "Mend the wall" in memory(workspace)
    assert "older" not in reverie("dream", "undo", workspace, code=1).output


def test_an_undo_tells_what_it_closed_before(
    workspace: Path, stranger: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie.kernel import Kernel

    before = tree(workspace)
    stranger(hang)
    with monkeypatch.context() as patch:
        patch.setattr(Kernel, "mend", lambda *words: [])
        reverie("dream", workspace, code=1)
    told = reverie("dream", "undo", workspace).stderr
    assert "is closed; it had changed MEMORY.md" in told and tree(workspace) == before


# The account of a run


def test_the_reason_of_a_run_that_failed_is_told_once(workspace: Path, stranger: Install) -> None:
    def fail() -> None:
        raise ValueError("lost")

    stranger(fail)
    told = reverie("dream", workspace, code=1).stderr.splitlines()
    assert "stranger: failed: ValueError: lost" in told and "al fred: error" in told
    quiet = reverie("--quiet", "dream", workspace, code=1).stderr
    assert quiet == "al fred: error: stranger: ValueError: lost\n"


def test_a_run_that_was_taken_back_is_not_offered_to_be_taken_back(workspace: Path, stranger: Install) -> None:
    reverie("dream", workspace)
    before = tree(workspace)
    stranger(loses="- tea at four\n")
    told = reverie("dream", workspace, code=1).output
    assert tree(workspace) == before and "dream undo" not in told
    assert "--- tea at four" not in told and "-- tea at four" in reverie(*printed(told, "dream show")).output


def op(**more: object) -> dict[str, object]:
    usual = {"op": "add", "content": "", "target": "", "tier": "durable", "place": "MEMORY.md", "outcome": "applied"}
    return {**usual, "why": "", **more}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (op(op="replace", target="- old", content="- new"), "applied replace: - old -> - new"),
        (op(op="remove", target="- old", outcome="skipped", why="no"), "skipped remove: - old: no"),
        (op(content="x", tier="episodic", place="memory/kiln.md"), "applied add to memory/kiln.md: x"),
        (op(content="x", outcome="aside", why="below"), "set aside add: x: below"),
    ],
)
def test_the_fate_of_an_op_is_a_line(given: dict[str, object], told: str) -> None:
    assert account.fate(given) == told


def test_a_note_is_told_with_the_file_it_goes_to(sealed: Path, workspace: Path, stranger: Install) -> None:
    memory = {"writeRouting": True, "episodicArchiveDir": "memory/notes"}
    file = sealed / ".claude-gateway" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps({"gateway": {"memory": memory}, "agents": [{"id": "a", "workspace": str(workspace)}]}))
    stranger(ops=[Op("add", "MEMORY.md", "fired it", topic="kiln", tier="episodic")])
    assert "applied add to memory/notes/kiln.md: fired it" in reverie("dream").output
    assert "fired it" in (workspace / "memory/notes/kiln.md").read_text()
    assert "applied add memory/notes/kiln.md: fired it" in (workspace / ".dreaming/DREAMS.md").read_text()
