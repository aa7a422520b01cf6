"""From a request to what is shown, the quickest way first.

The rest of the suggestion that the user is typing through; a completion made before for the same text; or
the worker's. What the user accepts is followed by the question for the next completion, before the editor
asks it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.lsp_server.documents.open_documents import Document, Documents, Replaced
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Complete, Completion, Limits
from fimlsp.lsp_server.session.completion_cache import CompletionCache, Key, answers, key_of
from fimlsp.lsp_server.session.requests import CANCELLED, Pending, Requests
from fimlsp.lsp_server.session.statistics import Statistics
from fimlsp.lsp_server.session.status import StatusBoard
from fimlsp.lsp_server.session.suggestions import Suggestion, Suggestions
from fimlsp.lsp_server.settings.options import Settings
from fimlsp.lsp_server.worker_client.worker_pool import Seat

Trigger = Literal["automatic", "by hand", "menu"]
"""Who asks: the typing, the user, or the menu of completions, which does not tell the two apart."""

MOST_KEYS = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor in a version of a document, and the question that it puts."""

    document: Document
    offset: int
    limits: Limits
    key: Key


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that came at *begun*. *is_here*: it needed no worker; *typed*: what is typed through."""

    uri: str
    line: int
    character: int
    trigger: Trigger
    begun: float
    pending: Pending
    is_here: bool
    place: Place | None = None
    typed: Suggestion | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The texts to show, best first, and the id by which they are accepted or dismissed."""

    texts: tuple[str, ...] = ()
    id: str = ""


