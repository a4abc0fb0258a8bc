"""A run as a process of its own, watched: what hangs in it can be ended, with everything it started."""

from __future__ import annotations

import json
import logging
import os
import select
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from io import FileIO
from typing import TYPE_CHECKING, Any, Final, NoReturn

from reverie_hookspecs import ConfigError, Refused, ReverieError, RunKilled, errors

if TYPE_CHECKING:
    from reverie_hookspecs import Stage

    Begins = Callable[[Stage], None]
    Work = Callable[[Begins], dict[str, Any]]

logger = logging.getLogger(__name__)

USUAL: Final = 600.0
"""Seconds for a stage that does not say how long it may take, and for all that comes before the first one."""
LONGEST: Final = 1e9
FAREWELL: Final = 5.0
"""Seconds a child may take to end once it has said how the run went, and to be gone once it was killed."""
LEFTOVERS: Final = 0.5
"""Seconds for what the child had started to be gone; it is dead sooner, but not everywhere is it reaped at once."""
TICK: Final = 0.05
LAPSE: Final = 0.25
"""Seconds of one look at the child that count at most: what is more, the watcher itself was stopped."""
GULP: Final = 1 << 20


def watched(work: Work, told: Callable[[str], None] = lambda stage: None) -> dict[str, Any]:
    """What ``work`` returns, done in a forked child: it tells each stage as it begins, whose name ``told`` hears.

    The child has its own session and dies with this process. Its log comes out here. A ReverieError of it is raised
    here as what it was, anything else as a RuntimeError. RunKilled where a stage ran over its limit, or the child
    died. When this returns or raises, the child is gone, and with it all it started and left in its process group.
    """
    with pipe() as (ears, mouth), pipe() as (lifeline, hold), held_back() as release:
        child = forked()
        if not child:
            live(work, mouth, lifeline, (ears, hold))
        watch = Watch(child, ears, told)
        try:
            mouth.close()
            lifeline.close()
            release()
            watch.keep()
        finally:
            watch.end()
    return watch.outcome()


@contextmanager
def pipe() -> Iterator[tuple[FileIO, FileIO]]:
    """The reading and the writing end of a pipe, both closed at the end."""
    source, sink = os.pipe()
    with FileIO(source, "r") as reading, FileIO(sink, "w") as writing:
        yield reading, writing


@contextmanager
def held_back() -> Iterator[Callable[[], object]]:
    """No signal is answered until the function is called: an interrupt must not fall between a fork and its care."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    release = partial(signal.pthread_sigmask, signal.SIG_SETMASK, mask)
    try:
        yield release
    finally:
        release()


def forked() -> int:
    """Fork; 0 in the child. What was printed so far is printed once."""
    flush()
    try:
        with warnings.catch_warnings():
            # From Python 3.12 on a fork beside other threads warns, for a lock that one of them holds stays locked in
            # the child. Ours has no thread yet; where a host has some, Python renews the locks it uses itself (those
            # of imports, logging and streams), and a child that hangs all the same is ended at its limit.
            warnings.filterwarnings("ignore", r"This process .*is multi-threaded", DeprecationWarning)
            return os.fork()
    except OSError as error:
        raise Refused(
            f"no process can be started for the run: {error.strerror}; try again when there is room"
        ) from None


def flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with suppress(AttributeError, OSError, ValueError):
            stream.flush()


def allowance(limit: object) -> float:
    """A stage's limit in seconds; 600 where it is not a positive, finite number."""
    if isinstance(limit, int | float) and not isinstance(limit, bool) and 0 < limit < float("inf"):
        return float(min(limit, LONGEST))
    return USUAL


# The child


def live(work: Work, mouth: FileIO, lifeline: FileIO, foreign: Iterable[FileIO]) -> NoReturn:
    """Be the child: do the work, say how it went, end. It never returns into what called, whatever happens."""
    code = 1
    try:
        for end in foreign:
            end.close()
        os.setsid()
        voice = Voice(mouth)
        voice.speak_for_logs()
        word = answer(work, voice, lifeline)
        flush()
        voice.write(word)
        code = 0
    finally:
        os._exit(code)


