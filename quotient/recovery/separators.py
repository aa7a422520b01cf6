"""Missing separators of elements in brackets, by the columns and the ends of the lines around.

Elements with a line for each have one column, and each of their lines ends with a separator. A line that does
not may be joined with the next by the grammar, as two strings are. More likely its separator is missing.
"""

from __future__ import annotations

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.recovery.lexemes import column_of, indentation_at, lexemes

SEPARATOR = b","
_MOST_LINES = 40


def above_lacks_separator(
    document: ContextDocument, context: LeftContext, line_start: int, cursor: int
) -> bool:
    """True if the line above that of *cursor* seems to lack the separator of elements in brackets.

    Nothing is before the cursor in its line, which has the column of that line and of one that ends so.
    """
    data, lines = document.data, document.transitions.lines
    if not context.modes.depth or data[line_start:cursor].strip():
        return False
    column, ends = column_of(indentation_at(data[:cursor], line_start)), list[bool]()
    first = document.statement_before(line_start)[0]
    while line_start > first and len(ends) < _MOST_LINES:
        end, line_start = line_start, lines.start_of_stretch(data, line_start - 1)
        line = lines.read(data, line_start)
        if line.column is not None:
            ends.append(data[line_start:end].rstrip().endswith(SEPARATOR))
        if line.column is not None and (line.column != column or ends[-1] or line.openers or line.closers):
            break
    return len(ends) > 1 and ends[-1]


def rest_lacks_separator(document: ContextDocument, cursor: int, cursor_end: int) -> bool:
    """True if the rest of the cursor's line seems to lack the separator before the next element.

    The line below has the same column. It, or the line above, also of that column, ends with a separator.
    """
    lines, lexical, data = document.transitions.lines, document.tables.lexical, document.data
    start, end = lines.start_of_stretch(data, cursor), lines.end_of_stretch(data, cursor_end)
    if end >= len(data) or not document.left_at(start)[1].modes.depth:
        return False
    rest = lexemes(lexical, data, cursor_end, end).read
    if not rest or data[rest[-1].start : rest[-1].end].endswith(SEPARATOR):  # also in a string left open
        return False
    column = column_of(indentation_at(data, start))
    below = _ends_with_separator(document, end, column)
    if below is None:
        return False
    above = _ends_with_separator(document, lines.start_of_stretch(data, start - 1), column) if start else None
    return below or above is True


def _is_separator(data: bytes, start: int, end: int) -> bool:
    return data[start:end] == SEPARATOR


def _ends_with_separator(document: ContextDocument, start: int, column: Column) -> bool | None:
    """True if the line at *start* ends with a separator; None unless an element of *column* starts there."""
    tables, data = document.tables, document.data
    end = document.transitions.lines.end_of_stretch(data, start)
    read = lexemes(tables.lexical, data, start, end).read
    if not read or column_of(indentation_at(data, start)) != column:
        return None
    closes = tables.lexical.kinds[read[0].kind] in tables.opening_of
    return None if closes else _is_separator(data, read[-1].start, read[-1].end)
