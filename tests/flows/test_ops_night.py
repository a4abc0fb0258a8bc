"""A night with ops: proposed by a plugin, selected, applied, verified, taken back; with the real parts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import define, evolve

from reverie import verify
from reverie.config import Config
from reverie.hooks import Hooks
from reverie.kernel import Kernel
from reverie.runlog import RunLog
from reverie.undo import changes
from reverie_hookspecs import Dream, Edit, Move, Op, Plugin, Proposal, Refused, Stage, hookimpl

from .launcher import furnish, tree

REST = "- the kiln is fired on Fridays, and nobody opens it before Sunday noon\n" * 3
MEMORY = f"# Memory\n\n- likes tea\n- rides a bike\n{REST}\n## User\n\n- is called Ann\n"
PRUNED = "memory/archive/pruned.md"


def add(content: str, anchor: str = "", file: str = "MEMORY.md") -> Op:
    return Op("add", file, content, anchor, score=1.0, recall_count=9)


def remove(target: str, file: str = "MEMORY.md") -> Op:
    return Op("remove", file, target=target)


@define(eq=False)
class Proposer(Plugin):
    ops: Sequence[Op] = ()

    @hookimpl
    def select_ops(self, dream: Dream) -> Proposal:
        return Proposal(tuple(self.ops), "proposer")


@define(eq=False)
class Staged(Plugin):
    stage: Stage

    @hookimpl
    def on_dream(self, agent: object) -> Stage:
        return self.stage


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "alfred", MEMORY=MEMORY, USER="- tall\n")


def deployed(workspace: Path, *plugins: Plugin, **gateway: object) -> Kernel:
    """A deployment whose one agent is the workspace, with more plugins, as if they had been found."""
    file = workspace.parent / "config.json"
    file.write_text(json.dumps({"gateway": gateway, "agents": [{"id": "alfred", "workspace": str(workspace)}]}))
    made = Kernel.load(Config.load(file, workspace.parent, {}), {})
    every = {**made.plugins, **{f"x{number}": plugin for number, plugin in enumerate(plugins)}}
    hooks, unfit = Hooks.over(every)
    assert not unfit
    return evolve(made, plugins=every, hooks=hooks)


def dreamt(workspace: Path, *ops: Op, **gateway: object) -> Dream:
    made = deployed(workspace, Proposer(ops), **gateway)
    return made.run(made.agent())


def text(workspace: Path, path: str = "MEMORY.md") -> str:
    return (workspace / path).read_text("utf-8") if (workspace / path).exists() else ""


def test_ops_are_made_archived_told_and_taken_back(workspace: Path) -> None:
    before = tree(workspace)
    ops = (remove("- likes tea"), add("- drinks rye"), add("- small", file="USER.md"))
    made = deployed(workspace, Proposer(ops))
    dream = made.run(made.agent())
    assert dream.outcome == "applied" and [one.op for one in dream.applied] == list(ops)
    assert "- likes tea" not in text(workspace) and text(workspace).endswith("- is called Ann\n\n- drinks rye\n")
    day = dream.run.day
    assert text(workspace, PRUNED) == f"# Pruned\n\n- likes tea\n  <!-- pruned {day} from MEMORY.md › Memory -->\n\n"
    assert text(workspace, "USER.md") == "- tall\n\n- small\n"
    assert set(dream.changed) == {"MEMORY.md", "USER.md", PRUNED}
    records = [json.loads(line) for line in text(workspace, ".dreaming/promotions.jsonl").splitlines()]
    assert [record["outcome"] for record in records] == ["applied"] * 3
    made.undo(made.agent(), dream.run.id)
    assert tree(workspace) == before


def test_what_is_held_back_says_why_in_the_record_and_leaves_no_trace(workspace: Path) -> None:
    before = tree(workspace)
    dream = dreamt(workspace, remove("- is called Ann"), add("- likes tea"), add("- x", file="AGENTS.md"))
    assert dream.outcome == "no-changes" and tree(workspace) == before
    assert [one.reason for one in dream.skipped] == [
        "it touches a pinned section",
        "it stands already",
        "it names no memory file: MEMORY.md or USER.md",
    ]
    assert not (workspace / ".dreaming/backups").exists()
    assert "skipped remove MEMORY.md: - is called Ann: it touches a pinned section" in text(
        workspace, ".dreaming/DREAMS.md"
    )


def test_b18_b19_the_newest_twenty_pre_images_of_a_file_are_kept(workspace: Path) -> None:
    for number in range(25):
        assert dreamt(workspace, add(f"- number {number}")).outcome == "applied"
    assert len(list((workspace / ".dreaming/backups").glob("MEMORY.md.*.bak"))) == 20


@pytest.mark.parametrize("mode", ["propose", "auto"])
def test_in_propose_mode_nothing_is_made(workspace: Path, mode: str) -> None:
    before = tree(workspace)
    dream = dreamt(workspace, remove("- likes tea"), dreaming={"mode": mode})
    assert (dream.outcome, tree(workspace) == before) == (("proposed", True), ("applied", False))[mode == "auto"]


def test_b26_b27_an_episodic_note_needs_routing(workspace: Path) -> None:
    note = Op("add", "MEMORY.md", " a\n\n b ", topic="x-1", tier="episodic")
    assert "writeRouting is off" in dreamt(workspace, note).aside[0].reason
    dream = dreamt(workspace, note, memory={"writeRouting": True, "memoryBudgetChars": 10})
    assert text(workspace, "memory/x-1.md") == f"# X 1\n\n- [{dream.run.day}] a b\n"


def test_while_the_archive_is_off_what_is_cut_is_kept_unsearched(workspace: Path) -> None:
    made = deployed(workspace, Proposer((remove("- likes tea"),)), knowledge={"archive": {"enabled": False}})
    before = tree(workspace, records=True)
    dream = made.run(made.agent())
    assert dream.outcome == "applied" and "- likes tea" in text(workspace, ".dreaming/pruned.md")
    assert not (workspace / "memory").exists()
    made.undo(made.agent(), dream.run.id)
    assert tree(workspace) == tree_of_memory(before) and not (workspace / ".dreaming/pruned.md").exists()


def tree_of_memory(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: data for name, data in found.items() if not name.startswith(".dreaming/")}


def test_b24_b24b_a_file_that_somebody_keeps_writing_to_is_left_alone(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie_plugins.applier import plan as room

    whole, calls = room.plan, [0]

    def overtaken(limit: int) -> Callable[..., object]:
        def planned(*words: object) -> object:
            made = whole(*words)  # type: ignore[arg-type]
            calls[0] += 1
            if calls[0] <= limit:
                with (workspace / "MEMORY.md").open("a") as file:
                    file.write(f"- late {calls[0]}\n")
            return made

        return planned

    monkeypatch.setattr(room, "plan", overtaken(9))
    dream = dreamt(workspace, remove("- likes tea"))
    assert dream.outcome == "no-changes" and "kept writing" in dream.skipped[0].reason
    assert text(workspace) == f"{MEMORY}- late 1\n- late 2\n" and not text(workspace, PRUNED)
    monkeypatch.setattr(room, "plan", overtaken(calls[0] + 1))
    assert dreamt(workspace, remove("- likes tea")).outcome == "applied"
    assert text(workspace).endswith("- late 2\n- late 3\n") and "- likes tea" in text(workspace, PRUNED)


def test_a_file_that_cannot_be_written_fails_and_the_other_is_made(workspace: Path) -> None:
    def spoil(dream: Dream) -> Dream:
        (workspace / "MEMORY.md").write_bytes(b"- a\0")
        return dream

    stage = Stage("spoil", spoil, "ops", after=("select",), before=("apply",))
    made = deployed(workspace, Staged(stage), Proposer((add("- x"), add("- small", file="USER.md"))))
    dream = made.run(made.agent())
    assert dream.outcome == "error" and "apply: MEMORY.md was not written" in dream.reason
    assert text(workspace, "USER.md").endswith("- small\n") and len(dream.applied) == 1


# Verify


def careless(text: str) -> Callable[[Dream], Dream]:
    """A stage that takes a text out of MEMORY.md and keeps it nowhere."""

    def run(dream: Dream) -> Dream:
        dream.agent.files.commit("MEMORY.md", lambda s: Edit(s.text.replace(text, "")), dream.run)
        return dream

    return run


@pytest.mark.parametrize("scope", ["sweep", "ops"])
def test_a_run_that_loses_a_line_is_taken_back_and_nothing_is_shared(workspace: Path, scope: str) -> None:
    before, shared = tree(workspace), []
    lossy = Stage("lossy", careless("- rides a bike\n"), scope)  # type: ignore[arg-type]
    share = Stage("promote", lambda dream: (shared.append(1), dream)[1], "share")
    made = deployed(workspace, Staged(lossy), Staged(share), Proposer((remove("- likes tea"), add("- new"))))
    dream = made.run(made.agent())
    assert dream.outcome == "error" and tree(workspace) == before and not shared
    assert "“- rides a bike” left MEMORY.md and stands nowhere; the whole run was taken back" in dream.reason
    assert not dream.applied and {one.reason for one in dream.skipped} == {"the run was taken back"}
    undone, last = RunLog.of(made.agent()).runs()
    assert undone["undoes"] == dream.run.id and last["run"] == dream.run.id and last["outcome"] == "error"
    with pytest.raises(Refused, match="taken back already"):
        made.undo(made.agent(), dream.run.id)
    assert deployed(workspace, Proposer((add("- new"),))).run(made.agent()).outcome == "applied"


def test_a_rehearsal_of_a_run_that_would_lose_a_line_says_so_and_shows_no_change(workspace: Path) -> None:
    before = tree(workspace, records=True)
    made = deployed(workspace, Staged(Stage("lossy", careless("- rides a bike\n"))))
    dream = made.run(made.agent(), rehearsal=True)
    assert dream.outcome == "error" and tree(workspace, records=True) == before
    assert dream.agent.files.changes() == []  # type: ignore[attr-defined]


def test_a_move_that_was_told_and_is_not_true_ends_the_run_in_error(workspace: Path) -> None:
    def boast(dream: Dream) -> Dream:
        dream.agent.files.append("memory/note.md", "- x\n", dream.run)
        return evolve(dream, moved=(*dream.moved, Move("MEMORY.md", "memory/note.md", "- likes tea\n")))

    made = deployed(workspace, Staged(Stage("boast", boast)))
    dream = made.run(made.agent())
    assert dream.outcome == "error" and "was to stand in memory/note.md and does not" in dream.reason
    assert not (workspace / "memory").exists()


def test_what_somebody_else_took_out_in_the_meantime_is_not_our_loss(workspace: Path) -> None:
    def foreign(dream: Dream) -> Dream:
        (workspace / "MEMORY.md").write_text(text(workspace).replace("- rides a bike\n", ""))
        return dream

    stage = Stage("foreign", foreign, "ops", after=("apply",), before=("verify",))
    made = deployed(workspace, Staged(stage), Proposer((remove("- likes tea"),)))
    assert made.run(made.agent()).outcome == "applied"


def test_what_somebody_else_took_out_between_two_writes_is_not_our_loss(workspace: Path) -> None:
    def foreign(dream: Dream) -> Dream:
        dream.agent.files.commit("MEMORY.md", lambda s: Edit(s.text + "- ours\n"), dream.run)
        (workspace / "MEMORY.md").write_text(text(workspace).replace("- rides a bike\n", ""))
        return dream

    made = deployed(workspace, Staged(Stage("foreign", foreign)), Proposer((remove("- likes tea"),)))
    assert made.run(made.agent()).outcome == "applied"


def test_a_run_whose_loss_cannot_be_taken_back_says_both(workspace: Path) -> None:
    def twice(dream: Dream) -> Dream:
        careless("- rides a bike\n")(dream)
        for backup in (workspace / ".dreaming/backups").iterdir():
            backup.unlink()
        return evolve(dream, moved=(Move("MEMORY.md", "memory/note.md", "- rides a bike\n"),))

    made = deployed(workspace, Staged(Stage("lossy", twice)))
    dream = made.run(made.agent())
    assert dream.outcome == "error"
    assert "was to stand in memory/note.md and does not; and it could not be taken back: " in dream.reason
    assert RunLog.of(made.agent()).runs()[-1]["outcome"] == "error"


def test_verify_finds_nothing_missing_in_an_honest_run(workspace: Path) -> None:
    made = deployed(workspace, Proposer((remove("- likes tea"), Op("replace", "MEMORY.md", "drives", "rides"))))
    (workspace / "MEMORY.md").write_text(f"{MEMORY}\n## Log\n\n" + "- [x] oil the gate and the hinges\n" * 3)
    dream = made.run(made.agent())
    assert dream.outcome == "applied" and len(dream.applied) == 2 and len(dream.moved) == 5
    files = made.agent().files
    assert not verify.missing(dream, changes(files, dream.run.id), files.read)  # type: ignore[arg-type]
    forgetful = evolve(dream, applied=())
    assert verify.missing(forgetful, changes(files, dream.run.id), files.read)  # type: ignore[arg-type]


# Undo, killed half way


@pytest.mark.parametrize("edited", [False, True])
def test_an_undo_that_was_killed_half_way_is_finished_by_the_next(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, edited: bool
) -> None:
    from reverie.workspace.overlay import Overlay
    from reverie.workspace.pen import Pen

    before = tree(workspace)
    made = deployed(workspace, Proposer((remove("- likes tea"), add("- small", file="USER.md"))))
    agent = made.agent()
    dream = made.run(agent)
    if edited:
        for path in ("MEMORY.md", "USER.md"):
            (workspace / path).write_text(text(workspace, path) + "- mine\n")
    since, put, calls = tree(workspace), Pen.put, [0]

    def killed(self: Pen, *words: object, **more: object) -> bool:
        calls[0] += not isinstance(self.disk, Overlay)
        if calls[0] == 2:
            raise KeyboardInterrupt
        return put(self, *words, **more)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Pen, "put", killed)
        patch.setattr("reverie.undo._back", lambda done, run: None)
        with pytest.raises(KeyboardInterrupt):
            made.undo(agent, dream.run.id)
    assert tree(workspace) not in (before, since)
    again = made.undo(agent, dream.run.id)
    after = {name: data.removesuffix(b"- mine\n").rstrip() for name, data in tree(workspace).items()}
    assert after == {name: data.rstrip() for name, data in before.items()}
    assert not edited or text(workspace).count("- mine\n") == text(workspace, "USER.md").count("- mine\n") == 1
    outcomes = [line["outcome"] for line in RunLog.of(agent).runs()]
    assert outcomes == ["applied", "error", "undone"]
    assert "can be undone" in RunLog.of(agent).runs()[1]["reason"]
    made.undo(agent, again["run"])


def test_the_account_of_a_run_names_each_op_and_what_became_of_it(workspace: Path) -> None:
    from reverie.cli import account

    made = deployed(workspace, Proposer((remove("- likes tea"), add("- rides a bike"), Op("add", "MEMORY.md", "- x"))))
    dream = made.run(made.agent(), rehearsal=True)
    told = account.as_json(dream, account.changes(dream))
    assert [(op["op"], op["outcome"]) for op in told["ops"]] == [
        ("remove", "applied"),
        ("add", "skipped"),
        ("add", "aside"),
    ]
    assert account.fate(told["ops"][1]) == "skipped add: - rides a bike: it stands already"
