"""Parts of lexemes that an automaton alone cannot check: words of a large set, and runs of limited length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.values import value

NO_KIND = -2
"""The number of a kind that a language does not have; -1 means that nothing was accepted."""


class Words(Protocol):
    """A set of words."""

    def __contains__(self, word: bytes) -> bool:
        """Whether *word* is one of them."""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """What stands between *beginning* and *ending* in a short word that has both; None if none has."""


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
    """A part of a lexeme, between the bytes `opening` and `closing`, that has to be one of `words`.

    In `states` the DFA is behind `opening` and reads the word.
    """

    states: frozenset[int] = frozenset()
    words: Words = NoWords()
    opening: int = 0
    closing: int = 0


def _never(_text: bytes, _more: int = 0) -> bool:
    return False


@value(eq=False)
class CountedPart:
    """A part of a lexeme of kind `kind` that may have at most `most` bytes; those `uncounted` do not count.

    In `states` the DFA reads the part. `too_long(text, more)` tells whether *text*, after *more* counted
    bytes, makes it too long; `way_out` are bytes after which the lexeme is another one, of any length.
    """

    states: frozenset[int] = frozenset()
    kind: str = ""
    most: int = 0
    uncounted: frozenset[int] = frozenset()
    too_long: Callable[[bytes, int], bool] = _never
    way_out: bytes = b""


class Loops(dict[int, bytes]):
    """The bytes that lead from a state to itself, found when they are asked for; none for *checked* states."""

    __slots__ = ("_checked", "_rows")

    def __init__(self, dfa: Dfa, checked: frozenset[int]) -> None:
        super().__init__()
        self._rows = dfa.rows
        self._checked = checked

    def __missing__(self, state: int) -> bytes:
        row = () if state in self._checked else self._rows[state]
        found = self[state] = bytes(byte for byte, following in enumerate(row) if following == state)
        return found
