"""Runs the cases of a run in worker processes, of this machine or of a Ray cluster (the extra `ray`).

A worker that dies or hangs costs one case. Each machine of a cluster must have fimlsp installed.
"""

from __future__ import annotations

import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any, Protocol

from fimlsp.datasets.case_result import Result
from fimlsp.datasets.cuts import CutRecord, FileCases, Selection, limited
from fimlsp.datasets.run_folder import RunFolder
from fimlsp.datasets.sources import Excluded, SourceFile
from fimlsp.errors import UserError
from fimlsp.extras import install_command
from fimlsp.models.errors import ModelError

SECONDS_MAX = 600.0
READY = "ready"
TICK = 1.0
EXIT_SECONDS = 60.0
LOCAL = "local"
TASKS_AHEAD = 2
REACH_SECONDS = 10.0


class PoolError(UserError):
    """The workers cannot start or continue; the message is a sentence for the user."""


class CaseRunner(Protocol):
    """Runs cases in a worker, as `Bench` does."""

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        """The result of one case."""


MakeRunner = Callable[[], CaseRunner]


@dataclass(frozen=True, slots=True)
class Workers:
    """The number of processes for the cases, on this machine or on the Ray cluster with the address *ray*.

    A case that takes longer than *seconds_max* counts as crashed.
    """

    count: int = 1
    ray: str | None = None
    seconds_max: float = SECONDS_MAX

    def run(self, tasks: Iterator[FileCases], make: MakeRunner) -> Iterator[Result]:
        """The results of *tasks*, as they come; *make* makes the runner of each worker.

        Raises:
            PoolError: the workers cannot start or continue.
        """
        if self.ray is None:
            return run_locally(tasks, make, self.count, self.seconds_max)
        return run_on_ray(tasks, make, self.count, self.seconds_max, self.ray)


def run(
    selection: Selection,
    make: MakeRunner,
    workers: Workers,
    folder: RunFolder,
    limit: int | None,
    report: Callable[[Result], None],
    pass_over: Callable[[int], None] = lambda _: None,
) -> None:
    """Run those of the first *limit* cases of *selection* that *folder* lacks; pass each result to *report*.

    *pass_over* receives numbers of cases that have a result already.

    Raises:
        PoolError: the workers cannot start or continue.
        SourceError: a source does not exist.
    """
    done = folder.done()
    with folder:
        for result in workers.run(_pending(limited(iter(selection), limit), done, folder, pass_over), make):
            folder.add(result)
            report(result)


def _pending(
    selected: Iterator[FileCases | Excluded],
    done: set[str],
    folder: RunFolder,
    pass_over: Callable[[int], None],
) -> Iterator[FileCases]:
    for item in selected:
        if isinstance(item, Excluded):
            folder.exclude(item)
            continue
        records = tuple(record for record in item.records if record.case not in done)
        pass_over(len(item.records) - len(records))
        if records:
            yield FileCases(item.file, records)


