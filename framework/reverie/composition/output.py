"""Writing CLAUDE.md: atomically, only when it differs, and never over what a person wrote."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import Final, Literal, NamedTuple

from reverie.hygiene import is_delimiter
from reverie_hookspecs import WriteRefused

BACKUPS: Final = (".dreaming", "backups")


class Written(NamedTuple):
    """Whether the file changed, and where the one is kept that was not composed by us or another of our kind."""

    outcome: Literal["written", "unchanged"]
    kept: Path | None = None


def write(file: Path, text: str) -> Written:
    """Make the file hold the text; raises WriteRefused, the old file as it was.

    A file that does not begin as a composed one does is copied to ``.dreaming/backups`` first.
    """
    data = text.encode("utf-8", "replace")
    try:
        mode = mode_of(file)
        before = b"" if mode is None else file.read_bytes()
        if mode is not None and before == data:
            return Written("unchanged")
        kept = None if is_composed(before) else keep(file, before, mode)
        replace(file, data, mode)
    except OSError as error:
        raise WriteRefused(
            f"{file} was not written: {error.strerror or error}; it is as it was, so make room or mend the permissions "
            "and compose again"
        ) from error
    return Written("written", kept)


def mode_of(file: Path) -> int | None:
    """The permissions of a regular file, or None where nothing is; anything else there is refused."""
    try:
        found = file.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found):
        raise WriteRefused(
            f"{file} is a link to {file.readlink()}, which composing would overwrite; remove the link and compose again"
        )
    if not stat.S_ISREG(found):
        raise WriteRefused(f"{file} is no file; move it away and compose again")
    return stat.S_IMODE(found)


def is_composed(data: bytes) -> bool:
    """Whether nothing would be lost: there is no text, or its first line is the delimiter of a section."""
    lines = data.decode("utf-8", "replace").removeprefix("\ufeff").lstrip().splitlines()
    return not lines or is_delimiter(lines[0])


def keep(file: Path, data: bytes, mode: int | None) -> Path:
    """Copy what stands there to the backups; the copy."""
    folder = file.parent
    for name in BACKUPS:
        folder /= name
        if folder.is_symlink():
            raise WriteRefused(f"{folder} is a link, so {file.name} cannot be kept there; make it a folder")
        folder.mkdir(exist_ok=True)
    moment = time.time_ns() // 1_000_000
    while os.path.lexists(copy := folder / f"{file.name}.{moment}.bak"):
        moment += 1
    replace(copy, data, mode)
    return copy


def replace(file: Path, data: bytes, mode: int | None) -> None:
    """Put a whole new file in the place of an old one, or nothing."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{time.time_ns():x}.tmp")
    try:
        with temporary.open("xb") as sink:
            if mode is not None:
                os.fchmod(sink.fileno(), mode)
            sink.write(data)
            sink.flush()
            os.fsync(sink.fileno())
        temporary.replace(file)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
