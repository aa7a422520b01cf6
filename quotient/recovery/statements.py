"""Reads the logical line at a place as the valid one that it most nearly is, and decides where it ends.

Where brackets are left open, the layout decides: the logical line ends before the first line that is not
deeper, or that begins with a lexeme which never stands in brackets; or at the end of its first line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.line import Line, LineReader, unmatched_brackets
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.headers import Assumed
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, lexemes
from fimlsp.quotient.recovery.line_ends import INSERTED
from fimlsp.quotient.recovery.repairs import PASSED, PASSED_LINE, Repair, Search

Edit = tuple[int, int, bytes]
"""A span of a text, and what it is replaced by."""

_MOST_UNITS = 40
_MOST_LINES_SEARCHED = 400
_MOST_BLANKS = 10
_LEAD = re.compile(rb"[ \t\f]*")


class Unit(NamedTuple):
    """A line, or one physical line where a line cannot be read; `column` is None if it is blank."""

    start: int
    end: int
    column: Column | None
    found: Lexemes

    @property
    def code(self) -> int:
        """Where its code begins."""
        starts = [
            *(lexeme.start for lexeme in self.found.read[:1]),
            *(a for a, _ in self.found.unreadable[:1]),
        ]
        return min(starts, default=self.end)

    @property
    def content(self) -> int:
        """Where its code ends."""
        ends = [*(lexeme.end for lexeme in self.found.read[-1:]), *(b for _, b in self.found.unreadable[-1:])]
        return max(ends, default=self.end)


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


class Statements:
    """Reads the logical lines of *data* from *begin* to *stop*; with *open_end* the last one may go on."""

    def __init__(
        self,
        assumed: Assumed,
        lines: LineReader,
        data: bytes,
        stop: int,
        *,
        begin: int = 0,
        open_end: bool = False,
    ) -> None:
        self.assumed = assumed
        self.tables = assumed.tables
        self.lines = lines
        self.data = data
        self.stop = stop
        self.begin = begin
        self.open_end = open_end

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
        units = [self.unit(start)]
        while units[-1].end < self.stop:
            units.append(self.unit(units[-1].end))
        if units[0].column is None:
            return Reading(0, start, units[-1].end, Column(), ())
        return self._repaired(units, is_open=self.open_end) or self._passed(units[0])

    def _read(self, first: Unit) -> Reading:
        units, ends, is_open = self._units(first)
        if self.is_hopeless(first):
            return self._passed(first)
        best: Reading | None = None
        for count in ends:
            found = self._repaired(units[:count], is_open=is_open and count == len(units))
            if found is not None and count < len(units) and self._closes(units[count], first):
                found = found._replace(cost=found.cost + PASSED)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
        return best or self._passed(units[0])

    def _units(self, first: Unit) -> tuple[list[Unit], list[int], bool]:
        """The lines that may belong to it, how many of them it may have, and whether it may go on."""
        units = [first]
        while (depth := self._depth(units)) and len(units) < _MOST_UNITS:
            if units[-1].end >= self.stop:
                return units, sorted({1, len(units)}), self.open_end
            unit = self.unit(units[-1].end)
            if self._is_outside(unit, first):
                if not self.is_hopeless(unit):
                    break
                unit = unit._replace(found=Lexemes((), ((unit.code, unit.content),), joined=False))
            units.append(unit)
        if depth:
            return units, sorted({1, min(2, len(units)), len(units)}), False
        ends = {len(units)}
        while units[-1].end < self.stop and self._closes(unit := self.unit(units[-1].end), first):
            units.append(unit)
            ends.add(len(units))
        return units, sorted(ends), False

    def _closes(self, unit: Unit, first: Unit) -> bool:
        """Whether *unit* begins as the last line of brackets does that *first* opens."""
        if unit.column is None or not unit.found.read or first.column is None:
            return False
        kind = self.tables.lexical.kinds[unit.found.read[0].kind]
        return kind in self.tables.opening_of and not first.column.deeper_than(unit.column)

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
        line = self._line_before(start)
        return None if line is None else line.column

    def _line_before(self, start: int) -> Line | None:
        for _ in range(_MOST_BLANKS):
            if start <= self.begin:
                return None
            start = self.lines.start_of_stretch(self.data, start - 1)
            line = self.lines.read(self.data, start)
            if line.column is not None:
                return line
        return None

    def _is_led(self, start: int, end: int) -> bool:
        """Whether the line at *end* may follow the line before *start*: that is as deep, or a header."""
        after, line = self.next_line(end), self._line_before(start)
        if after is None or line is None or line.column is None:
            return False
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
