"""A night that is killed, or fails, at any point: each file old or new, nothing lost, and the next night repairs."""

from __future__ import annotations

import errno
import os
import random
import signal
import time
from pathlib import Path

import pytest

from reverie_hookspecs import ReverieError

from . import nights
from .launcher import tree
from .nights import die, ended, failing, forked, nothing_lost, put_right, reference_of, sleep, trouble, workspace_at

REPLACED = ("MEMORY.md", "USER.md")
RANDOM_KILLS = 30
FREEING = ("unlink", "rmdir", "ftruncate")
"""What works on a full disk."""
Reference = tuple[dict[str, bytes], dict[str, set[bytes]], int]


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    return reference_of(tmp_path_factory.mktemp("reference"))


def test_the_night_that_is_killed_does_everything(reference: Reference) -> None:
    found, states, points = reference
    assert b"drives a bike" in found["MEMORY.md"] and b"Rent the van" in found["memory/archive/completed.md"]
    assert b"- likes tea" in found["memory/archive/pruned.md"] and b"fired the kiln" in found["memory/kiln.md"]
    assert b"- blue eyes" in found["USER.md"]
    assert len(states["MEMORY.md"]) == 3 and points > 60


@pytest.mark.parametrize("until", ["before", "after", "half"])
def test_a_night_killed_at_any_point_leaves_old_or_new_and_the_next_one_finishes_it(
    tmp_path: Path, reference: Reference, until: str
) -> None:
    result, states, points = reference
    killed = 0
    for point in range(1, points + 1):
        root = workspace_at(tmp_path / str(point))
        made = nights.whole_night(root)

        def work(made: nights.Kernel = made, point: int = point) -> None:
            with trouble(point, die, until=until):
                sleep(made)

        killed += ended(forked(work)) == -signal.SIGKILL
        found = tree(root)
        assert all(found[name] in states[name] for name in REPLACED), (point, until)
        if until != "half":
            odd = [name for name in found if ".reverie-" not in name and found[name] not in states[name]]
            assert not odd, (point, odd)
        assert not nothing_lost(root), (point, until)
        put_right(root, result)
    assert killed > points * 0.8, "some operations fail of themselves, and then nobody dies after them"


@pytest.mark.parametrize(("code", "every"), [("ENOSPC", False), ("ENOSPC", True), ("EACCES", False), ("EIO", False)])
def test_a_night_that_fails_at_any_point_says_so_and_leaves_no_temporary_file(
    tmp_path: Path, reference: Reference, code: str, every: bool
) -> None:
    result, states, points = reference
    without = reference_of(tmp_path / "without", "compactor")[1]  # a stage that fails lets the others go on
    states = {name: states[name] | without[name] for name in REPLACED}
    number, told = getattr(errno, code), 0
    for point in range(1, points + 1):
        root = workspace_at(tmp_path / str(point))
        made = nights.whole_night(root)
        try:
            with trouble(point, failing(number, *FREEING), every=every):
                dream = sleep(made)
            said = dream.reason
        except ReverieError as error:
            said = str(error)
        told += os.strerror(number).lower() in said.lower()
        found = tree(root, records=True)
        assert all(found[name] in states[name] for name in REPLACED), point
        left = [name for name in found if ".reverie-" in name or name.endswith(".new")]
        assert not left, (point, left)
        assert not nothing_lost(root), point
        put_right(root, result)
    assert told > points // 3


def test_a_night_killed_at_random_moments_leaves_old_or_new_and_the_next_one_finishes_it(
    tmp_path: Path, reference: Reference
) -> None:
    lasts = duration(tmp_path / "timed")
    dice = random.Random(0)
    killed = sum(killed_at_random(tmp_path / str(n), reference, dice.random() * lasts) for n in range(RANDOM_KILLS))
    assert killed > RANDOM_KILLS // 4


def duration(folder: Path) -> float:
    """How long a night takes here, in seconds."""
    made = nights.whole_night(workspace_at(folder))
    began = time.perf_counter()
    assert ended(forked(lambda: sleep(made))) == 0
    return time.perf_counter() - began


def killed_at_random(folder: Path, reference: Reference, seconds: float) -> bool:
    """Whether a night was killed that was to be, after so long; what must be true afterwards is asserted."""
    result, states, _ = reference
    root = workspace_at(folder)
    made = nights.whole_night(root)
    child = forked(lambda: sleep(made))
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    killed = ended(child) == -signal.SIGKILL
    found = tree(root)
    assert all(found[name] in states[name] for name in REPLACED)
    assert not nothing_lost(root)
    put_right(root, result)
    return killed


@pytest.mark.parametrize("until", ["before", "after"])
def test_an_undo_killed_at_any_point_loses_no_line_and_is_rolled_back_or_whole(
    tmp_path: Path, reference: Reference, until: str
) -> None:
    result, _, _ = reference
    counted = workspace_at(tmp_path / "counted")
    old, made = tree(counted), nights.whole_night(counted)
    run = sleep(made).run.id
    with trouble(0, die) as count:
        made.undo(made.agent(), run)
    assert count[0] > 40
    killed = 0
    for point in range(1, count[0] + 1):
        root = workspace_at(tmp_path / str(point))
        made = nights.whole_night(root)
        run = sleep(made).run.id

        def work(made: nights.Kernel = made, run: str = run, point: int = point) -> None:
            with trouble(point, die, until=until):
                made.undo(made.agent(), run)

        killed += ended(forked(work)) == -signal.SIGKILL
        assert not nothing_lost(root), (point, until)
        made.mend(made.agent())
        found = tree(root)
        assert found in (old, result), (point, until)
        assert nights.clean(root)
        if found == result:
            again = made.undo(made.agent(), run)
            assert tree(root) == old
            made.undo(made.agent(), again["run"])
            assert tree(root) == result
    assert killed > count[0] - 5
