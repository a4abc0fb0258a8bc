"""A small world: an agent made of a few files, and the letter of a run that is about to apply ops."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reverie import night
from reverie.config import Config
from reverie.kernel import Kernel
from reverie.runlog import new_run
from reverie_hookspecs import Agent, Dream, Op

ID = "alfred"


def agent_of(
    folder: Path, files: Mapping[str, str | bytes], gateway: Mapping[str, Any] | None = None, **own: Any
) -> Agent:
    """An agent whose workspace, below ``folder``, holds these files; AGENTS.md is there in any case.

    ``gateway`` is the gateway's part of a config.json, ``own`` what the agent's entry says besides.
    """
    root = folder / ID
    root.mkdir(parents=True, exist_ok=True)
    for path, content in {"AGENTS.md": "Be kind.\n", **files}.items():
        file = root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape"))
    text = {"gateway": dict(gateway or {}), "agents": [{"id": ID, "workspace": str(root), **own}]}
    (folder / "config.json").write_text(json.dumps(text), "utf-8")
    return kernel_of(folder).agent(ID)


def kernel_of(folder: Path) -> Kernel:
    """The deployment of the config.json there, without any plugin."""
    return Kernel.load(Config.load(folder / "config.json", folder, {}), {}, {})


def dream_of(agent: Agent, *ops: Op) -> Dream:
    """The letter of a run that carries these ops, with the sizes of the memory files."""
    kernel = Kernel.load(Config.load(None, agent.files.root, {}), {}, {})
    run = new_run(agent.id, "dream", "UTC", kernel.clock())
    return night.measure(Dream(agent, run, ops=ops))
