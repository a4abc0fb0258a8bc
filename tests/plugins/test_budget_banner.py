"""The banner over a file that is longer than its budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from attrs import evolve

from reverie.composition import BODY_LIMIT, compose
from reverie_hookspecs import (
    DOCUMENTED,
    Agent,
    Archive,
    ArchiveSettings,
    Block,
    Corpus,
    DreamSettings,
    IsolationSettings,
    MemorySettings,
    Section,
    Settings,
)
from reverie_plugins.budget_banner import BudgetBanner, bannered


def memory(body: str, file: str = "MEMORY.md", notes: tuple[str, ...] = ()) -> Section:
    return Section(file[:-3].lower(), body, file=file, length=len(body), notes=notes)


def wrap(sections: list[Section], *blocks: Block) -> list[Section]:
    """What the wrapper makes of these sections."""
    settings = Settings({kind: kind() for kind in DOCUMENTED} | {type(block): block for block in blocks})
    nothing = cast("Any", None)
    agent = Agent("ann", nothing, settings, Corpus("a", "memory", nothing, Path("/"), settings), Path("/"))
    wrapper = BudgetBanner(cast("Archive", object())).compose_section(agent)
    next(wrapper)
    try:
        wrapper.send(sections)
    except StopIteration as stop:
        return cast("list[Section]", stop.value)
    raise AssertionError("it yields twice")


def is_under_a_banner(section: Section, *blocks: Block) -> bool:
    (wrapped,) = wrap([section], *blocks)
    assert wrapped.body.endswith(section.body)
    assert (wrapped == section) is (wrapped.body == section.body)
    return wrapped.body != section.body


@pytest.mark.parametrize(
    ("file", "length", "over"),
    [
        ("MEMORY.md", 8_000, False),
        ("MEMORY.md", 8_001, True),
        ("USER.md", 3_000, False),
        ("USER.md", 3_001, True),
        ("SOUL.md", 100_000, False),
        ("AGENTS.md", 100_000, False),
        ("", 100_000, False),
    ],
)
def test_a_file_is_over_its_budget_when_it_is_longer(file: str, length: int, over: bool) -> None:
    assert is_under_a_banner(memory("x" * length, file), MemorySettings()) is over


def test_h04_characters_count_and_not_bytes() -> None:
    body = "ก" * 3_000
    assert len(body.encode()) == 9_000
    assert not is_under_a_banner(memory(body))


@pytest.mark.parametrize(
    ("file", "settings"),
    [("MEMORY.md", MemorySettings(memory_budget_chars=0)), ("USER.md", MemorySettings(user_budget_chars=0))],
)
def test_h05_no_budget_means_no_banner(file: str, settings: MemorySettings) -> None:
    assert not is_under_a_banner(memory("x" * 25_000, file), settings)
    text = compose(wrap([memory("x" * 25_000, file)], settings)).text
    assert "⚠️" not in text
    assert "x" * BODY_LIMIT + "\n\n[Cut here" in text


def test_h06_the_default_is_eight_thousand() -> None:
    assert is_under_a_banner(memory("x" * 8_001), MemorySettings())
    assert not is_under_a_banner(memory("x" * 8_001), MemorySettings(memory_budget_chars=9_000))


@pytest.mark.parametrize("body", ["x" * 9_000, "Title\n=====\n" + "x" * 9_000])
def test_h09_a_file_without_headings_has_a_banner_and_its_whole_text(body: str) -> None:
    (wrapped,) = wrap([memory(body)])
    assert wrapped.body.endswith(f"\n\n{body}")
    assert wrapped.body.startswith("> ⚠️")


def test_h13_user_md_has_a_banner_and_its_whole_text() -> None:
    body = "# A\n" + "x" * 2_997
    (wrapped,) = wrap([memory(body, "USER.md")])
    assert len(body) == 3_001
    assert wrapped.body.endswith(f"\n\n{body}")
    assert "USER.md" in wrapped.body.partition("\n\n")[0]


def test_an_index_needs_no_banner() -> None:
    section = evolve(memory("index", notes=("core", "shrunk")), length=50_000)
    assert not is_under_a_banner(section)


def test_the_source_is_measured_and_not_what_wrappers_made_of_it() -> None:
    assert is_under_a_banner(evolve(memory("short"), length=8_001))
    assert not is_under_a_banner(evolve(memory("x" * 9_000), length=8_000))


@pytest.mark.parametrize(
    ("length", "percent"), [(8_001, "101 %"), (8_080, "101 %"), (8_081, "102 %"), (16_000, "200 %"), (92_345, "1155 %")]
)
def test_the_banner_names_the_file_and_its_figures(length: int, percent: str) -> None:
    banner = wrap([memory("x" * length)])[0].body.partition("\n\n")[0]
    for word in ("MEMORY.md", f"{length:,}", "8,000", percent, "session", "no restart"):
        assert word in banner


@pytest.mark.parametrize(("severity", "sign"), [("warn", "⚠️"), ("error", "🛑")])
def test_the_banner_is_as_loud_as_was_asked(severity: str, sign: str) -> None:
    banner = wrap([memory("x" * 9_000)], MemorySettings(over_budget=severity))[0].body.partition("\n\n")[0]
    assert banner.startswith(f"> {sign}")
    assert ("must shrink now" in banner) is (severity == "error")
    assert "<!--" not in banner
    assert "memory_search" not in banner
    assert all(line.startswith("> ") for line in banner.splitlines())


@pytest.mark.parametrize(
    ("block", "file", "told"),
    [
        (DreamSettings(), "MEMORY.md", True),
        (DreamSettings(), "USER.md", False),
        (DreamSettings(enabled=False), "MEMORY.md", False),
        (DreamSettings(mode="propose"), "MEMORY.md", False),
        (ArchiveSettings(enabled=False), "MEMORY.md", False),
        (IsolationSettings(disable_archive=True), "MEMORY.md", False),
        (IsolationSettings(isolate_memory=True), "MEMORY.md", False),
    ],
)
def test_the_banner_points_at_the_night_only_where_it_helps(block: Block, file: str, told: bool) -> None:
    assert ("`reverie dream`" in wrap([memory("x" * 9_000, file)], block)[0].body) is told


def test_the_banner_stands_before_the_cut_and_is_harmless() -> None:
    for severity in ("warn", "error"):
        made = compose(wrap([memory("x" * 30_000)], MemorySettings(over_budget=severity)))
        assert made.text.startswith("--- MEMORY ---\n> ")
        assert "[Cut here" in made.text
        part = made.parts[0]
        assert (part.hidden, part.delimiters, part.imports, part.closed) == (0, 0, 0, 0)
        assert part.notes[0] == "over budget: 30,000 of 8,000 characters"


def test_other_sections_and_their_order_stay() -> None:
    sections = [Section("weather", "rain"), memory("x" * 9_000), memory("x" * 10, "USER.md"), Section("end", "")]
    wrapped = wrap(sections)
    assert [section.name for section in wrapped] == ["weather", "memory", "user", "end"]
    assert [wrapped[0], *wrapped[2:]] == [sections[0], *sections[2:]]


def test_a_dollar_in_the_file_is_no_placeholder() -> None:
    assert bannered(memory("$file $x ${y}" * 1_000), 8_000, "warn", False).body.endswith("$file $x ${y}")
