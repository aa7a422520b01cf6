"""Repairs the text above the cursor's line, statement by statement, from the first line that cannot be read.

Each such line is repaired by the first row of `LEFT_REPAIRS` that applies. A line that still cannot be
read is tried again with the rows of the next attempt, and is given up after the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.right import RightContext
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.bracket_layout import Unit, is_deeper
from fimlsp.quotient.recovery.lexemes import CursorLine, cursor_line, lexemes
from fimlsp.quotient.recovery.line_edits import (
    fitted,
    group_before,
    header_end,
    joined_to_line_before,
    missing_below,
    missing_closer,
    missing_opener,
    with_header,
    without_slip,
)
from fimlsp.quotient.recovery.open_strings import string_end
from fimlsp.quotient.recovery.readings import Reading
from fimlsp.quotient.recovery.repair_costs import INSERTED, PASSED_LINE
from fimlsp.quotient.recovery.repaired_text import (
    ANY,
    EARLY,
    FIRST,
    GIVEN_UP,
    LAST,
    Edit,
    Edits,
    RepairedText,
    RepairRow,
    always,
    first_edits,
)
from fimlsp.quotient.recovery.statements import OpenBrackets, Statements

_MOST_REPAIRS = 60
_MOST_REPAIRS_OF_LINE = 8
_MOST_LINES = 30
_MOST_NEAR = 40


class RepairedLeft:
    """The *text* with repairs up to the start of the cursor's line, which is `stop`."""

    def __init__(self, assumed: AssumedText, text: RepairedText, from_stop: int) -> None:
        self.assumed = assumed
        self.text = text
        self._from_stop = from_stop  # the distance of the cursor's line start from the cursor

    def move(self, from_stop: int) -> None:
        """Let the cursor be *from_stop* bytes after the start of its line."""
        self.text.cursor, self._from_stop = self.stop + from_stop, from_stop

    @property
    def stop(self) -> int:
        """The start of the cursor's line."""
        return self.text.cursor - self._from_stop

    @property
    def column(self) -> Column | None:
        """The column of the logical line with the cursor; None if it is unknown."""
        if not self.assumed.tables.offside:
            return None
        start, _ = self.text.document.statement_before(self.stop)
        if start == self.stop:
            return self.cursor_line().column
        line = self.statements().next_line(start)
        return line.column if line is not None and line.start <= self.stop else None

    def repair(self) -> None:
        """Repair until all lines up to `stop` can be read; if too many cannot, these are removed."""
        attempts, repaired = Counter[int](), Counter[int]()
        for _ in range(_MOST_REPAIRS):
            checkpoint()
            position = self.text.document.broken_above(self.stop)
            if position is None:
                return
            distance, lines = len(self.text.data) - position, self.text.data.count(b"\n", position)
            attempts[distance] += 1
            repaired[lines] += 1
            attempt = attempts[distance] if repaired[lines] < _MOST_REPAIRS_OF_LINE else GIVEN_UP[0]
            self.text.replace(first_edits(LEFT_REPAIRS, BrokenAbove(self, position), attempt))
        position = self.text.document.broken_above(self.stop)
        if position is not None:
            self.text.replace([(position, self.stop, b"")])

    @property
    def depth(self) -> int:
        """The number of brackets open at the start of the cursor's line."""
        return self.text.document.left_at(self.stop)[1].modes.depth

    @cached_property
    def may_be_inside(self) -> bool:
        """True if the cursor's line may be in the brackets that are open before it, by the layout."""
        start, _ = self.text.document.statement_before(self.stop)
        line, column, statements = self.cursor_line(), self.column, self.statements()
        if start == self.stop or line.column is None or column is None or line.closes:
            return True
        if self._starts_outside(line) or statements.is_header_left_open(start):
            return False
        if statements.is_unaligned(self.stop, start) or self._starts_after_closer or statements.hangs(start):
            return True
        if self._is_followed_by_statement(line.column):
            return self._lacks_operand or self.statements(open_end=False).read_up_to(start).lacks_header
        return line.column.deeper_than(column) or (self._is_blank and self._is_after_deeper(column))

    def _is_followed_by_statement(self, column: Column) -> bool:
        """True if the line after the cursor's is a statement in the *column* of that."""
        below = self.below()
        after = below.next_line(below.begin)
        return after is not None and after.column == column and below.is_line(after.start)

    @property
    def _lacks_operand(self) -> bool:
        """True if the innermost bracket that is open before the cursor's line cannot be closed there."""
        context, tables = self.text.document.left_at(self.stop)[1], self.assumed.tables
        closing = tables.lexical.brackets.get(context.modes.shape)
        return closing is not None and not context.group.expects(
            tables.terminal_of[self.assumed.layout.closer(closing)[0]]
        )

    def _is_after_deeper(self, column: Column) -> bool:
        """True if the line before the cursor's is deeper than *column*."""
        before = self.statements().column_before(self.stop)
        return before is not None and before.deeper_than(column)

    @property
    def _is_blank(self) -> bool:
        """True if the cursor's line is blank, so that it may become a closing bracket."""
        lines, cursor_end = self.text.document.transitions.lines, self.text.cursor_end
        after = self.text.data[cursor_end : lines.end_of_stretch(self.text.data, cursor_end)]
        return not self.text.data[self.stop : self.text.cursor].strip() and not after.strip()

    @property
    def _starts_after_closer(self) -> bool:
        """True if the cursor is at the start of its line, and the text after it starts no line."""
        data, cursor, cursor_end = self.text.data, self.text.cursor, self.text.cursor_end
        if data[self.stop : cursor].strip():
            return False
        end = self.text.document.transitions.lines.end_of_stretch(data, cursor_end)
        read = lexemes(self.assumed.tables.lexical, data, cursor_end, end).read
        return bool(read) and not self.assumed.any_line.expects(self.assumed.tables.terminal_of[read[0].kind])

    def _starts_outside(self, line: CursorLine) -> bool:
        """True if the cursor's line starts as only lines outside the brackets around it do."""
        if line.first is None:
            return False
        tables, modes = self.assumed.tables, self.text.document.left_at(self.stop)[1].modes
        first = tables.terminal_of[line.first]
        chart = self.text.document.left_at(self.stop)[1].group
        if modes.shape not in tables.lexical.brackets or chart.expects(first):
            return False
        return self.assumed.any_line.expects(first) and not self.assumed.inside(modes.shape).expects(first)

    def brackets(self) -> tuple[OpenBrackets, ...]:
        """The brackets around the cursor's line, without those that it closes at its start.

        Nothing if there are none, or if its column contradicts that. If the cursor precedes the closing ones,
        all brackets around it come second, as the middle may open some.
        """
        start, _ = self.text.document.statement_before(self.stop)
        context = self.text.document.left_at(self.stop)[1]
        tables, closes = self.assumed.tables, self.cursor_line().closes
        if context.modes.depth <= len(closes) or not self.may_be_inside:
            return ()
        chart = tables.forward.read(context.group, tables.terminals(closes))
        brackets = OpenBrackets(context.group, self.statements().units_from(start))
        if chart is None:
            return ()
        is_before = closes and not self.text.data[self.stop : self.text.cursor].strip()
        others = (brackets.after(context.group, (), self.stop),) if is_before else ()
        return brackets.after(chart, closes, self.stop), *others

    def lacking_column(self, text: RepairedText | None = None) -> Column | None:
        """The first column that the text below dedents to and no open block has; None if there is none.

        The *text* is one that was changed below the cursor's line, if any.
        """
        text = text or self.text
        document = text.document
        end = document.transitions.lines.end_of_stretch(text.data, text.cursor_end)
        column, after = self.cursor_line().column, document.right_at(end)
        context = document.left_at(self.stop)[1]
        if column is None or after.unmatched or context.modes.depth:
            return None
        known = context.indents.columns
        following: RightContext | None = after
        while following is not None and not following.is_end:
            if column.deeper_than(following.column):
                return None if following.column in known else following.column
            following = following.next_shallower
        return None

    def takes_line(self) -> bool:
        """True if the cursor's line may stand in its column, and all dedents below lead to open blocks."""
        start, context = self.text.document.statement_before(self.stop)
        if start != self.stop or self.cursor_line().column != context.frame.column:
            return False
        return bool(context.completed or context.group is context.start) and self.lacking_column() is None

    def missing_below(self, statements: Statements) -> Edits:
        """The edits that the lines below, read by *statements*, need to follow the cursor's line."""
        start, context = self.text.document.statement_before(self.stop)
        column = self.cursor_line().column if start == self.stop else self.column
        if not self.assumed.tables.offside or column is None:
            return ()
        return missing_below(statements, context, column)

    def changed(self, edits: Sequence[Edit]) -> RepairedLeft:
        """A copy with these *edits* made."""
        changed = RepairedLeft(self.assumed, self.text.copy(), self._from_stop)
        cursor = self.text.cursor
        changed.text.replace(edits)
        if any(end > self.stop for _, end, _ in edits):
            changed._from_stop += changed.text.cursor - cursor
        return changed

    def statements(self, *, open_end: bool = True) -> Statements:
        """The reader of the text above."""
        document = self.text.document
        return Statements(
            self.assumed,
            document.transitions.lines,
            document.data,
            self.stop,
            open_end=open_end,
            then=self.cursor_line(),
            beyond=document.transitions.lines.end_of_stretch(document.data, self.text.cursor_end),
        )

    def below(self) -> Statements:
        """The reader of the text below the cursor's line."""
        document = self.text.document
        lines, size = document.transitions.lines, len(document.data)
        begin = lines.end_of_stretch(document.data, self.text.cursor_end)
        return Statements(self.assumed, lines, document.data, size, begin=begin)

    def cursor_line(self) -> CursorLine:
        """The known parts of the line with the cursor."""
        data, cursor_end = self.text.data, self.text.cursor_end
        end = self.text.document.transitions.lines.end_of_stretch(data, cursor_end)
        before, after = data[self.stop : self.text.cursor], data[cursor_end:end]
        return cursor_line(self.assumed.tables.lexical, before, after)


