"""The state of a middle at the very beginning of a file, where a byte order mark is allowed.

Anywhere else in code the mark is not allowed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fimlsp.lexing.values import value
from fimlsp.quotient.contexts.document import BYTE_ORDER_MARK
from fimlsp.quotient.states.protocol import State

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


@value
class FileStart:
    """A state of a middle that starts within the first bytes of a file.

    `read` is the prefix of the mark that precedes the cursor. `state` is the state after the mark; None if no
    middle connects after it. `parts` are the prefixes of the mark that the right context completes.
    """

    read: bytes
    state: State | None
    parts: tuple[bytes, ...]

    @property
    def viable(self) -> bool:
        """True if some middle connects."""
        return self.state is not None or self._next_part is not None

    def feed(self, data: bytes) -> State | None:
        """The state after *data*; None if nothing that starts like this connects. O(len(data))."""
        read = self.read + data
        if BYTE_ORDER_MARK.startswith(read) and read != BYTE_ORDER_MARK:
            following = FileStart(read, self.state, self.parts)
            return following if following.viable else None
        after = read.removeprefix(BYTE_ORDER_MARK)
        return self.state and (self.state.feed(after) if after else self.state)

    @property
    def complete(self) -> bool:
        """True if the middle may end here."""
        unmarked = self._unmarked
        return (unmarked is not None and unmarked.complete) or self.read in self.parts

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
        if self.complete:
            return b""
        if self._next_part is not None:
            return self._next_part[len(self.read) :]
        if self._unmarked is not None:
            return self._unmarked.shortest_completion
        assert self.state is not None
        return BYTE_ORDER_MARK[len(self.read) :] + self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `State`."""
        from fimlsp.quotient.masks.vocabulary import recheck

        allowed = None if self._unmarked is None else self._unmarked.allowed_texts(vocabulary)
        first = BYTE_ORDER_MARK[len(self.read) :][:1]
        numbers = [number for number, text in enumerate(vocabulary.texts) if text[:1] in (b"", first)]
        return recheck(vocabulary, allowed, numbers, lambda text: self.feed(text) is not None)

    @property
    def _unmarked(self) -> State | None:
        """The state if the bytes read belong to a name, as they do for letters from U+F000 on."""
        return self.state and (self.state.feed(self.read) if self.read else self.state)

    @property
    def _next_part(self) -> bytes | None:
        return next((part for part in self.parts if part.startswith(self.read)), None)
