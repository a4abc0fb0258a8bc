"""What a person sees: tables and colours on a terminal, plain lines in a pipe."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

import click

COLOURS = {"+": "green", "-": "red", "@": "cyan"}
UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
MARKS = {"ok": "green", "warn": "yellow", "fail": "red"}


def plain(text: str) -> str:
    """Foreign text as a terminal may have it: control and direction characters show as what they are.

    >>> plain("red \x1b[31m")
    'red \\x1b[31m'
    """
    return UNSAFE.sub(lambda found: ascii(found[0])[1:-1], text)


def say(text: str, *, err: bool = False, head: str = "") -> None:
    """Print a line that may hold foreign text; ``head`` is ours and may be coloured."""
    click.echo(head + plain(text), err=err)


def emit(value: object) -> None:
    """Print a value as JSON, for a program to read."""
    import json

    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


@contextmanager
def progress(text: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is under way, stage by stage; elsewhere nothing."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda stage: None
        return
    from rich.console import Console
    from rich.markup import escape

    with Console(stderr=True).status(escape(plain(text))) as shown:
        yield lambda stage: shown.update(escape(plain(f"{text}: {stage}")))


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows under headings: a table on a terminal, tab-separated in a pipe."""
    if sys.stdout is None or not sys.stdout.isatty():
        for row in (headings, *rows):
            click.echo("\t".join(plain(str(cell)) for cell in row))
        return
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False)
    for number, heading in enumerate(headings):  # the first column names the thing: it must be whole to be used
        drawn.add_column(heading, no_wrap=number == 0, overflow="fold", min_width=None)
    for row in rows:
        drawn.add_row(*(Text(plain(str(cell))) for cell in row))
    Console().print(drawn)


def diff(path: str, before: str, after: str, missing: bool = False, gone: bool = False) -> str:
    """A unified diff of one file, coloured; line ends other than a newline are shown as what they are."""
    from difflib import unified_diff

    path = plain(path)
    names = ("/dev/null" if missing else f"a/{path}", "/dev/null" if gone else f"b/{path}")
    lines = list(unified_diff(split(before), split(after), *names, lineterm=""))
    return "\n".join(coloured(line) for line in lines)


def split(text: str) -> list[str]:
    """Lines for a diff: a carriage return shows, a missing final newline too."""
    lines = text.split("\n")
    tail = [f"{lines[-1]}\\ no newline at the end"] if lines[-1] else []
    return [plain(line) for line in [*lines[:-1], *tail]]


def coloured(line: str) -> str:
    colour = COLOURS.get(line[:1])
    return click.style(line, fg=colour) if colour else line


def mark(state: str) -> str:
    """A state of a check, in its colour."""
    return click.style(f"{state:4}", fg=MARKS[state])


def budget(length: int, limit: int) -> str:
    """A size against its budget, in characters."""
    if not limit:
        return f"{length:,} characters (no budget)"
    return f"{length:,} of {limit:,} characters ({-(-length * 100 // limit)} %)"
