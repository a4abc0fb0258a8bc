"""The names of pre-images: ``<percent-encoded path>.<milliseconds>.bak``."""

from __future__ import annotations

import re
from typing import Final

LONGEST: Final = 200
"""Bytes of a name that carry the path; a longer one is cut and told apart by a hash."""
PLAIN: Final = re.compile(r"(?P<label>[A-Za-z0-9._~%-]+)\.(?P<moment>0|[1-9][0-9]{0,14})\.bak")


def name_of(path: str, milliseconds: int) -> str:
    """The name of a pre-image."""
    return f"{encoded(path)}.{milliseconds}.bak"


def moment(path: str, name: str) -> int | None:
    """When a pre-image was taken, in milliseconds; None if this is no name of one of that path."""
    match = PLAIN.fullmatch(name)
    return int(match["moment"]) if match and match["label"] == encoded(path) else None


def plain(name: str) -> bool:
    """Whether this can be the name of a pre-image of any path; it then names nothing in another folder."""
    return PLAIN.fullmatch(name) is not None


def encoded(path: str) -> str:
    """A path as one name: bytes other than unreserved ones as %XX; cut and hashed where that is too long."""
    raw = path.encode("utf-8", "surrogateescape")
    text = re.sub(rb"[^A-Za-z0-9._~-]", lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")
    if len(text) <= LONGEST:
        return text
    from hashlib import sha256

    return f"{text[: LONGEST - 20]}~{sha256(raw).hexdigest()[:16]}"
