"""A farm: several processes that fetch files at once, for one alone is slower than the database.

They are plain children that speak through their pipes: no module of the caller is imported in them, and they end with
it, however it ends. What one of them cannot do is done here.
"""

from __future__ import annotations

import gc
import marshal
import os
import subprocess
import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import IO, Any, Final

from .fetch import Fetched, Recipe, Task, fetch
from .scan import Found

LEAST: Final = 2_000
"""Files for which the start of processes pays."""
BATCH: Final = 48
LONGEST: Final = 24_000
"""Characters of the paths of one batch: two of them fit into a pipe."""
CODE: Final = (
    "import marshal, sys; sys.path[:] = marshal.load(sys.stdin.buffer); "
    "from reverie_plugins.fts5_archive.farm import serve; serve(sys.stdin.buffer, sys.stdout.buffer)"
)


def fetched(tasks: Sequence[Task], recipe: Recipe, workers: int | None = None) -> Iterator[Fetched]:
    """The tasks done, in about their order; by other processes where they are many."""
    count = min(os.cpu_count() or 1, 3) if workers is None else workers
    if len(tasks) < LEAST or count < 2 or not sys.executable:
        return (fetch(task, recipe) for task in tasks)
    return gathered(tasks, recipe, count)


def gathered(tasks: Sequence[Task], recipe: Recipe, count: int) -> Iterator[Fetched]:
    """What the workers answer, each asked in turn while it has the next batch already."""
    waiting = batches(tasks)
    crew = deque(worker for worker in (Worker.start(recipe) for _ in range(count)) if worker)
    try:
        for worker in [*crew, *crew]:
            worker.give(list(next(waiting, ())))
        while crew:
            worker = crew.popleft()
            if not worker.given:
                worker.end()
                continue
            yield from worker.take(recipe)
            if worker.alive:
                worker.give(list(next(waiting, ())))
                crew.append(worker)
        for batch in waiting:
            yield from (fetch(task, recipe) for task in batch)
    finally:
        for worker in crew:
            worker.end()


def batches(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    """The tasks in portions that fit into a pipe."""
    left = iter(tasks)
    while portion := list(islice(left, BATCH)):
        if sum(len(task.found.path) for task in portion) > LONGEST:
            yield from ([task] for task in portion)
        else:
            yield portion


class Worker:
    """One process, and the batches it was given and has not answered."""

    def __init__(self, process: subprocess.Popen[bytes], into: IO[bytes], out: IO[bytes]) -> None:
        self.process, self.into, self.out = process, into, out
        self.given: deque[list[Task]] = deque()
        self.alive = True

    @classmethod
    def start(cls, recipe: Recipe) -> Worker | None:
        """A new one, or None where none can be had."""
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen([sys.executable, "-c", CODE], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)
        except OSError:
            return None
        assert process.stdin
        assert process.stdout
        worker = cls(process, process.stdin, process.stdout)
        worker.send([path for path in sys.path if isinstance(path, str)])
        worker.send(tuple(recipe))
        return worker

    def send(self, value: Any) -> None:
        try:
            marshal.dump(value, self.into)
            self.into.flush()
        except OSError:
            self.alive = False

    def give(self, batch: list[Task]) -> None:
        if batch:
            self.given.append(batch)
            self.send([(tuple(task.found), task.digest) for task in batch])

    def take(self, recipe: Recipe) -> list[Fetched]:
        """The answer to the oldest batch; a worker that failed has what it owes done here."""
        try:
            answer = marshal.load(self.out)
            self.given.popleft()
            return [Fetched._make(row) for row in answer]
        except (OSError, EOFError, ValueError, TypeError):
            self.alive = False
            owed, self.given = [task for batch in self.given for task in batch], deque()
            self.end()
            return [fetch(task, recipe) for task in owed]

    def end(self) -> None:
        """Let it end; it does so once it can read no more."""
        for pipe in (self.into, self.out):
            try:
                pipe.close()
            except OSError:
                continue
        self.process.wait()


def serve(into: IO[bytes], out: IO[bytes]) -> None:
    """What a worker does until nothing more is asked."""
    gc.disable()  # what is made here is gone with each batch, and holds no cycles
    kept = marshal.load(into)
    recipe = Recipe(*kept)
    while True:
        try:
            batch = marshal.load(into)
        except (EOFError, ValueError, TypeError):
            return
        done = (fetch(Task(Found(*found), digest), recipe) for found, digest in batch)
        marshal.dump([(tuple(one.found), *one[1:]) for one in done], out)
        out.flush()
