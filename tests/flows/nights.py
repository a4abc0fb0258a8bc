"""Nights to try things on: a deployment with a proposer of ops, what a night may leave, and trouble at any point."""

from __future__ import annotations

import json
import os
import signal
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, evolve

from reverie.config import Config
from reverie.hooks import Hooks
from reverie.kernel import Kernel, folder_of
from reverie.runlog import RunLog
from reverie.workspace import disk
from reverie_hookspecs import Dream, Op, Plugin, Proposal, Stage, hookimpl

from .launcher import furnish, tree


def add(content: str, anchor: str = "", file: str = "MEMORY.md", **more: Any) -> Op:
    return Op("add", file, content, anchor, score=1.0, recall_count=9, **more)


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


def deployed(workspace: Path, *plugins: Plugin, off: Sequence[str] = (), **gateway: object) -> Kernel:
    """A deployment whose one agent is the workspace, with more plugins, as if they had been found, and some off."""
    file = workspace.parent / f"config-{os.getpid()}.json"
    agents = [{"id": "alfred", "workspace": str(workspace)}]
    file.write_text(json.dumps({"gateway": gateway, "agents": agents, "plugins": dict.fromkeys(off, False)}))
    made = Kernel.load(Config.load(file, workspace.parent, {}), {})
    every = {**made.plugins, **{f"x{number}": plugin for number, plugin in enumerate(plugins)}}
    hooks, unfit = Hooks.over(every)
    assert not unfit
    return evolve(made, plugins=every, hooks=hooks)


# A night that does everything

REST = "- the kiln is fired on Fridays, and nobody opens it before Sunday noon\n" * 3
VAN = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon\n"
MEMORY = f"# Memory\n\n- likes tea\n- rides a bike\n{REST}{VAN}\n## User\n\n- is called Ann\n"
USER = "- tall\n- small feet, and shoes that are hard to come by in this town\n"
ROUTED = {"memory": {"writeRouting": True}, "dreaming": {"maxChangesPerRun": 9}}
OPS = (
    remove("- likes tea"),
    Op("replace", "MEMORY.md", "drives", "rides"),
    add("- drinks rye"),
    add("- blue eyes", "- tall", "USER.md"),
    add("fired the kiln", topic="kiln", tier="episodic"),
)


def workspace_at(folder: Path) -> Path:
    """A workspace on which a night with OPS moves, cuts, adds and notes something."""
    root = furnish(folder / "alfred", MEMORY=MEMORY, USER=USER)
    (root / "memory" / "archive").mkdir(parents=True)
    (root / "memory" / "archive" / "pruned.md").write_text("# Pruned\n\n- of old\n")
    return root


def whole_night(root: Path, *off: str) -> Kernel:
    return deployed(root, Proposer(OPS), off=off, **ROUTED)


def sleep(made: Kernel) -> Dream:
    """One night."""
    return made.run(made.agent())


# What must be true afterwards


def lines_of(found: dict[str, bytes]) -> Counter[str]:
    return Counter(line for data in found.values() for line in data.decode("utf-8", "surrogateescape").splitlines())


def nothing_lost(root: Path) -> list[str]:
    """The lines of old that stand nowhere; of the two that an op takes a piece of, the piece."""
    text = "".join(data.decode("utf-8", "replace") for data in tree(root).values())
    pieces = {"- rides a bike": "rides"}
    return [line for line in (MEMORY + USER).splitlines() if pieces.get(line, line) not in text]


def clean(root: Path) -> bool:
    """Whether no name of a write is left, and no write is open."""
    left = [path for path in root.rglob("*") if ".reverie-" in path.name or path.name.endswith((".new", ".tmp"))]
    made = deployed(root)
    return not left and not folder_of(made.agent()).journal.open_intents()


def put_right(root: Path, reference: dict[str, bytes]) -> None:
    """The next night repairs, finishes, and leaves what an undisturbed one would have left; nothing stands twice."""
    sleep(whole_night(root))
    found = tree(root)
    assert {name: found.get(name) for name in ("MEMORY.md", "USER.md")} == {
        name: reference[name] for name in ("MEMORY.md", "USER.md")
    }
    assert sorted(found) == sorted(reference)
    assert lines_of(found) == lines_of(reference)
    assert clean(root)
    runs = RunLog.of(deployed(root).agent()).runs()
    assert not [line for line in runs if line["outcome"] == "begun"]


def reference_of(folder: Path, *off: str) -> tuple[dict[str, bytes], dict[str, set[bytes]], int]:
    """What an undisturbed night leaves, each state that a file has meanwhile, and how many points the night has."""
    root = workspace_at(folder)
    states: dict[str, set[bytes]] = {}

    def look(operation: str = "") -> None:
        for name, data in tree(root).items():
            states.setdefault(name, set()).add(data)

    with trouble(0, look, every=True) as count:
        sleep(whole_night(root, *off))
    look()
    return tree(root), states, count[0]


# Trouble

POINTS = ("write", "fsync", "rename", "link", "unlink", "ftruncate", "mkdir", "rmdir")


@contextmanager
def trouble(
    at: int, act: Callable[[str], object], *, every: bool = False, until: str = "before"
) -> Iterator[list[int]]:
    """Count the calls that change the disk; before (or after, or half way through) call ``at``, act.

    ``every``: at each one from there on. What is counted is in the list that is given.
    """
    count = [0]
    true = {name: getattr(os, name) for name in POINTS}
    opened, renamed = os.open, disk._rename

    def guarded(operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:
            count[0] += 1
            due = count[0] >= at if every else count[0] == at
            if due and until == "half" and operation is true["write"]:
                operation(args[0], args[1][: len(args[1]) // 2])
            if due and until != "after":
                act(operation.__name__)
            done = None if operation is true["fsync"] else operation(*args, **more)
            if due and until == "after":
                act(operation.__name__)
            return done

        call.__name__ = operation.__name__
        return call

    creating = guarded(opened)

    def made(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        called = creating if flags & os.O_CREAT and not os.path.lexists(path) else opened
        return int(called(path, flags, *rest, **more))

    try:
        for name in POINTS:
            setattr(os, name, guarded(true[name]))
        os.open, disk._rename = made, guarded(renamed)
        yield count
    finally:
        for name in POINTS:
            setattr(os, name, true[name])
        os.open, disk._rename = opened, renamed


def die(operation: str = "") -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def failing(code: int, *spared: str) -> Callable[[str], None]:
    """Fail as the system does, but not in some operations: on a full disk one can still take files away."""

    def fail(operation: str) -> None:
        if operation not in spared:
            raise OSError(code, os.strerror(code))

    return fail


def forked(work: Callable[[], object]) -> int:
    """The process id of a child that does some work, warm, and ends."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the threads of a test runner do not matter to the child
        pid = os.fork()
    if pid:
        return pid
    try:
        work()
        os._exit(0)
    except BaseException:
        os._exit(1)


def ended(pid: int) -> int:
    """How a child ended: its exit code, or minus the signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
