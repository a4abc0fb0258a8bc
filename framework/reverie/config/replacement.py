"""Writing config.json: whole or not at all, and never over what somebody else wrote meanwhile."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path


def create(file: Path, data: bytes, like: os.stat_result | None = None) -> bool:
    """Write a file that is not there yet, readable by its owner alone or as ``like``; False if the name is taken."""
    with prepared(file, data, like) as draft:
        try:
            os.link(draft, file)
        except FileExistsError:
            return False
        except OSError:  # a file system without hard links
            if os.path.lexists(file):
                return False
            draft.replace(file)
    settle(file.parent)
    return True


def replace(file: Path, before: bytes, data: bytes) -> bool:
    """Put new bytes in the place of what was read, with its mode and owner; False if that is no longer there."""
    with prepared(file, data, file.stat()) as draft:
        if file.read_bytes() != before:
            return False
        draft.replace(file)
    settle(file.parent)
    return True


def back_up(file: Path, data: bytes) -> Path:
    """Keep the bytes beside the file as ``.bak``; an older backup with another content is not overwritten."""
    for number in count():
        backup = file.with_name(f"{file.name}.bak{f'.{number}' if number else ''}")
        if create(backup, data, file.stat()) or holds(backup, data):
            return backup
    raise AssertionError("unreachable")


def holds(file: Path, data: bytes) -> bool:
    """Whether it is a plain file of these bytes."""
    try:
        return not file.is_symlink() and file.read_bytes() == data
    except OSError:
        return False


@contextmanager
def prepared(file: Path, data: bytes, like: os.stat_result | None) -> Iterator[Path]:
    """A file beside the other that holds the bytes, safe on disk; it is gone afterwards if nobody moved it."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", suffix=".tmp", dir=file.parent)
    draft = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            if like:
                liken(handle, like)
            stream.write(data)
            stream.flush()
            os.fsync(handle)
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def liken(handle: int, like: os.stat_result) -> None:
    """Give a file the owner, where that may be done, and the mode of another."""
    if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.fchown(handle, like.st_uid, like.st_gid)
    os.fchmod(handle, like.st_mode & 0o7777)


def settle(folder: Path) -> None:
    """Make a changed listing last over a power cut, where the file system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
