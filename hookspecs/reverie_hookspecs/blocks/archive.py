"""The searchable archive."""

from __future__ import annotations

from attrs import frozen

from reverie_hookspecs.settings import Block, Settings, flag, integer, text

from .isolation import IsolationSettings


def tokenizer(value: str) -> str:
    """One of the FTS5 tokenizers that SQLite ships."""
    if value not in ("unicode61", "trigram", "porter", "ascii"):
        raise ValueError("one of unicode61, trigram, porter, ascii")
    return value


@frozen
class ArchiveSettings(Block):
    """How memory is cut up and indexed."""

    path = "knowledge.archive"

    enabled: bool = flag(True)
    """Switch of the archive; off means no database, no tools, nothing moved out."""
    tokenizer: str = text("unicode61", tokenizer)
    """FTS5 tokenizer: unicode61, trigram, porter or ascii."""
    chunk_tokens: int = integer(400, 16)
    """Target size of a chunk in tokens."""
    chunk_overlap: int = integer(80)
    """Overlap of neighbouring chunks in tokens, always below ``chunkTokens``."""

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "chunk_overlap", min(self.chunk_overlap, self.chunk_tokens - 1))


def archive_off(settings: Settings) -> str:
    """Why the settings switch an agent's archive off, or nothing."""
    if settings[IsolationSettings].disable_archive:
        return "disableArchive is true"
    return "" if settings[ArchiveSettings].enabled else "knowledge.archive.enabled is false"
