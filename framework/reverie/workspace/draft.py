"""What a write is to be, worked out before anything is touched: pure functions on bytes."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

from attrs import evolve

from reverie.journal import Block, Write, digest
from reverie_hookspecs import ABSENT, Moved, Snapshot, TooLarge, WriteRefused

from .disk import LIMIT
from .reading import binary


def same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots are of the same content; a missing file is not an empty one."""
    return one.data == other.data and (one.state == "missing") == (other.state == "missing")


def new_id() -> str:
    """What ties the writes of one batch together."""
    return os.urandom(6).hex()


def numbered(writes: Sequence[Write]) -> list[Write]:
    """The writes as one batch."""
    key = new_id()
    return [evolve(write, id=key, number=number, of=len(writes)) for number, write in enumerate(writes)]


def ends(before: bytes | None, after: bytes | None) -> dict[str, Any]:
    """Digests and sizes of the two ends of a write; None is no file."""
    return {
        "before": ABSENT if before is None else digest(before),
        "after": ABSENT if after is None else digest(after),
        "size": len(before or b""),
        "length": len(after or b""),
    }


def encoded(text: str) -> bytes:
    """The bytes of a text that may hold bytes that are no UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def sound(path: str, data: bytes) -> None:
    """WriteRefused for content that could not be read again."""
    if len(data) > LIMIT:
        raise TooLarge(f"{path} was not written: the text is over {LIMIT // 1024 // 1024} MiB; split it")
    if flaw := binary(data):
        raise WriteRefused(f"{path} was not written: the text would be no text any more ({flaw})")


def lead_in(file: Snapshot, heading: str) -> bytes:
    """What stands between a file and what is appended: a heading if it is new, a newline if its last line has none."""
    if not file.data:
        return encoded(heading if not heading or heading.endswith("\n") else f"{heading}\n\n")
    return b"" if file.data.endswith((b"\n", b"\r")) else file.newline.encode()


def grouped(moved: Iterable[Moved]) -> dict[str, tuple[str, list[bytes]]]:
    """Archive -> its heading, and the blocks that go there, in order."""
    headings: dict[str, str] = {}
    texts: dict[str, list[bytes]] = {}
    for block in moved:
        if block.text:
            headings[block.to] = headings.get(block.to) or block.heading
            texts.setdefault(block.to, []).append(encoded(block.text))
    return {to: (headings[to], blocks) for to, blocks in texts.items()}


def sifted(archive: Snapshot, texts: Iterable[bytes], left: dict[Block, int]) -> tuple[list[bytes], list[Block]]:
    """Blocks to append, and those that a killed run left in the archive; ``left`` is counted down."""
    fresh: list[bytes] = []
    old: list[Block] = []
    for data in texts:
        block = (archive.path, digest(data)) if left else ("", "")
        if left.get(block, 0) > 0 and data in archive.data:
            left[block] -= 1
            old.append(block)
        else:
            fresh.append(data)
    return fresh, old
