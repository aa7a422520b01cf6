"""Answers completion requests: the suggestion in progress, else the cache, else the worker.

After an accepted suggestion, the next completion is prefetched before the editor requests it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from fimlsp.errors import explain
from fimlsp.lsp_server.documents import NoSuggestion, OpenDocument, OpenDocuments
from fimlsp.lsp_server.last_edits import LastEdits, brings_back
from fimlsp.lsp_server.messages import Complete, Completion, Limits, Recent, Rest
from fimlsp.lsp_server.options import Settings, limits_of
from fimlsp.lsp_server.session.learning import Learning
from fimlsp.lsp_server.session.requests import CANCELLED, CompletionFuture, RequestKey, Requests
from fimlsp.lsp_server.session.status import Statistics, StatusBoard
from fimlsp.lsp_server.session.suggestions import Suggestion, Suggestions

Trigger = Literal["automatic", "invoked", "menu"]
"""LSP's trigger kind of an inline completion, or the completion menu, which does not distinguish the two."""

MOST_PREFETCHED = 1000
"""Prefetched requests that are remembered, to count those that the editor makes."""


@dataclass(frozen=True, slots=True)
class DocumentCursor:
    """A byte offset in a version of a document, the key of a request there, and the edits before it."""

    document: OpenDocument
    offset: int
    key: RequestKey
    recent: Recent


@dataclass(frozen=True, slots=True)
class PendingCompletion:
    """A request of the editor, made at the time *requested_at*; its result may be there already.

    *is_reused*: no worker was needed. *typed_along* is the suggestion in progress, if the result is its rest.
    """

    uri: str
    line: int
    character: int
    trigger: Trigger
    requested_at: float
    future: CompletionFuture
    is_reused: bool
    cursor: DocumentCursor | None = None
    typed_along: Suggestion | None = None


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """Texts to show, best first, and the id by which they are accepted or dismissed.

    The first text ends with *closing*, before which the cursor is to stay.
    """

    texts: tuple[str, ...] = ()
    id: str = ""
    closing: str = ""


