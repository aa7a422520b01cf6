"""The workers of a server: one process for each model in use, shared by the clients that use it.

A model takes most of a worker's memory (the bundled one and the grammar 150 MB, a real one gigabytes), so two
clients with the same model have the same worker. It answers one request at a time; as each client has at
most one under way per document, none waits long for the others. A worker that nobody uses any more is ended.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Sequence
from typing import Protocol

from fimlsp.errors import UserError
from fimlsp.lsp_server.messages import (
    Answer,
    AwaitNames,
    Complete,
    Leave,
    Load,
    Loading,
    NotReady,
    Ready,
    Report,
)
from fimlsp.lsp_server.worker_client.worker_process import WorkerProcess

MOST_WORKERS = 4


class TooManyWorkersError(UserError):
    """There are as many workers as a server may have, and none has the wanted model."""


class Client(Protocol):
    """What uses a worker; its methods are called on the event loop and must not block."""

    def worker_started(self) -> None:
        """A process was started that knows nothing of the client yet."""

    def worker_reported(self, report: Loading | Ready | NotReady) -> None:
        """Loading the model goes on, or has ended."""

    def worker_ended(self, reason: str) -> None:
        """The process died; a new one is started after a while."""


class WorkerPool:
    """Finds the worker for a model. *command* starts a worker process; tests *make* workers without one.

    `workers` are those that run, by what they were told to load; `new_request` gives a number that no other
    request has.
    """

    def __init__(self, command: Sequence[str], make: type[WorkerProcess] = WorkerProcess) -> None:
        self._command = command
        self._make = make
        self.workers: dict[Load, _SharedWorker] = {}
        self._clients = itertools.count(1)
        self.new_request: Callable[[], int] = itertools.count(1).__next__

    def new_client(self) -> int:
        """A number for a client that nobody else has."""
        return next(self._clients)

    def worker(self, load: Load) -> _SharedWorker:
        """The worker that has the model *load*; it is started if there is none.

        Raises:
            TooManyWorkersError: There are `MOST_WORKERS` with other models.
        """
        worker = self.workers.get(load)
        if worker is None:
            if len(self.workers) >= MOST_WORKERS:
                raise TooManyWorkersError(
                    f"this server has {MOST_WORKERS} models in use, which is the most; choose one of them, "
                    f"or start another server"
                )
            worker = self.workers[load] = _SharedWorker(self._command, load, self._make)
        return worker

    def change_model(self, worker: _SharedWorker, load: Load) -> bool:
        """Let *worker* load another model; not if others use it, or there is a worker with that already."""
        if len(worker.handles) != 1 or load in self.workers:
            return False
        del self.workers[worker.load]
        self.workers[load] = worker
        worker.change_model(load)
        return True

    async def end_unused(self, worker: _SharedWorker) -> None:
        """End *worker* if nobody uses it."""
        if not worker.handles and self.workers.get(worker.load) is worker:
            del self.workers[worker.load]
            await worker.process.close()


class WorkerHandle:
    """A client's handle on the shared worker that serves its model *load*; *number* is the client's.

    `process` takes messages that need no answer.

    Raises:
        TooManyWorkersError: As `WorkerPool.worker`.
    """

    def __init__(self, pool: WorkerPool, load: Load, number: int, client: Client) -> None:
        self.client = client
        self.number = number
        self._pool = pool
        self._worker = pool.worker(load)
        self.process = self._worker.process
        self._leaving: set[asyncio.Task[None]] = set()

    def join(self) -> None:
        """Begin to use the worker: from now on the client is told about it."""
        self._worker.admit(self)

    def use(self, load: Load) -> None:
        """Use the model *load* from now on.

        Raises:
            TooManyWorkersError: As `WorkerPool.worker`; the worker stays what it was.
        """
        before = self._worker
        if load == before.load or self._pool.change_model(before, load):
            return
        found = self._pool.worker(load)
        before.dismiss(self)
        self._worker, self.process = found, found.process
        self.join()
        leaving = asyncio.get_running_loop().create_task(self._pool.end_unused(before))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    @property
    def is_loading(self) -> bool:
        """Whether the model is being loaded, so that requests wait."""
        return isinstance(self._worker.state, Loading)

    def ask(self, request: Complete | AwaitNames, hear: Callable[[Answer], None]) -> None:
        """Pass *request* on; *hear* is called with its answer, unless the worker dies before."""
        self._worker.asked[request.id] = self, hear
        self.process.send(request)

    def reload(self) -> None:
        """Load the model anew."""
        self.process.send(self._worker.load)

    async def leave(self) -> None:
        """Stop using the worker."""
        self._worker.dismiss(self)
        await asyncio.gather(self._pool.end_unused(self._worker), *self._leaving)


class _SharedWorker:
    """A worker process with the model *load*, and its clients. `state` is its last report on loading."""

    def __init__(self, command: Sequence[str], load: Load, make: type[WorkerProcess]) -> None:
        self.load = load
        self.handles: list[WorkerHandle] = []
        self.asked: dict[int, tuple[WorkerHandle, Callable[[Answer], None]]] = {}
        self.state: Loading | Ready | NotReady = Loading("starting", 0)
        self._is_running = False
        self.process = make(command, self._on_start, self._on_report, self._on_end)
        self.process.start()

    def admit(self, handle: WorkerHandle) -> None:
        """A client begins to use the worker."""
        self.handles.append(handle)
        if self._is_running:
            handle.client.worker_started()
            handle.client.worker_reported(self.state)

    def dismiss(self, handle: WorkerHandle) -> None:
        """A client stops using the worker."""
        if handle in self.handles:
            self.handles.remove(handle)
            self.asked = {id: asked for id, asked in self.asked.items() if asked[0] is not handle}
            self.process.send(Leave(handle.number))

    def change_model(self, load: Load) -> None:
        """Load another model, before anything else that is sent from now on."""
        self.load = load
        self.state = Loading("starting", 0)
        self.process.send(load)

    def _on_start(self) -> None:
        self._is_running = True
        self.process.send(self.load)
        for handle in [*self.handles]:
            handle.client.worker_started()

    def _on_report(self, report: Report) -> None:
        if isinstance(report, Answer):
            asked = self.asked.pop(report.id, None)
            if asked is not None:
                asked[1](report)
            return
        self.state = report
        for handle in [*self.handles]:
            handle.client.worker_reported(report)

    def _on_end(self, reason: str) -> None:
        self._is_running = False
        self.state = Loading("starting again", 0)
        self.asked.clear()
        for handle in [*self.handles]:
            handle.client.worker_ended(reason)
