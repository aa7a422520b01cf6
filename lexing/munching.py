"""The lexeme at a place of known text, by maximal munch."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from fimlsp.lexing.reading import MOST_DIGITS, Lexicon

_NO_BYTES: frozenset[int] = frozenset()


def longest_lexeme(lexicon: Lexicon, state: int, data: bytes, position: int) -> tuple[int, int] | None:
    """The kind and the end of the longest lexeme that a DFA in *state* reads in *data* from *position* on.

    None if there is none. Bytes that leave the state as it is are skipped at once.
    """
    rows, accepts, naming = lexicon.dfa.rows, lexicon.dfa.accepts, lexicon.naming
    found: tuple[int, int] | None = None
    start, size, name = position, len(data), -1
    while position < size:
        following = rows[state][data[position]]
        if not following:
            break
        if following in naming:
            name = position + 1 if name < 0 else name
        elif name >= 0:
            if data[name:position] not in lexicon.names:
                return None
            name = -1
        position += 1
        if following == state:
            position = byte_that_leaves(lexicon, state)(data, position)
        state = following
        if accepts[state] >= 0:
            found = accepts[state], position
    if found is not None and found[0] == lexicon.real and has_too_many_digits(data[start : found[1]]):
        return None
    return found


def has_too_many_digits(number: bytes, more: int = 0) -> bool:
    """Whether *number*, after *more* digits, is a decimal integer that is too long for CPython."""
    if len(number) + more <= MOST_DIGITS or (not more and number.startswith(b"0")):
        return False
    digits = number.replace(b"_", b"")
    return digits.isdigit() and len(digits) + more > MOST_DIGITS


@lru_cache(maxsize=4096)
def byte_that_leaves(
    lexicon: Lexicon, state: int, forbidden: frozenset[int] = _NO_BYTES
) -> Callable[[bytes, int], int]:
    """Finds the first byte that leads away from *state* or is *forbidden*, or the end."""
    loops = bytes(b for b in range(256) if lexicon.dfa.rows[state][b] == state and b not in forbidden)
    pattern = re.compile(rb"[^" + re.escape(loops) + rb"]|\Z", re.DOTALL)

    def find(data: bytes, start: int) -> int:
        found = pattern.search(data, start)
        assert found is not None
        return found.start()

    return find
