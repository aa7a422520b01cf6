"""The main loop of the worker process: handles messages in order, and uses idle time.

One thread only reads. It queues messages and registers a `Cancel` at once, so that a running completion stops
before its next model step. The main thread handles all else, in the order of arrival. Errors of a request are
logged and answered. The process ends when the server closes the pipe or dies.

Standard input and output carry the messages, so they are made unavailable to everything else: a library that
prints would break the stream.
"""

from __future__ import annotations

import gc
import logging
import os
import pickle
import signal
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import BinaryIO, Protocol

from fimlsp.errors import explain
from fimlsp.lexing.interruption import Interrupted, interruptible
from fimlsp.lsp_server.messages import (
    CONFINED,
    Answer,
    Arrange,
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
    Rest,
    Working,
    Workspace,
    read_request,
)
from fimlsp.lsp_server.worker.memory import MemoryBound
from fimlsp.lsp_server.worker.reading_reports import ReadingReports
from fimlsp.lsp_server.worker.worker_confinement import confine_worker
from fimlsp.models.errors import MissingExtraError, OutOfMemoryError
from fimlsp.models.remote.address import is_address
from fimlsp.models.remote.errors import ServerError
from fimlsp.processes.bounded import claim_pipes
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.contract import Language

PAUSES_S = 1.0, 30.0
"""First and longest pause between checks of a server; each pause doubles the one before."""


class ServerWatch:
    """Waits, in a thread, until a failed model server is back: calls *on_return* once *is_there* is true.

    The same if it raises an error that the user does not know yet: another server has taken its place.
    """

    def __init__(self, is_there: Callable[[Load], bool], on_return: Callable[[Load], None]) -> None:
        self._is_there = is_there
        self._on_return = on_return
        self._ended = Event()
        self._pause = PAUSES_S[0]

    def start(self, load: Load, problem: str, *, served_well: bool) -> None:
        """Watch the server of *load* instead of any other; with short pauses if it *served_well* before.

        The user knows its *problem*.
        """
        self.end()
        ended, pause = Event(), PAUSES_S[0] if served_well else self._pause
        self._ended, self._pause = ended, min(2 * pause, PAUSES_S[1])

        def watch() -> None:
            while not ended.wait(pause):
                if self._has_changed(load, problem):
                    if not ended.is_set():
                        self._on_return(load)
                    return

        Thread(target=watch, daemon=True).start()

    def _has_changed(self, load: Load, problem: str) -> bool:
        try:
            return self._is_there(load)
        except ServerError as error:
            return str(error) != problem

    def end(self) -> None:
        """Stop watching."""
        self._ended.set()


log = logging.getLogger(__name__)

COLLECTION_THRESHOLDS = (50_000, 1_000, 1_000)
"""While a request may be waiting, only many new objects are collected; the rest in silence.

Python's own (700, 10, 10) would traverse the engine's many small values several times per keystroke.
"""

PAUSE_S = 0.02
"""Idle work starts after so many seconds without a message, so that fast typing never waits for it."""

SILENCE_S = 2.0
"""Garbage is collected after so many seconds without a message, as no message can interrupt that."""

ShouldStop = Callable[[], bool]


class BackendProtocol(Protocol):
    """Engine and model: `fimlsp.lsp_server.worker.backend.Backend`, or a script in tests."""

    def load(self, load: Load, report: Callable[[str, int], None]) -> str:
        """Load a model; returns its name. *report* receives each step in a few words, and a percentage."""

    def is_there(self, load: Load) -> bool:
        """True if the server of a model answers, or the model needs none. Called from any thread."""

    def enter(self, workspace: Workspace) -> None:
        """Set the files that may be read for a client."""

    def open(self, document: DocumentId, version: int, data: bytes, grammar: Language) -> None:
        """Add a document."""

    def edit(self, document: DocumentId, version: int, replacement: Replacement) -> None:
        """Edit a document; the result is *version*."""

    def close(self, document: DocumentId) -> None:
        """Drop a document."""

    def arrange(self, client: int, notebook: str, cells: Sequence[str]) -> None:
        """Set the order of the cells of a notebook."""

    def leave(self, client: int) -> None:
        """Drop everything of a client."""

    def rest(self, rest: Rest) -> None:
        """The cursor rests; a slow model reads the text around it in idle time."""

    def prepare(self) -> bool:
        """Do one piece of idle work; false if there is none."""

    def reading(self) -> tuple[Rest, float] | None:
        """The place whose text the model reads now, and the share that is read; None if it reads none."""

    def has_names(self, when_done: Callable[[], None]) -> bool:
        """True if all names are looked up; otherwise *when_done* is called later, by another thread."""

    def complete(self, request: Complete, should_stop: ShouldStop) -> Completion:
        """The completion for *request*; calls *should_stop* before each model step."""


