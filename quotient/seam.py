"""Where the middle meets the right context: lexemes that straddle the end of the middle.

From the DFA's state at the end of the middle the right context is read deterministically: the lexeme ends
somewhere in it, and from there on lexemes are a function of the offset alone. Over all states there are few
distinct ends (Melcer et al. 2024, arXiv 2402.17988, section V, find a median of 5).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fimlsp.lexing.nesting import UNKNOWN, Nesting, unknown_string_parts
from fimlsp.lexing.reading import Lexicon

_Ends = dict[tuple[int | None, int, Nesting], list[int]]


@dataclass(frozen=True, slots=True)
class Seam:
    """One way in which the middle may end.

    `kind` is the lexeme that straddles the end, None if the lexeme being read ends with the middle or is
    skipped; the right context goes on as lexemes `offset` bytes after the cursor, inside `nesting`. `states`
    are the DFA's states that lead here, in a middle that ends inside `before`.
    """

    kind: int | None
    offset: int
    before: Nesting
    nesting: Nesting
    states: frozenset[int]

    def admits(self, nesting: Nesting) -> bool:
        """Whether a middle may end here inside *nesting*."""
        return _place(nesting) == _place(self.before)


@lru_cache(maxsize=4096)
def _place(nesting: Nesting) -> tuple[str, int]:
    """The innermost part of an f-string with the number of brackets open in it; all code is one place."""
    if nesting.in_code:
        return "code", 0
    brackets = 0
    inner: Nesting | None = nesting
    while inner is not None and ":" not in inner.shape:
        brackets, inner = brackets + 1, inner.parent
    assert inner is not None
    return inner.shape, brackets


def seams(lexicon: Lexicon, data: bytes, cursor: int, quotes: Iterable[str]) -> Iterator[Seam]:
    """The ways in which a middle may end before `data[cursor:]`.

    Of f-strings only those of *quotes* are considered. O(lexemes that straddle the cursor).
    """
    possible = frozenset(quotes)
    parts = [part for quote in possible for part in _parts(data, cursor, quote)]
    for before in (UNKNOWN, *parts):
        for (kind, offset, nesting), states in _ends(lexicon, data, cursor, before).items():
            quote = _place(nesting)[0].partition(":")[2]
            if states and (not quote or quote in possible):
                yield Seam(kind, offset, before, nesting, frozenset(states))


def _parts(data: bytes, cursor: int, quote: str) -> list[Nesting]:
    """The parts of an f-string that the cursor may be in: a field must be closed before the string is."""
    text, *others = unknown_string_parts(quote)
    return [text, *others] if data.find(b"}", cursor, closing_quote(data, cursor, quote)) >= 0 else [text]


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


def _ends(lexicon: Lexicon, data: bytes, cursor: int, before: Nesting) -> _Ends:
    start = lexicon.dfa.starts[before.mode]
    byte = data[cursor] if cursor < len(data) else None
    ends: _Ends = {(None, 0, before): [start]}
    for end, states in _ended(lexicon, before, byte).items():
        ends.setdefault(end, []).extend(states)
    if byte is None:
        return ends
    runs = _Runs(lexicon, data, before)
    for following, sources in _moves(lexicon, start, byte).items():
        run = runs.end(following, cursor) if following else None
        if run is None:
            if following:
                _end_here(lexicon, before, sources, ends)
        elif run[0] == lexicon.space:
            ends[None, 0, before] += sources
        elif run[0] in lexicon.skipped:
            ends.setdefault((None, run[1] - cursor, before), []).extend(sources)
        elif run[0] != lexicon.bad and (nesting := _after(lexicon, before, run[0])) is not None:
            ends.setdefault((run[0], run[1] - cursor, nesting), []).extend(s for s in sources if s != start)
    return ends


@lru_cache(maxsize=4096)
def _ended(lexicon: Lexicon, before: Nesting, byte: int | None) -> _Ends:
    """The ends of lexemes that *byte*, or the end of the text, cannot extend."""
    start = lexicon.dfa.starts[before.mode]
    ends: _Ends = {}
    states = reachable(lexicon, start) if byte is None else _moves(lexicon, start, byte).get(0, ())
    _end_here(lexicon, before, states, ends)
    return ends


def _end_here(lexicon: Lexicon, before: Nesting, states: Iterable[int], ends: _Ends) -> None:
    """The lexemes read in *states* end with the middle."""
    for state in states:
        kind = lexicon.dfa.accepts[state]
        if kind not in (-1, lexicon.bad) and (nesting := _after(lexicon, before, kind)) is not None:
            ends.setdefault((None, 0, nesting), []).append(state)


def _after(lexicon: Lexicon, before: Nesting, kind: int) -> Nesting | None:
    """The place after a lexeme; brackets of ordinary code, of which more may be open, do not count."""
    if kind not in lexicon.nesting:
        return before
    nesting = before.after(lexicon.kinds[kind])
    return UNKNOWN if nesting is not None and nesting.in_code else nesting


_End = tuple[int, int] | None


class _Runs:
    """Reads lexemes on through the right context, each place of it once per state."""

    def __init__(self, lexicon: Lexicon, data: bytes, before: Nesting) -> None:
        self.lexicon = lexicon
        self.data = data
        self.forbidden = before.forbidden
        self.known: dict[tuple[int, int], _End] = {}

    def end(self, state: int, position: int) -> _End:
        """Kind and end of the lexeme read on from *state*, to which the byte at *position* led; None if none.

        Bytes that leave the state as it is are skipped at once, so that long strings cost little.
        """
        data, rows = self.data, self.lexicon.dfa.rows
        closing = _closing(self.lexicon, state)
        if closing is not None and data.find(closing, position + 1) < 0:
            return None
        path: list[tuple[int, int, int]] = []
        found: _End = None
        while True:
            here = state, position
            if here in self.known:
                found = self.known[here]
                break
            if data[position] in self.forbidden:
                found = self.lexicon.bad, position + 1
                break
            position += 1
            if position < len(data) and rows[state][data[position]] == state:
                position = _other_byte(self.lexicon, state, self.forbidden)(data, position)
            path.append((*here, position))
            if position == len(data) or not rows[state][data[position]]:
                break
            state = rows[state][data[position]]
        return self._remember(path, found)

    def _remember(self, path: list[tuple[int, int, int]], found: _End) -> _End:
        accepts = self.lexicon.dfa.accepts
        for state, position, after in reversed(path):
            if found is None and accepts[state] >= 0:
                found = accepts[state], after
            self.known[state, position] = found
        return found


@lru_cache(maxsize=4096)
def _closing(lexicon: Lexicon, state: int) -> bytes | None:
    """The three quotes that alone end the lexeme being read in *state*, if it is such a string."""
    endings = {
        suffix
        for kind in lexicon.kinds_in(lexicon.dfa.live[state])
        if kind != lexicon.bad and (suffix := lexicon.witnesses.suffix(state, kind)) is not None
    }
    return endings.pop() if endings in ({b"'''"}, {b'"""'}) else None


