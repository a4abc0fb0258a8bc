"""Any sequence of writes, foreign edits and undos, against a dictionary; on disk and on an overlay alike."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from attrs import define, field, frozen
from hypothesis import given, settings, strategies as st

from reverie.undo import restorable, undo
from reverie.workspace import Folder
from reverie.workspace.disk import Disk
from reverie_hookspecs import Edit, Moved, NotFound, Refused, Run, Snapshot, StaleSnapshot

STARTED = datetime(2026, 3, 4, tzinfo=UTC)
PATHS = ("MEMORY.md", "memory/a.md", "memory/archive/x.md", "skills/s/SKILL.md")
State = dict[str, bytes]


class Quick(Disk):
    """Does everything but wait for the disk."""

    def call(self, operation: Any, /, *args: Any, **kwargs: Any) -> Any:
        return None if operation is os.fsync else operation(*args, **kwargs)


@frozen
class Act:
    """One thing that is done to a file."""

    kind: str
    path: str
    text: str
    other: str
    moved: tuple[Moved, ...] = ()


def texts() -> st.SearchStrategy[str]:
    lines = st.sampled_from([b"- a\n", b"- b\r\n", b"# H\n", b"caf\xc3\xa9", b"\xe9\xff", b"\n", b"- c", b"\r", b" "])
    return st.lists(lines, max_size=5).map(lambda pieces: b"".join(pieces).decode("utf-8", "surrogateescape"))


def acts(kinds: Sequence[str]) -> st.SearchStrategy[Act]:
    moved = st.lists(st.builds(Moved, st.sampled_from(PATHS), texts()), max_size=3).map(tuple)
    return st.builds(Act, st.sampled_from(kinds), st.sampled_from(PATHS), texts(), st.sampled_from(PATHS), moved)


OURS = ("commit", "commit", "append", "append", "replace", "remove", "rename")
RUNS = st.lists(
    st.one_of(
        st.lists(acts(OURS), min_size=1, max_size=3),
        acts(("foreign",)).map(lambda act: [act]),
        st.integers(0, 9),
    ),
    max_size=9,
)


@define
class Model:
    """What the files are to hold, and what each run found and left of those it wrote to."""

    files: State = field(factory=dict)
    runs: dict[str, tuple[State, State, set[str]]] = field(factory=dict)

    def write(self, act: Act) -> set[str]:
        """Do one of our acts; the paths it wrote to."""
        return getattr(self, act.kind)(act)  # type: ignore[no-any-return]

    def commit(self, act: Act) -> set[str]:
        old = Snapshot(act.path, "text", self.files.get(act.path, b""))
        blocks = [block for block in act.moved if block.to != act.path and block.text]
        if old.text == act.text:
            return set()
        for to in dict.fromkeys(block.to for block in blocks):
            data = b"".join(raw(block.text) for block in blocks if block.to == to)
            self.files[to] = led(self.files.get(to, b"")) + data
        self.files[act.path] = old.encode(act.text)
        return {act.path, *(block.to for block in blocks)}

    def append(self, act: Act) -> set[str]:
        if not act.text:
            return set()
        self.files[act.path] = led(self.files[act.path]) + raw(act.text) if self.files.get(act.path) else raw(act.text)
        return {act.path}

    def replace(self, act: Act) -> set[str]:
        old = Snapshot(act.path, "text", self.files.get(act.path, b""))
        if act.path in self.files and old.text == act.text:
            return set()
        self.files[act.path] = old.encode(act.text)
        return {act.path}

    def remove(self, act: Act) -> set[str]:
        return {act.path} if self.files.pop(act.path, None) is not None else set()

    def rename(self, act: Act) -> set[str]:
        if act.path not in self.files or act.other in self.files:
            return set()
        self.files[act.other] = self.files.pop(act.path)
        return {act.path, act.other}

    def undo(self, target: str) -> tuple[set[str], set[str]]:
        """The paths an undo restores, and those it has to merge since they are not as the run left them."""
        before, after, touched = self.runs[target]
        now = {path: self.files.get(path) for path in touched}
        merged = {path for path in touched if now[path] not in (before.get(path), after.get(path))}
        return {path for path in touched - merged if now[path] != before.get(path)}, merged

    def put(self, path: str, data: bytes | None) -> None:
        self.files.pop(path, None)
        if data is not None:
            self.files[path] = data


def raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def led(data: bytes) -> bytes:
    open_ended = data and not data.endswith((b"\n", b"\r"))
    return data + Snapshot("", "text", data).newline.encode() if open_ended else data


def do(files: Folder, act: Act, run: Run) -> None:
    blocks = tuple(block for block in act.moved if block.to != act.path)
    if act.kind == "commit":
        done = files.commit(act.path, lambda _: Edit(act.text, blocks), run)
        assert done.outcome in ("written", "unchanged")
    elif act.kind == "append":
        files.append(act.path, act.text, run)
    elif act.kind == "replace":
        files.replace(files.read(act.path), act.text, run)
    elif act.kind == "remove":
        files.remove(files.read(act.path), run)
    elif files.read(act.path).state == "missing":
        with pytest.raises(StaleSnapshot):
            files.rename(files.read(act.path), act.other, run)
    elif files.read(act.other).state != "missing":
        with pytest.raises(Refused):
            files.rename(files.read(act.path), act.other, run)
    else:
        files.rename(files.read(act.path), act.other, run)


def play(files: Folder, script: Sequence[Any], foreign: bool) -> tuple[Model, list[str]]:
    """Run a script on files and on the model, which has to agree at every step."""
    model, numbers = Model(), itertools.count()
    names: list[str] = []
    for step in script:
        run = Run(f"x-{next(numbers)}", "x", "dream", STARTED + timedelta(seconds=len(names)))
        if isinstance(step, int):
            if model.runs:
                target = names[step % len(names)]
                take_back(files, model, target, run)
                names.append(run.id)
                model.runs.setdefault(run.id, ({}, {}, set()))
        elif step[0].kind == "foreign":
            if foreign:
                overwrite(files.root, model, step[0])
        else:
            before = dict(model.files)
            touched = set().union(*(write(files, model, act, run) for act in step))
            model.runs[run.id] = (before, dict(model.files), touched)
            names.append(run.id)
        held = {path: files.read(path) for path in PATHS}
        assert {path: file.data for path, file in held.items() if file.state != "missing"} == model.files
    return model, names


def write(files: Folder, model: Model, act: Act, run: Run) -> set[str]:
    do(files, act, run)
    return model.write(act)


def overwrite(root: Path, model: Model, act: Act) -> None:
    path = root / act.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(raw(act.text))
    model.files[act.path] = raw(act.text)


def take_back(files: Folder, model: Model, target: str, run: Run) -> None:
    before = dict(model.files)
    wrote = model.runs[target][2]
    if not wrote:
        with pytest.raises(NotFound, match="nothing to undo"):
            undo(files, target, run)
        return
    restored, merged = model.undo(target)
    try:
        changed = set(restorable(files, target))
    except Refused:
        assert merged
        with pytest.raises(Refused, match=r"changed since|is gone"):
            undo(files, target, run)
        return
    assert set(undo(files, target, run)) == changed
    assert changed - merged == restored
    old, left, _ = model.runs[target]
    for path in restored:
        model.put(path, old.get(path))
    for path in merged:
        file = files.read(path)
        model.put(path, None if file.state == "missing" else file.data)
        assert lines(before.get(path)) - lines(left.get(path)) <= lines(model.files.get(path))
    model.runs[run.id] = (before, dict(model.files), changed)


def lines(data: bytes | None) -> set[bytes]:
    """The lines that say anything."""
    return {line for line in (data or b"").splitlines() if line.strip()}


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name).resolve()


def tree(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@settings(max_examples=100)
@given(RUNS)
def test_files_hold_what_the_model_says_after_any_writes_edits_and_undos(script: Sequence[Any]) -> None:
    with folder() as root:
        files = Folder.at(root, disk=Quick())
        model, _ = play(files, script, foreign=True)
        assert {path: data for path, data in tree(root).items() if not path.startswith(".dreaming")} == model.files
        assert not files.journal.open_intents()


@settings(max_examples=50)
@given(RUNS, RUNS)
def test_an_overlay_shows_what_a_real_run_would_do_and_touches_nothing(
    first: Sequence[Any], second: Sequence[Any]
) -> None:
    with folder() as root, folder() as other:
        files, twin = Folder.at(root, disk=Quick()), Folder.at(other, disk=Quick())
        play(files, first, foreign=True)
        play(twin, first, foreign=True)
        before, overlay = tree(root), files.overlay()
        for real in (overlay, twin):
            later(real, second)
        assert tree(root) == before
        assert {path: overlay.read(path) for path in PATHS} == {path: twin.read(path) for path in PATHS}
        for place in ("", "memory", "memory/archive"):
            assert overlay.names(place, deep=True) == twin.names(place, deep=True)
        changed = {path for path in PATHS if files.read(path) != twin.read(path)}
        found = {change.path: change for change in overlay.changes() if not change.path.startswith(".dreaming")}
        assert found.keys() == changed
        assert all((c.before, c.after) == (files.read(c.path), twin.read(c.path)) for c in found.values())


def later(files: Folder, script: Sequence[Any]) -> None:
    for number, step in enumerate(script):
        if not isinstance(step, int):
            run = Run(f"y-{number}", "y", "dream", STARTED + timedelta(days=1, seconds=number))
            for act in step:
                if act.kind != "foreign":
                    do(files, act, run)


@settings(max_examples=50)
@given(RUNS, st.lists(acts(OURS), min_size=1, max_size=4))
def test_an_undo_is_the_exact_inverse_and_an_undo_of_it_brings_everything_back(
    script: Sequence[Any], last: Sequence[Act]
) -> None:
    with folder() as root:
        files = Folder.at(root, disk=Quick())
        play(files, script, foreign=True)
        before = {path: files.read(path) for path in PATHS}
        run, back, forth = (Run(f"z-{n}", "z", "dream", STARTED + timedelta(days=n)) for n in (1, 2, 3))
        for act in last:
            do(files, act, run)
        after = {path: files.read(path) for path in PATHS}
        if not files.changed_by(run):
            return
        undo(files, "z-1", back)
        assert {path: files.read(path) for path in PATHS} == before
        if files.changed_by(back):
            undo(files, "z-2", forth)
            assert {path: files.read(path) for path in PATHS} == after
