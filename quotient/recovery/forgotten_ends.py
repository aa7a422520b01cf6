"""Ends the brackets, strings and statements that lines above the cursor's leave open, as if forgotten.

A bracket, string or continued line that is open there may go on in the cursor's line. As likely a person has
left it half-written, and starts a new statement. Then its end is assumed before the cursor's line.
"""

from __future__ import annotations

from fimlsp.lexing.line import unmatched_brackets
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.lexemes import CursorLine, column_of, cursor_line, indentation_at, lexemes
from fimlsp.quotient.recovery.repaired_text import Edits, RepairedText
from fimlsp.quotient.recovery.statements import Statements

_MOST_BLOCKS = 20
_SEPARATOR = b","


def lacks_rest(document: ContextDocument, cursor: int) -> bool:
    """True if a string, joined line or statement above the line of *cursor* is unfinished there.

    At the very start of its line, the column of a statement there is still open. Then none is missing.
    """
    line_start = document.transitions.lines.start_of_stretch(document.data, cursor)
    if not line_start or not document.tables.offside:
        return False
    first, context = document.left_at(line_start)
    if context.broken:
        return False
    if first < line_start or line_start == cursor:
        return first < line_start
    return _unfinished(context, _column_of(document, line_start, cursor)) is not None


def lacks_closers(document: ContextDocument, cursor: int, cursor_end: int) -> bool:
    """True if lines above leave more brackets open than the text after the cursor closes."""
    data, lines = document.data, document.transitions.lines
    line_start, line_end = lines.start_of_stretch(data, cursor), lines.end_of_stretch(data, cursor_end)
    if not document.tables.offside:
        return False
    context = document.left_at(line_start)[1]
    return not context.broken and context.modes.depth > _closed_after(document, cursor_end, line_end)


def _column_of(document: ContextDocument, line_start: int, cursor: int) -> Column:
    """The column of the cursor's line, as far as it is written."""
    return column_of(indentation_at(document.data[:cursor], line_start))


def _unfinished(context: LeftContext, column: Column) -> LeftContext | None:
    """The innermost block of *context* whose last statement lacks a block or a clause; None if none does.

    Blocks that are shallower than *column* do not count.
    """
    block = None if context.modes.depth else context
    while block is not None and not column.deeper_than(block.frame.column):
        if block.group is not block.start and not block.completed:
            return block
        block = block.closed(1)
    return None


def _closed_after(document: ContextDocument, cursor_end: int, line_end: int) -> int:
    """The number of brackets that the text after the cursor closes, and does not open."""
    lexical = document.tables.lexical
    read = lexemes(lexical, document.data, cursor_end, line_end).read
    closers, openers = unmatched_brackets(lexical.brackets, [lexical.kinds[lexeme.kind] for lexeme in read])
    return len(closers) + max(document.right_at(line_end).unmatched - len(openers), 0)


def end_forgotten(assumed: AssumedText, text: RepairedText) -> bool:
    """Add the ends of all that is open before the cursor's line; True if a statement may start there."""
    line_start = _line_start(text)
    first, context = text.document.left_at(line_start)
    if first < line_start:
        _end_lexeme(text, first, line_start)
    may_start = not (first < line_start or context.modes.depth) or _end_line(assumed, text)
    _finish_statements(assumed, text)
    return may_start


def _line_start(text: RepairedText) -> int:
    return text.document.transitions.lines.start_of_stretch(text.data, text.cursor)


def _end_lexeme(text: RepairedText, first: int, line_start: int) -> None:
    """End the string that is open from the line at *first* on, or take away the line joiner."""
    read = lexemes(text.document.tables.lexical, text.data, first, line_start)
    code_end = first + len(text.data[first:line_start].rstrip())
    missing = b"".join(lexeme.missing for lexeme in read.read if lexeme.end >= code_end)
    if missing:
        text.replace([(code_end, code_end, missing)])
    elif read.joined:
        text.replace([(code_end - 1, code_end, b"")])


def _finish_statements(assumed: AssumedText, text: RepairedText) -> None:
    """Add the blocks and clauses that the statements before the cursor's line lack, innermost first."""
    for _ in range(_MOST_BLOCKS):
        line_start = _line_start(text)
        column = _column_of(text.document, line_start, text.cursor)
        block = _unfinished(text.document.left_at(line_start)[1], column)
        rest = block and assumed.rest_of_group(block)
        if not rest:
            return
        text.replace([(line_start, line_start, rest)])


def _end_line(assumed: AssumedText, text: RepairedText) -> bool:
    """End the logical line that is open before the cursor's line, or inner brackets by columns.

    True if a statement may follow then, or another element of the outer bracket.
    """
    document, line_start = text.document, _line_start(text)
    start, context = document.statement_before(line_start)
    if context.broken:
        return False
    lines, data = document.transitions.lines, text.data
    line_end = lines.end_of_stretch(data, text.cursor_end)
    own = cursor_line(assumed.tables, data[line_start : text.cursor], data[text.cursor_end : line_end])
    statements = Statements(assumed, lines, data, line_start, then=own, beyond=line_end)
    reading = statements.read_up_to(start)
    is_inside = reading.passed or reading.lacks_header
    edits = _inner_closers(statements, start, own) if is_inside else reading.edits
    text.replace(edits)
    return bool(edits) or not is_inside


def _inner_closers(statements: Statements, start: int, own: CursorLine) -> Edits:
    """The ends of brackets within others, if the cursor's line has the column of the outer elements."""
    units, layout = statements.units_from(start), statements.assumed.layout
    kinds = [] if own.column is None else layout.deeper_than(units, own.column)
    end = max(unit.code_end for unit in units if unit.column is not None)
    if not 0 < len(kinds) < len(layout.left_open(units)):
        return ()
    is_part = statements.data[end - 1 : end] == _SEPARATOR
    place = end - is_part
    return ((place, place, layout.text_of(kinds) + (b"" if is_part else _SEPARATOR)),)
