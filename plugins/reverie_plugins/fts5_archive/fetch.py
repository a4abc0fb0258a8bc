"""Fetching: one file read and cut up as the index keeps it, in values that can be handed from process to process."""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Final, NamedTuple

from .cut import parts, searchable
from .entry import SILENT, Said, placed
from .provenance import Kind
from .scan import Found, flaw, read, words

SEPARATOR: Final = " › "
"""Between the titles of a heading path."""


class Recipe(NamedTuple):
    """How the sources of a corpus are cut."""

    root: str
    kind: Kind
    target: int
    overlap: int


class Task(NamedTuple):
    """A file to fetch; one whose bytes still have this digest is left as it is."""

    found: Found
    digest: bytes | None = None


class Fetched(NamedTuple):
    """What became of a task: the file as it looked before it was read, and its parts as plain rows.

    ``problem`` says why there are none; ``lost`` that nobody knows what the file holds. Without either, and with the
    digest of the task, it is unchanged. ``chunks`` are (start, end, text, headings), ``searched`` what FTS5 is given
    of each; ``places`` and ``keys`` are those of its entries, ``said`` what a few of them say.
    """

    found: tuple[Any, ...]
    digest: bytes | None = None
    problem: str = ""
    lost: bool = False
    gone: bool = False
    importance: int = 5
    chunks: tuple[tuple[int, int, str, str], ...] = ()
    searched: tuple[tuple[str, str], ...] = ()
    places: bytes = b""
    keys: bytes = b""
    said: tuple[Said, ...] = ()


def fetch(task: Task, recipe: Recipe) -> Fetched:
    """Read a file and cut it up. Whatever is wrong with it is a value."""
    try:
        found, data = read(recipe.root, task.found)
    except (FileNotFoundError, NotADirectoryError):
        return Fetched(task.found, gone=True)
    except OSError as error:
        return Fetched(task.found, problem=f"cannot be read: {words(error)}; what was indexed of it stays", lost=True)
    digest = digest_of(data)
    if why := flaw(max(found.size, len(data)), data):
        return Fetched(found, digest, problem=f"is not indexed: {why}")
    if digest == task.digest:
        return Fetched(found, digest)
    return prepared(found, digest, data.decode("utf-8-sig", "replace"), recipe)


def digest_of(data: bytes) -> bytes:
    """What tells the content of a source from another one."""
    return sha256(data).digest()[:16]


def prepared(found: Found, digest: bytes, text: str, recipe: Recipe) -> Fetched:
    """The rows of a text."""
    from .text import indexed

    made = parts(found.path, text, recipe.kind, recipe.target, recipe.overlap)
    chunks = tuple((piece.start, piece.end, piece.text, SEPARATOR.join(piece.path)) for piece in made.pieces)
    both = searchable(found.path, indexed)
    searched = tuple(both(chunk[2], chunk[3]) for chunk in chunks)
    places = b"".join([placed(start, end, importance, date) for start, end, _, importance, date, *_ in made.entries])
    keys = b"".join([life[2] for life in made.entries])
    said = tuple((*life[5:], life[2]) for life in made.entries if life[5:] != SILENT)
    return Fetched(found, digest, "", False, False, made.importance, chunks, searched, places, keys, said)
