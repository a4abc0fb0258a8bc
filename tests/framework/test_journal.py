"""The journal: intents, outcomes, and whatever else a file of lines may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from reverie.journal import LONGEST, Journal, Write, changed, digest
from reverie.line import parsed
from reverie.workspace.disk import Disk
from reverie_hookspecs import Unreadable

OLD, NEW = b"old text\n", b"old text\nand more\n"
KEPT = "MEMORY.md.1772600767001.bak"


def a_write(
    key: str = "aa", run: str = "x-1", path: str = "MEMORY.md", number: int = 0, of: int = 1, **rest: Any
) -> Write:
    return Write(key, run, path, "replace", digest(OLD), digest(NEW), len(OLD), len(NEW), number=number, of=of, **rest)


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(str(tmp_path / "journal.jsonl"), Disk())


def again(journal: Journal) -> Journal:
    return Journal(journal.path, Disk())


def add(journal: Journal, text: bytes) -> None:
    with Path(journal.path).open("ab") as file:
        file.write(text)


def test_a_write_is_read_back_as_it_was_once_it_is_closed(journal: Journal) -> None:
    write = a_write(
        path="memory/x.md",
        backup="%2Fvault%2Fmemory%2Fx.md.7.bak",
        mode=0o644,
        made=("memory",),
        text="caf\udce9",
        blocks=(4,),
        root="/vault",
    )
    journal.intend([write])
    assert journal.writes("x-1") == []
    journal.close([write], "written")
    assert again(journal).writes("x-1") == [write]
    assert again(journal).writes("x-2") == []
    assert write.data == b"caf\xe9"


def test_every_write_is_a_line_with_run_root_path_and_hashes(journal: Journal) -> None:
    journal.intend([a_write(number=0, of=2), a_write(path="a.md", number=1, of=2)])
    lines = [json.loads(line) for line in Path(journal.path).read_text().splitlines()]
    assert [line["path"] for line in lines] == ["MEMORY.md", "a.md"]
    for line in lines:
        assert line.keys() >= {"run", "root", "path", "op", "before", "after", "size", "length"}


def test_an_outcome_tells_how_writes_came_out(journal: Journal) -> None:
    write = a_write()
    other = a_write(backup=KEPT)
    journal.intend([write])
    journal.close([other], "written")
    assert again(journal).writes("x-1") == [other]


@pytest.mark.parametrize("outcome", ["withdrawn", "left"])
def test_what_was_taken_back_is_no_write_of_the_run(journal: Journal, outcome: Any) -> None:
    journal.intend([a_write()])
    journal.close([a_write()], outcome)
    assert again(journal).writes("x-1") == []
    assert again(journal).open_intents() == []


def test_intents_without_an_outcome_are_open(journal: Journal) -> None:
    both = [a_write("aa", number=0, of=2), a_write("aa", path="b.md", number=1, of=2)]
    journal.intend(both)
    journal.intend([a_write("bb", run="x-2")])
    journal.close([a_write("bb", run="x-2")], "written")
    for reader in (journal, again(journal)):
        assert [list(batch.writes) for batch in reader.open_intents()] == [both]
    again(journal).close(both, "withdrawn")
    assert journal.open_intents() == [], "another process closed it"


def test_a_written_batch_whose_old_file_is_still_open_elsewhere_stays_until_it_is_closed_again(
    journal: Journal,
) -> None:
    write, grown = a_write(), a_write(backup=KEPT)
    journal.intend([write])
    journal.close([grown], "written", lingering=True)
    [batch] = again(journal).open_intents()
    assert batch.written
    assert batch.writes == (grown,)
    assert again(journal).writes("x-1") == [grown]
    journal.close([grown], "written")
    assert again(journal).open_intents() == []
    assert again(journal).writes("x-1") == [grown]


def test_blocks_left_in_an_archive_count_until_they_are_used(journal: Journal) -> None:
    block = ("memory/archive/x.md", digest(b"- a\n"))
    journal.intend([a_write()])
    journal.close([a_write()], "left", left=[block, block])
    reader = again(journal)
    reader.scan()
    assert reader.left() == {block: 2}
    journal.intend([a_write("bb")])
    journal.close([a_write("bb")], "written", reused=[block])
    reader.scan()
    assert reader.left() == {block: 1}


@pytest.mark.parametrize(
    "garbage",
    [
        b"\n",
        b"not json\n",
        b"{}\n",
        b"[]\n",
        b"\xff\xfe\0\n",
        b'{"do":"intent","id":"aa"}\n',
        b'{"do":"intent","id":"aa",\n',
        b'{"do":"intent","id":"cc","run":"x-1"}\n',
        b'{"do":"outcome","id":"zz","run":"x-1","outcome":"written"}\n',
    ],
)
def test_a_torn_or_foreign_line_is_passed_over(journal: Journal, garbage: bytes) -> None:
    add(journal, garbage)
    journal.intend([a_write("bb")])
    add(journal, garbage)
    journal.close([a_write("bb")], "written")
    add(journal, garbage)
    reader = again(journal)
    assert reader.writes("x-1") == [a_write("bb")]
    assert all(batch.writes[0].id != "bb" for batch in reader.open_intents())


def test_lines_that_are_none_are_counted(journal: Journal) -> None:
    journal.intend([a_write()])
    add(journal, b"garbage\n{\n")
    journal.close([a_write()], "written")
    reader = again(journal)
    reader.writes("another")
    assert reader.skipped == 2
    reader.writes("x-1")
    assert reader.skipped == 2


def test_a_torn_last_line_gets_a_newline_before_the_next(journal: Journal) -> None:
    add(journal, b'{"do":"intent","id":"aa","ru')
    fresh = again(journal)
    fresh.scan()
    fresh.intend([a_write("bb")])
    fresh.close([a_write("bb")], "written")
    assert again(journal).writes("x-1") == [a_write("bb")]
    assert Path(journal.path).read_bytes().startswith(b'{"do":"intent","id":"aa","ru\n{')


@given(st.binary(max_size=60))
def test_any_bytes_are_a_line_or_none(line: bytes) -> None:
    assert parsed(line) is None


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=20), max_size=4))
def test_any_garbage_between_leaves_the_writes_readable(tmp_path_factory: Any, lines: list[bytes]) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "journal.jsonl"), Disk())
    for number, line in enumerate(lines):
        add(journal, line.replace(b"\n", b"") + b"\n")
        journal.intend([a_write(f"{number}")])
        journal.close([a_write(f"{number}")], "written")
    assert [write.id for write in again(journal).writes("x-1")] == [f"{n}" for n in range(len(lines))]
    assert again(journal).open_intents() == []


def test_a_large_journal_is_read_in_pieces(journal: Journal) -> None:
    whole = b"".join(
        b'{"do":"intent","id":"%x","run":"y","root":".","path":"a","op":"append","text":"%s"}\n'
        b'{"do":"outcome","id":"%x","run":"y","outcome":"written"}\n' % (n, b"x" * (n * 3), n)
        for n in range(1, 2000)
    )
    add(journal, whole)
    journal.intend([a_write("abc")])
    assert [batch.writes for batch in again(journal).open_intents()] == [(a_write("abc"),)]
    journal.close([a_write("abc")], "written")
    reader = again(journal)
    assert reader.writes("x-1") == [a_write("abc")]
    assert reader.skipped == 0
    assert len(whole) > 5 << 20


def test_a_journal_that_was_rewritten_is_read_anew(journal: Journal) -> None:
    journal.intend([a_write()])
    journal.scan()
    Path(journal.path).with_suffix(".new").write_bytes(b"")
    Path(journal.path).with_suffix(".new").replace(journal.path)
    assert journal.open_intents() == []


def test_a_journal_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "real").touch()
    (tmp_path / "journal.jsonl").symlink_to(tmp_path / "real")
    with pytest.raises(Unreadable, match="cannot be read"):
        Journal(str(tmp_path / "journal.jsonl"), Disk()).writes("x-1")


def test_a_write_knows_its_two_ends_by_their_beginning() -> None:
    write = a_write()
    assert write.began(OLD + b"theirs")
    assert write.became(NEW + b"theirs")
    assert not write.became(OLD)
    assert not a_write().began(b"")


def test_blocks_are_told_from_what_leads_them_in() -> None:
    write = Write("a", "r", "p", "append", text="# H\n\n- a\n- b\n", blocks=(4, 4))
    assert write.given() == [b"- a\n", b"- b\n"]


def replaced(before: bytes, after: bytes, late: bytes = b"") -> Write:
    """A replacement, before which ``late`` was appended at the last moment; it was carried over."""
    hunk, text = changed(before, after)
    ends = digest(before + late), digest(after + late), len(before + late), len(after + late)
    return Write("aa", "x-1", "MEMORY.md", "replace", *ends, hunk=hunk, text=text)


SOME = st.lists(
    st.sampled_from([b"a", b"\xc3\xa9", b"\xe6\x97\xa5", b"\xf0\x9f\x98\x80", b"\xff", b"\n", b"\xed\xa0\x80"])
)
BYTES = st.builds(b"".join, SOME) | st.binary(max_size=20)


@settings(max_examples=60)
@given(BYTES, BYTES, BYTES)
def test_what_a_replacement_left_is_told_byte_for_byte_though_it_cuts_letters(
    tmp_path_factory: Any, before: bytes, after: bytes, late: bytes
) -> None:
    journal = Journal(str(tmp_path_factory.mktemp("j") / "journal.jsonl"), Disk())
    write = replaced(before, after, late)
    journal.intend([write])
    journal.close([write], "written")
    assert again(journal).writes("x-1") == [write]
    assert again(journal).writes("x-1")[0].leaves(before + late) == after + late


def test_what_was_carried_over_onto_a_line_of_its_own_is_told() -> None:
    hunk, text = changed(b"- a", b"- b")
    after = b"- b\n- late\n"
    write = Write("a", "r", "p", "replace", digest(b"- a- late\n"), digest(after), 10, 11, hunk=hunk, text=text)
    assert write.leaves(b"- a- late\n") == after


def test_one_word_in_a_large_file_is_a_small_line(journal: Journal) -> None:
    large = b"- some line\n" * 400_000
    journal.intend([replaced(large + b"old" + large, large + b"new" + large)])
    assert Path(journal.path).stat().st_size < 1000


def test_a_replacement_too_large_for_the_journal_is_left_out_of_it() -> None:
    assert changed(b"a", b"b" * LONGEST) == ((0, 1, 1), "b" * LONGEST)
    assert changed(b"a", b"b" * LONGEST + b"b") == ((), "")
    assert replaced(b"a", b"b" * LONGEST + b"b").leaves(b"a") is None


def test_an_append_and_a_rename_tell_what_they_left_and_a_removal_does_not() -> None:
    assert Write("a", "r", "p", "append", after=digest(b"ab"), text="b").leaves(b"a") == b"ab"
    assert Write("a", "r", "p", "append", after=digest(b"xx"), text="b").leaves(b"a") is None
    assert Write("a", "r", "p", "rename", after=digest(b"a"), to="q").leaves(b"a") == b"a"
    assert Write("a", "r", "p", "remove").leaves(b"a") is None
    assert Write("a", "r", "p", "replace", after=digest(b"a")).leaves(b"a") is None, "a line of an older version"


@pytest.mark.parametrize(
    "field",
    [
        {"hunk": [1, 2]}, {"hunk": [1, 2, 3, 4]}, {"hunk": [2, 1, 3]}, {"hunk": [-1, 1, 3]}, {"hunk": [0, 4, 3]},
        {"hunk": ["0", 1, 2]}, {"hunk": [None, 1, 2]}, {"hunk": [0.5, 1, 2]}, {"hunk": [[], {}, 1]}, {"text": "\ud800"},
        {"text": 5}, {"text": None},
    ],
)  # fmt: skip
def test_a_line_whose_hunk_has_no_sense_is_no_write(field: dict[str, object]) -> None:
    from reverie.journal import _write

    sound = {"id": "ab12", "run": "x", "root": ".", "path": "MEMORY.md", "op": "replace", "text": "\udcff"}
    sound |= {"before": "b", "after": "a", "size": 1, "length": 1, "hunk": [0, 1, 1]}
    assert _write(dict(sound)) is not None
    assert _write(sound | field) is None


def test_an_outcome_whose_ends_have_no_sense_is_not_believed(journal: Journal) -> None:
    journal.intend([a_write()])
    ends = {"before": 5, "after": None, "size": "1", "length": [], "backup": KEPT}
    add(journal, json.dumps({"do": "outcome", "id": "aa", "run": "x-1", "outcome": "written", "as": [ends]}).encode())
    add(journal, b"\n")
    assert again(journal).writes("x-1") == [a_write(backup=KEPT)]


@pytest.mark.parametrize(
    "field",
    [
        {"path": "../outside.md"}, {"path": "/etc/passwd"}, {"path": "a/../../b"}, {"path": "a\\b"}, {"path": "a\0b"},
        {"path": "\ud800"}, {"path": ""}, {"to": "../x"}, {"to": "a\0"}, {"made": ["../../victim"]}, {"made": ["/x"]},
    ],
)  # fmt: skip
def test_a_line_that_leads_out_of_its_root_is_no_write(tmp_path: Path, field: dict[str, object]) -> None:
    from reverie.journal import _write

    sound = {"id": "ab12", "run": "x", "root": ".", "path": "MEMORY.md", "op": "replace"}
    sound |= {"before": "b", "after": "a", "size": 1, "length": 1}
    assert _write(dict(sound)) is not None
    assert _write(sound | field) is None


@pytest.mark.parametrize(
    "line",
    [
        {"do": "outcome", "id": "ab12", "run": "x", "outcome": "left", "left": [5]},
        {"do": "outcome", "id": "ab12", "run": "x", "outcome": "written", "open": True, "as": [5]},
        {"do": "intent", "id": "ab12", "run": "x", "root": ".", "path": "a\ud800", "op": "append"},
        {"do": "intent", "id": "ab12", "run": "x", "root": 5, "path": "a", "op": "append", "blocks": "no"},
    ],
)
def test_a_senseless_line_stops_nothing(tmp_path: Path, line: dict[str, object]) -> None:
    journal = tmp_path / ".dreaming" / "journal.jsonl"
    journal.parent.mkdir()
    intent = {"do": "intent", "id": "ab12", "run": "x", "root": ".", "path": "a.md", "op": "append", "before": "absent",
              "after": "a", "size": 0, "length": 2}  # fmt: skip
    journal.write_text(json.dumps(intent) + "\n" + json.dumps(line) + "\n")
    from datetime import UTC, datetime

    from reverie.workspace import Folder
    from reverie_hookspecs import Run

    files = Folder.at(tmp_path)
    files.append("b.md", "- b\n", Run("x-2", "x", "dream", datetime(2026, 3, 4, tzinfo=UTC)))
    assert (tmp_path / "b.md").read_text() == "- b\n"
