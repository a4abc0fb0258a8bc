"""Provenance: whose words a source holds. What is not known to be the agent's is not trusted."""

from __future__ import annotations

from typing import Final, Literal

from reverie_hookspecs import Provenance

Kind = Literal["memory", "shared"]
ROOTS: Final = ("memory.md", "user.md")
SYSTEM: Final = ("dreams.md", ".dreaming", "memory/dreaming", "memory/.dreams")


def classify(path: str, kind: Kind = "memory") -> Provenance:
    """The provenance of a path of an agent's memory or of a vault; it is brought to one spelling first.

    >>> [classify(path) for path in ("memory/a.md", "memory/../x.md", "memory/dreaming/a.md", "notes/a.md")]
    ['agent', 'untrusted', 'system', 'untrusted']
    """
    plain = normal(path)
    if any(plain == name or plain.startswith(f"{name}/") for name in SYSTEM):
        return "system"
    return "agent" if owned(plain, kind) else "untrusted"


def owned(plain: str, kind: Kind) -> bool:
    """Whether a normalised path is that of a memory file, or of a note of the vault."""
    folder, _, name = plain.partition("/")
    if kind == "shared":
        return folder == "notes" and name.endswith(".md") and "/" not in name
    return plain in ROOTS or (folder == "memory" and name.endswith(".md"))


def normal(path: str) -> str:
    """One spelling of a path: small letters, forward slashes, ``..`` resolved; empty if it leaves the root.

    >>> normal("Memory\\\\.//A/../b.MD"), normal("memory/../../x.md"), normal("/memory/a.md")
    ('memory/b.md', '', '')
    """
    slashed = path.replace("\\", "/")
    if slashed.startswith("/") or slashed[1:2] == ":":
        return ""
    parts: list[str] = []
    for part in slashed.split("/"):
        if part == ".." and not parts:
            return ""
        if part == "..":
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts).casefold()
