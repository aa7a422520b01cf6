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

End = tuple[int, int] | None
"""The kind of a lexeme, and how many bytes of the right context belong to it; None if it has no end there."""


@dataclass(frozen=True, slots=True)
class Seam:
    """One way in which the middle may end.

    `kind` is the lexeme that straddles the end, None if the last lexeme ends with the middle or is skipped;
    the right context goes on as lexemes `offset` bytes after the cursor, inside `nesting`. `states` are the
    DFA's states that lead here, in a middle that ends inside `before`.
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
    parts = [part for quote in quotes for part in _parts(data, cursor, quote)]
    for before in (UNKNOWN, *parts):
        yield Seam(None, 0, before, before, frozenset((lexicon.dfa.starts[before.mode],)))
        for (kind, offset), states in _straddling(lexicon, data, cursor, before).items():
            skipped = kind in lexicon.skipped
            nesting = before if skipped else _after(lexicon, before, kind)
            if nesting is not None:
                yield Seam(None if skipped else kind, offset, before, nesting, frozenset(states))


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


def _straddling(
    lexicon: Lexicon, data: bytes, cursor: int, before: Nesting
) -> dict[tuple[int, int], list[int]]:
    """The lexemes that begin inside *before* and end in the right context, with the states that read them."""
    found: dict[tuple[int, int], list[int]] = {}
    if cursor < len(data):
        start = lexicon.dfa.starts[before.mode]
        runs = Runs(lexicon, data, cursor, before)
        for following, sources in _moves(lexicon, start, data[cursor]).items():
            end = runs.end(following) if following else None
            if end is not None and end[0] not in (lexicon.bad, lexicon.space):
                usable = [s for s in sources if s != start and s not in lexicon.naming]
                found.setdefault(end, []).extend(usable)
    return {end: states for end, states in found.items() if states}


def _after(lexicon: Lexicon, before: Nesting, kind: int) -> Nesting | None:
    """The place after a lexeme; brackets of ordinary code, of which more may be open, do not count."""
    if kind not in lexicon.nesting:
        return before
    nesting = before.after(lexicon.kinds[kind])
    return UNKNOWN if nesting is not None and nesting.in_code else nesting


class Runs:
    """Reads lexemes on through the right context, each place of it once per state."""

    def __init__(self, lexicon: Lexicon, data: bytes, cursor: int, before: Nesting) -> None:
        self.lexicon = lexicon
        self.data = data
        self.cursor = cursor
        self.forbidden = before.forbidden
        self.known: dict[tuple[int, int], End] = {}

    def end_of(self, state: int) -> End:
        """The end of the lexeme that is being read in *state* when the right context begins."""
        data, cursor = self.data, self.cursor
        following = self.lexicon.dfa.rows[state][data[cursor]] if cursor < len(data) else 0
        return self.end(following) if following else None

    def end(self, state: int) -> End:
        """The end of the lexeme that the first byte of the right context has led to *state*.

        Bytes that leave the state as it is are skipped at once, so that long strings cost little.
        """
        data, rows = self.data, self.lexicon.dfa.rows
        position = self.cursor
        closing = _closing(self.lexicon, state)
        if closing is not None and data.find(closing, position + 1) < 0:
            return self.lexicon.bad, len(data) - position
        path: list[tuple[int, int, int]] = []
        found: End = None
        while True:
            here = state, position
            if here in self.known:
                found = self.known[here]
                break
            if data[position] in self.forbidden:
                found = self.lexicon.bad, position + 1 - self.cursor
                break
            position += 1
            if position < len(data) and rows[state][data[position]] == state:
                position = _other_byte(self.lexicon, state, self.forbidden)(data, position)
            path.append((*here, position))
            if position == len(data) or not rows[state][data[position]]:
                break
            state = rows[state][data[position]]
        return self._remember(path, found)

    def _remember(self, path: list[tuple[int, int, int]], found: End) -> End:
        for state, position, after in reversed(path):
            kind = self.lexicon.dfa.accepts[state]
            if found is None and kind >= 0:
                nothing_follows = kind == self.lexicon.continuation and after == len(self.data)
                found = self.lexicon.bad if nothing_follows else kind, after - self.cursor
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
