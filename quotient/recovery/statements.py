"""Reads a broken logical line as the nearest valid one: the cheapest of several readings is taken.

A reading is the lexemes of some lines with their cheapest repair. Readings differ in their lines, in brackets
that are added by columns, and in the ends of strings that are cut off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.recovery.bracket_layout import Unit, passed_over
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, indentation_at
from fimlsp.quotient.recovery.lines import MOST_UNITS, Extent, LogicalLines
from fimlsp.quotient.recovery.readings import Reading, cheaper, dearer, edits_of
from fimlsp.quotient.recovery.repair_costs import (
    INSERTED,
    LONE_LINE,
    MISALIGNED,
    MISFIT,
    PASSED,
    PASSED_LINE,
    LineRepair,
    read_with,
)
from fimlsp.quotient.recovery.repair_search import Search
from fimlsp.quotient.recovery.repaired_text import Edit


class OpenBrackets(NamedTuple):
    """The brackets open at a line start: the Earley set there, and the lines of the logical line so far."""

    chart: EarleySet
    above: Sequence[Unit]

    def after(self, chart: EarleySet, closers: Iterable[int], position: int) -> OpenBrackets:
        """Those open at *position*, after *closers*, where the Earley set is *chart*."""
        read = tuple(Lexeme(kind, position, position) for kind in closers)
        return OpenBrackets(
            chart, (*self.above, Unit(position, position, None, Lexemes(read, (), joined=False)))
        )


class Statements(LogicalLines):
    """Reads the logical lines of a broken text."""

    @cached_property
    def early(self) -> Statements:
        """The same with early ends of strings that are cut off."""
        early = Statements(
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
        early.modes = self.modes
        return early

    def _may_end_early(self, units: Iterable[Unit]) -> bool:
        """True if some lexeme in *units* is cut off and was read up to the end of its line."""
        return not self.ended_early and any(lexeme.missing for unit in units for lexeme in unit.read)

    # Whole logical lines

    def read(self, start: int) -> Reading:
        """The cheapest reading of the logical line at the line start *start*."""
        first = self.unit(start)
        if first.column is None:
            return Reading(0, start, first.end, Column(), ())
        reading = self._read(first)
        if reading.cost and first.end > self.lines.end_of_stretch(self.data, start):
            other = self._read(self.physical(start))
            if other.cost + INSERTED < reading.cost - MISFIT * reading.lacks_header:
                return other
        return reading

    def read_up_to(self, start: int) -> Reading:
        """The reading of the lines from *start* up to the end as one logical line."""
        units = self.units_from(start)
        if units[0].column is None:
            return Reading(0, start, units[-1].end, Column(), ())
        closed, count = self.assumed.layout.closed(units)
        variants = ((units, MISALIGNED * count), (closed, 0))
        best: Reading | None = None
        for variant, more in variants:
            best = cheaper(best, dearer(self._repaired(variant, is_open=self.open_end), more))
        return best or self.passed(start)

    def _read(self, first: Unit) -> Reading:
        """The cheapest reading of the logical line that starts with *first*.

        Each further way of reading replaces the best one so far if it is cheaper.
        """
        if self.is_hopeless(first):
            return self.passed(first.start)
        extent = self.extent(first)
        best = self._of_extent(extent)
        for better in (
            self._without_torn_line,
            self._in_bracket_of_cursor,
            self._closed_by_odd_line,
            self._with_early_ends,
        ):
            best = better(extent, best)
        return best or self.passed(first.start)

    def _of_extent(self, extent: Extent) -> Reading | None:
        """The cheapest reading of some of the lines of *extent*, the others being statements of their own.

        Of equally cheap ones it is the longest.
        """
        units, best = extent.units, None
        apart = MISALIGNED * (extent.is_open and self.is_closed_beyond(units))
        for count in reversed(extent.ends):
            is_all = count == len(units)
            extra = self._cost_of(units[count:]) + (0 if is_all else apart)
            goes_on = extent.is_open and is_all
            lacking = extent.lacking if is_all else None
            for variant, more in self._variants(units[:count], lacking, goes_on=goes_on):
                reading = self._repaired(variant, is_open=goes_on)
                if reading is not None and extent.lacking is not None and more and not reading.cost:
                    continue  # the missing bracket is in another line
                best = cheaper(best, dearer(reading, more + extra))
        return best

    def _without_torn_line(self, extent: Extent, best: Reading | None) -> Reading | None:
        """If *best* is dearer than passing over a line: the reading without the first misfitting line."""
        if best is not None and best.cost <= PASSED_LINE:
            return best
        less = self._without_torn(extent.units)
        reading = None if less is None else self._repaired(less, is_open=extent.is_open)
        return cheaper(best, dearer(reading, PASSED_LINE))

    def _in_bracket_of_cursor(self, extent: Extent, best: Reading | None) -> Reading | None:
        """If the cursor may close a bracket that the first line lacks: a reading up to the cursor."""
        reading = best and self._closed_by_cursor(extent.units[0])
        if best is None or reading is None:
            return best
        lines_after = self._cost_of(self.units_between(best.end, self.stop))
        return reading if reading.cost < best.cost + lines_after else best

    def _closed_by_odd_line(self, extent: Extent, best: Reading | None) -> Reading | None:
        """If a line that no line starts like stands in place of the closing bracket: a reading up to that."""
        if not extent.closing:
            return best
        return cheaper(best, self._repaired([*extent.closing], is_open=False))

    def _with_early_ends(self, extent: Extent, best: Reading | None) -> Reading | None:
        """If a string is cut off: the reading in which it ended early, even if it is as dear."""
        if not self._may_end_early(extent.units):
            return best
        first = extent.units[0]
        early = self.early
        reading = early._read(early.unit_of(first.start, first.end))
        return reading if best is None or reading.cost <= best.cost else best

    def _variants(
        self, units: list[Unit], lacking: str | None, *, goes_on: bool
    ) -> Iterator[tuple[list[Unit], int]]:
        """*units*, and the same with brackets that the layout says are missing; with the cost of each.

        A bracket of the kind *lacking* is closed after them. It is missing, unless the first of them ends
        with another, or has one that does not match. If it *goes_on*, the cursor's line is next.
        """
        layout = self.assumed.layout
        if lacking is not None:
            lacks_none = any(is_last for _, is_last in layout.left_open(units[:1]))
            lacks_none = lacks_none or layout.closes_over_another(units[0])
            yield layout.with_opener(units, lacking), INSERTED * lacks_none
            yield units, INSERTED * (not lacks_none)
            return
        closed, count = layout.closed(units)
        if goes_on and self.then is not None and self.then.column is not None:
            kinds = layout.deeper_than(closed, self.then.column)
            closed, count = layout.followed_by(closed, kinds), count + len(kinds)
        yield units, MISALIGNED * count
        if count:
            yield closed, 0
        if len(units) > 1 and (opened := layout.opened(units)) is not None:
            yield opened, 0

    def _without_torn(self, units: Sequence[Unit]) -> list[Unit] | None:
        """*units* without the first line that cannot be read after those before it; None if there is none."""
        chart: EarleySet | None = self.assumed.any_line
        for number, unit in enumerate(units):
            chart = chart and self.tables.forward.read(chart, self.terminals_of(unit))
            if chart is None:
                return [*units[:number], passed_over(unit), *units[number + 1 :]] if number else None
        return None

    def _closed_by_cursor(self, first: Unit) -> Reading | None:
        """The reading of the lines from *first* on in a bracket that it lacks, for the cursor to close.

        The cursor's line has the same column, and nothing before the cursor, and all lines between are
        deeper. The first of these is not blank, and none is a statement if *first* is a header that is cut
        off.
        """
        then = self.then
        if then is None or not self.open_end or then.first is not None or then.closes:
            return None
        if then.column is None or then.column != first.column or first.end >= self.stop:
            return None
        units = [first]
        while units[-1].end < self.stop and len(units) < MOST_UNITS:
            units.append(self.unit(units[-1].end))
            if units[-1].read and self._is_outside(units[-1], first):
                return None
        is_apart = not any(unit.read for unit in units[1:2])
        if is_apart or units[-1].end < self.stop or self.assumed.layout.left_open(units):
            return None
        statements = sum(
            self.is_line(unit.start) and not self.is_part(unit) for unit in units[1:] if unit.read
        )
        if statements and self._is_header_cut_off(first):
            return None
        variants = (self.assumed.layout.with_opener(units, kind) for kind in self.tables.lexical.brackets)
        readings = [
            reading for variant in variants if (reading := self._repaired(variant, is_open=True)) is not None
        ]
        best = min(readings, key=lambda reading: reading.cost, default=None)
        return dearer(best, INSERTED + LONE_LINE * statements)

    def _is_header_cut_off(self, unit: Unit) -> bool:
        """True if *unit* is cheaper to end as a header than as another line."""
        chart = self.tables.forward.read(self.assumed.any_line, self.terminals_of(unit))
        ways = {} if chart is None else self.assumed.ends.of(chart)
        return True in ways and min(ways, key=lambda is_header: ways[is_header][0])

    def _cost_of(self, units: Sequence[Unit], most: int = MOST_UNITS) -> int:
        """The cost if these lines are statements of their own, the last of which may continue."""
        cost = 0
        statement: list[int] = []
        for unit in units[:most]:
            statement += self.terminals_of(unit)
            if statement and not self.tables.enclosures.unmatched(statement)[1]:
                cost += 0 if self.assumed.is_line(statement) else PASSED
                statement = []
        unfinished = self.tables.forward.read(self.assumed.any_line, tuple(statement))
        return cost if unfinished is not None else cost + PASSED

    def cost_apart(self, position: int, end: int) -> int:
        """The cost if the lines from *position* to *end* are statements of their own.

        If the last one starts with a closing bracket, something is opened in its column.
        """
        units = self.units_between(position, end)
        is_closed = bool(units) and self.assumed.layout.starts_with_closer(units[-1])
        return self._cost_of(units, len(units)) + MISALIGNED * is_closed

    # Lines that are passed over

    def passed(self, start: int) -> Reading:
        """The line at *start* is passed over; if a block follows, a header stands in for it."""
        unit = self.physical(start)
        column = unit.column
        if column is None:
            return Reading(0, start, unit.end, Column(), ())
        end = start + len(self.data[start : unit.end].rstrip(b"\r\n"))
        code = start + len(indentation_at(self.data, start))
        text = b""
        if self._opens(unit.end, column) and not self._is_led(start, unit.end):
            text = self.assumed.header(self.clause_after(unit.end, column))
        return Reading(PASSED_LINE, start, unit.end, column, ((code, end, text),), passed=True)

    def without(self, start: int) -> tuple[Edit, ...]:
        """The edit that removes the line at *start*; with a layout its line end stays."""
        end = self.unit(start).end
        if self.tables.offside:
            end = start + len(self.data[start:end].rstrip(b"\r\n"))
        return ((start, end, b""),)

    def _is_led(self, start: int, end: int) -> bool:
        """True if the line at *end* may follow the line before *start*: that is as deep, or a header."""
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

    # Lines inside brackets

    def is_apart(self, position: int, reading: Reading, *, or_ends: bool = False) -> bool:
        """True if the line from *position* on is a statement that *reading* changes, *or_ends* at its end."""
        line = self.next_line(position)
        if line is None or not self.is_line(line.start):
            return False
        unit = self.unit(line.start)
        end_of_line = unit.code_end + or_ends
        ways = (unit, self.early.unit(line.start))
        cut_off = {(lexeme.end, lexeme.end, lexeme.missing) for way in ways for lexeme in way.read}
        changes = [edit for edit in reading.edits if edit not in cut_off]  # all readings complete lexemes
        return any(unit.code_start < start and end < end_of_line for start, end, _ in changes)

    def in_place(self, start: int, chart: EarleySet, *, backward: bool = False) -> Reading | None:
        """The line at *start* inside open brackets: read after *chart*, or before it if *backward*."""
        unit = self.unit(start)
        if unit.column is None:
            return None
        if self.is_hopeless(unit):
            return self._left_out(unit)
        repair = self._repair(chart, self.terminals_of(unit), open_end=True, backward=backward)
        if self._may_end_early((unit,)):
            other = self.early.in_place(start, chart, backward=backward)
            if other is not None and (repair is None or other.cost <= repair.cost + INSERTED):
                return other
        is_cut_off = any(lexeme.missing for lexeme in unit.read)
        if repair is None or (is_cut_off and repair.cost >= PASSED and self.tables.offside):
            return self._left_out(unit)
        reading = self._as_reading([unit], repair)
        edits = [(a, b, new or b"\n" * (b == unit.end > a)) for a, b, new in reading.edits]
        return reading._replace(edits=tuple(edits))  # a line that ended with a separator still ends

    def rest_of(self, begin: int, start: int, end: int) -> Unit:
        """The text from *start* to *end* as a line; its lexemes are those of the line from *begin* on."""
        rest = self.unit_of(start, end)
        if not any(lexeme.missing for lexeme in rest.read):
            return rest
        line = self.unit_of(begin, end)
        read = tuple(lexeme for lexeme in line.read if lexeme.start >= start)
        is_apart = all(lexeme.end <= start for lexeme in line.read[: len(line.read) - len(read)])
        return rest._replace(lexemes=rest.lexemes._replace(read=read)) if is_apart and read else rest

    def rest_of_line(self, begin: int, start: int, end: int, chart: EarleySet) -> Reading | None:
        """The cheapest reading of the text from *start* to *end*: the rest of a line, before the set *chart*.

        The line starts at *begin*; its text up to *start* is unknown. None if no repair was found.
        """
        best: Reading | None = None
        for way in (self.early, self):
            unit = way.rest_of(begin, start, end)
            repair = way._repair(chart, way.terminals_of(unit), open_end=True, backward=True)
            if repair is not None and unit.column is not None:
                best = cheaper(best, way._as_reading([unit], repair))
        return best

    def read_on(
        self,
        begin: int,
        start: int,
        end: int,
        chart: EarleySet,
        *,
        opens: bool | None = None,
        opener: int | None = None,
        open_end: bool = False,
    ) -> Reading | None:
        """The cheapest reading of the text from *start* to *end*: the rest of a line, after the set *chart*.

        The line starts at *begin*. It ends there, and *opens* a block or not. With *opener* a bracket of that
        kind is at its end instead, and with an *open_end* the line goes on below. None if none was found.
        """
        best: Reading | None = None
        for way in (self.early, self):
            unit = way.rest_of(begin, start, end)
            if unit.column is None:
                return None
            if opener is not None:
                unit = unit.followed_by(opener, self.assumed.layout.text_of((opener,)))
            goes_on = open_end or opener is not None
            repair = way._repair(chart, way.terminals_of(unit), opens, open_end=goes_on)
            if repair is not None:
                best = cheaper(best, way._as_reading([unit], repair))
        return best

    def _left_out(self, unit: Unit) -> Reading:
        """The reading of *unit* inside brackets without any of its lexemes."""
        assert unit.column is not None
        edit = (unit.code_start, unit.code_end, b"")
        return Reading(PASSED_LINE, unit.start, unit.end, unit.column, (edit,))

    def within(self, position: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The rest of a logical line inside brackets, from *position* on, where the Earley set is *chart*.

        Its lines *above* are known. None if no repair was found.
        """
        units = self._units_within(position, above)
        reading = self._within(list(units), chart, above, goes_on=len(units) == MOST_UNITS)
        count = self._own_lines_after(units, chart)
        if count:
            opens = self._opens(units[count - 1].end, above[0].column or Column())
            other = self._searched(units[:count], chart, goes_on=False, opens=opens)
            reading = cheaper(reading, other)
        if self._may_end_early(units):
            other = self.early.within(position, chart, above)
            if other is not None and (reading is None or other.cost <= reading.cost):
                return other
        return reading

    def _units_within(self, position: int, above: Sequence[Unit]) -> list[Unit]:
        """The lines from *position* on that may be in the brackets that the first line *above* opens."""
        units: list[Unit] = []
        first, is_loose = above[0], self.are_unaligned(above)
        while position < self.stop and len(units) < MOST_UNITS:
            unit = self.unit(position)
            if self._is_outside(unit, first) and not self.is_hopeless(unit) and not is_loose:
                break
            unit = passed_over(unit) if self.is_hopeless(unit) else unit
            units.append(unit)
            position = unit.end
            is_deeper = unit.column is None or unit.column.deeper_than(first.column or Column())
            if not is_deeper and not (is_loose and self.is_part(unit)):
                break
        return units

    def near(self, position: int, end: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The lines from *position* to *end* inside brackets, which cannot be read after *chart*.

        Those *above* are lines of the same brackets before them. None if no repair was found.
        """
        units = self.units_between(position, end)
        read = [passed_over(unit) if self.is_hopeless(unit) else unit for unit in units]
        reading = self._within(read, chart, above, goes_on=True, then=self._line_at(end))
        if self._may_end_early(units):
            other = self.early.near(position, end, chart, above)
            if other is not None and (reading is None or other.cost <= reading.cost + INSERTED):
                return other
        return reading if reading is not None and reading.edits and reading.cost < PASSED_LINE else None

    def _line_at(self, end: int) -> Unit | None:
        """The line at *end*, or the known part of the cursor's line; None if nothing of it is known."""
        if end < self.stop:
            return self.unit(end)
        then = self.then
        if then is None or then.column is None:
            return None
        closers = tuple(Lexeme(kind, end, end) for kind in then.closes)
        return Unit(end, end, then.column, Lexemes(closers, (), joined=False))

    def _own_lines_after(self, units: Sequence[Unit], chart: EarleySet) -> int:
        """The number of *units* that can be read after *chart*, before one that starts a statement."""
        following: EarleySet | None = chart
        for count, unit in enumerate(units):
            symbols = self.terminals_of(unit)
            if not symbols:
                continue
            following = self.assumed.before(chart, symbols[0]) if chart is following else following
            following = following and self.tables.forward.read(following, symbols)
            if following is None:
                return count if self.starts_statement(unit) else 0
        return 0

    def inside(self, position: int, end: int, chart: EarleySet) -> Reading | None:
        """The lines from *position* to *end*, of which the last one closes a bracket that *chart* is in."""
        units = self.units_between(position, end)
        reading = self._within(units, chart, (), goes_on=True)
        if self._may_end_early(units):
            other = self.early.inside(units[0].start, end, chart)
            if other is not None and (reading is None or other.cost <= reading.cost):
                return other
        return reading

    def unclosed(self, line: Unit, position: int, end: int, chart: EarleySet) -> Reading | None:
        """The lines from *position* to *end* in brackets that *line* opens, which are closed after them.

        The Earley set in the innermost one is *chart*.
        """
        layout, units = self.assumed.layout, self.units_between(position, end)
        opened = layout.left_open((line, *units))
        kinds = [layout.closer(closing)[0] for closing, _ in reversed(opened)]
        return self._within(layout.followed_by(units, kinds), chart, (), goes_on=True)

    def _within(
        self,
        units: list[Unit],
        chart: EarleySet,
        above: Sequence[Unit],
        *,
        goes_on: bool,
        then: Unit | None = None,
    ) -> Reading | None:
        """The cheapest reading of *units* after *chart*, as they are or with brackets added by columns.

        The line that follows is *then*, if that is known.
        """
        while units and units[-1].column is None:
            units.pop()
        if not units:
            return None
        layout = self.assumed.layout
        closed, count = layout.closed(units, above)
        if then is not None:
            kinds = layout.left_before((*above, *closed), then)
            closed, count = layout.followed_by(closed, kinds, inside=True), count + len(kinds)
        best: Reading | None = None
        variants = [(units, MISALIGNED * count), (closed, 0)]
        if (opened := layout.opened_alike(units)) is not None:
            variants.append((opened, 0))
        for variant, more in variants:
            best = cheaper(best, dearer(self._searched(variant, chart, goes_on=goes_on), more))
        return best

    def _searched(
        self, units: list[Unit], chart: EarleySet, *, goes_on: bool, opens: bool | None = None
    ) -> Reading | None:
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.read])
        line_ends = list(accumulate(len(unit.read) for unit in units))
        if not symbols:
            return None
        start = self.assumed.before(chart, symbols[0])
        repair = self._repair(start, symbols, opens, line_ends=line_ends, open_end=goes_on)
        if repair is None:
            return None
        units[0] = units[0]._replace(column=units[0].column or Column())
        return self._as_reading(units, repair)

    # Repairs as readings

    def _repaired(self, units: list[Unit], *, is_open: bool) -> Reading | None:
        """The cheapest reading of exactly *units* as a logical line, which may continue if it *is_open*."""
        column = units[0].column
        assert column is not None
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.read])
        opens = self._opens(units[-1].end, column)
        line_ends = list(accumulate(len(unit.read) for unit in units))
        if not symbols:
            return None
        start = self.assumed.any_line
        repair = self._repair(start, symbols, opens, line_ends=line_ends, open_end=is_open)
        if repair is None:
            return None
        lacks_header = not is_open and opens is True and not repair.opens
        return self._as_reading(units, repair, lacks_header=lacks_header)

    def _repair(
        self,
        start: EarleySet,
        symbols: Sequence[int],
        opens: bool | None = None,
        *,
        line_ends: Sequence[int] = (),
        open_end: bool = False,
        backward: bool = False,
    ) -> LineRepair | None:
        """The result of `Search` with the same arguments, cached for the same set *start*."""
        known = self.assumed.repairs
        key = start, tuple(symbols), opens, tuple(line_ends), open_end, backward
        if key not in known:
            known[key] = Search(
                self.tables,
                self.assumed.ends,
                symbols,
                opens,
                line_ends=line_ends,
                open_end=open_end,
                backward=backward,
            ).best(start)
        return known[key]

    def _as_reading(self, units: list[Unit], repair: LineRepair, *, lacks_header: bool = False) -> Reading:
        """The reading of the lines *units* with *repair*."""
        read = [lexeme for unit in units for lexeme in unit.read]
        unreadable = [span for unit in units for span in unit.lexemes.unreadable]
        missing = sum(bool(lexeme.missing) for lexeme in read)
        cost = repair.cost + INSERTED * (missing + len(unreadable))
        cost += MISALIGNED * self._count_misaligned(units, repair)
        edits = (*edits_of(self.assumed, read, repair), *((start, end, b"") for start, end in unreadable))
        column = units[0].column
        assert column is not None
        return Reading(cost, units[0].start, units[-1].end, column, edits, lacks_header=lacks_header)

    def _count_misaligned(self, units: Sequence[Unit], repair: LineRepair) -> int:
        """The number of brackets that *repair* opens in deeper lines than the one their closer starts."""
        unmatched = self.tables.enclosures.unmatched
        if not any(unmatched(change.symbols)[1] for change in repair.changes):
            return 0
        read = [(lexeme.kind, unit.column) for unit in units for lexeme in unit.read]
        symbols = self.tables.terminals([kind for kind, _ in read])
        line_starts = {*accumulate((len(unit.read) for unit in units), initial=0)}
        opened: list[Column | None] = []
        count = 0
        for index, symbol, is_assumed in read_with(symbols, repair.changes):
            closes, opens = unmatched((symbol,))
            if opens:
                opened.append(read[max(index - 1, 0)][1] if is_assumed else None)
            elif closes and opened:
                column, own = opened.pop(), None if is_assumed else read[index][1]
                count += bool(column and own and index in line_starts and column.deeper_than(own))
        return count
