"""The config.json that ships with reverie: every documented key at its default, save ``memory.writeRouting``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from reverie_hookspecs.errors import ConfigError

from .document import Tree
from .replacement import create


def template() -> Tree:
    """The shipped configuration, anew each time; its list of agents is empty, and a usable one needs one."""
    tree: Tree = json.loads((files("reverie") / "templates" / "config.json").read_text("utf-8"))
    return tree


def write_template(file: Path, agents: Iterable[Mapping[str, Any]] = ()) -> bool:
    """Write the shipped configuration with these agents; False, and nothing written, where a file is already.

    It is readable by its owner alone, since keys may be put into it. Raises ConfigError if it cannot be written.
    """
    text = json.dumps(template() | {"agents": [dict(agent) for agent in agents]}, indent=2, ensure_ascii=False)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return create(file, f"{text}\n".encode())
    except OSError as error:
        raise ConfigError([f"{file} cannot be written: {error.strerror}; make its folder writable"]) from None
