"""Runs cases in worker processes of this machine. A worker that dies or hangs costs one case."""

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

from fimlsp.datasets.cases.result import Result
from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.cuts.selection import Task
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.errors import UserError
from fimlsp.models.errors import ModelError

READY = "ready"
TICK = 1.0


class PoolError(UserError):
    """The workers cannot work; the message is a sentence for the user."""


class CaseRunner(Protocol):
    """Runs cases in a worker; `Bench` is the real one."""

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        """The result of one case."""


MakeRunner = Callable[[], CaseRunner]


def run_locally(
    tasks: Iterator[Task], make: MakeRunner, workers: int, seconds_max: float
) -> Iterator[Result]:
    """The results of all *tasks*, as they come. *make* is called once in each worker.

    A case that takes longer than *seconds_max* counts as crashed.

    Raises:
        PoolError: the model cannot be loaded.
    """
    os.environ.setdefault("OMP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) // workers)))
    pool = [_Worker(make) for _ in range(workers)]
    try:
        while True:
            for worker in pool:
                if worker.is_idle and (task := next(tasks, None)) is not None:
                    worker.start(task)
            busy = [worker for worker in pool if not worker.is_idle]
            if not busy:
                return
            ready = wait([worker.connection for worker in busy], timeout=TICK)
            for worker in busy:
                if worker.connection in ready:
                    yield from worker.receive()
                elif worker.is_ready and monotonic() - worker.since > seconds_max:
                    yield worker.give_up(f"took longer than {seconds_max:.0f} seconds")
    finally:
        for worker in pool:
            worker.stop()


@dataclass(slots=True)
class _Worker:
    """The parent's side of a worker: the process, and the cases whose results are still to come."""

    make: MakeRunner
    task: Task | None = None
    pending: deque[CutRecord] = field(default_factory=deque)
    since: float = 0.0
    is_ready: bool = False
    connection: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._spawn()

    @property
    def is_idle(self) -> bool:
        """Whether no result is still to come."""
        return not self.pending

    def start(self, task: Task) -> None:
        """Send the worker a file with its cases."""
        self.task, self.pending, self.since = task, deque(task.records), monotonic()
        if self.pending:
            self.connection.send(task)

    def receive(self) -> Iterator[Result]:
        """The result that the process has sent, if it was one."""
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
            self.pending.popleft()
            yield message
        elif message == READY:
            self.is_ready = True
        else:
            raise PoolError(message)

    def give_up(self, why: str) -> Result:
        """The result of a case that could not be finished; a new process takes the cases after it."""
        record = self.pending.popleft()
        self.stop()
        self._spawn()
        if self.task is not None and self.pending:
            self.start(Task(self.task.file, tuple(self.pending)))
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
    """Run in the worker process: answer each task with the results of its cases until the parent is gone."""
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
