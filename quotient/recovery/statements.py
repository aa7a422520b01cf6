"""Reads the logical line at a place as the valid one that it most nearly is, and decides where it ends.

Where brackets are left open, the layout decides: the logical line ends before the first line that is not
deeper, or that begins with a lexeme which never stands in brackets; or at the end of its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.line import Line, LineReader, unmatched_brackets
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.cursor_line import CursorLine
from fimlsp.quotient.recovery.headers import Assumed
from fimlsp.quotient.recovery.layout import Unit
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, lexemes
from fimlsp.quotient.recovery.line_ends import INSERTED
from fimlsp.quotient.recovery.repairs import PASSED, PASSED_LINE, Repair, Search

Edit = tuple[int, int, bytes]
"""A span of a text, and what it is replaced by."""

_MOST_UNITS = 40
_MOST_LINES_SEARCHED = 400
_MOST_BLANKS = 10
_MOST_RATED = 8
_MISALIGNED = 15
"""What it costs if a line in brackets is not deeper than the one that opened them."""
_LEAD = re.compile(rb"[ \t\f]*")


class NextLine(NamedTuple):
    """A line with code, its column, and its first terminal, None if nothing of it can be read."""

    start: int
    end: int
    column: Column
    first: int | None


class Reading(NamedTuple):
    """How the logical line from `start` to `end` is read: the `edits` that make it valid, and their cost.

    `passed` means that no repair was found, so that all of it is passed over. `lacks_header` means that the
    lines after it are deeper although it is no header.
    """

    cost: int
    start: int
    end: int
    column: Column
    edits: tuple[Edit, ...]
    passed: bool = False
    lacks_header: bool = False


class Brackets(NamedTuple):
    """What is open in brackets at a line start: the set there, and the lines since the logical one began."""

    chart: EarleySet
    above: Sequence[Unit]


class Statements:
    """Reads the logical lines of *data* from *begin* to *stop*; with *open_end* the last one may go on.

    At *stop* the text ends, or a line begins of which only *then* is known, and the next one begins *beyond*.
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

    def read(self, start: int) -> Reading:
        """The cheapest reading of the logical line at the line start *start*."""
        first = self.unit(start)
        if first.column is None:
            return Reading(0, start, first.end, Column(), ())
        found = self._read(first)
        if found.cost and first.end > self.lines.end_of_stretch(self.data, start):
            other = self._read(self._physical(start))
            if other.cost + INSERTED < found.cost:
                return other
        return found

    def read_up_to(self, start: int) -> Reading:
        """The reading of the lines from *start* up to the end as one logical line."""
        units = self.units_from(start)
        if units[0].column is None:
            return Reading(0, start, units[-1].end, Column(), ())
        return self._repaired(units, is_open=self.open_end) or self._passed(units[0])

    def _read(self, first: Unit) -> Reading:
        units, ends, is_open, lacking = self._units(first)
        if self.is_hopeless(first):
            return self._passed(first)
        best: Reading | None = None
        for count in ends:
            extra = self._cost_of(units[count:])
            is_all = count == len(units)
            for variant, more in self._variants(units[:count], lacking if is_all else None):
                found = self._repaired(variant, is_open=is_open and is_all)
                if found is not None and (best is None or found.cost + more + extra < best.cost):
                    best = found._replace(cost=found.cost + more + extra)
        return best or self._passed(units[0])

    def _variants(self, units: list[Unit], lacking: str | None) -> Iterator[tuple[list[Unit], int]]:
        """*units*, and the same with brackets where the layout says that they lack; with what each costs.

        A bracket of the kind *lacking* is closed after them.
        """
        layout = self.assumed.layout
        closed, count = layout.closed(units)
        yield units, _MISALIGNED * count
        if count:
            yield closed, 0
        if len(units) > 1 and (opened := layout.opened(units)) is not None:
            yield opened, 0
        if lacking is not None:
            yield layout.with_opener(units, lacking), 0

    def _cost_of(self, units: Sequence[Unit]) -> int:
        """What it costs that these lines are statements of their own."""
        cost = 0
        for unit in units[:_MOST_RATED]:
            if unit.column is not None:
                symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
                cost += 0 if self.assumed.is_line(symbols) else PASSED
        return cost

    def _units(self, first: Unit) -> tuple[list[Unit], list[int], bool, str | None]:
        """The lines that may belong to it, how many of them it may have, and whether it may go on.

        Last, the bracket that is closed later and that none of them opens.
        """
        units = [first]
        while (depth := self._depth(units)) and len(units) < _MOST_UNITS:
            if units[-1].end >= self.stop:
                return units, sorted({1, len(units)}), self.open_end and self._may_go_on(first), None
            unit = self.unit(units[-1].end)
            if self._is_outside(unit, first):
                if not self.is_hopeless(unit):
                    break
                unit = unit._replace(found=Lexemes((), ((unit.code, unit.content),), joined=False))
            units.append(unit)
        if depth:
            return units, sorted({1, min(2, len(units)), len(units)}), False, None
        ends = {len(units)}
        while units[-1].end < self.stop and self._closes(unit := self.unit(units[-1].end), first):
            units.append(unit)
            ends.add(len(units))
        further, lacking = self._further(units, first)
        units += further
        ends.add(len(units))
        return units, sorted(ends), lacking is not None and self.open_end, lacking

    def _further(self, units: Sequence[Unit], first: Unit) -> tuple[list[Unit], str | None]:
        """The deeper lines that follow, if they close a bracket that nothing here opens, up to that.

        If it is closed beyond the line with the cursor, also the kind of that bracket.
        """
        found: list[Unit] = []
        depth = 0
        for unit, is_beyond in self._lines_from(units[-1].end):
            if unit.column is not None:
                if not unit.found.read or self._is_outside(unit, first):
                    break
                kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in unit.found.read]
                closers, openers = unmatched_brackets(self.tables.lexical.brackets, kinds)
                if len(closers) > depth:
                    return (
                        (found, self.tables.opening_of[closers[depth]])
                        if is_beyond
                        else ([*found, unit], None)
                    )
                depth += len(openers) - len(closers)
                if not unit.column.deeper_than(first.column or Column()):
                    break
            found += () if is_beyond else (unit,)
        return [], None

    def _lines_from(self, place: int) -> Iterator[tuple[Unit, bool]]:
        """Some lines from *place* on, and whether they are beyond the one with the cursor."""
        count = 0
        while place < self.stop and count < _MOST_UNITS:
            yield (unit := self.unit(place)), False
            place, count = unit.end, count + 1
        if self.beyond is None:
            return
        below = Statements(self.assumed, self.lines, self.data, len(self.data))
        place = self.beyond
        while place < len(self.data) and count < _MOST_UNITS:
            yield (unit := below.unit(place)), True
            place, count = unit.end, count + 1

    def hangs(self, start: int) -> bool:
        """Whether the innermost bracket that is open at the end since *start* was the last of its line."""
        opened: list[bool] = []
        while start < self.stop:
            unit = self.unit(start)
            for lexeme in unit.found.read:
                kind = self.tables.lexical.kinds[lexeme.kind]
                if kind in self.tables.lexical.brackets:
                    opened.append(lexeme is unit.found.read[-1])
                elif kind in self.tables.opening_of and opened:
                    opened.pop()
            start = unit.end
        return bool(opened) and opened[-1]

    def _may_go_on(self, first: Unit) -> bool:
        """Whether the layout allows that the line at `stop` is in brackets that *first* left open."""
        then = self.then
        if then is None or then.column is None or then.closes or first.column is None:
            return True
        return then.column.deeper_than(first.column)

    def _closes(self, unit: Unit, first: Unit) -> bool:
        """Whether *unit* begins as the last line of brackets does that *first* opens."""
        if unit.column is None or not unit.found.read or first.column is None:
            return False
        kind = self.tables.lexical.kinds[unit.found.read[0].kind]
        return kind in self.tables.opening_of and not first.column.deeper_than(unit.column)

    def is_line(self, start: int) -> bool:
        """Whether the line at *start* is a whole logical line."""
        read = self.unit(start).found.read
        return self.assumed.is_line(self.tables.terminals([lexeme.kind for lexeme in read]))

    def is_hopeless(self, unit: Unit) -> bool:
        """Whether no line begins as *unit* does, so that it is not worth a repair."""
        read = unit.found.read
        if not read:
            return bool(unit.found.unreadable)
        if self.tables.lexical.kinds[read[0].kind] in self.tables.opening_of:
            return False
        first = self.tables.terminal_of[read[0].kind]
        following = self.tables.terminal_of[read[1].kind] if len(read) > 1 else first
        expects = self.assumed.any_line.expects
        return not expects(first) and not expects(following)

    def _depth(self, units: list[Unit]) -> int:
        kinds = self.tables.lexical.kinds
        return len(
            unmatched_brackets(
                self.tables.lexical.brackets,
                (kinds[lexeme.kind] for unit in units for lexeme in unit.found.read),
            )[1]
        )

    def is_outside(self, place: int, start: int) -> bool:
        """Whether the layout says that the line at *place* is not in brackets open since *start*."""
        unit = self.unit(place)
        return self._is_outside(unit, self.unit(start)) and not self.is_hopeless(unit)

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

    def unit(self, start: int) -> Unit:
        """The line at *start*."""
        line = self.lines.read(self.data, start)
        end = start + line.size
        if line.broken and start < start + line.reach <= len(self.data):
            end = start + line.reach
        if end > self.stop or (line.broken and end > self.lines.end_of_stretch(self.data, start)):
            return self._physical(start)
        return self._unit(start, end)

    def _physical(self, start: int) -> Unit:
        """The physical line at *start*, with those that line joiners join to it."""
        end = min(self.lines.end_of_stretch(self.data, start), self.stop)
        unit = self._unit(start, end)
        while unit.found.joined and end < self.stop:
            end = min(self.lines.end_of_stretch(self.data, end), self.stop)
            unit = self._unit(start, end)
        return unit

    def _unit(self, start: int, end: int) -> Unit:
        found = lexemes(self.tables.lexical, self.data, start, end)
        if not found.read and not found.unreadable:
            return Unit(start, end, None, found)
        lead = _LEAD.match(self.data, start)
        assert lead is not None
        return Unit(start, end, Margin().after(lead.group()).counted, found)

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
                unit = self._physical(position)
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

    def in_place(self, start: int, chart: EarleySet, *, backward: bool = False) -> Reading | None:
        """The line at *start* in what is open beside it: before it at *chart*, or behind if *backward*."""
        unit = self.unit(start)
        if unit.column is None:
            return None
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        search = Search(self.tables, self.assumed.ends, symbols, open_end=True, backward=backward)
        found = search.best(chart)
        is_cut_off = any(lexeme.missing for lexeme in unit.found.read)
        if found is None or (is_cut_off and found.cost >= PASSED and self.tables.offside):
            return Reading(PASSED_LINE, start, unit.end, unit.column, ((unit.code, unit.content, b""),))
        reading = self._as_reading([unit], found)
        edits = [(a, b, new or b"\n" * (b == unit.end > a)) for a, b, new in reading.edits]
        return reading._replace(edits=tuple(edits))  # where a line ended with a separator, it still ends

    def within(self, place: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The rest of a logical line from *place* on, inside brackets, with *chart* there.

        Its lines *above* are known. None if no repair was found.
        """
        units: list[Unit] = []
        first = above[0]
        while place < self.stop and len(units) < _MOST_UNITS:
            unit = self.unit(place)
            if self._is_outside(unit, first) and not self.is_hopeless(unit):
                break
            units.append(unit)
            place = unit.end
            if unit.column is not None and not unit.column.deeper_than(first.column or Column()):
                break
        goes_on = len(units) == _MOST_UNITS
        while units and units[-1].column is None:
            units.pop()
        if not units:
            return None
        closed, count = self.assumed.layout.closed(units, above)
        best: Reading | None = None
        for variant, more in ((units, _MISALIGNED * count), (closed, 0)):
            found = self._searched(variant, chart, goes_on=goes_on)
            if found is not None and (best is None or found.cost + more < best.cost):
                best = found._replace(cost=found.cost + more)
        return best

    def _searched(self, units: list[Unit], chart: EarleySet, *, goes_on: bool) -> Reading | None:
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.found.read])
        line_ends = list(accumulate(len(unit.found.read) for unit in units))
        search = Search(self.tables, self.assumed.ends, symbols, line_ends=line_ends, open_end=goes_on)
        found = search.best(chart)
        if found is None:
            return None
        units[0] = units[0]._replace(column=units[0].column or Column())
        return self._as_reading(units, found)

    def units_from(self, start: int) -> list[Unit]:
        """The lines from *start* up to the end, at least one."""
        units = [self.unit(start)]
        while units[-1].end < self.stop:
            units.append(self.unit(units[-1].end))
        return units

    def _as_reading(self, units: list[Unit], found: Repair, *, lacks_header: bool = False) -> Reading:
        """How *found* reads the lines *units*."""
        read = [lexeme for unit in units for lexeme in unit.found.read]
        unreadable = [span for unit in units for span in unit.found.unreadable]
        missing = sum(bool(lexeme.missing) for lexeme in read)
        cost = found.cost + INSERTED * (missing + len(unreadable))
        edits = (*_edits(self.assumed, read, found), *((start, end, b"") for start, end in unreadable))
        column = units[0].column
        assert column is not None
        return Reading(cost, units[0].start, units[-1].end, column, edits, lacks_header=lacks_header)

    def _repaired(self, units: list[Unit], *, is_open: bool) -> Reading | None:
        column = units[0].column
        assert column is not None
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.found.read])
        opens = self._opens(units[-1].end, column)
        line_ends = list(accumulate(len(unit.found.read) for unit in units))
        search = Search(self.tables, self.assumed.ends, symbols, opens, line_ends=line_ends, open_end=is_open)
        key = tuple(symbols), opens, tuple(line_ends), is_open
        if key not in self.assumed.repairs:
            self.assumed.repairs[key] = search.best(self.assumed.any_line) if symbols else None
        found = self.assumed.repairs[key]
        if found is None:
            return None
        lacks_header = not is_open and opens is True and not found.opens
        return self._as_reading(units, found, lacks_header=lacks_header)

    def _passed(self, unit: Unit) -> Reading:
        """*unit* is passed over."""
        return self.passed(unit.start)

    def passed(self, start: int) -> Reading:
        """The line at *start* is passed over; if a block follows, a header stands in for it."""
        unit = self._physical(start)
        column = unit.column
        if column is None:
            return Reading(0, start, unit.end, Column(), ())
        end = start + len(self.data[start : unit.end].rstrip(b"\r\n"))
        lead = _LEAD.match(self.data, start)
        assert lead is not None
        text = b""
        if self._opens(unit.end, column) and not self._is_led(start, unit.end):
            text = self.assumed.header(self.clause_after(unit.end, column))
        return Reading(PASSED_LINE, start, unit.end, column, ((lead.end(), end, text),), passed=True)

    def without(self, start: int) -> tuple[Edit, ...]:
        """The edit that leaves out the line at *start*; with a layout its line end stays."""
        end = self.unit(start).end
        if self.tables.offside:
            end = start + len(self.data[start:end].rstrip(b"\r\n"))
        return ((start, end, b""),)

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

    def _is_led(self, start: int, end: int) -> bool:
        """Whether the line at *end* may follow the line before *start*: that is as deep, or a header."""
        after, before = self.next_line(end), self._line_before(start)
        if after is None or before is None or before[1].column is None:
            return False
        line = before[1]
        assert line.column is not None
        if not after.column.deeper_than(line.column):
            return True
        symbols = (*self.tables.terminals(line.kinds), self.tables.newline)
        chart = self.tables.forward.read(self.assumed.any_line, symbols)
        return chart is not None and any(map(chart.expects, self.tables.suites))

    def clause_after(self, position: int, column: Column) -> int | None:
        """The first terminal of the next line of *column*; None if a shallower one comes before it."""
        for _ in range(_MOST_LINES_SEARCHED):
            line = self.next_line(position)
            if line is None:
                return None
            if not line.column.deeper_than(column):
                return line.first if line.column == column else None
            position = line.end
        return None


def _edits(assumed: Assumed, read: list[Lexeme], found: Repair) -> Iterator[Edit]:
    """What *found* changes in the text of the lexemes *read*; lexemes that were cut off are completed."""
    passed = {change.place for change in found.changes if not change.symbols}
    added: dict[int, bytes] = {}
    for index, lexeme in enumerate(read):
        if index in passed:
            yield lexeme.start, lexeme.end, b""
        elif lexeme.missing:
            added[lexeme.end] = added.get(lexeme.end, b"") + lexeme.missing
    for change in found.changes:
        if change.symbols:
            place = read[change.place - 1].end if change.place else read[0].start
            text = assumed.words(change.symbols)
            added[place] = added.get(place, b"") + (
                b" " + text + b" " if change.place < len(read) else b" " + text
            )
    for place, text in added.items():
        yield place, place, text
