"""The lexeme at a place of known text, by maximal munch."""

from __future__ import annotations

import re
from collections.abc import Callable

from fimlsp.lexing.lexer_tables import LexerTables, remembered

_NO_BYTES: frozenset[int] = frozenset()


def longest_match(lexical: LexerTables, state: int, data: bytes, position: int) -> tuple[int, int] | None:
    """The kind and the end of the longest lexeme that a DFA in *state* reads in *data* from *position* on.

    None if there is none. Bytes that leave the state as it is are skipped at once.
    """
    rows, accepts, word_states = lexical.dfa.rows, lexical.dfa.accepts, lexical.word_states
    found: tuple[int, int] | None = None
    start, size, word = position, len(data), -1
    while position < size:
        following = rows[state][data[position]]
        if not following:
            break
        if following in word_states:
            word = position + 1 if word < 0 else word
        elif word >= 0:
            if data[word:position] not in lexical.words:
                return None
            word = -1
        position += 1
        if following == state:
            position = byte_that_leaves(lexical, state)(data, position)
        state = following
        if accepts[state] >= 0:
            found = accepts[state], position
    if found is not None and found[0] == lexical.counted_kind:
        return None if lexical.counted_part.too_long(data[start : found[1]], 0) else found
    return found


@remembered(4096)
def byte_that_leaves(
    lexical: LexerTables, state: int, forbidden: frozenset[int] = _NO_BYTES
) -> Callable[[bytes, int], int]:
    """Finds the first byte that leads away from *state*, and not back with the next one; or the end.

    It stops before bytes that are *forbidden*. A lexeme has not ended at any byte that it steps over, unless
    it ends in *state* as well.
    """
    rows, accepts = lexical.dfa.rows, lexical.dfa.accepts
    allowed = [byte for byte in range(256) if byte not in forbidden]
    leading: dict[int, list[int]] = {}
    for byte in allowed:
        leading.setdefault(rows[state][byte], []).append(byte)
    loops = _any_of(bytes(leading.pop(state, ())))
    excursions: dict[bytes, list[int]] = {}
    for away, first in leading.items():
        if away and accepts[away] < 0 and away not in lexical.word_states:
            back = bytes(byte for byte in allowed if rows[away][byte] == state)
            if back:
                excursions.setdefault(back, []).extend(first)
    detours = b"|".join(_any_of(bytes(first)) + _any_of(back) for back, first in excursions.items())
    pattern = re.compile(rb"%s*(?:(?:%s)%s*)*" % (loops, detours or _any_of(b""), loops))

    def find(data: bytes, start: int) -> int:
        found = pattern.match(data, start)
        assert found is not None
        return found.end()

    return find


def _any_of(some: bytes) -> bytes:
    """A pattern for one byte of *some*."""
    return b"[" + re.escape(some) + b"]" if some else b"(?!)"


@remembered(4096)
def closing_delimiter(lexical: LexerTables, state: int) -> bytes | None:
    """The delimiter that alone ends the lexeme being read in *state*, if that lexeme may span lines."""
    endings = {
        suffix
        for kind in lexical.kinds_in(lexical.dfa.live[state])
        if kind != lexical.bad and (suffix := lexical.shortest_words.suffix(state, kind)) is not None
    }
    return endings.pop() if any(endings == {each} for each in lexical.delimiters.span) else None
