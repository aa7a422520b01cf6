"""Reads the lines of a broken text one by one, and compares their columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.line import Line, LineReader, unmatched_brackets
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.layout.cursor_line import CursorLine
from fimlsp.quotient.recovery.layout.lexemes import Lexemes, lexemes
from fimlsp.quotient.recovery.repairs.assumed import Assumed

_MOST_LINES_SEARCHED = 400
_MOST_BLANKS = 100
_MOST_LINES_ABOVE = 40
_LEAST_UNALIGNED = 4
LEAD = re.compile(rb"[ \t\f]*")


class NextLine(NamedTuple):
    """A line with code, its column, and its first terminal, None if nothing of it can be read."""

    start: int
    end: int
    column: Column
    first: int | None


class Lines:
    """The lines of *data* from *begin* to *stop*; with *open_end* the last one may go on.

    At *stop* the text ends; or a line begins of which only *then* is known, and the next is at *beyond*.
    With *ended_early* strings that are cut off end before the first mark (see `lexemes.py`).
    """

    def __init__(
        self,
        assumed: Assumed,
        lines: LineReader,
        data: bytes,
        stop: int,
        *,
        begin: int = 0,
        open_end: bool = False,
        then: CursorLine | None = None,
        beyond: int | None = None,
        ended_early: bool = False,
    ) -> None:
        self.assumed = assumed
        self.tables = assumed.tables
        self.lines = lines
        self.data = data
        self.stop = stop
        self.begin = begin
        self.open_end = open_end
        self.then = then
        self.beyond = beyond
        self.ended_early = ended_early

    def unit(self, start: int) -> Unit:
        """The line at *start*."""
        line = self.lines.read(self.data, start)
        end = start + line.size
        if line.broken and start < start + line.reach <= len(self.data):
            end = start + line.reach
        if end > self.stop or (line.broken and end > self.lines.end_of_stretch(self.data, start)):
            return self.physical(start)
        return self._joined(start, end)

    def physical(self, start: int) -> Unit:
        """The physical line at *start*, with those that line joiners join to it."""
        return self._joined(start, min(self.lines.end_of_stretch(self.data, start), self.stop))

    def _joined(self, start: int, end: int) -> Unit:
        """The text from *start* to *end*, with the lines that line joiners join to it."""
        unit = self._unit(start, end)
        while unit.found.joined and end < self.stop:
            end = min(self.lines.end_of_stretch(self.data, end), self.stop)
            unit = self._unit(start, end)
        return unit

    def _unit(self, start: int, end: int) -> Unit:
        found = self._lexemes(start, end)
        if not found.read and not found.unreadable:
            return Unit(start, end, None, found)
        lead = LEAD.match(self.data, start)
        assert lead is not None
        return Unit(start, end, Margin().after(lead.group()).counted, found)

    def unmatched(self, start: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The brackets that the line at *start* closes alone, and those that it leaves open."""
        kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in self.unit(start).found.read]
        return unmatched_brackets(self.tables.lexical.brackets, kinds)

    def _lexemes(self, start: int, end: int) -> Lexemes:
        text = self.data[start:end]
        key, known = (text, self.ended_early), self.assumed.lexemes
        if key not in known:
            ended_early = self.tables.may_follow if self.ended_early else None
            known[key] = lexemes(self.tables.lexical, text, 0, len(text), ended_early=ended_early)
        return known[key].shifted(start)

    def next_line(self, position: int) -> NextLine | None:
        """The next line with code from *position* on; None if there is none near."""
        for _ in range(_MOST_LINES_SEARCHED):
            if position >= len(self.data):
                return None
            line = self.lines.read(self.data, position)
            if line.column is not None:
                first = self.tables.terminal_of[line.kinds[0]]
                return NextLine(position, position + line.size, line.column, first)
            if line.broken:
                unit = self.physical(position)
                if unit.column is not None:
                    read = unit.found.read
                    begin = self.tables.terminal_of[read[0].kind] if read else None
                    return NextLine(position, unit.end, unit.column, begin)
                position = unit.end
            else:
                position += line.size
        return None

    def _opens(self, position: int, column: Column) -> bool | None:
        """Whether the line from *position* on is deeper than *column*; None if there is none."""
        after = self.next_line(position)
        if self.then is not None and (after is None or after.start >= self.stop):
            return None if self.then.column is None else self.then.column.deeper_than(column)
        return None if after is None else after.column.deeper_than(column)

    def units_from(self, start: int) -> list[Unit]:
        """The lines from *start* up to the end, at least one."""
        units = [self.unit(start)]
        while units[-1].end < self.stop:
            units.append(self.unit(units[-1].end))
        return units

    def closing_line(self, position: int) -> NextLine | None:
        """The first line from *position* on that closes a bracket opened before it; None if none is near."""
        depth = 0
        for _ in range(_MOST_LINES_SEARCHED):
            line = self.next_line(position)
            if line is None:
                return None
            closers, openers = self.unmatched(line.start)
            if len(closers) > depth:
                return line
            depth, position = depth + len(openers) - len(closers), line.end
        return None

    def is_aligned_with_before(self, start: int, begin: int) -> bool:
        """Whether the line at *start* begins with a closing bracket in the column of a line from *begin* on.

        That is the last line before it that is no deeper.
        """
        unit, before = self.unit(start), self.line_before(start)
        while before is not None and before[0] >= begin and unit.column is not None:
            if not before[1].deeper_than(unit.column):
                return before[1] == unit.column and self.assumed.layout.closes(unit)
            before = self.line_before(before[0])
        return False

    def begins_closing(self, line: NextLine) -> bool:
        """Whether *line* begins with a closing bracket."""
        return self.assumed.layout.closes(self.unit(line.start))

    def lacking_closer(self, start: int) -> tuple[int, int, bytes] | None:
        """The edit that adds the closing bracket that the line at *start* lacks, as its column tells.

        No line, in brackets or not, begins like it, and that of its column above ends with an open bracket.
        """
        unit = self.unit(start)
        if unit.column is None or not unit.found.read or not self._begins_nothing(unit):
            return None
        layout, position = self.assumed.layout, start
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        for _ in range(_MOST_LINES_ABOVE):
            if position <= 0:
                return None
            position = self.lines.start_of_stretch(self.data, position - 1)
            above = self.unit(position)
            if above.column is None or above.column.deeper_than(unit.column):
                continue
            opened = layout.left_open((above,))
            if not _may_be_closed_in(above.column, unit.column) or not opened or not opened[-1][1]:
                return None
            kind, text = layout.closer(opened[-1][0])
            pairs = pairwise((self.tables.terminal_of[kind], *symbols))
            return (unit.code, unit.code, text) if self.tables.neighbours.issuperset(pairs) else None
        return None

    def _begins_nothing(self, unit: Unit) -> bool:
        """Whether no line begins like *unit*, or with its first lexeme, in brackets or not."""
        first = self.tables.terminal_of[unit.found.read[0].kind]
        begins = self.assumed.any_line.expects(first) or first in self.assumed.in_brackets
        is_odd = self.tables.offside and not begins and not self.assumed.layout.closes(unit)
        return is_odd or self.is_hopeless(unit)

    def opened_at(self, start: int) -> int:
        """Where the line begins that opens what the line at *start* closes; itself if it closes nothing."""
        place, depth = start, len(self.unmatched(start)[0])
        for _ in range(_MOST_LINES_ABOVE):
            before = self.line_before(place) if depth > 0 else None
            if before is None:
                break
            place = before[0]
            closers, openers = self.unmatched(place)
            depth += len(closers) - len(openers)
        return start if depth > 0 else place

    def is_line(self, start: int) -> bool:
        """Whether the line at *start* is a whole logical line."""
        read = self.unit(start).found.read
        return self.assumed.is_line(self.tables.terminals([lexeme.kind for lexeme in read]))

    def is_outside_brackets(self, start: int) -> bool:
        """Whether the line at *start* begins as a logical line does, and not as one in brackets does."""
        return self.begins_line(self.unit(start))

    def begins_line(self, unit: Unit) -> bool:
        """Whether *unit* is a logical line, or the beginning of one that leaves a bracket open."""
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        chart = self.tables.forward.read(self.assumed.any_line, symbols) if symbols else None
        opens = self.tables.enclosures.unmatched(symbols)[1]
        return chart is not None and (opens or chart.expects(self.tables.newline))

    def is_hopeless(self, unit: Unit) -> bool:
        """Whether no valid line begins like *unit*, so that a repair is not worth while.

        Without a layout a line means nothing, so nothing tells that.
        """
        if not self.tables.offside:
            return False
        read = unit.found.read
        if not read:
            return bool(unit.found.unreadable)
        if self.tables.lexical.kinds[read[0].kind] in self.tables.opening_of:
            return False
        first = self.tables.terminal_of[read[0].kind]
        following = self.tables.terminal_of[read[1].kind] if len(read) > 1 else first
        expects = self.assumed.any_line.expects
        return not expects(first) and not expects(following)

    def is_outside(self, place: int, start: int) -> bool:
        """Whether the layout says that the line at *place* is not in brackets open since *start*."""
        unit = self.unit(place)
        if self.is_unaligned(place, start):
            return False
        return self._is_outside(unit, self.unit(start)) and not self.is_hopeless(unit)

    def is_unaligned(self, place: int, start: int) -> bool:
        """Whether many lines before *place*, in brackets open since *start*, are no deeper than it.

        Then columns tell nothing about these brackets.
        """
        units: list[Unit] = []
        for _ in range(2 * _LEAST_UNALIGNED):
            before = self.line_before(place)
            if before is None or before[0] <= start:
                break
            place = before[0]
            units.append(self.unit(place))
        return self.are_unaligned([self.unit(start), *units])

    def are_unaligned(self, units: Sequence[Unit]) -> bool:
        """Whether many of the last *units* are no deeper than the first, which opens brackets around them."""
        column = units[0].column or Column()
        last = [unit for unit in units[1:] if unit.column is not None][-2 * _LEAST_UNALIGNED :]
        count = sum(
            not (unit.column or column).deeper_than(column) and not self.assumed.layout.closes(unit)
            for unit in last
        )
        return count >= _LEAST_UNALIGNED

    def _is_outside(self, unit: Unit, first: Unit) -> bool:
        """Whether the layout says that *unit* is not in brackets that *first* left open."""
        if unit.column is None or not unit.found.read:
            return False
        assert first.column is not None
        begin = self.tables.terminal_of[unit.found.read[0].kind]
        if begin not in self.assumed.in_brackets:
            return True
        kind = self.tables.lexical.kinds[unit.found.read[0].kind]
        return not unit.column.deeper_than(first.column) and kind not in self.tables.opening_of

    def hangs(self, start: int) -> bool:
        """Whether a bracket left open since *start* was the last lexeme of its line."""
        opened = self.assumed.layout.left_open(self.units_from(start) if start < self.stop else ())
        return any(is_last for _, is_last in opened)

    def is_header_left_open(self, start: int) -> bool:
        """Whether the line at *start* is a header but for the brackets that it leaves open."""
        unit, layout = self.unit(start), self.assumed.layout
        opened = [closing for closing, _ in layout.left_open((unit,))]
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        if not opened or symbols[-1] not in self.assumed.ends.of_headers:
            return False
        closers = self.tables.terminals([layout.closer(closing)[0] for closing in reversed(opened)])
        chart = self.tables.forward.read(
            self.assumed.any_line, (*symbols[:-1], *closers, symbols[-1], self.tables.newline)
        )
        return chart is not None and any(map(chart.expects, self.tables.suites))

    def column_before(self, start: int) -> Column | None:
        """The column of the last line with code before *start*; None if there is none near."""
        line = self.line_before(start)
        return None if line is None else line[1]

    def line_before(self, start: int) -> tuple[int, Column] | None:
        """Where the last line with code before *start* begins, and its column; None if there is none near."""
        found = self._line_before(start)
        return None if found is None or found[1].column is None else (found[0], found[1].column)

    def _line_before(self, start: int) -> tuple[int, Line] | None:
        for _ in range(_MOST_BLANKS):
            if start <= self.begin:
                return None
            start = self.lines.start_of_stretch(self.data, start - 1)
            line = self.lines.read(self.data, start)
            if line.column is not None:
                return start, line
        return None

    @property
    def then_first(self) -> int | None:
        """The first terminal of the line at `stop`, None if it is unknown."""
        first = None if self.then is None else self.then.first
        return None if first is None else self.tables.terminal_of[first]

    def column_at(self, start: int) -> Column | None:
        """The column of the line at *start*, or of the next one if it is blank; None if none is near."""
        if start == self.stop and self.then is not None:
            return self.then.column
        line = self.next_line(start)
        return None if line is None else line.column

    def column_after(self, position: int, column: Column) -> Column | None:
        """The column of the next line that is not deeper than *column*; None if there is none near."""
        for _ in range(_MOST_LINES_SEARCHED):
            line = self.next_line(position)
            then = None if self.then is None else self.then.column
            is_next = position <= self.stop and (line is None or line.start >= self.stop)
            if is_next and then is not None and not then.deeper_than(column):
                return then
            if line is None or not line.column.deeper_than(column):
                return None if line is None else line.column
            position = line.end
        return None

    def beginning(self, start: int) -> tuple[Column | None, int | None]:
        """The column of the line at *start*, which may be the cursor's, and its first terminal, if known."""
        if start >= self.stop:
            return None if self.then is None else self.then.column, self.then_first
        unit = self.unit(start)
        return unit.column, self.tables.terminal_of[unit.found.read[0].kind] if unit.found.read else None

    def clause_after(self, position: int, column: Column) -> int | None:
        """The first terminal of the next line of *column*; None if a shallower one comes before it."""
        for _ in range(_MOST_LINES_SEARCHED):
            line = self.next_line(position)
            then = None if self.then is None else self.then.column
            is_next = position <= self.stop and (line is None or line.start >= self.stop)
            if is_next and then is not None and not then.deeper_than(column):
                return self.then_first if then == column else None
            if line is None:
                return None
            if not line.column.deeper_than(column):
                return line.first if line.column == column else None
            position = line.end
        return None


def _may_be_closed_in(opening: Column, column: Column) -> bool:
    """Whether a line of *column* begins with the closer of one of *opening*, or with what follows it."""
    return column in (opening, opening._replace(tabs1=opening.tabs1 + 1, tabs8=opening.tabs8 + 1))
