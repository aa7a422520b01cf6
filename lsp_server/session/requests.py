"""The requests to the worker that are under way: one per document, and each answered exactly once.

A request is a future, fulfilled by whatever comes first: the worker's answer, the worker's death, a newer
request for the document, an edit of it, the time limit; or cancelled by the client. In each case but the
first the worker is told to stop. Who asks what is being worked on already gets the same answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fimlsp.lsp_server.messages import Cancel, Complete, Completion, DocumentId
from fimlsp.lsp_server.session.completion_cache import Key
from fimlsp.lsp_server.worker_client.worker_pool import Seat

Pending = asyncio.Future[Completion]

PATIENCE_S = 10.0
"""How long over its deadline a request may take, as a document is parsed when it is first asked about."""

STUCK_S = 60.0
"""A worker that has not come back this long after a cancellation is stuck."""


CANCELLED = Completion(reason="the client cancelled the request", stale=True)


@dataclass(eq=False, slots=True)
class _Running:
    """A request, those who wait for it, and whether it goes on when nobody does."""

    request: Complete
    key: Key
    ahead: bool
    waiting: list[Pending] = field(default_factory=list)
    is_over: bool = False

    def asks_the_same(self, other: Complete) -> bool:
        """Whether *other* would get the same answer."""
        return replace(other, id=self.request.id, asked_at=self.request.asked_at) == self.request


class Requests:
    """See the module. *seat* tells where the worker is; *keep* hears of each answer that it gives."""

    def __init__(
        self, seat: Callable[[], Seat | None], keep: Callable[[Key, Completion], None], log: logging.Logger
    ) -> None:
        self._find_seat = seat
        self._keep = keep
        self._log = log
        self._unanswered: dict[int, _Running] = {}
        self._newest: dict[DocumentId, _Running] = {}

    def __len__(self) -> int:
        return len(self._unanswered)

    def is_running(self, document: DocumentId) -> bool:
        """Whether somebody waits for a request about *document*."""
        running = self._newest.get(document)
        return running is not None and bool(running.waiting)

    def waited_for(self) -> list[str]:
        """The documents about which somebody waits for a request."""
        return [document.uri for document, running in self._newest.items() if running.waiting]

    def ask(self, request: Complete, key: Key) -> Pending:
        """Put *request*; the future never fails. Cancel it when the answer is no longer wanted."""
        running = self._newest.get(request.document)
        if running is None or not running.asks_the_same(request):
            running = self._begin(request, key, ahead=False)
        pending: Pending = asyncio.get_running_loop().create_future()
        running.waiting.append(pending)
        pending.add_done_callback(lambda _: self._abandon(running))
        return pending

    def ask_ahead(self, request: Complete, key: Key) -> None:
        """Put a request that nobody waits for yet."""
        self._begin(request, key, ahead=True)

    def drop(self, document: DocumentId, reason: str) -> None:
        """Answer the request under way for *document*, if any, and stop it."""
        running = self._newest.get(document)
        if running is not None:
            self._stop(running, Completion(reason=reason, stale=True))

    def take(self, request_id: int, completion: Completion) -> None:
        """The worker's answer."""
        running = self._unanswered.pop(request_id, None)
        if running is not None:
            if not running.is_over:
                self._keep(running.key, completion)
            self._fulfil(running, completion)

    def fail_all(self, reason: str) -> None:
        """Answer every request, as the worker never will."""
        for running in [*self._unanswered.values()]:
            self._fulfil(running, Completion(reason=reason))
        self._unanswered.clear()

    def send_all(self) -> None:
        """Tell a worker that knows nothing yet."""
        self._unanswered = {id: running for id, running in self._unanswered.items() if not running.is_over}
        for running in self._unanswered.values():
            self._seat().ask(running.request.id, running.request)

    def _seat(self) -> Seat:
        seat = self._find_seat()
        assert seat is not None, "nothing is under way without a place at a worker"
        return seat

    def _begin(self, request: Complete, key: Key, *, ahead: bool) -> _Running:
        self.drop(request.document, "a newer request came")
        running = _Running(request, key, ahead)
        self._unanswered[request.id] = running
        self._newest[request.document] = running
        self._limit_time(running)
        self._seat().ask(request.id, request)
        return running

    def _abandon(self, running: _Running) -> None:
        """One of those who waited has an answer, or does not want it any more."""
        running.waiting = [pending for pending in running.waiting if not pending.done()]
        if not running.waiting and not running.ahead:
            self._stop(running, CANCELLED)

    def _stop(self, running: _Running, completion: Completion) -> None:
        """End *running* before the worker does, and watch that it stops."""
        if running.is_over:
            return
        request_id = running.request.id
        if request_id in self._unanswered:
            self._seat().send(Cancel(request_id))
            asyncio.get_running_loop().call_later(STUCK_S, self._end_stuck_worker, request_id)
        self._fulfil(running, completion)

    def _fulfil(self, running: _Running, completion: Completion) -> None:
        running.is_over = True
        if self._newest.get(running.request.document) is running:
            del self._newest[running.request.document]
        for pending in running.waiting:
            if not pending.done():
                pending.set_result(completion)

    def _end_stuck_worker(self, request_id: int) -> None:
        if request_id in self._unanswered and not self._seat().is_loading:
            self._log.error("the worker does not answer any more and is ended")
            self._seat().kill()

    def _limit_time(self, running: _Running) -> None:
        """Answer in any case after a while, but not while a model is being loaded: that may take minutes."""
        limit = running.request.limits.deadline_ms / 1000 + PATIENCE_S
        is_loading = self._seat().is_loading
        asyncio.get_running_loop().call_later(limit, self._expire, running, is_loading)

    def _expire(self, running: _Running, was_loading: bool) -> None:
        if was_loading and not running.is_over:
            self._limit_time(running)
        else:
            self._stop(running, Completion(reason="the answer took too long"))
