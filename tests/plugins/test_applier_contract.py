"""The applier keeps its contract; appliers that break a promise each fail it by the promise's name."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import define, evolve

from reverie.testing import ApplyingContract
from reverie_hookspecs import Applied, Applying, Archive, Dream, Edit, Op, Plugin, Skipped
from reverie_plugins.applier import Applier


class TestApplier(ApplyingContract):
    def applying(self) -> Applying:
        return ours()


def ours() -> Applier:
    """The applier of a deployment that has an archive."""
    return Applier(cast("Archive", object()))


@define(eq=False)
class Broken(Plugin):
    """An applier that keeps no promise of its own; each subclass breaks one that ours keeps."""

    provides = (Applying,)

    def ops(self, dream: Dream) -> tuple[Op, ...]:
        return dream.ops

    def apply(self, dream: Dream) -> Dream:
        return evolve(ours().apply(evolve(dream, ops=self.ops(dream))), ops=dream.ops)


@define(eq=False)
class Forgetful(Broken):
    """Cuts and archives nothing."""

    def apply(self, dream: Dream) -> Dream:
        files = dream.agent.files

        class Careless:
            def commit(self, path: str, decide: Any, run: Any) -> Any:
                def bare(snapshot: Any) -> Edit | None:
                    edit = decide(snapshot)
                    return edit and Edit(edit.text)

                return files.commit(path, bare, run)

            def __getattr__(self, name: str) -> Any:
                return getattr(files, name)

        changed = evolve(dream, agent=evolve(dream.agent, files=Careless()))  # type: ignore[arg-type]
        return evolve(ours().apply(changed), agent=dream.agent)


@define(eq=False)
class Blind(Broken):
    """Reads, decides, and writes over whatever came in between."""

    def apply(self, dream: Dream) -> Dream:
        from reverie_plugins.applier.plan import plan

        text = dream.agent.files.read("MEMORY.md").text
        (dream.agent.files.root / "MEMORY.md").write_text(plan(text, dream.ops).text)
        return dream


def naive(dream: Dream, change: Callable[[str, Op], str]) -> Dream:
    """Make each op as ``change`` does, through Files, archiving what a removal takes."""
    from reverie_hookspecs import Moved

    done, held = [], []
    for op in dream.ops:

        def decide(snapshot: Any, op: Op = op) -> Edit | None:
            text = change(snapshot.text, op)
            moved = () if op.op == "add" else (Moved("memory/archive/pruned.md", f"{op.target}\n"),)
            return Edit(text, moved) if text != snapshot.text else None

        if dream.agent.files.commit("MEMORY.md", decide, dream.run).outcome == "written":
            done.append(Applied(op))
        else:
            held.append(Skipped(op, "unchanged"))
    return evolve(dream, applied=tuple(done), skipped=tuple(held))


@define(eq=False)
class Truncating(Broken):
    """Takes whatever it is told to take, however much that is."""

    def apply(self, dream: Dream) -> Dream:
        return naive(dream, lambda text, op: text.replace(op.target, "") if op.op == "remove" else text + op.content)


@define(eq=False)
class Unpinning(Broken):
    """Does not know of pinned sections."""

    def apply(self, dream: Dream) -> Dream:
        def change(text: str, op: Op) -> str:
            return text.replace(op.target, op.content, 1) if op.op != "add" else text

        return naive(dream, change)


@define(eq=False)
class Repeating(Broken):
    """Adds what stands already."""

    def apply(self, dream: Dream) -> Dream:
        return naive(dream, lambda text, op: f"{text}{op.content}\n" if op.op == "add" else text)


@define(eq=False)
class Guessing(Broken):
    """Takes the first of several places."""

    def apply(self, dream: Dream) -> Dream:
        return naive(dream, lambda text, op: text.replace(op.target, op.content, 1) if op.target else text)


@define(eq=False)
class Boasting(Broken):
    """Says that everything was done."""

    def apply(self, dream: Dream) -> Dream:
        done = ours().apply(dream)
        return evolve(done, applied=tuple(map(Applied, dream.ops)), skipped=())


@define(eq=False)
class Unix(Broken):
    """Writes the newlines it likes."""

    def apply(self, dream: Dream) -> Dream:
        return naive(dream, lambda text, op: text.replace("\r\n", "\n") + op.content if op.op == "add" else text)


@define(eq=False)
class Wandering(Broken):
    """Writes whatever file it is told to write."""

    def apply(self, dream: Dream) -> Dream:
        for op in dream.ops:
            path = dream.agent.files.root / (f"memory/{op.topic}.md" if op.topic else op.file)
            with suppress(OSError):
                path.write_text("x")
        return dream


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        (Forgetful, "nothing is forgotten silently"),
        (Blind, "no write from a stale view"),
        (Blind, "every write can be taken back byte for byte"),
        (Truncating, "no run takes more than its share of a file"),
        (Unpinning, "pinned sections are never touched"),
        (Unpinning, "what is held back leaves no trace"),
        (Repeating, "what stands is not made again"),
        (Repeating, "over its budget a file only gets shorter"),
        (Guessing, "a target that stands more than once is left alone"),
        (Boasting, "every op has a fate, and it is the true one"),
        (Unix, "newlines, byte order mark and final newline are kept"),
        (Wandering, "only memory files are written"),
        (Wandering, "unreadable is not empty"),
    ],
)
def test_an_applier_that_breaks_a_promise_fails_by_its_name(broken: type[Broken], promise: str, tmp_path: Path) -> None:
    class Tried(ApplyingContract):
        def applying(self) -> Applying:
            return broken()

    said = []
    for name in filter(lambda name: name.startswith("test_"), dir(Tried)):
        try:
            getattr(Tried(), name)(tmp_path / name)
        except Exception as error:
            said.append(str(error))
    assert any(f"broken promise: {promise}: " in told for told in said), said
