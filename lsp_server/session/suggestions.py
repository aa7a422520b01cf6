"""Keeps the suggestions that the editor shows, and tells what of each the user has not typed yet.

A suggestion stands between a left and a right context. As long as all edits fall between the two, and what
stands there now begins like the suggestion (and may end like it: editors close brackets by themselves), what
remains of it is still the right thing to show, and no model needs to be asked.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from fimlsp.lsp_server.session.completion_cache import Key
from fimlsp.quotient.contexts.replacement import Replacement

MOST_REMEMBERED = 64
"""Suggestions that may still be accepted or dismissed by their id."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Texts shown at byte offset *origin* of the document *uri*, *after* bytes before its end.

    *key* is the question that they answer, *relaxed* as in `Completion`.
    """

    id: str
    uri: str
    origin: int
    after: int
    texts: tuple[bytes, ...]
    key: Key
    relaxed: tuple[str, ...] = ()

    def inserted(self, data: bytes) -> bytes:
        """What stands in *data* now where the texts would be inserted."""
        return data[self.origin : len(data) - self.after]

    def has_as_a_whole(self, inserted: bytes) -> bool:
        """Whether *inserted* is one of the texts; editors may write its line ends their way."""
        plain = inserted.replace(b"\r\n", b"\n")
        return plain in [text.replace(b"\r\n", b"\n") for text in self.texts]

    def remainders(self, data: bytes, offset: int) -> tuple[bytes, ...]:
        """What is left to insert of each text, if anything, for a cursor at *offset* of *data*.

        Nothing where the cursor is elsewhere, or where something else was typed.
        """
        end = len(data) - self.after
        if not self.origin <= offset <= end:
            return ()
        before, behind = data[self.origin : offset], data[offset:end]
        left, right = len(before), len(behind)
        return tuple(
            [
                text[left : len(text) - right]
                for text in self.texts
                if len(text) > left + right and text.startswith(before) and text.endswith(behind)
            ]
        )


class Suggestions:
    """The suggestion shown last in each document, and those that are neither accepted nor dismissed yet."""

    def __init__(self) -> None:
        self._shown: dict[str, Suggestion] = {}
        self._unsettled: OrderedDict[str, Suggestion] = OrderedDict()
        self._ids = itertools.count(1)

    def show(self, suggestion: Suggestion) -> None:
        """Note that the editor shows *suggestion* from now on."""
        self._shown[suggestion.uri] = suggestion
        self._unsettled[suggestion.id] = suggestion
        while len(self._unsettled) > MOST_REMEMBERED:
            self._unsettled.popitem(last=False)

    def new_id(self) -> str:
        """An id that no other suggestion has."""
        return str(next(self._ids))

    def shown(self, uri: str) -> Suggestion | None:
        """The suggestion that the editor may still show in the document."""
        return self._shown.get(uri)

    def edited(self, uri: str, size: int, edit: Replacement) -> None:
        """A part of the document, which had *size* bytes, was replaced.

        A suggestion stays if the edit is between the bytes left and right of it.
        """
        shown = self._shown.get(uri)
        if shown is not None and not (shown.origin <= edit.start and edit.end <= size - shown.after):
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
