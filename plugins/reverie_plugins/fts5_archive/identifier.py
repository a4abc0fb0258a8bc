"""Identifiers: ``camelCase`` in its parts, ``snake_case`` and ``kebab-case`` in one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

LONGEST: Final = 100
"""Characters of an identifier; what is longer is data."""
_CAMEL: Final = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")


def kind(code: int) -> str:
    letter = chr(code)
    if not letter.isascii():
        return " "
    return (
        "l" if letter.islower() else "U" if letter.isupper() else "d" if letter.isdigit() else _JOINTS.get(letter, " ")
    )


_JOINTS: Final = {"_": "_", "-": "-"}
_KINDS: Final = "".join(kind(code) for code in range(256)).encode()
_MARKS: Final = (b"lU", b"dU", b"UUll", b"l-l")


def extras(text: str) -> list[str]:
    """What a tokenizer does not make of the identifiers of a text: humps apart, and parts as one.

    >>> extras("the leaseGuard of src/disk_cache.ts is re-read")
    ['lease', 'Guard', 'diskcache', 'reread']
    """
    found: list[str] = []
    for _, word in words(text):
        found += forms(word)
    return found


def words(text: str) -> Iterator[tuple[int, str]]:
    """The words of a text with a hump or a joint in them, and where they begin."""
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    last = 0
    for place in places(kinds):
        if place >= last:
            start, last = kinds.rfind(b" ", 0, place) + 1, kinds.find(b" ", place)
            last = len(text) if last < 0 else last
            if last - start <= LONGEST:
                yield start, text[start:last]


def places(kinds: bytes) -> list[int]:
    """Where there is such a mark."""
    found = []
    for mark in (*_MARKS, b"_") if b"_" in kinds else _MARKS:
        at = kinds.find(mark)
        while at >= 0:
            found.append(at)
            at = kinds.find(mark, at + 1)
    return sorted(found)


def forms(word: str) -> list[str]:
    """The forms of one word that is more than one."""
    found = []
    parts = [part for part in word.split("-") if part]
    if len(parts) > 1:
        found.append("".join(parts).replace("_", ""))
    for part in parts:
        bare = part.replace("_", "")
        if bare and bare != part.strip("_"):
            found.append(bare)
        if not (part.islower() or part.isupper()):
            humps = _CAMEL.findall(part)
            found += humps if len(humps) > 1 else []
    return found
