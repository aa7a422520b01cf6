"""The longest lexeme at the start of each suffix, read by the automaton of a language, all at once."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.values import value
from fimlsp.quotient.masks.suffixes import Suffixes
from fimlsp.quotient.masks.texts import Ints

_TOGETHER = 1 << 16
"""So many suffixes are read at once: their arrays stay in the cache of the processor."""

_SHARE = 16
_LONG = 16
"""The rests after a run of bytes are found for all suffixes, if that helps one of so many, or a long one."""


class AutomatonArrays:
    """The automaton of *lexical* as arrays: `rows[state * 256 + byte]`, `accepts` and `in_word` by state."""

    def __init__(self, lexical: LexerTables) -> None:
        self._lexical = lexical
        self.accepts = np.array(lexical.dfa.accepts, np.int32)
        self.in_word = np.zeros(len(self.accepts), np.bool_)
        self.in_word[list(lexical.word_states)] = True

    @cached_property
    def rows(self) -> Ints:
        """The next state by state and byte."""
        return np.array(self._lexical.dfa.rows, np.int32).ravel()

    def staying(self, state: int) -> NDArray[np.bool_] | None:
        """The bytes that stay in *state*; None if there are none."""
        stays = self.rows[256 * state : 256 * (state + 1)] == state
        return stays if stays.any() else None


@remembered(1)
def automaton_of(lexical: LexerTables) -> AutomatonArrays:
    """The automaton of *lexical*."""
    return AutomatonArrays(lexical)


@value(eq=False)
class FirstLexemes:
    """The longest lexeme at the start of each of some suffixes.

    `states` is the state after the whole suffix, 0 if the lexeme ends before. `kinds` is the kind of the
    longest prefix that is a lexeme, -1 if there is none. `left` is the suffix after that prefix. `checked`
    are the suffixes with part of a checked word on the way.
    """

    states: Ints
    kinds: Ints
    left: Ints
    checked: NDArray[np.bool_]

    def at(self, chosen: Ints | NDArray[np.intp]) -> FirstLexemes:
        """Those of the *chosen* suffixes."""
        states, kinds, left = (column.take(chosen) for column in (self.states, self.kinds, self.left))
        return FirstLexemes(states, kinds, left, self.checked.take(chosen))


def first_lexemes(automaton: AutomatonArrays, suffixes: Suffixes, numbers: Ints, state: int) -> FirstLexemes:
    """The first lexemes of the *suffixes* with these *numbers*, read from *state* on."""
    parts = [
        _Reader(automaton, suffixes, numbers[start : start + _TOGETHER], state).result
        for start in range(0, max(1, len(numbers)), _TOGETHER)
    ]
    columns = zip(*((part.states, part.kinds, part.left, part.checked) for part in parts), strict=True)
    return FirstLexemes(*map(np.concatenate, columns))


class _Reader:
    """Reads a byte of all suffixes at a time, or all bytes that stay in one state.

    `_live` are the indices of those that are read further, `_rests` the suffixes that they have left, and
    `_reached` their states.
    """

    def __init__(self, automaton: AutomatonArrays, suffixes: Suffixes, numbers: Ints, state: int) -> None:
        self._automaton = automaton
        self._suffixes = suffixes
        self._has_words = bool(automaton.in_word.any())
        self._n_read = 0
        size = len(numbers)
        self.result = FirstLexemes(
            np.zeros(size, np.int32),
            np.full(size, -1, np.int32),
            numbers.astype(np.int32),
            np.zeros(size, np.bool_),
        )
        self._live: NDArray[np.intp] = np.arange(size)
        self._rests = numbers.astype(np.intp)  # the type that indexes arrays at once
        self._reached: Ints = np.full(size, state, np.int32)
        self._skip()
        while len(self._live):
            self._step()
            self._skip()

    def _step(self) -> None:
        """Read one byte."""
        self._n_read += 1
        places = self._reached * 256 + self._suffixes.first_bytes.take(self._rests)
        self._reached = self._automaton.rows.take(places)
        self._rests = self._suffixes.shorter.take(self._rests).astype(np.intp)
        self._accept(slice(None), self._automaton.accepts.take(self._reached))
        if self._has_words:
            self.result.checked[self._live[self._automaton.in_word.take(self._reached)]] = True

    def _accept(self, chosen: slice | NDArray[np.intp], kinds: Ints) -> None:
        """The *chosen* ones are in states that accept lexemes of these *kinds*, or -1."""
        live, rests = self._live[chosen], self._rests[chosen]
        accepted = np.flatnonzero(kinds >= 0)
        if len(accepted) < len(kinds):
            live, rests, kinds = live.take(accepted), rests.take(accepted), kinds.take(accepted)
        self.result.kinds[live] = kinds
        self.result.left[live] = rests

    def _skip(self) -> None:
        """Read the bytes that stay in a state of many suffixes, or of any that is long; drop those read."""
        least = 0 if self._n_read > _LONG else len(self.result.left) // _SHARE
        for state in np.flatnonzero(np.bincount(self._reached) > least).tolist():
            stays = self._automaton.staying(state) if state else None
            if stays is not None:
                self._skip_in(state, self._suffixes.rests(stays))
        is_whole = self._rests == 0
        whole = np.flatnonzero(is_whole)
        self.result.states[self._live.take(whole)] = self._reached.take(whole)
        kept = np.flatnonzero(~is_whole & (self._reached != 0))
        self._live, self._rests = self._live.take(kept), self._rests.take(kept)
        self._reached = self._reached.take(kept)

    def _skip_in(self, state: int, rests: Ints) -> None:
        """Go on from *state* with the *rests* of the suffixes."""
        here = np.flatnonzero(self._reached == state)
        before = self._rests.take(here)
        after = rests.take(before)
        moved = np.flatnonzero(after != before)
        here = here.take(moved)
        self._rests[here] = after.take(moved)
        self._accept(here, np.full(len(here), self._automaton.accepts[state]))
        if self._automaton.in_word[state]:
            self.result.checked[self._live[here]] = True
