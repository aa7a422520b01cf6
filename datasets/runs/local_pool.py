"""Cases in worker processes of this machine. A worker that dies or hangs costs one case."""

from __future__ import annotations

import os
import signal
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Protocol

from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.cuts.selection import Task
from fimlsp.datasets.runs.attempt import Result
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.models.errors import ModelError

from fimlsp.errors import UserError

READY = "ready"
TICK = 1.0


class PoolError(UserError):
    """The workers cannot work; the message is one sentence for the user."""


class CaseRunner(Protocol):
    """What does the work in a worker; `Bench` is the real one."""

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        """The result of one case."""


MakeRunner = Callable[[], CaseRunner]


def run_locally(
    tasks: Iterator[Task], make: MakeRunner, workers: int, seconds_max: float
) -> Iterator[Result]:
    """The results of all *tasks*, as they come. *make* is called once in each worker.

    A case may take *seconds_max*.

    Raises:
        PoolError: the model cannot be loaded.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    crew = [_Worker(make) for _ in range(workers)]
    try:
        while True:
            for worker in crew:
                if worker.is_idle and (task := next(tasks, None)) is not None:
                    worker.start(task)
            busy = [worker for worker in crew if not worker.is_idle]
            if not busy:
                return
            ready = wait([worker.connection for worker in busy], timeout=TICK)
            for worker in busy:
                if worker.connection in ready:
                    yield from worker.receive()
                elif worker.is_ready and monotonic() - worker.since > seconds_max:
                    yield worker.give_up(f"took longer than {seconds_max:.0f} seconds")
    finally:
        for worker in crew:
            worker.stop()


@dataclass(slots=True)
class _Worker:
    """The parent's side of a worker: the process, and the cases it still owes."""

    make: MakeRunner
    task: Task | None = None
    owed: deque[CutRecord] = field(default_factory=deque)
    since: float = 0.0
    is_ready: bool = False
    connection: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._spawn()

    @property
    def is_idle(self) -> bool:
        """Whether no case is owed."""
        return not self.owed

    def start(self, task: Task) -> None:
        """Give it a file with its cases."""
        self.task, self.owed, self.since = task, deque(task.records), monotonic()
        if self.owed:
            self.connection.send(task)

    def receive(self) -> Iterator[Result]:
        """The result that has come, if it is one."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(TICK)
            if not self.is_ready:
                status = self.process.exitcode
                raise PoolError(f"A worker ended while it loaded the model (exit status {status}).") from None
            yield self.give_up(f"the worker process ended (exit status {self.process.exitcode})")
            return
        self.since = monotonic()
        if isinstance(message, Result):
            self.owed.popleft()
            yield message
        elif message == READY:
            self.is_ready = True
        else:
            raise PoolError(message)

    def give_up(self, why: str) -> Result:
        """The result of a case that could not be finished; a new process goes on behind it."""
        record = self.owed.popleft()
        self.stop()
        self._spawn()
        if self.task is not None and self.owed:
            self.start(Task(self.task.file, tuple(self.owed)))
        return Result(record.to_json(), crash=why)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _spawn(self) -> None:
        self.is_ready = False
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, self.make), daemon=True)
        self.process.start()
        theirs.close()


def _work(connection: Connection, make: MakeRunner) -> None:
    """The worker: results of the cases of every task it is sent, until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        runner = make()
    except ModelError as error:
        connection.send(str(error))
        return
    connection.send(READY)
    with suppress(EOFError, OSError):
        while True:
            task: Task = connection.recv()
            for record in task.records:
                connection.send(runner.run(task.file, record))
