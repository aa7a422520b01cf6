"""Finds the lexemes that straddle the end of the middle, where the right context starts.

From the state of the DFA at the end of the middle, the right context is read deterministically. The current
lexeme ends somewhere in it, and the lexemes after that are a function of the offset alone. Over all states of
the DFA there are few different ends (a median of 5 in Melcer et al. 2024, arXiv 2402.17988, section V).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from operator import itemgetter, or_

from fimlsp.lexing.automata.bit_sets import bit_set
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, byte_that_leaves, closing_delimiter, remembered
from fimlsp.lexing.line import has_line_end
from fimlsp.lexing.nesting import ModeStack
from fimlsp.lexing.values import value

_LINE_FEED, _RETURN = b"\n\r"

End = tuple[int, int] | None
"""The kind of a lexeme and how many bytes of the right context it covers; None if it cannot end there."""


@value
class BoundaryLexeme:
    """One way in which the lexeme at the end of the middle may continue in the right context.

    `kind` is the kind of the lexeme that straddles the end, or None if the last lexeme ends with the middle.
    The next lexeme starts `offset` bytes after the cursor. This is possible if the middle ends inside
    `modes`, with the DFA in one of the bit set `states`. If these states are inside a checked word, `word` is
    the part of it in the right context.
    """

    kind: int | None
    offset: int
    modes: ModeStack
    states: int
    word: bytes | None = None


def boundary_lexemes(
    lexical: LexerTables, data: bytes, cursor: int, mode_stacks: Iterable[ModeStack]
) -> Iterator[BoundaryLexeme]:
    """All ways in which a middle may end before `data[cursor:]`, in code or inside one of *mode_stacks*.

    O(lexemes that straddle the cursor).
    """
    stacks = (lexical.unknown, *mode_stacks)
    starts = {lexical.dfa.starts[modes.mode] for modes in stacks}
    inside = reduce(or_, [lexical.paths.reachable[start] for start in starts])
    straddling = _straddling(BoundaryLexer(lexical, data, cursor, lexical.unknown), inside)
    for modes in stacks:
        start = lexical.dfa.starts[modes.mode]
        yield BoundaryLexeme(None, 0, modes, 1 << start)
        own = lexical.paths.reachable[start] & ~(1 << start)
        for (kind, offset), before in straddling.items():
            states = before & own
            if states and kind in lexical.skipped and kind not in lexical.mode_changers:
                yield BoundaryLexeme(None, offset, modes, states)
                continue
            in_word = states & lexical.word_bits
            if states != in_word:
                yield BoundaryLexeme(kind, offset, modes, states ^ in_word)
            closing = bytes((lexical.word_part.closing,))
            word = data[cursor : data.find(closing, cursor)] if in_word else b""
            if in_word and lexical.words.between(b"", word) is not None:
                yield BoundaryLexeme(kind, offset, modes, in_word, word)


def _straddling(runs: BoundaryLexer, inside: int) -> dict[tuple[int, int], int]:
    """The ends of lexemes that are in one of the states *inside* before the cursor, with those states.

    Most modes of a lexer share most lexemes, so all are read together.
    """
    states_by_end: dict[tuple[int, int], int] = {}
    lexical, data, cursor = runs.lexical, runs.data, runs.cursor
    if cursor < len(data):
        absent = runs.absent_delimiters()
        for following, states, delimiter in _moves(lexical, data[cursor]):
            if not states & inside or delimiter in absent:
                continue
            end = runs.end(following)
            if end is not None and end[0] not in (lexical.bad, lexical.space):
                states_by_end[end] = states_by_end.get(end, 0) | states
    return states_by_end


class BoundaryLexer:
    """Continues lexemes into the right context; reads each byte at most once per state of the DFA."""

    def __init__(self, lexical: LexerTables, data: bytes, cursor: int, before: ModeStack) -> None:
        self.lexical = lexical
        self.data = data
        self.cursor = cursor
        self.forbidden = before.forbidden
        self.known: dict[tuple[int, int], End] = {}
        self.last: dict[bytes, int] = {}  # the last occurrence of a delimiter from the cursor on

    def end_of(self, state: int) -> End:
        """The end of the lexeme that is read in *state* when the right context starts."""
        data, cursor = self.data, self.cursor
        following = self.lexical.dfa.rows[state][data[cursor]] if cursor < len(data) else 0
        return self.end(following) if following else None

    def end(self, state: int) -> End:
        """The end of a lexeme, given the *state* after the first byte of the right context.

        Runs of bytes that do not change the state are skipped at once, so long strings cost little.
        """
        data, rows, word_states = self.data, self.lexical.dfa.rows, self.lexical.word_states
        position = self.cursor
        if self._is_unclosed(state, position + 1):
            return self.lexical.bad, len(data) - position
        path: list[tuple[int, int, int]] = []
        end: End = None
        word = -1  # the offset of a checked word that starts in the right context; -1 outside of one
        while True:
            if len(path) % EVERY == EVERY - 1:
                checkpoint()
            here = state, position
            if here in self.known:
                end = self.known[here]
                break
            if data[position] in self.forbidden:
                end = self.lexical.bad, position + 1 - self.cursor
                break
            if word >= 0 or state in word_states:
                if self._is_no_word(state, word, position):
                    end = self.lexical.bad, position + 1 - self.cursor
                    break
                word = self._word_at(state, word, position)
            position += 1
            if position < len(data) and rows[state][data[position]] == state:
                if self._is_unclosed(state, position):
                    end = self.lexical.bad, len(data) - self.cursor
                    break
                position = byte_that_leaves(self.lexical, state, self.forbidden)(data, position)
            path.append((*here, position))
            if position == len(data) or not rows[state][data[position]]:
                break
            state = rows[state][data[position]]
        return self._remember(path, end)

    def absent_delimiters(self) -> frozenset[bytes]:
        """The closing delimiters that do not occur after the first byte of the right context."""
        position = self.cursor + 1
        delimiters = self.lexical.delimiters
        absent = [delimiter for delimiter in delimiters.span if self._is_last(delimiter, position)]
        within = [delimiter for delimiter in delimiters.within if not self._is_on_line(delimiter, position)]
        if within and not self._is_on_line(delimiters.escape, position):
            absent += within
        return frozenset(absent)

    def _is_on_line(self, text: bytes, position: int) -> bool:
        """True if *text* occurs between *position* and the end of its line."""
        occurrence = self.data.find(text, position)
        return occurrence >= 0 and not has_line_end(self.data, position, occurrence)

    def _is_unclosed(self, state: int, position: int) -> bool:
        """True if *state* is inside a string that is not closed from *position* on."""
        closing = closing_delimiter(self.lexical, state)
        return closing is not None and self._is_last(closing, position)

    def _is_last(self, delimiter: bytes, position: int) -> bool:
        """True if *delimiter* does not occur from *position* on.

        Some languages have many with the same beginning. If that is absent, so are all of them.
        """
        beginning = delimiter[:2]
        if beginning != delimiter and self._is_last(beginning, position):
            return True
        if delimiter not in self.last:
            self.last[delimiter] = self.data.rfind(delimiter, self.cursor)
        return self.last[delimiter] < position

    def _word_at(self, state: int, word: int, position: int) -> int:
        if state not in self.lexical.word_states:
            return -1
        return position + 1 if self.data[position] == self.lexical.word_part.opening else word

    def _is_no_word(self, state: int, word: int, position: int) -> bool:
        """True if a checked word that began at *word* ends at *position* and is not an allowed one."""
        if word < 0 or state in self.lexical.word_states:
            return False
        return self.data[word:position] not in self.lexical.words

    def _remember(self, path: list[tuple[int, int, int]], end: End) -> End:
        for count, (state, position, after) in enumerate(reversed(path), 1):
            if not count % EVERY:
                checkpoint()
            kind = self.lexical.dfa.accepts[state]
            if end is None and kind >= 0:
                nothing_follows = kind == self.lexical.line_joiner and after == len(self.data)
                end = self.lexical.bad if nothing_follows else kind, after - self.cursor
            if state not in self.lexical.word_states:  # the start of a word decides if it is allowed
                self.known[state, position] = end
        return end


@remembered(256)
def _moves(lexical: LexerTables, byte: int) -> tuple[tuple[int, int, bytes | None], ...]:
    """The states that *byte* leads to: each with the bit set of those before, and its `_delimiter_after`."""
    moves: dict[int, list[int]] = {}
    for state, following in enumerate(map(itemgetter(byte), lexical.dfa.rows)):
        if following:
            moves.setdefault(following, []).append(state)
    return tuple(
        [
            (following, bit_set(states), _delimiter_after(lexical, following))
            for following, states in moves.items()
        ]
    )


@remembered(4096)
def _delimiter_after(lexical: LexerTables, state: int) -> bytes | None:
    """The delimiter without which the lexeme in *state* cannot end, if there is exactly one; else None.

    A delimiter of a lexeme within one line counts only if no line end can precede it.
    """
    row = lexical.dfa.rows[state]
    if not row[_LINE_FEED] and not row[_RETURN] and (ending := _only_ending(lexical, state)) is not None:
        return ending
    return closing_delimiter(lexical, state)


def _only_ending(lexical: LexerTables, state: int) -> bytes | None:
    """The delimiter within one line with which all lexemes in *state* may end; None if there is none."""
    ending: bytes | None = None
    for kind in lexical.kinds_in(lexical.dfa.live[state]):
        if kind != lexical.bad:
            suffix = lexical.shortest_words.suffix(state, kind) or b""
            last = b"" if suffix.endswith(lexical.delimiters.span) else suffix[-1:]
            if last not in lexical.delimiters.within or ending not in (None, last):
                return None
            ending = last
    return ending


@remembered(4096)
def way_to(lexical: LexerTables, state: int, goals: int) -> bytes | None:
    """As `Paths.way_to`, cached."""
    return lexical.paths.way_to(state, goals)


def leads_into(lexer: LexerState, boundary: BoundaryLexeme) -> bool:
    """True if the lexeme being read may continue as *boundary*."""
    if boundary.word is not None:
        return way_into(lexer, boundary) is not None
    return lexer.lexical.paths.reachable[lexer.state] & boundary.states != 0


def way_into(lexer: LexerState, boundary: BoundaryLexeme) -> bytes | None:
    """A short text after which the lexeme being read continues as *boundary*; None if there is none."""
    if boundary.word is None:
        return way_to(lexer.lexical, lexer.state, boundary.states)
    way: bytes | None = b""
    if not lexer.word:
        way = way_to(lexer.lexical, lexer.state, boundary.states)
        way = way and way[: way.rfind(bytes((lexer.lexical.word_part.opening,))) + 1]
    rest = lexer.lexical.words.between(lexer.word[1:], boundary.word)
    return None if way is None or rest is None else way + rest
