"""Bringing an older config.json up to date: keys are added, none is overwritten, and nothing is lost by it."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from attrs import frozen

from reverie_hookspecs.blocks import DOCUMENTED

from .document import BOM, Tree, load_bytes, parse, refuse
from .outline import TIMEZONE, Key, Outline, section
from .remark import Remark, shown
from .replacement import back_up, replace
from .version import CURRENT, KEY, MODES, Version, modernised, named, renewed_modes, version_of, written

logger = logging.getLogger(__name__)
ABSENT = {"knowledge.shared.root": None}
"""What is added where the default hangs on the home: null, which every reader takes for not set."""


class Migrated(NamedTuple):
    """A tree as the current version writes it, the dotted keys that were added, and what is to be said."""

    tree: Tree
    added: tuple[str, ...]
    remarks: tuple[Remark, ...]


@frozen
class Migration:
    """What became of a file: ``written`` with a ``backup`` beside it, or left alone, and ``reason`` says why."""

    file: Path
    before: str
    after: str
    added: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    backup: Path | None = None
    reason: str = ""

    @property
    def written(self) -> bool:
        return self.backup is not None

    @property
    def told(self) -> list[str]:
        """One line each: what was changed, added and kept, or why nothing was."""
        lines = [str(remark) for remark in self.remarks]
        if self.reason:
            return [*lines, f"nothing was written: {self.reason}"]
        if not self.written:
            return lines
        return [f"{self.before} became {self.after}", *lines, *(f"added {key}" for key in self.added), f"backup {self.backup}"]


def migrate(file: Path) -> Migration:
    """Bring a file up to date where it is older, a backup first; a link is followed to what it names.

    Raises ConfigError if the file cannot be read. One that cannot be written as it was read is left alone.
    """
    target = file.resolve()
    for _ in range(2):  # a file that changes while it is migrated is decided on once more
        migration, done = _attempt(target)
        if done:
            break
    for line in migration.told:
        logger.info("%s: %s", file, line)
    return migration


def _attempt(file: Path) -> tuple[Migration, bool]:
    data = load_bytes(file)
    tree = parse(data, file).tree
    result = migrated(tree)
    before = age(tree)
    if result.tree == tree:
        return Migration(file, before, before, remarks=result.remarks), True
    plan = Migration(file, before, written(CURRENT), result.added, result.remarks)
    ...
