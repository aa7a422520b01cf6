"""Lines of a broken text: their columns and brackets, and which of them belong to one logical line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import islice, pairwise
from typing import TYPE_CHECKING, NamedTuple

from fimlsp.lexing.line import Line, LineReader, unmatched_brackets
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.bracket_layout import Unit, is_deeper, passed_over
from fimlsp.quotient.recovery.lexemes import (
    CursorLine,
    Lexeme,
    Lexemes,
    column_of,
    indentation_at,
    lexemes,
)

if TYPE_CHECKING:
    from typing_extensions import Self

MOST_UNITS = 40
_MOST_OWN_LINES = 3
_MOST_SEARCHED = 100
_MOST_LINES_SEARCHED = 400
_MOST_BLANK = 100
_MOST_LINES_ABOVE = 40
_LEAST_UNALIGNED = 4


class NextLine(NamedTuple):
    """A line with code, its column, and its first terminal, None if it has no readable lexeme."""

    start: int
    end: int
    column: Column
    first: int | None


class Lines:
    """The lines of *data* from *begin* to *stop*; with *open_end* the last one may continue.

    At *stop* the text ends, or a line starts of which only *then* is known, and the next one is at *beyond*.
    With *ended_early* strings that are cut off end before the first mark (see `lexemes.py`).
    """

    def __init__(
        self,
        assumed: AssumedText,
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
        self.modes: ModeStack | None = None

    def in_modes(self, modes: ModeStack) -> Self:
        """The same lines, each of them read from these *modes* on."""
        twin = copy(self)
        twin.modes = modes
        return twin

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
        unit = self.unit_of(start, end)
        while unit.lexemes.joined and end < self.stop:
            end = min(self.lines.end_of_stretch(self.data, end), self.stop)
            unit = self.unit_of(start, end)
        return unit

    def unit_of(self, start: int, end: int) -> Unit:
        """The text from *start* to *end* as a line."""
        reading = self._lexemes(start, end)
        if not reading.read and not reading.unreadable:
            return Unit(start, end, None, reading)
        return Unit(start, end, column_of(indentation_at(self.data, start)), reading)

    def _lexemes(self, start: int, end: int) -> Lexemes:
        text = self.data[start:end]
        key, known = (text, self.ended_early, self.modes), self.assumed.lexemes
        if key not in known:
            ended_early = self.tables.may_follow if self.ended_early else None
            lexical = self.tables.lexical
            known[key] = lexemes(lexical, text, 0, len(text), ended_early=ended_early, modes=self.modes)
        return known[key].shifted(start)

    def units_between(self, start: int, end: int) -> list[Unit]:
        """The lines from *start* to *end*."""
        units: list[Unit] = []
        while start < end:
            units.append(self.unit(start))
            start = units[-1].end
        return units

    def units_from(self, start: int) -> list[Unit]:
        """The lines from *start* up to the end, at least one."""
        units = [self.unit(start)]
        while units[-1].end < self.stop:
            units.append(self.unit(units[-1].end))
        return units

    def next_line(self, position: int) -> NextLine | None:
        """The next line with code from *position* on; None if there is none near."""
        for _ in range(_MOST_LINES_SEARCHED):
            if position >= len(self.data):
                return None
            line = self.lines.read(self.data, position)
            if line.kinds and line.column is not None:
                first = self.tables.terminal_of[line.kinds[0]]
                return NextLine(position, position + line.size, line.column, first)
            if line.broken or line.column is not None:
                unit = self.physical(position)
                if unit.column is not None:
                    return NextLine(position, unit.end, unit.column, self.first_terminal(unit))
                position = unit.end
            else:
                position += line.size
        return None

    def next_hopeful(self, position: int) -> NextLine | None:
        """The next line with code from *position* on that may start like a valid one."""
        line = self.next_line(position)
        while line is not None and self.is_hopeless(self.unit(line.start)):
            line = self.next_line(line.end)
        return line

    def line_before(self, start: int) -> tuple[int, Column] | None:
        """The start and the column of the last line with code before *start*; None if there is none near."""
        before = self._line_before(start)
        return None if before is None or before[1].column is None else (before[0], before[1].column)

    def _line_before(self, start: int) -> tuple[int, Line] | None:
        for _ in range(_MOST_BLANK):
            if start <= self.begin:
                return None
            start = self.lines.start_of_stretch(self.data, start - 1)
            line = self.lines.read(self.data, start)
            if line.column is not None:
                return start, line
        return None

    def terminals_of(self, unit: Unit) -> tuple[int, ...]:
        """The terminals of *unit*."""
        return self.tables.terminals([lexeme.kind for lexeme in unit.read])

    def first_terminal(self, unit: Unit) -> int | None:
        """The first terminal of *unit*; None if it has no readable lexeme."""
        return self.tables.terminal_of[unit.read[0].kind] if unit.read else None

    @property
    def then_first(self) -> int | None:
        """The first terminal of the line at `stop`; None if it is unknown."""
        first = None if self.then is None else self.then.first
        return None if first is None else self.tables.terminal_of[first]

    # Columns

    def column_before(self, start: int) -> Column | None:
        """The column of the last line with code before *start*; None if there is none near."""
        line = self.line_before(start)
        return None if line is None else line[1]

    def column_at(self, start: int) -> Column | None:
        """The column of the line at *start*, or of the next one with code; None if there is none near."""
        if start == self.stop and self.then is not None:
            return self.then.column
        line = self.next_line(start)
        return None if line is None else line.column

    def column_after(self, position: int, column: Column) -> Column | None:
        """The column of the next line that is not deeper than *column*; None if there is none near."""
        line = self._next_not_deeper(position, column)
        return None if line is None else line[0]

    def clause_after(self, position: int, column: Column) -> int | None:
        """The first terminal of the next line of *column*; None if a shallower one comes before it."""
        line = self._next_not_deeper(position, column)
        return None if line is None or line[0] != column else line[1]

    def _next_not_deeper(self, position: int, column: Column) -> tuple[Column, int | None] | None:
        """The column and first terminal of the next line that is not deeper; None if there is none near."""
        for _ in range(_MOST_LINES_SEARCHED):
            line = self.next_line(position)
            then = None if self.then is None else self.then.column
            is_next = position <= self.stop and (line is None or line.start >= self.stop)
            if is_next and then is not None and not then.deeper_than(column):
                return then, self.then_first
            if line is None:
                return None
            if not line.column.deeper_than(column):
                return line.column, line.first
            position = line.end
        return None

    def start_of(self, start: int) -> tuple[Column | None, int | None]:
        """The column of the line at *start*, which may be the cursor's, and its first terminal, if known."""
        if start >= self.stop:
            return None if self.then is None else self.then.column, self.then_first
        unit = self.unit(start)
        return unit.column, self.first_terminal(unit)

    def _opens(self, position: int, column: Column) -> bool | None:
        """True if the line from *position* on is deeper than *column*; None if there is none."""
        after = self.next_line(position)
        if self.then is not None and (after is None or after.start >= self.stop):
            return None if self.then.column is None else self.then.column.deeper_than(column)
        return None if after is None else after.column.deeper_than(column)

    # Kinds of lines

    def is_line(self, start: int) -> bool:
        """True if the line at *start* is a whole logical line."""
        return self.assumed.is_line(self.terminals_of(self.unit(start)))

    def starts_statement(self, unit: Unit) -> bool:
        """True if *unit* is a logical line, or the start of one that leaves a bracket open."""
        symbols = self.terminals_of(unit)
        chart = self.tables.forward.read(self.assumed.any_line, symbols) if symbols else None
        opens = self.tables.enclosures.unmatched(symbols)[1]
        return chart is not None and (opens or chart.expects(self.tables.newline))

    def is_hopeless(self, unit: Unit) -> bool:
        """True if no valid line starts like *unit*, so that a repair is not worth while.

        False without a layout, as lines mean nothing there.
        """
        if not self.tables.offside:
            return False
        read = unit.read
        if not read:
            return bool(unit.lexemes.unreadable)
        if self.tables.lexical.kinds[read[0].kind] in self.tables.opening_of:
            return False
        first = self.tables.terminal_of[read[0].kind]
        following = self.tables.terminal_of[read[1].kind] if len(read) > 1 else first
        expects = self.assumed.any_line.expects
        return not expects(first) and not expects(following)

    def is_part(self, unit: Unit) -> bool:
        """True if *unit* ends as lines in brackets do, with a comma."""
        return self.data[unit.code_end - 1 : unit.code_end] == b","

    def ends_header(self, unit: Unit) -> bool:
        """True if *unit* ends as headers end."""
        read = unit.read
        return bool(read) and self.tables.terminal_of[read[-1].kind] in self.assumed.ends.of_headers

    def is_header_left_open(self, start: int) -> bool:
        """True if the line at *start* is a header but for the brackets that it leaves open."""
        unit, layout = self.unit(start), self.assumed.layout
        opened = [closing for closing, _ in layout.left_open((unit,))]
        symbols = self.terminals_of(unit)
        if not opened or symbols[-1] not in self.assumed.ends.of_headers:
            return False
        closers = self.tables.terminals([layout.closer(closing)[0] for closing in reversed(opened)])
        chart = self.tables.forward.read(
            self.assumed.any_line, (*symbols[:-1], *closers, symbols[-1], self.tables.newline)
        )
        return chart is not None and any(map(chart.expects, self.tables.suites))

    # Brackets

    def unmatched(self, start: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The closing brackets without partner in the line at *start*, and the opening ones."""
        return self._unmatched_in(self.unit(start))

    def _unmatched_in(self, unit: Unit) -> tuple[tuple[str, ...], tuple[str, ...]]:
        kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in unit.read]
        return unmatched_brackets(self.tables.lexical.brackets, kinds)

    def starts_closing(self, line: NextLine) -> bool:
        """True if *line* starts with a closing bracket."""
        return self.assumed.layout.starts_with_closer(self.unit(line.start))

    def closing_line(self, position: int) -> NextLine | None:
        """The first line from *position* on that closes a bracket opened before; None if none is near."""
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

    def opening_line(self, start: int) -> int:
        """The start of the line that opens the brackets closed at *start*; *start* if there are none."""
        opening, depth = start, len(self.unmatched(start)[0])
        for _ in range(_MOST_LINES_ABOVE):
            before = self.line_before(opening) if depth > 0 else None
            if before is None:
                break
            opening = before[0]
            closers, openers = self.unmatched(opening)
            depth += len(closers) - len(openers)
        return start if depth > 0 else opening

    def is_aligned_with_before(self, start: int, begin: int) -> bool:
        """True if the line at *start* begins with a closing bracket in the column of a line from *begin* on.

        That is the last line before it that is no deeper.
        """
        unit, before = self.unit(start), self.line_before(start)
        while before is not None and before[0] >= begin and unit.column is not None:
            if not before[1].deeper_than(unit.column):
                return before[1] == unit.column and self.assumed.layout.starts_with_closer(unit)
            before = self.line_before(before[0])
        return False

    def hangs(self, start: int) -> bool:
        """True if a bracket left open since *start* was the last lexeme of its line."""
        opened = self.assumed.layout.left_open(self.units_from(start) if start < self.stop else ())
        return any(is_last for _, is_last in opened)

    def is_outside(self, position: int, start: int) -> bool:
        """True if the line at *position* is not in brackets open since *start*, by its column."""
        unit = self.unit(position)
        if self.is_unaligned(position, start):
            return False
        return self._is_outside(unit, self.unit(start)) and not self.is_hopeless(unit)

    def _is_outside(self, unit: Unit, first: Unit) -> bool:
        """True if *unit* is not in brackets that *first* left open, by its column and first lexeme."""
        if unit.column is None or not unit.read:
            return False
        assert first.column is not None
        if self.tables.terminal_of[unit.read[0].kind] not in self.assumed.in_brackets:
            return True
        kind = self.tables.lexical.kinds[unit.read[0].kind]
        return not unit.column.deeper_than(first.column) and kind not in self.tables.opening_of

    def is_unaligned(self, position: int, start: int) -> bool:
        """True if many lines before *position*, in brackets open since *start*, are no deeper than it.

        Columns mean nothing in such brackets.
        """
        units: list[Unit] = []
        for _ in range(2 * _LEAST_UNALIGNED):
            before = self.line_before(position)
            if before is None or before[0] <= start:
                break
            position = before[0]
            units.append(self.unit(position))
        return self.are_unaligned([self.unit(start), *units])

    def are_unaligned(self, units: Sequence[Unit]) -> bool:
        """True if many of the last *units* are no deeper than the first, which opens brackets around them."""
        column = units[0].column or Column()
        last = [unit for unit in units[1:] if unit.column is not None][-2 * _LEAST_UNALIGNED :]
        count = sum(
            not (unit.column or column).deeper_than(column)
            and not self.assumed.layout.starts_with_closer(unit)
            for unit in last
        )
        return count >= _LEAST_UNALIGNED


class Extent(NamedTuple):
    """The lines that may belong to a logical line, and the numbers of them that it may have.

    It may continue at the end if `is_open`. `lacking` is a bracket that is closed beyond these lines and
    opened in none of them. `closing` are the first of these lines up to one that no line starts like, but
    that stands where their closing bracket would.
    """

    units: list[Unit]
    ends: list[int]
    is_open: bool = False
    lacking: str | None = None
    closing: tuple[Unit, ...] = ()


class LogicalLines(Lines):
    """Finds the extents of logical lines with unmatched brackets.

    One that leaves brackets open ends before the first line that is not deeper, or that starts with a lexeme
    which never stands in brackets. One that closes a bracket without opening it extends to the closer.
    """

    def extent(self, first: Unit) -> Extent:
        """The extent of the logical line that starts with *first*."""
        units, closing = [first], tuple[Unit, ...]()
        while (depth := len(self.assumed.layout.left_open(units))) and len(units) < MOST_UNITS:
            if units[-1].end >= self.stop:
                is_open = self.open_end and self._may_go_on(first)
                ends = {1, len(units), *islice(self._own_lines(units), _MOST_OWN_LINES)}
                return Extent(units, sorted(ends), is_open, closing=closing)
            unit = self.unit(units[-1].end)
            if self._is_outside(unit, first):
                if not self.is_hopeless(unit):
                    break
                if unit.column == first.column and unit.read and not closing:
                    closing = (*units, unit)
                unit = passed_over(unit)
            units.append(unit)
        if depth:
            is_cut = len(units) == MOST_UNITS and not self._is_outside(self.unit(units[-1].end), first)
            ends = {1, min(2, len(units)), len(units), *islice(self._own_lines(units), _MOST_OWN_LINES)}
            return Extent(units, sorted(ends), is_cut, closing=closing)
        return self._extent_to_closer(units, first)

    def _extent_to_closer(self, units: list[Unit], first: Unit) -> Extent:
        """The extent from *units*, which leave no bracket open, to lines that close one."""
        ends = {len(units)}
        while units[-1].end < self.stop and self._ends_brackets(unit := self.unit(units[-1].end), first):
            units.append(unit)
            ends.add(len(units))
        further, lacking = self._further(units, first)
        units += further
        ends.add(len(units))
        return Extent(units, sorted(ends), lacking is not None and self.open_end, lacking)

    def lacks_opener(self, start: int) -> bool:
        """True if the line at *start* lacks a bracket that is closed beyond the one with the cursor."""
        return self.extent(self.unit(start)).lacking is not None

    def is_closed_beyond(self, units: Sequence[Unit]) -> bool:
        """True if the bracket at the end of the first of *units* is closed after them, by columns."""
        opened = self.assumed.layout.left_open(units[:1])
        if not opened or not opened[-1][1]:
            return False
        closing = self.closed_far(units[-1].end, units[0])
        return closing is not None and self.tables.lexical.brackets[closing] == opened[-1][0]

    def _own_lines(self, units: Sequence[Unit]) -> Iterator[int]:
        """The numbers of those of *units* but the first that start as logical lines do.

        The likelier come first: those that end as headers end, and those that are less deep than the line
        before them.
        """
        coded = [number for number, unit in enumerate(units) if unit.column is not None]
        less_deep = [b for a, b in pairwise(coded) if is_deeper(units[a], units[b])]
        headers = [number for number in coded[1:] if self.ends_header(units[number])]
        likely = [*headers, *(number for number in less_deep if number not in headers)]
        for number in (*likely, *(number for number in coded[1:] if number not in likely)):
            if units[number].read and self.starts_statement(units[number]):
                yield number

    def _further(self, units: Sequence[Unit], first: Unit) -> tuple[list[Unit], str | None]:
        """The deeper lines that follow, up to one that closes a bracket not opened in them, if any.

        If it is closed beyond the line with the cursor, also the kind of that bracket.
        """
        further: list[Unit] = []
        depth = outer = 0
        end = self.stop
        for unit, is_beyond in self._lines_from(units[-1].end):
            if not is_beyond or unit.start == self.stop:
                outer = depth
            if unit.column is not None:
                if not unit.read or self._is_outside(unit, first):
                    break
                of_middle = is_beyond and depth <= outer and self._may_follow_opener(unit)
                closers, openers = self._unmatched_in(unit)
                if unit.column == first.column and self.assumed.layout.starts_with_closer(unit):
                    depth = 0  # whatever is open in the lines above
                if len(closers) > depth + of_middle:
                    lacking = self.tables.opening_of[closers[depth]]
                    return (further, lacking) if is_beyond else ([*further, unit], None)
                depth = max(depth - len(closers), 0) + len(openers)
                if not unit.column.deeper_than(first.column or Column()):
                    break
            further += () if is_beyond else (unit,)
            end, outer = unit.end, min(outer, depth)
        else:
            if lacking_far := self.closed_far(end, first):
                return further, lacking_far
        return [], None

    def closed_far(self, position: int, first: Unit) -> str | None:
        """The bracket that the next line no deeper than *first* closes, if it has the same column."""
        below, column = self._below, first.column or Column()
        for _ in range(_MOST_LINES_SEARCHED):
            line = below.next_line(position)
            if line is None:
                return None
            if not line.column.deeper_than(column):
                unit = below.unit(line.start)
                kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in unit.read[:1]]
                return self.tables.opening_of.get(kinds[0]) if kinds and line.column == column else None
            position = line.end
        return None

    @property
    def _below(self) -> Lines:
        """The lines of the whole text, also beyond the line with the cursor."""
        return Lines(self.assumed, self.lines, self.data, len(self.data))

    def _may_follow_opener(self, unit: Unit) -> bool:
        """True if *unit*, below the cursor's line, may be in a bracket that this line opens."""
        then = self.then
        if then is None or then.column is None or unit.column is None or unit.end == self.stop:
            return False
        column = then.column
        if not then.may_open and not then.opens:
            return False
        return unit.column.deeper_than(column) or (
            unit.column == column and self.assumed.layout.starts_with_closer(unit)
        )

    def _lines_from(self, position: int) -> Iterator[tuple[Unit, bool]]:
        """Some lines from *position* on, each with True if it is that with the cursor, or beyond it.

        The cursor's line consists of the brackets that it closes at its start, and of those that it leaves
        open, if any.
        """
        count = 0
        while position < self.stop and count < _MOST_SEARCHED:
            yield (unit := self.unit(position)), False
            position, count = unit.end, count + 1
        then = self.then
        if then is not None and (then.closes or then.opens) and position == self.stop:
            brackets = tuple(Lexeme(kind, position, position) for kind in (*then.closes, *then.opens))
            yield Unit(position, position, then.column, Lexemes(brackets, (), joined=False)), True
        if self.beyond is None:
            return
        below, position = self._below, self.beyond
        while position < len(self.data) and count < _MOST_SEARCHED:
            yield (unit := below.unit(position)), True
            position, count = unit.end, count + 1

    def _may_go_on(self, first: Unit) -> bool:
        """True if the line at `stop` may be in brackets that *first* left open, by its column."""
        then = self.then
        if then is None or then.column is None or then.closes or first.column is None:
            return True
        return then.column.deeper_than(first.column) or self.hangs(first.start)

    def _ends_brackets(self, unit: Unit, first: Unit) -> bool:
        """True if *unit* starts like the last line of brackets that *first* opens."""
        if unit.column is None or first.column is None:
            return False
        return self.assumed.layout.starts_with_closer(unit) and not first.column.deeper_than(unit.column)