class Inbox:
    """Messages in order of arrival, and the ids of cancelled requests."""

    def __init__(self) -> None:
        self._waiting: SimpleQueue[Request] = SimpleQueue()
        self._cancelled: set[int] = set()

    def fill(self, source: BinaryIO) -> None:
        """Read *source* to its end, then end the process, as the server is gone."""
        while (message := read_request(source)) is not None:
            if isinstance(message, Cancel):
                self._cancelled.add(message.id)
            else:
                self._waiting.put(message)
        os._exit(0)

    def put(self, message: Request) -> None:
        """Add a message, as if from the server."""
        self._waiting.put(message)

    def next(self, seconds: float | None = None) -> Request | None:
        """The next message; None if none arrives within so many *seconds*. Without a limit, it waits."""
        try:
            return self._waiting.get(timeout=seconds)
        except Empty:
            return None

    def has_message(self) -> bool:
        """True if a message is waiting."""
        return not self._waiting.empty()

    def is_cancelled(self, request_id: int) -> bool:
        """True if the server has cancelled the request."""
        return request_id in self._cancelled

    def finish(self, request_id: int) -> None:
        """The request is answered, as are those before it; drop their cancellations, also late ones."""
        for cancelled in [*self._cancelled]:
            if cancelled <= request_id:
                self._cancelled.discard(cancelled)


