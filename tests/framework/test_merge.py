"""Three texts to one: nothing of either side is lost, or nobody is told that it could be done."""

from __future__ import annotations

import time
from collections import Counter

import pytest
from hypothesis import assume, given, settings, strategies as st

from reverie.merge import BOM, merge, shared

LINE = st.sampled_from([b"a\n", b"b\n", b"c\n", b"\n", b"d\n", b"e\n", b"f\r\n"])
TEXT = st.builds(lambda lines, cut: b"".join(lines)[: -1 if cut else None], st.lists(LINE, max_size=8), st.booleans())


def text(lines: str) -> bytes:
    """A line for each letter."""
    return b"".join(letter.encode() + b"\n" for letter in lines)


def ended(data: bytes) -> list[bytes]:
    """Lines without their ends."""
    return data.removeprefix(BOM).splitlines()


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("xb", "x", "xbm", "xm"),
        ("xbbcm", "xm", "xbbcmn", "xmn"),
        ("abc", "xabc", "abcy", "xabcy"),
        ("abc", "axc", "abcy", "axcy"),
        ("abc", "axc", "abyc", "axyc"),
        ("abc", "xbc", "ayc", "xyc"),
        ("abc", "abxc", "aybc", "aybxc"),
        ("ab", "axb", "ayb", "axyb"),
        ("ab", "axb", "axb", "axb"),
        ("ab", "axyb", "aqxyrb", "aqxyrb"),
        ("ab", "ayxb", "aqxyrb", None),
        ("abc", "ac", "ac", "ac"),
        ("abc", "axc", "ayxzc", "ayxzc"),
        ("abcd", "axyd", "abycd", None),
        ("abc", "axc", "ayc", None),
        ("abbc", "axc", "abxc", None),
        ("abc", "ac", "ayc", None),
        ("abc", "axc", "ac", None),
        ("abcd", "ad", "abxcd", None),
        ("xy", "", "xym", "m"),
        ("xy", "", "mxy", "m"),
        ("xy", "", "xmy", None),
        ("", "a", "b", "ab"),
        ("ab", "", "ab", ""),
    ],
)
def test_two_changes_are_one_or_conflict(base: str, ours: str, theirs: str, merged: str | None) -> None:
    assert merge(text(base), text(ours), text(theirs)) == (None if merged is None else text(merged))


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        (b"- n\n- 1\n", b"- n", b"- n\n- 1\n- more\n", b"- n\n- more\n"),
        (b"- n\n- 1\n", b"- n", b"top\n- n\n- 1\n", b"top\n- n"),
        (b"a\nb", b"a\nb\nc", b"x\na\nb", b"x\na\nb\nc"),
        (b"a", b"a\r\nb\r\n", b"x\r\na", b"x\r\na\r\nb\r\n"),
        (b"a\r\nb", b"a\r\nb\r\nc", b"a\r\nb\r\nd", b"a\r\nb\r\nc\r\nd"),
        (b"a\rb\r", b"b\r", b"a\rb\rc\r", b"b\rc\r"),
        (b"a\n", b"x\na\n", BOM + b"a\nb\n", BOM + b"x\na\nb\n"),
        (BOM + b"a\n", b"a\n", BOM + b"a\nb\n", b"a\nb\n"),
        (b"", b"a", b"b", b"a\nb"),
        (b"\xff\xe9\n", b"\xff\xe9\n\x80\n", b"\x81\n\xff\xe9\n", b"\x81\n\xff\xe9\n\x80\n"),
    ],
)
def test_no_two_lines_are_joined_and_ends_of_lines_and_marks_are_kept(
    base: bytes, ours: bytes, theirs: bytes, merged: bytes
) -> None:
    assert merge(base, ours, theirs) == merged


def test_a_line_that_would_be_joined_with_the_next_by_its_end_alone_is_a_conflict() -> None:
    assert merge(b"a\n", b"b\r" + b"a\n", b"\n" + b"a\n") is None


@given(TEXT, TEXT)
def test_one_change_alone_is_made_as_it_is(base: bytes, side: bytes) -> None:
    assert merge(base, side, base) == side
    assert merge(base, base, side) == side
    assert merge(base, side, side) == side


