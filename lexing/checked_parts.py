"""Parts of lexemes that a DFA cannot check by itself.

There are two kinds: words that must belong to a large set, and parts of limited length. A DFA could check
both in theory, but with far too many states; so the lexer keeps the word or a counter beside the state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.values import value

NO_KIND = -2
"""The kind number for a kind that the language lacks.

It differs from -1, which means that nothing is accepted.
"""


class Words(Protocol):
    """A set of words."""

    def __contains__(self, word: bytes) -> bool:
        """Whether *word* is one of them."""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """What completes *beginning* to a short word that ends with *ending*; None if nothing does."""


class NoWords:
    """The empty set of words."""

    def __contains__(self, word: bytes) -> bool:
        return False

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """None."""
        del beginning, ending
        return None


@value(eq=False)
class WordPart:
    """A part of a lexeme that must be one of `words`; it stands between the bytes `opening` and `closing`.

    `states` are the DFA states inside the word, that is after `opening`.
    """

    states: frozenset[int] = frozenset()
    words: Words = NoWords()
    opening: int = 0
    closing: int = 0


def _never(_text: bytes, _more: int = 0) -> bool:
    return False


@value(eq=False)
class CountedPart:
    """A part of a lexeme of kind `kind` that may have at most `most` bytes, not counting those `uncounted`.

    `states` are the DFA states inside the part. `too_long(text, more)` tells whether the part is too long
    when it consists of *more* counted bytes followed by *text*. `way_out` are bytes that turn the lexeme into
    one of another kind, whose length is not limited.
    """

    states: frozenset[int] = frozenset()
    kind: str = ""
    most: int = 0
    uncounted: frozenset[int] = frozenset()
    too_long: Callable[[bytes, int], bool] = _never
    way_out: bytes = b""


class Loops(dict[int, bytes]):
    """For each state the bytes that lead back to it, computed on first use; none for *checked* states."""

    __slots__ = ("_checked", "_rows")

    def __init__(self, dfa: Dfa, checked: frozenset[int]) -> None:
        super().__init__()
        self._rows = dfa.rows
        self._checked = checked

    def __missing__(self, state: int) -> bytes:
        row = () if state in self._checked else self._rows[state]
        found = self[state] = bytes(byte for byte, following in enumerate(row) if following == state)
        return found
