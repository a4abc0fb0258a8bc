"""A journal that somebody else wrote to: it lies where the agent can write, so nothing in it is believed unseen."""

from __future__ import annotations

import json
import logging
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve
from hypothesis import given, settings, strategies as st

from reverie.journal import Journal, Write, digest
from reverie.line import confined, ends, fields, parsed
from reverie.undo import restorable, undo
from reverie.workspace import Folder
from reverie.workspace.backup import Backups
from reverie.workspace.disk import Disk
from reverie.workspace.mend import whole
from reverie.workspace.preimage import LONGEST, encoded, moment, name_of, plain
from reverie_hookspecs import ABSENT, Edit, Refused, ReverieError, Run

STARTED = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
RUN = Run("x-2", "x", "dream", STARTED)
OUTSIDE = b"keep\nprecious\n"
DIGESTS = [digest(data) for data in (b"1", b"2", b"keep\n", OUTSIDE, b"- tea\n", b"- tea\nprecious\n", b"")]
SOUND: dict[str, Any] = {"run": "r", "root": ".", "path": "x.md", "op": "replace", "before": digest(b"1"),
                         "after": digest(b"2"), "size": 1, "length": 1}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return a_root(tmp_path)


def a_root(base: Path) -> Path:
    """A workspace with links out of it, and beside it what nobody may touch."""
    root, outside = base / "a", base / "outside"
    for folder in (root / ".dreaming/backups", root / "memory", outside / "empty"):
        folder.mkdir(parents=True)
    for path in (outside / "v.md", base / "precious.txt", base / "p-0.new", base / "p-0.old"):
        path.write_bytes(OUTSIDE)
    (root / "x.md").write_bytes(b"1")
    (root / "MEMORY.md").write_bytes(b"- tea\n")
    (root / "memory/l").symlink_to(outside)
    (root / "link.md").symlink_to(outside / "v.md")
    (root / ".reverie-q").mkdir()
    return root


def beside(root: Path) -> dict[str, bytes]:
    """What stands outside of the root."""
    paths = [path for path in root.parent.rglob("*") if path != root and root not in path.parents]
    return {str(path): path.read_bytes() if path.is_file() else b"/" for path in paths}


@contextmanager
def untouched(root: Path) -> Iterator[None]:
    before = beside(root)
    yield
    assert beside(root) == before


def forge(root: Path, *lines: bytes) -> None:
    with (root / ".dreaming/journal.jsonl").open("ab") as file:
        file.write(b"".join(line + b"\n" for line in lines))


def intent(key: str = "ab12", /, **fields: Any) -> bytes:
    return json.dumps({"do": "intent", "id": key, **SOUND, **fields}, separators=(",", ":")).encode()


def commit(root: Path, path: str = "MEMORY.md") -> None:
    """An honest write, which works."""
    done = Folder.at(root).commit(path, lambda before: Edit(before.text + "- mine\n"), RUN)
    assert done.outcome == "written"
    assert (root / path).read_bytes().endswith(b"- mine\n")


def opened(root: Path) -> list[str]:
    return [write.path for batch in Folder.at(root).journal.open_intents() for write in batch.writes]


# The name of a pre-image


@pytest.mark.parametrize(
    "name",
    ["../../../precious.txt", "../MEMORY.md.1.bak", "a/MEMORY.md.1.bak", "a\\MEMORY.md.1.bak", "a\0b", "\ud800",
     "MEMORY.md", "MEMORY.md.1.bak\n", "MEMORY.md.٣.bak", "MEMORY.md.01.bak", "MEMORY.md.-1.bak",
     "MEMORY.md.1234567890123456.bak", "OTHER.md.1.bak", "MEMORY.md.7.1.bak", "x.MEMORY.md.1.bak", 5, None, [], True],
)  # fmt: skip
def test_a_pre_image_that_is_none_of_that_path_makes_the_line_no_write(name: Any) -> None:
    row = {"do": "intent", "id": "ab12", **SOUND, "path": "MEMORY.md"}
    assert fields(row | {"backup": "MEMORY.md.1772600767001.bak"}) is not None
    assert fields(row | {"backup": ""}) is not None
    assert fields(row | {"backup": name}) is None
    assert ends({"backup": name, "size": 3}, ".", "MEMORY.md") == {"size": 3}


