"""A night that hangs, dies or is interrupted, as a person meets it."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from types import ModuleType

import pytest
from attrs import define

from reverie import selection
from reverie_hookspecs import Dream, Plugin, Stage, hookimpl

from .launcher import as_json, furnish, reverie, tree

VAN = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"
LIMIT = 0.4


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return furnish(tmp_path / "alfred", MEMORY=f"# Memory\n\n{VAN}- tea at four\n")


@pytest.fixture
def stranger(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Installs a plugin with one stage after the compactor, which does what it is given."""

    def install(act: Callable[[], None]) -> None:
        def run(dream: Dream) -> Dream:
            act()
            return dream

        @define(eq=False)
        class Stranger(Plugin):
            @hookimpl
            def on_dream(self, agent: object) -> Stage:
                return Stage("stranger", run, limit=LIMIT, after=("compactor",), writes=False)

        module = ModuleType("stranger_night")
        module.Stranger = Stranger  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "stranger_night", module)
        point = EntryPoint("stranger", "stranger_night:Stranger", "reverie")
        found = {**selection.installed(), "stranger": (point,)}
        monkeypatch.setattr(selection, "installed", lambda: found)

    return install


def hang() -> None:
    time.sleep(60)


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def interrupt() -> None:
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)


@pytest.mark.parametrize(
    ("act", "why", "told"),
    [
        (hang, "stage stranger exceeded its limit of 0.4 s and was ended", "exceeded its limit of 0.4 s"),
        (die, "the run was ended by signal 9 in stage stranger", "ended by signal 9"),
        (interrupt, "the run was interrupted", "Aborted"),
    ],
)
def test_a_run_that_is_ended_is_told_logged_and_can_be_undone_and_the_next_one_works(
    workspace: Path, stranger: Callable[[Callable[[], None]], None], act: Callable[[], None], why: str, told: str
) -> None:
    before = tree(workspace)
    stranger(act)
    assert told in reverie("dream", workspace, code=1).output
    [line] = as_json("dream", "log", workspace)
    assert line["outcome"] == "error" and line["reason"].startswith(why) and "MEMORY.md" in line["changed"]
    assert why in reverie("dream", "log", workspace).output
    assert "deposit 200" not in (workspace / "MEMORY.md").read_text()
    reverie("dream", "undo", workspace)
    assert tree(workspace) == before
    stranger(lambda: None)
    assert as_json("dream", workspace)["outcome"] == "applied"


def test_a_dry_run_that_hangs_is_ended_and_leaves_nothing(
    workspace: Path, stranger: Callable[[Callable[[], None]], None]
) -> None:
    before = tree(workspace, records=True)
    stranger(hang)
    assert "stage stranger exceeded its limit" in reverie("dream", workspace, "--dry-run", code=1).output
    assert tree(workspace, records=True) == before


def test_a_run_that_cannot_be_mended_at_once_says_so_and_the_next_one_does_it(
    workspace: Path, stranger: Callable[[Callable[[], None]], None]
) -> None:
    log = workspace / ".reverie" / "runs.jsonl"

    def spoil() -> None:
        log.rename(log.with_suffix(".away"))
        log.mkdir()
        time.sleep(60)

    stranger(spoil)
    told = reverie("dream", workspace, code=1).output
    assert "stage stranger exceeded its limit" in told and "not mended yet" in told
    log.rmdir()
    log.with_suffix(".away").rename(log)
    stranger(lambda: None)
    reverie("dream", workspace)
    assert "before it was closed" in as_json("dream", "log", workspace)[-1]["reason"]


def test_a_stage_that_leaves_the_process_is_no_way_out_of_the_launcher(
    workspace: Path, stranger: Callable[[Callable[[], None]], None]
) -> None:
    stranger(lambda: os._exit(0))
    assert "ended with code 0 without a result" in reverie("dream", workspace, code=1).output


def test_a_fault_of_a_plugin_is_told_as_ever(workspace: Path, stranger: Callable[[Callable[[], None]], None]) -> None:
    def fail() -> None:
        raise ValueError("lost")

    stranger(fail)
    told = reverie("dream", workspace, code=1)
    assert "WARNING: stage stranger failed for alfred: ValueError: lost" in told.stderr
    assert "stranger: failed: ValueError: lost" in told.stderr


def test_what_a_person_is_told_is_what_a_program_gets(workspace: Path) -> None:
    done = as_json("dream", workspace, "--dry-run")
    assert {"run", "agent", "mode", "dryRun", "outcome", "reason", "notes", "moved", "files"} <= {*done}
    files = {file["path"]: file for file in done["files"]}
    assert files["MEMORY.md"]["budget"] == 8000 and files["memory/archive/completed.md"]["budget"] is None
    told = reverie("dream", workspace, "--dry-run").output
    after = len(files["MEMORY.md"]["after"])
    assert f"MEMORY.md: {len(files['MEMORY.md']['before']):,} -> {after:,} of 8,000 characters" in told
    assert all(note["text"] in told for note in done["notes"]) and done["notes"]


def test_a_version_that_is_nowhere_any_more_is_explained(workspace: Path) -> None:
    reverie("dream", workspace)
    for backup in (workspace / ".dreaming" / "backups").iterdir():
        backup.unlink()
    assert "MEMORY.md: no diff, this version is nowhere any more" in reverie("dream", "show", workspace).output
    files = {file["path"]: file for file in as_json("dream", "show", workspace)["files"]}
    assert files["MEMORY.md"]["before"] is None and "nowhere" in files["MEMORY.md"]["why"]
    assert files["memory/archive/completed.md"]["why"] == ""


def test_on_a_terminal_the_night_shows_its_progress_and_no_thread_is_there_at_the_fork(workspace: Path) -> None:
    program = (
        "import os, threading\n"
        "fork = os.fork\n"
        "os.fork = lambda: threading.active_count() == 1 and fork()\n"
        "from reverie.cli import main; main()"
    )
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-c", program, "dream", str(workspace)], stdout=subprocess.PIPE, stderr=theirs, check=False
    )
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert done.returncode == 0 and b"applied" in done.stdout
    assert "alfred dreams" in shown
