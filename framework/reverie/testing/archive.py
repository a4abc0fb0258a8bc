"""The contract of whatever keeps memory beyond the prompt: each test is named after what an agent may rely on."""

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import pytest
from attrs import evolve

from reverie.hooks import Hooks
from reverie.kernel import Indexing
from reverie.markdown import entries, entry_hash
from reverie_hookspecs import Agent, Indexer, NotFound, Plugin, Refused

from .promise import keeps
from .world import agent_of, kernel_of

if TYPE_CHECKING:
    from reverie.kernel import Kernel
    from reverie_hookspecs import Archive

FOUND: Final = "what is indexed is found"
QUERY: Final = "any text is a query, and none is syntax"
EXACT: Final = "a hit says exactly where it stands"
FRESH: Final = "the index says what the files say"
APART: Final = "no corpus answers for another"
CONFINED: Final = "only memory files are read"
OFF: Final = "off means off"
KEPT: Final = "every entry is held by its hash"
NOTES: Final = {
    "MEMORY.md": "# Memory\n\n- the spare key hangs in the shed\n",
    "USER.md": "- is called Ann\n",
    "memory/kiln.md": "# Kiln\n\n## Schedule\n\n- [2026-03-04] the Café kiln fires at dawn\n- glaze dries two days\n",
    "memory/archive/completed.md": "# Completed\n\n- Rent the van DONE\n  papers in the glove box\n",
    "memory/漢字.md": "- 東京の桜は四月に咲く\n- สวัสดีชาวโลก\n",
}
WORDS: Final = ("kiln*", "NEAR(kiln dawn)", "kiln AND NOT dawn", "text:kiln", "^kiln", "-kiln", "kiln " * 5_000)
SIGNS: Final = ("", " ", "!!!", '"', "'", "*", "(", "%", "_", "\\", "؛", "🏺", "\0", "\ud800", "{}: ", "a" * 100_000)
HOSTILE: Final = (*WORDS, *SIGNS, "\u202ekiln", "kiln\0dawn")


