"""SKILL.md: what a menu shows of a skill, and where the skill came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .front_matter import read_front_matter


class Skill(NamedTuple):
    """One skill; ``body`` is the offset of its text, ``error`` says why only its folder's name is known."""

    name: str
    description: str = ""
    invocable: bool = True
    origin: str = ""
    metadata: Mapping[str, Any] = {}
    body: int = 0
    error: str = ""


def read_skill(text: str, folder: str) -> Skill:
    r"""What a SKILL.md says of itself; ``folder`` is its name where it has none.

    >>> read_skill("---\ndescription: Bake\nuser-invocable: false\n---\nText", "bake")[:3]
    ('bake', 'Bake', False)
    """
    front = read_front_matter(text)
    metadata = front.data.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    return Skill(
        line(front.data.get("name")) or folder,
        line(front.data.get("description")),
        front.data.get("user-invocable") not in (False, "false"),
        line(metadata.get("origin")),
        metadata,
        front.end,
        front.error,
    )


def line(value: Any) -> str:
    """A scalar as one line; anything else is nothing."""
    return " ".join(str(value).split()) if isinstance(value, str | int | float) and value is not True else ""
