"""Bringing an older config.json up to date: keys are added, none is overwritten, and nothing is lost by it."""

from __future__ import annotations

import json
import logging
import os
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

from attrs import evolve, frozen

from reverie_hookspecs.blocks.documented import DOCUMENTED

from .document import BOM, Document, Tree, load_bytes, parse, refuse
from .outline import TIMEZONE, Key, outline_of, section
from .remark import Remark, shown
from .replacement import back_up, replace
from .version import AUTO, CURRENT, KEY, MODES, named, renewed_modes, version_of, written

logger = logging.getLogger(__name__)
VAULTS: Final = "knowledge.shared.root"
"""Its default hangs on the home, so null is added: not set, for every reader."""


class Migrated(NamedTuple):
    """A tree as the current version writes it, the dotted keys that were added, and what is to be said."""

    tree: Tree
    added: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()


@frozen
class Migration:
    """What became of a file: written, with a backup beside it, or left alone for a ``reason``, if it was to change."""

    file: Path
    before: str
    after: str
    added: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()
    backup: Path | None = None
    reason: str = ""

    @property
    def written(self) -> bool:
        """Whether the file was changed."""
        return self.backup is not None

    @property
    def told(self) -> list[str]:
        """What was changed and added, one line each, or why nothing was; none if there was nothing to do."""
        lines = [str(remark) for remark in self.remarks]
        if self.reason:
            return [*lines, f"nothing was written: {self.reason}"]
        if self.before == self.after:
            return lines
        if not self.written:
            return [
                f"{KEY} is {self.before} and would be {self.after}",
                *lines,
                *(f"would add {key}" for key in self.added),
            ]
        changed = f"{KEY} was {self.before} and is {self.after}; what stood there is kept in {self.backup}"
        return [changed, *lines, *(f"added {key}" for key in self.added)]


# What changes: pure


def migrated(tree: Tree) -> Migrated:
    """The tree brought up to date: missing keys at their defaults, the retired default renewed, the version named.

    A current or newer tree, and one whose version cannot be read, comes back as it is.
    """
    try:
        version = version_of(tree)
    except ValueError as expected:
        return Migrated(tree, (), (Remark(KEY, f"{shown(named(tree))} is not {expected}"),))
    if version and version > CURRENT:
        return Migrated(tree, (), (Remark(KEY, f"{written(version)} is newer than {written(CURRENT)}"),))
    if version == CURRENT or not isinstance(tree.get("gateway"), dict):
        return Migrated(tree)
    renewed, remarks = renewed_modes(tree) if version and version < AUTO else (tree, [])
    kept = () if version else wished(tree)
    filled, added = completed(renewed)
    return Migrated(stamped(filled), added, (*remarks, *kept))


def completed(tree: Tree) -> tuple[Tree, tuple[str, ...]]:
    """The tree with every documented key that stands nowhere, and those keys; null and odd values stay."""
    added = []
    gateway = tree["gateway"]
    wanted = [(f"gateway.{key.dotted}", initial(key, gateway)) for key in outline_of(DOCUMENTED) if _shared(key)]
    for path, value in (*wanted, ("plugins", {})):
        grown = with_key(tree, path.split("."), value)
        if grown is not tree:
            tree = grown
            added.append(path)
    return tree, tuple(added)


def _shared(key: Key) -> bool:
    return "gateway" in key.levels


def initial(key: Key, gateway: Tree) -> Any:
    """What a key is added as, so that nothing changes: a zone that fell to ``gateway.timezone`` still does."""
    if key.dotted == VAULTS or (key.zone and gateway.get(TIMEZONE) not in (None, "UTC")):
        return None
    return key.default


def with_key(tree: Tree, names: list[str], value: Any) -> Tree:
    """The tree with a value at a path where nothing stands; itself, if something does, or is in the way."""
    first, *rest = names
    if not rest:
        return tree if first in tree else tree | {first: value}
    inner = tree.get(first, {})
    grown = with_key(inner, rest, value) if first not in tree or isinstance(inner, dict) else inner
    return tree if grown is inner else tree | {first: grown}


