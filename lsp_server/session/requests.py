"""Sends requests to the worker: one at a time for each document, and none for a completion in the cache.

A request is a future. It ends if the worker answers or dies, the document gets a newer request or an edit,
the time limit passes, or the client cancels. The worker is told to stop unless it has answered. Equal
requests share one answer. A cached completion is found again if the same text returns, as after an undo or a
backspace. While a model still reads, a request waits and is then sent again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from fimlsp.lsp_server.documents import NoSuggestion
from fimlsp.lsp_server.messages import Answer, Cancel, Complete, Completion, Limits
from fimlsp.lsp_server.session.status import Statistics
from fimlsp.lsp_server.worker_pool import WorkerHandle
from fimlsp.quotient.language.contract import Language

CompletionFuture = asyncio.Future[Completion]

PATIENCE_S = 10.0
"""Seconds beyond its deadline that a request may take. The first request for a document parses it."""

STUCK_S = 60.0
"""A worker that does not answer for so long after a cancellation is stuck."""

STUCK_CPU_S = 1.0, 30.0
"""Between these seconds of processor time since then, a busy machine has just not let it run."""


LATER_S = 60.0
"""The longest wait for an answer that comes later."""

CANCELLED = Completion(reason="the client cancelled the request", stale=True)


class RequestKey(NamedTuple):
    """Everything that a completion depends on, beside the model.

    *left* and *right* are the hashes of the text on each side of the cursor. *deleted* has the texts that
    would bring deleted text back.
    """

    left: int
    right: int
    grammar: Language
    limits: Limits
    deleted: tuple[bytes, ...] = ()

    def covers(self, other: RequestKey) -> bool:
        """True if a suggestion for this key may stay on the screen for the request *other*.

        Both need the same settings, but an invoked request has wider limits than an automatic one: more
        candidates, with less confidence, and shorter.
        """
        mine, others = self.limits, other.limits
        if self.grammar != other.grammar:
            return False
        same = replace(
            mine,
            candidates=others.candidates,
            confidence=others.confidence,
            min_length=others.min_length,
        )
        return (
            same == others
            and mine.candidates >= others.candidates
            and mine.confidence <= others.confidence
            and mine.min_length <= others.min_length
        )


@dataclass(eq=False, slots=True)
class _Running:
    """A request and the futures that wait for it; a prefetch continues without any.

    *timer* limits its time. After its end, the timer checks that the worker stops. Until *patient_until* it
    waits for an answer that comes later.
    """

    request: Complete
    key: RequestKey
    is_prefetch: bool
    patient_until: float = 0.0
    waiting: list[CompletionFuture] = field(default_factory=list)
    is_over: bool = False
    timer: asyncio.TimerHandle | None = None

    def is_equal(self, other: Complete) -> bool:
        """True if *other* gets the same answer."""
        mine = self.request
        same = replace(other, id=mine.id, requested_at=mine.requested_at, is_unhurried=mine.is_unhurried)
        return same == mine

    def call_later(self, seconds: float, callback: Callable[..., None], *arguments: object) -> None:
        """Set the timer to call *callback*, instead of its last one."""
        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(seconds, callback, *arguments)

    def stop_timer(self) -> None:
        """Stop the timer."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Requests:
    """The running requests of one client, by document, and its newest completions, by key.

    While `worker` is None, `why_no_worker` has the reason; it is None as well for a new client.
    """

    def __init__(self, statistics: Statistics, log: logging.Logger) -> None:
        self.worker: WorkerHandle | None = None
        self.why_no_worker: str | None = None
        self._statistics = statistics
        self._log = log
        self._unanswered: dict[int, _Running] = {}
        self._newest: dict[str, _Running] = {}
        self._cache: OrderedDict[RequestKey, Completion] = OrderedDict()
        self._cache_size = 0

    def __len__(self) -> int:
        return len(self._unanswered)

    # Cache

    def keep(self, cache_size: int) -> None:
        """Cache at most so many completions from now on; the least recently used one is dropped first."""
        self._cache_size = cache_size
        self._drop_oldest()

    def find(self, key: RequestKey) -> Completion | None:
        """The cached completion for *key*."""
        completion = self._cache.get(key)
        if completion is not None:
            self._cache.move_to_end(key)
        return completion

    def forget_completions(self) -> None:
        """Clear the cache, because another model makes the next completions."""
        self._cache.clear()

    def _drop_oldest(self) -> None:
        while len(self._cache) > self._cache_size:
            self._cache.popitem(last=False)

    # Running requests

    def is_running(self, uri: str) -> bool:
        """True if a future waits for a request about the document."""
        running = self._newest.get(uri)
        return running is not None and bool(running.waiting)

    def waited_for(self) -> list[str]:
        """The documents with a request for which a future waits."""
        return [uri for uri, running in self._newest.items() if running.waiting]

    def submit(self, request: Complete, key: RequestKey, *, is_patient: bool = True) -> CompletionFuture:
        """Send *request*. The future never fails; cancel it if the answer is not needed any more.

        If it *is_patient*, it waits for an answer that comes later.

        Raises:
            NoSuggestion: There is no worker now.
        """
        worker = self.worker
        if self.why_no_worker is not None:
            raise NoSuggestion(self.why_no_worker)
        if worker is None or not worker.process.is_available:
            raise NoSuggestion("the worker process has ended and will be restarted")
        running = self._newest.get(request.document.uri)
        if running is None or not running.is_equal(request):
            running = self._start(worker, request, key, is_prefetch=False)
        if is_patient:
            running.patient_until = time.monotonic() + LATER_S
        future: CompletionFuture = asyncio.get_running_loop().create_future()
        running.waiting.append(future)
        future.add_done_callback(partial(self._abandon, running))
        return future

    def prefetch(self, request: Complete, key: RequestKey) -> bool:
        """Send a request for which no future waits yet; false if the worker has no time for it."""
        worker = self.worker
        if worker is None or not worker.process.is_available or worker.is_loading:
            return False
        self._start(worker, request, key, is_prefetch=True)
        return True

    def drop(self, uri: str, reason: str) -> None:
        """Answer the running request for the document, if any, and stop it."""
        running = self._newest.get(uri)
        if running is not None:
            self._stop(running, Completion(reason=reason, stale=True))

    def take(self, answer: Answer) -> None:
        """Pass the worker's answer on to the waiting futures, and cache it if it is final."""
        done = answer.completion
        self._log.debug(
            "%d tokens, %d rejected, %.1f ms, of which the model %.1f ms",
            done.tokens,
            done.rejected,
            answer.ms,
            done.model_ms,
        )
        if done.choices:
            self._log.debug("choices: %s", json.dumps([choice._asdict() for choice in done.choices]))
        running = self._unanswered.pop(answer.id, None)
        if running is None:
            return
        running.stop_timer()
        if running.is_over:
            return
        self._statistics.tokens += done.tokens
        self._statistics.rejected_tokens += done.rejected
        if done.later and self._waits_for_later(running, done):
            return
        if done.final:
            self._cache[running.key] = done
            self._cache.move_to_end(running.key)
            self._drop_oldest()
        self._finish(running, done)

    def _waits_for_later(self, running: _Running, done: Completion) -> bool:
        """True if *running* has not ended with *done*, as somebody waits for a later answer."""
        seconds = running.patient_until - time.monotonic()
        if seconds <= 0 or not running.waiting:
            return False
        running.call_later(seconds, self._finish, running, done)
        return True

    def resume(self, uri: str) -> None:
        """The worker may have an answer for the document by now, if a request waits for a later one."""
        running = self._newest.get(uri)
        if running is None or running.request.id in self._unanswered:
            return
        running.request = replace(running.request, requested_at=time.monotonic())
        self._send(self._busy_worker, running)

    def fail_all(self, reason: str) -> None:
        """Answer every request with *reason*, because the worker cannot."""
        for running in [*self._unanswered.values(), *self._newest.values()]:
            running.stop_timer()
            self._finish(running, Completion(reason=reason))
        self._unanswered.clear()

    def send_all(self) -> None:
        """Send all running requests to a new worker process."""
        over = [id for id, running in self._unanswered.items() if running.is_over]
        for id in over:
            self._unanswered.pop(id).stop_timer()
        for running in self._unanswered.values():
            self._busy_worker.request(running.request, self.take)

    @property
    def _busy_worker(self) -> WorkerHandle:
        assert self.worker is not None, "requests run only with a worker"
        return self.worker

    def _start(
        self, worker: WorkerHandle, request: Complete, key: RequestKey, *, is_prefetch: bool
    ) -> _Running:
        uri = request.document.uri
        self.drop(uri, "a newer request arrived")
        running = self._newest[uri] = _Running(request, key, is_prefetch)
        self._send(worker, running)
        return running

    def _send(self, worker: WorkerHandle, running: _Running) -> None:
        self._unanswered[running.request.id] = running
        self._limit_time(running, worker.is_loading)
        worker.request(running.request, self.take)

    def _abandon(self, running: _Running, _: CompletionFuture) -> None:
        """A future has an answer, or was cancelled."""
        if running.is_over:
            return
        running.waiting = [future for future in running.waiting if not future.done()]
        if not running.waiting and not running.is_prefetch:
            self._stop(running, CANCELLED)

    def _stop(self, running: _Running, completion: Completion) -> None:
        """End *running* before the worker does, and check that the worker stops."""
        if running.is_over:
            return
        request_id = running.request.id
        if request_id in self._unanswered:
            process = self._busy_worker.process
            process.send(Cancel(request_id))
            running.call_later(STUCK_S, self._end_stuck_worker, running, process.cpu_seconds())
        else:
            running.stop_timer()
        self._finish(running, completion)

    def _finish(self, running: _Running, completion: Completion) -> None:
        running.is_over = True
        uri = running.request.document.uri
        if self._newest.get(uri) is running:
            del self._newest[uri]
        for future in running.waiting:
            if not future.done():
                future.set_result(completion)

    def _end_stuck_worker(self, running: _Running, cpu_before: float) -> None:
        """Kill the worker if it has not answered *running*, and has had the processor time for that."""
        worker = self._busy_worker
        if running.request.id not in self._unanswered or worker.is_loading:
            return
        idle, enough = STUCK_CPU_S
        if idle < worker.process.cpu_seconds() - cpu_before < enough:
            running.call_later(STUCK_S, self._end_stuck_worker, running, cpu_before)
            return
        self._log.error("the worker does not answer any more and is killed")
        worker.end_stuck()

    def _limit_time(self, running: _Running, is_loading: bool) -> None:
        """Limit the time of *running*, except while a model is loading: that may take minutes."""
        request = running.request
        limit = (LATER_S if request.is_unhurried else request.limits.deadline_ms / 1000) + PATIENCE_S
        running.call_later(limit, self._expire, running, is_loading)

    def _expire(self, running: _Running, was_loading: bool) -> None:
        if was_loading:
            self._limit_time(running, self._busy_worker.is_loading)
        else:
            self._stop(running, Completion(reason="the answer took too long"))