class Completer:
    """Answers the requests of one client; *new_id* numbers them.

    A change of *cursor_inside* (see `Limits`) takes effect with the next settings.
    """

    def __init__(
        self, documents: OpenDocuments, new_id: Callable[[], int], status: StatusBoard, log: logging.Logger
    ) -> None:
        self.statistics = Statistics()
        self.requests = Requests(self.statistics, log)
        self.suggestions = Suggestions(self.statistics)
        self.edits = LastEdits()
        self.learning = Learning(status.learnt, log)
        self.automatic = True
        self.cursor_inside = False
        self._documents = documents
        self._new_id = new_id
        self._status = status
        self._log = log
        self._prefetched = set[RequestKey]()
        self.configure(Settings())

    def configure(self, settings: Settings) -> None:
        """Use *settings* from now on."""
        self._min_length = settings.min_length
        self._automatic_limits = limits_of(settings, invoked=False, cursor_inside=self.cursor_inside)
        self._invoked_limits = limits_of(settings, invoked=True)
        self._prefetches = settings.cache_size > 0
        self.requests.keep(settings.cache_size)
        self.learning.switch(settings.learn)

    # Requests

    def request(self, uri: str, line: int, character: int, trigger: Trigger) -> PendingCompletion:
        """Request a completion at a position of the document's current version; see `result`.

        Raises no error: any failure becomes the result's reason.
        """
        requested_at = time.monotonic()
        self.statistics.requests += 1
        cursor = typed_along = None
        try:
            cursor = self._cursor(uri, line, character, trigger)
            typed_along, completion = self._type_through(cursor)
            if completion is None:
                completion = self.requests.find(cursor.key)
            future = (
                finished(completion)
                if completion is not None
                else self._submit(cursor, requested_at, is_patient=trigger != "menu")
            )
        except Exception as error:
            future = finished(Completion(reason=explain(error, "completing", self._log)))
        is_reused = future.done()
        if is_reused:
            self.requests.drop(uri, "a newer request arrived")
        return PendingCompletion(
            uri, line, character, trigger, requested_at, future, is_reused, cursor, typed_along
        )

    async def result(self, pending: PendingCompletion) -> CompletionResult:
        """The texts to show, if any; the status has the reason for an empty result.

        Raises:
            asyncio.CancelledError: The client cancelled the request.
        """
        try:
            return self._result(pending, await pending.future)
        except asyncio.CancelledError:
            self._report(pending, CANCELLED)
            raise
        except Exception as error:
            self._report(pending, Completion(reason=explain(error, "completing", self._log)))
            return CompletionResult()

    def _result(self, pending: PendingCompletion, completion: Completion) -> CompletionResult:
        shown = self._to_show(pending, completion)
        cursor = pending.cursor
        if cursor is not None and self._documents.is_current(cursor.document):
            data = cursor.document.text.data
            self.learning.watch(pending.uri, data, cursor.offset, completion.estimated)
        self._report(pending, shown)
        if not shown.texts or pending.cursor is None:
            return CompletionResult()
        is_reused = pending.is_reused
        latencies = self.statistics.reuse_latencies if is_reused else self.statistics.model_latencies
        latencies.append(1000 * (time.monotonic() - pending.requested_at))
        self._count_source(pending, pending.cursor)
        if pending.typed_along is None and not (completion.final or is_reused):
            self._write_rest(pending)
        return self._as_suggestion(pending.cursor, pending.typed_along, shown)

    def _write_rest(self, pending: PendingCompletion) -> None:
        """The model had too little time: it writes all candidates while the user looks at the first text."""
        cursor = pending.cursor
        if cursor is None or pending.trigger == "menu" or not self._documents.is_current(cursor.document):
            return
        invoked = self._cursor_in(cursor.document, cursor.offset, self._invoked_limits)
        if self.requests.find(invoked.key) is None:
            message = replace(self._message(invoked, time.monotonic()), is_unhurried=True)
            self.requests.prefetch(message, invoked.key)

    def _cursor(self, uri: str, line: int, character: int, trigger: Trigger) -> DocumentCursor:
        document = self._documents.find(uri)
        if trigger == "automatic" and not self.automatic:
            raise NoSuggestion("automatic completion is off")
        offset = self._documents.offset(document, line, character)
        limits = self._invoked_limits if trigger == "invoked" else self._automatic_limits
        return self._cursor_in(document, offset, limits)

    def _cursor_in(self, document: OpenDocument, offset: int, limits: Limits) -> DocumentCursor:
        """The cursor at *offset*. O(len(document.text.data)) once for each line, 1 ms for 5 MB."""
        left, right = document.read.hashes(offset)
        recent = self.edits.at(document.id.uri, document.text.data, offset)
        key = RequestKey(left, right, document.grammar, limits, recent.deleted)
        return DocumentCursor(document, offset, key, recent)

    def _message(self, cursor: DocumentCursor, requested_at: float) -> Complete:
        document, limits = cursor.document, cursor.key.limits
        id, version = self._new_id(), document.version
        message = Complete(id, document.id, version, cursor.offset, limits, requested_at, cursor.recent)
        return replace(message, correction=self.learning.correction)

    def _submit(self, cursor: DocumentCursor, requested_at: float, *, is_patient: bool) -> CompletionFuture:
        """Send a request. One for the menu is not patient: editors may wait for its answer."""
        message = self._message(cursor, requested_at)
        future = self.requests.submit(message, cursor.key, is_patient=is_patient)
        self._status.thinking(cursor.document.id.uri)
        return future

    def rest_at(self, uri: str, line: int, character: int) -> Rest | None:
        """The place where the cursor rests; None if no completion is made there."""
        try:
            document = self._documents.find(uri)
            offset = self._documents.offset(document, line, character)
        except NoSuggestion:
            return None
        limits = self._automatic_limits if self.automatic else self._invoked_limits
        return Rest(document.id, document.version, offset, limits)

    # Suggestions in progress

    def _type_through(self, cursor: DocumentCursor) -> tuple[Suggestion | None, Completion | None]:
        """The suggestion along which the user types, and its rest at *cursor*; None if there is none."""
        suggestion = self.suggestions.shown(cursor.document.id.uri)
        if suggestion is None or not suggestion.key.covers(cursor.key):
            return None, None
        remainders = suggestion.remainders(cursor.document.text.data, cursor.offset)
        if not remainders or brings_back(remainders[0], cursor.key.deleted):
            return None, None
        return suggestion, _rest_of(suggestion, remainders)

    def _shown_at(self, cursor: DocumentCursor) -> Completion:
        """The texts that the editor shows at *cursor*, if any."""
        suggestion = self.suggestions.shown(cursor.document.id.uri)
        if suggestion is None or not self._documents.is_current(cursor.document):
            return Completion()
        return _rest_of(suggestion, suggestion.remainders(cursor.document.text.data, cursor.offset))

    # Results

    def _to_show(self, pending: PendingCompletion, completion: Completion) -> Completion:
        """*completion*, or the reason not to show it.

        For an invoked request, texts on the screen come first: editors use it to cycle through candidates.
        A header alone does not, as each of the invoked texts connects.
        """
        if pending.trigger == "invoked" and pending.cursor is not None:
            on_screen = self._shown_at(pending.cursor)
            shown = Completion() if on_screen.is_header else on_screen
            texts = tuple(dict.fromkeys([*shown.texts, *completion.texts]))
            reason = None if texts else completion.reason
            return replace(completion, texts=texts, closing=shown.closing, reason=reason)
        if pending.typed_along is not None or not completion.texts:
            return completion
        if len(completion.texts[0].strip()) < self._min_length:
            reason = f"the suggestion is shorter than {self._min_length} characters (option minLength)"
            return replace(completion, texts=(), reason=reason)
        cursor = pending.cursor
        if cursor is not None and self.suggestions.is_dismissed(
            pending.uri, cursor.key, cursor.document.text.data, cursor.offset, completion.texts[0]
        ):
            return replace(completion, texts=(), reason="this suggestion was dismissed")
        return completion

    def _as_suggestion(
        self, cursor: DocumentCursor, typed_along: Suggestion | None, shown: Completion
    ) -> CompletionResult:
        """The result for the editor. A new suggestion is registered, unless the document has changed."""
        if typed_along is not None:
            return CompletionResult(shown.texts, typed_along.id, shown.closing)
        suggestion = Suggestion(
            self.suggestions.new_id(),
            cursor.document.id.uri,
            cursor.offset,
            len(cursor.document.text.data) - cursor.offset,
            tuple(map(str.encode, shown.texts)),
            cursor.key,
            shown.relaxed,
            shown.closing.encode(),
            shown.is_header,
        )
        if self._documents.is_current(cursor.document):
            self.suggestions.show(suggestion)
            self.statistics.shown += 1
        return CompletionResult(shown.texts, suggestion.id, shown.closing)

    def _count_source(self, pending: PendingCompletion, cursor: DocumentCursor) -> None:
        if pending.typed_along is not None and pending.typed_along.origin != cursor.offset:
            self.statistics.typed_through += 1
        elif pending.is_reused:
            self.statistics.cached += 1
        if cursor.key in self._prefetched:
            self._prefetched.discard(cursor.key)
            self.statistics.prefetched += 1

    def _report(self, pending: PendingCompletion, completion: Completion) -> None:
        """Update status and log. A stale completion leaves the status to the newer request."""
        uri = pending.uri
        if completion.reason is not None and not completion.stale:
            self.statistics.add_reason(completion.reason)
        level = logging.DEBUG if completion.stale else logging.INFO
        self._log.log(level, "%s", log_line(pending, completion))
        if self.requests.is_running(uri):
            return
        if completion.stale:
            self._status.stale(uri)
        elif completion.texts:
            self._status.suggestion(uri, completion)
        else:
            self._status.none(uri, completion)

    # Events

    def forget(self) -> None:
        """Drop all completions, because another model makes the next ones."""
        self.requests.forget_completions()
        self.suggestions.forget_all()

    def dismiss(self, suggestion_id: str) -> None:
        """The user dismissed a suggestion."""
        uri = self.suggestions.dismiss(suggestion_id)
        if uri is not None:
            self._status.ended(uri)

    def prefetch(self, document: OpenDocument, offset: int) -> None:
        """Request the completion after an accepted suggestion, before the editor does."""
        if not (self.automatic and self._prefetches and document.refusal is None):
            return
        cursor = self._cursor_in(document, offset, self._automatic_limits)
        if self.requests.find(cursor.key) is not None:
            return
        if self.requests.prefetch(self._message(cursor, time.monotonic()), cursor.key):
            if len(self._prefetched) >= MOST_PREFETCHED:
                self._prefetched.clear()
            self._prefetched.add(cursor.key)


