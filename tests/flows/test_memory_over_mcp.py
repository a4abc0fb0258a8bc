"""An agent searches and reads its memory through a real client and the real archive."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from .launcher import furnish
from .test_mcp import Caller

NOTE = "# Kiln\n\n## Schedule\n\n- [2026-03-04] the Café kiln fires at dawn\n- 茶室の鍵は台所\n"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = furnish(tmp_path / "alfred", MEMORY="# Memory\n\n- the spare key hangs in the shed\n")
    (root / "memory").mkdir()
    (root / "memory" / "kiln.md").write_text(NOTE)
    return root


@contextmanager
def served(workspace: Path, mode: str) -> Iterator[Caller]:
    code = "from reverie.cli import main; main(['mcp', '--workspace', sys.argv[1]])"
    words = ["-c", f"import sys; {code}", str(workspace)]
    environ = {"HOME": str(workspace.parent), "REVERIE_HOME": str(workspace.parent / "home")}
    parameters = StdioServerParameters(command=sys.executable, args=words, env=environ)
    with Path("/dev/null").open("w") as errors, start_blocking_portal() as portal:
        transport = stdio_client(parameters, errlog=errors)
        with portal.wrap_async_context_manager(Client(transport, mode=mode, read_timeout_seconds=30)) as client:  # type: ignore[arg-type]
            yield Caller(portal, client)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_an_agent_finds_and_reads_what_its_prompt_does_not_hold(workspace: Path, mode: str) -> None:
    with served(workspace, mode) as caller:
        tools = caller.list()
        assert {"memory_search", "memory_get"} <= set(tools)
        assert tools["memory_search"].annotations.read_only_hint
        assert "memory_search" in str(caller.client.instructions)
        found = caller.call("memory_search", query="when does the CAFE\u0301 kiln fire?", maxResults="many")
        [hit] = found.structured_content["hits"][:1]
        assert (hit["path"], hit["originClass"], hit["date"]) == ("memory/kiln.md", "agent", "2026-03-04")
        assert hit["headings"] == ["Kiln", "Schedule"] and "Café kiln" in hit["snippet"]
        assert "Café" in found.content[0].text and json.loads(found.content[0].text) == found.structured_content
        assert caller.call("memory_search", query="の鍵").structured_content["hits"][0]["path"] == "memory/kiln.md"
        assert caller.call("memory_search", query="!!!").structured_content == {
            "hits": [],
            "notice": "nothing to search for",
        }
        read = caller.call("memory_get", path="memory/kiln.md", **{"from": 5, "lines": 1}).structured_content
        assert read["text"] == "- [2026-03-04] the Café kiln fires at dawn"
        assert (read["from"], read["to"], read["totalLines"], read["truncated"]) == (5, 5, 6, True)
        assert "AGENTS.md" in caller.refused("memory_get", path="AGENTS.md")
        strange = caller.call("memory_search", query="kiln", corpus="everything").structured_content
        assert strange["hits"] == [] and "there is no corpus 'everything'" in strange["notice"]


def test_the_index_is_brought_up_to_date_when_the_server_starts(workspace: Path) -> None:
    with served(workspace, "auto") as caller:
        caller.call("memory_search", query="kiln")
    (workspace / "memory" / "new.md").write_text("- tulips are planted in October\n")
    with served(workspace, "auto") as caller:
        end = time.monotonic() + 20
        hits: list[object] = []
        while not hits and time.monotonic() < end:
            hits = caller.call("memory_search", query="tulips").structured_content["hits"]
        assert hits
