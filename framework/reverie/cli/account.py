"""What a run did: one account of it in plain values, for a program to read, and told to a person from the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import click

from reverie import diary, night, undo
from reverie.runlog import RunLog, taken_back
from reverie.workspace import Folder
from reverie_hookspecs import MemorySettings

from .terminal import budget, diff, plain, say

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from reverie.workspace.change import Change
    from reverie_hookspecs import Agent, Dream, Settings

OP: Final = ("op", "file", "target", "content", "topic", "tier", "outcome", "why")
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
    """A run in plain values; ``off`` is why a real run would do nothing at all, or empty. In an op, ``place`` is the
    file it is about."""
    settings = dream.agent.settings
    notes = settings[MemorySettings].episodic_archive_dir
    fates = [*diary.fates(dream)]
    return {
        "run": dream.run.id,
        "agent": dream.agent.id,
        "mode": dream.mode,
        "off": night.switched_off(settings),
        "dryRun": dream.rehearsal,
        "outcome": dream.outcome,
        "reason": dream.reason,
        "takenBack": not dream.rehearsal and dream.run.id in taken_back(RunLog.of(dream.agent).runs()),
        "notes": [{"stage": n.stage, "text": n.text, "failed": n.failed} for n in dream.notes],
        "ops": [
            {**{key: record[key] for key in OP}, "place": diary.place(op, notes)}
            for record, (op, _, _) in zip(diary.promotions(dream), fates, strict=True)
        ],
        "moved": [{"file": m.file, "to": m.to, "label": m.label, "text": m.text} for m in dream.moved],
        "files": files(changes, settings),
    }


def files(changes: Iterable[Change], settings: Settings) -> list[dict[str, Any]]:
    """Each file that was changed; ``budget`` in characters, 0 where it is off, null for a file that has none."""
    budgets = settings[MemorySettings].budgets
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
    known = not quiet and run["reason"] == "; ".join(f"{n['stage']}: {n['text']}" for n in run["notes"] if n["failed"])
    told = f": {plain(run['reason'])}" if run["reason"] and not known else ""
    say(f"{run['agent']}: {run['outcome']}{told}", err=run["outcome"] == "error")
    if run["files"] and not quiet:
        say(f"run {run['run']}; {way(name, run['run'], back=run['takenBack'])}")


def fate(op: dict[str, Any]) -> str:
    """What became of an op, in a line; the file is named where its op alone does not say which it is."""
    became = "set aside" if op["outcome"] == "aside" else op["outcome"]
    to = f" to {diary.single(op['place'])}" if op["tier"] == "episodic" else ""
    text = diary.worded(op["op"], op["target"], op["content"], 80)
    return f"{became} {op['op']}{to}: {text}{': ' * bool(op['why'])}{op['why']}"


def way(name: str, run: str, *, back: bool = False) -> str:
    """How to see, and to take back, what a run did; ``back`` says that it is taken back already."""
    shown = f"`{worded('dream show', name, run)}` prints the diff"
    return f"{shown} of what was taken back" if back else f"{shown}, `{worded('dream undo', name, run)}` takes it back"


def ended(line: dict[str, Any], name: str, back: bool) -> str:
    """What a run that was closed from outside has left; ``back`` says that it is taken back already."""
    if not line["changed"]:
        return f"run {line['run']} is closed; it had changed nothing"
    head = f"run {line['run']} is closed; it had changed {', '.join(line['changed'])}"
    return f"{head}, and {'that is taken back' if back else 'that stands'}: {way(name, line['run'], back=back)}"


def worded(command: str, *words: str) -> str:
    """A command of the launcher as it can be typed: each word quoted where the shell needs it, with the configuration
    that this call was given."""
    from shlex import quote

    context = click.get_current_context(silent=True)
    config = context.find_root().params.get("config") if context else None
    options = ["--config", quote(config)] if config else []
    return " ".join(["reverie", *options, command, *(quote(word) for word in words if word)])


# What an undo did


def undone(undo: dict[str, Any], former: Iterable[Change], settings: Settings) -> dict[str, Any]:
    """An undo in plain values; ``former`` is what the run had changed that it takes back."""
    line, paths = {key: value for key, value in undo.items() if key != "changes"}, {*undo["changed"]}
    changes = [one for one in undo["changes"] if paths & {one.path, f"{one.root}/{one.path}"}]
    fates = diary.returned(changes, former)
    return line | {"files": [{**file, "fate": fates[file["path"]]} for file in files(changes, settings)]}


def tell_undone(undo: dict[str, Any], rehearsal: bool, name: str) -> None:
    """Say of each file what an undo did with it; of a rehearsal show the diff, and say what it would do."""
    if rehearsal:
        show(undo["files"])
    told = {file["path"]: diary.FATES[file["fate"]] for file in undo["files"]}
    for path in undo["changed"]:
        say(f"{path}: {'would be ' * rehearsal}{told.get(path, 'taken back')}")
    if rehearsal:
        say("Dry run: nothing was changed.")
        return
    shown, again = (worded(command, name, undo["run"]) for command in ("dream show", "dream undo"))
    say(f"{undo['undoes']} is taken back; `{shown}` prints the diff, `{again}` brings it again")


def rehearsed(run: dict[str, Any]) -> None:
    """Say what a dry run was: nothing was changed, and what a real one would have been kept from."""
    if run["off"]:
        say(f"A real run would change nothing: {run['off']}.")
    elif run["mode"] != "auto" and run["files"]:
        say("A real run would change nothing: dreaming.mode is propose.")
    say("Dry run: nothing was changed." if run["files"] else "Dry run: there is nothing to change.")


def size(file: dict[str, Any]) -> str:
    """A file's size before and after, against its budget where it has one; nothing of a version nobody has."""
    if file["why"]:
        return f"{file['path']}: no sizes, {file['why']}"
    before, after = (len(file[side] or "") for side in ("before", "after"))
    if file["budget"] is None:
        return f"{file['path']}: {before:,} -> {after:,} characters"
    return f"{file['path']}: {before:,} -> {budget(after, file['budget'])}"
