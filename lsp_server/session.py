"""The owner of everything that changes: documents, settings, requests under way, the worker.

It lives on the event loop and never waits for the worker. A request is a future, fulfilled by whatever
comes first: the worker's answer, the worker's death, a newer request for the document, an edit of it, the
time limit; or cancelled by the client. In each case but the first the worker is told to stop.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from functools import partial

from fimlsp.lsp_server.documents import Change, Documents
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import (
    Answer,
    Cancel,
    Complete,
    Completion,
    Limits,
    Load,
    Loading,
    NotReady,
    Ready,
    Report,
)
from fimlsp.lsp_server.settings import Settings
from fimlsp.lsp_server.status import Status, status_of_completion, status_of_loading
from fimlsp.lsp_server.worker_process import WorkerProcess

log = logging.getLogger(__name__)

Pending = asyncio.Future[Completion]

_PATIENCE_S = 10.0
"""How long over its deadline a request may take, as a document is parsed when it is first asked about."""

_STUCK_S = 60.0
"""A worker that has not come back this long after a cancellation is stuck."""


class Session:
    """See the module. *on_status* hears of every change of state, *on_loading* of a model being loaded."""

    def __init__(
        self,
        worker_command: Sequence[str],
        on_status: Callable[[Status], None],
        on_loading: Callable[[Loading | Ready | NotReady], None],
    ) -> None:
        self._worker = WorkerProcess(
            worker_command, self._on_worker_start, self._on_report, self._on_worker_end
        )
        self.documents = Documents(self._worker.send)
        self._settings = Settings()
        self._on_status = on_status
        self._on_loading = on_loading
        self._unanswered: dict[int, tuple[Complete, Pending]] = {}
        self._newest: dict[str, int] = {}
        self._ids = itertools.count(1)
        self._is_loading = True

    def start(self) -> None:
        """Start the worker, which loads the model."""
        self._worker.start()

    async def close(self) -> None:
        """Answer what is under way and end the worker."""
        self._answer_all("the server is shutting down")
        await self._worker.close()

    def configure(self, settings: Settings) -> None:
        """Use *settings* from now on; another model is loaded in the background."""
        before, self._settings = self._settings, settings
        if settings.model != before.model:
            self._is_loading = True
            self._worker.send(Load(settings.model))

    # Documents

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        """The editor shows a document."""
        self._drop(uri, "the document was opened again")
        self.documents.open(uri, language, version, text)

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """The editor changed a document; a completion for the old text is stale and answered at once."""
        if uri not in self.documents:
            log.warning("a change of %s is ignored: it was not opened in this server", uri)
            return
        self._drop(uri, "the text was changed")
        self.documents.change(uri, version, changes)

    def close_document(self, uri: str) -> None:
        """The editor has closed a document."""
        self._drop(uri, "the document was closed")
        self.documents.close(uri)

    # Requests

    def complete(self, uri: str, line: int, character: int, automatic: bool) -> Pending:
        """Ask what to insert at a position of the document as it is now.

        The future never fails: where nothing can be suggested, the text is empty and the reason given.
        Cancel it when the answer is no longer wanted.
        """
        pending: Pending = asyncio.get_running_loop().create_future()
        self._drop(uri, "a newer request came")
        try:
            request = self._request(uri, line, character, automatic)
        except NoSuggestion as answer:
            pending.set_result(Completion(reason=str(answer)))
        else:
            self._send(request, pending)
        pending.add_done_callback(partial(self._tell, uri))
        return pending

    def _request(self, uri: str, line: int, character: int, automatic: bool) -> Complete:
        document = self.documents.find(uri)
        settings = self._settings
        if automatic and not settings.automatic:
            raise NoSuggestion("completing while typing is switched off (option automatic)")
        if not self._worker.is_available:
            raise NoSuggestion("the worker process has ended and is not started again yet")
        offset = self.documents.offset(document, line, character)
        limits = Limits(settings.max_tokens, settings.deadline_ms, settings.one_line)
        return Complete(next(self._ids), uri, document.version, offset, limits)

    def _send(self, request: Complete, pending: Pending) -> None:
        self._unanswered[request.id] = request, pending
        self._newest[request.uri] = request.id
        pending.add_done_callback(lambda _: self._stop(request))
        self._limit_time(request)
        if not self._is_loading:
            self._on_status(Status("thinking"))
        self._worker.send(request)

    def _stop(self, request: Complete) -> None:
        """A request's future is done: unless by the worker, tell it to stop, and watch that it does."""
        if self._newest.get(request.uri) == request.id:
            del self._newest[request.uri]
        if request.id in self._unanswered:
            self._worker.send(Cancel(request.id))
            asyncio.get_running_loop().call_later(_STUCK_S, self._end_stuck_worker, request.id)

    def _end_stuck_worker(self, request_id: int) -> None:
        if request_id in self._unanswered and not self._is_loading:
            log.error("the worker does not answer any more and is ended")
            self._worker.kill()

    def _limit_time(self, request: Complete) -> None:
        """Answer in any case after a while, but not while a model is being loaded: that may take minutes."""
        limit = request.limits.deadline_ms / 1000 + _PATIENCE_S
        asyncio.get_running_loop().call_later(limit, self._expire, request, self._is_loading)

    def _expire(self, request: Complete, was_loading: bool) -> None:
        if was_loading and request.id in self._unanswered:
            self._limit_time(request)
        else:
            self._answer(request.id, Completion(reason="the answer took too long"))

    def _drop(self, uri: str, reason: str) -> None:
        """Answer the request under way for *uri*, if any."""
        self._answer(self._newest.pop(uri, 0), Completion(reason=reason))

    def _answer(self, request_id: int, completion: Completion) -> None:
        """Fulfil the future of a request, unless that was done."""
        _, pending = self._unanswered.get(request_id, (None, None))
        if pending is not None and not pending.done():
            pending.set_result(completion)

    def _answer_all(self, reason: str) -> None:
        """Answer every request, as the worker never will."""
        for request_id in self._unanswered:
            self._answer(request_id, Completion(reason=reason))
        self._unanswered.clear()

    def _tell(self, uri: str, pending: Pending) -> None:
        """Status and log for an answer. One that was overtaken leaves the status to the newer request."""
        completion = (
            Completion(reason="the client cancelled the request") if pending.cancelled() else pending.result()
        )
        if completion.reason is not None:
            log.info("no suggestion: %s", completion.reason)
        if uri not in self._newest:
            self._on_status(status_of_completion(completion))

    # The worker

    def _on_worker_start(self) -> None:
        """Tell a worker that knows nothing yet; a request may have come while it was started."""
        self._worker.send(Load(self._settings.model))
        self.documents.send_all()
        self._unanswered = {id: asked for id, asked in self._unanswered.items() if not asked[1].done()}
        for request, _ in self._unanswered.values():
            self._worker.send(request)

    def _on_report(self, report: Report) -> None:
        if isinstance(report, Answer):
            self._take(report)
            return
        self._is_loading = isinstance(report, Loading)
        status = status_of_loading(report)
        log.log(logging.ERROR if isinstance(report, NotReady) else logging.INFO, "model: %s", status.reason)
        self._on_status(Status("thinking") if isinstance(report, Ready) and self._newest else status)
        self._on_loading(report)

    def _take(self, answer: Answer) -> None:
        done = answer.completion
        log.info("%d tokens, %d rejected, %.0f ms", done.tokens, done.rejected, answer.ms)
        self._answer(answer.id, done)
        self._unanswered.pop(answer.id, None)

    def _on_worker_end(self, reason: str) -> None:
        log.error("%s", reason)
        if self._is_loading:
            self._on_loading(NotReady(reason))
        self._is_loading = True
        self._answer_all(reason)
        self._on_status(Status("loading", reason))
