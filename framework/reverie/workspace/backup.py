"""Pre-images: what files held before a run first wrote to them."""

from __future__ import annotations

import errno
import logging
import time
from typing import Final

from reverie_hookspecs import Refused

from .disk import Disk
from .place import solid
from .preimage import encoded as encoded, moment, name_of as name_of, plain
from .swap import content

logger = logging.getLogger(__name__)

KEPT: Final = 20
"""How many pre-images of one file are kept."""
AHEAD: Final = 100 * 366 * 86_400_000
"""Milliseconds from now that no clock is wrong by: what says it was taken later than that is no pre-image."""


class Backups:
    """The folder of pre-images: ``<percent-encoded path>.<milliseconds>.bak``, the newest 20 of each file."""

    def __init__(self, folder: str, disk: Disk) -> None:
        self.folder = folder
        self.disk = disk

    def where(self, name: str) -> str:
        """The absolute path of a pre-image; Refused for what is no name of one: it may come out of the journal."""
        if not plain(name):
            raise Refused(f"{name!r} is no name of a pre-image, so nothing is kept by it; see to the journal")
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
        if not self._stands():
            raise OSError(errno.ENOTDIR, "no folder of its own", self.folder)
        held = content(self.disk, self.where(name)) or b""
        if held != data and data.startswith(held):
            self.disk.append(self.where(name), data[len(held) :], create=True)

    def drop(self, name: str) -> None:
        """Forget a pre-image that was taken in vain."""
        if name and self._stands():
            self.disk.unlink(self.where(name))

    def read(self, name: str) -> bytes | None:
        """What a pre-image holds, or None."""
        return content(self.disk, self.where(name))

    def of(self, path: str) -> list[str]:
        """The names of the pre-images of a file, newest first."""
        return [name_of(path, moment) for moment in self.moments(path)]

    def moments(self, path: str) -> list[int]:
        """When they were taken, newest first; rising, whatever the clock did, so that the newest can be told."""
        latest = time.time_ns() // 1_000_000 + AHEAD
        try:
            found = [at for name, _ in self.disk.names(self.folder) if (at := moment(path, name)) is not None]
        except FileNotFoundError:
            return []
        return sorted((at for at in found if at <= latest), reverse=True)

    def prune(self, path: str) -> None:
        """Keep the newest pre-images of a file."""
        for name in self.of(path)[KEPT:] if self._stands() else ():
            logger.info("dropped the pre-image %s: the newest %d of %s are kept", name, KEPT, path)
            self.disk.unlink(self.where(name))

    def _stands(self) -> bool:
        """Whether the folder is one of its own: through a link, files elsewhere would be written and dropped."""
        look = self.disk.look(self.folder)
        return look is not None and look.kind == "folder"
