"""The text of config.json as JSON, read strictly; what cannot be read is told with line, column and remedy."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final, NamedTuple

from reverie_hookspecs.errors import ConfigError

from .remark import printable

Tree = dict[str, Any]
BOM: Final = b"\xef\xbb\xbf"
DIGITS: Final = 600
"""An integer of more digits is beyond every setting; Python refuses to read one of 4,300."""
CONSTANT: Final = r'"(?:\\.|[^"\\])*"|(-?Infinity|NaN)'
"""A constant that is no JSON, outside of strings."""


class Document(NamedTuple):
    """What a file holds: the tree, and the paths of names that stand twice in one object, where the last wins."""

    tree: Tree
    repeated: tuple[str, ...] = ()


class NotNumber(ValueError):
    """NaN or Infinity, which Python's JSON would let pass."""


def load_bytes(file: Path) -> bytes:
    """The file's bytes, or ConfigError."""
    try:
        return file.read_bytes()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigError([f"{file} cannot be read: {reason}; name a file that can be"]) from None


def parse(data: bytes, file: Path) -> Document:
    """The object the bytes of a file stand for; ConfigError names file, line, column and remedy."""
    try:
        text = data.removeprefix(BOM).decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{file} is not UTF-8 at line {line}; save it as UTF-8"]) from None
    if not text.strip():
        raise ConfigError([f'{file} is empty; it takes at least {{"gateway": {{}}, "agents": [{{"id": "NAME"}}]}}'])
    try:
        return parse_text(text)
    except (ValueError, RecursionError) as error:
        raise ConfigError([f"{file} {fault(text, error)}"]) from None


def parse_text(text: str) -> Document:
    """The object a JSON text stands for; ValueError or RecursionError if it stands for none."""
    repeats: list[tuple[Tree, set[str]]] = []

    def unite(pairs: list[tuple[str, Any]]) -> Tree:
        united = dict(pairs)
        if len(united) != len(pairs):
            repeats.append((united, twice(pairs)))
        return united

    tree = json.loads(text, object_pairs_hook=unite, parse_int=whole, parse_constant=refuse)
    if not isinstance(tree, dict):
        raise ValueError("holds no object; the outermost value is to be { ... }")
    return Document(tree, tuple(paths_of(tree, repeats)) if repeats else ())


def twice(pairs: list[tuple[str, Any]]) -> set[str]:
    """The names that stand more than once."""
    once: set[str] = set()
    more: set[str] = set()
    for name, _ in pairs:
        (more if name in once else once).add(name)
    return more


def whole(digits: str) -> int | float:
    """An integer; one that is beyond every double is infinite, as it is elsewhere."""
    return int(digits) if len(digits) <= DIGITS else float(digits)


def refuse(constant: str) -> None:
    raise NotNumber(constant)


def paths_of(tree: Tree, repeats: list[tuple[Tree, set[str]]]) -> list[str]:
    """Where the objects with repeated names stand in the tree; those that were overruled stand nowhere."""
    names = {id(node): sorted(repeated) for node, repeated in repeats}
    found: list[str] = []
    todo: list[tuple[str, Any]] = [("", tree)]
    while todo:
        path, node = todo.pop()
        found += [joined(path, name) for name in names.get(id(node), ())]
        if isinstance(node, dict):
            todo += [(joined(path, name), inner) for name, inner in node.items()]
        elif isinstance(node, list):
            todo += [(f"{path}[{index}]", inner) for index, inner in enumerate(node)]
    return sorted(found)


def joined(path: str, name: str) -> str:
    """The path of a name below a path."""
    return f"{path}.{printable(name)}" if path else printable(name)


def fault(text: str, error: ValueError | RecursionError) -> str:
    """What is wrong with a text that is no JSON, and where, as the rest of a sentence."""
    if isinstance(error, RecursionError):
        return "is nested too deeply to be a configuration; take the nested value out"
    if isinstance(error, NotNumber):
        at = next((match.start() for match in re.finditer(CONSTANT, text, re.DOTALL) if match[1]), 0)
        return f"is not JSON at {place(text, at)}: {error} is no JSON number; write a finite one, or null"
    if isinstance(error, json.JSONDecodeError):
        at = error.pos + len(text[error.pos :]) - len(text[error.pos :].lstrip())
        return f"is not JSON at {place(text, at)}: {remedy(text, at) or complaint(error)}"
    return str(error)


def remedy(text: str, at: int) -> str:
    """A sentence for the usual mistakes, or ""."""
    before, after = text[:at].rstrip(), text[at:].lstrip(", \t\r\n")
    if text.startswith(("//", "/*", "#"), at):
        return "comments are not JSON; take this one out"
    if after.startswith(("}", "]")) and (before.endswith(",") or text.startswith(",", at)):
        return "a comma before a closing bracket is not JSON; take it out"
    if text.startswith("'", at):
        return 'JSON strings stand in double quotes; write "…"'
    return "the file ends in the middle; was it cut off?" if at >= len(text) else ""


def complaint(error: json.JSONDecodeError) -> str:
    """What Python says of the mistake."""
    return f"{printable(error.msg).lower().removesuffix(' at').removesuffix(' starting')}; mend it there"


def place(text: str, at: int) -> str:
    """Line and column of a position, both from 1."""
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"
