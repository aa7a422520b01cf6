"""Keeps the suggestions that the editor shows, while the user types along, accepts or dismisses them.

A suggestion stands between a left and a right context. It stays valid while all edits fall between the two,
and the text there consists of a prefix and a suffix of the suggestion. (The suffix is for editors that close
brackets automatically.) Its rest is then shown without a request to the model.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from dataclasses import dataclass

from fimlsp.lsp_server.session.requests import RequestKey
from fimlsp.lsp_server.session.status import Statistics
from fimlsp.quotient.contexts.replacement import Replacement

MOST_UNSETTLED = 64
"""Suggestions that can still be accepted or dismissed by id."""

MOST_DISMISSED = 1000
"""Request keys whose suggestion was dismissed."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """Texts shown at byte offset *origin* of the document *uri*, with *after* bytes from there to its end.

    *key* is the key of their request; *relaxed*, *closing* and *is_header* are as in `Completion`.
    """

    id: str
    uri: str
    origin: int
    after: int
    texts: tuple[bytes, ...]
    key: RequestKey
    relaxed: tuple[str, ...] = ()
    closing: bytes = b""
    is_header: bool = False

    def has_text(self, inserted: bytes) -> bool:
        r"""True if *inserted* is one of the texts, up to line ends: editors may insert `\r\n`."""
        plain = _plain(inserted)
        return plain in map(_plain, self.texts)

    def remainders(self, data: bytes, offset: int) -> tuple[bytes, ...]:
        """The part of each text that is still to be inserted, for a cursor at *offset* of *data*.

        Empty if the cursor is elsewhere, the user typed something else, or only *closing* is left.
        """
        end = len(data) - self.after
        if not self.origin <= offset <= end:
            return ()
        before, after = data[self.origin : offset], data[offset:end]
        if self.closing and (after or len(before) >= len(self.texts[0]) - len(self.closing)):
            return ()
        rests = [_rest(text, _plain(before), _plain(after)) for text in self.texts]
        return tuple([rest for rest in rests if rest])


def _plain(text: bytes) -> bytes:
    r"""*text* with the line ends `\n`: those of editor and document may differ."""
    return text.replace(b"\r\n", b"\n")


def _rest(text: bytes, before: bytes, after: bytes) -> bytes:
    """*text* without its start *before* and its end *after*; empty if it has not both, or nothing else."""
    plain = _plain(text)
    if not (plain.startswith(before) and plain.endswith(after)):
        return b""
    rest = plain[len(before) : max(len(before), len(plain) - len(after))]
    return rest if plain == text else rest.replace(b"\n", b"\r\n")


class Suggestions:
    """The newest suggestion of each document, those without an outcome yet, and the dismissed ones.

    *statistics* count the outcomes.
    """

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._shown: dict[str, Suggestion] = {}
        self._unsettled: OrderedDict[str, Suggestion] = OrderedDict()
        self._dismissed = set[RequestKey]()
        self._last_dismissed: Suggestion | None = None
        self._ids = itertools.count(1)

    def show(self, suggestion: Suggestion) -> None:
        """Register a suggestion that the editor shows from now on."""
        self._shown[suggestion.uri] = suggestion
        self._unsettled[suggestion.id] = suggestion
        while len(self._unsettled) > MOST_UNSETTLED:
            self._unsettled.popitem(last=False)

    def new_id(self) -> str:
        """A unique id."""
        return str(next(self._ids))

    def shown(self, uri: str) -> Suggestion | None:
        """The suggestion that the editor may still show in the document."""
        return self._shown.get(uri)

    def edited(self, uri: str, size: int, edit: Replacement) -> None:
        """Part of a document of *size* bytes was replaced.

        A suggestion stays if the edit is between the bytes left and right of it.
        """
        suggestion = self._shown.get(uri)
        if suggestion is None:
            return
        if not (suggestion.origin <= edit.start and edit.end <= size - suggestion.after):
            del self._shown[uri]

    def forget(self, uri: str) -> None:
        """The document does not show a suggestion any more."""
        self._shown.pop(uri, None)

    def forget_all(self) -> None:
        """No document shows a suggestion any more."""
        self._shown.clear()

    def completed(self, uri: str, data: bytes, last: Replacement) -> int | None:
        """The cursor's offset after a whole suggestion was inserted by the edit *last*; else None.

        *data* is the document after the edit.
        """
        suggestion = self._shown.get(uri)
        if suggestion is None:
            return None
        is_more_than_a_key = len(last.text) > 1 and len(last.text.decode()) > 1
        end = len(data) - suggestion.after
        if not suggestion.has_text(data[suggestion.origin : end]):
            if is_more_than_a_key and suggestion.remainders(data, last.start + len(last.text)):
                self._statistics.add_acceptance(last.text, partly=True)
            return None
        del self._shown[uri]
        if self._settle(suggestion.id) and is_more_than_a_key:
            self._statistics.add_acceptance(last.text)
        return end - len(suggestion.closing)

    def accept(self, name: str) -> None:
        """The user accepted text N of a suggestion; *name* is `ID.N`. Its edit arrives separately."""
        suggestion_id, _, number = name.partition(".")
        suggestion = self._settle(suggestion_id)
        if suggestion is not None:
            index = int(number) if number.isdecimal() and int(number) < len(suggestion.texts) else 0
            self._statistics.add_acceptance(suggestion.texts[index])

    def dismiss(self, name: str) -> str | None:
        """The user dismissed a suggestion; it does not return while the user types along it.

        Returns the URI of its document; None if the suggestion already has an outcome.
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

    def is_dismissed(self, uri: str, key: RequestKey, data: bytes, offset: int, text: str) -> bool:
        """True if *text*, the completion for *key*, was dismissed, or is the rest of a dismissed suggestion.

        The cursor is at *offset* of *data*.
        """
        last = self._last_dismissed
        if last is None:
            return False
        if key in self._dismissed:
            return True
        if last.uri != uri:
            return False
        remainders = [remainder.strip() for remainder in last.remainders(data, offset)]
        new = text.strip().encode()
        return any(
            remainder.startswith(new) or new.startswith(remainder) for remainder in remainders if remainder
        )

    def _settle(self, suggestion_id: str) -> Suggestion | None:
        """The suggestion, which has an outcome from now on; None if it already has one."""
        return self._unsettled.pop(suggestion_id, None)
