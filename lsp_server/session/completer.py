"""Decides what is shown at a cursor, the quickest way first.

What remains of the suggestion that the user is typing through; a completion made before for the same text; or
a new one from the worker. When the user accepts a suggestion, the next completion is asked for at once,
before the editor does.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.errors import explain
from fimlsp.lsp_server.documents.open_documents import Document, Documents
from fimlsp.lsp_server.errors import NoSuggestion
from fimlsp.lsp_server.messages import Complete, Completion, Limits
from fimlsp.lsp_server.session.requests import CANCELLED, Key, Pending, Requests
from fimlsp.lsp_server.session.statistics import Statistics
from fimlsp.lsp_server.session.status import StatusBoard
from fimlsp.lsp_server.session.suggestions import Suggestion, Suggestions
from fimlsp.lsp_server.settings.options import Settings, limits_of

Trigger = Literal["automatic", "by hand", "menu"]
"""Who asks: the typing, the user, or the menu of completions, which does not tell the two apart."""

MOST_AHEAD = 1000
"""Questions that were asked ahead, of which it is counted whether they come."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """A byte offset in a version of a document, and the question that it puts."""

    document: Document
    offset: int
    key: Key


@dataclass(frozen=True, slots=True)
class Ticket:
    """A request that came at the time *asked_at*, to be exchanged for an `Offer`.

    *is_here*: no worker was needed; *typed* is the suggestion that is typed through, if one is.
    """

    uri: str
    line: int
    character: int
    trigger: Trigger
    asked_at: float
    pending: Pending
    is_here: bool
    cursor: Cursor | None = None
    typed: Suggestion | None = None


@dataclass(frozen=True, slots=True)
class Offer:
    """The texts to show, best first, and the id by which they are accepted or dismissed.

    The cursor is to stay in front of *closing*, with which the first of them ends.
    """

    texts: tuple[str, ...] = ()
    id: str = ""
    closing: str = ""


class Completer:
    """Answers the requests of one client. *new_id* numbers them.

    *cursor_inside* is as in `Limits`, and counts from the next settings on.
    """

    def __init__(
        self, documents: Documents, new_id: Callable[[], int], status: StatusBoard, log: logging.Logger
    ) -> None:
        self.statistics = Statistics()
        self.requests = Requests(self.statistics, log)
        self.suggestions = Suggestions(self.statistics)
        self.automatic = True
        self.cursor_inside = False
        self._documents = documents
        self._new_id = new_id
        self._status = status
        self._log = log
        self._ahead = set[Key]()
        self.configure(Settings())

    def configure(self, settings: Settings) -> None:
        """Use *settings* from now on."""
        self._min_length = settings.min_length
        self._limits = limits_of(settings, by_hand=False, cursor_inside=self.cursor_inside)
        self._limits_by_hand = limits_of(settings, by_hand=True)
        self._asks_ahead = settings.cache_size > 0
        self.requests.keep(settings.cache_size)

    # Requests

    def ask(self, uri: str, line: int, character: int, trigger: Trigger) -> Ticket:
        """Ask what to insert at a position of the document as it is now; `answer` waits for the outcome.

        Raises nothing: whatever goes wrong answers the request, with a reason.
        """
        asked_at = time.monotonic()
        self.statistics.requests += 1
        cursor = typed = None
        try:
            cursor = self._cursor(uri, line, character, trigger)
            typed, found = self._typed_through(cursor)
            if found is None:
                found = self.requests.find(cursor.key)
            pending = settled(found) if found is not None else self._put(cursor, asked_at)
        except Exception as error:
            pending = settled(Completion(reason=explain(error, "completing", self._log)))
        is_here = pending.done()
        if is_here:
            self.requests.drop(uri, "a newer request came")
        return Ticket(uri, line, character, trigger, asked_at, pending, is_here, cursor, typed)

    async def answer(self, ticket: Ticket) -> Offer:
        """What to show; nothing where there is no suggestion, and the status says why.

        Raises nothing but `CancelledError`, when the client does not want the answer any more.
        """
        try:
            return self._answer(ticket, await ticket.pending)
        except asyncio.CancelledError:
            self._tell(ticket, CANCELLED)
            raise
        except Exception as error:
            self._tell(ticket, Completion(reason=explain(error, "completing", self._log)))
            return Offer()

    def _answer(self, ticket: Ticket, completion: Completion) -> Offer:
        shown = self._chosen(ticket, completion)
        self._tell(ticket, shown)
        if not shown.texts or ticket.cursor is None:
            return Offer()
        latencies = self.statistics.of_reuse if ticket.is_here else self.statistics.of_model
        latencies.append(1000 * (time.monotonic() - ticket.asked_at))
        self._count_source(ticket, ticket.cursor)
        return self._offer(ticket.cursor, ticket.typed, shown)

    def _cursor(self, uri: str, line: int, character: int, trigger: Trigger) -> Cursor:
        document = self._documents.find(uri)
        if trigger == "automatic" and not self.automatic:
            raise NoSuggestion("completing while typing is switched off")
        offset = self._documents.offset(document, line, character)
        return cursor_at(document, offset, self._limits_by_hand if trigger == "by hand" else self._limits)

    def _request(self, cursor: Cursor, asked_at: float) -> Complete:
        document, key = cursor.document, cursor.key
        return Complete(self._new_id(), document.id, document.version, cursor.offset, key.limits, asked_at)

    def _put(self, cursor: Cursor, asked_at: float) -> Pending:
        pending = self.requests.ask(self._request(cursor, asked_at), cursor.key)
        self._status.thinking(cursor.document.id.uri)
        return pending

    # What is here

    def _typed_through(self, cursor: Cursor) -> tuple[Suggestion | None, Completion | None]:
        """The suggestion that is being typed through, and what remains of it at the cursor."""
        shown = self.suggestions.shown(cursor.document.id.uri)
        if shown is None or not shown.key.answers(cursor.key):
            return None, None
        remainders = shown.remainders(cursor.document.text.data, cursor.offset)
        if not remainders:
            return None, None
        return shown, _remaining(shown, remainders)

    def _shown_at(self, cursor: Cursor) -> Completion:
        """What the editor shows at *cursor*."""
        shown = self.suggestions.shown(cursor.document.id.uri)
        if shown is None or not self._documents.is_current(cursor.document):
            return Completion()
        return _remaining(shown, shown.remainders(cursor.document.text.data, cursor.offset))

    # What is shown

    def _chosen(self, ticket: Ticket, completion: Completion) -> Completion:
        """*completion*, or why it is not shown although it was found.

        When asked by hand, what is shown already comes first: editors ask so for the next one.
        """
        if ticket.trigger == "by hand" and ticket.cursor is not None:
            first = self._shown_at(ticket.cursor)
            texts = tuple(dict.fromkeys([*first.texts, *completion.texts]))
            reason = None if texts else completion.reason
            return replace(completion, texts=texts, closing=first.closing, reason=reason)
        if ticket.typed is not None or not completion.texts:
            return completion
        if len(completion.texts[0].strip()) < self._min_length:
            reason = f"the suggestion is shorter than {self._min_length} characters (option minLength)"
            return replace(completion, texts=(), reason=reason)
        cursor = ticket.cursor
        if cursor is not None and self.suggestions.is_dismissed(
            ticket.uri, cursor.key, cursor.document.text.data, cursor.offset, completion.texts[0]
        ):
            return replace(completion, texts=(), reason="this suggestion was dismissed")
        return completion

    def _offer(self, cursor: Cursor, typed: Suggestion | None, shown: Completion) -> Offer:
        if typed is not None:
            return Offer(shown.texts, typed.id, shown.closing)
        suggestion = Suggestion(
            self.suggestions.new_id(),
            cursor.document.id.uri,
            cursor.offset,
            len(cursor.document.text.data) - cursor.offset,
            tuple(map(str.encode, shown.texts)),
            cursor.key,
            shown.relaxed,
            shown.closing.encode(),
        )
        if self._documents.is_current(cursor.document):
            self.suggestions.show(suggestion)
            self.statistics.shown += 1
        return Offer(shown.texts, suggestion.id, shown.closing)

    def _count_source(self, ticket: Ticket, cursor: Cursor) -> None:
        if ticket.typed is not None and ticket.typed.origin != cursor.offset:
            self.statistics.typed_through += 1
        elif ticket.is_here:
            self.statistics.cached += 1
        if cursor.key in self._ahead:
            self._ahead.discard(cursor.key)
            self.statistics.prefetched += 1

    def _tell(self, ticket: Ticket, completion: Completion) -> None:
        """Status and log for an answer. One that was overtaken leaves the status to the newer request."""
        uri = ticket.uri
        if completion.reason is not None and not completion.stale:
            self.statistics.add_reason(completion.reason)
        level = logging.DEBUG if completion.stale else logging.INFO
        self._log.log(level, "%s", in_the_log(ticket, completion))
        if self.requests.is_running(uri):
            return
        if completion.stale:
            self._status.stale(uri)
        elif completion.texts:
            self._status.suggestion(uri, completion.relaxed, completion.unknown_names)
        else:
            self._status.none(uri, completion.reason or "", completion.unknown_names)

    def forget(self) -> None:
        """Another model answers from now on."""
        self.requests.forget_answers()
        self.suggestions.forget_all()

    def dismiss(self, name: str) -> None:
        """The user does not want the suggestion of this name."""
        uri = self.suggestions.dismiss(name)
        if uri is not None:
            self._status.ended(uri)

    def ask_ahead(self, document: Document, offset: int) -> None:
        """Ask what comes behind a suggestion that was taken; the editor will ask for it in a moment."""
        if not (self.automatic and self._asks_ahead and document.refusal is None):
            return
        cursor = cursor_at(document, offset, self._limits)
        if self.requests.find(cursor.key) is not None:
            return
        if self.requests.ask_ahead(self._request(cursor, time.monotonic()), cursor.key):
            if len(self._ahead) >= MOST_AHEAD:
                self._ahead.clear()
            self._ahead.add(cursor.key)


def _remaining(shown: Suggestion, texts: tuple[bytes, ...]) -> Completion:
    """The *texts* that are left of *shown*."""
    closing = shown.closing.decode() if texts else ""
    return Completion(tuple(map(bytes.decode, texts)), complete=True, relaxed=shown.relaxed, closing=closing)


def cursor_at(document: Document, offset: int, limits: Limits) -> Cursor:
    """The question at *offset*. O(len(document.text.data)) once for a line, 1 ms for 5 MB."""
    left, right = document.read.hashes(offset)
    return Cursor(document, offset, Key(left, right, document.grammar, limits))


def in_the_log(ticket: Ticket, completion: Completion) -> str:
    """One line: the suggestion's first line, or why there is none; where it comes from, and its times."""
    text = completion.texts[0] if completion.texts else ""
    blank = len(text) - len(text.lstrip("\n"))
    first, _, rest = text[blank:].partition("\n")
    more = f" and {rest.count(chr(10)) + 1} more lines" if rest else ""
    told = f"suggestion: {first!r}{more}" if completion.texts else f"no suggestion: {completion.reason or ''}"
    ms = 1000 * (time.monotonic() - ticket.asked_at)
    if ticket.typed is not None:
        return f"{told} (typed through, {ms:.0f} ms)"
    if ticket.is_here or not (completion.texts or completion.tokens):
        return f"{told} ({ms:.0f} ms)"
    done = f"{completion.tokens} tokens, {completion.rejected} rejected"
    return f"{told} ({ms:.0f} ms, the model {completion.model_ms:.0f} ms of it; {done})"


def settled(completion: Completion) -> Pending:
    """A request that is answered already."""
    pending: Pending = asyncio.get_running_loop().create_future()
    pending.set_result(completion)
    return pending
