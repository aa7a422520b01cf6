"""The lexemes that straddle the end of the middle: which lexemes in progress may become one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.bridge.boundary_lexemes import leads_into
from fimlsp.quotient.bridge.connection import RightEntry
from fimlsp.quotient.masks.grouping.ends import Ends
from fimlsp.quotient.masks.grouping.groups import DifferentEnds


class RightLexemes:
    """The lexemes that straddle the end of the middles of a connection: those of *entries*.

    `markers` are what the parser must expect for them.
    """

    def __init__(self, lexical: LexerTables, entries: Sequence[RightEntry]) -> None:
        self._lexical = lexical
        self._entries = tuple(entry for entry in entries if entry.boundary.kind is not None)
        self._admitted: dict[tuple[int, ModeStack, tuple[int, int]], bool] = {}
        self.markers = frozenset(entry.marker for entry in self._entries)

    def among(self, ends: Ends, different: DifferentEnds, expected: int) -> NDArray[np.bool_]:
        """Which of some *different* of the *ends* may be in a lexeme that is *expected*."""
        found = np.zeros(len(different.numbers), np.bool_)
        for which, entry in enumerate(self._entries):
            if expected >> entry.marker & 1:
                admits = np.array([self._admits(which, each) for each in different.surroundings], np.bool_)
                leading = _leading_to(self._lexical, entry.boundary.states)[different.dfa_states]
                leading &= admits[different.around]
                if entry.boundary.word is None:
                    found |= leading
                    continue
                for at in np.flatnonzero(leading & ~found).tolist():
                    found[at] = leads_into(ends.state(different.numbers[at]), entry.boundary)
        return found

    def _admits(self, which: int, around: LexerState) -> bool:
        key = which, around.modes, around.equal_run
        found = self._admitted.get(key)
        if found is None:
            found = self._admitted[key] = self._entries[which].admits(around)
        return found


@remembered(1 << 8)
def _leading_to(lexical: LexerTables, goals: frozenset[int]) -> NDArray[np.bool_]:
    """For each state of the automaton whether it leads to one of *goals*."""
    wanted = sum(1 << state for state in goals)
    return np.array([behind & wanted != 0 for behind in lexical.paths.behind])
