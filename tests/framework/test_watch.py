"""A run is watched, with real processes."""

from __future__ import annotations

import fcntl
import hashlib
import logging
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from reverie import watch
from reverie.watch import allowance, reason, understood, watched
from reverie_hookspecs import ConfigError, PluginError, Refused, ReverieError, RunKilled, Stage, errors

Begins = Callable[[Stage], None]
FOREVER = 60


@pytest.fixture(autouse=True)
def no_child_left() -> Iterator[None]:
    """No test leaves a child or a zombie behind."""
    yield
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)


def stage(name: str = "hung", limit: Any = 0.5) -> Stage:
    return Stage(name, lambda dream: dream, limit=limit)


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and waits to be reaped by whoever is to does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def soon(fits: Callable[[], object], seconds: float = 2.0) -> bool:
    end = time.monotonic() + seconds
    while not (done := bool(fits())) and time.monotonic() < end:
        time.sleep(0.01)
    return done


def note(place: Path, *pids: int) -> None:
    """Write down ids, all at once."""
    place.with_suffix(".new").write_text(" ".join(map(str, pids)))
    place.with_suffix(".new").rename(place)


def noted(place: Path) -> list[int]:
    return [int(word) for word in place.read_text().split()]


def sleeper() -> int:
    """A process that sleeps."""
    return subprocess.Popen(["sleep", str(FOREVER)]).pid


def sleep() -> None:
    time.sleep(FOREVER)


def digest() -> None:
    """Busy in C, the interpreter let go."""
    hashlib.pbkdf2_hmac("sha256", b"x", b"y", 10**9)


def match() -> None:
    """Busy in C, the interpreter held."""
    re.match("(a+)+$", "a" * 60 + "b")


def descriptors() -> list[Path]:
    """What this process has open."""
    return sorted(Path("/dev/fd").iterdir())


# The result


def test_the_result_comes_back_and_every_stage_is_heard() -> None:
    heard: list[str] = []

    def work(begins: Begins) -> dict[str, Any]:
        for name in ("gather", "änd", "audit"):
            begins(stage(name))
        return {"pid": os.getpid(), "text": "\udcff ü\n", "parent": os.getppid()}

    done = watched(work, heard.append)
    assert done["text"] == "\udcff ü\n" and done["parent"] == os.getpid() != done["pid"]
    assert heard == ["gather", "änd", "audit"] and not alive(done["pid"])


def test_a_big_result_comes_back_whole() -> None:
    assert watched(lambda begins: {"text": "ä" * 10_000_000}) == {"text": "ä" * 10_000_000}


def test_many_runs_leave_no_descriptor_open() -> None:
    def failing(begins: Begins) -> dict[str, Any]:
        raise Refused("no")

    def ill(begins: Begins) -> dict[str, Any]:
        os._exit(1)

    before = descriptors()
    for _ in range(17):
        watched(lambda begins: {})
        for work in (failing, ill):
            with pytest.raises(ReverieError):
                watched(work)
    assert descriptors() == before


def test_what_is_printed_appears_once_and_in_order() -> None:
    program = "from reverie.watch import watched\nprint('1')\nwatched(lambda begins: {'': print('2')})\nprint('3')"
    env = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, env=env, check=True)
    assert done.stdout == b"1\n2\n3\n"


def test_the_first_word_on_a_run_stands() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        begins.__self__.write('{"result": {"first": true}}\n{"stage": "late", "limit": 9}\n')  # type: ignore[attr-defined]
        return {"second": True}

    heard: list[str] = []
    assert watched(work, heard.append) == {"first": True} and not heard


def test_a_result_is_heard_though_the_child_died_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "reaped", lambda child: os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    def work(begins: Begins) -> dict[str, Any]:
        time.sleep(0.2)
        return {"fine": True}

    assert watched(work) == {"fine": True}


def test_no_signal_is_sent_to_a_child_that_was_reaped(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: sent.append(pid))
    assert watched(lambda begins: {}) == {} and not sent


