"""Where errors become a sentence and an exit code, once."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import click

from reverie_hookspecs import PluginError, ReverieError

from .terminal import plain, say

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")


class Failure(click.ClickException):
    """A failure that was explained; click prints it and exits with its code."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = exit_code


class Told(logging.Handler):
    """Prints log lines to whatever standard error is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(OSError, ValueError):  # whoever listened may have gone
            say(self.format(record), err=True)


@contextmanager
def translated(ctx: click.Context) -> Iterator[None]:
    """Turn what a command raises into a message and an exit code; with --verbose, the traceback too."""
    verbose = bool(ctx.params.get("verbose"))
    listen(verbose, bool(ctx.params.get("quiet")))
    try:
        yield
    except ReverieError as error:
        logging.getLogger("reverie").debug("refused", exc_info=True)
        raise Failure(told(error), error.exit_code) from error
    except (click.ClickException, click.exceptions.Exit, click.Abort):
        raise
    except BrokenPipeError:
        quit_quietly()
    except Exception as error:
        if verbose:
            raise
        kind = "" if type(error) is RuntimeError else f"{type(error).__name__}: "  # a run's own fault names its kind
        told_of = plain(f"{kind}{error}")
        raise Failure(f"{told_of}\nThis is a fault of reverie or a plugin; --verbose shows where.", 1) from error


def quit_quietly() -> None:
    """End as a program does whose reader has gone: whatever is still to be flushed goes nowhere."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise click.exceptions.Exit(1)


def told(error: ReverieError) -> str:
    """The message; where a plugin broke a rule, with the plugin and hook it came from."""
    notes = [note for note in getattr(error, "__notes__", ()) if note not in str(error)]
    return plain(f"{error} ({', '.join(notes)})" if notes and isinstance(error, PluginError) else str(error))


def listen(verbose: bool, quiet: bool) -> None:
    """Send the log to standard error at the level that was asked for."""
    named = os.environ.get("REVERIE_LOG_LEVEL", "").upper()
    level = "DEBUG" if verbose else "ERROR" if quiet else named if named in LEVELS else "WARNING"
    root = logging.getLogger("reverie")
    root.setLevel(level)
    if not root.handlers:
        logs = Told()
        logs.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
        root.addHandler(logs)
