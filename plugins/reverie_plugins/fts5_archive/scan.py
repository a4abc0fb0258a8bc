"""The scan of a corpus: which of its files there are, and how each looks from outside. It reads none of them."""

from __future__ import annotations

import os
import stat
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from attrs import define, field

from .provenance import Kind

LARGEST: Final = 16 * 1024 * 1024
"""The largest note that is indexed, in bytes."""
SNIFFED: Final = 8192
"""A NUL among so many first bytes makes a file binary."""
SAFE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Found(NamedTuple):
    """One file: its path in NFC, the one the disk has, and what tells that it changed."""

    path: str
    name: str
    size: int
    mtime_ns: int
    inode: int


Look = tuple[str, int, int, int]
"""Path, size, mtime_ns and inode of a file; there are many of them, and as tuples they compare at once."""


@define
class Scan:
    """What one look at a corpus found; nobody knows what ``closed`` files hold, and what is in ``closed`` folders.

    ``names`` has the name on disk of each path that has another one there.
    """

    files: dict[str, Look] = field(factory=dict)
    names: dict[str, str] = field(factory=dict)
    closed: list[str] = field(factory=list)
    reports: list[str] = field(factory=list)

    def found(self, path: str) -> Found:
        """One of the files."""
        return Found(path, self.names.get(path, path), *self.files[path][1:])

    def unknown(self, path: str) -> bool:
        """Whether a file that was not found may be there all the same."""
        return any(not shut or path == shut or path.startswith(f"{shut}/") for shut in self.closed)

    def shut(self, path: str, why: str) -> None:
        self.closed.append(nfc(path))
        self.reports.append(f"{path or 'the folder'} {why}; what was indexed of it stays")


def indexable(path: str, kind: Kind = "memory") -> bool:
    """Whether a file of this path is indexed, and so may be read: the one rule for both.

    >>> [indexable(path) for path in ("MEMORY.md", "memory/a..b.MD", "AGENTS.md", "memory/.a.md", "./memory/a.md")]
    [True, True, False, False, False]
    """
    folder, *rest = path.split("/")
    if not rest:
        return kind == "memory" and folder in ("MEMORY.md", "USER.md")
    if not markdown(rest[-1]) or any(not part or part.startswith(".") for part in rest) or odd(path):
        return False
    return folder == "memory" if kind == "memory" else folder == "notes" and len(rest) == 1


def markdown(name: str) -> bool:
    return name[-3:].lower() == ".md"


def odd(path: str) -> str:
    """Why no file of this path can be kept, or nothing."""
    if "\\" in path:
        return "it has a backslash in its name"
    if "\0" in path or (not path.isascii() and any("\ud800" <= letter <= "\udfff" for letter in path)):
        return "its name is no UTF-8"
    return ""


def nfc(path: str) -> str:
    return path if path.isascii() else unicodedata.normalize("NFC", path)


def scan(root: Path, kind: Kind) -> Scan:
    """Look at every file that is indexed, following no link below the root."""
    found = Scan()
    base = str(root)
    if not os.path.isdir(base):  # noqa: PTH112
        found.shut("", f"{base} is not there or cannot be listed")
        return found
    if kind == "memory":
        for name in ("MEMORY.md", "USER.md"):
            look(found, base, name)
    tree(found, base, "memory" if kind == "memory" else "notes", deep=kind == "memory")
    return found


def look(found: Scan, base: str, name: str) -> None:
    """One file of the root itself."""
    try:
        seen = os.stat(f"{base}/{name}", follow_symlinks=False)  # noqa: PTH116
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        found.shut(name, f"cannot be looked at: {words(error)}")
        return
    if stat.S_ISREG(seen.st_mode):
        found.files[name] = (name, seen.st_size, seen.st_mtime_ns, seen.st_ino)


def tree(found: Scan, base: str, top: str, *, deep: bool) -> None:
    """Everything below one folder; one that cannot be listed is closed, and told."""
    if os.path.islink(f"{base}/{top}"):  # noqa: PTH114
        return
    waiting = [top]
    while waiting:
        folder = waiting.pop()
        try:
            waiting += files(found, base, folder, deep)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            found.shut(folder, f"cannot be listed: {words(error)}")


