"""A disk whose writes stay in memory: what a dry run writes to."""

from __future__ import annotations

import errno
import itertools
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from .disk import LIMIT, Disk, Kind, Look

FOLDER: Final = 0o755


class Node:
    """One file or folder in memory."""

    def __init__(self, data: bytes | None, mode: int, number: int) -> None:
        self.data = None if data is None else bytearray(data)
        self.mode = mode
        self.number = number

    @property
    def kind(self) -> Kind:
        return "folder" if self.data is None else "file"


class Overlay(Disk):
    """Reads see what was written, then the disk below; nothing reaches that."""

    def __init__(self, below: Disk) -> None:
        self.below = below
        self.nodes: dict[str, Node | None] = {}
        """Path -> what stands there now; None where something was taken away."""
        self._numbers = itertools.count(1)

    # Looking and reading

    def look(self, path: str) -> Look | None:
        if path not in self.nodes:
            return self.below.look(path)
        node = self.nodes[path]
        if node is None:
            return None
        size = len(node.data or b"")
        return Look(node.kind, node.mode, (0, node.number), size, (os.geteuid(), os.getegid()))

    def read(self, path: str) -> bytes:
        if path not in self.nodes:
            return self.below.read(path)
        data = self._data(path)
        if len(data) > LIMIT:
            raise OSError(errno.EFBIG, "too large", path)
        return bytes(data)

    def tail(self, path: str, offset: int, length: int) -> bytes:
        if path not in self.nodes:
            return self.below.tail(path, offset, length)
        return bytes(self._data(path)[offset : offset + length])

    def names(self, path: str) -> list[tuple[str, Kind]]:
        found: dict[str, Kind] = {}
        if self.nodes.get(path) is None:
            found = dict(self.below.names(path))
        for name, node in self._beneath(path):
            found.pop(name, None)
            if node is not None:
                found[name] = node.kind
        return list(found.items())

    # Writing

    def create(self, path: str, data: bytes, mode: int | None = None, owner: tuple[int, int] | None = None) -> None:
        self._free(path)
        self._parent(path)
        self.nodes[path] = self._node(data, 0o644 if mode is None else mode)

    def append(self, path: str, data: bytes, *, create: bool = False, sync: bool = True) -> int:
        if create and self.look(path) is None:
            self.create(path, b"", 0o600)
        self._lift(path)
        held = self._data(path)
        held += data
        return len(held) - len(data)

    def cut(self, path: str, size: int, length: int) -> bool:
        self._lift(path)
        held = self._data(path)
        if len(held) == size:
            del held[length:]
        return len(held) == length

    def exchange(self, one: str, other: str) -> bool:
        self._lift(one)
        self._lift(other)
        self.nodes[one], self.nodes[other] = self.nodes[other], self.nodes[one]
        return True

    def move(self, source: str, target: str) -> None:
        self._free(target)
        self.rename(source, target)

    def rename(self, source: str, target: str) -> None:
        self._lift(source)
        self._parent(target)
        self.nodes[target], self.nodes[source] = self.nodes[source], None

    def link(self, source: str, target: str) -> bool:
        self._lift(source)
        self._free(target)
        self.nodes[target] = self.nodes[source]
        return True

    def unlink(self, path: str) -> None:
        if self.look(path) is not None:
            self.nodes[path] = None

    def mkdir(self, path: str) -> None:
        if self.look(path) is None:
            self._parent(path)
            self.nodes[path] = self._node(None, FOLDER)

    def rmdir(self, path: str) -> bool:
        look = self.look(path)
        if look is None or look.kind != "folder" or self.names(path):
            return False
        self.nodes[path] = None
        return True

    def sync(self, folder: str) -> None:
        pass

    def still(self, path: str, patience: float = 0.0) -> bool:
        return True

    @contextmanager
    def hold(self, path: str, wait: float) -> Iterator[int | None]:
        yield -1

    # Below

    def _node(self, data: bytes | None, mode: int) -> Node:
        return Node(data, mode, next(self._numbers))

    def _lift(self, path: str) -> None:
        """Have a file of the disk in memory."""
        if path not in self.nodes:
            look = self.below.look(path)
            self.nodes[path] = self._node(self._whole(path), look.mode if look else 0o644)

    def _whole(self, path: str) -> bytes:
        pieces: list[bytes] = []
        while piece := self.below.tail(path, sum(map(len, pieces)), 1 << 24):
            pieces.append(piece)
        return b"".join(pieces)

    def _data(self, path: str) -> bytearray:
        node = self.nodes[path]
        if node is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        if node.data is None:
            raise IsADirectoryError(errno.EISDIR, "a folder", path)
        return node.data

    def _free(self, path: str) -> None:
        if self.look(path) is not None:
            raise FileExistsError(errno.EEXIST, "the name is taken", path)

    def _parent(self, path: str) -> None:
        folder = os.path.dirname(path)  # noqa: PTH120
        look = self.look(folder)
        if look is None:
            raise FileNotFoundError(errno.ENOENT, "no such folder", folder)

    def _beneath(self, folder: str) -> Iterator[tuple[str, Node | None]]:
        for path, node in self.nodes.items():
            if os.path.dirname(path) == folder:  # noqa: PTH120
                yield os.path.basename(path), node  # noqa: PTH119