def test_the_child_forgets_what_its_parent_does_on_a_signal() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        return {"on": [signal.getsignal(one).name for one in (signal.SIGTERM, signal.SIGINT)], "mask": len(mask)}  # type: ignore[union-attr]

    before = signal.signal(signal.SIGTERM, lambda *words: None)
    try:
        assert watched(work) == {"on": ["SIG_DFL", "SIG_DFL"], "mask": 0}
    finally:
        signal.signal(signal.SIGTERM, before)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_lines_that_are_torn_or_foreign_are_passed_over(caplog: pytest.LogCaptureFixture) -> None:
    foreign = (
        b"\xff\xfe\n5\n[]\n\n" + b"[" * 100_000 + b'\n{"result": 5}\n{"stage": 3}\n{"log": "x"}\n{"error": 1}\n{to'
    )

    def work(begins: Begins) -> dict[str, Any]:
        begins.__self__.mouth.write(foreign + b"\n")  # type: ignore[attr-defined]
        return {"fine": True}

    heard: list[str] = []
    assert watched(work, heard.append) == {"fine": True} and not heard and not caplog.records


@pytest.mark.parametrize("raw", [b"", b"{", b"3", b"\xff", b"[" * 100_000, b'"x"'])
def test_a_line_that_is_no_message_is_an_empty_one(raw: bytes) -> None:
    assert understood(raw) == {}


# Errors


KINDS = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, ReverieError)]


@pytest.mark.parametrize("kind", [cls for cls in KINDS if cls is not ConfigError])
def test_an_error_comes_back_as_what_it_was(kind: type[Exception]) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        raise kind("what, and what to do")

    with pytest.raises(ReverieError) as caught:
        watched(work)
    assert type(caught.value) is kind and str(caught.value) == "what, and what to do"


def test_a_configuration_error_keeps_its_problems() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        raise ConfigError(["one\nand a half", "two"])

    with pytest.raises(ConfigError) as caught:
        watched(work)
    assert caught.value.problems == ["one\nand a half", "two"]


def test_a_strangers_error_is_its_nearest_ancestor_and_keeps_its_notes() -> None:
    class Mine(PluginError):
        pass

    def work(begins: Begins) -> dict[str, Any]:
        error = Mine("mine")
        error.add_note("plugin 'mine'")
        raise error

    with pytest.raises(PluginError, match="mine") as caught:
        watched(work)
    assert type(caught.value) is PluginError and caught.value.__notes__ == ["plugin 'mine'"]


@pytest.mark.parametrize("error", [ValueError("lost"), SystemExit(0), KeyboardInterrupt(), MemoryError("much")])
def test_what_nobody_expected_is_told_with_its_kind_and_logged_with_its_traceback(
    error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "reverie")

    def unlucky(begins: Begins) -> dict[str, Any]:
        raise error

    with pytest.raises(RuntimeError) as caught:
        watched(unlucky)
    assert str(caught.value) == f"{type(error).__name__}: {error}"
    assert "in unlucky" in caplog.text and type(error).__name__ in caplog.text


def test_a_result_that_is_no_json_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="TypeError"):
        watched(lambda begins: {"set": {1}})


# The log


def test_the_log_comes_out_of_the_parent_once_at_its_level(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "reverie")

    def work(begins: Begins) -> dict[str, Any]:
        logging.getLogger("reverie.night").warning("%d files", 3)
        logging.getLogger("reverie.night").debug("unheard")
        logging.getLogger("reverie_plugins.mine").error("broken")
        try:
            raise ValueError("inner")
        except ValueError:
            logging.getLogger("reverie").info("odd %s", "{x}", exc_info=True)
        return {}

    watched(work)
    assert caplog.record_tuples[:2] == [
        ("reverie.night", logging.WARNING, "3 files"),
        ("reverie_plugins.mine", logging.ERROR, "broken"),
    ]
    last = caplog.records[2].getMessage()
    assert last.startswith("odd {x}\nTraceback") and "inner" in last and len(caplog.records) == 3
    assert {record.process for record in caplog.records} == {os.getpid()}


def test_a_handler_of_the_parent_is_not_used_by_the_child(tmp_path: Path) -> None:
    handler = logging.FileHandler(tmp_path / "log")
    logging.getLogger("reverie").addHandler(handler)
    watched(lambda begins: {"": logging.getLogger("reverie.night").warning("once")})
    handler.close()
    assert (tmp_path / "log").read_text() == "once\n"


def test_a_senseless_log_call_ends_no_run(capfd: pytest.CaptureFixture[str]) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        logging.getLogger("reverie").warning("%d", "x")
        return {"fine": True}

    assert watched(work) == {"fine": True}
    assert "Logging error" in capfd.readouterr().err


# The limit


