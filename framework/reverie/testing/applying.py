"""The contract of whatever puts ops into memory files: each test is named after the promise that it tries to break."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, Final

from attrs import evolve

from reverie.undo import undo
from reverie.workspace import Folder
from reverie_hookspecs import Agent, Applying, Dream, Op, ReverieError

from .meddler import Meddled
from .promise import keeps
from .world import agent_of, dream_of

MEMORY: Final = "MEMORY.md"
FORGET: Final = "nothing is forgotten silently"
STALE: Final = "no write from a stale view"
BOUND: Final = "no run takes more than its share of a file"
PINNED: Final = "pinned sections are never touched"
ONCE: Final = "what stands is not made again"
LITERAL: Final = "text is literal"
EXACT: Final = "a target that stands more than once is left alone"
BUDGET: Final = "over its budget a file only gets shorter"
BYTES: Final = "newlines, byte order mark and final newline are kept"
TRACE: Final = "what is held back leaves no trace"
UNDONE: Final = "every write can be taken back byte for byte"
CONFINED: Final = "only memory files are written"
UNREADABLE: Final = "unreadable is not empty"
TOLD: Final = "every op has a fate, and it is the true one"
LONG: Final = "- the kiln is fired on Fridays, and nobody opens it before Sunday noon\n" * 4
TEXT: Final = f"# Memory\n\n- likes tea\n- rides a bike\n{LONG}\n## User\n\n- is called Ann\n"


def add(content: str, anchor: str = "", file: str = MEMORY) -> Op:
    return Op("add", file, content, anchor, score=1.0, recall_count=9)


def replace(target: str, content: str) -> Op:
    return Op("replace", MEMORY, content, target)


def remove(target: str) -> Op:
    return Op("remove", MEMORY, target=target)


class ApplyingContract:
    """Subclass it, answer ``applying``, and pytest tries to break every promise an applier makes."""

    @abstractmethod
    def applying(self) -> Applying:
        """The plugin that is tried."""

    def apply(self, agent: Agent, *ops: Op) -> Dream:
        """What the plugin makes of a run with these ops."""
        return self.applying().apply(dream_of(agent, *ops))

    def agent(self, folder: Path, text: str | bytes = TEXT, **gateway: Any) -> Agent:
        """An agent with this MEMORY.md, and these settings of the gateway."""
        return agent_of(folder, {MEMORY: text}, gateway)

    # What must stand

    def test_nothing_is_forgotten_silently(self, tmp_path: Path) -> None:
        for number, op in enumerate((remove("- likes tea"), replace("rides a bike", "drives"))):
            agent = self.agent(tmp_path / str(number))
            self.apply(agent, op)
            keeps(FORGET, op.target not in memory(agent), f"{op.op} was not made, though nothing stood in its way")
            keeps(FORGET, op.target in elsewhere(agent), f"{op.target!r} left {MEMORY} and stands in no archive")

    def test_nothing_is_forgotten_while_the_archive_is_off(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path, knowledge={"archive": {"enabled": False}})
        self.apply(agent, remove("- likes tea"))
        kept = "- likes tea" in memory(agent) or "- likes tea" in elsewhere(agent)
        keeps(FORGET, kept, "with knowledge.archive.enabled false a removed line stands nowhere")

    def test_no_write_from_a_stale_view(self, tmp_path: Path) -> None:
        for number, op in enumerate((remove("- likes tea"), add("- new"), replace("tea", "rye bread"))):
            agent = self.agent(tmp_path / str(number))
            file = agent.files.root / MEMORY
            files = Meddled(agent.files, MEMORY, lambda file=file: append(file, "- foreign\n"))  # type: ignore[misc]
            self.applying().apply(evolve(dream_of(agent, op), agent=evolve(agent, files=files)))
            count = memory(agent).count("- foreign\n")
            keeps(STALE, count == 1, f"a line that came in during {op.op} stands {count} times afterwards")

    def test_every_write_can_be_taken_back(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path)
        before = tree(agent)
        dream = self.apply(agent, remove("- likes tea"), add("- new"), replace("rides a bike", "drives"))
        keeps(UNDONE, tree(agent) != before, "nothing was written")
        assert isinstance(agent.files, Folder)
        try:
            undo(agent.files, dream.run.id, evolve(dream.run, id=f"{dream.run.id}-undo"))
        except ReverieError as error:
            keeps(UNDONE, False, str(error))
        keeps(UNDONE, tree(agent) == before, "the undo of the run does not bring the files back")

    def test_the_fate_that_is_told_is_the_true_one(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path)
        ops = (remove("- likes tea"), remove("- nowhere"), add("- new"), add("- rides a bike"))
        dream = self.apply(agent, *ops)
        applied, skipped = ([id(one.op) for one in ones] for ones in (dream.applied, dream.skipped))
        true = applied == [id(ops[0]), id(ops[2])] and skipped == [id(ops[1]), id(ops[3])]
        keeps(TOLD, true, f"{dream.applied} and {dream.skipped} for {ops}")
        keeps(TOLD, all(one.reason for one in dream.skipped), "an op was skipped without a reason")
        keeps(TOLD, any("- likes tea" in move.text for move in dream.moved), "what was cut is not named in `moved`")

    # What must not be done

    def test_no_run_takes_more_than_its_share(self, tmp_path: Path) -> None:
        whole = "a" * 26 + "b" * 74
        agent = self.agent(tmp_path / "1", whole)
        self.apply(agent, remove("a" * 26))
        keeps(BOUND, memory(agent) == whole, "26 of 100 characters went from a file under its budget")
        agent = self.agent(tmp_path / "2", "a" * 80 + "b" * 20)
        self.apply(agent, remove("a" * 80), add("- ok"))
        keeps(BOUND, "a" * 80 in memory(agent), "an add covered a removal of 80 of 100 characters")
        keeps(BOUND, "- ok" in memory(agent), "the add of a rejected rewrite was not appended")
        agent = self.agent(tmp_path / "3", "- only\n", memory={"memoryBudgetChars": 3})
        self.apply(agent, remove("- only"))
        keeps(BOUND, memory(agent).strip(), "a memory file was left without a word")

    def test_a_file_over_its_budget_only_gets_shorter(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path, memory={"memoryBudgetChars": 50})
        self.apply(agent, add("- new"), replace("likes tea", "likes tea and rye bread"))
        keeps(BUDGET, memory(agent) == TEXT, "a file over its budget grew")
        self.apply(agent, remove("- likes tea"), replace("rides a bike", "edirs a bike"))
        short = "- likes tea" not in memory(agent) and "edirs" in memory(agent)
        keeps(BUDGET, short, "what shrinks, or keeps the length, was held back")

    def test_pinned_sections_are_never_touched(self, tmp_path: Path) -> None:
        for number, op in enumerate((remove("- is called Ann"), replace("Ann", "Bea"), replace("## User", "## Log"))):
            agent = self.agent(tmp_path / str(number), memory={"writeRouting": bool(number % 2)})
            self.apply(agent, op)
            keeps(PINNED, memory(agent) == TEXT, f"{op.op} of {op.target!r} changed a pinned section")
            keeps(TRACE, not elsewhere(agent), f"{op.target!r} was held back and stands in an archive")

    def test_an_ambiguous_target_is_left_alone(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path, "aaa bbbbbbbbbbbbb\n")
        before = tree(agent)
        self.apply(agent, remove("aa"))
        keeps(EXACT, tree(agent) == before, "`aa` stands twice in `aaa`, and was removed")

    def test_what_is_held_back_leaves_no_trace(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path)
        before = tree(agent)
        self.apply(agent, remove("- nowhere"), add("- likes tea"), replace("is called Ann", "x"), remove(LONG))
        keeps(TRACE, tree(agent) == before, f"{sorted(set(tree(agent)) - set(before)) or MEMORY} was written")
        backups = list((agent.files.root / ".dreaming").glob("backups/*"))
        keeps(TRACE, not backups, "a backup was taken though nothing was written")

    def test_only_memory_files_are_written(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path, memory={"writeRouting": True})
        before = tree(agent)
        escape = Op("add", MEMORY, "- x", topic="../../x", tier="episodic")
        self.apply(agent, add("- x", file="AGENTS.md"), add("- x", file="../x.md"), escape)
        keeps(CONFINED, tree(agent) == before and not list(tmp_path.glob("*.md")), "another file was written")

    def test_unreadable_is_not_empty(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path)
        dream, file = dream_of(agent, add("- new")), agent.files.root / MEMORY
        file.write_bytes(b"- a\0b\n")
        dream = self.applying().apply(dream)
        keeps(UNREADABLE, file.read_bytes() == b"- a\0b\n", "an unreadable file was written")
        keeps(UNREADABLE, dream.failures or dream.skipped, "nothing says that the file could not be read")

    # How it is done

    def test_what_stands_is_not_made_again(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path)
        ops = (remove("- likes tea"), add("- new"), add("- below", "- rides a bike"), replace("a bike", "a bike daily"))
        self.apply(agent, *ops)
        once = tree(agent)
        self.apply(agent, *ops)
        keeps(ONCE, tree(agent) == once, "the same ops a second time changed a file")

    def test_text_is_literal(self, tmp_path: Path) -> None:
        content = r"cost $& and $1 \1 \g<0> {0} %s"
        agent = self.agent(tmp_path)
        self.apply(agent, replace("likes tea", content))
        keeps(LITERAL, f"- {content}\n" in memory(agent), f"{content!r} became {memory(agent)[:60]!r}")

    def test_an_add_goes_below_its_anchor_or_to_the_end(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path / "1", "- likes tea daily\n- rides\n")
        self.apply(agent, add("- new", "likes tea"))
        keeps(LITERAL, memory(agent) == "- likes tea daily\n- new\n- rides\n", f"it stands as {memory(agent)!r}")
        agent = self.agent(tmp_path / "2", "- tea\n\n\n")
        self.apply(agent, add("- rye", "nowhere"))
        keeps(LITERAL, memory(agent) == "- tea\n\n- rye\n", f"it stands as {memory(agent)!r}")

    def test_newlines_and_byte_order_mark_are_kept(self, tmp_path: Path) -> None:
        for number, mark in enumerate((b"", b"\xef\xbb\xbf")):
            agent = self.agent(tmp_path / str(number), mark + b"- tea\r\n- caf\xe9\r\n- rye bread, and much more of it")
            self.apply(agent, add("- a\n- b", "- tea"), remove("- caf\udce9"))
            wanted = mark + b"- tea\r\n- a\r\n- b\r\n- rye bread, and much more of it"
            found = (agent.files.root / MEMORY).read_bytes()
            keeps(BYTES, found == wanted, f"{found!r} instead of {wanted!r}")

    def test_an_episodic_note_is_one_dated_line(self, tmp_path: Path) -> None:
        agent = self.agent(tmp_path, memory={"writeRouting": True, "memoryBudgetChars": 3})
        op = Op("add", MEMORY, " a\n\n b ", topic="x-1", tier="episodic")
        dream = self.apply(agent, op)
        note = agent.files.read("memory/x-1.md").text
        keeps(TOLD, f"- [{dream.run.day}] a b\n" in note, f"the note holds {note!r}")
        self.apply(agent, op)
        keeps(ONCE, agent.files.read("memory/x-1.md").text == note, "the same note was written twice")


def memory(agent: Agent) -> str:
    return agent.files.read(MEMORY).text


def elsewhere(agent: Agent) -> str:
    """The text of everything but the memory files and the records that only programs read."""
    kept = (".md",)
    files = (
        path for path in agent.files.root.rglob("*") if path.suffix in kept and path.name not in (MEMORY, "AGENTS.md")
    )
    return "".join(path.read_text("utf-8", "surrogateescape") for path in files)


def tree(agent: Agent) -> dict[str, bytes]:
    """Every Markdown file of the workspace, by path."""
    root = agent.files.root
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.md"))}


def append(file: Path, line: str) -> None:
    """Add a line as any program does: open, one write, close."""
    with file.open("a", encoding="utf-8") as opened:
        opened.write(line)
