"""Where the middle meets the right context: lexemes that straddle the end of the middle.

From the DFA's state at the end of the middle the right context is read deterministically: the lexeme ends
somewhere in it, and from there on lexemes are a function of the offset alone. Over all states there are few
distinct ends (Melcer et al. 2024, arXiv 2402.17988, section V, find a median of 5).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from fimlsp.lexing.dfa import DEAD
from fimlsp.lexing.line import physical_end
from fimlsp.lexing.munching import byte_that_leaves, closing_quotes
from fimlsp.lexing.nesting import Nesting
from fimlsp.lexing.reading import Lexicon, Reading
from fimlsp.lexing.values import value

_LINE_FEED, _RETURN = b"\n\r"
_TRIPLE_QUOTES = b"'''", b'"""'

End = tuple[int, int] | None
"""The kind of a lexeme, and how many bytes of the right context belong to it; None if it has no end there."""


@value
class Seam:
    """One way in which the middle may end.

    `kind` is the lexeme that straddles the end, None if the last lexeme ends with the middle; the right
    context goes on `offset` bytes after the cursor. `states` are the DFA's states that lead here, in a
    middle that ends inside `place`; where they are inside the name of a character, `name` is what the right
    context has of it.
    """

    kind: int | None
    offset: int
    place: Nesting
    states: frozenset[int]
    name: bytes | None = None


def seams(lexicon: Lexicon, data: bytes, cursor: int, places: Iterable[Nesting]) -> Iterator[Seam]:
    """The ways in which a middle may end before `data[cursor:]`, in ordinary code or one of *places*.

    O(lexemes that straddle the cursor).
    """
    runs = Runs(lexicon, data, cursor, lexicon.unknown)
    by_start: dict[int, dict[tuple[int, int], tuple[int, ...]]] = {}
    for place in (lexicon.unknown, *places):
        start = lexicon.dfa.starts[place.mode]
        if start not in by_start:
            by_start[start] = _straddling(runs, start)
        yield Seam(None, 0, place, frozenset((start,)))
        for (kind, offset), following in by_start[start].items():
            naming, outside = _states_before(lexicon, start, data[cursor], following)
            if kind in lexicon.skipped and kind not in lexicon.nesting:
                yield Seam(None, offset, place, naming | outside)
                continue
            if outside:
                yield Seam(kind, offset, place, outside)
            name = data[cursor : data.find(b"}", cursor)] if naming else b""
            if naming and lexicon.names.between(b"", name) is not None:
                yield Seam(kind, offset, place, naming, name)


def closing_quote(data: bytes, cursor: int, quote: str) -> int | None:
    """Where an f-string of *quote* that is open at *cursor* would end; None if nowhere."""
    plain = quote.removeprefix("r").encode()
    if len(plain) == 1:
        found = _ON_ONE_LINE[plain].match(data, cursor)
        return found.end() if found else None
    start = data.find(plain, cursor)
    while start >= 0:
        before = data[cursor:start]
        if (len(before) - len(before.rstrip(b"\\"))) % 2 == 0:
            return start + len(plain)
        start = data.find(plain, start + 1)
    return None


_ON_ONE_LINE = {
    quote: re.compile(rb"(?:[^\\\r\n%s]|\\(?:\r\n|.))*%s" % (quote, quote), re.DOTALL)
    for quote in (b"'", b'"')
}


def _straddling(runs: Runs, start: int) -> dict[tuple[int, int], tuple[int, ...]]:
    """The lexemes begun in *start* that end in the right context, and the states after its first byte."""
    found: dict[tuple[int, int], tuple[int, ...]] = {}
    lexicon, data, cursor = runs.lexicon, runs.data, runs.cursor
    if cursor < len(data):
        absent = runs.absent_quotes()
        for state in _moves(lexicon, start, data[cursor]):
            if absent and _quotes_after(lexicon, state) in absent:
                continue
            end = runs.end(state)
            if end is not None and end[0] not in (lexicon.bad, lexicon.space):
                found[end] = (*found.get(end, ()), state)
    return found