def test_below_another_root_a_pre_image_bears_the_absolute_path() -> None:
    row = {"do": "intent", "id": "ab12", **SOUND, "root": "/vault"}
    assert fields(row | {"backup": name_of("/vault/x.md", 1)}) is not None
    assert fields(row | {"backup": name_of("x.md", 1)}) is None


@given(st.text(min_size=1), st.integers(0, 10**15 - 1))
def test_the_name_of_a_pre_image_tells_its_path_and_its_moment(path: str, at: int) -> None:
    assert moment(path, name_of(path, at)) == at
    assert plain(name_of(path, at))
    assert moment(f"{path}x", name_of(path, at)) is None
    assert len(encoded(path)) <= LONGEST


@given(st.text())
def test_a_plain_name_names_nothing_in_another_folder(name: str) -> None:
    assert not plain(name) or (not set(name) & set("/\\\0") and name.endswith(".bak"))


def test_a_pre_image_outside_is_neither_dropped_nor_written(root: Path) -> None:
    with untouched(root):
        forge(root, intent(backup="../../../precious.txt"))
        (root / ".reverie-ab13-0.old").write_bytes(b"1EVIL\n")
        (root / "x.md").write_bytes(b"2")
        forge(root, intent("ab13", backup="../../../evil.sh"))
        assert Folder.at(root).repair() == []
        commit(root)
    assert opened(root) == []


@pytest.mark.parametrize("name", ["../../../precious.txt", "/etc/passwd", "a\0b", ""])
def test_the_backups_themselves_take_no_name_of_another_folder(root: Path, name: str) -> None:
    backups = Backups(str(root / ".dreaming/backups"), Disk())
    acts: list[Callable[[], object]] = [
        lambda: backups.take(name, b"", 0o600),
        lambda: backups.extend(name, b"a"),
        lambda: backups.read(name),
        lambda: backups.drop(name or "x"),
    ]
    for act in acts:
        with untouched(root), pytest.raises(Refused, match="no name of a pre-image"):
            act()


def test_a_backups_folder_that_is_a_link_is_neither_written_nor_emptied(root: Path) -> None:
    outside, name = root.parent / "outside", name_of("x.md", 7)
    (outside / name).write_bytes(b"theirs")
    (root / ".dreaming/backups").rmdir()
    (root / ".dreaming/backups").symlink_to(outside)
    (root / ".reverie-ab13-0.old").write_bytes(b"1late\n")
    with untouched(root):
        forge(root, intent("ab12", backup=name, after=digest(b"3")), intent("ab13", backup=name_of("x.md", 8)))
        Folder.at(root).repair()
        (root / "x.md").write_bytes(b"2")
        (root / ".reverie-ab14-0.old").write_bytes(b"1late\n")
        forge(root, intent("ab14", backup=name_of("x.md", 8)))
        Folder.at(root).repair()
        with pytest.raises(Refused, match="folder of its own"):
            commit(root)


@pytest.mark.parametrize("digits", ["9" * 241, "9" * 16, "9" * 15, "9" * 14, "5" * 13, "0" * 13, "٣"])
def test_a_planted_name_is_no_moment(root: Path, digits: str) -> None:
    (root / f".dreaming/backups/MEMORY.md.{digits}.bak").write_bytes(b"x")
    for number in range(3):
        run = Run(f"x-{number}", "x", "dream", STARTED)
        Folder.at(root).commit("MEMORY.md", lambda before: Edit(before.text + "- mine\n"), run)
        assert Folder.at(root).journal.writes(run.id)[0].backup == name_of("MEMORY.md", 1772600767000 + number)
    undo(Folder.at(root), "x-2", RUN)
    assert (root / "MEMORY.md").read_bytes() == b"- tea\n- mine\n- mine\n"


# Links


@pytest.mark.parametrize(
    "field",
    [
        {"path": "memory/l/v.md"}, {"path": "link.md"}, {"path": "memory/l/new.md"}, {"path": "memory/l"},
        {"path": "memory"}, {"path": f"{'n' * 300}.md"},
        {"op": "rename", "to": "memory/l/to.md"}, {"op": "rename", "to": "link.md"},
        {"path": "memory/l/empty/v.md", "made": ["memory/l/empty"], "before": ABSENT, "size": 0},
    ],
)  # fmt: skip
@pytest.mark.parametrize("also", [{}, {"op": "append", "text": "precious\n", "blocks": [9], "size": 5}])
def test_a_write_through_a_link_is_closed_without_any_act(
    root: Path, caplog: pytest.LogCaptureFixture, field: dict[str, Any], also: dict[str, Any]
) -> None:
    if "to" in field and also:
        return
    with untouched(root):
        forge(root, intent(**also | {"before": digest(b"keep\n"), "after": digest(OUTSIDE)} | field))
        assert Folder.at(root).repair() == []
        assert "is not mended" in caplog.text
        assert opened(root) == []
        commit(root)


