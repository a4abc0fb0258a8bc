"""Which version of the layout a configuration has, and what an older one meant."""

from __future__ import annotations

from typing import Any, Final

from .document import Tree
from .outline import section
from .remark import Remark, shown

Version = tuple[int, int, int]
CURRENT: Final[Version] = (1, 0, 26)
AUTO: Final[Version] = (1, 0, 24)
"""From this version on ``auto`` is the default of both modes, and a ``propose`` is somebody's wish."""
KEY: Final = "configVersion"
MODES: Final = ("dreaming", "knowledge.shared")
"""The sections of ``gateway`` whose ``mode`` had another default."""


def named(tree: Tree) -> Any:
    """What stands at ``configVersion``, beside ``gateway`` or in it; None if nothing does."""
    value = tree.get(KEY)
    return section(tree, "gateway").get(KEY) if value is None else value


def version_of(tree: Tree) -> Version | None:
    """The version a configuration names; None if it names none, ValueError if that is no version."""
    value = named(tree)
    if value is None:
        return None
    numbers = value.split(".") if isinstance(value, str) and value.isascii() else []
    if len(numbers) != 3 or not all(number.isdigit() and len(number) < 10 for number in numbers):
        raise ValueError('three numbers such as "1.0.26"')
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def written(version: Version) -> str:
    """``1.0.26``"""
    return ".".join(map(str, version))


def modernised(tree: Tree) -> tuple[Tree, list[Remark]]:
    """The tree as the current version reads it, and what is to be said about its age.

    One of unknown age is read as it is: a ``propose`` that may be somebody's wish stays.
    """
    try:
        version = version_of(tree)
    except ValueError as expected:
        return tree, [
            Remark(KEY, f"{shown(named(tree))} is not {expected}; the file is read as it is, never rewritten")
        ]
    if version is None or version == CURRENT:
        return tree, []
    if version > CURRENT:
        newer = f"{written(version)} is newer than {written(CURRENT)}; what is known is used, and nothing rewritten"
        return tree, [Remark(KEY, newer)]
    older = (
        f'{written(version)} is older than {written(CURRENT)}; it is read as "reverie config migrate" would write it'
    )
    renewed, remarks = renewed_modes(tree) if version < AUTO else (tree, [])
    return renewed, [Remark(KEY, older), *remarks]


def renewed_modes(tree: Tree) -> tuple[Tree, list[Remark]]:
    """The tree with the retired default ``propose`` of the gateway's modes made ``auto``, and one remark on it."""
    retired = [path for path in MODES if section(tree, f"gateway.{path}").get("mode") == "propose"]
    for path in retired:
        tree = replaced(tree, f"gateway.{path}.mode".split("."), "auto")
    if not retired:
        return tree, []
    where = " and ".join(f"gateway.{path}.mode" for path in retired)
    retired_default = f'"propose" was the default before {written(AUTO)}, and counts as "auto"'
    said = f"{retired_default}; to keep it, set it again once the file is migrated"
    return tree, [Remark(where, said)]


def replaced(tree: Tree, names: list[str], value: Any) -> Tree:
    """A copy of the tree with another value at a path; what is beside it is shared."""
    first, *rest = names
    return tree | {first: replaced(tree[first], rest, value) if rest else value}