def files(found: Scan, base: str, folder: str, deep: bool) -> list[str]:
    """Take up the files of one folder; answers the folders in it."""
    below: list[str] = []
    plain = folder.isascii()
    with os.scandir(f"{base}/{folder}") as entries:
        for entry in entries:
            name = entry.name
            if name[0] == ".":
                continue
            if (name[-3:] == ".md" or markdown(name)) and entry.is_file(follow_symlinks=False):
                if plain and name.isascii() and "\\" not in name:  # nearly all, and most of the time of a run goes here
                    path = f"{folder}/{name}"
                    seen = entry.stat(follow_symlinks=False)
                    found.files[path] = (path, seen.st_size, seen.st_mtime_ns, seen.st_ino)
                else:
                    take(found, f"{folder}/{name}", entry)
            elif deep and entry.is_dir(follow_symlinks=False):
                below.append(f"{folder}/{name}")
    return below


def take(found: Scan, name: str, entry: os.DirEntry[str]) -> None:
    """Take up one file, unless it has no name that can be kept, or one that another has."""
    if why := odd(name):
        found.reports.append(f"{name!r} is not indexed: {why}")
        return
    path = nfc(name)
    seen = entry.stat(follow_symlinks=False)
    if path in found.files:
        other = found.names.get(path, path)
        found.reports.append(f"{max(name, other)} is not indexed: another file has the same name")
        if other < name:
            return
    found.files[path] = (path, seen.st_size, seen.st_mtime_ns, seen.st_ino)
    found.names[path] = name


def read(root: str, found: Found) -> tuple[Found, bytes]:
    """The bytes of a file, and how it looked before they were read; OSError if they cannot be had."""
    fd = os.open(f"{root}/{found.name}", SAFE)
    try:
        seen, now = os.fstat(fd), time.time_ns()
        if not stat.S_ISREG(seen.st_mode):
            raise OSError(0, "it is no regular file", found.name)
        data = drained(fd, seen.st_size) if seen.st_size <= LARGEST else b""
    finally:
        os.close(fd)
    return found._replace(size=seen.st_size, mtime_ns=settled(seen.st_mtime_ns, now), inode=seen.st_ino), data


def drained(fd: int, size: int) -> bytes:
    """All that is in an open file, or as much as shows that it has become too large."""
    data = os.read(fd, size + 1)
    while len(data) > size and size <= LARGEST:
        size = 2 * len(data)
        data += os.read(fd, size + 1 - len(data))
    return data


def settled(mtime_ns: int, now: int) -> int:
    """The time of a file as it is kept: negative if it may change again within what its clock can tell apart.

    >>> settled(5, 10**9), settled(10**9 - 5, 10**9)
    (5, -999999995)
    """
    coarse = mtime_ns % 10**9 == 0
    return mtime_ns if now - mtime_ns > (2 * 10**9 if coarse else 2 * 10**7) else -abs(mtime_ns)


def flaw(size: int, data: bytes) -> str:
    """Why these bytes are not indexed, or nothing."""
    if size > LARGEST:
        return f"it is larger than {LARGEST // 1024 // 1024} MiB"
    return "it looks binary: it has a NUL byte near its begin" if b"\0" in data[:SNIFFED] else ""


def words(error: OSError) -> str:
    """What the operating system says, for a person."""
    return os.strerror(error.errno).lower() if error.errno else (error.strerror or str(error))


def spellings(root: Path, path: str) -> Iterator[str]:
    """The names on disk that are this path in NFC; the path itself first."""
    yield path
    if path.isascii():
        return
    wanted, here = nfc(path).split("/"), [""]
    for part in wanted:
        here = [f"{folder}{name}/" for folder in here for name in listed(root / folder) if nfc(name) == part]
    yield from (name.rstrip("/") for name in sorted(here))


def listed(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208
    except OSError:
        return []
