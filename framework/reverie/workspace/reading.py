"""Reading: what a file holds is text, empty, missing or unreadable, and the four are never confused."""

from __future__ import annotations

import errno
import logging
import os
from typing import Final

from reverie_hookspecs import Refused, Snapshot, Unreadable

from .disk import LIMIT, Disk, Kind
from .place import bridged, checked

logger = logging.getLogger(__name__)

SNIFFED: Final = 8192
"""A NUL among so many first bytes makes a file binary."""
WIDE: Final = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
BOM: Final = b"\xef\xbb\xbf"


def snapshot(disk: Disk, root: str, path: str) -> Snapshot:
    """What the file holds now; a link, a folder, a pipe or a failure makes it unreadable."""
    parts = checked(path)
    try:
        if link := bridged(disk, root, parts):
            return Snapshot(path, "unreadable", reason=f"{link} is a link, and none is followed")
        data = disk.read(f"{root}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return Snapshot(path, "missing")
    except OSError as error:
        return Snapshot(path, "unreadable", reason=reason(error))
    return judged(path, data)


def judged(path: str, data: bytes) -> Snapshot:
    """A snapshot of these bytes: binary ones count as unreadable."""
    if flaw := binary(data):
        return Snapshot(path, "unreadable", reason=flaw)
    return Snapshot(path, "text" if data.removeprefix(BOM) else "empty", data)


def binary(data: bytes) -> str:
    """Why the bytes are no text, or nothing."""
    if data.startswith(WIDE):
        return "it is UTF-16 or UTF-32; save it as UTF-8"
    nul = data.find(b"\0", 0, SNIFFED)
    return f"it looks binary: NUL byte at offset {nul}; save it as UTF-8" if nul >= 0 else ""


def reason(error: OSError) -> str:
    """Why a file cannot be read, for a person."""
    if error.errno == errno.ELOOP:
        return "it is a link, and none is followed"
    if error.errno == errno.EISDIR:
        return "it is a folder"
    if error.errno == errno.ENXIO:
        return "it is no regular file"
    if error.errno == errno.EFBIG:
        return f"it is larger than {LIMIT // 1024 // 1024} MiB"
    return os.strerror(error.errno).lower() if error.errno else str(error)


def names(disk: Disk, root: str, folder: str, deep: bool) -> list[str]:
    """Paths of the Markdown files in a folder, sorted; Unreadable if any listing cannot be had."""
    found: list[str] = []
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        for name, kind in listing(disk, root, here):
            path = f"{here}/{name}" if here else name
            if kind == "folder" and deep:
                waiting.append(path)
            elif kind == "file" and name.lower().endswith(".md"):
                found.append(path)
    return sorted(found)


def listing(disk: Disk, root: str, folder: str) -> list[tuple[str, Kind]]:
    """What lies in a folder, dot names left out; nothing if there is no such folder."""
    try:
        return [entry for entry in disk.names(_folder(disk, root, folder)) if _plain(entry[0], folder)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Unreadable(
            f"the folder {folder or root} cannot be listed: {reason(error)}; nothing is taken for gone, mend it first"
        ) from error


def _folder(disk: Disk, root: str, folder: str) -> str:
    if not folder:
        return root
    parts = checked(folder)
    link = bridged(disk, root, (*parts, ""))
    if link:
        raise OSError(errno.ELOOP, "link", link)
    return f"{root}/{folder}"


def _plain(name: str, folder: str) -> bool:
    if "\\" in name:
        logger.warning("passed over %r in %s: reverie reads no file with a backslash in its name", name, folder or ".")
        return False
    return not name.startswith(".")


def readable(found: Snapshot) -> Snapshot:
    """The snapshot, unless nobody can say what the file holds; then Unreadable, or Refused for a link."""
    if found.state == "unreadable":
        kind = Refused if "is a link" in found.reason else Unreadable
        raise kind(f"{found.path} was not written, for it cannot be read: {found.reason}")
    return found