class BrokenAbove:
    """The first line above the cursor's that cannot be read, at *position*, and edits that may repair it.

    Its logical line starts at `start`, in `context`.
    """

    def __init__(self, left: RepairedLeft, position: int) -> None:
        self.left = left
        self.position = position
        self.start, self.context = left.text.document.statement_before(position)
        self.statements = left.statements()

    @cached_property
    def reading(self) -> Reading:
        """The cheapest reading of the logical line."""
        return self.statements.read(self.start)

    def has_no_layout(self) -> bool:
        """True if lines and columns mean nothing in the language."""
        return not self.statements.tables.offside

    def is_above_cursor_line(self) -> bool:
        """True if the logical line starts above the cursor's line."""
        return self.start < self.left.stop

    def is_continued(self) -> bool:
        """True if the logical line starts before the line that cannot be read."""
        return self.start < self.position

    def is_far(self) -> bool:
        """True if the logical line starts many lines before, or columns mean nothing in its brackets."""
        is_long = self.left.text.data.count(b"\n", self.start, self.position) > _MOST_LINES
        return is_long or self.statements.is_unaligned(self.position, self.start)

    def is_changed(self) -> bool:
        """True if the reading of the logical line changes it, or it lacks a header for the lines after it."""
        return bool(self.reading.edits) or self.reading.lacks_header

    def may_be_in_string(self) -> bool:
        """True if lines may start in a string in the language."""
        return bool(self.statements.tables.lexical.line_starts)

    def with_string_end(self) -> Edits:
        """End a string over lines above, if the line and all before it can be read then."""
        return string_end(self.left.text.document, self.position, self.left.stop)

    def in_place(self) -> Edits:
        """Repair the line by itself, in the brackets and blocks that are open before it."""
        statements, modes = self.statements, self.context.modes
        if statements.tables.lexical.line_starts:
            statements = statements.in_modes(modes)
        reading = statements.in_place(self.position, self.context.group)
        return () if reading is None else reading.edits

    def removed(self) -> Edits:
        """Remove the line."""
        return self.statements.without(self.position)

    def without_slip(self) -> Edits:
        """Take back an indentation by one column too many."""
        return without_slip(self.statements, self.context, self.start)

    def with_header_end(self) -> Edits:
        """End a header as such, where it ends with an opening bracket instead."""
        return header_end(self.statements, self.position)

    def with_closer(self) -> Edits:
        """Add the closing bracket for which the column of the line is right."""
        return missing_closer(self.statements, self.position)

    def with_opener(self) -> Edits:
        """Add the opening bracket at the line before that deeper lines and a closer after it show."""
        return missing_opener(self.statements, self.position)

    def near(self) -> Edits:
        """Repair lines in brackets, without reading these from their start.

        If the line is outside the open brackets, they are closed before it. Else the lines from the last one
        on that is no deeper are read inside them, or this line alone.
        """
        statements, document = self.statements, self.left.text.document
        line, units = statements.unit(self.position), self._units_near()
        layout = statements.assumed.layout
        if statements.is_outside(self.position, self.start):
            text = layout.text_of(layout.left_before(units, line, outermost=True))
            read = units[-1].read
            return ((read[-1].end, read[-1].end, text),) if text and read else ()
        first = next((n for n in reversed(range(1, len(units))) if not is_deeper(units[n], line)), 0)
        if first and line.column is not None:
            chart = document.left_at(units[first].start)[1].group
            near = statements.near(units[first].start, line.end, chart, units[:first])
            if near is not None:
                return near.edits
        reading = statements.in_place(self.position, document.left_at(self.position)[1].group)
        return () if reading is None else reading.edits

    def _units_near(self) -> list[Unit]:
        """The first line of the logical line, and some lines before the one that cannot be read."""
        position, units = self.position, list[Unit]()
        for _ in range(_MOST_NEAR):
            before = self.statements.line_before(position)
            if before is None or before[0] <= self.start:
                break
            position = before[0]
            units.append(self.statements.unit(position))
        return [self.statements.unit(self.start), *reversed(units)]

    def given_up(self) -> Edits:
        """Remove the line with its end."""
        size = self.left.text.document.line_at(self.position).size
        return ((self.position, min(self.position + size, self.left.stop), b""),)

    def reopened(self) -> Edits:
        """Move the line into brackets, opened far above, that the line before it closes.

        Only if it is deeper than the start of its logical line.
        """
        statements, document, start = self.statements, self.left.text.document, self.start
        before, column = statements.line_before(start), statements.column_at(start)
        if before is None or column is None or statements.opening_line(before[0]) != before[0]:
            return ()
        context = document.statement_before(start)[1]
        is_deeper = column.deeper_than(context.frame.column) and context.opened(column) is None
        if not is_deeper or start >= self.left.stop or not statements.unmatched(before[0])[0]:
            return ()
        chart = document.left_at(before[0])[1].group
        reading = statements.near(before[0], statements.unit(start).end, chart, ())
        return () if reading is None else reading.edits

    def joined_to_line_before(self) -> Edits:
        """Let the line continue the one before it."""
        return joined_to_line_before(self.statements, self.context, self.start)

    def with_group_before(self) -> Edits:
        """Add the group that the line is a later clause of."""
        return group_before(self.statements, self.context, self.start)

    def passed(self) -> Edits:
        """Pass over the line; a header stands in for it if a block follows."""
        return self.statements.passed(self.position).edits

    def as_read(self) -> Edits:
        """Repair the logical line as its cheapest reading says, with a header for deeper lines after it."""
        return with_header(self.statements, self.reading)

    def fitted(self) -> Edits:
        """Make the logical line, valid by itself, fit into its block."""
        return fitted(self.statements, self.context, self.reading)


