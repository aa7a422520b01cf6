"""What blocks lack around the cursor's line: a header before deeper lines, or a clause before later ones."""

from __future__ import annotations

from fimlsp.lexing.columns import Column
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.recovery.repairs.assumed import Assumed, indentation
from fimlsp.quotient.recovery.statements.lines import NextLine
from fimlsp.quotient.recovery.statements.readings import Edit
from fimlsp.quotient.recovery.statements.statements import Statements

_MOST_LINES = 200


def is_slip(column: Column, outer: Column) -> bool:
    """Whether *column* is just one deeper than *outer*: a slip of the hand rather than a block."""
    return column.tabs8 == outer.tabs8 + 1 and column.deeper_than(outer)


def slip(statements: Statements, context: LeftContext, start: int) -> Edit | None:
    """The edit that takes a slip of the hand back from the column of the line at *start*, if it is one.

    It is deeper than its block by one, or begins one that the next line is not in, but it or its header.
    """
    unit, known = statements.unit(start), context.indents.columns
    if unit.column is None or unit.column in known:
        return None
    outer = max((column for column in known if unit.column.deeper_than(column)), key=lambda each: each.tabs8)
    if outer == context.frame.column and context.opened(unit.column) is not None:
        following = statements.column_after(unit.end, unit.column)
        if following is None or not following.deeper_than(outer):
            return None
        outer = following
    return (start, unit.code, indentation(outer)) if is_slip(unit.column, outer) else None


def slip_below(statements: Statements, start: int) -> Edit | None:
    """The edit that takes a slip back from the column of the line at *start*, if the next one tells of it."""
    unit = statements.unit(start)
    if unit.column is None or statements.column_before(start) == unit.column:
        return None
    following = statements.column_after(unit.end, unit.column) or Column()
    if not is_slip(unit.column, following):
        return None
    return start, unit.code, indentation(following)


def header_above(assumed: Assumed, statements: Statements, start: int, column: Column) -> Edit | None:
    """A header at *column* before the deeper lines that end at the line start *start*."""
    place, clause = None, statements.clause_after(start, column)
    for _ in range(_MOST_LINES):
        line = statements.line_before(start)
        if line is None or not line[1].deeper_than(column):
            break
        place = start = line[0]
    if place is None:
        return None
    header = assumed.header(clause)
    return place, place, indentation(column) + header + b"\n"


def missing_below(
    assumed: Assumed, statements: Statements, context: LeftContext, column: Column
) -> tuple[Edit, ...]:
    """The edits that the lines below need to follow a whole line of *column* in *context*."""
    inner = _at_column(context, column)
    line = statements.next_line(statements.begin)
    if inner is None or line is None:
        return ()
    if line.column.deeper_than(column):
        if is_slip(line.column, column):
            return ((line.start, statements.unit(line.start).code, indentation(column)),)
        header = assumed.header(statements.clause_after(line.start, column))
        return ((line.start, line.start, indentation(column) + header + b"\n"),)
    return _missing_clause(assumed, statements, inner, line)


def _at_column(context: LeftContext, column: Column) -> LeftContext | None:
    """The context before a statement of *column*; None if none may stand there."""
    inner: LeftContext | None = context
    if column.deeper_than(context.frame.column):
        inner = context.opened(column)
    while inner is not None and inner.frame.column.deeper_than(column):
        inner = inner.closed(1)
    if inner is None or inner.frame.column != column:
        return None
    return inner if inner.completed or inner.group is inner.start else None


def _missing_clause(
    assumed: Assumed, statements: Statements, inner: LeftContext, line: NextLine
) -> tuple[Edit, ...]:
    """The clauses without which *line*, or a shallower one after it, cannot follow a statement of *inner*."""
    context = inner
    following: NextLine | None = line
    is_first = True
    for _ in range(_MOST_LINES):
        if following is None:
            return ()
        while context.frame.column.deeper_than(following.column):
            outer = _after_block(context) if is_first else context.closed(1)
            if outer is None:
                rest = assumed.rest_of_group(context)
                return () if rest is None else ((following.start, following.start, rest),)
            context, is_first = outer, False
        if is_slip(following.column, context.frame.column):
            column = indentation(context.frame.column)
            return ((following.start, statements.unit(following.start).code, column),)
        if context.frame.column != following.column:
            return ()
        is_met = is_first or context.completed or following.first is None
        if not is_met and not context.group.expects(following.first or 0):
            rest = assumed.rest_of_group(context)
            return () if rest is None else ((following.start, following.start, rest),)
        following = _shallower(statements, following)
        is_first = True
    return ()


def _after_block(context: LeftContext) -> LeftContext | None:
    """The context after the innermost block of *context*, whatever the last group there is."""
    tables, frame = context.tables, context.frame
    if frame.parent is None or frame.holder is None:
        return None
    group = tables.forward.read_any(frame.holder, tables.suites_of(frame.bodies))
    return None if group is None else context.at(frame.parent, group)


def _shallower(statements: Statements, line: NextLine) -> NextLine | None:
    """The first line after *line* that is less deep."""
    following: NextLine | None = line
    for _ in range(_MOST_LINES):
        if following is None or line.column.deeper_than(following.column):
            return following
        following = statements.next_line(following.end)
    return None
