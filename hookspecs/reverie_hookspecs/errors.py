"""Everything reverie raises on purpose descends from ReverieError."""

from __future__ import annotations

from typing import ClassVar


class ReverieError(Exception):
    """A failure reverie can explain: one sentence says what, one says what to do.

    ``exit_code`` is what the launcher exits with, ``status`` what HTTP answers.
    """

    exit_code: ClassVar[int] = 1
    status: ClassVar[int] = 500


class ConfigError(ReverieError):
    """config.json cannot be used; ``problems`` holds every reason found, one sentence each."""

    exit_code = 2
    status = 500

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class PluginError(ReverieError):
    """A plugin cannot take its slot, or a hook of it broke its contract."""


class OrderError(PluginError):
    """Two things bear one name, or each asks to come before the other."""


class NotFound(ReverieError):
    """What was named does not exist."""

    status = 404


class UnknownAgent(NotFound):
    """No configured agent bears the name, and it is no workspace folder either."""

    exit_code = 2


class Refused(ReverieError):
    """The thing exists and may not be done; the sentence is written for whoever asked."""

    status = 409


class Unreadable(ReverieError):
    """A file or folder is there and could not be read; it is never taken for empty."""


class WriteRefused(ReverieError):
    """A write would have broken a promise; the old file is intact."""


class StaleSnapshot(WriteRefused):
    """The file is no longer what it was when it was read."""

    status = 412


class TooLarge(WriteRefused):
    """The text is over the limit of its place."""

    status = 400


class OverLoss(WriteRefused):
    """More of the original text would go than one run may take."""


class RunKilled(ReverieError):
    """A run was ended from outside: a stage ran over its limit, or its process died; what it changed can be undone."""
