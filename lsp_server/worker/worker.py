"""The main loop of the worker process: takes messages, works on them in order, and uses idle time.

One thread only reads: it queues what arrives and notes a `Cancel` at once, so that a running completion sees
it before its next model step. Everything else happens on the main thread, in the order in which it was sent.
Whatever goes wrong with one request is logged and answered. When the server closes the pipe or is gone, the
process ends.

Standard input and output carry the messages, so they are first taken away from everything else: a library
that prints would break the stream.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from queue import Empty, SimpleQueue
from threading import Thread
from typing import BinaryIO, Protocol

from fimlsp.errors import explain
from fimlsp.lexing.interruption import Interrupted, interruptible
from fimlsp.lsp_server.messages import (
    Answer,
    AwaitNames,
    Cancel,
    Close,
    Complete,
    Completion,
    DocumentId,
    Edit,
    Leave,
    Load,
    Loading,
    NotReady,
    Open,
    Ready,
    Report,
    Request,
    Workspace,
    read_request,
)
from fimlsp.lsp_server.worker.server_watch import ServerWatch
from fimlsp.models.errors import MissingExtraError, OutOfMemoryError
from fimlsp.models.served.http.failures import ServerError
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language

log = logging.getLogger(__name__)

COLLECTION_THRESHOLDS = (50_000, 1_000, 1_000)
"""While somebody may wait, only new objects are collected, and only if they are many; all when it is quiet.
Python's own (700, 10, 10) would walk through the engine's many small values several times per keystroke."""

PAUSE_S = 0.02
"""Idle work begins when no message has come for this long, so that fast typing never waits for it."""

SILENCE_S = 2.0
"""Garbage is collected when no message has come for this long, as no message can interrupt that."""

ShouldStop = Callable[[], bool]


class Backend(Protocol):
    """The part that does the work: `fimlsp.lsp_server.worker.backend.Backend`, or a script in tests."""

    def load(self, load: Load, report: Callable[[str, int], None]) -> str:
        """Load a model, telling *report* each step in a few words and how far it is in per cent; its name."""

    def is_there(self, load: Load) -> bool:
        """Whether the server of a model answers; true of a model that needs none. From any thread."""

    def enter(self, workspace: Workspace) -> None:
        """Take in which files may be read for a client."""

    def open(self, document: DocumentId, version: int, data: bytes, grammar: Language) -> None:
        """Take a document in."""

    def edit(self, document: DocumentId, version: int, replacement: Replacement) -> None:
        """Edit a document, which makes *version* of it."""

    def close(self, document: DocumentId) -> None:
        """Forget a document."""

    def leave(self, client: int) -> None:
        """Forget all that belongs to a client."""

    def prepare(self) -> bool:
        """Do one piece of work ahead of a request; False when there is none."""

    def has_names(self, tell: Callable[[], None]) -> bool:
        """Whether no names are being looked up; if some are, *tell* is called later, by another thread."""

    def complete(self, request: Complete, should_stop: ShouldStop) -> Completion:
        """Answer *request*, asking *should_stop* before each model step."""


class Inbox:
    """Messages in the order they came, and the requests that were cancelled meanwhile."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Request] = SimpleQueue()
        self._cancelled: set[int] = set()

    def fill(self, source: BinaryIO) -> None:
        """Read *source* to its end, then end the process: nobody is left to answer."""
        while (message := read_request(source)) is not None:
            if isinstance(message, Cancel):
                self._cancelled.add(message.id)
            else:
                self._waiting.put(message)
        os._exit(0)

    def put(self, message: Request) -> None:
        """Add a message as if it had come from the server."""
        self._waiting.put(message)

    def next(self, seconds: float | None = None) -> Request | None:
        """The next message; None when none comes within so many *seconds*, if that is a number."""
        try:
            return self._waiting.get(timeout=seconds)
        except Empty:
            return None

    def has_message(self) -> bool:
        """Whether a message has come that was not taken yet."""
        return not self._waiting.empty()

    def is_cancelled(self, request_id: int) -> bool:
        """Whether the server has cancelled the request."""
        return request_id in self._cancelled

    def finish(self, request_id: int) -> None:
        """The request is answered; forget its cancellation."""
        self._cancelled.discard(request_id)


