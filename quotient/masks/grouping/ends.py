"""The lexer states in which texts end, by numbers."""

from __future__ import annotations

import numpy as np
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.texts.text_trie import Ints
from fimlsp.quotient.masks.viability import Need, need_of

_BYTES_PER_END = 400
_NO_INTS = np.zeros(0, np.int32)


class Ends:
    """The lexer states in which texts end, numbered. All are of one language.

    Equal ones are mostly held once, as tables that are made one by one ask for their numbers.
    """

    def __init__(self) -> None:
        self.states: list[LexerState] = []
        self._numbers: dict[LexerState, int] = {}
        self.needs: dict[int, Need] = {}  # filled by `need`
        self._dfa_states = _NO_INTS
        self._within: dict[LexerState, dict[tuple[int, int, int], int]] = {}

    @property
    def n_bytes(self) -> int:
        """About what they hold in memory."""
        return _BYTES_PER_END * len(self.states)

    def dfa_states(self, numbers: Ints) -> Ints:
        """The states of the automaton in which those of these *numbers* are."""
        known = len(self._dfa_states)
        if known < len(self.states):
            fresh = [lexer.state for lexer in self.states[known:]]
            self._dfa_states = np.concatenate((self._dfa_states, np.array(fresh, np.int32)))
        return self._dfa_states[numbers]

    def within(self, lexer: LexerState) -> dict[tuple[int, int, int], int]:
        """The numbers of states in which texts end that do not end the lexeme of *lexer*, as far as noted.

        Keys are the state of the automaton, the kind of its last lexeme on the way (-1: none), and the number
        of the suffix behind it. What *lexer* itself says of these is left out where it does not matter.
        """
        return self._within.setdefault(lexer, {})

    def number(self, lexer: LexerState) -> int:
        """The number of *lexer*."""
        found = self._numbers.get(lexer)
        if found is None:
            found = self._numbers[lexer] = self.add(lexer)
        return found

    def add(self, lexer: LexerState) -> int:
        """A new number for *lexer*, which hardly has one: quicker than to look."""
        self.states.append(lexer)
        return len(self.states) - 1

    def need(self, number: int, tables: LanguageTables) -> Need:
        """What the state *number* needs of the parser, in the language of *tables*."""
        found = self.needs.get(number)
        if found is None:
            found = self.needs[number] = need_of(tables, self.states[number])
        return found
