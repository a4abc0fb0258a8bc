"""The pen: every write below one root, journalled, compared, backed up. Held under the root's write lock."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Sequence

from attrs import define, evolve, field

from reverie.journal import Block, Journal, Write, changed
from reverie_hookspecs import ABSENT, Moved, Refused, Run, Snapshot, StaleSnapshot

from . import draft, mend
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
        """What a file that may be written holds; Unreadable or Refused if nobody can say."""
        writable(self.disk, self.root, path)
        return readable(snapshot(self.disk, self.root, path))

    def held(self, path: str) -> bytes | None:
        """The bytes of a file that may be written, or None."""
        return content(self.disk, writable(self.disk, self.root, path))

    # The four writes

    def put(
        self,
        before: Snapshot,
        data: bytes | None,
        run: Run,
        moved: Iterable[Moved] = (),
        *,
        mode: int = 0,
    ) -> bool:
        """Let a file hold ``data``, or take it away (None), once what leaves it stands in its archives.

        False if the file is not, or no longer, what ``before`` says: then nothing is written anywhere. ``mode`` is
        that of a file to be made.
        """
        drafts, reused = self._archives(before.path, moved, run)
        if not draft.same(self.read(before.path), before):
            return False
        batch = draft.numbered([*drafts, self._main(before, data, run, mode)])
        self.journal.intend(batch)
        laid: list[Write] = []
        try:
            result = self._perform(batch, laid, before, data)
        except BaseException:
            mend.abandon(self, [*laid, *batch[len(laid) :]], "an error came in between")
            raise
        if isinstance(result, Overtaken):
            self.rescue(batch[-1], result)
            mend.retract(self, batch, laid, "somebody else wrote to it")
            return False
        self.conclude(laid, result, reused)
        return True

    def append(self, path: str, text: str, run: Run, heading: str = "") -> None:
        """Add text at the end of a file, on a line of its own."""
        for _ in range(5):
            [write] = draft.numbered([self._append(self.read(path), [draft.encoded(text)], heading, run)])
            self.journal.intend([write])
            try:
                laid = self.lay(write)
            except BaseException:
                mend.abandon(self, [write], "an error came in between")
                raise
            if laid is not None:
                return self.conclude([], Swapped(laid))
            mend.retract(self, [write], [], "somebody else made or took away the file")
        raise StaleSnapshot(f"{path} was not written: somebody else keeps making and removing it; try again")

    def rename(self, before: Snapshot, path: str, run: Run) -> bool:
        """Give a file a name that is not taken; False if it is not what ``before`` says."""
        target, source = writable(self.disk, self.root, path), writable(self.disk, self.root, before.path)
        look = self.disk.look(source)
        if look is None or not draft.same(self.read(before.path), before):
            return False
        if self.disk.look(target):
            raise taken(path)
        made = self.folders(path)
        write = Write(
            draft.new_id(),
            run.id,
            before.path,
            "rename",
            **draft.ends(before.data, before.data),
            root=self.home,
            mode=look.mode,
            to=path,
            made=made,
        )
        self.journal.intend([write])
        try:
            self.make(made)
            self.disk.move(source, target)
            self.disk.sync(os.path.dirname(target))  # noqa: PTH120
        except BaseException as error:
            mend.abandon(self, [write], "an error came in between")
            if isinstance(error, FileExistsError):
                raise taken(path) from error
            raise
        self.conclude([], Swapped(write))
        return True

    # Their steps

    def lay(self, write: Write) -> Write | None:
        """Append what an intent says, and read it back; the write as it came out, None if the file is another now."""
        path, data = self.at(write.path), write.data
        self.make(write.made)
        if write.before == ABSENT:
            laid = place(self.disk, spot(self.root, write), data)
            return write if laid and (content(self.disk, path) or b"").startswith(data) else None
        try:
            offset = self.disk.append(path, data)
            if self.disk.tail(path, offset, len(data)) != data:
                return None
        except FileNotFoundError:
            return None
        return write if offset == write.size else self.shifted(write, offset)

    def shifted(self, write: Write, offset: int) -> Write:
        """An append that came to stand further down, since somebody else appended first."""
        held = (content(self.disk, self.at(write.path)) or b"")[: offset + len(write.data)]
        return evolve(write, **draft.ends(held[:offset], held))

    def conclude(self, laid: Sequence[Write], main: Swapped, reused: Sequence[Block] = ()) -> None:
        """Close the journal over writes that stand.

        A failure is told to the log alone: the write stands, and the next one finds the intent and closes it.
        """
        writes = [*laid, main.write]
        try:
            if main.found is not None:
                writes[-1] = self._regained(main.write, main.found)
            self.journal.close(writes, "written", reused=reused, lingering=main.lingering)
            if main.write.backup:
                self.backups.prune(self.label(main.write.path))
        except OSError as error:
            logger.warning("%s is written, but its journal could not be closed: %s", main.write.path, error)
        for write in writes:
            if write.backup or not write.size or (write.run, write.path) in self.kept:
                self.kept[write.run, write.path] = write.after

    def rescue(self, write: Write, result: Overtaken) -> None:
        """Keep a text of somebody else's that had no place left, among the pre-images."""
        if result.orphan:
            name = self._new_name(write.path)
            self.backups.take(name, result.orphan, 0o600)
            logger.warning("%s was written by two others at once: the older text is kept in %s", write.path, name)

    def make(self, folders: Iterable[str]) -> None:
        """Make folders, outermost first."""
        for folder in folders:
            self.disk.mkdir(self.at(folder))
            self.disk.sync(os.path.dirname(self.at(folder)))  # noqa: PTH120

    def tidy(self, folders: Sequence[str]) -> None:
        """Take folders away that are empty; they are given outermost first."""
        for folder in reversed(folders):
            self.disk.rmdir(self.at(folder))

    def folders(self, path: str) -> tuple[str, ...]:
        """The folders to make for a file, outermost first."""
        parts = path.split("/")[:-1]
        ways = ["/".join(parts[: index + 1]) for index in range(len(parts))]
        return tuple(way for way in ways if self.disk.look(self.at(way)) is None)

    def label(self, path: str) -> str:
        """What the pre-images of a file are called after: its path, absolute where the root is not the journal's."""
        return path if self.home == "." else self.at(path)

    def _perform(
        self, batch: Sequence[Write], laid: list[Write], before: Snapshot, data: bytes | None
    ) -> Swapped | Overtaken:
        """Archives first, each put into ``laid`` as it came out, then the pre-image, then the file."""
        for write in batch[:-1]:
            done = self.lay(write)
            if done is None:
                return Overtaken()
            laid.append(done)
        write, at = batch[-1], spot(self.root, batch[-1])
        if write.backup:
            self.backups.take(write.backup, before.data, write.mode)
        self.make(write.made)
        if data is None:
            return retire(self.disk, at, write, before.data)
        if write.before == ABSENT:
            return Swapped(write) if place(self.disk, at, data, write.mode or None) else Overtaken()
        return swap(self.disk, at, write, before.data, data)

    def _regained(self, write: Write, found: bytes) -> Write:
        """The write with a pre-image that holds, too, what was appended to the old file at the last moment."""
        if write.backup:
            self.backups.extend(write.backup, found)
            return write
        name = self._new_name(write.path)
        self.backups.take(name, found, write.mode)
        return evolve(write, backup=name)

    # What they say before

    def _archives(self, path: str, moved: Iterable[Moved], run: Run) -> tuple[list[Write], list[Block]]:
        """One append for each archive; and the blocks that a killed run left there, which are not written again."""
        drafts: list[Write] = []
        reused: list[Block] = []
        groups = draft.grouped(moved)
        left = self.journal.left() if groups else {}
        if path in groups:
            raise Refused(f"{path} cannot be its own archive; name another file for what leaves it")
        for to, (heading, texts) in groups.items():
            archive = self.read(to)
            fresh, old = draft.sifted(archive, texts, left)
            reused += old
            if fresh:
                drafts.append(self._append(archive, fresh, heading, run))
        return drafts, reused

    def _append(self, file: Snapshot, texts: Sequence[bytes], heading: str, run: Run) -> Write:
        data = draft.lead_in(file, heading) + b"".join(texts)
        draft.sound(file.path, data)
        ends = draft.ends(None if file.state == "missing" else file.data, file.data + data)
        made = self.folders(file.path) if file.state == "missing" else ()
        text, blocks = data.decode("utf-8", "surrogateescape"), tuple(map(len, texts))
        return Write("", run.id, file.path, "append", **ends, root=self.home, text=text, blocks=blocks, made=made)

    def _main(self, before: Snapshot, data: bytes | None, run: Run, mode: int) -> Write:
        draft.sound(before.path, data or b"")
        missing = before.state == "missing"
        look = self.disk.look(self.at(before.path))
        hunk, text = changed(before.data, data) if data is not None else ((), "")
        return Write(
            "",
            run.id,
            before.path,
            "remove" if data is None else "replace",
            **draft.ends(None if missing else before.data, data),
            root=self.home,
            backup=self._backup(before, run) if before.data else "",
            mode=look.mode if look else mode,
            made=self.folders(before.path) if missing else (),
            text=text,
            hunk=hunk,
        )

    def _backup(self, before: Snapshot, run: Run) -> str:
        """The name of the pre-image to take; none if this run has one and nobody else wrote since."""
        if self.kept.get((run.id, before.path)) == before.digest:
            return ""
        label, began = self.label(before.path), int(run.started.timestamp() * 1000)
        newest = next(iter(self.backups.moments(label)), 0)
        if newest >= began and self._covered(before, run):
            return ""
        return name_of(label, max(began, newest + 1))

    def _covered(self, before: Snapshot, run: Run) -> bool:
        """Whether the journal holds a pre-image of this run, and the run wrote last; another pen may have held it."""
        here = (self.home, before.path)
        mine = [write for write in self.journal.writes(run.id) if (write.root, write.path) == here]
        return bool(mine) and mine[-1].after == before.digest and any(write.backup for write in mine)

    def _new_name(self, path: str) -> str:
        """A name for a pre-image taken now."""
        label = self.label(path)
        return name_of(label, max(now(), next(iter(self.backups.moments(label)), 0) + 1))


def now() -> int:
    return time.time_ns() // 1_000_000


def taken(path: str) -> Refused:
    return Refused(f"{path} exists already, and no file is put in its place; take another name")
