from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.runlog import RunLog, new_run, refuse_twice, taken_back
from reverie_hookspecs import NotFound, Refused


def run(name: str, kind: str = "dream", undoes: str = "", changed: bool = True) -> dict[str, object]:
    line = {"run": name, "kind": kind, "outcome": "undone" if undoes else "applied", "changed": ["M"] * changed}
    return {**line, "undoes": undoes} if undoes else line


def test_lines_come_back_in_order_and_a_torn_one_is_passed_over(tmp_path: Path) -> None:
    log = RunLog(tmp_path / "state")
    log.append(run("a"))
    with log.path.open("ab") as file:
        file.write(b'{"run": "torn')
    log.append(run("b"))
    with log.path.open("ab") as file:
        file.write(b'\n\0\0\n[1]\n{"no": 1}\n')
    log.append(run("c"))
    assert [line["run"] for line in log.lines()] == ["a", "b", "c"]


def test_no_log_is_no_runs(tmp_path: Path) -> None:
    assert list(RunLog(tmp_path).lines()) == [] and RunLog(tmp_path).runs() == []
    assert not (tmp_path / "runs.jsonl").exists()


def test_a_run_is_found_by_an_unambiguous_beginning(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    for name in ("abc-1", "abc-12", "xyz-3"):
        log.append(run(name))
    assert log.find("x")["run"] == "xyz-3"
    assert log.find("abc-1")["run"] == "abc-1"
    with pytest.raises(Refused, match="begins the id of 2 runs"):
        log.find("abc")
    with pytest.raises(NotFound, match="begins with 'q'"):
        log.find("q")


def test_the_newest_standing_run_goes_further_back_after_each_undo(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    for line in (run("a"), run("b"), run("idle", changed=False), run("u1", "undo", "b")):
        log.append(line)
    assert log.standing()["run"] == "a"
    log.append(run("u2", "undo", "u1"))
    assert log.standing()["run"] == "b"
    log.append(run("u3", "undo", "u2"))
    log.append(run("u4", "undo", "a"))
    assert log.newest() is None
    with pytest.raises(NotFound, match=r"nothing to take back; .* undo the run u4$"):
        log.standing()


def test_where_nothing_was_ever_done_there_is_nothing_to_bring_again(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    log.append(run("a", changed=False))
    with pytest.raises(NotFound, match=r"so there is nothing to take back$"):
        log.standing()


def test_the_newest_run_older_than_another_is_one_that_stands(tmp_path: Path) -> None:
    log = RunLog(tmp_path)
    for line in (run("a"), run("b"), run("idle", changed=False), run("c"), run("u1", "undo", "b")):
        log.append(line)
    older = [log.newest(before=name) for name in ("c", "b", "a", "nobody")]
    assert [line and line["run"] for line in older] == ["a", "a", None, "c"]


def test_a_run_that_is_taken_back_names_the_undo_that_did_it_and_no_command(tmp_path: Path) -> None:
    failed = {**run("u2", "undo", "a"), "outcome": "error"}
    with pytest.raises(Refused, match="by the run u1; undo that one") as refused:
        refuse_twice([run("a"), run("u1", "undo", "a"), failed], "a")
    assert "`" not in str(refused.value)
    refuse_twice([run("a"), failed], "a")


@given(st.integers(1, 12))
def test_undoing_the_last_undo_again_and_again_flips_the_first_run(times: int) -> None:
    runs = [run("r")]
    for number in range(times):
        runs.append(run(f"u{number}", "undo", str(runs[-1]["run"])))
    assert ("r" in taken_back(runs)) == (times % 2 == 1)


def test_a_run_id_names_agent_and_time_and_its_day_is_local() -> None:
    made = new_run("alfred", "dream", "Asia/Bangkok", datetime(2026, 3, 4, 20, 5, 6, tzinfo=UTC))
    assert made.id.startswith("alfred-20260304T200506Z-") and len(made.id) == len("alfred-20260304T200506Z-") + 4
    assert made.day.isoformat() == "2026-03-05"


def test_two_runs_of_one_moment_differ() -> None:
    moment = datetime(2026, 3, 4, tzinfo=UTC)
    assert len({new_run("a", "dream", "UTC", moment).id for _ in range(20)}) > 15
