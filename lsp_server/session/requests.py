"""Puts questions to the worker, none of them twice: one is under way per document, and answers are kept.

A request is a future, fulfilled by whatever comes first: the worker's answer, the worker's death, a newer
request for the document, an edit of it, the time limit; or cancelled by the client. In each case but the
first the worker is told to stop. A request for what is being worked on already gets the same answer; what was
answered is found again when the same text comes again: after an undo, a backspace, a detour.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Answer, Cancel, Complete, Completion, Limits
from fimlsp.lsp_server.session.statistics import Statistics
from fimlsp.lsp_server.worker_client.worker_pool import WorkerHandle
from fimlsp.quotient.language.contract import Language

Pending = asyncio.Future[Completion]

PATIENCE_S = 10.0
"""How long over its deadline a request may take, as a document is parsed when it is first asked about."""

STUCK_S = 60.0
"""A worker that has not come back this long after a cancellation is stuck."""


CANCELLED = Completion(reason="the client cancelled the request", stale=True)


class Key(NamedTuple):
    """A question: the hashes of the text on each side of the cursor, the grammar, and the limits.

    With the same model it has the same answer.
    """

    left: int
    right: int
    grammar: Language
    limits: Limits

    def answers(self, other: Key) -> bool:
        """Whether what is shown for this question may stay where *other* is asked: under the same settings.

        This one may have been asked for more texts, and for less sure or shorter ones, as by hand.
        """
        limits, wanted = self.limits, other.limits
        if self.grammar != other.grammar:
            return False
        same = replace(
            limits,
            candidates=wanted.candidates,
            confidence=wanted.confidence,
            min_length=wanted.min_length,
        )
        return (
            same == wanted
            and limits.candidates >= wanted.candidates
            and limits.confidence <= wanted.confidence
            and limits.min_length <= wanted.min_length
        )


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
        if self.timer is not None:
            self.timer.cancel()
        self.timer = asyncio.get_running_loop().call_later(seconds, callback, *arguments)

    def stop_timer(self) -> None:
        """Let the timer call nothing any more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None


class Requests:
    """The requests of one client: those under way, by document, and the last answers, by question.

    `worker` is asked; while there is none, `why_no_worker` tells the reason, if it is more than that the
    client has just come.
    """

    def __init__(self, statistics: Statistics, log: logging.Logger) -> None:
        self.worker: WorkerHandle | None = None
        self.why_no_worker: str | None = None
        self._statistics = statistics
        self._log = log
        self._unanswered: dict[int, _Running] = {}
        self._newest: dict[str, _Running] = {}
        self._answers: OrderedDict[Key, Completion] = OrderedDict()
        self._most_answers = 0

    def __len__(self) -> int:
        return len(self._unanswered)

    # Answers that are here

    def keep(self, most_answers: int) -> None:
        """Keep at most so many answers from now on; the one not asked for longest is dropped first."""
        self._most_answers = most_answers
        self._drop_oldest()

    def find(self, key: Key) -> Completion | None:
        """What was answered to the question *key*, if it is still here."""
        completion = self._answers.get(key)
        if completion is not None:
            self._answers.move_to_end(key)
        return completion

    def forget_answers(self) -> None:
        """Another model answers from now on."""
        self._answers.clear()

    def _drop_oldest(self) -> None:
        while len(self._answers) > self._most_answers:
            self._answers.popitem(last=False)

    # Under way

    def is_running(self, uri: str) -> bool:
        """Whether somebody waits for a request about the document."""
        running = self._newest.get(uri)
        return running is not None and bool(running.waiting)

    def waited_for(self) -> list[str]:
        """The documents about which somebody waits for a request."""
        return [uri for uri, running in self._newest.items() if running.waiting]

    def ask(self, request: Complete, key: Key) -> Pending:
        """Send *request*; the future never fails. Cancel it when the answer is no longer wanted.

        Raises:
            NoSuggestion: There is no worker now.
        """
        worker = self.worker
        if self.why_no_worker is not None:
            raise NoSuggestion(self.why_no_worker)
        if worker is None or not worker.process.is_available:
            raise NoSuggestion("the worker process has ended and is not started again yet")
        running = self._newest.get(request.document.uri)
        if running is None or not running.asks_the_same(request):
            running = self._begin(worker, request, key, ahead=False)
        pending: Pending = asyncio.get_running_loop().create_future()
        running.waiting.append(pending)
        pending.add_done_callback(partial(self._abandon, running))
        return pending

    def ask_ahead(self, request: Complete, key: Key) -> bool:
        """Send a request that nobody waits for yet, if the worker has time for it; whether it has."""
        worker = self.worker
        if worker is None or not worker.process.is_available or worker.is_loading:
            return False
        self._begin(worker, request, key, ahead=True)
        return True

    def drop(self, uri: str, reason: str) -> None:
        """Answer the request under way for the document, if any, and stop it."""
        running = self._newest.get(uri)
        if running is not None:
            self._stop(running, Completion(reason=reason, stale=True))

    def take(self, answer: Answer) -> None:
        """The worker answered: tell who waits, and keep it if the same question would get the same answer."""
        done = answer.completion
        self._log.debug(
            "%d tokens, %d rejected, %.1f ms, the model %.1f ms of it",
            done.tokens,
            done.rejected,
            answer.ms,
            done.model_ms,
        )
        running = self._unanswered.pop(answer.id, None)
        if running is None:
            return
        running.stop_timer()
        if running.is_over:
            return
        self._statistics.tokens += done.tokens
        self._statistics.rejected_tokens += done.rejected
        if done.final:
            self._answers[running.key] = done
            self._answers.move_to_end(running.key)
            self._drop_oldest()
        self._fulfil(running, done)

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
            self._asked.ask(running.request, self.take)

    @property
    def _asked(self) -> WorkerHandle:
        assert self.worker is not None, "nothing is under way without a worker"
        return self.worker

    def _begin(self, worker: WorkerHandle, request: Complete, key: Key, *, ahead: bool) -> _Running:
        uri = request.document.uri
        self.drop(uri, "a newer request came")
        running = _Running(request, key, ahead)
        self._unanswered[request.id] = self._newest[uri] = running
        self._limit_time(running, worker.is_loading)
        worker.ask(request, self.take)
        return running

    def _abandon(self, running: _Running, _: Pending) -> None:
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
            self._asked.process.send(Cancel(request_id))
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
        if request_id in self._unanswered and not self._asked.is_loading:
            self._log.error("the worker does not answer any more and is ended")
            self._asked.process.kill()

    def _limit_time(self, running: _Running, is_loading: bool) -> None:
        """Answer in any case after a while, but not while a model is being loaded: that may take minutes."""
        limit = running.request.limits.deadline_ms / 1000 + PATIENCE_S
        running.call_later(limit, self._expire, running, is_loading)

    def _expire(self, running: _Running, was_loading: bool) -> None:
        if was_loading:
            self._limit_time(running, self._asked.is_loading)
        else:
            self._stop(running, Completion(reason="the answer took too long"))
