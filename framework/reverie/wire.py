"""Standard input and output, kept for a protocol alone."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper
from typing import Final, NamedTuple, TextIO

from reverie_hookspecs import Refused

FIRST: Final = 3


class Wire(NamedTuple):
    """Where a client writes to us, and reads from us, in UTF-8 lines."""

    reads: TextIO
    writes: TextIO


def taken() -> Wire:
    """Take the two streams away from everybody else in this process, for as long as it lives.

    From then on descriptor 0 is empty and 1 leads to standard error, for child processes too: what a plugin prints,
    when it is imported or called, is no part of the protocol.
    """
    import fcntl

    try:
        wire = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST) for fd in (0, 1)]
    except OSError:
        raise Refused(
            "standard input or output is closed, and they are what this speaks over; let a client start it"
        ) from None
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    with suppress(OSError):  # there is no standard error
        os.dup2(2, 1)
    if nothing > 2:
        os.close(nothing)
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(line_buffering=True)
    source = TextIOWrapper(
        BufferedReader(FileIO(wire[0], "r", closefd=False)), encoding="utf-8", errors="replace", newline="\n"
    )
    sink = TextIOWrapper(BufferedWriter(FileIO(wire[1], "w", closefd=False)), encoding="utf-8", newline="\n")
    return Wire(source, sink)
