"""The operations on files that everything here is made of; each call to the operating system passes one door.

POSIX. What only some systems or file systems have (exchanging two names, hard links, leases) is used where it is
there and done without where it is not.
"""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Literal, NamedTuple, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

Kind = Literal["file", "folder", "link", "other"]

LIMIT: Final = 64 * 1024 * 1024
"""The largest file that is read whole, in bytes."""
SAFE: Final = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""Follow no link, and wait for no pipe."""
LACKING: Final = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOTTY})
"""What a system answers that has not got the operation."""
LINKLESS: Final = LACKING | {errno.EPERM, errno.EMLINK, errno.EXDEV, errno.EACCES}
PATIENCE: Final = 0.25
"""Seconds to wait for somebody who has a replaced file still open for writing."""
GRACE: Final = 0.02
"""Seconds to wait where the system cannot say whether somebody has."""

held: Final[set[int]] = set()
"""The descriptors of the locks that this process holds, or waits for."""

SWAP: Final = 2
KEEP: Final = 4 if sys.platform == "darwin" else 1


class Look(NamedTuple):
    """What stands at a path: ``ident`` is the same for two names of one file, ``owner`` is user and group."""

    kind: Kind
    mode: int
    ident: tuple[int, int]
    size: int
    owner: tuple[int, int]


class Disk:
    """The file system. Tests put another ``call`` in its place to fail or to stop at any operation.

    Paths are absolute. Errors are OSErrors; no operation follows a link in the last component.
    """

    def call(self, operation: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """The one door to the operating system."""
        return operation(*args, **kwargs)

    # Looking and reading

    def look(self, path: str) -> Look | None:
        """What stands there, or None."""
        try:
            return _look(self.call(os.lstat, path))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def read(self, path: str) -> bytes:
        """The whole of a regular file of at most LIMIT bytes."""
        fd = self._open(path, os.O_RDONLY)
        try:
            look = _look(self.call(os.fstat, fd))
            if look.kind != "file":
                raise OSError(errno.EISDIR if look.kind == "folder" else errno.ENXIO, "no regular file", path)
            if look.size > LIMIT:
                raise OSError(errno.EFBIG, "too large", path)
            return self._drain(fd, look.size + 1)
        finally:
            os.close(fd)

    def tail(self, path: str, offset: int, length: int) -> bytes:
        """At most so many bytes from an offset on."""
        fd = self._open(path, os.O_RDONLY)
        try:
            return self.call(os.pread, fd, length, offset)
        finally:
            os.close(fd)

    def names(self, path: str) -> list[tuple[str, Kind]]:
        """The names in a folder, unsorted, each with its kind."""
        with self.call(os.scandir, path) as entries:
            return [(entry.name, _kind_of(entry)) for entry in entries]

    # Writing

    def create(self, path: str, data: bytes, mode: int | None = None, owner: tuple[int, int] | None = None) -> None:
        """A new file, on disk when this returns; FileExistsError if the name is taken."""
        fd = self._open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if mode is None else mode & 0o700)
        try:
            if mode is not None:
                self._dress(fd, mode, owner)
            self._write(fd, data)
            self.call(os.fsync, fd)
        finally:
            os.close(fd)

    def append(self, path: str, data: bytes, *, create: bool = False, sync: bool = True) -> int:
        """Add bytes at the end in one write; the offset they begin at. ``create`` makes a missing file, private."""
        fd = self._open(path, os.O_WRONLY | os.O_APPEND | (os.O_CREAT if create else 0))
        try:
            self._write(fd, data)
            end = os.lseek(fd, 0, os.SEEK_CUR)
            if sync:
                self.call(os.fsync, fd)
            return end - len(data)
        finally:
            os.close(fd)

    def cut(self, path: str, size: int, length: int) -> bool:
        """Cut a file of ``size`` bytes to ``length``; False if it has another size, or may be open elsewhere.

        Done under a lease, so that nobody else can have the file open between the look and the cut.
        """
        fd = self._open(path, os.O_RDWR)
        try:
            if self._lease(fd, fcntl.F_WRLCK) != "had" or self.call(os.fstat, fd).st_size != size:
                return False
            self.call(os.ftruncate, fd, length)
            self.call(os.fsync, fd)
            return True
        finally:
            os.close(fd)

    # Names

    def exchange(self, one: str, other: str) -> bool:
        """Let two names change places in one step; False if that cannot be done here."""
        try:
            self.call(_rename, one, other, SWAP)
        except OSError as error:
            if error.errno in LACKING:
                return False
            raise
        return True

    def move(self, source: str, target: str) -> None:
        """Give a file another name, never one that is taken (FileExistsError)."""
        try:
            return self.call(_rename, source, target, KEEP)
        except OSError as error:
            if error.errno not in LACKING:
                raise
        if self.link(source, target):
            return self.unlink(source)
        if self.look(target):
            raise FileExistsError(errno.EEXIST, "the name is taken", target)
        return self.rename(source, target)

    def rename(self, source: str, target: str) -> None:
        """Give a file another name, in the place of what had it."""
        self.call(os.rename, source, target)

    def link(self, source: str, target: str) -> bool:
        """A second name for a file; False where the file system has no such thing."""
        try:
            self.call(os.link, source, target, follow_symlinks=False)
        except NotImplementedError:
            return False
        except OSError as error:
            if error.errno in LINKLESS:
                return False
            raise
        return True

    def unlink(self, path: str) -> None:
        """Take a name away; nothing happens if it is gone already."""
        with suppress(FileNotFoundError):
            self.call(os.unlink, path)

    def mkdir(self, path: str) -> None:
        """Make one folder; nothing happens if it is there already."""
        with suppress(FileExistsError):
            self.call(os.mkdir, path)

    def mkdirs(self, path: str) -> None:
        """Make a folder, and those above it that are missing."""
        missing = []
        while self.look(path) is None:
            missing.append(path)
            path = os.path.dirname(path)  # noqa: PTH120
        for folder in reversed(missing):
            self.mkdir(folder)

    def rmdir(self, path: str) -> bool:
        """Take an empty folder away; False if it is not empty or not there."""
        try:
            self.call(os.rmdir, path)
        except OSError as error:
            if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.EBUSY):
                return False
            raise
        return True

    def sync(self, folder: str) -> None:
        """Have the names in a folder on disk."""
        fd = self.call(os.open, folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            self.call(os.fsync, fd)
        except OSError as error:
            if error.errno not in LACKING:
                raise
        finally:
            os.close(fd)

    # Others who use the files

    def still(self, path: str, patience: float = PATIENCE) -> bool:
        """Wait until nobody has the file open for writing; False if somebody still has.

        Meant for a file whose name is gone, which nobody can open any more: what it holds then is final.
        """
        fd = self._open(path, os.O_RDONLY)
        try:
            return self._wait(fd, patience)
        finally:
            os.close(fd)

    @contextmanager
    def hold(self, path: str, wait: float) -> Iterator[int | None]:
        """An exclusive lock on a file, made if missing, over all processes and threads.

        Gives its descriptor, or None if another had it all the time; gone with the process, however it ends. What
        the process forks does not have it.
        """
        fd = self._open(path, os.O_RDWR | os.O_CREAT)
        held.add(fd)
        try:
            yield fd if self._locked(fd, wait) else None
        finally:
            if fd in held:  # not in a child that unwinds: that would unlock the parent's
                held.discard(fd)
                with suppress(OSError):
                    fcntl.flock(fd, fcntl.LOCK_UN)
            os.close(fd)

    # Below

    def _open(self, path: str, flags: int, mode: int = 0o600) -> int:
        for _ in range(200):
            try:
                return self.call(os.open, path, flags | SAFE, mode)
            except BlockingIOError:  # somebody holds a lease on it, for a moment
                time.sleep(0.002)
        raise OSError(errno.EAGAIN, "held by another process", path)

    def _drain(self, fd: int, size: int) -> bytes:
        data = self.call(os.read, fd, size)
        while len(data) == size:
            size *= 2
            data += self.call(os.read, fd, size - len(data))
        return data

    def _write(self, fd: int, data: bytes) -> None:
        written = self.call(os.write, fd, data)
        while written < len(data):
            written += self.call(os.write, fd, data[written:])

    def _dress(self, fd: int, mode: int, owner: tuple[int, int] | None) -> None:
        if owner is not None and owner != (os.geteuid(), os.getegid()):
            with suppress(PermissionError):
                self.call(os.fchown, fd, *owner)
        self.call(os.fchmod, fd, mode)

    def _wait(self, fd: int, patience: float) -> bool:
        end, pause = time.monotonic() + patience, 0.0005
        while (answer := self._lease(fd, fcntl.F_RDLCK)) == "busy":
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.02)
        if answer == "none":
            time.sleep(GRACE)
        else:
            self.call(fcntl.fcntl, fd, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        return True

    def _lease(self, fd: int, kind: int) -> Literal["had", "busy", "none"]:
        if sys.platform != "linux":
            return "none"
        try:
            # A lease that is broken is told by a signal, which by default would end the process.
            self.call(fcntl.fcntl, fd, fcntl.F_SETSIG, signal.SIGURG)
            self.call(fcntl.fcntl, fd, fcntl.F_SETLEASE, kind)
        except BlockingIOError:
            return "busy"
        except OSError:
            return "none"
        return "had"

    def _locked(self, fd: int, wait: float) -> bool:
        end, pause = time.monotonic() + wait, 0.0005
        while True:
            try:
                self.call(fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= end:
                    return False
                time.sleep(pause)
                pause = min(pause * 1.5, 0.01)
            else:
                return True


def let_go() -> None:
    """In a forked child: have nothing to do with the locks of the parent, which would else outlive it there.

    Nothing stands in for the descriptors, so that their numbers are not given to other files: what held them may
    unwind here, too. The parent's locks stay, for none is unlocked.
    """
    nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC) if held else -1
    for fd in held:
        os.dup2(nothing, fd, inheritable=False)
    if held:
        os.close(nothing)
    held.clear()


os.register_at_fork(after_in_child=let_go)


def _look(found: os.stat_result) -> Look:
    mode = found.st_mode
    kind: Kind = (
        "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "link" if stat.S_ISLNK(mode) else "other"
    )
    return Look(kind, stat.S_IMODE(mode), (found.st_dev, found.st_ino), found.st_size, (found.st_uid, found.st_gid))


def _kind_of(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return "link"
    if entry.is_dir(follow_symlinks=False):
        return "folder"
    return "file" if entry.is_file(follow_symlinks=False) else "other"


def _rename(source: str, target: str, flag: int) -> None:
    """What Python's own rename cannot do: exchange two names, or refuse a name that is taken."""
    import ctypes  # only a write needs it

    libc = ctypes.CDLL(None, use_errno=True)
    one, other = os.fsencode(source), os.fsencode(target)
    if hasattr(libc, "renameat2"):
        failed = libc.renameat2(-100, one, -100, other, flag)
    elif hasattr(libc, "renamex_np"):
        failed = libc.renamex_np(one, other, flag)
    else:
        raise OSError(errno.ENOSYS, "not on this system", source)
    if failed:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), source, None, target)