class ArchiveContract:
    """Subclass it, answer ``archive``, and pytest tries what an agent relies on."""

    @abstractmethod
    def archive(self, indexer: Indexer) -> Plugin:
        """The plugin that is tried; it provides Archive, and may ask the indexer to index."""

    def made(self, folder: Path, files: dict[str, str] = NOTES, **gateway: Any) -> tuple[Kernel, Agent, Any]:
        """A deployment with this archive alone, its agent with these files, and the archive."""
        agent = agent_of(folder, files, gateway)
        indexing = Indexing()
        plugin = self.archive(indexer=indexing)
        hooks, unfit = Hooks.over({"archive": plugin})
        assert not unfit, unfit
        kernel = evolve(kernel_of(folder), plugins={"archive": plugin}, hooks=hooks, archive=cast("Archive", plugin))
        indexing.kernel = kernel
        return kernel, kernel.agent(agent.id), plugin

    def test_what_is_indexed_is_found(self, tmp_path: Path) -> None:
        _, agent, archive = self.made(tmp_path)
        for query, path in {
            "key shed": "MEMORY.md",
            "Ann": "USER.md",
            "when does the kiln fire": "memory/kiln.md",
            "cafe": "memory/kiln.md",
            "CAFE\u0301": "memory/kiln.md",
            "glove": "memory/archive/completed.md",
            "東京": "memory/漢字.md",
            "の桜": "memory/漢字.md",
            "ชาว": "memory/漢字.md",
        }.items():
            paths = [hit.path for hit in archive.search(agent.corpus, query)]
            keeps(FOUND, path in paths, f"{query!r} finds {paths} and not {path}")

    def test_words_are_alternatives(self, tmp_path: Path) -> None:
        _, agent, archive = self.made(tmp_path)
        found = {hit.path for hit in archive.search(agent.corpus, "kiln glove unheard-of")}
        keeps(QUERY, {"memory/kiln.md", "memory/archive/completed.md"} <= found, f"only {found} was found")

    @pytest.mark.parametrize("query", HOSTILE, ids=range(len(HOSTILE)))
    def test_any_text_is_a_query(self, tmp_path: Path, query: str) -> None:
        _, agent, archive = self.made(tmp_path)
        hits = archive.search(agent.corpus, query)
        keeps(QUERY, isinstance(hits, list), f"{query[:40]!r} answers {type(hits).__name__}")
        if "kiln" not in query:
            keeps(QUERY, not hits, f"{query[:40]!r} finds {[hit.path for hit in hits]}")

    def test_a_hit_says_where_it_stands(self, tmp_path: Path) -> None:
        _, agent, archive = self.made(tmp_path)
        for query in ("kiln glaze", "van", "東京", "key"):
            for hit in archive.search(agent.corpus, query):
                lines = (agent.files.root / hit.path).read_text("utf-8").split("\n")[hit.start_line - 1 : hit.end_line]
                keeps(EXACT, lines, f"{hit.path} has no lines {hit.start_line} to {hit.end_line}")
                words = [word for word in hit.snippet.replace("…", " ").split() if word not in " ".join(lines)]
                keeps(EXACT, not words, f"{words} of the snippet of {hit.path} do not stand in its lines")

    def test_a_query_can_be_explained(self, tmp_path: Path) -> None:
        _, agent, archive = self.made(tmp_path)
        told = "\n".join(archive.explain(agent.corpus, "kiln unheard-of"))
        keeps(QUERY, "kiln" in told, f"the word of a query is not named: {told!r}")

    def test_the_best_come_first_and_no_more_than_asked(self, tmp_path: Path) -> None:
        files = {f"memory/n{number}.md": f"- kiln{' fires' * number}\n" for number in range(30)}
        _, agent, archive = self.made(tmp_path, files)
        hits = archive.search(agent.corpus, "kiln fires", 5)
        keeps(FOUND, len(hits) == 5, f"{len(hits)} hits where 5 were asked for")
        scores = [hit.score for hit in hits]
        keeps(FOUND, scores == sorted(scores, reverse=True), f"the scores do not fall: {scores}")

    def test_the_index_follows_the_files(self, tmp_path: Path) -> None:
        kernel, agent, archive = self.made(tmp_path)
        archive.search(agent.corpus, "kiln")
        note = agent.files.root / "memory/kiln.md"
        note.write_text("- the oven is repaired\n")
        (agent.files.root / "memory/archive/completed.md").unlink()
        (agent.files.root / "memory/new.md").write_text("- tulips\n")
        kernel.index(agent.corpus)
        for query, path in {"oven": "memory/kiln.md", "tulips": "memory/new.md"}.items():
            found = [hit.path for hit in archive.search(agent.corpus, query)]
            keeps(FRESH, path in found, f"{query!r} finds {found}")
        for query in ("glaze", "glove"):
            found = [hit.path for hit in archive.search(agent.corpus, query)]
            keeps(FRESH, not found, f"{query!r} is gone from the files, and finds {found}")

    def test_no_corpus_answers_for_another(self, tmp_path: Path) -> None:
        _, one, archive = self.made(tmp_path / "1")
        other = agent_of(tmp_path / "2", {"memory/x.md": "- tulips\n"})
        keeps(APART, not archive.search(other.corpus, "kiln"), "one agent finds what another knows")
        keeps(APART, not archive.search(one.corpus, "tulips"), "one agent finds what another knows")

    def test_every_entry_is_held_by_its_hash(self, tmp_path: Path) -> None:
        kernel, agent, archive = self.made(tmp_path)
        kernel.index(agent.corpus)
        hashes = {entry_hash(text[e.start : e.end]) for text in NOTES.values() for e in entries(text)}
        missing = hashes - archive.holds(agent.corpus, hashes)
        keeps(KEPT, not missing, f"{len(missing)} of {len(hashes)} entries are not held")
        keeps(KEPT, not archive.holds(agent.corpus, {"0" * 64}), "an entry is held that nowhere stands")

    def test_lines_are_read_exactly(self, tmp_path: Path) -> None:
        _, agent, archive = self.made(tmp_path, {"memory/a.md": "1\n2\n3\n4\n5\n", "memory/a..b.md": "x\n"})
        some = archive.get(agent.corpus, "memory/a.md", 2, 2)
        told = (some.text.rstrip("\n"), some.start, some.end, some.total, some.truncated)
        keeps(EXACT, told == ("2\n3", 2, 3, 5, True), f"lines 2 and 3 of 5 come as {told}")
        beyond = archive.get(agent.corpus, "memory/a.md", 99, 2)
        keeps(EXACT, (beyond.text, beyond.truncated) == ("", False), f"line 99 of 5 comes as {beyond}")
        keeps(EXACT, archive.get(agent.corpus, "memory/a..b.md").text.strip() == "x", "a dotted name is not read")

    @pytest.mark.parametrize(
        "path",
        [
            *("", ".", "..", "/etc/passwd", "memory/../AGENTS.md", "AGENTS.md", "./memory/kiln.md", "memory//kiln.md"),
            *("memory/x.txt", "memory/link.md", "memory/out/a.md", "memory\\kiln.md", "memory/kiln.md\0", "memory"),
            *(".dreaming/DREAMS.md", "memory/.hidden.md", "Memory.md/", "memory/gone.md", "~/x.md", "CLAUDE.md"),
        ],
    )
    def test_only_memory_files_are_read(self, tmp_path: Path, path: str) -> None:
        _, agent, archive = self.made(tmp_path)
        (tmp_path / "out").mkdir()
        (tmp_path / "out" / "a.md").write_text("secret")
        (agent.files.root / "memory/link.md").symlink_to(tmp_path / "out" / "a.md")
        (agent.files.root / "memory/out").symlink_to(tmp_path / "out")
        (agent.files.root / "memory/x.txt").write_text("secret")
        try:
            text = archive.get(agent.corpus, path).text
        except (Refused, NotFound):
            return
        keeps(CONFINED, False, f"{path!r} answers {text[:40]!r}")

    def test_off_means_off(self, tmp_path: Path) -> None:
        kernel, agent, _ = self.made(tmp_path, knowledge={"archive": {"enabled": False}})
        before = sorted(tmp_path.rglob("*"))
        kernel.index(agent.corpus)
        keeps(OFF, sorted(tmp_path.rglob("*")) == before, "a file was made while the archive is off")
        keeps(OFF, not kernel.tools(agent), "a tool is offered while the archive is off")
