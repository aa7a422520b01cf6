"""Runs tasks in worker processes and reports their tallies."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from itertools import islice
from multiprocessing import get_context
from time import monotonic
from typing import Protocol

from fimlsp.languages.python.versions import Check

from .bench import Tally, Worker

_AHEAD = 3  # tasks that wait for each worker

_worker: Worker | None = None


class Task(Protocol):
    """A part of a suite."""

    def run(self, worker: Worker) -> Tally:
        """The tally of its cases."""
        ...


def run_all(
    tasks: Iterable[Task],
    version: str,
    workers: int,
    seconds: float,
    report: Callable[[Tally], bool],
    check: Check = "parse",
) -> bool:
    """Run *tasks* until they end, *seconds* are over, or *report*, called with each result, returns False.

    Returns True unless the run was interrupted; the results reported so far stay valid.
    """
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_begin, initargs=(version, check))
    try:
        _run(pool, iter(tasks), workers * _AHEAD, monotonic() + seconds, report)
    except KeyboardInterrupt:
        return False
    finally:
        pool.shutdown(cancel_futures=True)
    return True


def _run(
    pool: ProcessPoolExecutor,
    tasks: Iterator[Task],
    ahead: int,
    deadline: float,
    report: Callable[[Tally], bool],
) -> None:
    waiting: set[Future[Tally]] = {pool.submit(_run_task, task) for task in islice(tasks, ahead)}
    while waiting:
        done, waiting = wait(waiting, timeout=1.0, return_when=FIRST_COMPLETED)
        for future in done:
            if not report(future.result()):
                return
        if monotonic() > deadline:
            return
        waiting |= {pool.submit(_run_task, task) for task in islice(tasks, ahead - len(waiting))}


def _begin(version: str, check: Check) -> None:
    global _worker
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _worker = Worker(version, check=check)


def _run_task(task: Task) -> Tally:
    assert _worker is not None
    return task.run(_worker)
