"""A section of the composed CLAUDE.md."""

from __future__ import annotations

from attrs import frozen


@frozen
class Section:
    """One section: ``--- TITLE ---`` on a line of its own, then the body; an empty body leaves the header alone.

    ``after`` and ``before`` name other sections; a name that nobody bears is ignored. ``file`` is the workspace file
    it shows, if any, and ``length`` that file's characters, so that a budget measures the source, not what a wrapper
    made of it. ``notes`` say what wrappers did, in the order they did it; they stand in the report, not in the text.
    """

    name: str
    body: str
    title: str = ""
    file: str = ""
    length: int = 0
    notes: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    before: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        """The title as shown: the name in capitals where none was given."""
        return self.title or self.name.upper().replace("-", " ")
