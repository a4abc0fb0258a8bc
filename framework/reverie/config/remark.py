"""What is said about a configuration that can be used, though not as it stands."""

from __future__ import annotations

from collections.abc import Iterable
from sys import float_info
from typing import Any, Final, NamedTuple

LARGEST: Final = float_info.max
WIDTH: Final = 60
"""Characters of a name or value that are shown."""


def printable(text: str) -> str:
    """The text on one line, cut at 60 characters, control and unpaired surrogate characters escaped."""
    shown = text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"
    return shown if shown.isprintable() else "".join(map(_escaped, shown))


def shown(value: Any) -> str:
    """A JSON value as a sentence may name it: a scalar itself, of a list or an object only that it is one."""
    if isinstance(value, str):
        return f'"{printable(value)}"'
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, int | float) and not -LARGEST <= value <= LARGEST:
        return "a number beyond 1e308"
    if value is None or isinstance(value, bool):
        return str(value).lower() if value is not None else "null"
    return printable(str(value))


def folded(word: str) -> str:
    """A name without what people get wrong about names: case, ``_`` and ``-``."""
    return word.casefold().replace("_", "").replace("-", "")


def nearest(word: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or ""."""
    names = sorted(known)
    for name in names:
        if folded(name) == folded(word):
            return name
    from difflib import get_close_matches  # only a mistake needs it

    return next(iter(get_close_matches(word[: 2 * WIDTH], names, 1)), "")


def suggestion(word: str, known: Iterable[str]) -> str:
    """``; did you mean "dreamHour"?``, or nothing."""
    name = nearest(word, known)
    return f'; did you mean "{name}"?' if name else ""


class Remark(NamedTuple):
    """One thing to mend in config.json: where it stands, and what is used in its place."""

    path: str
    """Such as ``gateway.dreaming.dreamHour`` or ``agents[alfred].memory.overBudget``."""
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def _escaped(character: str) -> str:
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
