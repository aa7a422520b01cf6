"""Runs cases on a Ray cluster (the extra `ray`); each of its machines must have fimlsp installed."""

from __future__ import annotations

import os
import socket
from collections import deque
from collections.abc import Iterator
from typing import Any

from fimlsp.datasets.cases.result import Result
from fimlsp.datasets.cuts.cut_record import CutRecord
from fimlsp.datasets.cuts.selection import Task
from fimlsp.datasets.runs.local_pool import CaseRunner, MakeRunner, PoolError
from fimlsp.datasets.sources.source_file import SourceFile
from fimlsp.extras import install_command

LOCAL = "local"
TASKS_AHEAD = 2
REACH_SECONDS = 10.0


class _Actor:
    """A runner on a machine of the cluster."""

    def __init__(self, make: MakeRunner) -> None:
        self._runner: CaseRunner = make()

    def is_ready(self) -> bool:
        return True

    def run(self, file: SourceFile, record: CutRecord) -> Result:
        return self._runner.run(file, record)


def run_on_ray(
    tasks: Iterator[Task], make: MakeRunner, workers: int, seconds_max: float, address: str
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
    here: dict[str, Any] = {"_node_ip_address": "127.0.0.1", "include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, **(here if address == LOCAL else {}))
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise PoolError(f"There is no Ray cluster at {address} ({error}).") from error
    return ray


def _check_reachable(address: str) -> None:
    """Raise PoolError if nothing answers at HOST:PORT; Ray would try for minutes and then end the process."""
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if not (colon and port.isdecimal()):
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=REACH_SECONDS).close()
    except OSError as error:
        raise PoolError(f"There is no Ray cluster at {address} ({error}).") from error


def _start_actors(ray: Any, make: MakeRunner, workers: int) -> list[Any]:  # noqa: ANN401 - the module
    """Actors that are ready to work. Ray restarts one that dies."""
    actor = ray.remote(num_cpus=1, max_restarts=-1)(_Actor)
    actors = [actor.remote(make) for _ in range(workers)]
    try:
        ray.get([each.is_ready.remote() for each in actors])
    except ray.exceptions.RayError as error:
        raise PoolError(f"The model cannot be loaded on the cluster ({error}).") from error
    return actors


def _results(ray: Any, actors: list[Any], tasks: Iterator[Task], seconds_max: float) -> Iterator[Result]:  # noqa: ANN401 - as above
    """The results as they come; all cases of a file go to the same actor, one after the other."""
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
            raise PoolError(f"No case was finished in {seconds_max:.0f} seconds; the cluster hangs.")
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