@settings(max_examples=400)
@given(TEXT, TEXT, TEXT)
def test_no_line_of_either_is_lost_and_none_is_made_up(base: bytes, ours: bytes, theirs: bytes) -> None:
    merged = merge(base, ours, theirs)
    assume(merged is not None)
    assert merged is not None
    lines, old = Counter(ended(merged)), Counter(ended(base))
    one, other = Counter(ended(ours)), Counter(ended(theirs))
    assert (one.keys() | other.keys()) - old.keys() <= lines.keys()
    assert not lines - (one + other)
    for line in other - old:
        assert line in lines
    for line in one - old:
        assert line in lines


@st.composite
def disjoint(draw: st.DrawFn) -> tuple[list[bytes], list[bytes], list[bytes], list[bytes]]:
    """A text of lines that are all different, changed by two, each in other places; and what both make of it."""
    texts: tuple[list[bytes], ...] = ([], [], [], [])
    for number in range(draw(st.integers(0, 12))):
        line, new = b"- %d\n" % number, b"- new %d\n" % number
        who, how = draw(st.integers(0, 3)), draw(st.sampled_from([[], [new], [new, line], [line, new]]))
        for side, lines in enumerate(texts):
            lines += how if who and side in (who, 3) and who < 3 else [line]
        for lines in texts:  # a line nobody changes, so that no two changes touch
            lines.append(b"- fixed %d\n" % number)
    return texts  # type: ignore[return-value]


@given(disjoint())
def test_changes_in_different_places_are_both_made(texts: tuple[list[bytes], ...]) -> None:
    base, ours, theirs, both = (b"".join(lines) for lines in texts)
    assert merge(base, ours, theirs) == both
    assert merge(base, theirs, ours) == both


def swift(base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    began = time.process_time()
    merged = merge(base, ours, theirs)
    assert time.process_time() - began < 4
    return merged


NUMBERED = [b"- entry %d\n" % number for number in range(20_000)]


class TestLargeTexts:
    def test_with_every_second_line_changed_are_merged(self) -> None:
        ours = [b"- ours\n" + line if number % 2 else line for number, line in enumerate(NUMBERED)]
        theirs = [line if number % 2 else b"- t %d\n" % number for number, line in enumerate(NUMBERED)]
        merged = swift(*map(b"".join, (NUMBERED, ours, theirs)))
        assert merged is not None
        assert merged.splitlines(keepends=True)[:3] == [b"- t 0\n", b"- ours\n", NUMBERED[1]]

    def test_of_equal_lines_are_merged_where_the_changes_stand_apart(self) -> None:
        base = [b"\n" if number % 3 else b"- x\n" for number in range(20_000)]
        assert swift(*map(b"".join, (base, [b"top\n", *base], [*base, b"end\n"]))) == b"".join(
            [b"top\n", *base, b"end\n"]
        )

    def test_that_nobody_can_compare_in_time_are_a_conflict(self) -> None:
        base = [b"\n" if number % 3 else b"- x\n" for number in range(20_000)]
        ours = [b"- y\n" if number % 7 == 0 else line for number, line in enumerate(base)]
        theirs = [b"- z\n" if number % 5 == 0 else line for number, line in enumerate(base)]
        assert swift(*map(b"".join, (base, ours, theirs))) is None

    def test_in_another_order_take_no_longer(self) -> None:
        swift(*map(b"".join, (NUMBERED, NUMBERED[::-1], [*NUMBERED, b"end\n"])))
        swift(*map(b"".join, (NUMBERED, NUMBERED[10_000:] + NUMBERED[:10_000], [*NUMBERED, b"end\n"])))


@given(st.binary(max_size=40), st.binary(max_size=10), st.binary(max_size=10), st.binary(max_size=40))
def test_what_is_shared_stands_in_both_and_overlaps_in_neither(a: bytes, b: bytes, c: bytes, d: bytes) -> None:
    one, other = a + b + d, a + c + d
    head, tail = shared(one, other)
    assert head + tail <= min(len(one), len(other))
    assert head >= len(a)
    assert one[:head] == other[:head]
    assert one[len(one) - tail :] == other[len(other) - tail :]
    middles = one[head : len(one) - tail], other[head : len(other) - tail]
    assert not all(middles) or (middles[0][0] != middles[1][0] and middles[0][-1] != middles[1][-1])