class Worker:
    """Takes messages from *inbox*, lets *backend* work, and writes what it says to *sink*."""

    def __init__(self, backend: Backend, inbox: Inbox, sink: BinaryIO) -> None:
        self._backend = backend
        self._inbox = inbox
        self._sink = sink
        self._wanted = Load()
        self._watch = ServerWatch(backend.is_there, inbox.put)
        self._served_well = False  # whether the model loaded last has written something

    def run(self) -> None:
        """Work for ever. Idle time goes to what the backend can prepare, then to garbage."""
        while True:
            message = self._inbox.next(PAUSE_S)
            while message is None and self._attempt(self.prepare):
                message = self._inbox.next(0)
            if message is None:
                collect_new_garbage()
                message = self._inbox.next(SILENCE_S)
            if message is None:
                collect_garbage()
                message = self._inbox.next()
            if message is not None:
                self.handle(message)

    def handle(self, message: Request) -> None:
        """Work on one *message*; whatever goes wrong is logged, and answered if somebody waits."""
        backend = self._backend
        match message:
            case Load():
                self._load(message)
            case Complete():
                self._complete(message)
            case AwaitNames():
                self._await_names(message)
            case Workspace():
                self._attempt(backend.enter, message)
            case Open(document, version, data, grammar):
                self._attempt(backend.open, document, version, data, grammar)
            case Edit(document, version, replacement):
                self._attempt(backend.edit, document, version, replacement)
            case Close(document):
                self._attempt(backend.close, document)
            case Leave(client):
                self._attempt(backend.leave, client)

    def _await_names(self, request: AwaitNames) -> None:
        """Answer once no names are being looked up; if some are, *request* comes again when that is over."""
        if self._backend.has_names(partial(self._inbox.put, request)):
            self._send(Answer(request.id, Completion(), 0.0))

    def prepare(self) -> bool:
        """Do one piece of work ahead of a request, and give it up if a message comes."""
        try:
            with interruptible(self._inbox.has_message):
                return self._backend.prepare()
        except Interrupted:
            return True

    def _attempt(self, work: Callable[..., bool | None], *arguments: object) -> bool:
        """Do *work* on a document; a failure is logged, and the next completion there will report it."""
        try:
            return work(*arguments) or False
        except Exception:
            log.exception("work on a document failed")
            return False

    def _load(self, load: Load) -> None:
        self._wanted = load
        self._served_well = False
        self._watch.end()
        try:
            name = self._backend.load(load, self._tell)
        except Exception as error:
            missing = error.extra if isinstance(error, MissingExtraError) else None
            self._load_bundled(explain(error, "loading the model", log), missing)
            if isinstance(error, ServerError):
                self._watch.begin(load, served_well=False)
        else:
            self._send(Ready(name))

    def _load_bundled(self, problem: str, missing: str | None = None) -> None:
        """Load the bundled model, as the one that is wanted cannot be used; *problem* says why.

        *missing* is the extra that it needs, if that is not installed.
        """
        bundled = Load(threads=self._wanted.threads)
        name = None
        if bundled != self._wanted:
            try:
                name = self._backend.load(bundled, self._tell)
            except Exception as error:
                explain(error, "loading the bundled model", log)
        if name is None:
            self._send(NotReady(problem))
        else:
            problem = f"{problem.rstrip('.')}. Until then the bundled model is used."
            self._send(Ready(name, problem, missing))

    def _tell(self, step: str, percent: int) -> None:
        self._send(Loading(step, percent))

    def _complete(self, request: Complete) -> None:
        began = time.perf_counter()
        problem = None
        try:
            completion = self._completion(request)
        except OutOfMemoryError as error:
            problem = explain(error, "completing", log)
            completion = Completion(reason=problem)
        except ServerError as error:
            self._load_bundled(explain(error, "completing", log))
            self._watch.begin(self._wanted, served_well=self._served_well)
            completion = self._completion(request)
        self._inbox.finish(request.id)
        self._send(Answer(request.id, completion, 1000 * (time.perf_counter() - began)))
        if problem is not None:
            self._load_bundled(problem)

    def _completion(self, request: Complete) -> Completion:
        if self._inbox.is_cancelled(request.id):
            return Completion(reason="cancelled")
        try:
            completion = self._backend.complete(request, partial(self._inbox.is_cancelled, request.id))
        except (OutOfMemoryError, ServerError):
            raise
        except Exception as error:
            return Completion(reason=explain(error, "completing", log))
        if completion.texts:
            self._served_well = True
        return completion

    def _send(self, report: Report) -> None:
        self._sink.write(pickle.dumps(report))
        self._sink.flush()


def collect_new_garbage() -> None:
    """Free what is new and unused, in a pause, so that no request has to: about 1 ms."""
    gc.collect(0)


def collect_garbage() -> None:
    """Free what is new and unused; what stays is set aside, so that this costs nothing the next time."""
    gc.collect()
    gc.freeze()


def serve(backend: Backend) -> None:
    """Be a worker for the process at the other end of standard input and output. Does not return."""
    source, sink = _claim_pipes()
    inbox = Inbox()
    Thread(target=inbox.fill, args=(source,), daemon=True).start()
    Worker(backend, inbox, sink).run()


def _claim_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for us alone; others get the null device and standard error."""
    source, sink = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return source, sink


def main() -> None:
    """Run the worker with the real backend. An interrupt from the keyboard is for the server to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, format="fimlsp worker: %(message)s", level=logging.INFO)
    from fimlsp.lsp_server.worker.backend import Backend as RealBackend
    from fimlsp.lsp_server.worker.names import Names

    gc.set_threshold(*COLLECTION_THRESHOLDS)
    serve(RealBackend(Names()))