def test_one_link_in_a_batch_stops_all_of_it(root: Path) -> None:
    (root / "b.md").write_bytes(OUTSIDE)
    one = intent(path="memory/l/v.md", op="append", before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14,
                 text="precious\n", blocks=[9], number=0, of=3)  # fmt: skip
    two = intent(path="b.md", op="append", before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14,
                 text="precious\n", blocks=[9], number=1, of=3)  # fmt: skip
    with untouched(root):
        forge(root, one, two, intent(number=2, of=3))
        Folder.at(root).repair()
    assert (root / "b.md").read_bytes() == OUTSIDE
    assert opened(root) == []


def test_the_same_batch_without_a_link_is_taken_back(root: Path) -> None:
    (root / "b.md").write_bytes(OUTSIDE)
    forge(root, intent(path="b.md", op="append", before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14,
                       text="precious\n", blocks=[9], number=0, of=2), intent(number=1, of=2))  # fmt: skip
    assert Folder.at(root).repair() == ["x.md: what a killed run had begun was taken back"]
    assert (root / "b.md").read_bytes() == b"keep\n"


def test_folders_made_are_those_on_the_way_to_the_file() -> None:
    row = {"do": "intent", "id": "ab12", **SOUND, "path": "a/b/c.md"}
    assert fields(row | {"made": ["a", "a/b"]}) is not None
    for folder in ("a/b/c.md", "memory/l/empty", "a/", "", "..", 5, None, ["a"]):
        assert fields(row | {"made": ["a", folder]}) is None
    assert fields(row | {"op": "rename", "to": "n/x.md", "made": ["n"]}) is not None


