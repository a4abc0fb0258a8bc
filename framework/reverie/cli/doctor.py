"""reverie doctor"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Literal

import click
from attrs import asdict, frozen

from reverie_hookspecs import MemorySettings, ReverieError

from .deployment import kernel
from .terminal import emit, mark, say
from .workspace import SEEDS

if TYPE_CHECKING:
    from reverie.kernel import Kernel
    from reverie_hookspecs import Agent


UNREAD = "until it can be read, nothing is composed and every run ends in error"


@frozen
class Check:
    """One thing looked at; ``remedy`` says what to do where it is not ok."""

    name: str
    state: Literal["ok", "warn", "fail"]
    found: str
    remedy: str = ""


@click.command("doctor")
@click.argument("agent", default="", metavar="[AGENT|PATH]")
@click.option("--json", "as_json", is_flag=True, help="Print the checks as JSON.")
@click.pass_context
def command(ctx: click.Context, agent: str, as_json: bool) -> None:
    """Check Python, SQLite, folders, plugins and workspaces, with a real round trip in a temporary folder.

    Exits 1 if anything failed; a warning is no failure.
    """
    checks = [*machine()]
    try:
        deployment = kernel(ctx)
    except ReverieError as error:
        checks.append(
            Check("configuration", "fail", str(error), "mend the file; `reverie config check` reads it again")
        )
    else:
        checks += surroundings(deployment)
        checks += workspace(deployment.agent(agent)) if agent else every(deployment)
    checks.append(round_trip())
    if as_json:
        emit([asdict(check) for check in checks])
    else:
        tell(checks)
    ctx.exit(1 if any(check.state == "fail" for check in checks) else 0)


def tell(checks: list[Check]) -> None:
    for check in checks:
        say(f"  {check.name}: {check.found}", head=mark(check.state))
        if check.remedy:
            say(f"      {check.remedy}")


def machine() -> Iterator[Check]:
    """Python, and SQLite with full-text search."""
    yield Check("Python", "ok", ".".join(str(part) for part in sys.version_info[:3]))
    yield sqlite()


def sqlite() -> Check:
    import sqlite3

    found = f"{sqlite3.sqlite_version}"
    try:
        with sqlite3.connect(":memory:") as database:
            database.execute("CREATE VIRTUAL TABLE t USING fts5(x, tokenize='trigram')")
        database.close()
    except sqlite3.Error as error:
        return Check("SQLite", "fail", f"{found}, {error}", "use a Python whose SQLite has FTS5 and trigram")
    return Check("SQLite", "ok", f"{found} with FTS5")


def surroundings(deployment: Kernel) -> Iterator[Check]:
    """The home, the configuration and the plugins."""
    yield folder("home", deployment.home)
    config = deployment.config
    odd = [str(remark) for remark in (*config.remarks, *config.skipped)]
    place = str(config.file) if config.file else f"none in {deployment.home}, every default applies"
    remedy = "; ".join(odd[:3]) + (f"; and {len(odd) - 3} more: `reverie config check`" if len(odd) > 3 else "")
    yield Check("configuration", "warn" if odd else "ok", f"{place}, {len(odd)} remark(s)" if odd else place, remedy)
    failed = [row for row in deployment.rows if row.state == "failed"]
    for row in failed:
        yield Check(f"plugin {row.name}", "warn", "left out", row.reason)
    if not failed:
        yield Check("plugins", "ok", f"{len(deployment.plugins)} active")


def folder(name: str, path: Path) -> Check:
    """Whether files can be made in a folder, or it can be made itself."""
    there = next((p for p in (path, *path.parents) if p.exists()), path)
    if not there.is_dir():
        return Check(name, "fail", f"{there} is no folder", "move it away, or name another place")
    if not os.access(there, os.W_OK | os.X_OK):
        return Check(name, "fail", f"{there} is not writable", f"give this user the right to write in {there}")
    return Check(name, "ok", str(path) if path.exists() else f"{path} will be made when it is needed")


def every(deployment: Kernel) -> Iterator[Check]:
    """Every agent of the configuration; one that cannot be used as things are is a failure of its own."""
    for entry in deployment.config.agents:
        try:
            yield from workspace(deployment.agent(entry.id))
        except ReverieError as error:
            yield Check(f"agent {entry.id}", "fail", "it cannot be used", str(error))


def workspace(agent: Agent) -> Iterator[Check]:
    """An agent's folder and the files it composes from."""
    yield folder(f"workspace of {agent.id}", agent.files.root)
    limits = agent.settings[MemorySettings].budgets
    for path in SEEDS:
        snapshot = agent.files.read(path)
        if snapshot.state == "unreadable":
            yield Check(
                f"{agent.id} {path}",
                "fail",
                snapshot.reason,
                UNREAD,
            )
        elif path == "AGENTS.md" and snapshot.state == "missing":
            yield Check(
                f"{agent.id} {path}", "fail", "missing", f"`reverie init {quote(str(agent.files.root))}` makes one"
            )
        elif 0 < limits.get(path, 0) < len(snapshot.text):
            found = f"{len(snapshot.text):,} characters, over its budget of {limits[path]:,}"
            yield Check(
                f"{agent.id} {path}",
                "warn",
                found,
                f"`reverie dream {quote(str(agent.files.root))} --dry-run` shows a way",
            )


def round_trip() -> Check:
    """Write, compose, sweep and take back in a temporary workspace, with the real parts and every default."""
    from reverie.config import Config
    from reverie.kernel import Kernel

    with tempfile.TemporaryDirectory(prefix="reverie-doctor-") as place:
        root = Path(place) / "workspace"
        root.mkdir()
        (root / "AGENTS.md").write_text("A test.\n", "utf-8")
        done = (
            "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"
        )
        (root / "MEMORY.md").write_text(f"# Memory\n\n{done}- 茶は四時\n", "utf-8")
        try:
            return travelled(Kernel.load(Config.load(None, Path(place), {})), root)
        except (ReverieError, OSError) as error:
            return Check("round trip", "fail", str(error), "`reverie --verbose doctor` shows where")


def travelled(deployment: Kernel, root: Path) -> Check:
    """The round trip's result, each step judged by what is on disk."""
    agent = deployment.agent(str(root))
    before = (root / "MEMORY.md").read_bytes()
    steps = {"compose": "茶は四時" in deployment.compose(agent)}
    dream = deployment.run(agent)
    archive = root / "memory" / "archive" / "completed.md"
    if "compactor" in deployment.plugins:
        steps["sweep"] = archive.is_file() and "deposit 200" in archive.read_text("utf-8")
        deployment.undo(agent, dream.run.id)
        steps["undo"] = (root / "MEMORY.md").read_bytes() == before and not archive.exists()
    failed = [name for name, fine in steps.items() if not fine]
    if failed:
        return Check("round trip", "fail", f"{', '.join(failed)} went wrong", "`reverie --verbose doctor` shows where")
    return Check("round trip", "ok", ", ".join(["write", *steps]))
