"""Keeps the suggestions that the editor shows: each is typed through, taken or dismissed by the user.

A suggestion stands between a left and a right context. As long as all edits fall between the two, and what
stands there now begins like the suggestion (and may end like it: editors close brackets by themselves), what
remains of it is still the right thing to show, and no model needs to be asked.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from fimlsp.lsp_server.session.requests import Key
from fimlsp.lsp_server.session.statistics import Statistics
from fimlsp.quotient.contexts.replacement import Replacement

MOST_REMEMBERED = 64
"""Suggestions that may still be accepted or dismissed by their id."""

MOST_DISMISSED = 1000
"""Questions whose answer was dismissed."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Texts shown at byte offset *origin* of the document *uri*, *after* bytes before its end.

    *key* is the question that they answer, *relaxed* and *closing* are as in `Completion`.
    """

    id: str
    uri: str
    origin: int
    after: int
    texts: tuple[bytes, ...]
    key: Key
    relaxed: tuple[str, ...] = ()
    closing: bytes = b""

    def has_as_a_whole(self, inserted: bytes) -> bool:
        """Whether *inserted* is one of the texts; editors may write its line ends their way."""
        plain = inserted.replace(b"\r\n", b"\n")
        return plain in [text.replace(b"\r\n", b"\n") for text in self.texts]

    def remainders(self, data: bytes, offset: int) -> tuple[bytes, ...]:
        """What is left to insert of each text, if anything, for a cursor at *offset* of *data*.

        Nothing where the cursor is elsewhere, where something else was typed, or where only brackets are left
        that close behind the cursor.
        """
        end = len(data) - self.after
        if not self.origin <= offset <= end:
            return ()
        before, behind = data[self.origin : offset], data[offset:end]
        left, right = len(before), len(behind)
        if self.closing and (behind or left >= len(self.texts[0]) - len(self.closing)):
            return ()
        return tuple(
            [
                text[left : len(text) - right]
                for text in self.texts
                if len(text) > left + right and text.startswith(before) and text.endswith(behind)
            ]
        )


class Suggestions:
    """The suggestion shown last in each document, those of which nothing became yet, and what was dismissed.

    *statistics* count what becomes of them.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._shown: dict[str, Suggestion] = {}
        self._unsettled: OrderedDict[str, Suggestion] = OrderedDict()
        self._dismissed = set[Key]()
        self._last_dismissed: Suggestion | None = None
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

    def completed(self, uri: str, data: bytes, last: Replacement) -> int | None:
        """Where the cursor is in what was shown, if the edit *last* made it part of *data* as a whole."""
        shown = self._shown.get(uri)
        if shown is None:
            return None
        is_more_than_a_key = len(last.text) > 1 and len(last.text.decode()) > 1
        end = len(data) - shown.after
        if not shown.has_as_a_whole(data[shown.origin : end]):
            if is_more_than_a_key and shown.remainders(data, last.start + len(last.text)):
                self._statistics.add_acceptance(last.text, partly=True)
            return None
        del self._shown[uri]
        if self._settle(shown.id) and is_more_than_a_key:
            self._statistics.add_acceptance(last.text)
        return end - len(shown.closing)

    def accept(self, name: str) -> None:
        """The user took a text of a suggestion; the edit that inserts it comes, or came, by itself."""
        suggestion_id, _, number = name.partition(".")
        suggestion = self._settle(suggestion_id)
        if suggestion is not None:
            index = int(number) if number.isdecimal() and int(number) < len(suggestion.texts) else 0
            self._statistics.add_acceptance(suggestion.texts[index])

    def dismiss(self, name: str) -> str | None:
        """The user does not want a suggestion; it is not made again while the user types along it.

        Returns the URI of its document; None if what became of it was said before.
        """
        suggestion = self._settle(name.partition(".")[0])
        if suggestion is None:
            return None
        self._statistics.dismissed += 1
        self.forget(suggestion.uri)
        if len(self._dismissed) >= MOST_DISMISSED:
            self._dismissed.clear()
        self._dismissed.add(suggestion.key)
        self._last_dismissed = suggestion
        return suggestion.uri

    def is_dismissed(self, uri: str, key: Key, data: bytes, offset: int, text: str) -> bool:
        """Whether *text*, which answers *key*, was dismissed, or is what is left of such after typing along.

        The cursor is at *offset* of *data*.
        """
        last = self._last_dismissed
        if last is None:
            return False
        if key in self._dismissed:
            return True
        if last.uri != uri:
            return False
        rests = [rest.strip() for rest in last.remainders(data, offset)]
        new = text.strip().encode()
        return any(rest.startswith(new) or new.startswith(rest) for rest in rests if rest)

    def _settle(self, suggestion_id: str) -> Suggestion | None:
        """The suggestion, which is accepted or dismissed now; None if that was said before."""
        return self._unsettled.pop(suggestion_id, None)
