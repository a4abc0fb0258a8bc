"""Reading and writing the files of a workspace or a vault: the values, and the one way to write."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal, Protocol

from attrs import field, frozen

from .errors import Unreadable

State = Literal["text", "empty", "missing", "unreadable"]
ABSENT: Final = "absent"
"""The digest of a file that is not there."""
BOM: Final = b"\xef\xbb\xbf"


@frozen
class Snapshot:
    """What one file held at one moment; unreadable is never empty.

    ``path`` is relative to its root, with forward slashes. ``text`` is the content without a BOM, its
    newlines as they are; bytes that are no UTF-8 stand in it as lone surrogates, so that it encodes back
    to the same bytes. Of an unreadable file there is only a ``reason``; asking for its text or digest raises
    Unreadable.
    """

    path: str
    state: State
    data: bytes = field(default=b"", repr=False)
    reason: str = ""

    @property
    def text(self) -> str:
        self._demand()
        return self.data.removeprefix(BOM).decode("utf-8", "surrogateescape")

    @property
    def bom(self) -> bool:
        """Whether the file begins with a byte order mark."""
        return self.data.startswith(BOM)

    @property
    def newline(self) -> str:
        r"""The newline most of its lines end with: ``\n``, ``\r\n`` or ``\r``; ``\n`` if it has none."""
        pairs = self.data.count(b"\r\n")
        counts = {"\n": self.data.count(b"\n") - pairs, "\r\n": pairs, "\r": self.data.count(b"\r") - pairs}
        return max(counts, key=counts.__getitem__)

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes in hex, or ``absent``; Unreadable if nobody knows the bytes."""
        from hashlib import sha256  # 7 ms, which reading alone does not need

        self._demand()
        return ABSENT if self.state == "missing" else sha256(self.data).hexdigest()

    def encode(self, text: str) -> bytes:
        """The bytes a new text of this file has: its BOM is kept."""
        return (BOM if self.bom else b"") + text.encode("utf-8", "surrogateescape")

    def _demand(self) -> None:
        if self.state == "unreadable":
            raise Unreadable(f"{self.path} cannot be read: {self.reason}")


@frozen
class Run:
    """One run that may write: whoever changes a file says under which.

    ``id`` is ``<agent>-<UTC time>-<4 hex>``; ``started`` carries the agent's zone, so ``day`` is its local date.
    """

    id: str
    agent: str
    kind: str
    started: datetime

    @property
    def day(self) -> date:
        return self.started.date()


@frozen
class Moved:
    """A block of text that leaves a file, and the archive that it goes to, whole and verified, first.

    ``text`` is exactly what is appended there, its own newline included; ``heading`` begins the archive if it is new.
    """

    to: str
    text: str
    heading: str = ""


@frozen
class Edit:
    """What a commit is to make of one file: its whole new text, and what must stand elsewhere before."""

    text: str
    moved: tuple[Moved, ...] = ()


@frozen
class Committed:
    """How a commit ended: ``written``; ``unchanged``, there was nothing to do; ``contested``, left alone, since
    somebody else kept writing. ``before`` is the snapshot that was decided on, ``edit`` what was decided."""

    outcome: Literal["written", "unchanged", "contested"]
    before: Snapshot
    edit: Edit | None = None


Decide = Callable[[Snapshot], Edit | None]


class Files(Protocol):
    """One root and everything below it: the only way to write a memory file or a note.

    Paths are relative, with forward slashes; one that leaves the root, or passes a link below it, raises Refused.
    Each write is a line of the journal and can be undone.
    """

    @property
    def root(self) -> Path:
        """The folder, resolved."""

    def read(self, path: str) -> Snapshot:
        """What the file holds now."""

    def names(self, folder: str = "", *, deep: bool = False) -> list[str]:
        """Paths of the Markdown files in a folder, sorted; none if there is no such folder.

        Links and dot names are left out. Raises Unreadable if a listing cannot be had.
        """

    def commit(self, path: str, decide: Decide, run: Run) -> Committed:
        """Read, decide, archive what leaves, compare, replace; on a difference decide once more, then leave it.

        The second time ``decide`` is called while other writes wait, so it should be quick.
        """

    def replace(self, snapshot: Snapshot, text: str, run: Run) -> None:
        """Put a new text in the place of what was read; StaleSnapshot if it is no longer there."""

    def append(self, path: str, text: str, run: Run, *, heading: str = "") -> None:
        """Add text at the end of a file, on a line of its own; a new file begins with ``heading``."""

    def remove(self, snapshot: Snapshot, run: Run) -> None:
        """Take the file away, its content kept as a pre-image; StaleSnapshot if it changed meanwhile."""

    def rename(self, snapshot: Snapshot, path: str, run: Run) -> None:
        """Give the file another name that is not taken (Refused); StaleSnapshot if it changed meanwhile."""
