"""A night and its undo, with the real parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import define, evolve

from reverie.config import Config
from reverie.kernel import Kernel
from reverie.runlog import RunLog
from reverie_hookspecs import Dream, NotFound, Op, Plugin, PluginError, Proposal, Refused, Stage, hookimpl

from .launcher import as_json, furnish, reverie, tree

VAN = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"
TEA = "- [x] likes tea, black, every day at four, and never from a bag\n"
MEMORY = f"# Memory\n\n## Log\n\n{VAN}- Buy tape\n- [x] Oil\n\n## User\n\n{TEA}"
ARCHIVE = "memory/archive/completed.md"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "alfred", MEMORY=MEMORY, USER="- tall\n")


def memory(workspace: Path) -> str:
    return (workspace / "MEMORY.md").read_text("utf-8")


def test_a_night_moves_what_is_finished_and_leaves_a_pointer(workspace: Path) -> None:
    told = reverie("dream", workspace).output
    assert "applied" in told and "MEMORY.md" in told
    assert "deposit 200" not in memory(workspace) and "Rent the van — DONE" in memory(workspace)
    assert VAN in (workspace / ARCHIVE).read_text("utf-8")
    assert len(memory(workspace)) < len(MEMORY)
    assert "likes tea" in memory(workspace)
    diary = (workspace / ".dreaming" / "DREAMS.md").read_text("utf-8")
    assert "applied" in diary and "Rent the van" in diary
    begun, _ = RunLog(workspace / ".reverie").lines()
    [run] = RunLog(workspace / ".reverie").runs()
    assert begun["run"] == run["run"] and begun["outcome"] == "begun"
    assert run["outcome"] == "applied" and set(run["changed"]) == {"MEMORY.md", ARCHIVE}


def test_a_second_night_changes_nothing(workspace: Path) -> None:
    reverie("dream", workspace)
    before = tree(workspace)
    backups = sorted((workspace / ".dreaming" / "backups").iterdir())
    assert "skipped-empty" in reverie("dream", workspace).output
    assert tree(workspace) == before
    assert sorted((workspace / ".dreaming" / "backups").iterdir()) == backups


def test_undo_restores_every_byte_and_undoing_the_undo_brings_it_again(workspace: Path) -> None:
    before = tree(workspace)
    reverie("dream", workspace)
    after = tree(workspace)
    undo = as_json("dream", "undo", workspace)
    assert tree(workspace) == before
    reverie("dream", "undo", workspace, undo["run"])
    assert tree(workspace) == after
    reverie("dream", "undo", workspace)
    assert tree(workspace) == before
    reverie("dream", "undo", workspace, code=1)


def test_undo_keeps_what_was_written_since(workspace: Path) -> None:
    before = tree(workspace)
    reverie("dream", workspace)
    (workspace / "MEMORY.md").write_text(memory(workspace) + "- a new thought\n", "utf-8")
    since = tree(workspace)
    undo = as_json("dream", "undo", workspace)
    assert memory(workspace) == MEMORY + "- a new thought\n"
    assert {**tree(workspace), "MEMORY.md": b""} == {**before, "MEMORY.md": b""}
    told = reverie("dream", "undo", workspace, undo["undoes"], code=1).output
    assert "taken back already" in told and undo["run"] in told
    reverie("dream", "undo", workspace, undo["run"])
    assert tree(workspace) == since


def test_undo_refuses_with_both_versions_where_the_same_lines_were_edited_since(workspace: Path) -> None:
    reverie("dream", workspace)
    changed = memory(workspace).replace("Rent the van — DONE", "Rent a new thought")
    (workspace / "MEMORY.md").write_text(changed, "utf-8")
    before = tree(workspace)
    told = reverie("dream", "undo", workspace, code=1).output
    assert "MEMORY.md" in told and "a new thought" in told and ".bak" in told
    assert tree(workspace) == before


def test_a_dry_run_shows_everything_and_changes_nothing(workspace: Path) -> None:
    before = tree(workspace, records=True)
    told = reverie("dream", workspace, "--dry-run").output
    assert "-" + VAN.strip() in told and f"+++ b/{ARCHIVE}" in told
    assert "of 8,000 characters" in told and "nothing was changed" in told
    reverie("dream", workspace, "--dry-run", "--json")
    assert tree(workspace, records=True) == before
    assert not (workspace / ".dreaming").exists() and not (workspace / ".reverie").exists()


def test_a_dry_run_shows_what_the_run_then_does(workspace: Path) -> None:
    shown = as_json("dream", workspace, "--dry-run")["files"]
    done = as_json("dream", workspace)["files"]
    assert {f["path"]: f["before"] for f in shown} == {f["path"]: f["before"] for f in done}
    assert {f["path"]: f["after"] for f in shown} == {f["path"]: f["after"] for f in done}


def test_show_and_log_tell_what_was_done(workspace: Path) -> None:
    reverie("dream", "log", workspace)
    run = as_json("dream", workspace)["run"]
    assert "-" + VAN.strip() in reverie("dream", "show", workspace).output
    assert "-" + VAN.strip() in reverie("dream", "show", workspace, run[:-1]).output
    reverie("dream", "undo", workspace)
    log = as_json("dream", "log", workspace)
    assert [line["kind"] for line in log] == ["undo", "dream"] and log[1]["undone"]
    assert "since undone" in reverie("dream", "log", workspace).output
    reverie("dream", "show", workspace, "nonsense", code=1)


@pytest.mark.parametrize("text", ["", "  \n", None])
def test_an_empty_or_missing_memory_is_left_as_it_is(tmp_path: Path, text: str | None) -> None:
    root = furnish(tmp_path / "w", **({} if text is None else {"MEMORY": text}))
    before = tree(root)
    assert "skipped-empty" in reverie("dream", root).output
    assert tree(root) == before


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.mkdir(),
        lambda path: path.symlink_to("AGENTS.md"),
        lambda path: path.write_bytes(b"\xff\xfe- \0x\0"),
        lambda path: path.write_bytes(b"- a\0b DONE\n"),
    ],
    ids=["folder", "link", "utf-16", "nul"],
)
def test_an_unreadable_memory_ends_the_run_in_error_and_changes_nothing(
    tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    root = furnish(tmp_path / "w")
    spoil(root / "MEMORY.md")
    before = tree(root)
    told = reverie("dream", root, code=1).output
    assert "error" in told and "MEMORY.md cannot be read" in told
    assert tree(root) == before
    reverie("compose", root, code=1)
    assert not (root / "CLAUDE.md").exists()


def kernel(workspace: Path, home: Path, gateway: dict[str, object] | None = None, **agent: object) -> Kernel:
    home.mkdir(exist_ok=True)
    entry = {"id": "alfred", "workspace": str(workspace), **agent}
    (home / "config.json").write_text(json.dumps({"gateway": gateway or {}, "agents": [entry]}))
    return Kernel.load(Config.load(home / "config.json", home, {}))


def test_in_propose_mode_nothing_that_writes_is_run(workspace: Path, tmp_path: Path) -> None:
    deployment = kernel(workspace, tmp_path / "home", {"dreaming": {"mode": "propose"}})
    before = tree(workspace)
    dream = deployment.run(deployment.agent("alfred"))
    assert dream.outcome == "skipped-empty" and tree(workspace) == before
    assert "compactor" not in [stage.name for stage in deployment.plan(deployment.agent())]


@pytest.mark.parametrize("dreaming", [{"maxChangesPerRun": 0}, {"enabled": False}])
def test_a_disabled_agent_writes_nothing_at_all(workspace: Path, tmp_path: Path, dreaming: dict[str, object]) -> None:
    deployment = kernel(workspace, tmp_path / "home", dreaming=dreaming)
    before = tree(workspace, records=True)
    dream = deployment.run(deployment.agent())
    assert dream.outcome == "skipped-disabled" and dream.reason
    assert tree(workspace, records=True) == before and not (tmp_path / "home" / "agents").exists()


@pytest.mark.parametrize("switch", [{"disableArchive": True}, {"knowledge": {"archive": {"enabled": False}}}])
def test_with_the_archive_off_nothing_is_moved(workspace: Path, tmp_path: Path, switch: dict[str, object]) -> None:
    deployment = kernel(workspace, tmp_path / "home", **switch)
    before = tree(workspace)
    dream = deployment.run(deployment.agent())
    assert tree(workspace) == before and "off" in dream.notes[0].text


def test_an_isolated_agent_is_refused_with_the_reason(workspace: Path, tmp_path: Path) -> None:
    deployment = kernel(workspace, tmp_path / "home", isolateMemory=True)
    with pytest.raises(Refused, match="'alfred' asks for isolateMemory, and no active plugin"):
        deployment.agent("alfred")
    assert deployment.agents() == []


def test_the_state_of_a_configured_agent_lies_in_the_home(workspace: Path, tmp_path: Path) -> None:
    deployment = kernel(workspace, tmp_path / "home")
    deployment.run(deployment.agent(str(workspace)))
    assert (tmp_path / "home" / "agents" / "alfred" / "runs.jsonl").exists()
    assert not (workspace / ".reverie").exists()


def with_plugins(workspace: Path, *plugins: Plugin) -> Kernel:
    """The deployment with more plugins, as if they had been found."""
    from reverie.hooks import Hooks

    deployment = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    every = {**deployment.plugins, **{f"x{number}": plugin for number, plugin in enumerate(plugins)}}
    hooks, unfit = Hooks.over(every)
    assert not unfit
    return Kernel(deployment.config, deployment.rows, every, hooks)


def offering(*stages: Stage) -> list[Plugin]:
    """A plugin for each stage."""

    def one(stage: Stage) -> Plugin:
        @define(eq=False)
        class Offering(Plugin):
            @hookimpl
            def on_dream(self, agent: object) -> Stage:
                return stage

        return Offering()

    return [one(stage) for stage in stages]


def boom(dream: Dream) -> Dream:
    raise RuntimeError("boom")


def test_a_strangers_stage_stands_between_two_others(workspace: Path) -> None:
    stages = [Stage(name, lambda d: d, after=after, before=before) for name, after, before in (
        ("staleness", ("compactor",), ("route-out",)),
        ("route-out", ("staleness",), ("review",)),
        ("mine", ("compactor",), ("staleness",)),
    )]  # fmt: skip
    deployment = with_plugins(workspace, *offering(*stages))
    names = [s.name for s in deployment.plan(deployment.agent(str(workspace)))]
    assert names == [
        "gather",
        "index",
        "compactor",
        "mine",
        "staleness",
        "route-out",
        "review",
        "select",
        "apply",
        "verify",
        "audit",
    ]


def test_a_stage_that_says_nothing_goes_where_its_scope_is(workspace: Path) -> None:
    stages = [Stage("zz", lambda d: d), Stage("aa", lambda d: d, "share"), Stage("bb", lambda d: d, "session")]
    deployment = with_plugins(workspace, *offering(*stages))
    names = [s.name for s in deployment.plan(deployment.agent(str(workspace)))]
    assert names == ["gather", "index", "compactor", "zz", "review", "select", "apply", "verify", "aa", "bb", "audit"]


def test_a_stage_that_fails_is_recorded_and_the_next_one_runs(workspace: Path) -> None:
    seen = []
    stages = (
        Stage("first", boom, before=("compactor",)),
        Stage("wrong", lambda d: None, before=("compactor",)),  # type: ignore[arg-type,return-value]
        Stage("last", lambda d: (seen.append(d.outcome), d)[1], after=("audit",), writes=False),
    )
    deployment = with_plugins(workspace, *offering(*stages))
    dream = deployment.run(deployment.agent(str(workspace)))
    assert (
        dream.outcome == "error"
        and "first: RuntimeError: boom" in dream.reason
        and "wrong: returned NoneType" in dream.reason
    )
    assert seen == ["error"]
    assert "deposit 200" not in memory(workspace)
    assert "first: failed: RuntimeError: boom" in (workspace / ".dreaming" / "DREAMS.md").read_text("utf-8")


def test_a_failure_after_the_audit_changes_no_outcome(workspace: Path, caplog: pytest.LogCaptureFixture) -> None:
    deployment = with_plugins(workspace, *offering(Stage("late", boom, after=("audit",), writes=False)))
    assert deployment.run(deployment.agent(str(workspace))).outcome == "applied"
    assert "stage late failed" in caplog.text


def test_what_a_later_stage_of_a_dry_run_reads_is_what_an_earlier_one_wrote(workspace: Path) -> None:
    seen = []

    def look(dream: Dream) -> Dream:
        seen.append(dream.agent.files.read("MEMORY.md").text)
        dream.agent.files.append("memory/mine.md", "- seen\n", dream.run)
        return dream

    deployment = with_plugins(workspace, *offering(Stage("look", look, after=("compactor",))))
    dream = deployment.run(deployment.agent(str(workspace)), rehearsal=True)
    assert "deposit 200" not in seen[0] and "deposit 200" in memory(workspace)
    assert not (workspace / "memory").exists()
    assert {change.path for change in dream.agent.files.changes()} == {"MEMORY.md", ARCHIVE, "memory/mine.md"}  # type: ignore[attr-defined]


def test_proposals_are_written_down_and_cannot_forge_a_run(workspace: Path) -> None:
    forged = "x\n## 2020-01-01T00:00:00.000Z — x (auto)"

    @define(eq=False)
    class Dreamer(Plugin):
        @hookimpl
        def select_ops(self, dream: Dream) -> Proposal:
            assert dream.sizes["MEMORY.md"].budget == 8000
            return Proposal((Op("add", "MEMORY.md", forged, reason=forged, recall_count=9),), "dreamer")

    (workspace / "MEMORY.md").write_text("- open\n")
    deployment = with_plugins(workspace, Dreamer())
    dream = deployment.run(deployment.agent(str(workspace)))
    assert dream.outcome == "proposed"
    diary = (workspace / ".dreaming" / "DREAMS.md").read_text("utf-8")
    assert len([line for line in diary.splitlines() if line.startswith("## ")]) == 1
    [record] = [json.loads(line) for line in (workspace / ".dreaming" / "promotions.jsonl").read_text().splitlines()]
    assert (
        record["outcome"] == "aside"
        and "promotionThreshold" in record["why"]
        and record["run"] == dream.run.id
        and record["content"] == forged
    )


def test_a_failed_source_of_ideas_makes_the_run_an_error_and_keeps_the_others(workspace: Path) -> None:
    @define(eq=False)
    class Failing(Plugin):
        @hookimpl
        def select_ops(self, dream: Dream) -> Proposal:
            return Proposal(source="oracle", failure="no answer")

    @define(eq=False)
    class Fine(Plugin):
        @hookimpl
        def select_ops(self, dream: Dream) -> Proposal:
            return Proposal((Op("add", "MEMORY.md", "- tea"),))

    deployment = with_plugins(workspace, Failing(), Fine())
    dream = deployment.run(deployment.agent(str(workspace)))
    assert dream.outcome == "error" and "oracle: no answer" in dream.reason and len(dream.aside) == 1


def test_a_run_waits_for_no_other_and_says_who_holds_the_lock(workspace: Path) -> None:
    deployment = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    agent = deployment.agent(str(workspace))
    with deployment.lock(agent), pytest.raises(Refused, match="another run"):
        deployment.run(agent)
    assert evolve(deployment.run(agent)).outcome == "applied"


@pytest.mark.parametrize("times", [1, 2])
def test_a28_a_line_that_comes_in_between_survives_and_the_entry_stands_once(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    from reverie_plugins.compactor import plan as room

    whole = room.plan

    def overtaken(text: str, day: str) -> object:
        made = whole(text, day)
        if (number := text.count("- late ")) < times:
            with (workspace / "MEMORY.md").open("a") as file:
                file.write(f"- late {number}\n")
        return made

    monkeypatch.setattr(room, "plan", overtaken)
    first = as_json("dream", workspace)
    assert first["outcome"] == ("applied" if times == 1 else "no-changes")
    if times == 2:
        assert "left alone" in first["notes"][0]["text"]
        assert not (workspace / ARCHIVE).exists()
        reverie("dream", workspace)
    text = memory(workspace)
    assert all(f"- late {number}\n" in text for number in range(times))
    assert "deposit 200" not in text
    assert (workspace / ARCHIVE).read_text("utf-8").count("deposit 200") == 1


def test_an_unreadable_user_file_ends_the_run_before_anything_is_swept(workspace: Path) -> None:
    (workspace / "USER.md").unlink()
    (workspace / "USER.md").mkdir()
    before = tree(workspace)
    assert "USER.md cannot be read" in reverie("dream", workspace, code=1).output
    assert tree(workspace) == before


def test_the_runs_of_a_workspace_stay_known_when_it_is_configured(workspace: Path, tmp_path: Path) -> None:
    reverie("dream", workspace)
    deployment = kernel(workspace, tmp_path / "home")
    agent = deployment.agent("alfred")
    line = RunLog.of(agent).standing()
    assert line["changed"]
    deployment.undo(agent, line["run"])
    assert memory(workspace) == MEMORY


@pytest.mark.parametrize("code", [0, 3, None])
def test_a_plugin_that_exits_is_a_failure_like_any_other(workspace: Path, code: int | None) -> None:
    def leave(dream: Dream) -> Dream:
        raise SystemExit(code)

    deployment = with_plugins(workspace, *offering(Stage("leave", leave, after=("compactor",))))
    dream = deployment.run(deployment.agent(str(workspace)))
    assert dream.outcome == "error" and "SystemExit" in dream.reason
    assert RunLog(workspace / ".reverie").standing()["run"] == dream.run.id


@pytest.mark.parametrize(
    "change",
    [
        {"notes": ()}, {"notes": None}, {"moved": (3,)}, {"changed": None}, {"changed": (5,)}, {"usage": None},
        {"rehearsal": True}, {"agent": None}, {"run": None}, {"mode": "propose"}, {"ops": ("x",)},
    ],
)  # fmt: skip
def test_a_stage_cannot_spoil_the_letter(workspace: Path, change: dict[str, object]) -> None:
    spoiler = Stage("spoiler", lambda dream: evolve(dream, **change), after=("compactor",), writes=False)
    deployment = with_plugins(workspace, *offering(spoiler))
    dream = deployment.run(deployment.agent(str(workspace)))
    assert dream.outcome == "error" and "spoiler" in dream.reason
    assert any(note.stage == "compactor" for note in dream.notes) and dream.moved
    line = RunLog(workspace / ".reverie").standing()
    assert line["run"] == dream.run.id and line["outcome"] == "error"


@pytest.mark.parametrize("spoil", ["DREAMS.md", "runs.jsonl"])
def test_a_run_that_cannot_be_written_down_says_so_and_can_be_undone(workspace: Path, spoil: str) -> None:
    place = workspace / (".dreaming" if spoil == "DREAMS.md" else ".reverie") / spoil
    place.mkdir(parents=True)
    assert spoil in reverie("dream", workspace, code=1).output
    place.rmdir()
    if memory(workspace) != MEMORY:
        reverie("dream", "undo", workspace)
    assert memory(workspace) == MEMORY


def test_a_run_that_was_killed_before_its_audit_is_logged_by_the_next_and_can_be_undone(workspace: Path) -> None:
    def die(dream: Dream) -> Dream:
        raise KeyboardInterrupt

    deployment = with_plugins(workspace, *offering(Stage("die", die, after=("compactor",))))
    with pytest.raises(KeyboardInterrupt):
        deployment.run(deployment.agent(str(workspace)))
    assert "deposit 200" not in memory(workspace)
    assert [line["outcome"] for line in RunLog(workspace / ".reverie").lines()] == ["begun"]
    reverie("dream", workspace)
    [lost, _] = as_json("dream", "log", workspace)[::-1]
    assert lost["outcome"] == "error" and "before it was closed" in lost["reason"]
    reverie("dream", "undo", workspace)
    assert memory(workspace) == MEMORY


def test_a_night_that_cannot_be_planned_is_logged(workspace: Path) -> None:
    @define(eq=False)
    class Broken(Plugin):
        @hookimpl
        def on_dream(self, agent: object) -> Stage:
            raise KeyError("x")

    deployment = with_plugins(workspace, Broken())
    with pytest.raises(PluginError, match="KeyError in plugin"):
        deployment.run(deployment.agent(str(workspace)))
    last = RunLog(workspace / ".reverie").runs()[-1]
    assert last["outcome"] == "error" and "KeyError" in last["reason"]


def test_a_folder_whose_name_would_forge_a_run_is_known_by_a_harmless_one(tmp_path: Path) -> None:
    root = furnish(tmp_path / "x\n## 2020-01-01 forged\x1b[2J", MEMORY=MEMORY)
    reverie("dream", root)
    diary = (root / ".dreaming" / "DREAMS.md").read_text("utf-8")
    assert len([line for line in diary.splitlines() if line.startswith("## ")]) == 1


def test_a_workspace_that_is_not_there_is_an_error_and_is_not_made(tmp_path: Path) -> None:
    deployment = kernel(tmp_path / "unmounted", tmp_path / "home")
    with pytest.raises(NotFound, match="is not there"):
        deployment.agent("alfred")
    assert not (tmp_path / "unmounted").exists()


@pytest.mark.parametrize(
    "line",
    [{"run": "a", "undoes": "a", "outcome": "undone", "kind": "undo"}, {"run": "a", "changed": 5}, {"run": "a"}],
)
def test_a_senseless_run_stops_nothing(workspace: Path, line: dict[str, object]) -> None:
    (workspace / ".reverie").mkdir()
    (workspace / ".reverie" / "runs.jsonl").write_text(json.dumps(line) + "\n")
    reverie("dream", "log", workspace)
    reverie("status", workspace)
    reverie("dream", workspace)
    reverie("dream", "undo", workspace)
    assert memory(workspace) == MEMORY


def test_an_undo_that_was_killed_half_way_is_finished_by_the_next(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reverie import undo as room

    reverie("dream", workspace)
    whole, calls = room._restore, iter((True, False))

    def restore(*words: object) -> None:
        if not next(calls, True):
            raise KeyboardInterrupt
        whole(*words)  # type: ignore[arg-type]

    deployment = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    agent = deployment.agent(str(workspace))
    target = RunLog.of(agent).standing()["run"]
    with monkeypatch.context() as patched:
        patched.setattr(room, "_restore", restore)
        patched.setattr(room, "_back", lambda *words: None)
        patched.setattr(room, "restorable", lambda *words: ["MEMORY.md"])
        with pytest.raises(KeyboardInterrupt):
            deployment.undo(agent, target)
    assert RunLog.of(agent).runs()[-1]["outcome"] == "begun"
    reverie("dream", "undo", workspace)
    assert memory(workspace) == MEMORY and not (workspace / ARCHIVE).exists()
    log = as_json("dream", "log", workspace)
    assert [(line["kind"], line["outcome"]) for line in log[:3]] == [
        ("undo", "undone"),
        ("undo", "error"),
        ("undo", "undone"),
    ]
    assert log[2]["undoes"] == log[1]["run"], "half an undo was taken back before it was made whole"
