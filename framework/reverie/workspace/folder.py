"""Files over a folder: a workspace, a vault, or either of them behind an overlay."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from reverie_hookspecs import Committed, Decide, Edit, Refused, Run, Snapshot, StaleSnapshot, WriteRefused

from . import reading
from .disk import Disk
from .place import solid, writable

if TYPE_CHECKING:
    from reverie.journal import Journal

    from .change import Change
    from .overlay import Node, Overlay
    from .pen import Pen

RECORDS: Final = ".dreaming"
ELSEWHERE: Final = ".history"
"""Where the write lock of a root lies whose records are kept outside of it."""
JOURNAL: Final = "journal.jsonl"
BACKUPS: Final = "backups"
PATIENCE: Final = 30.0
"""Seconds a write waits for another one."""
HINTS: Final = {
    errno.ENOSPC: "free some space",
    errno.EDQUOT: "free some space",
    errno.EACCES: "see to the permissions",
    errno.EPERM: "see to the permissions",
    errno.EROFS: "make the file system writable",
    errno.ENAMETOOLONG: "take a shorter name",
}


class Folder:
    """The files below one root, as ``Files`` says; records of the writes lie in a folder of their own."""

    def __init__(self, root: Path, records: Path, disk: Disk, wait: float = PATIENCE) -> None:
        self.root = root
        self.records = records
        self.disk = disk
        self.wait = wait
        self._base = str(root)
        self._made: Pen | None = None

    @classmethod
    def at(cls, root: Path | str, records: Path | str | None = None, disk: Disk | None = None) -> Folder:
        """The files below ``root``, which may be reached through a link; the default for records is ``.dreaming``.

        The write lock lies with the records; in ``.history`` of the root, if they are kept outside of it.
        """
        home = Path(root).resolve()
        return cls(home, Path(records).resolve() if records else home / RECORDS, disk or Disk())

    def overlay(self) -> Folder:
        """The same files for a dry run: what is written stays in memory and is read from there."""
        from .overlay import Overlay

        return Folder(self.root, self.records, Overlay(self.disk), self.wait)

    def beside(self, root: Path | str) -> Folder:
        """The files below another root, with their writes in the records of this one."""
        return Folder(Path(root), self.records, self.disk, self.wait)

    # Reading

    def read(self, path: str) -> Snapshot:
        """What the file holds now."""
        return reading.snapshot(self.disk, self._base, path)

    def names(self, folder: str = "", *, deep: bool = False) -> list[str]:
        """Paths of the Markdown files in a folder, sorted; none if there is no such folder."""
        return reading.names(self.disk, self._base, folder, deep)

    def changes(self) -> list[Change]:
        """What a dry run would have changed, by path; nothing of a folder that is no overlay."""
        from .change import Change
        from .overlay import Overlay

        if not isinstance(self.disk, Overlay):
            return []
        prefix = f"{self._base}/"
        files = (path for path, node in self.disk.nodes.items() if _was_file(self.disk, path, node))
        found = sorted(path.removeprefix(prefix) for path in files if path.startswith(prefix))
        both = ((path, reading.snapshot(self.disk.below, self._base, path), self.read(path)) for path in found)
        return [Change(*one) for one in both if self._visible(one[0]) and _differ(one[1], one[2])]

    # Writing

    def commit(self, path: str, decide: Decide, run: Run) -> Committed:
        """Read, decide, archive what leaves, compare, replace; on a difference decide once more, then leave it.

        ``decide`` is called a second time under the write lock, so it should be quick.
        """
        from .mend import mend

        before = self._writable(path)
        edit = decide(before)
        if edit is None or _idle(before, edit):
            return Committed("unchanged", before, edit)
        with self.writing() as pen:
            if self._put(pen, before, edit, run):
                return Committed("written", before, edit)
            with explained(path):
                mend(pen)
                before = pen.read(path)
            edit = decide(before)
            if edit is None or _idle(before, edit):
                return Committed("unchanged", before, edit)
            written = self._put(pen, before, edit, run)
            return Committed("written" if written else "contested", before, edit)

    def replace(self, snapshot: Snapshot, text: str, run: Run) -> None:
        """Put a new text in the place of what was read; StaleSnapshot if it is no longer there."""
        edit = Edit(text)
        if _idle(reading.readable(snapshot), edit) and snapshot.state != "missing":
            return
        self._writable(snapshot.path)
        with self.writing() as pen:
            _fresh(snapshot, self._put(pen, snapshot, edit, run))

    def append(self, path: str, text: str, run: Run, *, heading: str = "") -> None:
        """Add text at the end of a file, on a line of its own; a new file begins with ``heading``."""
        self._writable(path)
        if not text:
            return
        with self.writing() as pen, explained(path):
            pen.append(path, text, run, heading)

    def remove(self, snapshot: Snapshot, run: Run) -> None:
        """Take the file away, its content kept as a pre-image; StaleSnapshot if it changed meanwhile."""
        if reading.readable(snapshot).state == "missing":
            return
        self._writable(snapshot.path)
        with self.writing() as pen, explained(snapshot.path):
            _fresh(snapshot, pen.put(snapshot, None, run))

    def rename(self, snapshot: Snapshot, path: str, run: Run) -> None:
        """Give the file another name that is not taken (Refused); StaleSnapshot if it changed meanwhile."""
        reading.readable(snapshot)
        self._writable(path)
        with self.writing() as pen, explained(snapshot.path):
            _fresh(snapshot, snapshot.state != "missing" and pen.rename(snapshot, path, run))

    # Records

    def lock(self, wait: float = 0.0) -> AbstractContextManager[None]:
        """The one lock of a run here, over all processes; Refused if another is under way."""
        from .lock import lock

        return lock(self.records / "lock", wait, self.disk)

    def repair(self, run: Run | None = None) -> list[str]:
        """Finish or take back what a killed run left, a sentence for each; every write does so first, too."""
        if self.disk.look(str(self.records / JOURNAL)) is None:
            return []
        from .mend import mend

        with self._held() as pen:
            return mend(pen)

    def changed_by(self, run: Run) -> list[str]:
        """The files a run has changed, sorted; those of a vault by their absolute paths."""
        writes = self.journal.writes(run.id)
        paths = {(write.root, path) for write in writes for path in (write.path, write.to) if path}
        return sorted(path if root == "." else f"{root}/{path}" for root, path in paths)

    def record(self, name: str, text: str, heading: str = "") -> None:
        """Add text to a file of the records that is only read by people and programs; it is not journalled."""
        path = str(self.records / name)
        with explained(name):
            solid(self.disk, str(self.records))
            look = self.disk.look(path)
            if look is None:
                return self._recorded(path, (heading + text).encode("utf-8", "surrogateescape"))
            torn = look.size > 0 and self.disk.tail(path, look.size - 1, 1) != b"\n"
            self.disk.append(path, b"\n" * torn + text.encode("utf-8", "surrogateescape"))
        return None

    def _recorded(self, path: str, data: bytes) -> None:
        """Make a new file of the records, whole or not at all."""
        new = f"{path}.new"
        self.disk.unlink(new)
        try:
            self.disk.create(new, data)
            self.disk.move(new, path)
        except OSError:
            self.disk.unlink(new)
            raise

    @property
    def journal(self) -> Journal:
        """The journal of the writes."""
        return self.pen.journal

    @contextmanager
    def writing(self) -> Iterator[Pen]:
        """The pen, under the write lock, once what killed runs left is put right."""
        from .mend import mend

        with self._held() as pen:
            with explained(self._base):
                mend(pen)
            yield pen

    # Below

    @contextmanager
    def _held(self) -> Iterator[Pen]:
        own = self.records.parent == self.root
        guard = (self.records if own else self.root / ELSEWHERE) / "write-lock"
        with ExitStack() as stack:
            with explained(self._base):
                for folder in (self.records, guard.parent):
                    solid(self.disk, str(folder))
                fd = stack.enter_context(self.disk.hold(str(guard), self.wait))
            if fd is None:
                raise Refused(f"another write in {self._base} has been under way for {self.wait:g} s; try again")
            yield self.pen

    @property
    def pen(self) -> Pen:
        """What writes; only under the write lock may it."""
        if self._made is None:
            from reverie.journal import Journal

            from .backup import Backups
            from .pen import Pen

            home = "." if self.records.parent == self.root else self._base
            journal = Journal(str(self.records / JOURNAL), self.disk)
            self._made = Pen(self._base, home, self.disk, journal, Backups(str(self.records / BACKUPS), self.disk))
        return self._made

    def _writable(self, path: str) -> Snapshot:
        """What a file holds that is about to be written; refused before anything is made for it."""
        with explained(path):
            if not self._visible(path):
                raise Refused(f"{path} belongs to reverie's own records and is written by nobody else; name another")
            writable(self.disk, self._base, path)
        return reading.readable(self.read(path))

    def _visible(self, path: str) -> bool:
        inside = self.records.is_relative_to(self.root)
        own = f"{self.records.relative_to(self.root)}/" if inside else "\0"
        rest = path.removeprefix(own)
        hidden = rest != path and (rest.startswith(BACKUPS) or rest in (JOURNAL, "lock", "write-lock"))
        return not hidden and not path.rpartition("/")[2].startswith(".reverie-")

    def _put(self, pen: Pen, before: Snapshot, edit: Edit, run: Run) -> bool:
        with explained(before.path):
            return pen.put(before, before.encode(edit.text), run, edit.moved)


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn what the operating system says into a sentence; the writes below have taken back what they began."""
    try:
        yield
    except OSError as error:
        what = os.strerror(error.errno).lower() if error.errno else str(error)
        hint = HINTS.get(error.errno or 0, "see to the disk")
        raise WriteRefused(f"{path} was not written: {what}. The old file is intact; {hint} and try again") from error
    except UnicodeEncodeError as error:
        raise WriteRefused(f"{path} was not written: the text holds half a character; mend it and try again") from error


def _was_file(disk: Overlay, path: str, node: Node | None) -> bool:
    """Whether an overlay has a file there, or has taken one away."""
    if node is not None:
        return node.kind == "file"
    look = disk.below.look(path)
    return look is None or look.kind == "file"


def _idle(before: Snapshot, edit: Edit) -> bool:
    """Whether an edit would leave the file as it is; to make a file of nothing counts as that."""
    return before.text == edit.text


def _fresh(snapshot: Snapshot, written: bool) -> None:
    if not written:
        raise StaleSnapshot(f"{snapshot.path} is no longer what it was when it was read; read it again")


def _differ(one: Snapshot, other: Snapshot) -> bool:
    return one.state != other.state or one.data != other.data
