"""Reads a broken logical line as the valid one nearest to it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.layout.lexemes import Lexeme, Lexemes
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.repairs.line_ends import INSERTED
from fimlsp.quotient.recovery.repairs.search import PASSED, PASSED_LINE, Repair, Search
from fimlsp.quotient.recovery.statements.extents import MOST_UNITS, Extents, passed_over
from fimlsp.quotient.recovery.statements.lines import LEAD

Edit = tuple[int, int, bytes]
"""A span of a text, and what it is replaced by."""

_MOST_RATED = 8
_MISALIGNED = 15
"""What it costs if a line in brackets is not deeper than the one that opened them."""


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
    """The brackets open at a line start: the Earley set there, and the lines of the logical line so far."""

    chart: EarleySet
    above: Sequence[Unit]


class Statements(Extents):
    """Reads the logical lines of a broken text."""

    @cached_property
    def _early(self) -> Statements:
        """The same with strings that end early where they are cut off."""
        return Statements(
            self.assumed,
            self.lines,
            self.data,
            self.stop,
            begin=self.begin,
            open_end=self.open_end,
            then=self.then,
            beyond=self.beyond,
            ended_early=True,
        )

    def _may_end_early(self, units: Iterable[Unit]) -> bool:
        """Whether something in *units* is cut off and was read up to the end of its line."""
        return not self.ended_early and any(lexeme.missing for unit in units for lexeme in unit.found.read)

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
        units, ends, is_open, lacking, closing = self.extent(first)
        if self.is_hopeless(first):
            return self._passed(first)
        best: Reading | None = None
        for count in reversed(ends):  # of equally cheap readings the longest
            extra = self._cost_of(units[count:])
            is_all = count == len(units)
            for variant, more in self._variants(units[:count], lacking if is_all else None):
                found = self._repaired(variant, is_open=is_open and is_all)
                if found is not None and (best is None or found.cost + more + extra < best.cost):
                    best = found._replace(cost=found.cost + more + extra)
        if closing:
            found = self._repaired([*closing], is_open=False)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
        if self._may_end_early(units):
            other = self._early._read_from(first.start, first.end)
            if best is None or other.cost <= best.cost:
                best = other
        return best or self._passed(units[0])

    def _read_from(self, start: int, end: int) -> Reading:
        """The cheapest reading of the logical line that begins with the text from *start* to *end*."""
        return self._read(self._unit(start, end))

    def _variants(self, units: list[Unit], lacking: str | None) -> Iterator[tuple[list[Unit], int]]:
        """*units*, and the same with brackets where the layout says that they lack; with what each costs.

        If a bracket of the kind *lacking* is closed after them, it is that one.
        """
        layout = self.assumed.layout
        if lacking is not None:
            yield layout.with_opener(units, lacking), 0
            return
        closed, count = layout.closed(units)
        yield units, _MISALIGNED * count
        if count:
            yield closed, 0
        if len(units) > 1 and (opened := layout.opened(units)) is not None:
            yield opened, 0

    def _cost_of(self, units: Sequence[Unit]) -> int:
        """What it costs that these lines are statements of their own, the last of which may go on."""
        cost = 0
        statement: list[int] = []
        for unit in units[:_MOST_RATED]:
            statement += self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
            if statement and not self.tables.enclosures.unmatched(statement)[1]:
                cost += 0 if self.assumed.is_line(statement) else PASSED
                statement = []
        begun = self.tables.forward.read(self.assumed.any_line, tuple(statement))
        return cost if begun is not None else cost + PASSED

    def still_in(self, brackets: Brackets, place: int) -> Brackets:
        """Those of *brackets* that the line at *place* is still in, as its column says.

        The others are for the cursor's line to close.
        """
        line = self.next_line(place)
        if line is None:
            return brackets
        chart, closers = brackets.chart, list[Lexeme]()
        for kind in self.assumed.layout.left_before(brackets.above, self.unit(line.start)):
            symbol = self.tables.terminal_of[kind]
            behind = self.assumed.before(chart, symbol)
            following = self.tables.forward.read(behind, (symbol,))
            if following is None:
                break
            chart = following
            closers.append(Lexeme(kind, place, place))
        closing = Unit(place, place, None, Lexemes(tuple(closers), (), joined=False))
        return Brackets(chart, (*brackets.above, closing))

    def is_apart(self, place: int, found: Reading, *, or_ends: bool = False) -> bool:
        """Whether the line from *place* on is one of its own that *found* changes, *or_ends* at its end."""
        line = self.next_line(place)
        if line is None or not self.is_line(line.start):
            return False
        unit = self.unit(line.start)
        end_of_line = unit.content + or_ends
        return any(unit.code < start and end < end_of_line for start, end, _ in found.edits)

    def cost_apart(self, place: int, end: int) -> int:
        """What it costs that the lines from *place* to *end* are statements of their own."""
        return self._cost_of(self._units(place, end))

    def in_place(self, start: int, chart: EarleySet, *, backward: bool = False) -> Reading | None:
        """The line at *start* inside open brackets: read after *chart*, or before it if *backward*."""
        unit = self.unit(start)
        if unit.column is None:
            return None
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        search = Search(self.tables, self.assumed.ends, symbols, open_end=True, backward=backward)
        found = search.best(chart)
        if self._may_end_early((unit,)):
            other = self._early.in_place(start, chart, backward=backward)
            if other is not None and (found is None or other.cost <= found.cost + INSERTED):
                return other
        is_cut_off = any(lexeme.missing for lexeme in unit.found.read)
        if found is None or (is_cut_off and found.cost >= PASSED and self.tables.offside):
            return Reading(PASSED_LINE, start, unit.end, unit.column, ((unit.code, unit.content, b""),))
        reading = self._as_reading([unit], found)
        edits = [(a, b, new or b"\n" * (b == unit.end > a)) for a, b, new in reading.edits]
        return reading._replace(edits=tuple(edits))  # where a line ended with a separator, it still ends

    def within(self, place: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The rest of a logical line inside brackets, from *place* on, where the Earley set is *chart*.

        Its lines *above* are known. None if no repair was found.
        """
        units: list[Unit] = []
        first, begin = above[0], place
        while place < self.stop and len(units) < MOST_UNITS:
            unit = self.unit(place)
            if self._is_outside(unit, first) and not self.is_hopeless(unit):
                break
            unit = passed_over(unit) if self.is_hopeless(unit) else unit
            units.append(unit)
            place = unit.end
            if unit.column is not None and not unit.column.deeper_than(first.column or Column()):
                break
        found = self._within(list(units), chart, above, goes_on=len(units) == MOST_UNITS)
        count = self._own_lines_behind(units, chart)
        if count:
            opens = self._opens(units[count - 1].end, first.column or Column())
            other = self._searched(units[:count], chart, goes_on=False, opens=opens)
            if other is not None and (found is None or other.cost < found.cost):
                found = other
        if self._may_end_early(units):
            other = self._early.within(begin, chart, above)
            if other is not None and (found is None or other.cost <= found.cost):
                return other
        return found

    def _own_lines_behind(self, units: Sequence[Unit], chart: EarleySet) -> int:
        """How many of *units* can be read after *chart* before one that cannot, but is a line of its own."""
        following: EarleySet | None = chart
        for count, unit in enumerate(units):
            symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
            if not symbols:
                continue
            following = self.assumed.before(chart, symbols[0]) if chart is following else following
            following = following and self.tables.forward.read(following, symbols)
            if following is None:
                return count if self.assumed.is_line(symbols) else 0
        return 0

    def _units(self, place: int, end: int) -> list[Unit]:
        units: list[Unit] = []
        while place < end:
            units.append(self.unit(place))
            place = units[-1].end
        return units

    def inside(self, place: int, end: int, chart: EarleySet) -> Reading | None:
        """The lines from *place* to *end*, of which the last one closes a bracket that *chart* is in."""
        units = self._units(place, end)
        found = self._within(units, chart, (), goes_on=True)
        if self._may_end_early(units):
            other = self._early.inside(units[0].start, end, chart)
            if other is not None and (found is None or other.cost <= found.cost):
                return other
        return found

    def _within(
        self, units: list[Unit], chart: EarleySet, above: Sequence[Unit], *, goes_on: bool
    ) -> Reading | None:
        """The cheapest reading of *units* after *chart*, with brackets closed where the layout says so."""
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

    def _searched(
        self, units: list[Unit], chart: EarleySet, *, goes_on: bool, opens: bool | None = None
    ) -> Reading | None:
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.found.read])
        line_ends = list(accumulate(len(unit.found.read) for unit in units))
        search = Search(self.tables, self.assumed.ends, symbols, opens, line_ends=line_ends, open_end=goes_on)
        found = search.best(self.assumed.before(chart, symbols[0])) if symbols else None
        if found is None:
            return None
        units[0] = units[0]._replace(column=units[0].column or Column())
        return self._as_reading(units, found)

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
        lead = LEAD.match(self.data, start)
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

    def _is_led(self, start: int, end: int) -> bool:
        """Whether the line at *end* may follow the line before *start*: that is as deep, or a header."""
        after, before = self.next_line(end), self._line_before(start)
        if after is None or before is None or before[1].column is None:
            return False
        line, column = before[1], self.unit(start).column
        assert line.column is not None
        if column is not None and line.column.deeper_than(column) and after.column.deeper_than(column):
            return True  # it stands apart from the lines around it
        if not after.column.deeper_than(line.column):
            return True
        symbols = (*self.tables.terminals(line.kinds), self.tables.newline)
        chart = self.tables.forward.read(self.assumed.any_line, symbols)
        return chart is not None and any(map(chart.expects, self.tables.suites))


def _edits(assumed: Assumed, read: list[Lexeme], found: Repair) -> Iterator[Edit]:
    """What *found* changes in the text of the lexemes *read*; lexemes that were cut off are completed."""
    passed = {change.place for change in found.changes if not change.symbols}
    assumed_at: dict[int, bytes] = {}
    for change in found.changes:
        if change.symbols:
            text = b" " + assumed.words(change.symbols) + (b" " if change.place < len(read) else b"")
            assumed_at[change.place] = assumed_at.get(change.place, b"") + text
    added: dict[int, bytes] = {}
    for index in range(len(read) + 1):
        if index in assumed_at:
            place = read[index - 1].end if index else read[0].start
            added[place] = added.get(place, b"") + assumed_at[index]
        if index in passed:
            yield read[index].start, read[index].end, b""
        elif index < len(read) and read[index].missing:
            added[read[index].end] = added.get(read[index].end, b"") + read[index].missing
    for place, text in added.items():
        yield place, place, text
