"""What became of one file."""

from __future__ import annotations

from attrs import frozen

from reverie_hookspecs import Snapshot


@frozen
class Change:
    """One file before and after; ``root`` is ``.``, or the vault's folder."""

    path: str
    before: Snapshot
    after: Snapshot
    root: str = "."
