"""The lexeme at a place of known text, by maximal munch."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from fimlsp.lexing.reading import Lexicon

_NO_BYTES: frozenset[int] = frozenset()


def longest_lexeme(lexicon: Lexicon, state: int, data: bytes, position: int) -> tuple[int, int] | None:
    """The kind and the end of the longest lexeme that a DFA in *state* reads in *data* from *position* on.

    None if there is none. Bytes that leave the state as it is are skipped at once.
    """
    rows, accepts, naming = lexicon.dfa.rows, lexicon.dfa.accepts, lexicon.naming
    found: tuple[int, int] | None = None
    name = -1
    size = len(data)
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
    return found


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
