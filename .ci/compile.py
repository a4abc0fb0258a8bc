"""Compile the sources when they are installed for editing.

An installer compiles the modules of a wheel and leaves those of an editable install to the first start, or, where
PYTHONDONTWRITEBYTECODE is set, to every start. Starting fast is part of what reverie promises to Claude Code's hooks.
"""

from __future__ import annotations

import compileall
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOTS = ("framework", "hookspecs", "plugins")


class Compile(BuildHookInterface[Any]):
    """Runs at the build of an editable install and nowhere else."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile each root in place; what cannot be written is left to the interpreter."""
        if version == "editable":
            for root in ROOTS:
                compileall.compile_dir(Path(self.root) / root, quiet=2)
