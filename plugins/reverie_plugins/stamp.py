"""The line that an archived block bears: when it came, from where."""

from __future__ import annotations

from typing import Final

LONGEST: Final = 200


def stamp(verb: str, day: str, source: str, path: tuple[str, ...]) -> str:
    """An indented comment below the block; the hash of an entry leaves it out.

    >>> stamp("archived", "2026-03-04", "MEMORY.md", ("Log", "May -->"))
    '  <!-- archived 2026-03-04 from MEMORY.md › Log › May -- > -->'
    """
    origin = " › ".join((source, *path))
    harmless = " ".join(origin.replace("-->", "-- >").replace("--!>", "-- !>").replace("<!--", "< !--").split())
    if len(harmless) > LONGEST:
        harmless = f"{harmless[: LONGEST - 1].rstrip('-')}…"
    return f"  <!-- {verb} {day} from {harmless} -->"


def stamped(text: str, stamp: str, newline: str) -> str:
    r"""Exactly what is appended to an archive: the text, its stamp on a line of its own, a blank line.

    >>> stamped("- a", "  <!-- x -->", "\n")
    '- a\n  <!-- x -->\n\n'
    """
    own = "" if text.endswith(("\n", "\r")) else newline
    return f"{text}{own}{stamp}{newline}{newline}"