class Completer:
    """Answers the requests of one client. *seat* is its place at the worker, *new_id* numbers requests."""

    def __init__(
        self,
        documents: Documents,
        seat: Callable[[], Seat | None],
        new_id: Callable[[], int],
        status: StatusBoard,
        log: logging.Logger,
    ) -> None:
        self.statistics = Statistics()
        self.requests = Requests(seat, self._keep, log)
        self.cache = CompletionCache(Settings().cache_size)
        self.suggestions = Suggestions()
        self.settings = Settings()
        self.automatic = True
        self._documents = documents
        self._seat = seat
        self._new_id = new_id
        self._status = status
        self._log = log
        self._dismissed = set[Key]()
        self._ahead = set[Key]()

    # Requests

    def ask(self, uri: str, line: int, character: int, trigger: Trigger) -> Asked:
        """Ask what to insert at a position of the document as it is now; `answer` waits for the outcome."""
        begun = time.monotonic()
        self.statistics.requests += 1
        place = typed = None
        try:
            place = self._place(uri, line, character, trigger)
            typed = self._typed_through(place)
            found = self._rest(typed, place) if typed else self.cache.find(place.key)
            pending = self._put(place, begun) if found is None else settled(found)
        except NoSuggestion as answer:
            pending = settled(Completion(reason=str(answer)))
        if pending.done():
            self.requests.drop(self._documents.id(uri), "a newer request came")
        return Asked(uri, line, character, trigger, begun, pending, pending.done(), place, typed)

    async def answer(self, asked: Asked) -> Offer:
        """What to show; nothing where there is no suggestion, and the status says why."""
        try:
            completion = await asked.pending
        except asyncio.CancelledError:
            self._tell(asked, CANCELLED)
            raise
        shown = self._chosen(asked, completion)
        self._tell(asked, shown)
        if not shown.texts or asked.place is None:
            return Offer()
        latencies = self.statistics.of_reuse if asked.is_here else self.statistics.of_model
        latencies.append(1000 * (time.monotonic() - asked.begun))
        self._count_source(asked, asked.place)
        return self._offer(asked.place, asked.typed, shown)

    def _place(self, uri: str, line: int, character: int, trigger: Trigger) -> Place:
        document = self._documents.find(uri)
        if trigger == "automatic" and not self.automatic:
            raise NoSuggestion("completing while typing is switched off")
        offset = self._documents.offset(document, line, character)
        return self._place_at(document, offset, self._limits(trigger))

    def _place_at(self, document: Document, offset: int, limits: Limits) -> Place:
        return Place(document, offset, limits, key_of(document.read, offset, document.python, limits))

    def _limits(self, trigger: Trigger) -> Limits:
        settings = self.settings
        return Limits(
            max_tokens=settings.max_tokens,
            deadline_ms=settings.deadline_ms,
            one_line=settings.one_line,
            candidates=settings.candidates if trigger == "by hand" else 1,
            context_escape=settings.context_escape,
            steering=settings.steering,
            relaxed_contexts=settings.relaxed_contexts,
            neighbour_tokens=settings.neighbour_tokens,
        )

    def _request(self, place: Place, begun: float) -> Complete:
        document = self._documents.id(place.document.uri)
        return Complete(self._new_id(), document, place.document.version, place.offset, place.limits, begun)

    def _put(self, place: Place, begun: float) -> Pending:
        seat = self._seat()
        if seat is None or not seat.is_available:
            raise NoSuggestion("the worker process has ended and is not started again yet")
        pending = self.requests.ask(self._request(place, begun), place.key)
        self._status.thinking(place.document.uri)
        return pending

    # What is here

    def _typed_through(self, place: Place) -> Suggestion | None:
        shown = self.suggestions.shown(place.document.uri)
        if shown is None or not answers(shown.key, place.key):
            return None
        return shown if shown.rests(place.document.text.data, place.offset) else None

    def _shown_at(self, place: Place) -> list[str]:
        shown = self.suggestions.shown(place.document.uri)
        if shown is None or not self._documents.is_current(place.document):
            return []
        return [rest.decode() for rest in shown.rests(place.document.text.data, place.offset)]

    def _rest(self, typed: Suggestion, place: Place) -> Completion:
        rests = typed.rests(place.document.text.data, place.offset)
        return Completion(tuple(rest.decode() for rest in rests), complete=True, relaxed=typed.relaxed)

    def _keep(self, key: Key, completion: Completion) -> None:
        self.statistics.add_work(completion)
        self.cache.keep(key, completion)

    # What is shown

    def _chosen(self, asked: Asked, completion: Completion) -> Completion:
        """*completion*, or why it is not shown although it was found.

        Asked by hand, what is shown already comes first: editors ask so for the next one.
        """
        if asked.trigger == "by hand" and asked.place is not None:
            texts = dict.fromkeys([*self._shown_at(asked.place), *completion.texts])
            return replace(completion, texts=tuple(texts), reason=None if texts else completion.reason)
        if asked.typed is not None or not completion.texts:
            return completion
        if len(completion.text.strip()) < self.settings.min_length:
            reason = (
                f"the suggestion is shorter than {self.settings.min_length} characters (option minLength)"
            )
            return replace(completion, texts=(), reason=reason)
        if asked.place is not None and asked.place.key in self._dismissed:
            return replace(completion, texts=(), reason="this suggestion was dismissed")
        return completion

    def _offer(self, place: Place, typed: Suggestion | None, shown: Completion) -> Offer:
        if typed is not None:
            return Offer(shown.texts, typed.id)
        uri, data = place.document.uri, place.document.text.data
        suggestion = Suggestion(
            self.suggestions.new_id(),
            uri,
            place.offset,
            len(data) - place.offset,
            tuple(text.encode() for text in shown.texts),
            place.key,
            shown.relaxed,
        )
        if self._documents.is_current(place.document):
            self.suggestions.show(suggestion)
            self.statistics.shown += 1
        return Offer(shown.texts, suggestion.id)

    def _count_source(self, asked: Asked, place: Place) -> None:
        if asked.typed is not None and asked.typed.origin != place.offset:
            self.statistics.typed_through += 1
        elif asked.is_here:
            self.statistics.cached += 1
        if place.key in self._ahead:
            self._ahead.discard(place.key)
            self.statistics.prefetched += 1

    def _tell(self, asked: Asked, completion: Completion) -> None:
        """Status and log for an answer. One that was overtaken leaves the status to the newer request."""
        if completion.reason is not None and not completion.stale:
            self.statistics.add_reason(completion.reason)
        if completion.reason is not None:
            level = logging.DEBUG if completion.stale else logging.INFO
            self._log.log(level, "no suggestion: %s", completion.reason)
        if self.requests.is_running(self._documents.id(asked.uri)):
            return
        if completion.stale:
            self._status.stale(asked.uri)
        elif completion.texts:
            self._status.suggestion(asked.uri, completion.relaxed)
        else:
            self._status.none(asked.uri, completion.reason or "")

    def forget(self) -> None:
        """Another model answers from now on."""
        self.cache.clear()
        self.suggestions.forget_all()

    # What the user does

    def edited(self, uri: str, size: int, replaced: Replaced) -> None:
        """A part of the document, which had *size* bytes, was replaced."""
        self.suggestions.edited(uri, size, replaced.start, replaced.end)

    def follow_up(self, document: Document, last: Replaced) -> None:
        """The document was changed: if that completed a suggestion, ask for what comes next."""
        shown = self.suggestions.shown(document.uri)
        if shown is None:
            return
        is_more_than_a_key = len(last.replacement.decode()) > 1
        if not shown.is_inserted(document.text.data):
            if is_more_than_a_key and shown.rests(document.text.data, last.start + len(last.replacement)):
                self.statistics.add_acceptance(last.replacement, partly=True)
            return
        self.suggestions.forget(document.uri)
        if self.suggestions.settle(shown.id) and is_more_than_a_key:
            self.statistics.add_acceptance(last.replacement)
        self._ask_ahead(document, shown.origin + len(shown.inserted(document.text.data)))

    def accept(self, name: str) -> None:
        """The user took a text of a suggestion; the edit that inserts it comes, or came, by itself."""
        suggestion_id, _, number = name.partition(".")
        suggestion = self.suggestions.settle(suggestion_id)
        if suggestion is not None:
            index = int(number) if number.isdecimal() and int(number) < len(suggestion.texts) else 0
            self.statistics.add_acceptance(suggestion.texts[index])

    def dismiss(self, name: str) -> None:
        """The user does not want a suggestion; it is not made again at this place while typing."""
        suggestion = self.suggestions.settle(name.partition(".")[0])
        if suggestion is None:
            return
        self.statistics.dismissed += 1
        self.suggestions.forget(suggestion.uri)
        if len(self._dismissed) >= MOST_KEYS:
            self._dismissed.clear()
        self._dismissed.add(suggestion.key)

    def _ask_ahead(self, document: Document, offset: int) -> None:
        """Ask for the next completion, which the editor will ask for in a moment."""
        seat = self._seat()
        ready = seat is not None and seat.is_available and not seat.is_loading
        if not (ready and self.automatic and self.settings.cache_size):
            return
        try:
            self._documents.find(document.uri)
        except NoSuggestion:
            return
        place = self._place_at(document, offset, self._limits("automatic"))
        if self.cache.find(place.key) is None:
            if len(self._ahead) >= MOST_KEYS:
                self._ahead.clear()
            self._ahead.add(place.key)
            self.requests.ask_ahead(self._request(place, time.monotonic()), place.key)


def settled(completion: Completion) -> Pending:
    """A request that is answered already."""
    pending: Pending = asyncio.get_running_loop().create_future()
    pending.set_result(completion)
    return pending
