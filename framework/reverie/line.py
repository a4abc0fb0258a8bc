"""What a line of the journal may say: it lies where anybody may write, so nothing in it is believed unseen."""

from __future__ import annotations

import json
import re
from typing import Any, Final

from .workspace.preimage import moment

HEAD: Final = re.compile(rb'\{"do": ?"(intent|outcome)", ?"id": ?"([0-9a-f]{1,32})"')
TEXTS: Final = ("id", "run", "root", "path", "op", "before", "after", "backup", "text", "to")
NUMBERS: Final = ("size", "length", "mode", "number", "of")
LISTS: Final = ("made", "blocks", "hunk")
ALWAYS: Final = frozenset(("id", "run", "root", "path", "op", "before", "after", "size", "length"))
ENDED: Final = ("before", "after", "size", "length", "backup")
"""What may come out otherwise than intended, because somebody else appended in between."""
OPS: Final = frozenset(("replace", "append", "remove", "rename", "withdraw"))
LARGEST: Final = 1 << 53
"""More bytes than any file has."""
MOST: Final = 9999
"""More writes than any batch has."""
ANY_MODE: Final = 0o7777
DOT: Final = ".reverie-"
"""What the names begin with that stand beside a file while it is replaced."""


def parsed(line: bytes) -> dict[str, Any] | None:
    """The object of a line of the journal, or None where the line is torn or foreign, or names itself twice."""
    head = HEAD.match(line)
    try:
        row = json.loads(line) if head else None
    except (ValueError, RecursionError):
        return None
    if head is None or not isinstance(row, dict) or not isinstance(row.get("run"), str):
        return None
    itself = (row.get("do"), row.get("id")) == (head[1].decode(), head[2].decode())
    return row if itself and row["run"].isprintable() else None


def fields(row: dict[str, Any]) -> dict[str, Any] | None:
    """The fields of the write that an intent names; None where one of them has no sense."""
    found: dict[str, Any] = {key: row[key] for key in (*TEXTS, *NUMBERS, *LISTS) if key in row}
    if not (found.keys() >= ALWAYS and _typed(found) and _placed(found) and _counted(found)):
        return None
    return found | {key: tuple(found[key]) for key in LISTS if key in found}


def ends(told: dict[str, Any], root: str, path: str) -> dict[str, Any]:
    """What an outcome tells of how a write came out, as far as it has sense."""
    return {key: told[key] for key in ENDED if key in told and _ended(key, told[key], root, path)}


def confined(path: Any) -> bool:
    """Whether a path stays below its root and names a file that is written by that name."""
    if not isinstance(path, str) or not encodes(path) or "\0" in path or "\\" in path:
        return False
    parts = path.split("/")
    return not any(part in ("", ".", "..") for part in parts) and not parts[-1].startswith(DOT)


def encodes(text: str) -> bool:
    """Whether a text is one of bytes."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _typed(found: dict[str, Any]) -> bool:
    return (
        all(isinstance(found[key], str) and encodes(found[key]) for key in TEXTS if key in found)
        and all(_within(found[key], LARGEST) for key in NUMBERS if key in found)
        and all(isinstance(found[key], list) for key in LISTS if key in found)
    )


def _placed(found: dict[str, Any]) -> bool:
    """Whether all that is touched lies below the root, and what is made is on the way there."""
    root, path, to = found["root"], found["path"], found.get("to", "")
    ways = [way for end in (path, to) for way in _above(end)]
    return (
        (root == "." or (root.startswith("/") and "\0" not in root))
        and confined(path)
        and (confined(to) if found["op"] == "rename" else not to)
        and all(folder in ways for folder in found.get("made", ()))
        and _kept(found.get("backup", ""), root, path)
    )


def _above(path: str) -> list[str]:
    """The folders on the way to a file."""
    parts = path.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]


def _kept(backup: str, root: str, path: str) -> bool:
    """Whether a pre-image is none, or one of that very file."""
    return not backup or moment(path if root == "." else f"{root}/{path}", backup) is not None


def _counted(found: dict[str, Any]) -> bool:
    blocks, hunk = found.get("blocks", ()), found.get("hunk", ())
    numbers = all(_within(number, LARGEST) for number in (*blocks, *hunk))
    return (
        found["op"] in OPS
        and found.get("number", 0) < found.get("of", 1) <= MOST
        and found.get("mode", 0) <= ANY_MODE
        and numbers
        and sum(blocks) <= len(found.get("text", "").encode("utf-8", "surrogateescape"))
        and len(hunk) in (0, 3)
        and list(hunk) == sorted(hunk)
    )


def _ended(key: str, value: Any, root: str, path: str) -> bool:
    if key in NUMBERS:
        return _within(value, LARGEST)
    return isinstance(value, str) and encodes(value) and (key != "backup" or _kept(value, root, path))


def _within(value: Any, most: int) -> bool:
    """Whether a value is a whole number, and neither below nothing nor beyond the most."""
    return type(value) is int and 0 <= value <= most