class Worker:
    """Handles the messages of *inbox* with *backend*, and writes reports to *sink*."""

    def __init__(self, backend: BackendProtocol, inbox: Inbox, sink: BinaryIO) -> None:
        self._backend = backend
        self._inbox = inbox
        self._sink = sink
        self._requested = Load()
        self._watch = ServerWatch(backend.is_there, inbox.put)
        self._served_well = False  # true after the first completion of the newest model
        self._loaded: tuple[Load, str] | None = None
        self._document: DocumentId | None = None
        self._reports = ReadingReports(self._send)
        self._memory = MemoryBound()

    def run(self) -> None:
        """Handle messages for ever. Idle time is used to prepare documents, then to free memory.

        A busy worker has no idle time, so it also frees memory after an answer.
        """
        while True:
            message = self._inbox.next(PAUSE_S)
            while message is None and self._attempt(self.prepare):
                message = self._inbox.next(0)
            if message is None:
                collect_new_garbage()
                self._memory.look()
                message = self._inbox.next(SILENCE_S)
            if message is None:
                collect_garbage()
                message = self._inbox.next()
            if message is not None:
                self.handle(message)
            if isinstance(message, Complete):
                self._memory.look()

    def handle(self, message: Request) -> None:
        """Handle one *message*. Errors are logged, and answered if it is a request."""
        backend = self._backend
        match message:
            case Load():
                self._load(message)
            case Complete():
                self._work_on(message.document)
                self._complete(message)
            case Rest(document):
                self._work_on(document)
                self._attempt(backend.rest, message)
            case AwaitNames():
                self._await_names(message)
            case Workspace():
                self._attempt(backend.enter, message)
            case Open(document, version, data, grammar):
                self._work_on(document)
                self._attempt(backend.open, document, version, data, grammar)
            case Edit(document, version, replacement):
                self._work_on(document)
                self._attempt(backend.edit, document, version, replacement)
            case Close(document):
                self._attempt(backend.close, document)
            case Arrange(client, notebook, cells):
                self._attempt(backend.arrange, client, notebook, cells)
            case Leave(client):
                self._attempt(backend.leave, client)

    def _work_on(self, document: DocumentId) -> None:
        """Report the document of all work from now on, if it is another one."""
        if document != self._document:
            self._document = document
            self._send(Working(document))

    def _await_names(self, request: AwaitNames) -> None:
        """Answer once all names are looked up; until then *request* is put back into the inbox."""
        if self._backend.has_names(partial(self._inbox.put, request)):
            self._send(Answer(request.id, Completion(), 0.0))

    def prepare(self) -> bool:
        """Do one piece of idle work; a message interrupts it."""
        try:
            with interruptible(self._watched(self._inbox.has_message)):
                is_left = self._backend.prepare()
        except Interrupted:
            return True
        if not is_left:
            self._reports.finish()
        return is_left

    def _watched(self, should_stop: ShouldStop) -> ShouldStop:
        """The same function, which also looks how far the model has read. It is called all the time."""

        def watch() -> bool:
            reading = self._backend.reading()
            if reading is not None:
                self._reports.look(*reading)
            return should_stop()

        return watch

    def _attempt(self, work: Callable[..., bool | None], *arguments: object) -> bool:
        """Do *work* on a document. A failure is logged, and the next completion there reports it."""
        try:
            return work(*arguments) or False
        except Exception:
            log.exception("cannot update a document")
            return False

    def _load(self, load: Load) -> None:
        self._requested = load
        self._served_well = False
        self._watch.end()
        try:
            name = self._loaded_now(load)
        except Exception as error:
            missing = error.extra if isinstance(error, MissingExtraError) else None
            self._load_bundled(explain(error, "loading the model", log), missing)
            if isinstance(error, ServerError):
                self._watch.start(load, str(error), served_well=False)
        else:
            self._send(Ready(name))

    def _load_bundled(self, problem: str, missing: str | None = None) -> None:
        """Load the bundled model, because of the *problem* with the requested one.

        *missing* is the extra that the requested model needs, if that is the problem.
        """
        bundled = Load(threads=self._requested.threads)
        name = None
        if self._loaded is not None and self._loaded[0] == bundled != self._requested:
            _, name = self._loaded
        elif bundled != self._requested:
            try:
                name = self._loaded_now(bundled)
            except Exception as error:
                explain(error, "loading the bundled model", log)
        if name is None:
            self._send(NotReady(problem))
        else:
            problem = f"{problem.rstrip('.')}. Until then the bundled model is used."
            self._send(Ready(name, problem, missing))

    def _loaded_now(self, load: Load) -> str:
        """The name of the model of *load*, loaded now; one of a server that fails leaves the others."""
        if load.model is None or not is_address(load.model):
            self._loaded = None
        name = self._backend.load(load, self._report_loading)
        self._loaded = load, name
        self._memory = MemoryBound()
        return name

    def _report_loading(self, step: str, percent: int) -> None:
        self._send(Loading(step, percent))

    def _complete(self, request: Complete) -> None:
        started = time.perf_counter()
        problem = None
        try:
            completion = self._completion(request)
        except OutOfMemoryError as error:
            problem = explain(error, "completing", log)
            completion = Completion(reason=problem)
        except ServerError as error:
            self._load_bundled(explain(error, "completing", log))
            self._watch.start(self._requested, str(error), served_well=self._served_well)
            completion = self._completion(request)
        self._inbox.finish(request.id)
        if completion.later:
            self._reports.wait_for(request.document)
        self._send(Answer(request.id, completion, 1000 * (time.perf_counter() - started)))
        if problem is not None:
            self._loaded = None
            self._load_bundled(problem)

    def _completion(self, request: Complete) -> Completion:
        if self._inbox.is_cancelled(request.id):
            return Completion(reason="cancelled")
        try:
            completion = self._backend.complete(request, self._watched(self._end_of(request)))
        except (OutOfMemoryError, ServerError):
            raise
        except Exception as error:
            return Completion(reason=explain(error, "completing", log))
        if completion.texts:
            self._served_well = True
        return completion

    def _end_of(self, request: Complete) -> ShouldStop:
        """True as soon as *request* is cancelled, or any other message waits while nobody waits for it."""
        inbox, id = self._inbox, request.id
        if request.is_unhurried:
            return lambda: inbox.has_message() or inbox.is_cancelled(id)
        return lambda: inbox.is_cancelled(id)

    def _send(self, report: Report) -> None:
        self._sink.write(pickle.dumps(report))
        self._sink.flush()


def collect_new_garbage() -> None:
    """Free new unused objects in a pause, so that no request has to: about 1 ms."""
    gc.collect(0)


def collect_garbage() -> None:
    """Free all unused objects; the others are hidden from later collections."""
    gc.collect()
    gc.freeze()


def serve(backend: BackendProtocol) -> None:
    """Run the worker for the process at the other end of standard input and output. Does not return."""
    source, sink = claim_pipes()
    inbox = Inbox()
    Thread(target=inbox.fill, args=(source,), daemon=True).start()
    Worker(backend, inbox, sink).run()


def main() -> None:
    """Run the worker with the real backend, confined if the argument is `CONFINED`.

    The server handles interrupts from the keyboard.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.basicConfig(stream=sys.stderr, format="fimlsp worker: %(message)s", level=logging.INFO)
    from fimlsp.lsp_server.worker.backend import Backend as RealBackend
    from fimlsp.lsp_server.worker.names import NameLookup
    from fimlsp.lsp_server.worker.type_checks import TypeChecks

    if sys.argv[1:] == [CONFINED] and (missing := confine_worker()):
        log.info("this process is confined in part: there is no %s", ", no ".join(missing))
    gc.set_threshold(*COLLECTION_THRESHOLDS)
    serve(RealBackend(NameLookup(), TypeChecks()))
