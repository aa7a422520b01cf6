"""Finds the line below the cursor's that closes a bracket which the cursor's line opens."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.quotient.recovery.statements.lines import NextLine
from fimlsp.quotient.recovery.statements.statements import Statements

_MOST_LINES = 40


class Closer(NamedTuple):
    """A line that closes a bracket of the kind *opening*, and perhaps more."""

    start: int
    end: int
    opening: str
    closes_more: bool


def closer_below(statements: Statements, start: int, column: Column) -> Closer | None:
    """The line from *start* on that closes a bracket which the line before, of *column*, opens.

    It is the one that begins so in this column, or else the first deeper one that closes more than what is
    opened before it. The layout tells that there is none if no deeper line comes first.
    """
    tables, layout = statements.tables, statements.assumed.layout
    line, depth = _next_readable(statements, start), 0
    if line is None or not line.column.deeper_than(column):
        return None
    found: Closer | None = None
    for _ in range(_MOST_LINES):
        if line is None:
            break
        closers, openers = statements.unmatched(line.start)
        is_deeper = line.column.deeper_than(column)
        if not is_deeper:
            if line.column != column or not layout.closes(statements.unit(line.start)):
                break
            depth = 0  # whatever is open in the lines above
        if len(closers) > depth:
            opening = tables.opening_of[closers[depth]]
            closer = Closer(line.start, line.end, opening, closes_more=len(closers) > depth + 1)
            if not is_deeper:
                return closer
            found = found or closer
        depth = max(depth + len(openers) - len(closers), 0)
        line = _next_readable(statements, line.end)
    return found


def _next_readable(statements: Statements, place: int) -> NextLine | None:
    """The next line from *place* on that may begin like a valid one."""
    line = statements.next_line(place)
    while line is not None and statements.is_hopeless(statements.unit(line.start)):
        line = statements.next_line(line.end)
    return line
