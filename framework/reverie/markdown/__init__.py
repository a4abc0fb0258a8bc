"""Markdown as memory files use it: pure functions over text whose newlines stay as they are.

Every name is loaded on first use; a hook of Claude Code needs two or three of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .block import Block as Block, blocks as blocks
    from .entry import Entry as Entry, entries as entries, entry_hash as entry_hash
    from .front_matter import (
        FrontMatter as FrontMatter,
        body_start as body_start,
        read_front_matter as read_front_matter,
    )
    from .heading import (
        Heading as Heading,
        HeadingPath as HeadingPath,
        Span as Span,
        headings as headings,
        pinned as pinned,
        pins as pins,
        sections as sections,
    )
    from .line import (
        LineCount as LineCount,
        ending as ending,
        line_end as line_end,
        newline as newline,
        split as split,
        unified as unified,
    )
    from .skill import Skill as Skill, read_skill as read_skill
    from .slug import is_slug as is_slug, tidied as tidied

ROOMS: Final = {
    "block": ("Block", "blocks"),
    "entry": ("Entry", "entries", "entry_hash"),
    "front_matter": ("FrontMatter", "body_start", "read_front_matter"),
    "heading": ("Heading", "HeadingPath", "Span", "headings", "pinned", "pins", "sections"),
    "line": ("LineCount", "ending", "line_end", "newline", "split", "unified"),
    "skill": ("Skill", "read_skill"),
    "slug": ("is_slug", "tidied"),
}
"""Module -> the names it holds."""

_HOME: Final = {name: room for room, names in ROOMS.items() for name in names}

__all__ = [
    "Block",
    "Entry",
    "FrontMatter",
    "Heading",
    "HeadingPath",
    "LineCount",
    "Skill",
    "Span",
    "blocks",
    "body_start",
    "ending",
    "entries",
    "entry_hash",
    "headings",
    "is_slug",
    "line_end",
    "newline",
    "pinned",
    "pins",
    "read_front_matter",
    "read_skill",
    "sections",
    "split",
    "tidied",
    "unified",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