LEFT_REPAIRS: tuple[RepairRow[BrokenAbove], ...] = (
    # attempts, condition, edits, least cost
    RepairRow(FIRST, BrokenAbove.may_be_in_string, BrokenAbove.with_string_end, INSERTED),
    RepairRow(FIRST, BrokenAbove.has_no_layout, BrokenAbove.in_place, INSERTED),
    RepairRow(ANY, BrokenAbove.has_no_layout, BrokenAbove.removed, PASSED_LINE),
    RepairRow(FIRST, BrokenAbove.is_above_cursor_line, BrokenAbove.without_slip, 0),
    RepairRow(FIRST, always, BrokenAbove.with_header_end, 0),
    RepairRow(FIRST, always, BrokenAbove.with_closer, 0),
    RepairRow(FIRST, BrokenAbove.is_continued, BrokenAbove.with_opener, 0),
    RepairRow(FIRST, BrokenAbove.is_far, BrokenAbove.near, INSERTED),
    RepairRow(FIRST, always, BrokenAbove.reopened, INSERTED),
    RepairRow(FIRST, always, BrokenAbove.joined_to_line_before, INSERTED),
    RepairRow(FIRST, always, BrokenAbove.with_group_before, INSERTED),
    RepairRow(EARLY, BrokenAbove.is_changed, BrokenAbove.as_read, INSERTED),
    RepairRow(EARLY, always, BrokenAbove.fitted, INSERTED),
    RepairRow(LAST, always, BrokenAbove.passed, PASSED_LINE),
    RepairRow(GIVEN_UP, always, BrokenAbove.given_up, PASSED_LINE),
)
