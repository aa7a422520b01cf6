"""Refuses runs of white space, which a constrained model writes when its likely tokens are refused."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fimlsp.languages.typed.lexicon import WHITESPACE
from fimlsp.languages.typed.state import TextState

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary  # only masks need NumPy

_ALLOWED = re.compile(rb" |\r?(?:\n {0,12})?")
"""White space between two lexemes: one space, or one line end and an indentation."""


@dataclass(frozen=True)
class Spaced:
    """A state in which lexemes are one space or one line end apart.

    Attributes:
        state: the state of the text.
        spaces: the white space at its end, as far as that is not within a lexeme.
    """

    state: TextState[Any]
    spaces: bytes = b""

    def feed(self, data: bytes) -> Spaced | None:
        """The state after *data*; None if no text starts so, or none without runs. O(len(data))."""
        state, spaces = self.state, self.spaces
        for number in range(len(data)):
            byte = data[number : number + 1]
            following = state.feed(byte)
            if following is None:
                return None
            is_between = byte[0] in WHITESPACE and not following.partial
            spaces = spaces + byte if is_between else b""
            if not _ALLOWED.fullmatch(spaces):
                return None
            state = following
        return Spaced(state, spaces)

    @property
    def complete(self) -> bool:
        """True if the text may end here."""
        return self.state.complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this one; empty if it is complete."""
        return self.state.shortest_completion

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """As in `fimlsp.quotient.states.protocol.State`."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=self.complete)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """As in `fimlsp.quotient.states.protocol.State`, computed by feeding every text."""
        from fimlsp.quotient.masks.vocabulary import allowed_by_feeding

        return allowed_by_feeding(vocabulary, self, Spaced.feed)