@pytest.mark.parametrize("hang", [sleep, digest, match])
def test_a_stage_over_its_limit_is_killed_with_all_it_started(tmp_path: Path, hang: Callable[[], None]) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        begins(stage("fine", 60))
        note(tmp_path / "pids", os.getpid(), sleeper())
        begins(stage())
        hang()
        return {}

    began = time.monotonic()
    with pytest.raises(RunKilled, match=r"^stage hung exceeded its limit of 0\.5 s and was ended$"):
        watched(work)
    assert 0.4 < time.monotonic() - began < 4
    pids = noted(tmp_path / "pids")
    assert len(pids) == 2 and not any(map(alive, pids))


def test_each_stage_has_its_own_time() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        for number in range(3):
            begins(stage(str(number), 0.6))
            time.sleep(0.3)
        return {"fine": True}

    assert watched(work) == {"fine": True}


def test_a_run_that_comes_to_no_stage_is_ended_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "USUAL", 0.2)
    with pytest.raises(RunKilled, match=r"^the start of the run exceeded its limit of 0\.2 s and was ended$"):
        watched(lambda begins: {"": time.sleep(FOREVER)})


def test_a_hung_stage_that_talks_is_ended_all_the_same(caplog: pytest.LogCaptureFixture) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        begins(stage(limit=0.3))
        while True:
            logging.getLogger("reverie").warning("still here")
            time.sleep(0.001)

    with pytest.raises(RunKilled, match="stage hung"):
        watched(work)
    assert "still here" in caplog.text


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [(3, 3), (0.5, 0.5), (0, 600), (-1, 600), (float("inf"), 600), (float("nan"), 600), (None, 600), ("9", 600),
     (True, 600), (10**400, 1e9), ([], 600)],
)  # fmt: skip
def test_a_limit_that_is_none_counts_as_ten_minutes(limit: object, seconds: float) -> None:
    assert allowance(limit) == seconds


def test_a_stage_with_a_senseless_limit_runs() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        for limit in (None, object(), -1, float("nan"), 10**400):
            begins(stage(limit=limit))
        return {"fine": True}

    assert watched(work) == {"fine": True}


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("x", 600.0, None), "stage x exceeded its limit of 600 s and was ended"),
        (("x", 1e9, None), "stage x exceeded its limit of 1000000000 s and was ended"),
        (("", 600.0, -11), "the run was ended by signal 11 before its first stage"),
        (("x", 600.0, -9), "the run was ended by signal 9 in stage x"),
        (("x", 600.0, 3), "the run ended with code 3 without a result in stage x"),
    ],
)
def test_the_reason_is_a_sentence(words: tuple[str, float, int | None], told: str) -> None:
    assert reason(*words) == told


# A child that dies


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_child_that_is_killed_is_told_with_the_signal(tmp_path: Path, number: signal.Signals) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        note(tmp_path / "pids", sleeper())
        begins(stage("mine"))
        os.kill(os.getpid(), number)
        time.sleep(FOREVER)
        return {}

    with pytest.raises(RunKilled, match=f"ended by signal {int(number)} in stage mine"):
        watched(work)
    assert not any(map(alive, noted(tmp_path / "pids")))


@pytest.mark.parametrize("code", [0, 3])
def test_a_child_that_leaves_without_a_result_is_told_with_its_code(code: int) -> None:
    with pytest.raises(RunKilled, match=f"ended with code {code} without a result"):
        watched(lambda begins: os._exit(code))


@pytest.mark.parametrize("limit", [60, 0.3])
def test_a_child_that_closes_every_descriptor_is_watched_still(limit: float) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        begins(stage("deaf", limit))
        os.closerange(3, 256)
        time.sleep(0.2 if limit == 60 else FOREVER)
        return {}

    busy = time.process_time()
    with pytest.raises(RunKilled, match="code 1 without a result" if limit == 60 else "stage deaf exceeded"):
        watched(work)
    assert time.process_time() - busy < 0.15


@pytest.mark.parametrize("escapes", [False, True])
def test_a_grandchild_that_holds_the_pipe_keeps_nobody_waiting(tmp_path: Path, escapes: bool) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        if not (pid := os.fork()):
            if escapes:
                os.setsid()
            time.sleep(FOREVER)
            os._exit(0)
        note(tmp_path / "pids", pid)
        time.sleep(0.1)
        return {"fine": True}

    began = time.monotonic()
    assert watched(work) == {"fine": True}
    assert time.monotonic() - began < 3
    [pid] = noted(tmp_path / "pids")
    assert alive(pid) == escapes
    if escapes:
        os.kill(pid, signal.SIGKILL)


# A parent that dies, or has had enough