def test_a_path_out_of_the_journal_gives_the_terminal_no_orders(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    forge(root, intent(path="memory/l/\x1b[2J\n.md"))
    Folder.at(root).repair()
    [message] = caplog.messages
    assert "\\x1b[2J" in message
    assert message.isprintable()


@pytest.mark.parametrize("path", ["memory/l/v.md", "link.md"])
def test_an_undo_of_a_write_through_a_link_is_refused(root: Path, path: str) -> None:
    end = json.dumps({"do": "outcome", "id": "ab12", "run": "r", "outcome": "written"}).encode()
    with untouched(root):
        forge(root, intent(path=path, before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14), end)
        with pytest.raises(Refused, match="link"):
            undo(Folder.at(root), "r", RUN)


@pytest.mark.parametrize(
    "path",
    [
        ".dreaming/journal.jsonl",
        ".dreaming/backups/x.bak",
        ".dreaming/lock",
        ".dreaming/write-lock",
        ".reverie-ab-0.new",
    ],
)
def test_the_records_themselves_are_no_file_of_a_write(root: Path, path: str) -> None:
    end = json.dumps({"do": "outcome", "id": "ab12", "run": "r", "outcome": "written"}).encode()
    forge(root, intent(path=path), end, intent("ab13", path=path))
    assert Folder.at(root).journal.writes("r") == []
    assert opened(root) == []
    commit(root)


# The fields of a line


@pytest.mark.parametrize("key", ["q/../../p", "", "AB", "..", "ab", 5, None, ["ab12"]])
def test_a_line_that_names_itself_twice_is_none(root: Path, key: Any) -> None:
    body = json.dumps(SOUND | {"id": key}).encode()
    line = b'{"do":"intent","id":"ab12",' + body[1:]
    assert parsed(line) is None
    assert parsed(b'{"do":"intent","id":"ab12",' + json.dumps(SOUND | {"id": "ab12"}).encode()[1:]) is not None
    with untouched(root):
        forge(root, line)
        Folder.at(root).repair()
        commit(root)


def test_a_line_that_is_an_intent_and_an_outcome_is_neither() -> None:
    assert parsed(b'{"do":"intent","id":"ab12","run":"r","do":"outcome"}') is None
    assert parsed(b'{"do":"intent","id":"' + b"a" * 33 + b'","run":"r"}') is None
    assert parsed(b'{"do":"intent","id":"ab12","run":"r"}') is not None


@pytest.mark.parametrize("run", ["a\0", "a\ud800", "\x1b[2J", "a\nb", 5, None])
def test_a_run_that_cannot_be_printed_is_none(run: Any) -> None:
    assert parsed(intent(run=run)) is None


@pytest.mark.parametrize(
    "field",
    [
        {"number": -1}, {"number": 1}, {"number": True}, {"number": 0.0}, {"number": "0"}, {"number": 5, "of": 5},
        {"of": 0}, {"of": True}, {"of": 10**6}, {"size": -1}, {"size": True}, {"size": 10**30}, {"size": 1.5},
        {"length": -1}, {"length": False}, {"length": 1 << 64}, {"mode": -1}, {"mode": 0o10000}, {"mode": True},
        {"blocks": [-1, 2]}, {"blocks": [True]}, {"blocks": [3]}, {"blocks": [1, 2]}, {"blocks": "no"}, {"blocks": {}},
        {"hunk": [True, True, True]}, {"hunk": [0, 1, 10**30]}, {"hunk": 5}, {"hunk": None}, {"made": "memory"},
        {"op": "format"}, {"op": ""}, {"op": []}, {"to": "y.md"}, {"op": "rename"}, {"root": "a"}, {"root": ""},
        {"root": "/a\0"}, {"root": "/\ud800"}, {"root": 5}, {"before": None}, {"after": "\ud800"},
    ],
)  # fmt: skip
def test_a_field_out_of_its_bounds_makes_the_line_no_write(field: dict[str, Any]) -> None:
    row = {"do": "intent", "id": "ab12", **SOUND, "text": "\udcffb"}
    assert fields(row | {"blocks": [1, 1], "mode": 0o7777, "number": 3, "of": 4, "hunk": [0, 1, 1]}) is not None
    assert fields(row | field) is None


def test_a_name_beside_a_file_under_way_is_no_path() -> None:
    assert confined("memory/x.md")
    assert not confined("memory/.reverie-ab-0.new")


def a_write(number: int, of: int, op: str = "append", **rest: Any) -> Write:
    return evolve(Write("ab", "r", "x.md", op, number=number, of=of), **rest)


def test_a_batch_is_whole_or_its_beginning() -> None:
    main = a_write(2, 3, "replace")
    assert whole([a_write(0, 3), a_write(1, 3), main])
    assert whole([a_write(0, 3)])
    assert whole([a_write(0, 1)])
    assert not whole([main])
    assert not whole([a_write(1, 3), a_write(0, 3), main])
    assert not whole([a_write(0, 3), a_write(0, 3)])
    assert not whole([a_write(0, 2), a_write(1, 2)]), "an append stands alone"
    assert not whole([a_write(0, 2, "replace"), a_write(1, 2, "replace")])
    assert not whole([a_write(0, 3), a_write(1, 4), main])
    for other in ({"id": "cd"}, {"run": "s"}, {"root": "/v"}):
        assert not whole([a_write(0, 3), a_write(1, 3, **other), main])


@pytest.mark.parametrize("number", [0, 2])
def test_lines_that_are_no_batch_are_closed_without_any_act(
    root: Path, caplog: pytest.LogCaptureFixture, number: int
) -> None:
    (root / "b.md").write_bytes(OUTSIDE)
    one = intent(path="b.md", op="append", before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14,
                 text="precious\n", blocks=[9], number=number, of=3)  # fmt: skip
    forge(root, one, intent(number=2, of=3))
    assert Folder.at(root).repair() == []
    assert "not those of one batch" in caplog.text
    assert (root / "b.md").read_bytes() == OUTSIDE
    assert opened(root) == []


@pytest.mark.parametrize("size", [-1, True, 10**30, 1.0, "1", None])
def test_an_end_out_of_its_bounds_is_not_believed(size: Any) -> None:
    assert ends({"size": size, "length": 7, "before": "\ud800", "after": ABSENT}, ".", "x.md") == {
        "length": 7,
        "after": ABSENT,
    }


# One line stops nothing


@pytest.mark.parametrize(
    "field",
    [{"backup": "a\0b"}, {"backup": "\ud800"}, {"path": "MEMORY.md/x.md", "op": "append"}, {"path": "a\0"},
     {"size": 10**30, "path": "MEMORY.md", "op": "append"}, {"op": "append", "of": 2, "number": 1}],
)  # fmt: skip
def test_a_line_that_cannot_be_acted_on_stops_neither_the_others_nor_the_night(
    root: Path, field: dict[str, Any]
) -> None:
    (root / "b.md").write_bytes(OUTSIDE)
    honest = intent("cc", path="b.md", op="append", before=digest(b"keep\n"), after=digest(OUTSIDE), size=5, length=14,
                    text="precious\n", blocks=[9])  # fmt: skip
    forge(root, intent(**field), honest)
    assert "b.md: what a killed run had written is complete" in Folder.at(root).repair()
    commit(root)
    assert opened(root) == []


@pytest.mark.parametrize(
    "error", [ValueError("embedded null byte"), OverflowError("too large"), Refused("no"), OSError()]
)
def test_whatever_a_repair_fails_of_the_next_one_is_done(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    from reverie.workspace import mend

    def fail(pen: Any, batch: Any) -> list[str]:
        if batch.writes[0].id == "aa":
            raise error
        return [batch.writes[0].id]

    monkeypatch.setattr(mend, "_mended", fail)
    forge(root, intent("aa"), intent("bb"))
    assert Folder.at(root).repair() == ["bb"]
    assert "could not be put right" in caplog.text


def test_intents_that_name_no_write_are_told_once_and_closed(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    forge(root, intent("aa", size=-1), intent("bb", path=".."), b'{"do":"intent","id":"cc","ru')
    Folder.at(root).repair()
    assert "3 intents in it name no write" in caplog.text
    caplog.clear()
    Folder.at(root).repair()
    assert caplog.text == ""


def test_what_names_no_write_and_cannot_be_closed_stops_nothing(
    root: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Journal) -> None:
        raise OSError(28, "full")

    monkeypatch.setattr(Journal, "dismiss", fail)
    forge(root, intent("aa", size=-1))
    assert Folder.at(root).repair() == []
    assert "could not be closed" in caplog.text


# Any lines at all

ODD = st.sampled_from(["\ud800", "\udcff", "a\0b", "\x1b[2J", "", "..", "/", "é", "9" * 300])
SCALARS = st.none() | st.booleans() | st.integers(-3, 20) | st.sampled_from([10**30, 2**63, 1e300, -1.5])
JSON = st.recursive(
    SCALARS | ODD | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
PATHS = st.sampled_from(
    ["x.md", "MEMORY.md", "memory/new.md", "memory/l/v.md", "memory/l", "link.md", "memory", "/etc/x",
     "../outside/v.md",      "memory/l/empty/v.md", "memory/l/empty", "MEMORY.md/x.md",
     ".dreaming/journal.jsonl", ".dreaming/backups/x.bak",
     "../../../precious.txt", "../precious.txt", ".reverie-q/../../p", "a\\b", "n/" * 3 + "y.md", "n" * 300, "./x.md"]
)  # fmt: skip
BACKUPS = PATHS | st.sampled_from([name_of("x.md", 7), name_of("MEMORY.md", 7), "MEMORY.md." + "9" * 241 + ".bak"])
NUMBERS = st.sampled_from([0, 1, 2, 5, 6, 9, 14, -1, 10**30, True])
LIKELY: dict[str, st.SearchStrategy[Any]] = {
    "do": st.sampled_from(["intent", "outcome"]),
    "id": st.sampled_from(["ab", "cd", "q/../../p", "../../../p"]),
    "run": st.sampled_from(["r", "x-2", "s"]),
    "root": st.sampled_from([".", "..", "/", "/tmp"]),
    "path": PATHS,
    "to": PATHS,
    "op": st.sampled_from(["replace", "append", "remove", "rename", "withdraw"]),
    "before": st.sampled_from([*DIGESTS, ABSENT]),
    "after": st.sampled_from([*DIGESTS, ABSENT]),
    "text": st.sampled_from(["precious\n", "- tea\n", "\udcff"]),
    "backup": BACKUPS,
    "made": st.lists(PATHS, max_size=2),
    "blocks": st.lists(NUMBERS, max_size=2),
    "hunk": st.lists(NUMBERS, max_size=3),
    "outcome": st.sampled_from(["written", "withdrawn", "left"]),
    "open": st.booleans(),
    "left": st.lists(st.lists(PATHS | st.sampled_from(DIGESTS), max_size=2), max_size=2),
} | dict.fromkeys(("size", "length", "mode", "number", "of"), NUMBERS)
LIKELY["as"] = st.lists(
    st.fixed_dictionaries({}, optional={key: LIKELY[key] | JSON for key in ("before", "after", "size", "backup")}),
    max_size=2,
)
PAIRS = st.lists(
    st.sampled_from(sorted(LIKELY)).flatmap(lambda key: st.tuples(st.just(key), LIKELY[key] | LIKELY[key] | JSON)),
    max_size=6,
)


def forged(do: str, key: str, pairs: list[tuple[str, Any]]) -> bytes:
    """A line with the fields of a sound one, then others, some of them once more."""
    sound = list((SOUND if do == "intent" else {"run": "r", "outcome": "written"}).items())
    body = [f"{json.dumps(name)}:{json.dumps(value)}" for name, value in [("do", do), ("id", key), *sound, *pairs]]
    return ("{" + ",".join(body) + "}").encode()


LINES = st.builds(forged, st.sampled_from(["intent", "intent", "outcome"]), st.sampled_from(["ab", "cd"]), PAIRS)


@pytest.fixture(scope="module")
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@settings(max_examples=120, deadline=None)
@given(st.lists(LINES | st.binary(max_size=20), min_size=1, max_size=5), st.booleans())
@pytest.mark.usefixtures("quiet")
def test_whatever_the_journal_says_nothing_outside_is_touched_and_the_night_goes_on(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], late: bool
) -> None:
    root = a_root(tmp_path_factory.mktemp("forged"))
    if late:
        (root / ".reverie-ab-0.old").write_bytes(b"1late\n")
    with untouched(root):
        forge(root, *lines)
        Folder.at(root).repair()
        commit(root, "honest.md")
        forge(root, *lines)
        for run in {"r", "s", "x-2", *Folder.at(root).journal.runs()}:
            for act in (lambda run=run: restorable(Folder.at(root), run), lambda run=run: undone(root, run)):
                with suppress(ReverieError):
                    act()
        commit(root, "honest.md")


def undone(root: Path, run: str) -> None:
    undo(Folder.at(root), run, Run(f"undo-{abs(hash(run))}", "x", "undo", STARTED), ["/tmp/nowhere"])


# Locks and forks


def lingering(mouth: int) -> int:
    """A child that left its session, says so, and stays."""
    child = os.fork()
    if not child:
        os.setsid()
        os.write(mouth, b"%d\n" % os.getpid())
        time.sleep(60)
        os._exit(0)
    return child


def test_a_killed_run_leaves_no_lock_with_what_it_forked(tmp_path: Path) -> None:
    path, (ear, mouth) = str(tmp_path / "lock"), os.pipe()
    holder = os.fork()
    if not holder:
        with Disk().hold(path, 0) as mine:
            lingering(mouth)
            os.write(mouth, b"" if mine is None else b"held\n")
            time.sleep(60)
            os._exit(0)
    said = b""
    while said.count(b"\n") < 2:
        said += os.read(ear, 100)
    [left] = [int(word) for word in said.split() if word != b"held"]
    os.kill(holder, signal.SIGKILL)
    os.waitpid(holder, 0)
    os.close(ear)
    os.close(mouth)
    try:
        os.kill(left, 0)
        with Disk().hold(path, 0) as mine:
            assert mine is not None, "what it forked has it"
    finally:
        os.kill(left, signal.SIGKILL)


def test_a_child_that_unwinds_does_not_take_the_lock_from_its_parent(tmp_path: Path) -> None:
    path, other = str(tmp_path / "lock"), tmp_path / "other"
    other.write_text("theirs")
    with Disk().hold(path, 0) as fd:
        assert fd is not None
        child = os.fork()
        if not child:
            code = 1
            try:
                file = os.open(other, os.O_RDWR)
                with Disk().hold(path, 0) as mine:
                    code = 2 * (mine is not None) + 4 * (file == fd)
                os.close(fd)  # as what held it does at its end
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        with Disk().hold(path, 0) as again:
            assert again is None, "the parent's lock is gone"
    with Disk().hold(path, 0) as again:
        assert again is not None


def test_a_child_has_locks_of_its_own(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    child = os.fork()
    if not child:
        with Disk().hold(path, 0) as mine:
            os._exit(mine is None)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_the_lock_of_a_run_is_free_though_a_stage_left_a_child(root: Path) -> None:
    ear, mouth = os.pipe()
    with Folder.at(root).lock():
        child = lingering(mouth)
    os.close(mouth)
    os.close(ear)
    try:
        with Folder.at(root).lock():
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
