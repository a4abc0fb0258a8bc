"""The pen: every write below one root, journalled, compared, backed up. Held under the root's write lock."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence

from attrs import define, evolve, field

from reverie_hookspecs import ABSENT, Moved, Refused, Run, Snapshot, StaleSnapshot

from ..journal import Block, Journal, Write, digest
from . import mend
from .backup import Backups, name_of
from .disk import Disk
from .place import writable
from .reading import readable, snapshot
from .swap import Overtaken, Swapped, content, place, retire, spot, swap

logger = logging.getLogger(__name__)


@define(eq=False)
class Pen:
    """Writes files below a root; ``home`` is what the journal calls the root."""

    root: str
    home: str
    disk: Disk
    journal: Journal
    backups: Backups
    kept: dict[tuple[str, str], str] = field(factory=dict)
    """(run, path) of files whose pre-image this run has -> the digest it left the file with."""

    def at(self, path: str) -> str:
        """The absolute path of one of the root's files."""
        return f"{self.root}/{path}"

    def read(self, path: str) -> Snapshot:
        """What a file holds; Unreadable or Refused if nobody can say."""
        writable(self.disk, self.root, path)
        return readable(snapshot(self.disk, self.root, path))

    # Writing

    def put(
        self,
        before: Snapshot,
        data: bytes | None,
        run: Run,
        moved: Iterable[Moved] = (),
        *,
        mode: int = 0,
        emptied: Sequence[str] = (),
    ) -> bool:
        """Let a file hold ``data``, or take it away (None), once what leaves it stands in its archives.

        False if the file is not, or no longer, what ``before`` says: then nothing is written anywhere. ``mode`` is
        that of a file to be made, ``emptied`` are folders to take away if the file leaves them empty.
        """
        path = before.path
        drafts, reused = self._drafts(path, moved, run)
        if self.read(path).data != before.data or self._missing(path) != (before.state == "missing"):
            return False
        batch = self._numbered([*drafts, self._main(before, data, run, mode)])
        self.journal.intend(batch)
        try:
            written = self._perform(batch, before, data)
        except BaseException:
            mend.abandon(self, batch, "an error came in between")
            raise
        if not isinstance(written, Swapped):
            self._keep_orphan(path, written, run)
            mend.abandon(self, batch, "somebody else wrote to it")
            return False
        self._tidy(emptied)
        self.conclude(batch[:-1], written, reused)
        return True

    def append(self, path: str, text: str, run: Run, heading: str = "") -> None:
        """Add text at the end of a file, on a line of its own."""
        for _ in range(5):
            draft = self._draft(self.read(path), [text.encode("utf-8", "surrogateescape")], heading, run)
            batch = self._numbered([draft])
            self.journal.intend(batch)
            try:
                laid = self.lay(batch[0])
            except BaseException:
                mend.abandon(self, batch, "an error came in between")
                raise
            if laid is not None:
                return self.conclude([], Swapped(laid))
            mend.abandon(self, batch, "somebody else made or took away the file")
        raise StaleSnapshot(f"{path} was not written: somebody else keeps making and removing it; try again")

    def rename(self, before: Snapshot, path: str, run: Run) -> bool:
        """Give a file a name that is not taken; False if it is not what ``before`` says."""
        target, source = writable(self.disk, self.root, path), writable(self.disk, self.root, before.path)
        look = self.disk.look(source)
        if look is None or self.read(before.path).data != before.data:
            return False
        self._free(path)
        found = {"before": before.digest, "after": before.digest, "size": len(before.data), "length": len(before.data)}
        made = self._folders(path)
        [write] = self._numbered([self._write(run, before.path, "rename", **found, mode=look.mode, to=path, made=made)])
        self.journal.intend([write])
        try:
            self.make(made)
            self.disk.move(source, target)
            self.disk.sync(os.path.dirname(target))  # noqa: PTH120
        except BaseException as error:
            mend.abandon(self, [write], "an error came in between")
            if isinstance(error, FileExistsError):
                self._free(path)
            raise
        self.conclude([], Swapped(write))
        return True

    # The steps of one write

    def lay(self, write: Write) -> Write | None:
        """Append what an intent says, and read it back; the write as it came out, None if the file is another now."""
        path, data = self.at(write.path), write.data
        self.make(write.made)
        if write.before == ABSENT:
            laid = place(self.disk, spot(self.root, write), data)
            return write if laid and content(self.disk, path) == data else None
        try:
            offset = self.disk.append(path, data)
            if self.disk.tail(path, offset, len(data)) != data:
                return None
        except FileNotFoundError:
            return None
        return write if offset == write.size else self.moved(write, offset)

    def moved(self, write: Write, offset: int) -> Write:
        """An append that came to stand further down, since somebody else appended first."""
        held = (content(self.disk, self.at(write.path)) or b"")[: offset + len(write.data)]
        ends = {"before": digest(held[:offset]), "after": digest(held), "size": offset, "length": len(held)}
        return evolve(write, **ends)

    def _perform(self, batch: list[Write], before: Snapshot, data: bytes | None) -> Swapped | Overtaken:
        """Archives first, then the pre-image, then the file; ``batch`` is kept as it comes out."""
        for index, write in enumerate(batch[:-1]):
            laid = self.lay(write)
            if laid is None:
                return Overtaken()
            batch[index] = laid
        write = batch[-1]
        if write.backup:
            self.backups.take(write.backup, before.data, write.mode)
        self.make(write.made)
        at = spot(self.root, write)
        if data is None:
            return retire(self.disk, at, write, before.data)
        if write.before == ABSENT:
            return Swapped(write) if place(self.disk, at, data, write.mode or None) else Overtaken()
        return swap(self.disk, at, write, before.data, data)

    def conclude(self, laid: Sequence[Write], main: Swapped, reused: Sequence[Block] = ()) -> None:
        """Close the journal over a write that stands.

        A failure here is told to the log alone: the write stands, and the next one finds the intent and closes it.
        """
        write = main.write
        try:
            if main.found is not None:
                write = self._regained(write, main.found)
            self.journal.close([*laid, write], "written", reused=reused, lingering=main.lingering)
            if write.backup:
                self.backups.prune(write.path, write.backup)
        except OSError as error:
            logger.warning("%s is written, but its journal could not be closed: %s", write.path, error)
        if write.backup or (write.run, write.path) in self.kept:
            self.kept[write.run, write.path] = write.after

    def _regained(self, write: Write, found: bytes) -> Write:
        """The write with a pre-image that holds what was appended to the old file at the last moment, too."""
        if write.backup:
            self.backups.extend(write.backup, found)
            return write
        name = self._free_name(write.path, write.run, 0)
        self.backups.take(name, found, write.mode)
        return evolve(write, backup=name)

    def make(self, folders: Iterable[str]) -> None:
        """Make folders, outermost first."""
        for folder in folders:
            self.disk.mkdir(self.at(folder))
            self.disk.sync(os.path.dirname(self.at(folder)))  # noqa: PTH120

    def _tidy(self, folders: Sequence[str]) -> None:
        for folder in reversed(folders):
            self.disk.rmdir(self.at(folder))

    # Drafting

    def _drafts(self, path: str, moved: Iterable[Moved], run: Run) -> tuple[list[Write], list[Block]]:
        """One append for each archive, less the blocks that a killed run left there."""
        groups: dict[str, list[Moved]] = {}
        for block in moved:
            groups.setdefault(block.to, []).append(block)
        if path in groups:
            raise Refused(f"{path} cannot be its own archive; name another file for what leaves it")
        drafts: list[Write] = []
        reused: list[Block] = []
        left = self.journal.left() if groups else {}
        for to, blocks in groups.items():
            archive = self.read(to)
            texts = []
            for data in (block.text.encode("utf-8", "surrogateescape") for block in blocks):
                key = (to, digest(data)) if left else ("", "")
                if left.get(key, 0) > 0 and data in archive.data:
                    left[key] -= 1
                    reused.append(key)
                else:
                    texts.append(data)
            if texts:
                drafts.append(self._draft(archive, texts, next((b.heading for b in blocks if b.heading), ""), run))
        return drafts, reused

    def _draft(self, file: Snapshot, texts: list[bytes], heading: str, run: Run) -> Write:
        """An append to a file: led in by the heading of a new one, or by the newline its last line lacks."""
        data = lead_in(file, heading) + b"".join(texts)
        whole = file.data + data
        found = {"before": file.digest, "after": digest(whole), "size": len(file.data), "length": len(whole)}
        text, blocks = data.decode("utf-8", "surrogateescape"), tuple(map(len, texts))
        made = self._folders(file.path) if file.state == "missing" else ()
        return self._write(run, file.path, "append", **found, text=text, blocks=blocks, made=made)

    def _main(self, before: Snapshot, data: bytes | None, run: Run, mode: int) -> Write:
        look = self.disk.look(self.at(before.path))
        after = ABSENT if data is None else digest(data)
        found = {"before": before.digest, "after": after, "size": len(before.data), "length": len(data or b"")}
        backup = self._backup(before, run) if before.data else ""
        made = self._folders(before.path) if before.state == "missing" else ()
        op = "remove" if data is None else "replace"
        return self._write(run, before.path, op, **found, backup=backup, mode=look.mode if look else mode, made=made)

    def _backup(self, before: Snapshot, run: Run) -> str:
        """The name of the pre-image to take; none if this run has one and nobody else wrote since."""
        if self.kept.get((run.id, before.path)) == before.digest:
            return ""
        name = name_of(before.path, milliseconds(run))
        if self.backups.there(name) and any(
            write.path == before.path and write.root == self.home and write.after == before.digest
            for write in self.journal.writes(run.id)[-1:]
        ):
            return ""
        return self._free_name(before.path, run.id, milliseconds(run))
