"""YAML front matter: where it ends, and what it says; whatever is wrong with it is a value."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from .line import unified

LARGEST: Final = 65_536
"""Bytes of front matter that are still parsed."""
MOST_ALIASES: Final = 8
DEEPEST: Final = 32

_OPENING: Final = re.compile(r"---[ \t]*\n(?=[\w\"'][^\n:]*:(?:[ \t\n]|\Z))")
_CLOSING: Final = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)


class FrontMatter(NamedTuple):
    """What stands before the text: ``end`` is the offset where the text begins, 0 if there is no front matter;
    ``error`` says in words why ``data`` is empty although there is some."""

    data: Mapping[str, Any]
    end: int
    error: str = ""


def body_start(text: str) -> int:
    r"""Where the text begins after its front matter: ``---`` on the first line, a key on the next, then ``---``.

    >>> body_start("---\nname: x\n---\n# A"), body_start("---\n\n# A\n\n---\n")
    (16, 0)
    """
    if not text.startswith("---"):
        return 0
    plain = unified(text)
    opening = _OPENING.match(plain)
    closing = opening and _CLOSING.search(plain, opening.end())
    return closing.end() if closing else 0


def read_front_matter(text: str) -> FrontMatter:
    """The front matter of a note; keys that are no strings are left out."""
    end = body_start(text)
    if not end:
        return FrontMatter({}, 0)
    lines = unified(text[:end]).split("\n")[1:]
    source = "\n".join(lines[: -1 if lines[-1].strip() else -2])
    if len(source.encode("utf-8", "surrogatepass")) > LARGEST:
        return FrontMatter({}, end, f"front matter is over {LARGEST // 1024} KiB")
    data, error = load(source)
    if not error and not isinstance(data, dict | None):
        error = "front matter is no mapping"
    return FrontMatter({}, end, error) if error else FrontMatter(strings(data or {}), end)


def strings(data: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if isinstance(key, str)}


def load(source: str) -> tuple[Any, str]:
    """The value of a YAML document, or None and what is wrong with it; tags make no objects, aliases are bounded."""
    import yaml  # costs 15 ms, and most files have no front matter

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if error := excess(yaml.parse(source, loader)):
            return None, error
        return yaml.load(source, loader), ""
    except yaml.YAMLError as problem:
        return None, f"front matter is no YAML: {' '.join(str(problem).split())[:200]}"
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as problem:
        return None, f"front matter holds a value that cannot be read: {problem.__class__.__name__}"


def excess(events: Any) -> str:
    """Why the events of a document are too much to build, or ``""``."""
    from yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent

    aliases = depth = 0
    for event in events:
        aliases += isinstance(event, AliasEvent)
        depth += isinstance(event, CollectionStartEvent) - isinstance(event, CollectionEndEvent)
        if aliases > MOST_ALIASES:
            return f"front matter has more than {MOST_ALIASES} aliases"
        if depth > DEEPEST:
            return f"front matter is more than {DEEPEST} deep"
    return ""
