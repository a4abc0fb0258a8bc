"""Which of the proposed ops are taken, and what is said of the others."""

from __future__ import annotations

from math import nan

import pytest
from hypothesis import given, strategies as st

from reverie_hookspecs import DreamSettings, Op, Proposal, SetAside, Size
from reverie_plugins.op_selector import select

MEMORY, USER = "MEMORY.md", "USER.md"


def sizes(ratio: float = 1.0, user: float = 1.0) -> dict[str, Size]:
    return {MEMORY: Size(round(1000 * ratio), 1000, ""), USER: Size(round(1000 * user), 1000, "")}


def add(number: int = 0, **more: object) -> Op:
    return Op("add", MEMORY, f"- {number}", score=0.9, recall_count=3, **more)  # type: ignore[arg-type]


def remove(number: int = 0, file: str = MEMORY) -> Op:
    return Op("remove", file, target=f"- {number}")


def taken(ops: list[Op], most: int = 3, ratio: float = 1.0, routing: bool = False, user: float = 1.0) -> list[Op]:
    [made] = select([Proposal(tuple(ops))], DreamSettings(max_changes_per_run=most), sizes(ratio, user), routing)
    assert sorted(map(id, (*made.ops, *(one.op for one in made.aside)))) == sorted(map(id, ops))
    return list(made.ops)


def why(op: Op, **settings: object) -> str:
    [made] = select([Proposal((op,))], DreamSettings(**settings), sizes())  # type: ignore[arg-type]
    return made.aside[0].reason if made.aside else ""


def test_f23_what_shrinks_a_file_over_its_budget_is_taken_up_to_a_hard_cap() -> None:
    assert len(taken([remove(n) for n in range(50)], 20, 1.5)) == 30


def test_f24_adds_have_their_own_room_and_the_order_is_kept() -> None:
    ops = [one for n in range(5) for one in (add(n), remove(n), remove(n + 10))]
    found = taken(ops, 3, 4.0)
    assert found == [op for op in ops if op.op == "remove" or op.content in ("- 0", "- 1", "- 2")]
    assert len(found) == 13


@pytest.mark.parametrize(
    ("most", "ratio", "count"), [(3, 1.0, 3), (3, 1.001, 6), (3, 2.0, 6), (3, 2.1, 9), (40, 2.0, 40), (1, 100.0, 30)]
)
def test_the_room_grows_with_the_overage(most: int, ratio: float, count: int) -> None:
    assert len(taken([remove(n) for n in range(60)], most, ratio)) == count


def test_a_replacement_shrinks_if_its_trimmed_content_is_no_longer_than_its_target() -> None:
    same, longer = Op("replace", MEMORY, " abc ", "xyz"), Op("replace", MEMORY, "abcd", "xyz")
    assert len(taken([same] * 1 + [Op("replace", MEMORY, "a", f"x{n}") for n in range(5)], 1, 6.0)) == 6
    assert taken([add(), longer], 1, 6.0) == taken([add()], 1, 6.0)


def test_each_file_has_its_own_ratio_and_the_counts_run_over_all_proposals() -> None:
    assert len(taken([remove(n, USER) for n in range(9)], 3, 3.0)) == 3
    first, second = select(
        [Proposal((add(1), add(2))), Proposal((add(3), add(4)), aside=(SetAside(add(9), "mine"),))],
        DreamSettings(max_changes_per_run=3),
        sizes(),
    )
    assert len(first.ops) == 2 and len(second.ops) == 1
    assert [one.reason for one in second.aside] == ["mine", "beyond dreaming.maxChangesPerRun 3"]


@pytest.mark.parametrize(
    ("op", "settings", "told"),
    [
        (Op("add", MEMORY, "- a", score=0.59, recall_count=2), {}, "score 0.59 is below"),
        (Op("add", MEMORY, "- a", score=0.6, recall_count=2), {}, ""),
        (Op("add", MEMORY, "- a", score=nan, recall_count=2), {}, "score nan is below"),
        (Op("add", MEMORY, "- a", score=0.0, recall_count=2), {"promotion_threshold": 0.0}, ""),
        (Op("add", MEMORY, "- a", score=0.9, recall_count=1), {}, "stated 1 times"),
        (Op("add", MEMORY, "- a", score=0.9, recall_count=0), {"min_recall_count": 0}, ""),
        (Op("add", MEMORY, "- a", score=0.9, recall_count=2, unverified=True), {}, "unverified"),
        (Op("remove", MEMORY, target="- a", unverified=True), {}, ""),
        (Op("replace", MEMORY, "- b", "- a"), {}, ""),
    ],
)
def test_a_durable_add_needs_score_count_and_evidence(op: Op, settings: dict[str, object], told: str) -> None:
    reason = why(op, **settings)
    assert told in reason and bool(told) is bool(reason)


def test_b26_an_episodic_op_needs_routing_and_counts_only_with_it() -> None:
    note = Op("add", MEMORY, "x", topic="kiln", tier="episodic")
    assert taken([note, add()], 1) == [add()]
    assert taken([note, add()], 1, routing=True) == [note]


def test_a_file_without_a_size_is_taken_for_one_under_its_budget() -> None:
    [made] = select([Proposal((Op("remove", "x.md", target="a"),) * 5)], DreamSettings(), {})
    assert len(made.ops) == 3


OPS = st.builds(
    Op,
    st.sampled_from(["add", "replace", "remove"]),
    st.sampled_from([MEMORY, USER, "other.md"]),
    st.text(max_size=4),
    st.text(max_size=4),
    tier=st.sampled_from(["durable", "episodic"]),
    score=st.floats(),
    recall_count=st.integers(0, 4),
    unverified=st.booleans(),
)


@given(st.lists(OPS, max_size=60), st.integers(1, 40), st.floats(0, 50), st.booleans())
def test_every_op_is_taken_or_set_aside_with_a_reason(ops: list[Op], most: int, ratio: float, routing: bool) -> None:
    [made] = select([Proposal(tuple(ops))], DreamSettings(max_changes_per_run=most), sizes(ratio), routing)
    assert len(made.ops) + len(made.aside) == len(ops)
    assert all(one.reason for one in made.aside)
    rest = iter(ops)
    assert all(any(op is other for other in rest) for op in made.ops), "the order is kept"
    assert len(made.ops) <= most + max(most, 30)
