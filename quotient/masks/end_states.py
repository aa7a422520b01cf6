"""Lexer states in which texts end, by number, and the symbols that the parser must expect there.

Most of these states are within a lexeme that the text does not end. They are only made when needed.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.texts import Ints

_BACKSLASH = ord("\\")
_ANY_SYMBOL = -1
_BYTES_PER_STATE, _BYTES_PER_NUMBER = 400, 16
_MOST_SURROUNDINGS = 200


class Fallback(NamedTuple):
    """A lexeme may have ended earlier only where *terminal* is expected, and one of *symbols* after it.

    The latter is not required if more may follow than the rule of that terminal expects.
    """

    terminal: int
    symbols: int


class Need(NamedTuple):
    """A lexeme is viable if one of *symbols* (a bit set) is expected; -1 stands for any symbol.

    With *more* it may also be viable if none of them is expected. With a *fallback* as well, but only under
    the conditions of that.
    """

    symbols: int
    more: bool = False
    fallback: Fallback | None = None


def need_of(tables: LanguageTables, lexer: LexerState) -> Need:
    """The conditions of `GrammarState.viable` on the lexeme in progress, within the middle."""
    if lexer.at_lexeme_start:
        return Need(_ANY_SYMBOL)
    if lexer.word:
        return Need(0, more=True)
    need = _need(tables.lexical, tables, lexer.possible_kinds, *surroundings(lexer))
    if need.symbols == _ANY_SYMBOL or need.more or not lexer.may_fall_back:
        return need
    fallback = _fallback_of(tables, lexer)
    return Need(need.symbols, more=fallback is None, fallback=fallback)


def surroundings(lexer: LexerState) -> tuple[bool, bool, str | None]:
    """The part of a lexer state around its lexeme that `need_of` depends on.

    True if the line has a lexeme already. True if a line end would end a statement. The kind of a line end
    that is a terminal.
    """
    modes, has_lexeme = lexer.modes, lexer.margin is None
    return has_lexeme, has_lexeme and modes.depth == 0 and modes.in_code, modes.line_end


def _fallback_of(tables: LanguageTables, lexer: LexerState) -> Fallback | None:
    """The condition for a lexeme that has ended earlier; None if it depends on more than symbols."""
    step = lexer.fall_back()
    if step is None or len(step.symbols) != 1 or isinstance(step.symbols[0], Column):
        return None
    terminal, following = tables.terminal_of[step.symbols[0]], step.lexer
    if terminal < 0 or following.at_lexeme_start or following.leftover:
        return None
    if following.possible_kinds & (lexer.lexical.always_viable | lexer.lexical.ends_line):
        return None
    need = need_of(tables, following)
    return None if need.more or need.fallback else Fallback(terminal, need.symbols)


@remembered(1 << 14)
def _need(
    lexical: LexerTables,
    tables: LanguageTables,
    live: int,
    has_lexeme: bool,
    in_statement: bool,
    line_end: str | None,
) -> Need:
    """As `need_of`, for a lexeme that may become one of *live*.

    It may end the line only *in_statement*, or if the kind of *line_end* is a terminal. Elsewhere a line end
    means nothing.
    """
    if live & lexical.always_viable:
        may_lack_indent = lexical.offside and _BACKSLASH not in lexical.quiet and has_lexeme
        return Need(0, more=True) if may_lack_indent else Need(_ANY_SYMBOL)
    symbols = 0
    if live & lexical.ends_line:
        if line_end is not None:
            symbols = 1 << tables.terminal_of[lexical.kinds.index(line_end)]
        elif in_statement and lexical.offside:
            symbols = 1 << tables.newline
        else:
            return Need(_ANY_SYMBOL)
    for terminal in tables.live_terminals(live):
        symbols |= 1 << terminal
    return Need(symbols, more=lexical.separation is not None)


LexemeEnd = tuple[int, int, int]
"""A state of the automaton, the kind of the last lexeme on the way (-1: none), the suffix after it."""


class LexemeEnds(NamedTuple):
    """The states of texts that end within the lexeme of *lexer*; `text` returns the bytes of a suffix."""

    lexer: LexerState
    ends: tuple[LexemeEnd, ...]
    text: Callable[[int], bytes]

    def state(self, index: int) -> LexerState:
        """The lexer state at one of the ends."""
        lexical, _, modes, indents, accepted, leftover, margin, run, word, counted = self.lexer
        state, kind, since = self.ends[index]
        text = self.text(since)
        last, rest = (accepted, leftover + text) if kind < 0 else (kind, text)
        return LexerState(lexical, state, modes, indents, last, rest, margin, run, word, counted)

    @property
    def around(self) -> Hashable:
        """All that the needs of the ends depend on, apart from the ends."""
        lexer, modes = self.lexer, self.lexer.modes
        kinds = {lexer.accepted, *(kind for _, kind, _ in self.ends)}
        changes_modes = not kinds.isdisjoint(lexer.lexical.mode_changers)
        return modes if changes_modes else modes.mode, surroundings(lexer)


class EndStates:
    """The lexer states in which texts of one language end, by number.

    `around` has for each number a state with the same open brackets and strings around the lexeme in
    progress.
    """

    def __init__(self) -> None:
        self.needs: dict[int, Need] = {}  # filled by `need`
        self._needs_within: BoundedDict[Hashable, dict[LexemeEnd, Need]] = BoundedDict(_MOST_SURROUNDINGS)
        self.around: list[LexerState] = []
        self._states: dict[int, LexerState] = {}
        self._numbers: dict[LexerState, int] = {}
        self._blocks: list[LexemeEnds] = []
        self._firsts: list[int] = []
        self._dfa_states: list[int] = []

    @property
    def n_bytes(self) -> int:
        """Approximate memory size."""
        return _BYTES_PER_STATE * len(self._numbers) + _BYTES_PER_NUMBER * len(self.around)

    def dfa_states(self, numbers: Ints) -> Ints:
        """The states of the automaton in those of these *numbers*."""
        return np.array([self._dfa_states[number] for number in numbers.tolist()], np.int32)

    def number(self, lexer: LexerState) -> int:
        """The number of *lexer*."""
        number = self._numbers.get(lexer)
        if number is None:
            number = self._numbers[lexer] = len(self.around)
            self._states[number] = lexer
            self.around.append(lexer)
            self._dfa_states.append(lexer.state)
        return number

    def add_all(self, within: LexemeEnds) -> range:
        """New numbers for the states *within* a lexeme."""
        first = len(self.around)
        self._blocks.append(within)
        self._firsts.append(first)
        self.around += [within.lexer] * len(within.ends)
        self._dfa_states += [state for state, _, _ in within.ends]
        return range(first, len(self.around))

    def state(self, number: int) -> LexerState:
        """The state of this *number*."""
        lexer = self._states.get(number)
        if lexer is None:
            block = bisect_right(self._firsts, number) - 1
            lexer = self._states[number] = self._blocks[block].state(number - self._firsts[block])
        return lexer

    def need(self, number: int, tables: LanguageTables) -> Need:
        """The need of the state *number* in the language of *tables*."""
        need = self.needs.get(number)
        if need is None:
            need = self.needs[number] = need_of(tables, self.state(number))
        return need

    def needs_within(self, within: LexemeEnds, tables: LanguageTables) -> list[Need]:
        """The needs of the ends *within* a lexeme, which most lexemes have in common."""
        around, lexer = within.around, within.lexer
        ended = self._needs_around(around)
        unended = self._needs_around((around, lexer.accepted, lexer.leftover))
        needs = []
        for index, end in enumerate(within.ends):
            known = unended if end[1] < 0 else ended
            need = known.get(end)
            if need is None:
                need = known[end] = need_of(tables, within.state(index))
            needs.append(need)
        return needs

    def _needs_around(self, around: Hashable) -> dict[LexemeEnd, Need]:
        needs = self._needs_within.get(around)
        if needs is None:
            needs = self._needs_within[around] = {}
        return needs