class Runs:
    """Reads lexemes on through the right context, each place of it once per state."""

    def __init__(self, lexicon: Lexicon, data: bytes, cursor: int, before: Nesting) -> None:
        self.lexicon = lexicon
        self.data = data
        self.cursor = cursor
        self.forbidden = before.forbidden
        self.known: dict[tuple[int, int], End] = {}
        self.last: dict[bytes, int] = {}  # where the quotes that end a string stand for the last time

    def end_of(self, state: int) -> End:
        """The end of the lexeme that is being read in *state* when the right context begins."""
        data, cursor = self.data, self.cursor
        following = self.lexicon.dfa.rows[state][data[cursor]] if cursor < len(data) else 0
        return self.end(following) if following else None

    def end(self, state: int) -> End:
        """The end of the lexeme that the first byte of the right context has led to *state*.

        Bytes that leave the state as it is are skipped at once, so that long strings cost little.
        """
        data, rows, naming = self.data, self.lexicon.dfa.rows, self.lexicon.naming
        position = self.cursor
        if self._is_unclosed(state, position + 1):
            return self.lexicon.bad, len(data) - position
        path: list[tuple[int, int, int]] = []
        found: End = None
        name = -1  # where the name of a character begins that is read in the right context
        while True:
            here = state, position
            if here in self.known:
                found = self.known[here]
                break
            if data[position] in self.forbidden:
                found = self.lexicon.bad, position + 1 - self.cursor
                break
            if name >= 0 or state in naming:
                if self._is_no_name(state, name, position):
                    found = self.lexicon.bad, position + 1 - self.cursor
                    break
                name = self._name_at(state, name, position)
            position += 1
            if position < len(data) and rows[state][data[position]] == state:
                if self._is_unclosed(state, position):
                    found = self.lexicon.bad, len(data) - self.cursor
                    break
                position = byte_that_leaves(self.lexicon, state, self.forbidden)(data, position)
            path.append((*here, position))
            if position == len(data) or not rows[state][data[position]]:
                break
            state = rows[state][data[position]]
        return self._remember(path, found)

    def absent_quotes(self) -> frozenset[bytes]:
        """The quotes of which no string ends behind the first byte of the right context."""
        position = self.cursor + 1
        rest_of_line = self.data[position : physical_end(self.data, position)]
        absent = [quotes for quotes in _TRIPLE_QUOTES if self._is_last(quotes, position)]
        if b"\\" not in rest_of_line:
            absent += [quote for quote in (b"'", b'"') if quote not in rest_of_line]
        return frozenset(absent)

    def _is_unclosed(self, state: int, position: int) -> bool:
        """Whether *state* is in a string that nothing from *position* on can end."""
        closing = closing_quotes(self.lexicon, state)
        return closing is not None and self._is_last(closing, position)

    def _is_last(self, quotes: bytes, position: int) -> bool:
        """Whether *quotes* do not stand anywhere from *position* on."""
        if quotes not in self.last:
            self.last[quotes] = self.data.rfind(quotes)
        return self.last[quotes] < position

    def _name_at(self, state: int, name: int, position: int) -> int:
        if state not in self.lexicon.naming:
            return -1
        return position + 1 if self.data[position] == ord("{") else name

    def _is_no_name(self, state: int, name: int, position: int) -> bool:
        """Whether a name that began at *name* ends at *position*, and no character has it."""
        if name < 0 or state in self.lexicon.naming:
            return False
        return self.data[name:position] not in self.lexicon.names

    def _remember(self, path: list[tuple[int, int, int]], found: End) -> End:
        for state, position, after in reversed(path):
            kind = self.lexicon.dfa.accepts[state]
            if found is None and kind >= 0:
                nothing_follows = kind == self.lexicon.continuation and after == len(self.data)
                found = self.lexicon.bad if nothing_follows else kind, after - self.cursor
            if state not in self.lexicon.naming:  # what a name is depends on where it began
                self.known[state, position] = found
        return found


@lru_cache(maxsize=4096)
def _moves(lexicon: Lexicon, start: int, byte: int) -> dict[int, list[int]]:
    """The states inside a lexeme begun in *start*, by the state that *byte* leads them to."""
    moves: dict[int, list[int]] = {}
    for state in reachable(lexicon, start):
        following = lexicon.dfa.rows[state][byte]
        if following and state != start:
            moves.setdefault(following, []).append(state)
    return moves


@lru_cache(maxsize=4096)
def _quotes_after(lexicon: Lexicon, state: int) -> bytes | None:
    """The quotes that must follow, if a string is being read; one only if no line end may stand before it."""
    kinds = [kind for kind in lexicon.kinds_in(lexicon.dfa.live[state]) if kind != lexicon.bad]
    suffixes = [lexicon.witnesses.suffix(state, kind) or b"" for kind in kinds]
    endings = {suffix[-1:] * (not suffix.endswith(_TRIPLE_QUOTES)) for suffix in suffixes}
    row = lexicon.dfa.rows[state]
    if endings in ({b"'"}, {b'"'}) and not row[_LINE_FEED] and not row[_RETURN]:
        return endings.pop()
    return closing_quotes(lexicon, state)


@lru_cache(maxsize=4096)
def _states_before(
    lexicon: Lexicon, start: int, byte: int, following: tuple[int, ...]
) -> tuple[frozenset[int], frozenset[int]]:
    """The states inside a lexeme that *byte* leads to one of *following*: those in a name, and the others."""
    moves = _moves(lexicon, start, byte)
    states = frozenset(state for after in following for state in moves[after])
    return states & lexicon.naming, states - lexicon.naming


@lru_cache(maxsize=64)
def reachable(lexicon: Lexicon, start: int) -> tuple[int, ...]:
    """The DFA's states that can be reached from *start*, itself included."""
    rows = lexicon.dfa.rows
    found = {start: None}
    for state in (waiting := [start]):
        fresh = [following for following in dict.fromkeys(rows[state]) if following not in found]
        found.update(dict.fromkeys(fresh))
        waiting += fresh
    found.pop(DEAD, None)
    return tuple(found)


@lru_cache(maxsize=4096)
def way_to(lexicon: Lexicon, state: int, goals: frozenset[int]) -> bytes | None:
    """A shortest byte string from *state* to one of *goals*, None if there is none."""
    found: dict[int, bytes] = {state: b""}
    for current in (waiting := [state]):
        if current in goals:
            return found[current]
        for following, byte in _exits(lexicon, current):
            if following not in found:
                found[following] = found[current] + byte
                waiting.append(following)
    return None


@lru_cache(maxsize=4096)
def _exits(lexicon: Lexicon, state: int) -> tuple[tuple[int, bytes], ...]:
    """The states that *state* is followed by, each with the least byte that leads there, by that byte."""
    row = lexicon.dfa.rows[state]
    firsts = (row.index(following) for following in {*row} - {DEAD})
    return tuple((row[byte], bytes((byte,))) for byte in sorted(firsts))


def way_into(reading: Reading, seam: Seam) -> bytes | None:
    """A short byte string that brings the lexeme being read to where it meets the right context at *seam*."""
    if seam.name is None:
        return way_to(reading.lexicon, reading.state, seam.states)
    way: bytes | None = b""
    if not reading.name:
        way = way_to(reading.lexicon, reading.state, seam.states)
        way = way and way[: way.rfind(b"{") + 1]
    rest = reading.lexicon.names.between(reading.name[1:], seam.name)
    return None if way is None or rest is None else way + rest
