"""What the parser must expect for a lexeme in progress to be viable, as bit sets of symbols."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.bridge.boundary_lexemes import leads_into
from fimlsp.quotient.bridge.connection import RightEntry
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.text_trie import Ints
from numpy.typing import NDArray

_BACKSLASH = ord("\\")
_ANYTHING = -1
_MOST_VERDICTS = 32
_NONE = np.zeros(0, np.int8)


class Need(NamedTuple):
    """A lexeme is viable if one of *symbols* (a bit set) is expected; whatever is expected if they are -1.

    If there is *more* to it, it may be viable even if none of them is.
    """

    symbols: int
    more: bool = False


def need_of(tables: LanguageTables, lexer: LexerState) -> Need:
    """What `GrammarState.viable` asks of the parser about the lexeme in progress, within the middle."""
    if lexer.at_lexeme_start:
        return Need(_ANYTHING)
    if lexer.word:
        return Need(0, more=True)
    found = _need(
        tables.lexical,
        tables,
        lexer.state,
        lexer.modes,
        lexer.accepted,
        bool(lexer.leftover),
        lexer.margin is None,
    )
    return found if not lexer.leftover else found._replace(more=True)


@remembered(1 << 14)
def _need(
    lexical: LexerTables,
    tables: LanguageTables,
    state: int,
    modes: ModeStack,
    accepted: int,
    falls_back: bool,
    begun: bool,
) -> Need:
    """As `need_of`, for a lexeme without a checked word; *begun*: the line has a lexeme already."""
    lexer = LexerState(lexical, state, modes, None, accepted, b"?" if falls_back else b"")
    live = lexer.possible_kinds
    if live & lexical.always_viable:
        may_lack_indent = lexical.offside and _BACKSLASH not in lexical.quiet and begun
        return Need(0, more=True) if may_lack_indent else Need(_ANYTHING)
    found = 0
    if live & lexical.ends_line:
        if modes.line_end is not None:
            found = 1 << tables.terminal_of[lexical.kinds.index(modes.line_end)]
        elif not begun or modes.depth or not modes.in_code or not lexical.offside:
            return Need(_ANYTHING)
        else:
            found = 1 << tables.newline
    for terminal in tables.live_terminals(live):
        found |= 1 << terminal
    return Need(found, more=lexical.separation is not None)


class RightLexemes:
    """The lexemes that straddle the end of the middles of a connection: *entries* of its right context.

    `markers` is the bit set of what the parser must expect for any of them.
    """

    def __init__(self, entries: Sequence[RightEntry]) -> None:
        self._entries = tuple(entry for entry in entries if entry.boundary.kind is not None)
        self._verdicts: BoundedDict[int, NDArray[np.int8]] = BoundedDict(_MOST_VERDICTS)
        self._lexers: Sequence[LexerState] = ()
        self.markers = 0
        for entry in self._entries:
            self.markers |= 1 << entry.marker

    def among(self, lexers: Sequence[LexerState], numbers: Ints, expected: int) -> NDArray[np.bool_]:
        """Which of *numbers*, those of lexemes in progress in *lexers*, may be one that is *expected*.

        *lexers* is nearly always the same list, to which states are added.
        """
        if lexers is not self._lexers:
            self._verdicts.clear()
            self._lexers = lexers
        key = expected & self.markers
        verdicts = self._verdicts.get(key, _NONE)
        if len(verdicts) < len(lexers):
            unknown = np.full(len(lexers) - len(verdicts), -1, np.int8)
            verdicts = self._verdicts[key] = np.concatenate((verdicts, unknown))
        found = verdicts[numbers]
        if (found < 0).any():
            for number in set(numbers[found < 0].tolist()):
                verdicts[number] = self._may_be(lexers[number], expected)
            found = verdicts[numbers]
        return found > 0

    def _may_be(self, lexer: LexerState, expected: int) -> bool:
        """Whether the lexeme in progress may be one of them that is *expected*."""
        for entry in self._entries:
            if not expected >> entry.marker & 1 or not entry.admits(lexer):
                continue
            if leads_into(lexer, entry.boundary):
                return True
        return False
