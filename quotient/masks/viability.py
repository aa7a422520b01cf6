"""What the parser must expect for a lexeme in progress to be viable, as bit sets of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.bridge.boundary_lexemes import leads_into
from fimlsp.quotient.bridge.connection import RightEntry
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.texts.text_trie import Ints
from numpy.typing import NDArray

_BACKSLASH = ord("\\")
_ANYTHING = -1


class Fallback(NamedTuple):
    """A lexeme may have ended earlier only where *terminal* is expected, and one of *symbols* behind it.

    Or where more may follow than what the rule of that terminal expects.
    """

    terminal: int
    symbols: int


class Need(NamedTuple):
    """A lexeme is viable if one of *symbols* (a bit set) is expected; whatever is expected if they are -1.

    If there is *more* to it, it may be viable even if none of them is; so it may with a *fallback* as well,
    but only where that says.
    """

    symbols: int
    more: bool = False
    fallback: Fallback | None = None


def need_of(tables: LanguageTables, lexer: LexerState) -> Need:
    """What `GrammarState.viable` asks of the parser about the lexeme in progress, within the middle."""
    if lexer.at_lexeme_start:
        return Need(_ANYTHING)
    if lexer.word:
        return Need(0, more=True)
    modes, begun = lexer.modes, lexer.margin is None
    in_statement = begun and modes.depth == 0 and modes.in_code
    found = _need(tables.lexical, tables, lexer.possible_kinds, begun, in_statement, modes.line_end)
    if found.symbols == _ANYTHING or found.more or not lexer.may_fall_back:
        return found
    fallback = _fallback_of(tables, lexer)
    return Need(found.symbols, more=fallback is None, fallback=fallback)


def _fallback_of(tables: LanguageTables, lexer: LexerState) -> Fallback | None:
    """What has to be expected if the lexeme has ended earlier; None if that cannot be told ahead."""
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
    begun: bool,
    in_statement: bool,
    line_end: str | None,
) -> Need:
    """As `need_of`, for a lexeme that may become one of *live*.

    The line has *begun* if it has a lexeme already. It may end only *in_statement*, or if the grammar sees
    the kind of *line_end*; elsewhere a line end means nothing.
    """
    if live & lexical.always_viable:
        may_lack_indent = lexical.offside and _BACKSLASH not in lexical.quiet and begun
        return Need(0, more=True) if may_lack_indent else Need(_ANYTHING)
    found = 0
    if live & lexical.ends_line:
        if line_end is not None:
            found = 1 << tables.terminal_of[lexical.kinds.index(line_end)]
        elif in_statement and lexical.offside:
            found = 1 << tables.newline
        else:
            return Need(_ANYTHING)
    for terminal in tables.live_terminals(live):
        found |= 1 << terminal
    return Need(found, more=lexical.separation is not None)


class RightLexemes:
    """The lexemes that straddle the end of the middles of a connection: those of *entries*.

    `markers` are what the parser must expect for them.
    """

    def __init__(self, lexical: LexerTables, entries: Sequence[RightEntry]) -> None:
        self._lexical = lexical
        self._entries = tuple(entry for entry in entries if entry.boundary.kind is not None)
        self._admitted: dict[tuple[int, ModeStack, tuple[int, int]], bool] = {}
        self.markers = frozenset(entry.marker for entry in self._entries)

    def among(self, lexers: Sequence[LexerState], numbers: Ints, states: Ints, expected: int) -> list[bool]:
        """Whether *lexers* of these *numbers*, all in progress, may be one of those that is *expected*.

        *states* are the states of the automaton that they are in.
        """
        found = [False] * len(numbers)
        for which, entry in enumerate(self._entries):
            if expected >> entry.marker & 1:
                self._add(which, entry, lexers, (numbers, states), found)
        return found

    def _add(
        self,
        which: int,
        entry: RightEntry,
        lexers: Sequence[LexerState],
        among: tuple[Ints, Ints],
        found: list[bool],
    ) -> None:
        """Note which lexemes may be that of *entry*, the number *which*."""
        numbers, states = among
        boundary, admitted = entry.boundary, self._admitted
        leading = np.flatnonzero(_leading_to(self._lexical, boundary.states)[states])
        for at, number in zip(leading.tolist(), numbers[leading].tolist(), strict=True):
            lexer = lexers[number]
            key = which, lexer.modes, lexer.equal_run
            admits = admitted.get(key)
            if admits is None:
                admits = admitted[key] = entry.admits(lexer)
            if admits and not found[at]:
                found[at] = boundary.word is None or leads_into(lexer, boundary)


@remembered(1 << 8)
def _leading_to(lexical: LexerTables, goals: frozenset[int]) -> NDArray[np.bool_]:
    """For each state of the automaton whether it leads to one of *goals*."""
    wanted = sum(1 << state for state in goals)
    return np.array([behind & wanted != 0 for behind in lexical.paths.behind])