def answer(work: Work, voice: Voice, lifeline: FileIO) -> str:
    """How the work went, as a line."""
    try:
        forget_signals()
        tie(lifeline)
        return line({"result": work(voice.begins)})
    except ReverieError as error:
        return line(told_of(error))
    except BaseException as error:
        logger.debug("the run broke off", exc_info=True)
        return line({"error": "", "message": f"{type(error).__name__}: {error}"})


def line(message: dict[str, Any]) -> str:
    return json.dumps(message) + "\n"


def told_of(error: ReverieError) -> dict[str, Any]:
    """An error as a message; one of a plugin's own is its nearest ancestor here, whose exit code it has."""
    kind = next(cls for cls in type(error).__mro__ if cls.__module__ == errors.__name__)
    return {
        "error": kind.__name__,
        "message": str(error),
        "problems": [str(problem) for problem in getattr(error, "problems", ())],
        "notes": [str(note) for note in getattr(error, "__notes__", ())],
    }


def forget_signals() -> None:
    """What the parent does on a signal is not what its child does: each that is handled in Python ends it."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def tie(lifeline: FileIO) -> None:
    """Let this process group die when the other end of the pipe closes, which is when the parent is gone.

    Where the kernel can send the signal itself it does, for a thread waits while a regular expression, say, never
    lets go of the interpreter.
    """
    import fcntl

    try:
        fcntl.fcntl(lifeline, fcntl.F_SETOWN, -os.getpgrp())
        fcntl.fcntl(lifeline, fcntl.F_SETSIG, signal.SIGKILL)
        fcntl.fcntl(lifeline, fcntl.F_SETFL, fcntl.fcntl(lifeline, fcntl.F_GETFL) | os.O_ASYNC)
    except (AttributeError, OSError):
        threading.Thread(target=perish, args=(lifeline,), daemon=True).start()
    if has_news(lifeline, 0):  # it was gone before the kernel was asked
        perish(lifeline)


def perish(lifeline: FileIO) -> None:
    """Wait for the end of the pipe, then end all there is here."""
    lifeline.read(1)
    os.killpg(0, signal.SIGKILL)


class Voice:
    """What the child tells its parent: a line of JSON a message. To the log it is a stream like any other."""

    def __init__(self, mouth: FileIO) -> None:
        self.mouth = mouth
        self.turn = threading.Lock()

    def begins(self, stage: Stage) -> None:
        """Say that a stage begins."""
        self.write(line({"stage": str(stage.name), "limit": allowance(stage.limit)}))

    def write(self, text: str) -> None:
        rest = memoryview(text.encode("ascii"))
        with self.turn:
            while rest:
                rest = rest[self.mouth.write(rest) or 0 :]

    def flush(self) -> None:
        """Nothing is held back."""

    def speak_for_logs(self) -> None:
        """Log through the parent only, which has the terminal."""
        sink = logging.StreamHandler(self)
        sink.terminator = ""
        sink.setFormatter(Record())
        logging.getLogger("reverie").handlers = []
        logging.getLogger("reverie").propagate = True
        logging.getLogger().handlers = [sink]


class Record(logging.Formatter):
    """A log record as a message, its traceback at the end of its text."""

    def format(self, record: logging.LogRecord) -> str:
        return line({"log": record.levelno, "name": record.name, "text": super().format(record)})


# The parent


class Watch:
    """A parent at its child: the stage under way, how long it has taken, and what has been said of the run."""

    def __init__(self, child: int, ears: FileIO, told: Callable[[str], None]) -> None:
        os.set_blocking(ears.fileno(), False)
        self.child, self.ears, self.told = child, ears, told
        self.stage, self.limit, self.spent = "", USUAL, 0.0
        self.torn = bytearray()
        self.deaf = False
        self.pause = TICK
        self.looked = time.monotonic()
        self.code: int | None = None
        self.said: dict[str, Any] | None = None

    def keep(self) -> None:
        """Listen until the child has ended, or is over its limit; one may do the other while this looks away."""
        while self.code is None and self.spent <= self.limit:
            self.listen(self.pause)
            self.code = reaped(self.child)
        if self.code is not None:
            clear(self.child)  # first, so that nobody is left who could go on writing
            self.listen(0)

    def listen(self, seconds: float) -> None:
        """Hear what is said within that time."""
        if self.deaf:  # it closed its end, so it is about to die
            time.sleep(seconds)
            self.pause = min(self.pause * 2, TICK)
        news = not self.deaf and has_news(self.ears, seconds)
        now = time.monotonic()
        self.spent += min(now - self.looked, LAPSE)
        self.looked = now
        if news:
            self.hear(self.ears.read(GULP))

    def hear(self, data: bytes | None) -> None:
        """Take in what was read: nothing (None), the end (empty), or a piece that may end within a line."""
        if data == b"":
            self.deaf, self.pause = True, TICK / 100
        elif data:
            self.torn += data
            if b"\n" in data:
                *lines, self.torn = self.torn.split(b"\n")
                for one in lines:
                    self.heed(understood(one))

    def heed(self, message: dict[str, Any]) -> None:
        """Act on a message; what is none of ours is passed over, and the first word on the run stands."""
        match message:
            case {"log": int(level), "name": str(name), "text": str(text)}:
                logging.getLogger(name).log(level, "%s", text)
            case _ if self.said is not None:
                return
            case {"stage": str(name), "limit": limit}:
                self.stage, self.limit, self.spent = name, allowance(limit), 0.0
                self.told(name)
            case {"result": dict()} | {"error": str(), "message": str()}:
                self.said, self.limit, self.spent = message, FAREWELL, 0.0

    def end(self) -> None:
        """Kill the child if it lives, and all it started; once it is gone, do nothing: its id may be another's."""
        if self.code is not None:
            return
        for kill in (os.killpg, os.kill):  # it may not have its group yet
            with suppress(ProcessLookupError, PermissionError):
                kill(self.child, signal.SIGKILL)
        patiently(lambda: reaped(self.child) is not None, FAREWELL)
        clear(self.child)

    def outcome(self) -> dict[str, Any]:
        """The result that was told; else the error it is to be raised as."""
        if self.said is None:
            raise RunKilled(reason(self.stage, self.limit, self.code))
        if "result" in self.said:
            result: dict[str, Any] = self.said["result"]
            return result
        raise revived(self.said)


