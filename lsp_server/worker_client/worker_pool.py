"""The workers of a server: one process for each model in use, shared by the clients that use it.

A model takes most of a worker's memory (the bundled one and the grammar 150 MB, a real one gigabytes), so two
clients with the same model have the same worker. It answers one request at a time; as each client has at
most one under way per document, none waits long for the others. A worker that nobody uses any more is ended.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Protocol

from fimlsp.lsp_server.messages import Answer, Leave, Load, Loading, NotReady, Ready, Report, Request
from fimlsp.lsp_server.worker_client.worker_process import WorkerProcess


class Client(Protocol):
    """Who uses a worker; each is called on the event loop and must not block."""

    def worker_started(self) -> None:
        """A process has begun that knows nothing of the client yet."""

    def worker_reported(self, report: Report) -> None:
        """The worker says something: about loading to all, an answer to who asked."""

    def worker_ended(self, reason: str) -> None:
        """The process died; a new one is started after a while."""


class WorkerPool:
    """Finds the worker for a model. *command* starts a worker process; *make* is for tests without any."""

    def __init__(self, command: Sequence[str], make: type[WorkerProcess] = WorkerProcess) -> None:
        self._command = command
        self._make = make
        self._workers: dict[Load, _SharedWorker] = {}
        self._clients = itertools.count(1)
        self._requests = itertools.count(1)

    def new_client(self) -> int:
        """A number for a client that nobody else has."""
        return next(self._clients)

    def new_request(self) -> int:
        """A number for a request that no other has."""
        return next(self._requests)

    def worker(self, load: Load) -> _SharedWorker:
        """The worker that has the model *load*; it is started if there is none."""
        worker = self._workers.get(load)
        if worker is None:
            worker = self._workers[load] = _SharedWorker(self._command, load, self._make)
        return worker

    def change_model(self, worker: _SharedWorker, load: Load) -> bool:
        """Let *worker* load another model; not if others use it, or there is a worker with that already."""
        if len(worker.seats) != 1 or load in self._workers:
            return False
        del self._workers[worker.load]
        self._workers[load] = worker
        worker.change_model(load)
        return True

    async def end_unused(self, worker: _SharedWorker) -> None:
        """End *worker* if nobody has a place at it."""
        if not worker.seats and self._workers.get(worker.load) is worker:
            del self._workers[worker.load]
            await worker.process.close()


class Seat:
    """The place of *client*, which has this *number*, at the worker with the model *load*."""

    def __init__(self, pool: WorkerPool, load: Load, number: int, client: Client) -> None:
        self.client = client
        self.number = number
        self._pool = pool
        self._worker = pool.worker(load)
        self._leaving: set[asyncio.Task[None]] = set()

    def take(self) -> None:
        """Sit down: from now on the client is told of the worker."""
        self._worker.admit(self)

    def use(self, load: Load) -> None:
        """Use the model *load* from now on."""
        before = self._worker
        if load == before.load or self._pool.change_model(before, load):
            return
        before.dismiss(self)
        self._worker = self._pool.worker(load)
        self.take()
        leaving = asyncio.get_running_loop().create_task(self._pool.end_unused(before))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    @property
    def is_available(self) -> bool:
        """Whether there is a process, or will be one in a moment."""
        return self._worker.process.is_available

    @property
    def is_loading(self) -> bool:
        """Whether the model is being loaded, so that requests wait."""
        return isinstance(self._worker.state, Loading)

    def send(self, message: Request) -> None:
        """Pass *message* on without waiting; it is lost when no process is running."""
        self._worker.process.send(message)

    def ask(self, request_id: int, message: Request) -> None:
        """As `send`, for a request whose answer comes to this client."""
        self._worker.asked[request_id] = self
        self.send(message)

    def reload(self) -> None:
        """Load the model anew."""
        self.send(self._worker.load)

    def kill(self) -> None:
        """End a process that does not answer; a new one is started."""
        self._worker.process.kill()

    async def leave(self) -> None:
        """Give the place up."""
        self._worker.dismiss(self)
        await asyncio.gather(self._pool.end_unused(self._worker), *self._leaving)


class _SharedWorker:
    """A worker process with the model *load*, and who uses it. `state` is what it said of loading last."""

    def __init__(self, command: Sequence[str], load: Load, make: type[WorkerProcess]) -> None:
        self.load = load
        self.seats: list[Seat] = []
        self.asked: dict[int, Seat] = {}
        self.state: Loading | Ready | NotReady = Loading("starting", 0)
        self._is_running = False
        self.process = make(command, self._on_start, self._on_report, self._on_end)
        self.process.start()

    def admit(self, seat: Seat) -> None:
        """A client comes."""
        self.seats.append(seat)
        if self._is_running:
            seat.client.worker_started()
            seat.client.worker_reported(self.state)

    def dismiss(self, seat: Seat) -> None:
        """A client goes."""
        if seat in self.seats:
            self.seats.remove(seat)
            self.asked = {id: other for id, other in self.asked.items() if other is not seat}
            self.process.send(Leave(seat.number))

    def change_model(self, load: Load) -> None:
        """Load another model, before anything else that is sent from now on."""
        self.load = load
        self.state = Loading("starting", 0)
        self.process.send(load)

    def _on_start(self) -> None:
        self._is_running = True
        self.process.send(self.load)
        for seat in [*self.seats]:
            seat.client.worker_started()

    def _on_report(self, report: Report) -> None:
        if isinstance(report, Answer):
            seat = self.asked.pop(report.id, None)
            if seat is not None:
                seat.client.worker_reported(report)
            return
        self.state = report
        for seat in [*self.seats]:
            seat.client.worker_reported(report)

    def _on_end(self, reason: str) -> None:
        self._is_running = False
        self.state = Loading("starting again", 0)
        self.asked.clear()
        for seat in [*self.seats]:
            seat.client.worker_ended(reason)
