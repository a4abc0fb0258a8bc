from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest
from attrs import evolve
from hypothesis import given, strategies as st

from reverie import diary, night
from reverie.workspace.change import Change
from reverie_hookspecs import (
    Applied,
    Dream,
    MemorySettings,
    Move,
    Note,
    Op,
    Proposal,
    Run,
    SetAside,
    Skipped,
    Snapshot,
    Stage,
)


class Agent:
    id = "alfred"
    settings: ClassVar = {MemorySettings: MemorySettings(episodic_archive_dir="memory/notes")}


RUN = Run("alfred-20260304T050607Z-1a2b", "alfred", "dream", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC))


def letter(**pages: Any) -> Dream:
    agent: Any = Agent()
    return Dream(agent, RUN, **pages)


TEXT = st.text(st.characters(), max_size=80)


@given(TEXT, TEXT, TEXT)
def test_no_text_can_forge_a_heading_or_a_line_of_its_own(one: str, two: str, three: str) -> None:
    op = Op("add", "MEMORY.md", f"\n## {one}\n", reason=two, quote=three)
    pages = letter(
        notes=(Note(one, f"{two}\r## x"),),
        moved=(Move("MEMORY.md", "x", one, f"\u2028## {three}"),),
        ops=(op,),
        skipped=(Skipped(op, two),),
        outcome="applied",
    )
    text = diary.entry(pages)
    assert len([line for line in text.split("\n") if line.startswith("#")]) == 1
    assert len(text.split("\n")) == 9
    text.encode("utf-8")


@given(st.text(max_size=2000), st.integers(1, 600))
def test_a_single_line_is_one_line_of_bounded_length(text: str, limit: int) -> None:
    shown = diary.single(text, limit)
    assert len(shown) <= limit and len(shown.splitlines()) <= 1
    assert diary.single(shown, limit) == shown


def test_a_long_night_names_the_first_moves_and_counts_the_rest() -> None:
    moves = tuple(Move("MEMORY.md", "archive", "x", f"entry {number}") for number in range(1000))
    text = diary.entry(letter(moved=moves, outcome="applied"))
    assert text.count("- moved from") == diary.MOST and "and 800 more" in text


def test_an_op_names_the_file_it_is_about_and_a_replacement_both_texts() -> None:
    note = Op("add", "MEMORY.md", "fired it", topic="kiln", tier="episodic")
    swap = Op("replace", "USER.md", "- new", "- old")
    cut = Op("remove", "MEMORY.md", "ignored", "- gone")
    text = diary.entry(letter(ops=(note, swap, cut), outcome="proposed"))
    assert "- proposed add memory/notes/kiln.md: fired it\n" in text
    assert "- proposed replace USER.md: - old -> - new\n" in text
    assert "- proposed remove MEMORY.md: - gone\n" in text


def held(path: str, text: str | None) -> Snapshot:
    return Snapshot(path, "missing") if text is None else Snapshot(path, "text", text.encode())


def change(path: str, before: str | None, after: str | None) -> Change:
    return Change(path, held(path, before), held(path, after))


UNDONE = [change("a.md", "2", "1"), change("b.md", "2+", "1+"), change("c.md", "2", None)]
FORMER = [change("a.md", "1", "2"), change("b.md", "1", "2"), change("c.md", None, "2"), change("a.md", "2", "3")]


def test_an_undo_says_of_each_file_whether_it_is_as_before_merged_or_gone() -> None:
    assert diary.returned(UNDONE, FORMER) == {"a.md": "restored", "b.md": "merged", "c.md": "removed"}
    text = diary.undone(RUN, "run-1", UNDONE, FORMER)
    assert "- a.md: restored\n- b.md: merged with what was written since\n- c.md: removed again\n" in text
    assert f"run `{RUN.id}` takes back `run-1`" in text


@given(st.text(max_size=9), st.text(max_size=9))
def test_a_file_is_only_called_restored_if_every_byte_is_as_it_was(before: str, now: str) -> None:
    [fate] = diary.returned([change("a", "x", now)], [change("a", before, "x")]).values()
    assert (fate == "restored") == (before == now)


def test_each_op_is_recorded_once_with_what_became_of_it() -> None:
    ops = [Op("add", "MEMORY.md", f"- {number}") for number in range(4)]
    pages = letter(
        ops=tuple(ops[:3]),
        applied=(Applied(ops[0]),),
        skipped=(Skipped(ops[1], "anchor drifted"),),
        aside=(SetAside(ops[3], "below the threshold"),),
    )
    records = diary.promotions(pages)
    assert [(r["index"], r["outcome"], r["why"]) for r in records] == [
        (0, "applied", ""),
        (1, "skipped", "anchor drifted"),
        (2, "proposed", ""),
        (3, "aside", "below the threshold"),
    ]
    assert all(record["run"] == RUN.id for record in records)
    assert len(diary.encode(records).splitlines()) == 4


@pytest.mark.parametrize(
    ("pages", "outcome"),
    [
        ({}, "skipped-empty"),
        ({"excerpts": ("x",)}, "no-changes"),
        ({"ops": (Op("add", "MEMORY.md", "x"),)}, "proposed"),
        ({"aside": (SetAside(Op("add", "MEMORY.md", "x"), "cap"),)}, "proposed"),
        ({"ops": (Op("add", "MEMORY.md", "x"),), "changed": ("MEMORY.md",)}, "applied"),
        ({"changed": ("MEMORY.md",), "notes": (Note("s", "boom", True),)}, "error"),
    ],
)
def test_a_run_is_judged_by_the_first_outcome_that_fits(pages: dict[str, Any], outcome: str) -> None:
    assert night.judge(letter(**pages)) == outcome


def test_what_follows_the_audit_is_kept_behind_it_however_far() -> None:
    def stage(name: str, scope: Any = "sweep", after: tuple[str, ...] = ()) -> Stage:
        return Stage(name, lambda dream: dream, scope, after=after)

    stages = [stage("c", after=("b",)), stage("b", after=("audit",)), stage("audit", "session"), stage("z", "session")]
    assert [s.name for s in night.plan(stages, night.EVERY, writing=True)] == ["z", "audit", "b", "c"]


def test_a_plan_keeps_the_scopes_asked_for_and_the_audit() -> None:
    stages = [Stage(scope, lambda dream: dream, scope) for scope in ("gather", "sweep", "ops", "share", "session")]  # type: ignore[arg-type]
    audit = Stage("audit", lambda dream: dream, "session", writes=False)
    kept = night.plan([*stages, audit], {"session"}, writing=True)
    assert [stage.name for stage in kept] == ["session", "audit"]
    assert [stage.name for stage in night.plan([*stages, audit], night.EVERY, writing=False)] == ["audit"]


def test_a_stage_after_the_audit_cannot_change_the_outcome() -> None:
    closed = letter(outcome="applied")
    stage = Stage("late", lambda dream: evolve(dream, outcome="error", reason="forged"))
    assert night.step(closed, stage).outcome == "applied"


def test_ops_that_a_letter_brings_along_are_not_asked_for_again() -> None:
    brought = letter(ops=(Op("add", "MEMORY.md", "x"),))
    assert night.propose(brought, lambda dream: [Proposal((Op("remove", "MEMORY.md"),))]) is brought