def family(work: Callable[[Begins], dict[str, Any]]) -> int:
    """A process that watches the work, and exits 0 if it has a result."""
    pid = watch.forked()
    if not pid:
        code = 1
        try:
            watched(work)
            code = 0
        finally:
            os._exit(code)
    return pid


@pytest.mark.parametrize(("hang", "own_signal"), [(sleep, True), (match, True), (sleep, False)])
def test_nothing_of_a_run_outlives_who_watched_it(
    tmp_path: Path, hang: Callable[[], None], own_signal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not own_signal:
        monkeypatch.delattr(fcntl, "F_SETSIG", raising=False)
    elif not hasattr(fcntl, "F_SETSIG"):
        pytest.skip("the kernel sends no signal here")

    def work(begins: Begins) -> dict[str, Any]:
        note(tmp_path / "pids", os.getpid(), sleeper())
        hang()
        return {}

    parent = family(work)
    assert soon((tmp_path / "pids").exists)
    pids = noted(tmp_path / "pids")
    assert all(map(alive, pids))
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert soon(lambda: not any(map(alive, pids)))


def test_a_child_whose_parent_died_at_once_dies_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def late() -> None:
        parent = os.getppid()
        note(tmp_path / "pids", os.getpid())
        while os.getppid() == parent:
            time.sleep(0.01)

    monkeypatch.setattr(watch, "forget_signals", late)
    parent = family(lambda begins: {"": time.sleep(FOREVER)})
    assert soon((tmp_path / "pids").exists)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert soon(lambda: not alive(*noted(tmp_path / "pids")))


def test_time_in_which_the_watcher_was_stopped_does_not_count() -> None:
    def work(begins: Begins) -> dict[str, Any]:
        begins(stage("patient", 1.0))
        time.sleep(0.1)
        os.kill(os.getppid(), signal.SIGSTOP)
        time.sleep(1.1)
        os.kill(os.getppid(), signal.SIGCONT)
        time.sleep(0.2)
        return {}

    _, status = os.waitpid(family(work), 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_an_interrupt_ends_the_run_and_goes_on(tmp_path: Path) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        note(tmp_path / "pids", os.getpid(), sleeper())
        os.kill(os.getppid(), signal.SIGINT)
        time.sleep(FOREVER)
        return {}

    with pytest.raises(KeyboardInterrupt):
        watched(work)
    assert not any(map(alive, noted(tmp_path / "pids")))
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_an_interrupt_that_comes_with_the_fork_ends_the_run_too(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = watch.forked
    born: list[int] = []

    def forked() -> int:
        born.append(whole())
        if born[-1]:  # to this thread: a test runner has others, and a signal to the process may come by way of one
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return born[-1]

    monkeypatch.setattr(watch, "forked", forked)
    with pytest.raises(KeyboardInterrupt):
        watched(lambda begins: {"": time.sleep(FOREVER)})
    assert not alive(born[0])


def test_whoever_hears_of_the_stages_and_fails_ends_the_run(tmp_path: Path) -> None:
    def work(begins: Begins) -> dict[str, Any]:
        note(tmp_path / "pids", os.getpid())
        begins(stage(limit=60))
        time.sleep(FOREVER)
        return {}

    def told(name: str) -> None:
        raise LookupError(name)

    with pytest.raises(LookupError, match="hung"):
        watched(work, told)
    assert not any(map(alive, noted(tmp_path / "pids")))


def test_a_run_that_somebody_else_reaps_has_its_result() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert watched(lambda begins: {"fine": True}) == {"fine": True}
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_where_no_process_can_be_started_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    before = descriptors()
    monkeypatch.setattr(os, "fork", fork)
    with pytest.raises(Refused, match="temporarily unavailable"):
        watched(lambda begins: {})
    assert descriptors() == before and not signal.pthread_sigmask(signal.SIG_BLOCK, ())


def test_beside_other_threads_a_fork_warns_nobody() -> None:
    from threading import Event, Thread

    done = Event()
    thread = Thread(target=done.wait)
    thread.start()
    try:
        with warnings.catch_warnings(record=True) as heard:  # as an error it would be swallowed by the fork
            warnings.simplefilter("always")
            assert watched(lambda begins: {"fine": True}) == {"fine": True}
    finally:
        done.set()
        thread.join()
    assert not heard


def test_it_is_not_imported_for_what_needs_no_run() -> None:
    program = "import sys\nfrom reverie.cli import main\nmain(['--version'], standalone_mode=False)\n"
    program += "raise SystemExit('reverie.watch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL, check=False).returncode == 0
