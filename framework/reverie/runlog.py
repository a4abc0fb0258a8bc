"""runs.jsonl: one line a run of an agent, oldest first; it cannot be rebuilt."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import takewhile
from pathlib import Path
from secrets import token_hex
from typing import Any

from attrs import frozen

from reverie_hookspecs import Agent, NotFound, Refused, Run, Unreadable, WriteRefused

from .workspace.disk import Disk

NAME = "runs.jsonl"


@frozen
class RunLog:
    """The runs of one agent; torn and foreign lines are passed over.

    ``earlier`` is the state folder of the same workspace from before it was configured: its runs come first.
    """

    folder: Path
    earlier: Path | None = None

    @classmethod
    def of(cls, agent: Agent) -> RunLog:
        """The runs of an agent, those of its workspace before it was configured included."""
        return cls(agent.state, agent.files.root / ".reverie")

    @property
    def path(self) -> Path:
        return self.folder / NAME

    def append(self, line: dict[str, Any]) -> None:
        """Add the line of a run, on a line of its own even after a torn one, and have it on disk."""
        text, disk, path = json.dumps(line, ensure_ascii=True, default=str), Disk(), str(self.path)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            look = disk.look(path)
            torn = look is not None and look.size > 0 and disk.tail(path, look.size - 1, 1) != b"\n"
            disk.append(path, b"\n" * torn + text.encode("ascii") + b"\n", create=True)
        except OSError as error:
            raise WriteRefused(f"{self.path} cannot be written: {error.strerror}; the run is not logged") from error

    def lines(self) -> Iterator[dict[str, Any]]:
        """Every run, oldest first."""
        if self.earlier and self.earlier.resolve() != self.folder.resolve():
            yield from RunLog(self.earlier).lines()
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise Unreadable(f"{self.path} cannot be read: {error.strerror}; mend it or move it away") from error
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            os.close(descriptor)
            raise Unreadable(f"{self.path} is no file; move it away")
        with os.fdopen(descriptor, "rb") as file:
            yield from filter(None, map(parsed, file))

    def runs(self) -> list[dict[str, Any]]:
        """Every run once, as its last line tells it, oldest first: an undo is noted when it begins and when it ends."""
        told: dict[str, dict[str, Any]] = {}
        for line in self.lines():
            told.pop(line["run"], None)
            told[line["run"]] = line
        return list(told.values())

    def find(self, beginning: str) -> dict[str, Any]:
        """The run whose id is, or alone begins with, ``beginning``."""
        found = [line for line in self.runs() if line["run"].startswith(beginning)]
        exact = [line for line in found if line["run"] == beginning]
        if len(exact or found) == 1:
            return (exact or found)[0]
        if found:
            ids = ", ".join(line["run"] for line in found[:5])
            raise Refused(f"{beginning!r} begins the id of {len(found)} runs ({ids}); give more of it")
        raise NotFound(f"no run of this agent has an id that is or begins with {beginning!r}; its run log lists them")

    def newest(self, before: str = "") -> dict[str, Any] | None:
        """The newest run, undos left out, that changed a file and has not been undone; older than ``before``, if that
        is given."""
        runs = self.runs()
        undone = taken_back(runs)
        earlier = takewhile(lambda line: line["run"] != before, runs)
        stands = [line for line in earlier if line["changed"] and line.get("kind") != "undo"]
        return next((line for line in reversed(stands) if line["run"] not in undone), None)

    def standing(self) -> dict[str, Any]:
        """The same, to be taken back; NotFound says how to go on where there is none."""
        if newest := self.newest():
            return newest
        undos = [line["run"] for line in self.runs() if line.get("kind") == "undo" and line.get("outcome") == "undone"]
        again = f"; to bring what was taken back last again, undo the run {undos[-1]}" if undos else ""
        raise NotFound(
            f"no run of this agent that changed a file still stands, so there is nothing to take back{again}"
        )


def parsed(raw: bytes) -> dict[str, Any] | None:
    """The run of a line, or None where it is torn or not ours."""
    try:
        line: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    if not isinstance(line, dict) or not isinstance(line.get("run"), str):
        return None
    changed = line.get("changed")
    return line | {"changed": changed if isinstance(changed, list) else []}


def taken_back(runs: list[dict[str, Any]]) -> set[str]:
    """The runs that an undo took back and no later undo brought again."""
    undone: set[str] = set()
    brought: dict[str, str] = {}
    for line in runs:
        target = line.get("undoes")
        if not isinstance(target, str) or line.get("outcome") != "undone":
            continue
        brought[line["run"]] = target
        flip(target, brought, undone)
    return undone


def refuse_twice(runs: list[dict[str, Any]], target: str) -> None:
    """Refused for a run that is taken back already; the undo that did it is named."""
    if target in taken_back(runs):
        undos = [line["run"] for line in runs if line.get("undoes") == target and line.get("outcome") == "undone"]
        raise Refused(f"run {target} is taken back already, by the run {undos[-1]}; undo that one to bring it again")


def flip(target: str, brought: dict[str, str], undone: set[str]) -> None:
    """Take a run back; of an undo, bring again what it had taken back, and so on down."""
    undone.add(target)
    seen = {target}
    while target in brought and brought[target] not in seen:
        target = brought[target]
        seen.add(target)
        undone.symmetric_difference_update({target})


def new_run(agent: str, kind: str, zone: str, now: datetime) -> Run:
    """A run that starts now, with an id that no other run has."""
    started = now.astimezone(UTC)
    name = f"{agent}-{started:%Y%m%dT%H%M%SZ}-{token_hex(2)}"
    if zone != "UTC":
        from zoneinfo import ZoneInfo  # costs 10 ms, and UTC needs none

        started = started.astimezone(ZoneInfo(zone))
    return Run(name, agent, kind, started)
