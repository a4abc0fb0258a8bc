"""The launcher as a person meets it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from reverie import __version__
from reverie.cli import COMMANDS

from .launcher import as_json, furnish, reverie, tree


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "alfred", MEMORY="# Memory\n\n- tea at four\n", USER="- tall\n")


def configured(sealed: Path, text: object) -> Path:
    """A config.json in the home of this test."""
    file = sealed / ".claude-gateway" / "config.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text if isinstance(text, str) else json.dumps(text), "utf-8")
    return file


def test_reverie_alone_prints_a_map() -> None:
    told = reverie().output
    for command in COMMANDS:
        assert f"reverie {command}" in told


def test_version_is_that_of_the_distribution() -> None:
    from importlib.metadata import version

    assert reverie("--version").output == f"reverie {__version__}\n"
    assert version("reverie") == __version__


def test_help_lists_every_command_with_its_own_line() -> None:
    told = reverie("--help").output
    for name, (_, about) in COMMANDS.items():
        assert name in told and about.split(",")[0].split(".")[0] in " ".join(told.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    assert "Usage: reverie " + name in reverie(name, "--help").output


def test_an_unknown_command_names_the_nearest() -> None:
    assert "Did you mean 'status'" in reverie("statsu", code=2).output


@pytest.mark.parametrize("words", [("compose", "nobody"), ("dream", "nobody"), ("dream", "show", "nobody")])
def test_an_unknown_agent_is_explained(words: tuple[str, ...]) -> None:
    code = 1 if "show" in words else 2
    assert "'nobody'" in reverie(*words, code=code).output


def test_an_unknown_agent_names_the_nearest(sealed: Path, workspace: Path) -> None:
    configured(sealed, {"gateway": {}, "agents": [{"id": "alfred", "workspace": str(workspace)}]})
    assert "did you mean 'alfred'?" in reverie("compose", "alferd", code=2).output


def test_with_one_agent_its_name_may_be_left_out(sealed: Path, workspace: Path) -> None:
    configured(sealed, {"gateway": {}, "agents": [{"id": "alfred", "workspace": str(workspace)}]})
    assert "tea at four" in reverie("compose", "--stdout").output
    assert as_json("status")[0]["agent"] == "alfred"


def test_without_any_agent_a_path_is_asked_for() -> None:
    assert "no agent is configured" in reverie("compose", code=2).output


def test_a_folder_that_is_no_workspace_is_told_so(tmp_path: Path) -> None:
    assert "reverie init" in reverie("compose", tmp_path, code=2).output


def test_compose_writes_once_and_then_leaves_it(workspace: Path) -> None:
    reverie("compose", workspace, "--check", code=1)
    assert not (workspace / "CLAUDE.md").exists()
    assert "written" in reverie("compose", workspace).output
    text = (workspace / "CLAUDE.md").read_text("utf-8")
    assert text == reverie("compose", workspace, "--stdout").stdout
    stamp = (workspace / "CLAUDE.md").stat().st_mtime_ns
    assert "unchanged" in reverie("compose", workspace).output
    assert (workspace / "CLAUDE.md").stat().st_mtime_ns == stamp
    reverie("compose", workspace, "--check")


def test_h01_only_agents_gives_every_section_with_an_empty_body(tmp_path: Path) -> None:
    root = furnish(tmp_path / "w", AGENTS="A")
    text = reverie("compose", root, "--stdout").stdout
    headers = [line for line in text.splitlines() if line.startswith("--- ")]
    assert headers == [
        "--- MEMORY RULE ---",
        "--- AGENT IDENTITY ---",
        "--- IDENTITY ---",
        "--- SOUL ---",
        "--- USER PROFILE ---",
        "--- MEMORY RETRIEVAL ---",
        "--- LONG-TERM MEMORY ---",
        "--- HEARTBEAT CONFIG ---",
    ]
    assert text.endswith("\n\n--- HEARTBEAT CONFIG ---\n")


def test_h02_no_agents_is_an_error_that_names_it_and_writes_nothing(tmp_path: Path) -> None:
    root = furnish(tmp_path / "w", MEMORY="- tea\n", CLAUDE="old\n")
    (root / "AGENTS.md").unlink()
    assert "AGENTS.md" in reverie("compose", root, code=1).output
    assert (root / "CLAUDE.md").read_text() == "old\n"


@pytest.mark.parametrize("off", [{"knowledge": {"archive": {"enabled": False}}}, {"disableArchive": True}, None])
def test_h12_while_the_archive_is_off_no_text_mentions_searching(
    sealed: Path, workspace: Path, off: dict[str, object] | None
) -> None:
    (workspace / "MEMORY.md").write_text("# Log\n" + "- a long line of a long file\n" * 400)
    entry = {"id": "alfred", "workspace": str(workspace)}
    text = {"gateway": {"memory": {"writeRouting": True}}, "agents": [entry]}
    configured(sealed, text)
    shown = reverie("compose", "alfred", "--stdout").output
    assert "memory_search" in shown and "only an index" in shown and "⚠️" not in shown
    configured(sealed, text | ({"agents": [entry | off]} if off else {"plugins": {"fts5-archive": False}}))
    shown = reverie("compose", "alfred", "--stdout").output
    assert "memory_search" not in shown and "⚠️" in shown
    assert not list(workspace.parent.rglob("kb.sqlite"))


def test_the_banner_comes_and_goes_with_the_budget(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("x" * 8000)
    assert "⚠️" not in reverie("compose", workspace, "--stdout").stdout
    (workspace / "MEMORY.md").write_text("x" * 8001)
    assert "⚠️" in reverie("compose", workspace, "--stdout").stdout
    assert (workspace / "MEMORY.md").read_text() == "x" * 8001


def test_a_claude_md_by_hand_is_kept(workspace: Path) -> None:
    (workspace / "CLAUDE.md").write_text("by hand\n")
    told = reverie("compose", workspace).output
    [kept] = (workspace / ".dreaming" / "backups").iterdir()
    assert kept.read_text() == "by hand\n" and kept.name in told


def test_compose_json_reports_every_section(workspace: Path) -> None:
    report = as_json("compose", workspace)
    assert report["characters"] > 0 and report["tokens"] > 0
    assert "LONG-TERM MEMORY" in [section["title"] for section in report["sections"]]
    assert not (workspace / "CLAUDE.md").exists()


def test_plugins_names_every_slot() -> None:
    rows = {row["plugin"]: row for row in as_json("plugins")}
    assert {"sections", "budget-banner", "compactor"} <= {*rows}
    assert rows["compactor"]["state"] == "active" and "on_dream" in rows["compactor"]["hooks"]
    assert rows["compactor"]["from"].startswith("reverie ")
    assert "compactor" in reverie("plugins").output


def test_a_slot_is_emptied_by_one_line_and_nothing_of_it_is_imported(sealed: Path, workspace: Path) -> None:
    file = configured(
        sealed, {"gateway": {}, "plugins": {"compactor": False}, "agents": [{"id": "a", "workspace": str(workspace)}]}
    )
    code = (
        "import sys\nfrom reverie.cli import main\n"
        f"main(['--config', {str(file)!r}, 'dream', '--dry-run'], standalone_mode=False)\n"
    )
    check = "raise SystemExit('reverie_plugins.compactor' in sys.modules)"
    program = code.replace("main([", "import atexit\ntry:\n    main([").replace(
        "=False)\n", f"=False)\nfinally:\n    {check}\n"
    )
    assert subprocess.run([sys.executable, "-c", program], env=os.environ, check=False).returncode == 0


def test_an_unknown_plugin_is_a_configuration_error(sealed: Path) -> None:
    configured(sealed, {"gateway": {}, "plugins": {"compacter": False}, "agents": [{"id": "a"}]})
    assert "did you mean 'compactor'" in reverie("plugins", code=2).output


def test_config_show_tells_every_value_and_its_origin(sealed: Path) -> None:
    configured(
        sealed,
        {
            "gateway": {"memory": {"memoryBudgetChars": 9000}, "dreaming": {"staggerWindowMinutes": 99}},
            "agents": [{"id": "a", "memory": {"userBudgetChars": 1}}],
        },
    )
    shown = as_json("config", "show", "--agent", "a")
    assert shown["memory.memoryBudgetChars"] == {"value": 9000, "origin": "gateway", "clamped": False}
    assert shown["memory.userBudgetChars"]["origin"] == "agent"
    assert shown["dreaming.dreamHour"] == {"value": 3, "origin": "default", "clamped": False}
    assert shown["dreaming.staggerWindowMinutes"] == {"value": 55, "origin": "gateway", "clamped": True}
    assert "memory.memoryBudgetChars\t9000\tgateway" in reverie("config", "show").output


def test_config_check_tells_what_is_odd_and_what_is_used(sealed: Path) -> None:
    configured(sealed, {"gateway": {"dreaming": {"enabled": "false", "dreamHuor": 4}}, "agents": [{"id": "a"}]})
    told = reverie("config", "check").output
    assert "dreaming.enabled" in told and "did you mean" in told and "dreamHour" in told


def test_a_fatal_configuration_exits_2_with_place_and_remedy(sealed: Path) -> None:
    file = configured(sealed, '{"gateway": {},\n "agents": [],}')
    told = reverie("status", code=2).output
    assert str(file) in told and "line 2" in told


def test_a_config_that_does_not_exist_is_told(tmp_path: Path) -> None:
    assert "nowhere.json" in reverie("--config", tmp_path / "nowhere.json", "status", code=2).output


def test_init_makes_a_workspace_once(sealed: Path, tmp_path: Path) -> None:
    root = tmp_path / "new agent"
    reverie("init", root, "--dry-run")
    assert not root.exists()
    told = reverie("init", root).output
    assert "reverie compose" in told and (root / "AGENTS.md").exists()
    (root / "SOUL.md").write_text("mine\n")
    before = tree(tmp_path)
    config = (sealed / ".claude-gateway" / "config.json").read_bytes()
    assert "nothing was overwritten" in reverie("init", root).output
    assert tree(tmp_path) == before
    assert (sealed / ".claude-gateway" / "config.json").read_bytes() == config
    reverie("compose", root, "--stdout")
    reverie("status")


def test_init_imports_a_claude_md_that_was_asked_for(tmp_path: Path) -> None:
    root = tmp_path / "w"
    root.mkdir()
    (root / "CLAUDE.md").write_text("Be brief.\n")
    told = reverie("init", root, "--import-claude-md").output
    assert (root / "AGENTS.md").read_text() == "Be brief.\n" and "created" in told
    assert (root / "CLAUDE.md").read_text() == "Be brief.\n"


def test_init_counts_the_sessions_of_the_folder(sealed: Path, tmp_path: Path) -> None:
    root = (tmp_path / "w").resolve()
    folder = sealed / ".claude" / "projects" / "".join(c if c.isalnum() and c.isascii() else "-" for c in str(root))
    folder.mkdir(parents=True)
    (folder / "a.jsonl").write_text(json.dumps({"type": "user", "cwd": str(root)}) + "\n")
    (folder / "b.jsonl").write_text(json.dumps({"type": "user", "cwd": str(root) + "-twin"}) + "\n")
    (folder / "c.jsonl").write_bytes(b"\0" * 100)
    assert "1 session(s)" in reverie("init", root).output


def test_init_refuses_a_file(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("")
    assert "is a file" in reverie("init", tmp_path / "f", code=1).output


def test_doctor_makes_a_real_round_trip(workspace: Path) -> None:
    checks = {check["name"]: check for check in as_json("doctor", workspace)}
    assert checks["round trip"]["state"] == "ok" and "undo" in checks["round trip"]["found"]
    assert checks["SQLite"]["state"] == "ok"


def test_doctor_fails_with_a_remedy_where_something_is_wrong(workspace: Path) -> None:
    (workspace / "AGENTS.md").unlink()
    (workspace / "MEMORY.md").write_text("x" * 9000)
    told = reverie("doctor", workspace, code=1).output
    assert "reverie init" in told and "over its budget" in told


def test_doctor_tells_a_broken_configuration(sealed: Path) -> None:
    configured(sealed, "{")
    assert "fail  configuration" in reverie("doctor", code=1).output


def test_status_tells_sizes_mode_and_the_last_run(workspace: Path) -> None:
    assert "last run: never" in reverie("status", workspace).output
    reverie("dream", workspace)
    told = reverie("status", workspace).output
    assert "skipped-empty" in told and "of 8,000 characters" in told and "dreaming: auto" in told


def test_the_demo_shows_a_night_and_names_three_commands() -> None:
    told = reverie("demo").output
    assert "only an index" in told and "Roof over room 4" in told and "undone" in told
    assert "memory/archive/completed.md:" in told and "paid 640" in told.partition("3. ")[2]
    assert told.rstrip().splitlines()[-3:] == [
        "  reverie init PATH",
        "  reverie dream PATH --dry-run",
        "  reverie dream PATH",
    ]


def test_text_that_no_terminal_can_show_ends_in_no_traceback(tmp_path: Path) -> None:
    root = furnish(
        tmp_path / "w",
        MEMORY="- \udcff\udc80 DONE, and a long enough line that a pointer in its place is the shorter one\n",
    )
    program = "from reverie.cli import main; main()"
    for words in (["dream", str(root), "--dry-run"], ["compose", str(root), "--stdout"], ["dream", str(root)]):
        done = subprocess.run(
            [sys.executable, "-c", program, *words], capture_output=True, env={**os.environ, "LC_ALL": "C"}, check=False
        )
        assert done.returncode == 0, done.stderr
        assert b"Traceback" not in done.stderr


def test_no_escape_sequence_of_foreign_text_reaches_the_terminal(tmp_path: Path, sealed: Path) -> None:
    evil = "\x1b[31m\x1b]0;x\x07\x9b2J\u202e"
    lines = f"- {evil}van DONE, and so on in enough words that a pointer in its place is the shorter one {evil}\n"
    root = furnish(tmp_path / "w", MEMORY=lines, USER="x" * 4000)
    configured(sealed, {"gateway": {"memory": {evil: 1}}, "agents": [{"id": "a", "workspace": str(root)}]})
    for words in (
        ("compose",), ("compose", "--stdout"), ("dream", "--dry-run"), ("dream",), ("dream", "show"), ("dream", "log"),
        ("status",), ("doctor",), ("config", "check"), ("plugins",), ("dream", "undo"),
    ):  # fmt: skip
        told = reverie(*words).output
        assert not {*"\x1b\x07\x9b\u202e"} & {*told}, words
    assert not {*"\x1b\x07\x9b"} & {*reverie("compose", evil, code=2).output}


def test_a_reader_that_goes_away_ends_in_silence(workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("- x\n" * 50_000)
    program = "from reverie.cli import main; main()"
    for words in (["config", "show"], ["compose", str(workspace), "--stdout"], ["plugins"]):
        with subprocess.Popen(
            [sys.executable, "-u", "-c", program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process:
            assert process.stdout is not None and process.stderr is not None
            process.stdout.close()
            assert process.stderr.read() == b""


def test_doctor_gives_each_agent_that_cannot_be_used_a_line_of_its_own(sealed: Path, workspace: Path) -> None:
    agents = [
        {"id": "fine", "workspace": str(workspace)},
        {"id": "gone", "workspace": str(workspace / "nowhere")},
        {"id": "apart", "workspace": str(workspace), "isolateMemory": True},
    ]
    configured(sealed, {"gateway": {}, "agents": agents})
    checks = {check["name"]: check for check in as_json("doctor", code=1)}
    assert "is not there" in checks["agent gone"]["remedy"] and "isolateMemory" in checks["agent apart"]["remedy"]
    assert checks["workspace of fine"]["state"] == checks["round trip"]["state"] == "ok"


def test_an_undo_does_not_take_a_run_under_way_for_a_lost_one(workspace: Path) -> None:
    from reverie.config import Config
    from reverie.kernel import Kernel

    deployment = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    agent = deployment.agent(str(workspace))
    with deployment.lock(agent):
        assert "another run is under way" in reverie("dream", "undo", workspace, code=1).output
    assert not (workspace / ".reverie" / "runs.jsonl").exists()


# What the documentation promises


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in a language."""
    import re

    text = (Path(__file__).parents[2] / page).read_text("utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.S)


def test_every_command_of_the_readme_works_in_its_order(sealed: Path) -> None:
    import shlex

    [block] = [block for block in blocks("README.md", "sh") if "reverie init" in block]
    for line in block.splitlines():
        words = [str(Path(word).expanduser()) if word[0] == "~" else word for word in shlex.split(line, comments=True)]
        if words[0] == "reverie":
            told = reverie(*words[1:]).output
            assert "MEMORY.md" in told or words[1] == "compose"
        else:
            subprocess.run(line, shell=True, check=True, env={**os.environ, "HOME": str(sealed)})
    assert "deposit 200" in (sealed / "agent" / "MEMORY.md").read_text()


def test_the_ops_of_the_how_to_are_taken_and_made(workspace: Path) -> None:
    from attrs import evolve

    from reverie.config import Config
    from reverie.hooks import Hooks
    from reverie.kernel import Kernel

    told: dict[str, Any] = {"__name__": "barista"}
    exec(blocks("docs/how-to/propose-ops.md", "python")[0], told)
    (workspace / "MEMORY.md").write_text("# Memory\n\n## Drinks\n\n- likes coffee\n- drinks it at three\n\n## Log\n")
    made = Kernel.load(Config.load(None, workspace.parent / "home", {}))
    every = {**made.plugins, "barista": told["Barista"]()}
    deployment = evolve(made, plugins=every, hooks=Hooks.over(every)[0])
    dream = deployment.run(deployment.agent(str(workspace)))
    assert len(dream.applied) == 3 and not dream.aside
    text = (workspace / "MEMORY.md").read_text()
    assert text == "# Memory\n\n## Drinks\n- likes tea, black\n\n- drinks it at four\n\n## Log\n"


def test_the_example_of_the_hook_that_proposes_ops_is_one_that_is_taken() -> None:
    import doctest

    from reverie_hookspecs import DreamSettings, specs
    from reverie_plugins.op_selector import select

    told: dict[str, Any] = {}
    [test] = doctest.DocTestFinder(recurse=False).find(specs.select_ops, "select_ops", specs)
    exec("\n".join(example.source for example in test.examples), told)
    [proposal] = select([told["Proposal"]((told["tea"],))], DreamSettings(), {})
    assert proposal.ops == (told["tea"],) and not proposal.aside


def test_a_safety_slot_that_is_named_and_not_filled_stops_the_run_and_one_that_is_false_does_not(
    sealed: Path, workspace: Path
) -> None:
    agents = [{"id": "alfred", "workspace": str(workspace)}]
    configured(sealed, {"gateway": {}, "plugins": {"applier": False}, "agents": agents})
    reverie("dream")
    configured(sealed, {"gateway": {}, "plugins": {"isolation": True}, "agents": agents})
    before = tree(workspace, records=True)
    assert "names the safety slot 'isolation'" in reverie("dream", code=1).output
    assert tree(workspace, records=True) == before
