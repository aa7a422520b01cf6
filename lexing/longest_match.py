"""Reads one lexeme of text that is known in full, by maximal munch.

This is the fast path beside `lexer_state`: it need not stop anywhere, and skips long strings with regular
expressions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from fimlsp.lexing.lexer_tables import LexerTables, remembered

_HALF = 128
_NO_BYTES: frozenset[int] = frozenset()


def longest_match(lexical: LexerTables, state: int, data: bytes, position: int) -> tuple[int, int] | None:
    """The kind and the end of the longest lexeme in *data* from *position* on, for a DFA in *state*.

    None if there is no lexeme. Runs of bytes that do not change the state are skipped at once.
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
    """A function find(data, start): the offset of the first byte that leaves *state* for good, or the end.

    A byte that leaves the state is skipped as well if the next one leads back, as in a string with escapes.
    The search stops at *forbidden* bytes. No lexeme ends within what it skips, unless *state* accepts it too.
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
    """A pattern for one byte out of *some*, which compiles the sooner the shorter it is."""
    if len(some) <= _HALF:
        return b"[" + re.escape(some) + b"]" if some else b"(?!)"
    others = bytes({*range(256)} - {*some})
    return b"[^" + re.escape(others) + b"]" if others else b"(?s:.)"


@remembered(4096)
def closing_delimiter(lexical: LexerTables, state: int) -> bytes | None:
    """The only delimiter that can end the lexeme read in *state*, if the lexeme may span lines; else None."""
    endings = {
        suffix
        for kind in lexical.kinds_in(lexical.dfa.live[state])
        if kind != lexical.bad and (suffix := lexical.shortest_words.suffix(state, kind)) is not None
    }
    return endings.pop() if any(endings == {each} for each in lexical.delimiters.span) else None