def run_locally(
    tasks: Iterator[FileCases], make: MakeRunner, workers: int, seconds_max: float
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
    """The parent's side of a worker: the process, and the cases whose results are outstanding."""

    make: MakeRunner
    task: FileCases | None = None
    pending: deque[CutRecord] = field(default_factory=deque)
    since: float = 0.0
    is_ready: bool = False
    connection: Connection = field(init=False)
    process: BaseProcess = field(init=False)

    def __post_init__(self) -> None:
        self._spawn()

    @property
    def is_idle(self) -> bool:
        """True if no result is outstanding."""
        return not self.pending

    def start(self, task: FileCases) -> None:
        """Send a file with its cases to the process."""
        self.task, self.pending, self.since = task, deque(task.records), monotonic()
        if self.pending:
            self.connection.send(task)

    def receive(self) -> Iterator[Result]:
        """The process's message, if it is a result."""
        try:
            message = self.connection.recv()
        except (EOFError, OSError):
            self.process.join(EXIT_SECONDS)
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

    def give_up(self, reason: str) -> Result:
        """The result of a case that could not be finished; a new process takes the cases after it."""
        record = self.pending.popleft()
        self.stop()
        self._spawn()
        if self.task is not None and self.pending:
            self.start(FileCases(self.task.file, tuple(self.pending)))
        return Result(record.to_json(), crash=reason)

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()
        self.connection.close()

    def _spawn(self) -> None:
        self.is_ready = False
        context = get_context("spawn")
        self.connection, connection_of_process = context.Pipe()
        self.process = context.Process(target=_work, args=(connection_of_process, self.make), daemon=True)
        self.process.start()
        connection_of_process.close()


def _work(connection: Connection, make: MakeRunner) -> None:
    """The worker process: answer each task with the results of its cases until the parent ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        runner = make()
    except ModelError as error:
        connection.send(str(error))
        return
    connection.send(READY)
    with suppress(EOFError, OSError):
        while True:
            task: FileCases = connection.recv()
            for record in task.records:
                connection.send(runner.run(task.file, record))


class _Actor:
    """A runner on a machine of the cluster."""

    def __init__(self, make: MakeRunner) -> None:
        self._runner: CaseRunner = make()

    def is_ready(self) -> bool:
        return True

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        return self._runner.run(file, record)


def run_on_ray(
    tasks: Iterator[FileCases], make: MakeRunner, workers: int, seconds_max: float, address: str
) -> Iterator[Result]:
    """Like `run_locally`, with *workers* actors of the cluster at *address*; `local` starts a cluster here.

    Raises:
        PoolError: Ray is not installed, the cluster cannot be reached, or the model cannot be loaded there.
    """
    ray = _connect(address)
    try:
        actors = _start_actors(ray, make, workers)
        yield from _results(ray, actors, tasks, seconds_max)
    finally:
        ray.shutdown()


def _connect(address: str) -> Any:  # noqa: ANN401 - the module
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
    except ImportError as error:
        raise PoolError(f"Ray is not installed; run: {install_command('ray')}") from error
    _check_reachable(address)
    options: dict[str, Any] = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, **(options if address == LOCAL else {}))
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise PoolError(f"Cannot connect to a Ray cluster at {address} ({error}).") from error
    return ray


def _check_reachable(address: str) -> None:
    """Raise PoolError if HOST:PORT is closed; Ray would try for minutes and then end the process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
    except OSError as error:
        raise PoolError(f"Cannot connect to a Ray cluster at {address} ({error}).") from error


def _start_actors(ray: Any, make: MakeRunner, workers: int) -> list[Any]:  # noqa: ANN401 - the module
    """Actors that are ready to work. Ray restarts one that dies."""
    actor_class = ray.remote(num_cpus=1, max_restarts=-1)(_Actor)
    actors = [actor_class.remote(make) for _ in range(workers)]
    try:
        ray.get([actor.is_ready.remote() for actor in actors])
    except ray.exceptions.RayError as error:
        raise PoolError(f"Cannot load the model on the cluster ({error}).") from error
    return actors


def _results(ray: Any, actors: list[Any], tasks: Iterator[FileCases], seconds_max: float) -> Iterator[Result]:  # noqa: ANN401 - as above
    """The results as they come; all cases of a file go to the same actor, in sequence."""
    pending: list[deque[tuple[Any, CutRecord]]] = [deque() for _ in actors]
    while True:
        for actor, queue in zip(actors, pending, strict=True):
            if len(queue) < TASKS_AHEAD and (task := next(tasks, None)) is not None:
                file = ray.put(task.file)
                queue.extend((actor.run.remote(file, record), record) for record in task.records)
        heads = [queue[0][0] for queue in pending if queue]
        if not heads:
            return
        ready, _ = ray.wait(heads, num_returns=1, timeout=seconds_max)
        if not ready:
            raise PoolError(f"The cluster hangs: no case was finished in {seconds_max:.0f} seconds.")
        for queue in pending:
            while queue and queue[0][0] in ready:
                reference, record = queue.popleft()
                yield _result(ray, reference, record)


def _result(ray: Any, reference: Any, record: CutRecord) -> Result:  # noqa: ANN401 - as above
    try:
        result: Result = ray.get(reference)
    except ray.exceptions.RayError as error:
        return Result(record.to_json(), crash=f"the worker process ended ({type(error).__name__})")
    return result
