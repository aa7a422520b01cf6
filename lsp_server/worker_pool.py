"""The workers of a server: one process for each model in use, shared by its clients.

Clients with the same model share a worker, because the model takes most of its memory. The bundled model and
the grammar take 150 MB, a large model gigabytes. A worker answers one request at a time. Each client has at
most one running request for each document, so waiting times are short. A worker without clients is ended.
"""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from fimlsp.errors import UserError
from fimlsp.lsp_server.messages import (
    CONFINED,
    Answer,
    AwaitNames,
    Complete,
    DocumentId,
    Leave,
    Load,
    Loading,
    NotReady,
    Read,
    Reading,
    Ready,
    Report,
    Working,
)
from fimlsp.lsp_server.worker_process import WorkerProcess

MOST_WORKERS = 4

MOST_ENDS = 2
"""Ends of the worker in a row at work on the same document, after which that is left out."""


class TooManyWorkersError(UserError):
    """The server has its maximum of workers, all with other models."""


class Client(Protocol):
    """A user of a worker. Its methods are called on the event loop and must not block."""

    def worker_started(self) -> None:
        """A process was started; it needs the state of the client."""

    def worker_reported(self, report: Loading | Ready | NotReady) -> None:
        """Progress or end of loading the model."""

    def worker_reads(self, report: Reading | Read) -> None:
        """The model reads the text of a document, or does not any more."""

    def worker_ended(self, reason: str, uri: str | None) -> None:
        """The process died; a new one will be started. The client's document *uri* is at fault, if given."""


class WorkerPool:
    """The running workers, by model. *command* starts a worker process; tests *make* workers without one.

    `new_request` returns a unique number for a request.
    """

    def __init__(self, command: Sequence[str], make: type[WorkerProcess] = WorkerProcess) -> None:
        self._command = tuple(command)
        self._make = make
        self.workers: dict[Load, _SharedWorker] = {}
        self._clients = itertools.count(1)
        self.new_request: Callable[[], int] = itertools.count(1).__next__

    def new_client(self) -> int:
        """A unique number for a client."""
        return next(self._clients)

    def worker(self, load: Load, leaving: _SharedWorker | None = None) -> _SharedWorker:
        """The worker with the model *load*; started if necessary. One that is *leaving* does not count.

        Raises:
            TooManyWorkersError: There are `MOST_WORKERS` with other models.
        """
        worker = self.workers.get(load)
        if worker is None:
            n_leaving = leaving is not None and len(leaving.handles) == 1
            if len(self.workers) - n_leaving >= MOST_WORKERS:
                raise TooManyWorkersError(
                    f"this server has its maximum of {MOST_WORKERS} models in use; choose one of them, "
                    f"or start another server"
                )
            command = (*self._command, CONFINED) if load.can_be_confined else self._command
            worker = self.workers[load] = _SharedWorker(command, load, self._make)
        return worker

    def change_model(self, worker: _SharedWorker, load: Load) -> bool:
        """Let *worker* load another model.

        False if it has other clients, that model has a worker, or just one of the two is confined.
        """
        if len(worker.handles) != 1 or load in self.workers:
            return False
        if worker.load.can_be_confined != load.can_be_confined:
            return False
        del self.workers[worker.load]
        self.workers[load] = worker
        worker.change_model(load)
        return True

    async def end_unused(self, worker: _SharedWorker) -> None:
        """End *worker* if it has no clients."""
        if not worker.handles and self.workers.get(worker.load) is worker:
            del self.workers[worker.load]
            await worker.process.close()