def understood(raw: bytes | bytearray) -> dict[str, Any]:
    """A message; an empty one where the line is torn or foreign."""
    try:
        message = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def revived(message: dict[str, Any]) -> Exception:
    """The error a message tells of."""
    if not message["error"]:
        return RuntimeError(message["message"])
    found = getattr(errors, message["error"], ReverieError)
    kind = found if isinstance(found, type) and issubclass(found, ReverieError) else ReverieError
    error = (
        ConfigError(message.get("problems") or [message["message"]])
        if kind is ConfigError
        else kind(message["message"])
    )
    for note in message.get("notes", ()):
        error.add_note(note)
    return error


def reason(stage: str, limit: float, code: int | None) -> str:
    """Why there is no result: ``code`` is how the child ended, minus the signal if by one, None if it did not."""
    place = f" in stage {stage}" if stage else " before its first stage"
    if code is None:
        seconds = f"{limit:.6f}".rstrip("0").rstrip(".")
        return (
            f"{f'stage {stage}' if stage else 'the start of the run'} exceeded its limit of {seconds} s and was ended"
        )
    if code < 0:
        return f"the run was ended by signal {-code}{place}"
    return f"the run ended with code {code} without a result{place}"


def reaped(child: int) -> int | None:
    """How a child ended, None while it lives; 0 where somebody else took notice of its end."""
    try:
        found, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:
        return 0
    return os.waitstatus_to_exitcode(status) if found else None


def clear(group: int) -> None:
    """Kill what is left of a process group, and wait until it is gone: it may hold the lock of the run."""
    patiently(lambda: not struck(group), LEFTOVERS)


def struck(group: int) -> bool:
    """Whether there was anybody in a group to be killed."""
    try:
        os.killpg(group, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def patiently(fits: Callable[[], bool], seconds: float) -> None:
    """Wait until something is so, or the time is up."""
    end, pause = time.monotonic() + seconds, 0.0005
    while not fits() and time.monotonic() < end:
        time.sleep(pause)
        pause = min(pause * 2, TICK)


def has_news(source: FileIO, seconds: float) -> bool:
    """Whether there is something to read within that time, be it the end; select would refuse high descriptors."""
    waiting = select.poll()
    waiting.register(source, select.POLLIN)
    return bool(waiting.poll(seconds * 1000))
