"""What the editor shows, and how much of it the user has typed by now.

A suggestion stands between a left and a right context. As long as all edits fall between the two, and what
stands there now begins like the suggestion (and may end like it: editors close brackets by themselves), the
rest of it is still the right thing to show, and no model needs to be asked.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from fimlsp.lsp_server.session.completion_cache import Key

MOST_REMEMBERED = 64
"""Suggestions that may still be accepted or dismissed by their id."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Texts shown for a place: byte offset *origin*, *after* bytes before the end of the document *uri*.

    *key* is the question that they answer, *relaxed* as in `Completion`.
    """

    id: str
    uri: str
    origin: int
    after: int
    texts: tuple[bytes, ...]
    key: Key
    relaxed: str | None = None

    def inserted(self, data: bytes) -> bytes:
        """What stands in *data* now where the texts would be inserted."""
        return data[self.origin : len(data) - self.after]

    def is_inserted(self, data: bytes) -> bool:
        """Whether one of the texts stands there as a whole; editors may write its line ends their way."""
        inserted = self.inserted(data).replace(b"\r\n", b"\n")
        return any(inserted == text.replace(b"\r\n", b"\n") for text in self.texts)

    def rests(self, data: bytes, offset: int) -> tuple[bytes, ...]:
        """What is left of each text for a cursor at *offset*, if anything; none when it was left behind."""
        if not self.origin <= offset <= len(data) - self.after:
            return ()
        before, behind = data[self.origin : offset], data[offset : len(data) - self.after]
        fits = len(before) + len(behind)
        return tuple(
            text[len(before) : len(text) - len(behind)]
            for text in self.texts
            if len(text) > fits and text.startswith(before) and text.endswith(behind)
        )


class Suggestions:
    """The suggestion shown last in each document, and those that were not settled yet."""

    def __init__(self) -> None:
        self._shown: dict[str, Suggestion] = {}
        self._unsettled: OrderedDict[str, Suggestion] = OrderedDict()
        self._ids = itertools.count(1)

    def show(self, suggestion: Suggestion) -> None:
        """*suggestion* is shown from now on."""
        self._shown[suggestion.uri] = suggestion
        self._unsettled[suggestion.id] = suggestion
        while len(self._unsettled) > MOST_REMEMBERED:
            self._unsettled.popitem(last=False)

    def new_id(self) -> str:
        """An id that no other suggestion has."""
        return str(next(self._ids))

    def shown(self, uri: str) -> Suggestion | None:
        """What may still be shown in the document."""
        return self._shown.get(uri)

    def edited(self, uri: str, size: int, start: int, end: int) -> None:
        """The bytes from *start* to *end* of the document, which had *size* bytes, were replaced."""
        shown = self._shown.get(uri)
        if shown is not None and not (shown.origin <= start and end <= size - shown.after):
            del self._shown[uri]

    def forget(self, uri: str) -> None:
        """Nothing is shown in the document any more."""
        self._shown.pop(uri, None)

    def forget_all(self) -> None:
        """Nothing is shown any more."""
        self._shown.clear()

    def settle(self, suggestion_id: str) -> Suggestion | None:
        """The suggestion, which is accepted or dismissed now; None if that was said before."""
        return self._unsettled.pop(suggestion_id, None)

    def find(self, suggestion_id: str) -> Suggestion | None:
        """The suggestion, if it is not settled."""
        return self._unsettled.get(suggestion_id)
