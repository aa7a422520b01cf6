"""Makes a line that is valid by itself fit the block that its column says it is in."""

from __future__ import annotations

from fimlsp.lexing.columns import Column
from fimlsp.quotient.contexts.left import Frame, LeftContext
from fimlsp.quotient.recovery.repairs.assumed import Assumed, indentation
from fimlsp.quotient.recovery.statements.blocks import header_above, is_slip
from fimlsp.quotient.recovery.statements.readings import Edit, Reading
from fimlsp.quotient.recovery.statements.statements import Statements


def laid_out(
    assumed: Assumed, statements: Statements, context: LeftContext, reading: Reading
) -> tuple[Edit, ...]:
    """The edits that make a line, valid by itself, fit into *context*."""
    frame, column, start = context.frame, reading.column, reading.start
    if start < statements.stop and is_slip(column, frame.column):
        return ((start, statements.unit(start).code, indentation(frame.column)),)
    if column.deeper_than(frame.column):
        if edits := with_line_before(statements, context, start):
            return edits
        group = None if context.completed else context.group
        header = assumed.header(statements.clause_after(start, frame.column), group)
        return ((start, start, indentation(frame.column) + header + b"\n"),)
    if column == frame.column:
        rest = None if context.completed else assumed.rest_of_group(context)
        return statements.passed(start).edits if rest is None else ((start, start, rest),)
    return _closing(assumed, context, statements, column, start)


def with_line_before(statements: Statements, context: LeftContext, start: int) -> tuple[Edit, ...]:
    """The edits by which the line at *start*, if too deep for *context*, belongs to the one before it."""
    before, column = statements.line_before(start), statements.column_at(start)
    if before is None or column is None or not column.deeper_than(context.frame.column):
        return ()
    if context.opened(column) is not None:
        return ()
    begin = statements.opened_at(before[0])
    if start == statements.stop and not statements.lacks_opener(begin):
        return ()
    reading = statements.read(begin)
    return reading.edits if reading.end >= start and not reading.passed else ()


def with_group_before(
    assumed: Assumed, statements: Statements, context: LeftContext, start: int
) -> tuple[Edit, ...]:
    """The edit by which the line at *start*, which begins a later part of a group, has one to belong to."""
    column, clause = statements.beginning(start)
    outer: LeftContext | None = context
    while outer is not None and column is not None and outer.frame.column.deeper_than(column):
        outer = outer.closed(1)
    if outer is None or clause is None or outer.frame.column != column or not outer.completed:
        return ()
    lines = None if outer.group.expects(clause) else assumed.group_for(outer, clause)
    return () if lines is None else ((start, start, lines),)


def _closing(
    assumed: Assumed, context: LeftContext, statements: Statements, column: Column, start: int
) -> tuple[Edit, ...]:
    """As `laid_out`, for a line that closes blocks."""
    inner: Frame | None = None
    while context.frame.column.tabs8 > column.tabs8 and context.frame.parent is not None:
        following = context.closed(1)
        if following is None:
            rest = assumed.rest_of_group(context)
            return statements.passed(start).edits if rest is None else ((start, start, rest),)
        inner, context = context.frame, following
    if context.frame.column == column:
        rest = None if context.completed else assumed.rest_of_group(context)
        return statements.passed(start).edits if rest is None else ((start, start, rest),)
    if is_slip(column, context.frame.column):
        return ((start, statements.unit(start).code, indentation(context.frame.column)),)
    after = statements.next_line(statements.unit(start).end)
    is_alone = after is not None and after.start < statements.stop and column.deeper_than(after.column)
    if inner is not None and not is_alone and (header := header_above(assumed, statements, start, column)):
        return (header,)
    frames = [context.frame] if inner is None else [inner, context.frame]
    nearest = min(frames, key=lambda frame: abs(frame.column.tabs8 - column.tabs8))
    return ((start, statements.unit(start).code, indentation(nearest.column)),)


def with_header(assumed: Assumed, statements: Statements, reading: Reading) -> tuple[Edit, ...]:
    """The edits of *reading*, with a header for the deeper lines that follow it if it is none."""
    if not reading.lacks_header:
        return reading.edits
    after = statements.next_line(reading.end)
    if after is not None and statements.column_before(reading.start) == after.column:
        code = statements.unit(reading.start).code  # it is this line that is not as deep as those around it
        return (*reading.edits, (reading.start, code, indentation(after.column)))
    clause = statements.clause_after(reading.end, reading.column)
    read = () if reading.edits else statements.unit(reading.start).found.read
    behind = assumed.unfinished(assumed.tables.terminals([lexeme.kind for lexeme in read]))
    header = indentation(reading.column) + assumed.header(clause, behind) + b"\n"
    return (*reading.edits, (reading.end, reading.end, header))
