"""Sections become one text, under its limits; and the text becomes a file, whole or not at all."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from reverie.composition import BODY_LIMIT, TEXT_LIMIT, compose, tokens, write
from reverie_hookspecs import PluginError, ReverieError, Section, WriteRefused

OPERATED = [("agents", "AGENTS.md"), ("identity", "IDENTITY.md"), ("soul", "SOUL.md"), ("heartbeat", "HEARTBEAT.md")]


def text_of(*sections: Section) -> str:
    return compose(sections).text


# The text


def test_a_section_is_its_delimiter_and_its_body() -> None:
    assert text_of(Section("agents", "A", "AGENT IDENTITY"), Section("soul", "B\nC")) == (
        "--- AGENT IDENTITY ---\nA\n\n--- SOUL ---\nB\nC\n"
    )


@pytest.mark.parametrize("body", ["", "\n", " \n\t\n", "\ufeff", "\r\n\r\n"])
def test_an_empty_body_leaves_the_delimiter_alone(body: str) -> None:
    assert text_of(Section("a", body), Section("b", "x")) == "--- A ---\n\n--- B ---\nx\n"


def test_blank_lines_around_a_body_do_not_count() -> None:
    assert text_of(Section("a", "\n\n  x\n\n\n"), Section("b", "y")) == "--- A ---\n  x\n\n--- B ---\ny\n"


def test_no_sections_are_one_newline() -> None:
    assert text_of() == "\n"


def test_a_name_without_a_title_is_shown_in_capitals() -> None:
    assert text_of(Section("weather-report", "x")).startswith("--- WEATHER REPORT ---\n")


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("A\n--- SOUL ---", "A - SOUL"),
        ("@README.md", "README.md"),
        ("`x` <b>", "x b"),
        ("a\u202eb\u200b", "ab"),
        ("---", "SECTION"),
        ("<!--", "!"),
        ("x" * 100, "x" * 80),
        ("Größe & 日本", "Größe 日本"),
    ],
)
def test_a_title_is_one_harmless_line(title: str, shown: str) -> None:
    made = compose([Section("a", "x", title=title)])
    assert made.text == f"--- {shown} ---\nx\n"
    assert made.parts[0].title == shown


def test_line_ends_and_a_mark_of_the_source_are_normal_in_the_text() -> None:
    assert text_of(Section("a", "\ufeffx\r\ny\rz")) == "--- A ---\nx\ny\nz\n"


@given(st.lists(st.text(max_size=40), max_size=4))
def test_the_same_sections_make_the_same_text(bodies: list[str]) -> None:
    sections = [Section(f"s{at}", body) for at, body in enumerate(bodies)]
    assert compose(sections) == compose(sections)


@pytest.mark.parametrize("section", [Section("a", None), Section("a", "", title=7), Section("a", b"x")])  # type: ignore[arg-type]
def test_a_section_that_is_no_text_is_told(section: Section) -> None:
    with pytest.raises(PluginError, match=r"section 'a' is .* and no text"):
        compose([section])


# Trust


@pytest.mark.parametrize(("name", "file"), OPERATED)
def test_the_files_of_the_operator_may_import(name: str, file: str) -> None:
    assert "see @docs/rules.md" in text_of(Section(name, "see @docs/rules.md", file=file))


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((name, "") for name, _ in OPERATED),
        *(("stranger", file) for _, file in OPERATED),
        ("agents", "SOUL.md"),
        ("agents", "agents.md"),
        ("AGENTS", "AGENTS.md"),
        ("memory", "MEMORY.md"),
        ("user", "USER.md"),
        ("memory-rule", ""),
    ],
)
def test_no_other_section_may(name: str, file: str) -> None:
    assert "see `@docs/rules.md`" in text_of(Section(name, "see @docs/rules.md", file=file))


# Limits


def test_a_long_body_is_cut_and_says_so() -> None:
    made = compose([Section("memory", "x" * 25_000, file="MEMORY.md", length=25_000), Section("b", "y")])
    shown = f"--- MEMORY ---\n{'x' * BODY_LIMIT}\n\n"
    assert made.text.startswith(shown)
    marker, _, rest = made.text[len(shown) :].partition("\n")
    assert "5,000" in marker
    assert "MEMORY.md" in marker
    assert "memory_search" not in marker
    assert rest == "\n--- B ---\ny\n"
    assert (made.parts[0].cut, made.parts[0].chars, made.parts[0].length) == (5_000, BODY_LIMIT, 25_000)


def test_a_body_of_exactly_the_limit_is_whole() -> None:
    assert text_of(Section("a", "x" * BODY_LIMIT)) == f"--- A ---\n{'x' * BODY_LIMIT}\n"


def test_the_beginning_stands_before_the_cut() -> None:
    assert "--- A ---\n> banner\n\nx" in text_of(Section("a", "> banner\n\n" + "x" * 30_000))


@pytest.mark.parametrize(("opened", "end"), [("```\n", "```"), ("<!--\n", "-->"), ("- a\n  ~~~\n  ", "  ~~~")])
def test_a_cut_closes_what_it_cuts(opened: str, end: str) -> None:
    made = compose([Section("a", opened + "x" * 30_000 + "\n" + end + "\nrest"), Section("b", "y")])
    body = made.text.partition("\n\n[Cut here")[0]
    assert body.endswith(f"x\n{end}")
    assert len(body) - len("--- A ---\n") <= BODY_LIMIT


def test_a_body_that_grows_over_the_limit_is_cut_too() -> None:
    made = compose([Section("a", "@a " * 6_600)])
    assert 19_000 <= made.parts[0].chars <= BODY_LIMIT
    assert made.parts[0].cut > 0


def test_a_cut_leaves_no_half_of_an_emoji() -> None:
    body = "x" * (BODY_LIMIT - 2) + "👩\u200d👧"
    assert text_of(Section("a", body)).splitlines()[1] == "x" * (BODY_LIMIT - 2) + "👩"


def test_what_is_left_out_before_the_cut_makes_room() -> None:
    assert compose([Section("a", "x\u200b" * BODY_LIMIT)]).parts[0].cut == 0


def test_the_whole_text_is_cut_and_says_what_is_missing() -> None:
    sections = [Section(f"s{at}", "x" * 19_000, file=f"S{at}.md", length=19_000) for at in range(9)]
    made = compose([*sections, Section("end", "")])
    body, _, marker = made.text.rpartition("\n\n")
    assert len(body) <= TEXT_LIMIT < len(body) + 100
    assert body.count("--- S") == 8
    assert "S7 (" in marker
    assert "S8 (19,000)" in marker
    assert "memory_search" not in marker
    assert marker.count("\n") == 1
    assert sum(part.chars + part.cut for part in made.parts) == 9 * 19_000


def test_the_whole_text_leaves_nothing_open_either() -> None:
    made = compose([Section(f"s{at}", "```\n" + "x\n" * 9_900) for at in range(9)])
    assert made.text.count("```") % 2 == 0


def test_sections_without_a_body_fill_the_text_too() -> None:
    made = compose([Section("a" * 70 + str(at), "x" * (at > 2_000)) for at in range(3_000)])
    assert len(made.text) < TEXT_LIMIT + 2_000
    assert made.text.rpartition("\n\n")[2].startswith("[The whole text ends here")


# The report


def test_the_report_counts_what_was_done() -> None:
    part = compose([Section("a", "x\u200b @y\n--- B ---\n```", file="A.md", length=99, notes=("shrunk",))]).parts[0]
    assert (part.name, part.file, part.length) == ("a", "A.md", 99)
    assert (part.hidden, part.imports, part.delimiters, part.closed, part.cut) == (1, 1, 1, 1, 0)
    assert part.notes[0] == "shrunk"
    assert len(part.notes) == 5


def test_an_ordinary_section_has_no_notes() -> None:
    assert compose([Section("a", "Tea at four.")]).parts[0].notes == ()


@pytest.mark.parametrize(("text", "count"), [("", 0), ("abcd", 1), ("abcde", 2), ("日本語", 3), ("ไทย", 3)])
def test_tokens_are_estimated(text: str, count: int) -> None:
    assert tokens(text) == count


# The file


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "CLAUDE.md"


def test_a_new_file_is_written_and_nothing_lies_about(file: Path) -> None:
    assert write(file, "--- A ---\nx\n") == ("written", None)
    assert file.read_bytes() == b"--- A ---\nx\n"
    assert list(file.parent.iterdir()) == [file]


def test_the_same_text_leaves_the_file_alone(file: Path) -> None:
    write(file, "--- A ---\nä\n")
    before = file.stat()
    assert write(file, "--- A ---\nä\n") == ("unchanged", None)
    after = file.stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_another_text_takes_its_place_with_the_same_permissions(file: Path) -> None:
    write(file, "--- A ---\nx\n")
    file.chmod(0o640)
    assert write(file, "--- A ---\ny\n").outcome == "written"
    assert file.read_text() == "--- A ---\ny\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.parametrize("old", ["# My own rules\n", "--- \n", "---\nname: x\n---\n", "\n\nhand --- A ---\n", "\udc80"])
def test_what_a_person_wrote_is_kept(file: Path, old: str) -> None:
    file.write_bytes(old.encode("utf-8", "surrogateescape"))
    file.chmod(0o600)
    kept = write(file, "--- A ---\n").kept
    assert kept
    assert kept.parent == file.parent / ".dreaming" / "backups"
    assert kept.read_bytes() == old.encode("utf-8", "surrogateescape")
    assert kept.name.startswith("CLAUDE.md.")
    assert kept.name.endswith(".bak")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert abs(int(kept.name.split(".")[2]) - time.time() * 1000) < 60_000


@pytest.mark.parametrize("old", ["", " \n\n", "\ufeff--- MEMORY RULE ---\nx", "\n\n--- AGENT IDENTITY ---\r\nx"])
def test_what_was_composed_or_is_blank_is_not_kept(file: Path, old: str) -> None:
    file.write_text(old)
    assert write(file, "--- A ---\n") == ("written", None)
    assert not (file.parent / ".dreaming").exists()


def test_two_copies_of_one_moment_are_both_kept(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: 1_700_000_000_000_000_000)
    for text in ("one", "two"):
        file.write_text(text)
        write(file, "--- A ---\n")
    names = sorted(path.name for path in (file.parent / ".dreaming" / "backups").iterdir())
    assert names == ["CLAUDE.md.1700000000000.bak", "CLAUDE.md.1700000000001.bak"]


@pytest.mark.parametrize("target", ["AGENTS.md", "/etc/passwd", "nowhere"])
def test_a_link_is_refused(file: Path, target: str) -> None:
    (file.parent / "AGENTS.md").write_text("mine")
    file.symlink_to(target)
    with pytest.raises(WriteRefused, match="is a link to"):
        write(file, "--- A ---\n")
    assert file.is_symlink()
    assert (file.parent / "AGENTS.md").read_text() == "mine"


@pytest.mark.parametrize("name", [".dreaming", ".dreaming/backups"])
def test_no_copy_is_kept_behind_a_link(file: Path, tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    away = tmp_path_factory.mktemp("away")
    (file.parent / name).parent.mkdir(exist_ok=True)
    (file.parent / name).symlink_to(away)
    file.write_text("mine")
    with pytest.raises(WriteRefused, match="is a link"):
        write(file, "--- A ---\n")
    assert file.read_text() == "mine"
    assert list(away.iterdir()) == []


def test_a_folder_of_that_name_is_refused(file: Path) -> None:
    file.mkdir()
    with pytest.raises(WriteRefused, match="no file"):
        write(file, "x")


def test_a_missing_folder_is_told(tmp_path: Path) -> None:
    with pytest.raises(ReverieError, match="not written"):
        write(tmp_path / "gone" / "CLAUDE.md", "x")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_folder_that_may_not_be_written_is_told(file: Path) -> None:
    file.write_text("--- A ---\n")
    file.parent.chmod(0o500)
    try:
        with pytest.raises(WriteRefused, match="not written"):
            write(file, "--- B ---\n")
    finally:
        file.parent.chmod(0o700)
    assert file.read_text() == "--- A ---\n"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
@pytest.mark.parametrize("problem", [OSError(28, "No space left on device"), KeyboardInterrupt()])
def test_a_failure_leaves_the_old_file_and_nothing_else(
    file: Path, monkeypatch: pytest.MonkeyPatch, failing: str, problem: BaseException
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise problem

    file.write_text("--- A ---\nold\n")
    monkeypatch.setattr(*((os, "fsync", fail) if failing == "fsync" else (Path, "replace", fail)))
    with pytest.raises((WriteRefused, KeyboardInterrupt)) as raised:
        write(file, "--- A ---\nnew\n")
    assert not isinstance(raised.value, WriteRefused) or "No space left on device" in str(raised.value)
    assert file.read_text() == "--- A ---\nold\n"
    assert list(file.parent.iterdir()) == [file]


def test_a_copy_that_cannot_be_kept_leaves_the_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file.write_text("mine")
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WriteRefused):
        write(file, "--- A ---\n")
    assert file.read_text() == "mine"
    assert list((file.parent / ".dreaming" / "backups").iterdir()) == []


def test_thirty_kilobytes_take_less_than_ten_milliseconds() -> None:
    item = "- **Kiln**: fires at `dawn`, ask {}; see [notes](memory/kiln.md) — 茶は四時\n  more of it here\n\n"
    page = (item.format("@ann") + item.format("Ann") * 3) * 21
    sections = [Section(name, page) for name in ("agents", "soul", "user", "memory")]
    assert sum(len(section.body) for section in sections) > 29_000
    compose(sections)
    spent = []
    for _ in range(7):
        start = time.process_time()
        compose(sections)
        spent.append(time.process_time() - start)
    assert min(spent) < 0.010
