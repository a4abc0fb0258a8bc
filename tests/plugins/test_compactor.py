"""The plan of a whole text, and the thin shell that commits it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from attrs import field, frozen
from hypothesis import given, settings, strategies as st

from reverie.markdown import blocks, body_start, entries, entry_hash, headings, pinned, split
from reverie_hookspecs import (
    Agent,
    Archive,
    ArchiveSettings,
    Committed,
    Dream,
    Edit,
    IsolationSettings,
    Run,
    Settings,
    Snapshot,
    Unreadable,
    archive_off,
)
from reverie_plugins.compactor import Compactor, named
from reverie_plugins.compactor.plan import Plan, plan as planned
from reverie_plugins.compactor.pointer import shared_count, shared_line, shortened
from reverie_plugins.stamp import stamp

DAY = "2026-03-04"
PTR = "memory/archive/completed.md"
VAN = "- Rent the van — DONE, fetched Friday at nine, deposit 200, papers in the glove box, back by Sunday noon"
POINTER = f"- Rent the van — DONE {DAY} ({PTR})"
SHORT, TAPE = "- Rent the van — DONE\n", "- Buy tape — DONE\n"
JOB = "- **Job 9** CLOSED:\n  - sub one\n  tail\n"
SPEC = "- [Spec v2](memory/spec.md) SUPERSEDED by v3 after the review in May; all readers moved, the old parser is gone"
GREEK = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron"


def plan(text: str) -> Plan:
    return planned(text, DAY)


def texts(text: str) -> list[str]:
    return [finished.text for finished in plan(text).finished]


@pytest.mark.parametrize(
    ("text", "new", "moved"),
    [
        pytest.param(VAN, POINTER, [VAN], id="A01"),
        pytest.param(f"## Log\n{SHORT}{TAPE}", "## Log\n", [SHORT, TAPE], id="A01b"),
        pytest.param(f"{JOB}- next", "- next", [JOB], id="A10"),
        pytest.param(
            f"#### 2026 audit FINISHED\n{'x' * 40}\n{'x' * 40}\n# Next\n",
            f"#### 2026 audit — FINISHED {DAY} ({PTR})\n# Next\n",
            [f"#### 2026 audit FINISHED\n{'x' * 40}\n{'x' * 40}\n"],
            id="A12",
        ),
        pytest.param("### Trip\n- [x] tickets\n\n- [x] pack", "### Trip\n- [x] tickets\n\n", ["- [x] pack"], id="A13"),
        pytest.param(
            SPEC,
            f"- [Spec v2](memory/spec.md) — SUPERSEDED {DAY} ({PTR})",
            [SPEC],
            id="A20",
        ),
        pytest.param("- DONE\r\n- open\r\n", "- open\r\n", ["- DONE\r\n"], id="A25"),
        pytest.param("- x DONE", "", ["- x DONE"], id="A29 and A30, where nothing forbids it"),
    ],
)  # fmt: skip
def test_what_is_finished_leaves(text: str, new: str, moved: list[str]) -> None:
    made = plan(text)
    assert made.text == new and len(made.text) < len(text)
    assert [finished.text for finished in made.finished] == moved


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("- rent the van, done yesterday", id="A02"),
        pytest.param("- UNRESOLVED seating chart", id="A04"),
        pytest.param("- status is IS_DONE flag\n- xDONE\n", id="A05"),
        pytest.param("- [ ] pack\n- [ x ] pack\n- [-] pack\n", id="A06"),
        pytest.param("+ [x] a\n1. [x] a\n  - [x] a\n-\t[x] a\n", id="A08"),
        pytest.param("- parent\n  - [x] nested\n", id="A09"),
        pytest.param("### ✅ Trip\n- [ ] tickets\n- [ ] pack\n\n- other", id="A14"),
        pytest.param("- see [X](https://x.example/u) for news", id="A16"),
        pytest.param("- the index a[x] must stay positive", id="A17"),
        pytest.param("```\n- [x] sample\n```", id="A18"),
        pytest.param(f"- kept in {PTR} DONE", id="A22"),
        pytest.param("", id="A26 empty"),
        pytest.param(" \n\t\n", id="A26 blank"),
        pytest.param("## User\n- [x] tea\n### ✅ sub\n", id="pinned"),
        pytest.param("## Preferences\n\n### ✅ tea\ntext\n", id="pinned h3"),
        pytest.param("---\nname: x\n- [x] a\n---\n", id="front matter"),
        pytest.param("<!--\n- [x] a\n-->\n", id="comment"),
        pytest.param("- [x] a\n  ```\n  open\n", id="open fence"),
        pytest.param("- [x] a\n  <!-- open\n- b\n", id="open comment"),
        pytest.param("### ✅ a\n\ntext\n", id="text goes on under a short heading"),
        pytest.param("### ✅ a\n\n- text\n", id="a bullet goes on under a short heading"),
        pytest.param("text\n- [x] a\n---\n", id="a rule would become an underline"),
        pytest.param("- [x] a\n---\nk: v\n---\n", id="a rule would become front matter"),
        pytest.param("### ✅ a\n- b\n\n  ```\n  c\n  ```\n", id="a fence would leave its list"),
        pytest.param("- ✅ so\n- ❌ not so\n", id="beside a cross"),
        pytest.param("**Rules:**\n\n- ✅ so\n", id="below a line that says rules"),
    ],
)
def test_what_stays_stays_byte_for_byte(text: str) -> None:
    assert plan(text) == Plan(text)


def test_a_long_label_is_cut_at_a_word() -> None:  # A24
    text = f"- {GREEK} DONE rest\n  {'y' * 60}\n"
    made = plan(text)
    (finished,) = made.finished
    assert finished.text == text and finished.label.endswith("…") and len(finished.label) <= 70
    assert GREEK.startswith(f"{finished.label[:-1]} ")
    assert made.text == f"- {finished.label} — DONE {DAY} ({PTR})\n"


@pytest.mark.parametrize(
    ("lead", "label", "status"),
    [
        ("- Rent the van — DONE", "Rent the van", "DONE"),
        ("- DONE: rent the van", "rent the van", "DONE"),
        ("- DONE", "DONE", "DONE"),
        ("- **Job 9** CLOSED:", "Job 9", "CLOSED"),
        ("- **P1 MERGED (#1).** x", "P1", "MERGED"),
        ("- [x] **Buy** tape", "**Buy** tape", "DONE"),
        ("- ✅ Buy tape", "Buy tape", "DONE"),
        ("- Buy tape ✅", "Buy tape", "DONE"),
        ("- ~~Buy tape~~ — gone", "Buy tape", "DONE"),
        ("- ~~Buy tape~~ — EXPIRED", "Buy tape", "EXPIRED"),
        ("- [x] Buy tape SHIPPED", "Buy tape", "SHIPPED"),
        ("### 2. ✅ Trip ##", "Trip", "DONE"),
        ("- see [a](b.md) and [c](d.md) DONE", "[a](b.md)", "DONE"),
        ("- `[a](b)` [c](d) DONE", "[c](d)", "DONE"),
        ("- [x] ``` code", "code", "DONE"),
        ("- [x] <!-- a --> # b", "b", "DONE"),
        ("- [x] - + * b", "b", "DONE"),
    ],
)
def test_the_label_and_the_status(lead: str, label: str, status: str) -> None:
    (finished,) = plan(f"{lead}\n  {'y' * 200}\n" if lead[0] == "-" else f"{lead}\n{'y' * 200}\n").finished
    assert (finished.label, finished.status) == (label, status)


def test_the_short_entries_of_a_section_share_one_line_in_the_place_of_the_first() -> None:
    short = "- [x] a number of words\n"
    text = f"# A\n- keep\n{short * 4}- too\n{short}\n# B\n{short * 4}"
    assert plan(text).text == f"# A\n- keep\n- 5 finished: {PTR}\n- too\n\n# B\n- 4 finished: {PTR}\n"
    assert plan(text).unshared == ()


def test_a_shared_line_is_raised_in_place_on_later_nights() -> None:
    text = f"# A\n- 9 finished: {PTR}\n- keep\n- [x] a\n### ✅ b\n# B\n- [x] c\n"
    made = plan(text)
    assert made.text == f"# A\n- 11 finished: {PTR}\n- keep\n# B\n"
    assert made.unshared == ("c",)


def test_shared_lines_are_left_out_where_the_text_would_be_no_shorter() -> None:
    made = plan("# A\n- [x] a\n- keep\n# B\n- [x] b\n")
    assert (made.text, made.unshared) == ("# A\n- keep\n# B\n", ("a", "b"))


def test_a_long_entry_pays_for_the_shared_line_of_a_short_one() -> None:
    made = plan(f"- [x] a\n{VAN}\n")
    assert made.text == f"- 1 finished: {PTR}\n{POINTER}\n" and made.unshared == ()


def test_a_shared_line_is_no_longer_one_with_other_words() -> None:
    assert [shared_count(line) for line in (shared_line(3), f"{shared_line(3)} now", f"- x finished: {PTR}")] == [
        3,
        0,
        0,
    ]


def test_a_long_heading_keeps_a_pointer_and_what_follows_it() -> None:
    text = f"### ✅ Trip\n{'x' * 90}\n\ntext\n"
    assert plan(text).text == f"### Trip — DONE {DAY} ({PTR})\n\ntext\n"


def test_a_short_heading_with_nothing_after_it_leaves() -> None:
    assert plan("# A\n- keep\n### ✅ a\n\n---\n\n### b\n").text == "# A\n- keep\n\n---\n\n### b\n"


def test_a_heading_whose_entries_leave_in_the_same_night_leaves_with_them() -> None:
    assert plan("# A\n### ✅ a\n\n- [x] b\n").text == "# A\n\n"


def test_what_is_archived_bears_a_stamp_that_its_hash_leaves_out() -> None:
    (finished,) = plan("# Log\n## May\n- keep\n- [x] a\r\n  b\r\n").finished
    assert finished.archived == (f"- [x] a\r\n  b\r\n  <!-- archived {DAY} from MEMORY.md › Log › May -->\r\n\r\n")
    assert (finished.line, finished.path, finished.left) == (4, ("Log", "May"), "")
    assert entry_hash(finished.archived) == entry_hash(finished.text)
    assert [entry_hash(finished.archived[e.start : e.end]) for e in entries(finished.archived)] == [
        entry_hash(finished.text)
    ]


def test_an_entry_without_newline_gets_one_in_the_archive() -> None:
    (finished,) = plan("a\r\n\r\n- [x] b").finished
    assert finished.archived == f"- [x] b\r\n  <!-- archived {DAY} from MEMORY.md -->\r\n\r\n"


def test_a_title_cannot_end_the_stamp() -> None:
    made = stamp("archived", DAY, "MEMORY.md", ("a --> b", "<!-- c --!>", "d\u2028e", "x" * 500))
    assert made.startswith("  <!-- ") and made.count("<!--") == made.count("-->") == 1 and "--!>" not in made
    assert made.endswith("… -->") and len(made) < 260 and "\u2028" not in made


@given(st.text(max_size=200))
def test_a_label_is_short(name: str) -> None:
    assert len(shortened(name)) <= 70


ATOMS = [
    "# H",
    "## User",
    "## Log",
    "### Trip DONE",
    "### ✅ Fix",
    "### a",
    f"### [x] {'w ' * 50}",
    "- [x] a",
    "- x DONE",
]
ATOMS += [
    "- y",
    "- ✅ z",
    "- ❌ q",
    "- ❌ q DONE",
    "* w CLOSED",
    "- [ ] o",
    f"- {'long text ' * 12}DONE",
    "  - sub",
    "  text",
]
ATOMS += [
    "text",
    "",
    "",
    "",
    "---",
    "===",
    "```",
    "~~~",
    "  ```",
    "1. n",
    "+ p",
    "> q",
    "<!--",
    "-->",
    "  <!-- c -->",
    "<div>",
]
ATOMS += [
    shared_line(3),
    shared_line(9),
    f"- k — DONE 2026-01-01 ({PTR})",
    "Rules:",
    "- ~~s~~",
    "- ```x",
    "- [x] ``` y",
]
ATOMS += [
    "\ttab",
    "- - -",
    "  # in",
    "   # h3",
    "key: v",
    f"- [x] {'v' * 90}",
    " one",
    "§",
    "- \x85[x] a",
    "- [x] \ud800\x00",
]
TEXTS = st.builds(
    lambda lines, end, last: "".join(f"{line}{other or end}" for line, other in lines) + last,
    st.lists(st.tuples(st.sampled_from(ATOMS), st.sampled_from(["", "", "", "", "\n", "\r\n", "\r"])), max_size=14),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "- [x] end"]),
)
promise = settings(max_examples=250)


@promise
@given(TEXTS)
def test_planned_again_a_text_loses_nothing_more(text: str) -> None:  # A21
    made = plan(text)
    assert plan(made.text) == Plan(made.text)


@promise
@given(TEXTS)
def test_a_text_never_grows_and_changes_only_where_something_leaves(text: str) -> None:
    made = plan(text)
    assert len(made.text) < len(text) if made.finished else made.text == text


def bare(text: str) -> Counter[str]:
    """The lines of a text without their newlines."""
    return Counter(line.rstrip("\r\n") for line in split(text))


@promise
@given(TEXTS)
def test_every_line_that_leaves_stands_verbatim_in_the_archive(text: str) -> None:
    made = plan(text)
    gone = bare(text) - bare(made.text)
    archived = sum((bare(finished.archived) for finished in made.finished), Counter[str]())
    assert not [line for line in gone - archived if not shared_count(line)]


@promise
@given(TEXTS)
def test_what_is_new_in_a_text_points_to_the_archive(text: str) -> None:
    new = Counter(split(plan(text).text)) - Counter(split(text))
    assert all(PTR in line for line in new)


def standing(text: str) -> list[str]:
    """Fences and raw HTML at the top level, verbatim."""
    found = blocks(text, body_start(text))
    return [text[block.start : block.end] for block in found if block.kind != "heading" and not block.depth]


@promise
@given(TEXTS)
def test_pinned_sections_structure_and_fences_are_as_they_were(text: str) -> None:
    made = plan(text)
    assert [text[a:b] for a, b in pinned(text)] == [made.text[a:b] for a, b in pinned(made.text)]
    assert [h.title for h in headings(text) if h.level <= 2] == [h.title for h in headings(made.text) if h.level <= 2]
    taken = Counter(block for finished in made.finished for block in standing(finished.text))
    assert Counter(standing(text)) == Counter(standing(made.text)) + taken


@promise
@given(TEXTS)
def test_a_moved_entry_keeps_its_identity(text: str) -> None:
    for finished in plan(text).finished:
        assert finished.text in text and entry_hash(finished.archived) == entry_hash(finished.text)
        assert finished.archived.startswith(finished.text) and split(finished.archived)[-1].strip() == ""


def test_real_files_keep_the_promises(inputs: Path) -> None:
    moved = 0
    for path in sorted((inputs / "memory").glob("*.md")):
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        made = plan(text)
        moved += len(made.finished)
        assert plan(made.text) == Plan(made.text)
        assert len(made.text) < len(text) if made.finished else made.text == text
        assert [text[a:b] for a, b in pinned(text)] == [made.text[a:b] for a, b in pinned(made.text)]
        assert standing(text) == standing(made.text)
    assert moved > 40


def test_real_entries_are_told_apart_as_a_reader_would(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    import importlib.util

    place = Path(__file__).parents[1] / "bench" / "compactor_labels.py"
    spec = importlib.util.spec_from_file_location("compactor_labels", place)
    assert spec and spec.loader
    bench = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "compactor_labels", bench)
    monkeypatch.setenv("REVERIE_INPUTS", str(inputs))
    spec.loader.exec_module(bench)
    monkeypatch.setattr(sys, "argv", ["compactor_labels.py", "--quiet"])
    assert bench.main() == 0, capsys.readouterr().out


@frozen
class OneFile:
    """Files that hold one MEMORY.md; ``others`` are what somebody else makes of it before each compare."""

    text: str
    state: Any = "text"
    others: tuple[Callable[[str], str], ...] = ()
    edits: list[Edit] = field(factory=list)

    def commit(self, path: str, decide: Callable[[Snapshot], Edit | None], run: Run) -> Committed:
        assert path == "MEMORY.md"
        text = self.text
        for other in (*self.others[:2], None):
            snapshot = Snapshot(path, self.state, text.encode("utf-8", "surrogateescape"), "broken")
            edit = decide(snapshot)
            if edit is None:
                return Committed("unchanged", snapshot)
            if other is None:
                self.edits.append(edit)
                return Committed("written", snapshot, edit)
            text = other(text)
        raise AssertionError("not reached")


@frozen
class Contested:
    """Files to which somebody else keeps writing."""

    def commit(self, path: str, decide: Callable[[Snapshot], Edit | None], run: Run) -> Committed:
        snapshot = Snapshot(path, "text", b"- x DONE")
        return Committed("contested", snapshot, decide(snapshot))


def dream(files: Any, *, enabled: bool = True, disabled: bool = False) -> Dream:
    settings = Settings({
        ArchiveSettings: ArchiveSettings(enabled=enabled),
        IsolationSettings: IsolationSettings(disable_archive=disabled),
    })  # fmt: skip
    agent = Agent("ann", files, settings, cast("Any", None), Path("/nowhere"))
    return Dream(agent, Run("ann-1", "ann", "night", datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)))


def night(files: Any, **switches: bool) -> Dream:
    letter = dream(files, **switches)
    stage = Compactor(cast("Archive", object())).on_dream(letter.agent)
    assert (stage.name, stage.scope, stage.writes) == ("compactor", "sweep", True)
    assert stage.after == ("gather", "index") and stage.before == ("staleness", "route-out", "review")
    return stage.run(letter)


def test_a_night_moves_what_is_finished_and_says_so() -> None:
    files = OneFile(f"{VAN}\n- [x] a\n- open\n")
    letter = night(files)
    (edit,) = files.edits
    assert edit.text == f"{POINTER}\n- 1 finished: {PTR}\n- open\n"
    assert [(moved.to, moved.heading) for moved in edit.moved] == [(PTR, "# Completed\n\n")] * 2
    assert edit.moved[0].text.startswith(f"{VAN}\n  <!-- archived {DAY}")
    assert [(move.file, move.to, move.text, move.label) for move in letter.moved] == [
        ("MEMORY.md", PTR, f"{VAN}\n", "Rent the van"),
        ("MEMORY.md", PTR, "- [x] a\n", "a"),
    ]
    assert letter.changed == ("MEMORY.md", PTR)
    assert [note.text for note in letter.notes] == [f"moved 2 finished entries from MEMORY.md to {PTR}"]


def test_one_entry_is_one_entry() -> None:
    assert night(OneFile(VAN)).notes[0].text.startswith("moved 1 finished entry from")


def test_an_entry_that_leaves_no_line_is_named_in_the_diary() -> None:
    assert night(OneFile("- [x] a\n- open\n")).notes[1].text == "no line is left of: a"


def test_a_second_try_decides_on_the_new_text() -> None:  # A28
    files = OneFile(f"{VAN}\n", others=(lambda text: f"{text}- new\n",))
    assert [move.label for move in night(files).moved] == ["Rent the van"]
    assert files.edits[0].text == f"{POINTER}\n- new\n"


def test_a_contested_file_is_left_alone_and_the_diary_says_so() -> None:
    letter = night(Contested())
    assert not letter.moved and not letter.changed
    assert ["left alone" in note.text for note in letter.notes] == [True]


@pytest.mark.parametrize(("text", "state"), [("", "missing"), ("", "empty"), (" \n", "text"), ("- open\n", "text")])
def test_where_nothing_is_finished_nothing_is_said(text: str, state: str) -> None:  # A26
    files = OneFile(text, state)
    letter = night(files)
    assert not (letter.notes or letter.moved or letter.changed or files.edits)


def test_an_unreadable_file_is_not_an_empty_one() -> None:
    with pytest.raises(Unreadable):
        night(OneFile("", "unreadable"))


@pytest.mark.parametrize("switch", [{"enabled": False}, {"disabled": True}])
def test_with_the_archive_off_nothing_moves_and_the_diary_says_why(switch: dict[str, bool]) -> None:  # A30
    files = OneFile("- x DONE")
    letter = night(files, **switch)
    assert not files.edits and not letter.moved
    (note,) = letter.notes
    assert "off" in note.text and ("disableArchive" if "disabled" in switch else "archive.enabled") in note.text
    assert not archive_off(dream(files).agent.settings)


def test_a_huge_first_night_names_some_and_counts_the_rest() -> None:
    assert named(tuple("abc")) == "a; b; c"
    assert named(("x",) * 25).endswith("x and 5 more")
