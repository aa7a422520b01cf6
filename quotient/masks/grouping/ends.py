"""The lexer states in which texts end, by numbers."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.texts.text_trie import Ints
from fimlsp.quotient.masks.viability import Need, need_of, surroundings

_BYTES_PER_STATE, _BYTES_PER_NUMBER = 400, 16
_MOST_AROUND = 200

End = tuple[int, int, int]
"""A state of the automaton, the kind of the last lexeme on the way (-1: none), the suffix behind it."""


class Within(NamedTuple):
    """Where texts end that do not end the lexeme of *lexer*.

    `text` gives the bytes of a suffix.
    """

    lexer: LexerState
    ends: tuple[End, ...]
    text: Callable[[int], bytes]

    def state(self, at: int) -> LexerState:
        """The lexer state at one of them."""
        lexical, _, modes, indents, accepted, leftover, margin, run, word, counted = self.lexer
        state, kind, since = self.ends[at]
        text = self.text(since)
        last, rest = (accepted, leftover + text) if kind < 0 else (kind, text)
        return LexerState(lexical, state, modes, indents, last, rest, margin, run, word, counted)

    @property
    def around(self) -> Hashable:
        """What decides, beside an end itself, what it needs of the parser."""
        lexer, modes = self.lexer, self.lexer.modes
        kinds = {lexer.accepted, *(kind for _, kind, _ in self.ends)}
        changes_modes = not kinds.isdisjoint(lexer.lexical.mode_changers)
        return modes if changes_modes else modes.mode, surroundings(lexer)


class Ends:
    """The lexer states in which texts end, numbered. All are of one language.

    Most are ends within a lexeme; those are made when somebody asks for one. `around` has by number a state
    in which the same is open around the lexeme in progress.
    """

    def __init__(self) -> None:
        self.needs: dict[int, Need] = {}  # filled by `need`
        self._needs_within: BoundedDict[Hashable, dict[End, Need]] = BoundedDict(_MOST_AROUND)
        self.around: list[LexerState] = []
        self._states: dict[int, LexerState] = {}
        self._numbers: dict[LexerState, int] = {}
        self._within: list[Within] = []
        self._firsts: list[int] = []
        self._in_automaton: list[int] = []

    @property
    def n_bytes(self) -> int:
        """About what they hold in memory."""
        return _BYTES_PER_STATE * len(self._numbers) + _BYTES_PER_NUMBER * len(self.around)

    def dfa_states(self, numbers: Ints) -> Ints:
        """The states of the automaton in which those of these *numbers* are."""
        return np.array([self._in_automaton[number] for number in numbers.tolist()], np.int32)

    def number(self, lexer: LexerState) -> int:
        """The number of *lexer*."""
        found = self._numbers.get(lexer)
        if found is None:
            found = self._numbers[lexer] = len(self.around)
            self._states[found] = lexer
            self.around.append(lexer)
            self._in_automaton.append(lexer.state)
        return found

    def add_all(self, within: Within) -> range:
        """New numbers for the states *within* a lexeme."""
        first = len(self.around)
        self._within.append(within)
        self._firsts.append(first)
        self.around += [within.lexer] * len(within.ends)
        self._in_automaton += [state for state, _, _ in within.ends]
        return range(first, len(self.around))

    def state(self, number: int) -> LexerState:
        """The state of this *number*."""
        found = self._states.get(number)
        if found is None:
            block = bisect_right(self._firsts, number) - 1
            found = self._states[number] = self._within[block].state(number - self._firsts[block])
        return found

    def need(self, number: int, tables: LanguageTables) -> Need:
        """What the state *number* needs of the parser, in the language of *tables*."""
        found = self.needs.get(number)
        if found is None:
            found = self.needs[number] = need_of(tables, self.state(number))
        return found

    def needs_within(self, within: Within, tables: LanguageTables) -> list[Need]:
        """What each of the ends *within* a lexeme needs, which most lexemes have in common."""
        around, lexer = within.around, within.lexer
        ended = self._known(around)
        unended = self._known((around, lexer.accepted, lexer.leftover))
        found = []
        for at, end in enumerate(within.ends):
            known = unended if end[1] < 0 else ended
            need = known.get(end)
            if need is None:
                need = known[end] = need_of(tables, within.state(at))
            found.append(need)
        return found

    def _known(self, around: Hashable) -> dict[End, Need]:
        found = self._needs_within.get(around)
        if found is None:
            found = self._needs_within[around] = {}
        return found
