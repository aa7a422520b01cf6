"""Mends the text above the cursor's line, statement by statement, from the first line that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from fimlsp.lexing.columns import Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.quotient.contexts.right import RightContext
from fimlsp.quotient.recovery.layout.brackets import Unit, is_deeper
from fimlsp.quotient.recovery.layout.cursor_line import CursorLine, cursor_line
from fimlsp.quotient.recovery.layout.lexemes import lexemes
from fimlsp.quotient.recovery.mended_text import MendedText
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.statements.blocks import missing_below, slip
from fimlsp.quotient.recovery.statements.placing import (
    laid_out,
    with_group_before,
    with_header,
    with_line_before,
)
from fimlsp.quotient.recovery.statements.readings import Edit
from fimlsp.quotient.recovery.statements.statements import Brackets, Statements

_MOST_MENDS = 60
_MOST_MENDS_OF_LINE = 8
_MOST_TRIES = 3
_MOST_LINES = 30
_MOST_NEAR = 40


class Above:
    """Mends *text* up to the start of the cursor's line, which is `stop`."""

    def __init__(self, assumed: Assumed, text: MendedText, from_stop: int) -> None:
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

    def mend(self) -> None:
        """Mend until all lines up to `stop` can be read, or too many cannot: these are passed over."""
        tried, mended = Counter[int](), Counter[int]()
        for _ in range(_MOST_MENDS):
            checkpoint()
            place = self.text.document.broken_above(self.stop)
            if place is None:
                return
            distance, lines = len(self.text.data) - place, self.text.data.count(b"\n", place)
            tried[distance] += 1
            mended[lines] += 1
            self._mend_at(place, tried[distance] if mended[lines] < _MOST_MENDS_OF_LINE else _MOST_TRIES + 1)
        place = self.text.document.broken_above(self.stop)
        if place is not None:
            self.text.replace([(place, self.stop, b"")])

    def _mend_at(self, place: int, tries: int) -> None:
        start, context = self.text.document.statement_before(place)
        statements = self.statements()
        if not self.assumed.tables.offside:
            reading = statements.in_place(place, context.group)
            edits = reading.edits if reading is not None else ()
            self.text.replace(edits if edits and tries == 1 else statements.without(place))
            return
        if tries == 1 and start < self.stop and (edit := slip(statements, context, start)):
            self.text.replace([edit])
            return
        if tries == 1 and (closer := statements.lacking_closer(place)):
            self.text.replace([closer])
            return
        if tries == 1 and start < place and (opener := statements.lacking_opener(place)):
            self.text.replace([opener])
            return
        is_long = self.text.data.count(b"\n", start, place) > _MOST_LINES
        is_far = tries == 1 and (is_long or statements.is_unaligned(place, start))
        if is_far and (edits := self._mend_near(place, start)):
            self.text.replace(edits)
            return
        if tries > _MOST_TRIES:
            end = min(self.text.document.line_at(place).size + place, self.stop)
            self.text.replace([(place, end, b"")])
            return
        if tries == 1 and (edits := self._reopened(start) or with_line_before(statements, context, start)):
            self.text.replace(edits)
            return
        if tries == 1 and (edits := with_group_before(self.assumed, statements, context, start)):
            self.text.replace(edits)
            return
        reading = statements.read(start)
        if tries == _MOST_TRIES:
            edits = statements.passed(place).edits
        elif reading.edits or reading.lacks_header:
            edits = with_header(self.assumed, statements, reading)
        else:
            edits = laid_out(self.assumed, statements, context, reading)
        self.text.replace(edits)

    def _reopened(self, start: int) -> tuple[Edit, ...]:
        """The edits by which the line at *start* is in brackets that the line before it closes.

        Nothing unless it is deeper than where its logical line begins, and they are opened far above.
        """
        statements, document = self.statements(), self.text.document
        before, column = statements.line_before(start), statements.column_at(start)
        if before is None or column is None or statements.opened_at(before[0]) != before[0]:
            return ()
        context = document.statement_before(start)[1]
        is_deeper = column.deeper_than(context.frame.column) and context.opened(column) is None
        if not is_deeper or start >= self.stop or not statements.unmatched(before[0])[0]:
            return ()
        chart = document.left_at(before[0])[1].group
        found = statements.near(before[0], statements.unit(start).end, chart, ())
        return () if found is None else found.edits

    def _mend_near(self, place: int, start: int) -> tuple[Edit, ...]:
        """The edits that mend the line at *place*, in brackets, far behind the *start* of its logical line.

        Either it is outside the brackets that are open, and they are closed before it, or the lines from the
        last one on that is no deeper are read inside them, or this line alone.
        """
        statements = self.statements()
        line, units = statements.unit(place), self._units_near(place, start)
        layout = self.assumed.layout
        if statements.is_outside(place, start):
            text = layout.text_of(layout.left_before(units, line, outermost=True))
            read = units[-1].found.read
            return ((read[-1].end, read[-1].end, text),) if text and read else ()
        first = next((n for n in reversed(range(1, len(units))) if not is_deeper(units[n], line)), 0)
        if first and line.column is not None:
            chart = self.text.document.left_at(units[first].start)[1].group
            near = statements.near(units[first].start, line.end, chart, units[:first])
            if near is not None:
                return near.edits
        reading = statements.in_place(place, self.text.document.left_at(place)[1].group)
        return () if reading is None else reading.edits

    def _units_near(self, place: int, start: int) -> list[Unit]:
        """The line at *start*, and some lines before that at *place*."""
        statements, units = self.statements(), list[Unit]()
        for _ in range(_MOST_NEAR):
            before = statements.line_before(place)
            if before is None or before[0] <= start:
                break
            place = before[0]
            units.append(statements.unit(place))
        return [statements.unit(start), *reversed(units)]

    @property
    def depth(self) -> int:
        """How many brackets are open at the start of the cursor's line."""
        return self.text.document.left_at(self.stop)[1].modes.depth

    @cached_property
    def may_be_inside(self) -> bool:
        """Whether the layout allows that the cursor's line is in the brackets that are open before it."""
        start, _ = self.text.document.statement_before(self.stop)
        line, column = self.cursor_line(), self.column
        if start == self.stop or line.column is None or column is None or line.closes:
            return True
        if self._is_outside(line) or self.statements().is_header_left_open(start):
            return False
        if self.statements().is_unaligned(self.stop, start):
            return True
        if self._begins_behind_a_closer:
            return True
        if self.statements().hangs(start):
            return True
        below = self._below()
        after = below.next_line(below.begin)
        if after is None or after.column != line.column or not below.is_line(after.start):
            return line.column.deeper_than(column) or (self._is_blank and self._is_behind_deeper(column))
        return self._lacks_operand or self.statements(open_end=False).read_up_to(start).lacks_header

    @property
    def _lacks_operand(self) -> bool:
        """Whether the innermost bracket that is open before the cursor's line cannot be closed there."""
        context, tables = self.text.document.left_at(self.stop)[1], self.assumed.tables
        closing = tables.lexical.brackets.get(context.modes.shape)
        return closing is not None and not context.group.expects(
            tables.terminal_of[self.assumed.layout.closer(closing)[0]]
        )

    def _is_behind_deeper(self, column: Column) -> bool:
        """Whether the line before the cursor's is deeper than *column*, or ends with an open bracket."""
        before = self.statements().column_before(self.stop)
        return before is not None and before.deeper_than(column)

    @property
    def _is_blank(self) -> bool:
        """Whether nothing stands in the cursor's line, so that it may become a closing bracket."""
        lines, cursor_end = self.text.document.transitions.lines, self.text.cursor_end
        after = self.text.data[cursor_end : lines.end_of_stretch(self.text.data, cursor_end)]
        return not self.text.data[self.stop : self.text.cursor].strip() and not after.strip()

    @property
    def _begins_behind_a_closer(self) -> bool:
        """Whether the cursor is at the beginning of its line, and what follows it begins no line."""
        data, cursor, cursor_end = self.text.data, self.text.cursor, self.text.cursor_end
        if data[self.stop : cursor].strip():
            return False
        end = self.text.document.transitions.lines.end_of_stretch(data, cursor_end)
        read = lexemes(self.assumed.tables.lexical, data, cursor_end, end).read
        return bool(read) and not self.assumed.any_line.expects(self.assumed.tables.terminal_of[read[0].kind])

    def _is_outside(self, line: CursorLine) -> bool:
        """Whether the cursor's line begins as only lines outside brackets do, such as those around it."""
        if line.first is None:
            return False
        tables, modes = self.assumed.tables, self.text.document.left_at(self.stop)[1].modes
        first = tables.terminal_of[line.first]
        chart = self.text.document.left_at(self.stop)[1].group
        if modes.shape not in tables.lexical.brackets or chart.expects(first):
            return False
        return self.assumed.any_line.expects(first) and not self.assumed.inside(modes.shape).expects(first)

    def brackets(self) -> tuple[Brackets, ...]:
        """The brackets around the cursor's line, without those that it closes at its beginning.

        Nothing if there are none, or if its column contradicts that. Where the cursor precedes the closing
        ones, all of those around it come second, as the middle may open some.
        """
        start, _ = self.text.document.statement_before(self.stop)
        context = self.text.document.left_at(self.stop)[1]
        tables, closes = self.assumed.tables, self.cursor_line().closes
        if context.modes.depth <= len(closes) or not self.may_be_inside:
            return ()
        chart = tables.forward.read(context.group, tables.terminals(closes))
        found = Brackets(context.group, self.statements().units_from(start))
        if chart is None:
            return ()
        is_before = closes and not self.text.data[self.stop : self.text.cursor].strip()
        others = (found.after(context.group, (), self.stop),) if is_before else ()
        return found.after(chart, closes, self.stop), *others

    def lacking_column(self, text: MendedText | None = None) -> Column | None:
        """The first column to which the text below dedents although no open block has it; None: all have.

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
        """Whether the cursor's line may stand in its column, and all dedents below lead to open blocks."""
        start, context = self.text.document.statement_before(self.stop)
        if start != self.stop or self.cursor_line().column != context.frame.column:
            return False
        return bool(context.completed or context.group is context.start) and self.lacking_column() is None

    def missing_below(self, statements: Statements) -> tuple[Edit, ...]:
        """The edits that the lines below, read by *statements*, need to follow the cursor's line."""
        start, context = self.text.document.statement_before(self.stop)
        column = self.cursor_line().column if start == self.stop else self.column
        if not self.assumed.tables.offside or column is None:
            return ()
        return missing_below(self.assumed, statements, context, column)

    def changed(self, edits: Sequence[Edit]) -> Above:
        """A copy with these *edits* made."""
        found = Above(self.assumed, self.text.copy(), self._from_stop)
        cursor = self.text.cursor
        found.text.replace(edits)
        if any(end > self.stop for _, end, _ in edits):
            found._from_stop += found.text.cursor - cursor
        return found

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

    def _below(self) -> Statements:
        """The reader of the text below the cursor's line."""
        document = self.text.document
        lines, size = document.transitions.lines, len(document.data)
        begin = lines.end_of_stretch(document.data, self.text.cursor_end)
        return Statements(self.assumed, lines, document.data, size, begin=begin)

    def cursor_line(self) -> CursorLine:
        """What the layout tells of the line with the cursor."""
        data, cursor_end = self.text.data, self.text.cursor_end
        end = self.text.document.transitions.lines.end_of_stretch(data, cursor_end)
        before, after = data[self.stop : self.text.cursor], data[cursor_end:end]
        return cursor_line(self.assumed.tables, before, after)
