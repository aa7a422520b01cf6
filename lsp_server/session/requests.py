"""Keeps the requests to the worker that are under way: one per document, each answered exactly once.

A request is a future, fulfilled by whatever comes first: the worker's answer, the worker's death, a newer
request for the document, an edit of it, the time limit; or cancelled by the client. In each case but the
first the worker is told to stop. A request for what is being worked on already gets the same answer.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from fimlsp.lsp_server.messages import Cancel, Complete, Completion
from fimlsp.lsp_server.session.completion_cache import Key
from fimlsp.lsp_server.worker_client.worker_pool import WorkerHandle

Pending = asyncio.Future[Completion]

PATIENCE_S = 10.0
"""How long over its deadline a request may take, as a document is parsed when it is first asked about."""

STUCK_S = 60.0
"""A worker that has not come back this long after a cancellation is stuck."""


CANCELLED = Completion(reason="the client cancelled the request", stale=True)


@dataclass(eq=False, slots=True)
class _Running:
    """A request, those who wait for it, and whether it goes on when nobody does.

    *timer* limits its time; once it is over, it watches that the worker stops.
    """

    request: Complete
    key: Key
    ahead: bool
    waiting: list[Pending] = field(default_factory=list)
    is_over: bool = False
    timer: asyncio.TimerHandle | None = None

    def asks_the_same(self, other: Complete) -> bool:
        """Whether *other* would get the same answer."""
        return replace(other, id=self.request.id, asked_at=self.request.asked_at) == self.request

    def call_later(self, seconds: float, callback: Callable[..., None], *arguments: object) -> None:
        """Let the timer call *callback*, and nothing else any more."""
        self.stop_timer()
        self.timer = asyncio.get_running_loop().call_later(seconds, callback, *arguments)

    def stop_timer(self) -> None:
        """Let the timer call nothing any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Requests:
    """The requests of one client, by document.

    *worker* gives the worker to ask, if there is one; *keep* hears of each answer that it gives.
    """

    def __init__(
        self,
        worker: Callable[[], WorkerHandle | None],
        keep: Callable[[Key, Completion], None],
        log: logging.Logger,
    ) -> None:
        self._find_worker = worker
        self._keep = keep
        self._log = log
        self._unanswered: dict[int, _Running] = {}
        self._newest: dict[str, _Running] = {}

    def __len__(self) -> int:
        return len(self._unanswered)

    def is_running(self, uri: str) -> bool:
        """Whether somebody waits for a request about the document."""
        running = self._newest.get(uri)
        return running is not None and bool(running.waiting)

    def waited_for(self) -> list[str]:
        """The documents about which somebody waits for a request."""
        return [uri for uri, running in self._newest.items() if running.waiting]

    def ask(self, request: Complete, key: Key) -> Pending:
        """Send *request*; the future never fails. Cancel it when the answer is no longer wanted."""
        running = self._newest.get(request.document.uri)
        if running is None or not running.asks_the_same(request):
            running = self._begin(request, key, ahead=False)
        pending: Pending = asyncio.get_running_loop().create_future()
        running.waiting.append(pending)
        pending.add_done_callback(lambda _: self._abandon(running))
        return pending

    def ask_ahead(self, request: Complete, key: Key) -> None:
        """Send a request that nobody waits for yet."""
        self._begin(request, key, ahead=True)

    def drop(self, uri: str, reason: str) -> None:
        """Answer the request under way for the document, if any, and stop it."""
        running = self._newest.get(uri)
        if running is not None:
            self._stop(running, Completion(reason=reason, stale=True))

    def take(self, request_id: int, completion: Completion) -> None:
        """The worker answered."""
        running = self._unanswered.pop(request_id, None)
        if running is not None:
            running.stop_timer()
            if not running.is_over:
                self._keep(running.key, completion)
                self._fulfil(running, completion)

    def fail_all(self, reason: str) -> None:
        """Answer every request, as the worker never will."""
        for running in [*self._unanswered.values()]:
            running.stop_timer()
            self._fulfil(running, Completion(reason=reason))
        self._unanswered.clear()

    def send_all(self) -> None:
        """Send everything to a worker that knows nothing yet."""
        over = [id for id, running in self._unanswered.items() if running.is_over]
        for id in over:
            self._unanswered.pop(id).stop_timer()
        for running in self._unanswered.values():
            self._worker().ask(running.request.id, running.request)

    def _worker(self) -> WorkerHandle:
        worker = self._find_worker()
        assert worker is not None, "nothing is under way without a worker"
        return worker

    def _begin(self, request: Complete, key: Key, *, ahead: bool) -> _Running:
        uri = request.document.uri
        self.drop(uri, "a newer request came")
        worker = self._worker()
        running = _Running(request, key, ahead)
        self._unanswered[request.id] = self._newest[uri] = running
        self._limit_time(running, worker.is_loading)
        worker.ask(request.id, request)
        return running

    def _abandon(self, running: _Running) -> None:
        """One of those who waited has an answer, or does not want it any more."""
        if running.is_over:
            return
        running.waiting = [pending for pending in running.waiting if not pending.done()]
        if not running.waiting and not running.ahead:
            self._stop(running, CANCELLED)

    def _stop(self, running: _Running, completion: Completion) -> None:
        """End *running* before the worker does, and watch that it stops."""
        if running.is_over:
            return
        request_id = running.request.id
        if request_id in self._unanswered:
            self._worker().send(Cancel(request_id))
            running.call_later(STUCK_S, self._end_stuck_worker, request_id)
        self._fulfil(running, completion)

    def _fulfil(self, running: _Running, completion: Completion) -> None:
        running.is_over = True
        uri = running.request.document.uri
        if self._newest.get(uri) is running:
            del self._newest[uri]
        for pending in running.waiting:
            if not pending.done():
                pending.set_result(completion)

    def _end_stuck_worker(self, request_id: int) -> None:
        if request_id in self._unanswered and not self._worker().is_loading:
            self._log.error("the worker does not answer any more and is ended")
            self._worker().kill()

    def _limit_time(self, running: _Running, is_loading: bool) -> None:
        """Answer in any case after a while, but not while a model is being loaded: that may take minutes."""
        limit = running.request.limits.deadline_ms / 1000 + PATIENCE_S
        running.call_later(limit, self._expire, running, is_loading)

    def _expire(self, running: _Running, was_loading: bool) -> None:
        if was_loading:
            self._limit_time(running, self._worker().is_loading)
        else:
            self._stop(running, Completion(reason="the answer took too long"))
