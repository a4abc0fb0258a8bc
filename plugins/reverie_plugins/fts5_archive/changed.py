"""The sources that changed in a run, each read when it is asked for: a first run changes all there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from reverie_hookspecs import ArchiveSettings, Chunk, Corpus, Entry, NotFound, Refused, Source, Unreadable

from .cut import parts
from .get import text_of
from .provenance import classify
from .scan import indexable


class Changed(Sequence[Source]):
    """A sequence of sources that holds no text. A file that changed since is given as it is now, one that is gone as
    an empty one; the next run tells of either."""

    def __init__(self, corpus: Corpus, paths: Sequence[str]) -> None:
        self.corpus, self.paths = corpus, tuple(paths)

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[Source]:
        return (self.source(path) for path in self.paths)

    @overload
    def __getitem__(self, place: int) -> Source: ...
    @overload
    def __getitem__(self, place: slice) -> Changed: ...
    def __getitem__(self, place: int | slice) -> Source | Changed:
        if isinstance(place, slice):
            return Changed(self.corpus, self.paths[place])
        return self.source(self.paths[place])

    def __repr__(self) -> str:
        return f"Changed({len(self.paths)} sources of {self.corpus.name})"

    def source(self, path: str) -> Source:
        """One of them, read and cut up."""
        settings = self.corpus.settings[ArchiveSettings]
        try:
            text = text_of(self.corpus, path)
        except (NotFound, Refused, Unreadable):
            text = ""
        made = parts(path, text, "memory", settings.chunk_tokens, settings.chunk_overlap)
        lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        entries = (
            Entry(life.key.hex(), "\n".join(lines[life.start - 1 : life.end]), life.start, life.end, life.importance)
            for life in made.entries
        )
        chunks = (Chunk(piece.text, piece.start, piece.end, piece.path) for piece in made.pieces)
        added = not indexable(path, self.corpus.kind)
        origin = "untrusted" if added else classify(path, self.corpus.kind)
        return Source(path, text, origin, tuple(entries), tuple(chunks))