@lru_cache(maxsize=4096)
def _other_byte(lexicon: Lexicon, state: int, forbidden: frozenset[int]) -> Callable[[bytes, int], int]:
    """Finds the first byte that leads away from *state* or is *forbidden*, or the end."""
    loops = bytes(b for b in range(256) if lexicon.dfa.rows[state][b] == state and b not in forbidden)
    pattern = re.compile(rb"[^" + re.escape(loops) + rb"]|\Z", re.DOTALL)

    def find(data: bytes, start: int) -> int:
        found = pattern.search(data, start)
        assert found is not None
        return found.start()

    return find


@lru_cache(maxsize=4096)
def _moves(lexicon: Lexicon, start: int, byte: int) -> dict[int, list[int]]:
    """The states reachable from *start*, by the state that *byte* leads them to."""
    moves: dict[int, list[int]] = {}
    for state in reachable(lexicon, start):
        moves.setdefault(lexicon.dfa.rows[state][byte], []).append(state)
    return moves


@lru_cache(maxsize=64)
def reachable(lexicon: Lexicon, start: int) -> tuple[int, ...]:
    """The DFA's states that can be reached from *start*, itself included."""
    found = {start: None}
    for state in (waiting := [start]):
        for following in dict.fromkeys(lexicon.dfa.rows[state]):
            if following and following not in found:
                found[following] = None
                waiting.append(following)
    return tuple(found)


@lru_cache(maxsize=4096)
def way_to(lexicon: Lexicon, state: int, goals: frozenset[int]) -> bytes | None:
    """A shortest byte string from *state* to one of *goals*, None if there is none."""
    found: dict[int, bytes] = {state: b""}
    for current in (waiting := [state]):
        if current in goals:
            return found[current]
        for byte, following in enumerate(lexicon.dfa.rows[current]):
            if following and following not in found:
                found[following] = found[current] + bytes((byte,))
                waiting.append(following)
    return None
