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
from fimlsp.quotient.recovery.separators import SEPARATOR, above_lacks_separator
from fimlsp.quotient.recovery.statements import Statements
from fimlsp.quotient.states.protocol import State

_MOST_BLOCKS = 20
_MOST_LINES = 40


def may_be_forgotten(document: ContextDocument, connected: State | None, start: int, end: int) -> bool:
    """True if the ends of text that lines above leave open may be forgotten, as well as follow at the cursor.

    *connected* is the first state of the text as it stands, if it connects.
    """
    if not document.tables.offside:
        return False
    line_start = document.transitions.lines.start_of_stretch(document.data, start)
    first, context = document.left_at(line_start)
    if not line_start or context.broken:
        return False
    if above_lacks_separator(document, context, line_start, start):
        return True
    is_in_lexeme = first < line_start
    line_end = document.transitions.lines.end_of_stretch(document.data, end)
    joined = is_in_lexeme and lexemes(document.tables.lexical, document.data, first, line_start).joined
    if connected is not None and connected.complete:
        is_used = bool(document.data[end:line_end].strip())  # the code there is the rest of a joined line
        return joined and not is_used
    if is_in_lexeme:
        return joined or not _ends_well(document, first)
    if line_start < start:  # else the column of a statement there is still open
        own = cursor_line(
            document.tables.lexical, document.data[line_start:start], document.data[end:line_end]
        )
        block = _unfinished(context, _column_of(document, line_start, start))
        word = None if own.first is None else document.tables.terminal_of[own.first]
        if block is not None and (word is None or not block.group.expects(word)):
            return True
    if connected is None and not _is_outside(document, line_start, line_end):
        return False  # the columns decide
    return context.modes.depth > _closed_after(document, end, line_end, below=connected is not None)


def _ends_well(document: ContextDocument, start: int) -> bool:
    """True if the line at *start* and those above can be read; all that is broken is below, then."""
    end = start + document.line_at(start).size
    place, context = document.left_at(end)
    return place == end and not context.broken


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


def _is_outside(document: ContextDocument, line_start: int, line_end: int) -> bool:
    """True if the line below, by its column, is not in brackets that are open at *line_start*."""
    lines, lexical, data = document.transitions.lines, document.tables.lexical, document.data
    start, _ = document.statement_before(line_start)
    for _ in range(_MOST_LINES):
        begin, line_end = line_end, lines.end_of_stretch(data, line_end)
        read = lexemes(lexical, data, begin, line_end).read
        if read or line_end >= len(data):
            closes = bool(read) and lexical.kinds[read[0].kind] in document.tables.opening_of
            column = column_of(indentation_at(data, begin))
            return not (closes or (read and column.deeper_than(column_of(indentation_at(data, start)))))
    return False


def _closed_after(document: ContextDocument, cursor_end: int, line_end: int, *, below: bool) -> int:
    """The number of brackets that the text after the cursor closes, and does not open.

    The text *below* counts as well as the rest of the cursor's line.
    """
    lexical = document.tables.lexical
    read = lexemes(lexical, document.data, cursor_end, line_end).read
    closers, openers = unmatched_brackets(lexical.brackets, [lexical.kinds[lexeme.kind] for lexeme in read])
    unmatched = document.right_at(line_end).unmatched if below else 0
    return len(closers) + max(unmatched - len(openers), 0)


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
    own = cursor_line(
        assumed.tables.lexical, data[line_start : text.cursor], data[text.cursor_end : line_end]
    )
    statements = Statements(assumed, lines, data, line_start, then=own, beyond=line_end)
    reading = statements.read_up_to(start)
    is_inside = reading.passed or reading.lacks_header
    is_separate = above_lacks_separator(document, document.left_at(line_start)[1], line_start, text.cursor)
    edits = _separated(statements, start, own, is_separate=is_separate) if is_inside else reading.edits
    text.replace(edits)
    return bool(edits) or not is_inside


def _separated(statements: Statements, start: int, own: CursorLine, *, is_separate: bool) -> Edits:
    """The ends of brackets within others, if the cursor's line has the column of the outer elements.

    A separator follows. If an element *is_separate*, only that may be missing.
    """
    units, layout = statements.units_from(start), statements.assumed.layout
    kinds = [] if own.column is None else layout.deeper_than(units, own.column)
    end = max(unit.code_end for unit in units if unit.column is not None)
    if len(kinds) >= len(layout.left_open(units)) or not (kinds or is_separate):
        return ()
    is_part = statements.data[end - 1 : end] == SEPARATOR
    place = end - is_part
    return ((place, place, layout.text_of(kinds) + (b"" if is_part else SEPARATOR)),)
