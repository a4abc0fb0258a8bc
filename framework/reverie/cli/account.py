"""What a run did, told to a person or a program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reverie import undo
from reverie.workspace import Folder
from reverie_hookspecs import MemorySettings

from .terminal import budget, diff, plain, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reverie.workspace.change import Change
    from reverie_hookspecs import Agent, Dream, Snapshot


def folder(agent: Agent) -> Folder:
    """The agent's files as the class that keeps a journal."""
    assert isinstance(agent.files, Folder)
    return agent.files


def changes(dream: Dream) -> Sequence[Change]:
    """What a run, or a rehearsal of one, made of the files."""
    if dream.rehearsal:
        return folder(dream.agent).changes()
    return undo.changes(folder(dream.agent), dream.run.id) if dream.changed else ()


def show(changes: Sequence[Change]) -> None:
    """Print each file's diff."""
    for change in changes:
        before, after = change.before, change.after
        missing, gone = before.state == "missing", after.state == "missing"
        if unreadable := next((s for s in (before, after) if s.state == "unreadable"), None):
            say(f"{change.path}: no diff, {unreadable.reason}")
        elif text := diff(change.path, before.text, after.text, missing, gone):
            click.echo(text)


def tell(dream: Dream, changes: Sequence[Change], quiet: bool = False, name: str = "") -> None:
    """Print a run for a person: the diff of a rehearsal, what was done, the sizes, what to do next.

    ``name`` is how the agent was named, so that the commands to run next work as they are printed.
    """
    if dream.rehearsal:
        show(changes)
    for note in () if quiet else dream.notes:
        say(f"{note.stage}: {'failed: ' * note.failed}{note.text}", err=note.failed)
    for change in changes:
        say(size(dream, change))
    if dream.rehearsal:
        rehearsed(dream, changes)
        return
    told = f": {plain(dream.reason)}" if dream.reason else ""
    say(f"{dream.agent.id}: {dream.outcome}{told}", err=dream.outcome == "error")
    if changes and not quiet:
        said = worded("reverie dream show", name), worded("reverie dream undo", name)
        say(f"run {dream.run.id}; `{said[0]}` prints the diff, `{said[1]}` takes it back")


def worded(command: str, *words: str) -> str:
    """A command as it can be typed: each word quoted where the shell needs it."""
    from shlex import quote

    return " ".join([command, *(quote(word) for word in words if word)])


def rehearsed(dream: Dream, changes: Sequence[Change]) -> None:
    """Say what a dry run was: nothing was changed, and what a real one would have been kept from."""
    from reverie.night import switched_off

    off = switched_off(dream.agent.settings)
    if off:
        say(f"A real run would change nothing: {off}.")
    elif dream.mode != "auto" and changes:
        say("A real run would change nothing: dreaming.mode is propose.")
    say("Dry run: nothing was changed." if changes else "Dry run: there is nothing to change.")


def size(dream: Dream, change: Change) -> str:
    """A file's size before and after, against its budget where it has one."""
    memory = dream.agent.settings[MemorySettings]
    limits = {"MEMORY.md": memory.memory_budget_chars, "USER.md": memory.user_budget_chars}
    before, after = length(change.before), length(change.after)
    if change.path in limits:
        return f"{change.path}: {before:,} -> {budget(after, limits[change.path])}"
    return f"{change.path}: {before:,} -> {after:,} characters"


def length(snapshot: Snapshot) -> int:
    return 0 if snapshot.state == "unreadable" else len(snapshot.text)


def as_json(dream: Dream, changes: Sequence[Change]) -> dict[str, Any]:
    """A run for a program; sizes in characters."""
    return {
        "run": dream.run.id,
        "agent": dream.agent.id,
        "mode": dream.mode,
        "dryRun": dream.rehearsal,
        "outcome": dream.outcome,
        "reason": dream.reason,
        "notes": [{"stage": n.stage, "text": n.text, "failed": n.failed} for n in dream.notes],
        "moved": [{"file": m.file, "to": m.to, "label": m.label, "text": m.text} for m in dream.moved],
        "files": [change_as_json(change) for change in changes],
    }


def change_as_json(change: Change) -> dict[str, Any]:
    """Before and after of one file; null where it was not there or cannot be had."""
    sides = (change.before, change.after)
    before, after = (side.text if side.state in ("text", "empty") else None for side in sides)
    return {"path": change.path, "before": before, "after": after}
