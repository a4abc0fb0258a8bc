"""reverie init"""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from shlex import quote

import click

from reverie import config
from reverie.config.entry import misnamed
from reverie_hookspecs import Refused, WriteRefused

from .terminal import say

MOST = 8
"""Lines of a migration that are printed one by one."""
SEEDS = ("AGENTS.md", "IDENTITY.md", "SOUL.md", "USER.md", "MEMORY.md", "HEARTBEAT.md")


@click.command("init")
@click.argument("path", default=".", metavar="[PATH]")
@click.option("--import-claude-md", is_flag=True, help="Let AGENTS.md begin with the text of an existing CLAUDE.md.")
@click.option("--dry-run", is_flag=True, help="Show what would be made; make nothing.")
@click.pass_context
def command(ctx: click.Context, path: str, import_claude_md: bool, dry_run: bool) -> None:
    """Make a folder a workspace: what is missing is created, nothing that is there is overwritten.

    Where there is no config.json yet, one is written that knows this workspace.
    """
    root = Path(path).expanduser().resolve()
    if root.exists() and not root.is_dir():
        raise Refused(f"{root} is a file; give the path of a folder")
    made = [name for name in SEEDS if not os.path.lexists(root / name)]
    for name in made:
        if not dry_run:
            create(root / name, seed(root, name, import_claude_md))
        say(f"{'would create' if dry_run else 'created'} {root / name}")
    if not made:
        say(f"{root} is a workspace already; nothing was overwritten")
    configure(ctx, root, dry_run)
    found(root, import_claude_md and "AGENTS.md" in made)
    place = quote(str(root))
    say(f"\nNext:\n  reverie compose {place} --stdout\n  reverie dream {place} --dry-run")


def seed(root: Path, name: str, import_claude_md: bool) -> str:
    """The text a new file begins with."""
    if name == "AGENTS.md" and import_claude_md:
        try:
            return (root / "CLAUDE.md").read_text("utf-8")
        except FileNotFoundError:
            say("there is no CLAUDE.md to import", err=True)
        except (OSError, UnicodeError) as error:
            raise Refused(f"CLAUDE.md cannot be read: {error}; mend it, or leave --import-claude-md out") from error
    return (files("reverie") / "templates" / "workspace" / name).read_text("utf-8")


def create(file: Path, text: str) -> None:
    """Write a file that is not there yet; one that appeared meanwhile is left."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8") as new:
            new.write(text)
    except FileExistsError:
        say(f"{file} appeared meanwhile and was left as it is", err=True)
    except OSError as error:
        reason = error.strerror or error
        raise WriteRefused(f"{file} cannot be created: {reason}; make its folder writable") from error


def configure(ctx: click.Context, root: Path, dry_run: bool) -> None:
    """Write config.json where there is none; bring an existing one up to date, with a backup; say which it was."""
    home = config.home(os.environ)
    file = config.locate(ctx.find_root().params.get("config"), os.environ, home)
    if file is not None:
        migrate(file, dry_run)
        if not known(file, root):
            entry = json.dumps({"id": root.name, "workspace": str(root)}, ensure_ascii=False)
            say(f"it has no agent for this folder, which works by its path all the same; to add one: {entry}")
        return
    file = home / "config.json"
    name = "agent" if misnamed(root.name) else root.name
    say(f"{'would create' if dry_run else 'created'} {file}, with the agent {name!r}")
    if not dry_run:
        config.write_template(file, [{"id": name, "workspace": str(root)}])


def known(file: Path, root: Path) -> bool:
    """Whether an agent of the configuration has this workspace."""
    entries = config.Config.load(file, config.home(os.environ), os.environ).agents
    return any(entry.workspace.resolve() == root for entry in entries)


def migrate(file: Path, dry_run: bool) -> None:
    """Bring a configuration up to date and say what was added."""
    say(f"{file} is there and keeps its values")
    done = config.migrate(file, rehearsal=dry_run)
    for line in done.told[:MOST]:
        say(f"  {line}")
    if more := len(done.told[MOST:]):
        say(f"  and {more} more; `reverie config show` prints every value")


def found(root: Path, imported: bool) -> None:
    """Tell what was there before: a CLAUDE.md by hand, and sessions of Claude Code."""
    if by_hand(root / "CLAUDE.md") and not imported:
        say("CLAUDE.md is there; it is kept until you compose, and then copied to .dreaming/backups first")
    if sessions := history(root):
        say(f"Claude Code has {sessions} session(s) in this folder; the nightly dream will read the newest")


def by_hand(file: Path) -> bool:
    """Whether there is a CLAUDE.md that nothing composed."""
    from reverie.hygiene import is_delimiter

    try:
        first = file.read_text("utf-8", "replace").lstrip("\ufeff \t\r\n").partition("\n")[0]
    except OSError:
        return False
    return not is_delimiter(first)


def history(root: Path) -> int:
    """How many sessions Claude Code recorded in a folder: the names of its folders collide, so the records decide."""
    import re

    claude = Path(os.environ.get("CLAUDE_CONFIG_DIR") or Path.home() / ".claude")
    folder = claude / "projects" / re.sub(r"[^A-Za-z0-9]", "-", str(root))[:200]
    try:
        return sum(recorded_in(file, root) for file in folder.glob("*.jsonl"))
    except OSError:
        return 0


def recorded_in(file: Path, root: Path) -> bool:
    """Whether a session's first records name this folder; a record may be torn or huge."""
    try:
        with file.open("rb") as lines:
            head = lines.read(65536)
    except OSError:
        return False
    return f'"cwd":{json.dumps(str(root))}'.encode() in head.replace(b'"cwd": ', b'"cwd":')
