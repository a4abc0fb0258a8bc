from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from reverie.ordering import arrange, by_name
from reverie_hookspecs import OrderError, Stage


def stage(name: str, after: tuple[str, ...] = (), before: tuple[str, ...] = ()) -> Stage:
    return Stage(name, lambda dream: dream, after=after, before=before)


def names(stages: list[Stage]) -> list[str]:
    return [one.name for one in arrange(stages)]


def test_every_wish_holds_and_the_rest_goes_by_name() -> None:
    assert names([stage("c"), stage("a", after=("b",)), stage("b")]) == ["b", "a", "c"]
    assert names([stage("c", before=("a",)), stage("a"), stage("b")]) == ["b", "c", "a"]


def test_a_name_nobody_bears_is_ignored() -> None:
    assert names([stage("b", after=("gone",)), stage("a", before=("away",))]) == ["a", "b"]


def test_a_lower_rank_goes_first_where_no_wish_says_otherwise() -> None:
    ranks = {"z": 0, "a": 1, "m": 1}
    assert [s.name for s in arrange([stage("a"), stage("m"), stage("z")], lambda s: ranks[s.name])] == ["z", "a", "m"]


def test_twins_are_an_error_that_names_them() -> None:
    with pytest.raises(OrderError, match="two things are called 'a'"):
        by_name([stage("a"), stage("a")])


def test_a_circle_is_an_error_that_names_it() -> None:
    with pytest.raises(OrderError, match=r"a -> b -> a|b -> a -> b"):
        arrange([stage("a", after=("b",)), stage("b", after=("a",))])


@given(st.permutations("abcdef"), st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef"))))
def test_the_order_does_not_depend_on_the_order_of_offering(offered: list[str], pairs: list[tuple[str, str]]) -> None:
    wishes = [(first, then) for first, then in pairs if first < then]
    stages = [stage(name, after=tuple(f for f, t in wishes if t == name)) for name in offered]
    result = names(stages)
    assert result == names(sorted(stages, key=lambda s: s.name))
    assert all(result.index(first) < result.index(then) for first, then in wishes)