def _rest_of(suggestion: Suggestion, remainders: tuple[bytes, ...]) -> Completion:
    """The *remainders* of a suggestion as a completion."""
    closing = suggestion.closing.decode() if remainders else ""
    texts = tuple(map(bytes.decode, remainders))
    return Completion(texts, complete=not suggestion.is_header, relaxed=suggestion.relaxed, closing=closing)


def log_line(pending: PendingCompletion, completion: Completion) -> str:
    """One line: the first line of the suggestion or the reason for none, its source, and its time."""
    text = completion.texts[0] if completion.texts else ""
    n_blank = len(text) - len(text.lstrip("\n"))
    first, _, further = text[n_blank:].partition("\n")
    more = f" and {further.count(chr(10)) + 1} more lines" if further else ""
    outcome = (
        f"suggestion: {first!r}{more}" if completion.texts else f"no suggestion: {completion.reason_in_words}"
    )
    ms = 1000 * (time.monotonic() - pending.requested_at)
    if pending.typed_along is not None:
        return f"{outcome} (type-through, {ms:.0f} ms)"
    if pending.is_reused or not (completion.texts or completion.tokens):
        return f"{outcome} ({ms:.0f} ms)"
    counts = f"{completion.tokens} tokens, {completion.rejected} rejected"
    return f"{outcome} ({ms:.0f} ms, of which the model {completion.model_ms:.0f} ms; {counts})"


def finished(completion: Completion) -> CompletionFuture:
    """A future with a result."""
    future: CompletionFuture = asyncio.get_running_loop().create_future()
    future.set_result(completion)
    return future