def stamped(tree: Tree) -> Tree:
    """The tree with the current version where the old one stood, or else at the top."""
    version = written(CURRENT)
    if tree.get(KEY) is None and section(tree, "gateway").get(KEY) is not None:
        return tree | {"gateway": tree["gateway"] | {KEY: version}}
    return tree | {KEY: version} if KEY in tree else {KEY: version} | tree


def wished(tree: Tree) -> tuple[Remark, ...]:
    """A word on each ``propose`` of a file that names no version: it may be somebody's wish."""
    said = f'"propose" is kept, since the file names no version; before {written(AUTO)} it was the default'
    paths = (f"gateway.{path}" for path in MODES if section(tree, f"gateway.{path}").get("mode") == "propose")
    return tuple(Remark(f"{path}.mode", said) for path in paths)


# How it is written


def migrate(file: Path, *, rehearsal: bool = False) -> Migration:
    """Bring a file up to date if it is older, a backup first; a link is followed to what it names.

    One that could not be written as it was read is left alone, and so is one that somebody else keeps writing.
    A rehearsal writes nothing and tells what would be. Raises ConfigError if the file cannot be read.
    """
    target = Path(os.path.realpath(file))  # Path.resolve raises for a link to itself
    migration = attempt(target, rehearsal)
    if migration.reason == CONTESTED:
        migration = attempt(target, rehearsal)
    for line in migration.told:
        logger.info("%s: %s", file, line)
    return migration


CONTESTED: Final = "somebody else changed it meanwhile; try again"


def attempt(file: Path, rehearsal: bool) -> Migration:
    """Read, decide, keep the old bytes, compare and replace."""
    data = load_bytes(file)
    document = parse(data, file)
    result = migrated(document.tree)
    stood = named(document.tree)
    before = "not named" if stood is None else shown(stood).strip('"')
    plan = Migration(file, before, written(CURRENT), result.added, result.remarks)
    if result.tree == document.tree:
        return evolve(plan, after=before, reason=idle(result, document.tree))
    if obstacle := unrepeatable(data, document):
        return evolve(plan, reason=f"{obstacle}, which could not be written back as it is; mend it, then migrate")
    if rehearsal:
        return plan
    try:
        backup = back_up(file, data)
        replaced = replace(file, data, encoded(result.tree, data))
    except OSError as error:
        return evolve(plan, reason=f"{error.strerror or error}; make the file and its folder writable")
    return evolve(plan, backup=backup) if replaced else evolve(plan, reason=CONTESTED)


def idle(result: Migrated, tree: Tree) -> str:
    """Why a file that is not of the current version is left alone, or ""."""
    if not isinstance(tree.get("gateway"), dict):
        return 'there is no "gateway" object to bring up to date'
    return "its version is none that this reverie can migrate" if result.remarks else ""


def encoded(tree: Tree, like: bytes) -> bytes:
    """The tree as the bytes of a file, in the manner of the old ones: byte order mark and newlines."""
    text = json.dumps(tree, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if b"\r\n" in like:
        text = text.replace("\n", "\r\n")
    return (BOM if like.startswith(BOM) else b"") + text.encode()


def unrepeatable(data: bytes, document: Document) -> str:
    """What of a file would not come back the same from being read and written, or ""."""
    if document.repeated:
        return f"{document.repeated[0]} stands twice"
    try:
        if exactly(encoded(document.tree, b"")) == exactly(data.removeprefix(BOM)):
            return ""
    except (ValueError, ArithmeticError, RecursionError):
        pass
    return "it holds a number, a string or a nesting beyond what most programs read"


def exactly(data: bytes) -> Any:
    """A JSON text with its numbers as they are written and its names in their order."""
    return json.loads(data, object_pairs_hook=tuple, parse_float=Decimal, parse_int=Decimal, parse_constant=refuse)
