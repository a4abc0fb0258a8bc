"""Plugins with tools, as another distribution would bring them: its modules and metadata in one folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from .launcher import furnish

METADATA = "Metadata-Version: 2.1\nName: strangers\nVersion: 1.0\n"
POINTS = """[reverie]
weather = stranger_tools:Weather
apart = stranger_tools:Apart
unimportable = stranger_fault:Anything
"""
FAULT = 'print("noise of a fault")\nraise RuntimeError("no luck today")\n'
TOOLS = '''
"""Tools of all tempers, in a module that prints when it is imported."""

import os
import subprocess
import time
from typing import Literal

from attrs import define, field, frozen

from reverie_hookspecs import Agent, NotFound, Plugin, Policy, Refused, Tool, hookimpl

print("noise at import")
os.write(1, b"raw noise at import\\n")


@frozen
class City:
    name: str = field(metadata={"about": "Which city."})
    max_days: int = field(default=1, metadata={"min": 1, "max": 7})
    unit: Literal["mm", "inch"] = "mm"


@frozen
class Pause:
    seconds: float = 0.0


@frozen
class Nothing:
    pass


def weather(city):
    print("noise in a call")
    os.write(1, b"raw noise in a call\\n")
    subprocess.run(["echo", "noise of a child"], check=True)
    assert not subprocess.run(["cat"], capture_output=True, check=True).stdout  # a child finds standard input empty
    return {"city": city.name, "days": ["雨 \\"wet\\""] * city.max_days, "unit": city.unit}


def refuse(params):
    raise Refused("it rains too hard to say; ask again tomorrow")


def lose(params):
    raise NotFound("no station is called that: \\udcff")


def fail(params):
    return {}["the secret key"]


def leave(params):
    raise SystemExit(3)


def nap(pause):
    time.sleep(pause.seconds)
    return "slept"


@define(eq=False)
class Weather(Plugin):
    @hookimpl(specname="tool_registry")
    def weather(self, agent: Agent) -> Tool:
        return Tool("weather", "The weather of a city.", City, weather, open_world=True)

    @hookimpl(specname="tool_registry")
    def nap(self, agent: Agent) -> Tool:
        return Tool("nap", "Sleep.", Pause, nap, reads_only=False)

    @hookimpl(specname="tool_registry")
    def drown(self, agent: Agent) -> Tool:
        return Tool("drown", "Flood the archive.", Nothing, lambda params: None, reads_only=False, destructive=True)

    @hookimpl(specname="tool_registry")
    def refuse(self, agent: Agent) -> Tool:
        return Tool("refuse", "Refuse.", Nothing, refuse)

    @hookimpl(specname="tool_registry")
    def lose(self, agent: Agent) -> Tool:
        return Tool("lose", "Lose.", Nothing, lose)

    @hookimpl(specname="tool_registry")
    def fail(self, agent: Agent) -> Tool:
        return Tool("fail", "Fail.", Nothing, fail)

    @hookimpl(specname="tool_registry")
    def leave(self, agent: Agent) -> Tool:
        return Tool("leave", "Leave.", Nothing, leave)

    @hookimpl(specname="tool_registry")
    def puzzle(self, agent: Agent) -> Tool:
        return Tool("puzzle", "Answer a riddle.", Nothing, lambda params: object())

    @hookimpl(specname="tool_registry")
    def halve(self, agent: Agent) -> Tool:
        return Tool("halve", "Answer half a character.", Nothing, lambda params: "tea \\ud83c")

    @hookimpl(specname="tool_registry")
    def who(self, agent: Agent) -> Tool:
        about = agent.conversation
        return Tool("who", "Who speaks.", Nothing, lambda params: about and [about.channel, about.chat])

    @hookimpl(specname="tool_registry")
    def opaque(self, agent: Agent) -> Tool:
        return Tool("opaque", "Nobody can say what it takes.", dict, lambda params: None)

    @hookimpl(specname="tool_registry")
    def fickle(self, agent: Agent) -> Tool | None:
        there = "fickle" in agent.files.read("MEMORY.md").text
        return Tool("fickle", "Here today.", Nothing, lambda params: 1) if there else None


@define(eq=False)
class Apart(Plugin):
    """Keeps nothing apart, but sits where that is done."""

    slot = "isolation"
    provides = (Policy,)

    def refuses(self, agent: Agent, value: object) -> str | None:
        return None if getattr(value, "name", "") == "who" else "not in a conversation"
'''
NAMES = [
    "drown", "fail", "halve", "leave", "lose", "nap", "puzzle", "refuse", "weather", "who",
]  # fmt: skip
"""The tools that are offered at first."""


def install(place: Path) -> Path:
    """The folder of a distribution, to be put on the path."""
    info = place / "strangers-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(METADATA)
    (info / "entry_points.txt").write_text(POINTS)
    (place / "stranger_tools.py").write_text(TOOLS, "utf-8")
    (place / "stranger_fault.py").write_text(FAULT)
    return place


class Served:
    """A workspace, a home with a configuration, and what starts a server for them."""

    def __init__(self, place: Path) -> None:
        self.workspace = furnish(place / "alfred", MEMORY="- tea at four\n")
        self.home = place / "home"
        self.home.mkdir()
        self.started: list[subprocess.Popen[str]] = []
        self.configure()
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(place),
            "REVERIE_HOME": str(self.home),
            "PYTHONPATH": str(install(place / "strangers")),
            "PYTHONWARNINGS": "error",
        }

    def configure(self, plugins: dict[str, Any] | None = None, **entry: Any) -> None:
        agent = {"id": "alfred", "workspace": str(self.workspace), **entry}
        choice = {"*": False, "weather": True, "unimportable": True, **(plugins or {})}
        text = {"gateway": {}, "agents": [agent], "plugins": choice}
        (self.home / "config.json").write_text(json.dumps(text))

    def command(self, *words: object) -> list[str]:
        return [str(Path(sys.executable).with_name("reverie")), *(str(word) for word in words)]

    def start(self, *words: object, **environ: str) -> subprocess.Popen[str]:
        """A server, spoken to by hand."""
        pipe, environ = subprocess.PIPE, {**self.environ, **environ}
        command = self.command("mcp", *words)
        server = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, encoding="utf-8")
        self.started.append(server)
        return server

    def close(self) -> None:
        """End whatever still runs."""
        for server in self.started:
            server.kill()
            for stream in (server.stdin, server.stdout, server.stderr):
                with suppress(BrokenPipeError):
                    if stream is not None:
                        stream.close()
            server.wait()
