"""A night with ops: proposed by a plugin, selected, applied, verified, taken back; with the real parts."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from attrs import evolve

from reverie import verify
from reverie.runlog import RunLog
from reverie.undo import changes
from reverie_hookspecs import Applied, Dream, Edit, Move, Op, Refused, Stage

from .launcher import furnish, tree
from .nights import Proposer, Staged, add, deployed, ended, forked, remove

REST = "- the kiln is fired on Fridays, and nobody opens it before Sunday noon\n" * 3
MEMORY = f"# Memory\n\n- likes tea\n- rides a bike\n{REST}\n## User\n\n- is called Ann\n"
PRUNED = "memory/archive/pruned.md"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "alfred", MEMORY=MEMORY, USER="- tall\n")


def dreamt(workspace: Path, *ops: Op, off: Sequence[str] = (), **gateway: object) -> Dream:
    made = deployed(workspace, Proposer(ops), off=off, **gateway)
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
    assert "was to stand in memory/note.md and does not; " in dream.reason
    assert "and it could not be taken back: " in dream.reason
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


@pytest.mark.parametrize(
    ("scope", "after"), [("share", ()), ("session", ()), ("ops", ("verify",)), ("share", ("verify",)), ("gather", ())]
)
def test_whenever_a_stage_loses_a_line_the_run_is_taken_back(
    workspace: Path, scope: str, after: tuple[str, ...]
) -> None:
    before = tree(workspace)
    stage = Stage("lossy", careless("- rides a bike\n"), scope, after=after)  # type: ignore[arg-type]
    made = deployed(workspace, Staged(stage), Proposer((remove("- likes tea"),)))
    dream = made.run(made.agent())
    assert dream.outcome == "error" and "stands nowhere; the whole run was taken back" in dream.reason
    assert tree(workspace) == before


@pytest.mark.parametrize(
    "excuse",
    [
        Applied(Op("replace", "MEMORY.md", "s", "s")),
        Applied(Op("replace", "MEMORY.md", "- r", "- r")),
        Applied(remove("- r")),
        Applied(remove("- rides")),
        Applied(Op("replace", "MEMORY.md", "bike", "rides a bike")),
    ],
)
def test_no_op_excuses_a_line_that_it_did_not_take(workspace: Path, excuse: Applied) -> None:
    def lossy(dream: Dream) -> Dream:
        dream.agent.files.append(PRUNED, "- r\n- rides\n", dream.run)
        return evolve(careless("- rides a bike\n")(dream), applied=(excuse,))

    made = deployed(workspace, Staged(Stage("lossy", lossy)))
    assert made.run(made.agent()).outcome == "error"
    assert text(workspace) == MEMORY


@pytest.mark.parametrize("line", [f"- see {PRUNED} for the PIN 1234", f"- 3 finished: {PRUNED} and the PIN"])
def test_a_line_that_names_an_archive_is_a_line_like_any_other(workspace: Path, line: str) -> None:
    (workspace / "MEMORY.md").write_text(f"{MEMORY}{line}\n")
    made = deployed(workspace, Staged(Stage("lossy", careless(f"{line}\n"))), Proposer((remove("- likes tea"),)))
    assert made.run(made.agent()).outcome == "error" and line in text(workspace)


def test_a_night_whose_pre_images_vanish_is_not_taken_for_a_good_one(workspace: Path) -> None:
    def spoil(dream: Dream) -> Dream:
        careless("- rides a bike\n")(dream)
        for backup in (workspace / ".dreaming/backups").iterdir():
            backup.unlink()
        return dream

    made = deployed(workspace, Staged(Stage("lossy", spoil)))
    assert "nobody can say what it lost" in made.run(made.agent()).reason


def test_an_archive_that_vanishes_before_the_run_ends_counts_for_nothing(workspace: Path) -> None:
    def spoil(dream: Dream) -> Dream:
        (workspace / PRUNED).unlink()
        return dream

    stage = Stage("spoil", spoil, "ops", after=("apply",), before=("verify",))
    made = deployed(workspace, Staged(stage), Proposer((remove("- likes tea"),)))
    assert made.run(made.agent()).outcome == "error"


def test_a_killed_night_that_lost_a_line_is_taken_back_by_the_next(workspace: Path) -> None:
    def die(dream: Dream) -> Dream:
        careless("- rides a bike\n")(dream)
        os._exit(0)

    made = deployed(workspace, Staged(Stage("lossy", die)))
    assert ended(forked(lambda: made.run(made.agent()))) == 0
    assert "rides a bike" not in text(workspace)
    [closed] = deployed(workspace).mend(made.agent(), "it was killed")
    assert closed["outcome"] == "error" and "stands nowhere; what it changed is taken back" in closed["reason"]
    assert text(workspace) == MEMORY
    assert f"run `{closed['run']}`: it was killed" in text(workspace, ".dreaming/DREAMS.md")


class Wordless(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


@pytest.mark.parametrize("error", [asyncio.CancelledError(), Wordless(), SystemExit(3), RecursionError("deep")])
def test_whatever_a_stage_raises_is_recorded_and_the_next_one_runs(workspace: Path, error: BaseException) -> None:
    def fail(dream: Dream) -> Dream:
        raise error

    made = deployed(workspace, Staged(Stage("failing", fail)), Proposer((remove("- likes tea"),)))
    dream = made.run(made.agent())
    assert dream.outcome == "error" and type(error).__name__ in dream.reason
    assert [one.op.target for one in dream.applied] == ["- likes tea"]
    assert RunLog.of(made.agent()).runs()[-1]["outcome"] == "error"


@pytest.mark.parametrize("op", [Op("add", None, "- x"), Op("remove", "MEMORY.md", target=5), "- x"])  # type: ignore[arg-type]
def test_a_malformed_op_is_dropped_and_its_source_has_failed(workspace: Path, op: Op) -> None:
    dream = dreamt(workspace, op, remove("- likes tea"), off=("op-selector",))
    assert dream.outcome == "error" and "1 of its ops are malformed" in dream.reason
    assert len(dream.applied) == 1 and "- likes tea" not in text(workspace)


def test_an_undo_stands_though_the_diary_cannot_name_it(workspace: Path) -> None:
    made = deployed(workspace, Proposer((remove("- likes tea"),)))
    dream = made.run(made.agent())
    (workspace / ".dreaming/DREAMS.md").unlink()
    (workspace / ".dreaming/DREAMS.md").mkdir()
    made.undo(made.agent(), dream.run.id)
    assert text(workspace) == MEMORY and RunLog.of(made.agent()).runs()[-1]["outcome"] == "undone"


def test_a_run_brought_again_after_the_same_was_done_anew_is_refused(workspace: Path) -> None:
    made = deployed(workspace, Proposer((remove("- likes tea"),)))
    agent = made.agent()
    undone = made.undo(agent, made.run(agent).run.id)
    made.run(agent)
    with pytest.raises(Refused, match="nothing of run"):
        made.undo(agent, undone["run"])
    (workspace / "MEMORY.md").write_text(text(workspace) + "- mine\n")
    again = deployed(workspace, Proposer((remove("- rides a bike"),))).run(agent)
    made.undo(agent, again.run.id)
    assert text(workspace, PRUNED).count("- likes tea") == 1 and "likes tea" not in text(workspace)


def test_an_archive_keeps_its_heading_while_anything_stands_below_it(workspace: Path) -> None:
    made = deployed(workspace, Proposer((remove("- likes tea"),)))
    agent = made.agent()
    first = made.run(agent).run.id
    second = deployed(workspace, Proposer((remove("- rides a bike"),))).run(agent).run.id
    made.undo(agent, first)
    assert text(workspace, PRUNED).startswith("# Pruned\n\n- rides a bike\n")
    made.undo(agent, second)
    assert text(workspace, PRUNED) == "# Pruned\n\n"
    assert sorted(text(workspace).splitlines()) == sorted(MEMORY.splitlines()), "all is back, if not in its order"


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
    runs = RunLog.of(agent).runs()
    assert [line["outcome"] for line in runs] == ["applied", "undone", "error", "undone"]
    assert (
        runs[1]["undoes"] == runs[2]["run"]
        and "half an undo is none; what it changed is taken back" in runs[2]["reason"]
    )
    made.undo(agent, again["run"])
    assert tree(workspace) == since


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
