"""What is known of the cursor's line whatever will be written there: its column, and a leading closer."""

from __future__ import annotations

import re
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.longest_match import longest_match
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.layout.lexemes import lexemes

_LEAD = re.compile(rb"[ \t\f]*")


class CursorLine(NamedTuple):
    """The column of a line, and the kinds of closing brackets that it begins with.

    `column` is None if it is unknown, as on an empty line. `first` is the kind of its first lexeme, None if
    the cursor may change that. `opens` are the kinds of the brackets that the line leaves open, unless the
    middle closes them; `may_open` tells whether it ends at the cursor, so that the middle may open more.
    """

    column: Column | None = None
    closes: tuple[int, ...] = ()
    first: int | None = None
    opens: tuple[int, ...] = ()
    may_open: bool = True


def cursor_line(tables: LanguageTables, before: bytes, after: bytes) -> CursorLine:
    """The line with *before* left of the cursor and *after* right of it, if a middle begins with code."""
    lead = _LEAD.match(before or after)
    assert lead is not None
    code = before[lead.end() :] or after.lstrip()
    blank = CursorLine(Margin().after(lead.group()).counted if lead.group() else None)
    if not code.strip():
        return blank
    lexical = tables.lexical
    start, position = lexical.dfa.starts[lexical.unknown.mode], 0
    closes: list[int] = []
    first: int | None = None
    while (found := longest_match(lexical, start, code, position)) is not None:
        kind, position = found
        if kind in lexical.skipped and not closes:
            return CursorLine() if before.strip() else blank
        if lexical.kinds[kind] not in tables.opening_of:
            first = kind if not closes and lead.end() + position < len(before) else None
            break
        closes.append(kind)
    opens = _opened(lexical, before + b" " + after)
    may_open = not after.strip()
    return CursorLine(Margin().after(lead.group()).counted, tuple(closes), first, opens, may_open)


def _opened(lexical: LexerTables, text: bytes) -> tuple[int, ...]:
    """The kinds of the brackets that *text* leaves open."""
    opened: list[int] = []
    for lexeme in lexemes(lexical, text, 0, len(text)).read:
        kind = lexical.kinds[lexeme.kind]
        if kind in lexical.brackets:
            opened.append(lexeme.kind)
        elif opened and kind == lexical.brackets[lexical.kinds[opened[-1]]]:
            opened.pop()
    return tuple(opened)
