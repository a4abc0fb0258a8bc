"""The real `claude` finds and calls the tools; the model is scripted, and nothing but this machine is contacted."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from .fake_anthropic import FakeAnthropic, text, tool_use
from .strangers import NAMES, Served

CLAUDE = shutil.which("claude")
pytestmark = pytest.mark.skipif(CLAUDE is None, reason="no `claude` on PATH")


def test_claude_offers_the_tools_to_the_model_and_calls_them(tmp_path: Path) -> None:
    with closing(Served(tmp_path)) as served, FakeAnthropic() as fake:
        fake.push(
            tool_use("mcp__reverie__weather", {"name": "東京"}),
            tool_use("mcp__reverie__weather", {"nam": "東京"}),
            tool_use("mcp__reverie__refuse", {}),
            text("it rains"),
        )
        words = served.command("mcp", "--agent", "alfred")
        server = {"type": "stdio", "command": words[0], "args": words[1:], "env": served.environ}
        done = subprocess.run(
            [
                str(CLAUDE), "-p", "How is the weather?", "--output-format", "json", "--strict-mcp-config",
                "--mcp-config", json.dumps({"mcpServers": {"reverie": server}}), "--allowedTools", "mcp__reverie__*",
                "--setting-sources", "", "--no-session-persistence",
            ],
            env={**fake.claude_env(str(tmp_path / "claude")), "PATH": os.environ["PATH"]},
            cwd=served.workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["result"] == "it rains" and not fake.unscripted
    offered = {tool["name"] for tool in fake.calls[0].body["tools"] if tool["name"].startswith("mcp__reverie__")}
    assert offered == {f"mcp__reverie__{name}" for name in NAMES}
    told = json.dumps([call.body["messages"][-1] for call in fake.calls], ensure_ascii=False)
    for sentence in ("東京", "雨", "did you mean", "it rains too hard to say"):
        assert sentence in told
