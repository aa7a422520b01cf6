"""What the parser must expect for a lexeme in progress to be viable, as bit sets of symbols."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.quotient.language.tables import LanguageTables

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
    found = _need(tables.lexical, tables, lexer.possible_kinds, *surroundings(lexer))
    if found.symbols == _ANYTHING or found.more or not lexer.may_fall_back:
        return found
    fallback = _fallback_of(tables, lexer)
    return Need(found.symbols, more=fallback is None, fallback=fallback)


def surroundings(lexer: LexerState) -> tuple[bool, bool, str | None]:
    """What `need_of` asks of what is around the lexeme in progress.

    Whether its line has a lexeme already, whether it is in a statement that a line end would end, and the
    kind of a line end that the grammar sees.
    """
    modes, begun = lexer.modes, lexer.margin is None
    return begun, begun and modes.depth == 0 and modes.in_code, modes.line_end


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
