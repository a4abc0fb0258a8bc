"""What a run did: one account of it in plain values, for a program to read, and told to a person from the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reverie import diary, night, undo
from reverie.workspace import Folder
from reverie_hookspecs import MemorySettings

from .terminal import budget, diff, plain, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.workspace.change import Change
    from reverie_hookspecs import Agent, Dream, Settings

OP: Final = ("op", "file", "target", "content", "topic", "outcome", "why")
"""What the account of a run says of each op."""


def folder(agent: Agent) -> Folder:
    """The agent's files as the class that keeps a journal."""
    assert isinstance(agent.files, Folder)
    return agent.files


def changes(dream: Dream) -> Sequence[Change]:
    """What a run, or a rehearsal of one, made of the files."""
    if dream.rehearsal:
        return folder(dream.agent).changes()
    return undo.changes(folder(dream.agent), dream.run.id) if dream.changed else ()


# The account


def as_json(dream: Dream, changes: Iterable[Change]) -> dict[str, Any]:
    """A run in plain values; ``off`` is why a real run would do nothing at all, or empty."""
    settings = dream.agent.settings
    return {
        "run": dream.run.id,
        "agent": dream.agent.id,
        "mode": dream.mode,
        "off": night.switched_off(settings),
        "dryRun": dream.rehearsal,
        "outcome": dream.outcome,
        "reason": dream.reason,
        "notes": [{"stage": n.stage, "text": n.text, "failed": n.failed} for n in dream.notes],
        "ops": [{key: record[key] for key in OP} for record in diary.promotions(dream)],
        "moved": [{"file": m.file, "to": m.to, "label": m.label, "text": m.text} for m in dream.moved],
        "files": files(changes, settings),
    }


def files(changes: Iterable[Change], settings: Settings) -> list[dict[str, Any]]:
    """Each file that was changed; ``budget`` in characters, 0 where it is off, null for a file that has none."""
    memory = settings[MemorySettings]
    budgets = {"MEMORY.md": memory.memory_budget_chars, "USER.md": memory.user_budget_chars}
    return [{**change_as_json(change), "budget": budgets.get(change.path)} for change in changes]


def change_as_json(change: Change) -> dict[str, Any]:
    """Before and after of one file; null where it was not there, or cannot be had, which ``why`` explains then."""
    sides = (change.before, change.after)
    before, after = (side.text if side.state in ("text", "empty") else None for side in sides)
    why = next((side.reason or "it cannot be read" for side in sides if side.state == "unreadable"), "")
    return {"path": change.path, "before": before, "after": after, "why": why}


# Told to a person


def show(files: Iterable[dict[str, Any]]) -> None:
    """Print each file's diff."""
    for file in files:
        before, after = file["before"], file["after"]
        if file["why"]:
            say(f"{file['path']}: no diff, {file['why']}")
        elif text := diff(file["path"], before or "", after or "", before is None, after is None):
            click.echo(text)


def tell(run: dict[str, Any], quiet: bool = False, name: str = "") -> None:
    """Print the account of a run: the diff of a rehearsal, what was done, the sizes, what to do next.

    ``name`` is how the agent was named, so that the commands to run next work as they are printed.
    """
    if run["dryRun"]:
        show(run["files"])
    for note in () if quiet else run["notes"]:
        say(f"{note['stage']}: {'failed: ' * note['failed']}{note['text']}", err=note["failed"])
    for op in () if quiet else run["ops"]:
        say(fate(op))
    for file in run["files"]:
        say(size(file))
    if run["dryRun"]:
        rehearsed(run)
        return
    told = f": {plain(run['reason'])}" if run["reason"] else ""
    say(f"{run['agent']}: {run['outcome']}{told}", err=run["outcome"] == "error")
    if run["files"] and not quiet:
        said = worded("reverie dream show", name), worded("reverie dream undo", name)
        say(f"run {run['run']}; `{said[0]}` prints the diff, `{said[1]}` takes it back")


def fate(op: dict[str, Any]) -> str:
    """What became of an op, in a line."""
    became = "set aside" if op["outcome"] == "aside" else op["outcome"]
    return f"{became} {op['op']}: {diary.single(op['content'] or op['target'], 80)}{': ' * bool(op['why'])}{op['why']}"


def worded(command: str, *words: str) -> str:
    """A command as it can be typed: each word quoted where the shell needs it."""
    from shlex import quote

    return " ".join([command, *(quote(word) for word in words if word)])


def rehearsed(run: dict[str, Any]) -> None:
    """Say what a dry run was: nothing was changed, and what a real one would have been kept from."""
    if run["off"]:
        say(f"A real run would change nothing: {run['off']}.")
    elif run["mode"] != "auto" and run["files"]:
        say("A real run would change nothing: dreaming.mode is propose.")
    say("Dry run: nothing was changed." if run["files"] else "Dry run: there is nothing to change.")


def size(file: dict[str, Any]) -> str:
    """A file's size before and after, against its budget where it has one."""
    before, after = (len(file[side] or "") for side in ("before", "after"))
    if file["budget"] is None:
        return f"{file['path']}: {before:,} -> {after:,} characters"
    return f"{file['path']}: {before:,} -> {budget(after, file['budget'])}"