class WorkerHandle:
    """A client's handle on the shared worker of its model *load*; *number* is the client's number.

    Send messages without an answer to `process`.

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
        """Start to use the worker: the client is notified of its events from now on."""
        self._worker.admit(self)

    def use(self, load: Load) -> None:
        """Use the model *load* from now on.

        Raises:
            TooManyWorkersError: As `WorkerPool.worker`; the handle keeps its worker.
        """
        before = self._worker
        if load == before.load or self._pool.change_model(before, load):
            return
        after = self._pool.worker(load, leaving=before)
        before.dismiss(self)
        self._worker, self.process = after, after.process
        self.join()
        leaving = asyncio.get_running_loop().create_task(self._pool.end_unused(before))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    @property
    def is_loading(self) -> bool:
        """True while the model is loading, and requests have to wait."""
        return isinstance(self._worker.state, Loading)

    def request(self, request: Complete | AwaitNames, on_answer: Callable[[Answer], None]) -> None:
        """Pass *request* on; *on_answer* is called with its answer, unless the worker dies before."""
        self._worker.unanswered[request.id] = self, request, on_answer
        self.process.send(request)

    def end_stuck(self) -> None:
        """Kill the process, which does not answer any more. Its document is left out from then on."""
        self._worker.end_stuck()

    def reload(self) -> None:
        """Load the model again."""
        self.process.send(self._worker.load)

    async def leave(self) -> None:
        """Stop using the worker."""
        self._worker.dismiss(self)
        await asyncio.gather(self._pool.end_unused(self._worker), *self._leaving)


class _SharedWorker:
    """A worker process with the model *load*, from *command*, and its clients.

    `state` is its newest report on loading. A document at work on which the process ends again and again, or
    hangs once, is at fault.
    """

    def __init__(self, command: Sequence[str], load: Load, make: type[WorkerProcess]) -> None:
        self.command = command
        self.load = load
        self.handles: list[WorkerHandle] = []
        self.unanswered: dict[int, tuple[WorkerHandle, Complete | AwaitNames, Callable[[Answer], None]]] = {}
        self._document: DocumentId | None = None
        self._ends = Counter[DocumentId]()
        self.state: Loading | Ready | NotReady = Loading("starting", 0)
        self._is_running = self._is_stuck = False
        self.process = make(command, self._on_start, self._on_report, self._on_end)
        self.process.start()

    def admit(self, handle: WorkerHandle) -> None:
        """A client starts to use the worker."""
        self.handles.append(handle)
        if self._is_running:
            handle.client.worker_started()
            handle.client.worker_reported(self.state)

    def dismiss(self, handle: WorkerHandle) -> None:
        """A client stops using the worker."""
        if handle in self.handles:
            self.handles.remove(handle)
            self.unanswered = {id: entry for id, entry in self.unanswered.items() if entry[0] is not handle}
            self.process.send(Leave(handle.number))

    def change_model(self, load: Load) -> None:
        """Load another model, before all later messages."""
        self.load = load
        self.state = Loading("starting", 0)
        self.process.send(load)

    def end_stuck(self) -> None:
        """Kill the process, which hangs."""
        self._is_stuck = True
        self.process.kill()

    def _on_start(self) -> None:
        self._is_running = True
        self.process.send(self.load)
        for handle in [*self.handles]:
            handle.client.worker_started()

    def _on_report(self, report: Report) -> None:
        if isinstance(report, Answer):
            self._answer(report)
            return
        if isinstance(report, Working):
            self._document = report.document
            return
        if isinstance(report, Reading | Read):
            for handle in [*self.handles]:
                if handle.number == report.document.client:
                    handle.client.worker_reads(report)
            return
        self.state = report
        for handle in [*self.handles]:
            handle.client.worker_reported(report)

    def _answer(self, answer: Answer) -> None:
        if answer.id in self.unanswered:
            _, request, on_answer = self.unanswered.pop(answer.id)
            if isinstance(request, Complete):
                self._ends.pop(request.document, None)
            on_answer(answer)

    def _on_end(self, reason: str) -> None:
        self._is_running = False
        self.state = Loading("restarting", 0)
        self.unanswered.clear()
        fault = self._at_fault()
        for handle in [*self.handles]:
            is_own = fault is not None and fault.client == handle.number
            handle.client.worker_ended(reason, fault.uri if fault is not None and is_own else None)

    def _at_fault(self) -> DocumentId | None:
        """The document that the process cannot read, if it is sure by now."""
        document, self._document = self._document, None
        is_stuck, self._is_stuck = self._is_stuck, False
        if document is None:
            return None
        self._ends[document] += MOST_ENDS if is_stuck else 1
        if self._ends[document] < MOST_ENDS:
            return None
        del self._ends[document]
        return document
