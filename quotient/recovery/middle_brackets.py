"""Tells by columns which brackets a middle may close and open."""

from __future__ import annotations

from collections.abc import Sequence

from fimlsp.lexing.columns import Column
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.candidates import Candidate
from fimlsp.quotient.recovery.enclosed import behind_line
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.statements.lines import NextLine


class MiddleBrackets:
    """What the columns of the lines above and *below* say of the brackets of a middle in *reading*."""

    def __init__(self, reading: Candidate, below: Below) -> None:
        self._reading = reading
        self._left = reading.left
        self._below = below
        self._statements = below.statements()
        self._next = self._statements.next_line(below.start)
        self._column = reading.left.cursor_line().column

    def may_close(self) -> int:
        """How many of the brackets that are open before the cursor's line may be closed in it."""
        left, column = self._left, self._column
        before_cursor = left.text.data[left.stop : left.text.cursor]
        is_inside = left.may_be_inside or bool(before_cursor.strip())
        if not left.depth or column is None or (self._next is None and is_inside):
            return left.depth
        start, _ = left.text.document.statement_before(left.stop)
        units = left.statements().units_from(start)
        before = left.statements().column_before(left.stop)
        is_behind_deeper = before is not None and before.deeper_than(column)
        closed = len(left.cursor_line().closes)
        aligned = max(left.assumed.layout.as_deep_as(units, column) - closed, 0) if is_behind_deeper else 0
        if self._next is None or not is_inside:
            return aligned
        return max(aligned, self._closed_before(self._next, units, column))

    def _closed_before(self, line: NextLine, above: Sequence[Unit], column: Column) -> int:
        """How many brackets of the lines *above* may close before *line*; the cursor's has *column*."""
        left, statements, unit = self._left, self._statements, self._statements.unit(line.start)
        layout = left.assumed.layout
        left_before = len(layout.left_before(above, unit, outermost=True))
        if statements.begins_closing(line):
            return left_before
        is_near = not column.deeper_than(line.column) or statements.are_unaligned(above)
        if is_near and (statements.is_part(unit) or statements.is_part(self._below.own_line())):
            return 0
        is_deeper = line.column.deeper_than(above[0].column or Column())
        if not is_deeper or True in left.assumed.ends.of(left.text.document.left_at(left.stop)[1].group):
            return left.depth  # the line is outside all of them, or may be in the block of a header
        return max(left_before, layout.as_deep_as(above, line.column))

    def may_close_below(self) -> bool:
        """Whether the lines below may close a bracket that the cursor's line opens."""
        column, start = self._column, self._reading.start_below(self._below)
        below = self._below.statements_of(self._reading.text.document, start)
        line = below.next_line(start)
        if column is None or line is None or not (self._left.depth or line.column.deeper_than(column)):
            return False
        closing = below.closing_line(start)
        if closing is None:
            return True
        if below.begins_closing(closing):
            return not column.deeper_than(closing.column)
        return not self._below.rest.strip() or closing.column.deeper_than(column)

    def goes_on_below(self) -> bool:
        """Whether the line below is in a bracket that the cursor's line, which is no header, opens."""
        line, column = self._next, self._column
        if line is None or column is None or self._statements.begins_closing(line):
            return False
        return line.column.deeper_than(column) and not self._may_be_header

    @property
    def _may_be_header(self) -> bool:
        """Whether the cursor's line may be one that a block follows."""
        if self._left.depth or self._below.ends_as_no_header:
            return False
        chart = behind_line(self._left, self._below)
        return chart is None or True in self._left.assumed.ends.of(chart)

    def may_reopen(self) -> bool:
        """Whether the cursor's line may close a bracket and open another one."""
        column, above = self._column, self._left.column
        if column is None or above is None or column.deeper_than(above):
            return False
        return self._next is not None and self._next.column.deeper_than(column)
