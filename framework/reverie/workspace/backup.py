"""Pre-images: what files held before a run first wrote to them."""

from __future__ import annotations

import errno
import logging
import re
from typing import Final

from .disk import Disk
from .place import solid
from .swap import content

logger = logging.getLogger(__name__)

KEPT: Final = 20
"""How many pre-images of one file are kept."""
LONGEST: Final = 200
"""Bytes of a name that carry the path; a longer one is cut and told apart by a hash."""


class Backups:
    """The folder of pre-images: ``<percent-encoded path>.<milliseconds>.bak``, the newest 20 of each file."""

    def __init__(self, folder: str, disk: Disk) -> None:
        self.folder = folder
        self.disk = disk

    def where(self, name: str) -> str:
        """The absolute path of a pre-image."""
        return f"{self.folder}/{name}"

    def take(self, name: str, data: bytes, mode: int) -> None:
        """Keep a pre-image; on disk, and read back, when this returns."""
        solid(self.disk, self.folder)
        self.disk.create(self.where(name), data, mode)
        self.disk.sync(self.folder)
        if self.disk.read(self.where(name)) != data:
            raise OSError(errno.EIO, "the pre-image reads back differently", self.where(name))

    def extend(self, name: str, data: bytes) -> None:
        """Let a pre-image hold ``data``, of which it may hold the beginning already."""
        held = content(self.disk, self.where(name)) or b""
        if held != data and data.startswith(held):
            self.disk.append(self.where(name), data[len(held) :], create=True)

    def drop(self, name: str) -> None:
        """Forget a pre-image that was taken in vain."""
        if name:
            self.disk.unlink(self.where(name))

    def read(self, name: str) -> bytes | None:
        """What a pre-image holds, or None."""
        return content(self.disk, self.where(name))

    def of(self, path: str) -> list[str]:
        """The names of the pre-images of a file, newest first."""
        return [name_of(path, moment) for moment in self.moments(path)]

    def moments(self, path: str) -> list[int]:
        """When they were taken, newest first; rising, whatever the clock did, so that the newest can be told."""
        pattern = re.compile(re.escape(encoded(path)) + r"\.(\d+)\.bak")
        try:
            found = [match for name, _ in self.disk.names(self.folder) if (match := pattern.fullmatch(name))]
        except FileNotFoundError:
            return []
        return sorted((int(match[1]) for match in found), reverse=True)

    def prune(self, path: str) -> None:
        """Keep the newest pre-images of a file."""
        for name in self.of(path)[KEPT:]:
            logger.info("dropped the pre-image %s: the newest %d of %s are kept", name, KEPT, path)
            self.disk.unlink(self.where(name))


def name_of(path: str, milliseconds: int) -> str:
    """The name of a pre-image."""
    return f"{encoded(path)}.{milliseconds}.bak"


def encoded(path: str) -> str:
    """A path as one name: bytes other than unreserved ones as %XX; cut and hashed where that is too long."""
    raw = path.encode("utf-8", "surrogateescape")
    text = re.sub(rb"[^A-Za-z0-9._~-]", lambda match: b"%%%02X" % match[0][0], raw).decode("ascii")
    if len(text) <= LONGEST:
        return text
    from hashlib import sha256

    return f"{text[: LONGEST - 20]}~{sha256(raw).hexdigest()[:16]}"
