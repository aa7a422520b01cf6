"""What is known of the cursor's line whatever will be written there: its column, and a leading closer."""

from __future__ import annotations

import re
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.longest_match import longest_match
from fimlsp.quotient.language.tables import LanguageTables

_LEAD = re.compile(rb"[ \t\f]*")


class CursorLine(NamedTuple):
    """The column of a line, and whether it begins with a closing bracket.

    `column` is None if it is unknown, as on an empty line.
    """

    column: Column | None = None
    closes: bool = False


def cursor_line(tables: LanguageTables, before: bytes, after: bytes) -> CursorLine:
    """The line with *before* left of the cursor and *after* right of it, if a middle begins with code."""
    lead = _LEAD.match(before or after)
    assert lead is not None
    code = before[lead.end() :] or after.lstrip()
    if not code.strip():
        return CursorLine(Margin().after(lead.group()).counted if lead.group() else None)
    lexical = tables.lexical
    first = longest_match(lexical, lexical.dfa.starts[lexical.unknown.mode], code, 0)
    if first is not None and first[0] in lexical.skipped:
        return CursorLine()
    closes = first is not None and lexical.kinds[first[0]] in tables.opening_of
    return CursorLine(Margin().after(lead.group()).counted, closes)
