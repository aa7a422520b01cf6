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
from fimlsp.quotient.recovery.repairs.costs import MISFIT, PASSED, PASSED_LINE
from fimlsp.quotient.recovery.repairs.line_ends import INSERTED
from fimlsp.quotient.recovery.statements.extents import MOST_UNITS, passed_over
from fimlsp.quotient.recovery.statements.readings import MISALIGNED, Reading, Readings


class Brackets(NamedTuple):
    """The brackets open at a line start: the Earley set there, and the lines of the logical line so far."""

    chart: EarleySet
    above: Sequence[Unit]

    def after(self, chart: EarleySet, closers: Iterable[int], place: int) -> Brackets:
        """Those that are open at *place*, behind *closers*, where the Earley set is *chart*."""
        read = tuple(Lexeme(kind, place, place) for kind in closers)
        return Brackets(chart, (*self.above, Unit(place, place, None, Lexemes(read, (), joined=False))))


class Statements(Readings):
    """Reads the logical lines of a broken text."""

    @cached_property
    def early(self) -> Statements:
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
            other = self._read(self.physical(start))
            if other.cost + INSERTED < found.cost - MISFIT * found.lacks_header:
                return other
        return found

    def read_up_to(self, start: int) -> Reading:
        """The reading of the lines from *start* up to the end as one logical line."""
        units = self.units_from(start)
        if units[0].column is None:
            return Reading(0, start, units[-1].end, Column(), ())
        closed, count = self.assumed.layout.closed(units)
        ways = (self._repaired(units, is_open=self.open_end), self._repaired(closed, is_open=self.open_end))
        costs = (MISALIGNED * count, 0)
        found = [way._replace(cost=way.cost + more) for way, more in zip(ways, costs, strict=True) if way]
        return min(found, key=lambda way: way.cost, default=self._passed(units[0]))

    def _read(self, first: Unit) -> Reading:
        units, ends, is_open, lacking, closing = self.extent(first)
        if self.is_hopeless(first):
            return self._passed(first)
        best: Reading | None = None
        apart = MISALIGNED * (is_open and self.is_closed_beyond(units))
        for count in reversed(ends):  # of equally cheap readings the longest
            extra = self._cost_of(units[count:]) + (apart if count < len(units) else 0)
            is_all = count == len(units)
            goes_on = is_open and is_all
            for variant, more in self._variants(units[:count], lacking if is_all else None, goes_on=goes_on):
                found = self._repaired(variant, is_open=goes_on)
                if found is not None and lacking is not None and more and not found.cost:
                    continue  # what lacks is in another line
                if found is not None and (best is None or found.cost + more + extra < best.cost):
                    best = found._replace(cost=found.cost + more + extra)
        if best is None or best.cost > PASSED_LINE:
            less = self._without_torn(units)
            found = None if less is None else self._repaired(less, is_open=is_open)
            if found is not None and (best is None or found.cost + PASSED_LINE < best.cost):
                best = found._replace(cost=found.cost + PASSED_LINE)
        other = best and self._closed_by_cursor(first)
        if best and other and other.cost < best.cost + self._cost_of(self._units(best.end, self.stop)):
            best = other
        if closing:
            found = self._repaired([*closing], is_open=False)
            if found is not None and (best is None or found.cost < best.cost):
                best = found
        if self._may_end_early(units):
            other = self.early._read_from(first.start, first.end)
            if best is None or other.cost <= best.cost:
                best = other
        return best or self._passed(units[0])

    def _read_from(self, start: int, end: int) -> Reading:
        """The cheapest reading of the logical line that begins with the text from *start* to *end*."""
        return self._read(self._unit(start, end))

    def _variants(
        self, units: list[Unit], lacking: str | None, *, goes_on: bool
    ) -> Iterator[tuple[list[Unit], int]]:
        """*units*, and the same with brackets where the layout says that they lack; with what each costs.

        If a bracket of the kind *lacking* is closed after them, it is that one, unless the first of them ends
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

    def _cost_of(self, units: Sequence[Unit], most: int = MOST_UNITS) -> int:
        """What it costs that these lines are statements of their own, the last of which may go on."""
        cost = 0
        statement: list[int] = []
        for unit in units[:most]:
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
        while line is not None and self.is_hopeless(self.unit(line.start)):
            line = self.next_line(line.end)
        if line is None:
            return brackets
        chart, closed = brackets.chart, list[int]()
        for kind in self.assumed.layout.left_before(brackets.above, self.unit(line.start)):
            symbol = self.tables.terminal_of[kind]
            behind = self.assumed.before(chart, symbol)
            following = self.tables.forward.read(behind, (symbol,))
            if following is None:
                break
            chart = following
            closed.append(kind)
        return brackets.after(chart, closed, place)

    def is_apart(self, place: int, found: Reading, *, or_ends: bool = False) -> bool:
        """Whether the line from *place* on is one of its own that *found* changes, *or_ends* at its end."""
        line = self.next_line(place)
        if line is None or not self.is_line(line.start):
            return False
        unit = self.unit(line.start)
        end_of_line = unit.content + or_ends
        ways = (unit, self.early.unit(line.start))
        cut_off = {(each.end, each.end, each.missing) for way in ways for each in way.found.read}
        changes = [
            edit for edit in found.edits if edit not in cut_off
        ]  # what is cut off is so in any reading
        return any(unit.code < start and end < end_of_line for start, end, _ in changes)

    def cost_apart(self, place: int, end: int) -> int:
        """What it costs that the lines from *place* to *end* are statements of their own.

        If the last one begins with a closing bracket, something is opened in its column.
        """
        units = self._units(place, end)
        is_closed = bool(units) and self.assumed.layout.closes(units[-1])
        return self._cost_of(units, len(units)) + MISALIGNED * is_closed

    def in_place(self, start: int, chart: EarleySet, *, backward: bool = False) -> Reading | None:
        """The line at *start* inside open brackets: read after *chart*, or before it if *backward*."""
        unit = self.unit(start)
        if unit.column is None:
            return None
        if self.is_hopeless(unit):
            return self._left_out(unit)
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        found = self._repair(chart, symbols, open_end=True, backward=backward)
        if self._may_end_early((unit,)):
            other = self.early.in_place(start, chart, backward=backward)
            if other is not None and (found is None or other.cost <= found.cost + INSERTED):
                return other
        is_cut_off = any(lexeme.missing for lexeme in unit.found.read)
        if found is None or (is_cut_off and found.cost >= PASSED and self.tables.offside):
            return self._left_out(unit)
        reading = self._as_reading([unit], found)
        edits = [(a, b, new or b"\n" * (b == unit.end > a)) for a, b, new in reading.edits]
        return reading._replace(edits=tuple(edits))  # where a line ended with a separator, it still ends

    def _left_out(self, unit: Unit) -> Reading:
        """The reading of *unit* inside brackets as a line of which nothing is read."""
        assert unit.column is not None
        return Reading(PASSED_LINE, unit.start, unit.end, unit.column, ((unit.code, unit.content, b""),))

    def within(self, place: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The rest of a logical line inside brackets, from *place* on, where the Earley set is *chart*.

        Its lines *above* are known. None if no repair was found.
        """
        units: list[Unit] = []
        first, begin, is_loose = above[0], place, self.are_unaligned(above)
        while place < self.stop and len(units) < MOST_UNITS:
            unit = self.unit(place)
            if self._is_outside(unit, first) and not self.is_hopeless(unit) and not is_loose:
                break
            unit = passed_over(unit) if self.is_hopeless(unit) else unit
            units.append(unit)
            place = unit.end
            is_deeper = unit.column is None or unit.column.deeper_than(first.column or Column())
            if not is_deeper and not (is_loose and self.is_part(unit)):
                break
        found = self._within(list(units), chart, above, goes_on=len(units) == MOST_UNITS)
        count = self._own_lines_behind(units, chart)
        if count:
            opens = self._opens(units[count - 1].end, first.column or Column())
            other = self._searched(units[:count], chart, goes_on=False, opens=opens)
            if other is not None and (found is None or other.cost < found.cost):
                found = other
        if self._may_end_early(units):
            other = self.early.within(begin, chart, above)
            if other is not None and (found is None or other.cost <= found.cost):
                return other
        return found

    def near(self, place: int, end: int, chart: EarleySet, above: Sequence[Unit]) -> Reading | None:
        """The lines from *place* to *end* inside brackets, which cannot be read after *chart*.

        Those *above* are lines of the same brackets before them. None if no repair was found.
        """
        units = self._units(place, end)
        read = [passed_over(unit) if self.is_hopeless(unit) else unit for unit in units]
        found = self._within(read, chart, above, goes_on=True, then=self._line_behind(end))
        if self._may_end_early(units):
            other = self.early.near(place, end, chart, above)
            if other is not None and (found is None or other.cost <= found.cost + INSERTED):
                return other
        return found if found is not None and found.edits and found.cost < PASSED_LINE else None

    def _line_behind(self, end: int) -> Unit | None:
        """The line at *end*; of the cursor's what is known of it; None if that is nothing."""
        if end < self.stop:
            return self.unit(end)
        then = self.then
        if then is None or then.column is None:
            return None
        closers = tuple(Lexeme(kind, end, end) for kind in then.closes)
        return Unit(end, end, then.column, Lexemes(closers, (), joined=False))

    def _own_lines_behind(self, units: Sequence[Unit], chart: EarleySet) -> int:
        """How many of *units* can be read after *chart* before one that cannot, but begins as a line does."""
        following: EarleySet | None = chart
        for count, unit in enumerate(units):
            symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
            if not symbols:
                continue
            following = self.assumed.before(chart, symbols[0]) if chart is following else following
            following = following and self.tables.forward.read(following, symbols)
            if following is None:
                return count if self.begins_line(unit) else 0
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
            other = self.early.inside(units[0].start, end, chart)
            if other is not None and (found is None or other.cost <= found.cost):
                return other
        return found

    def unclosed(self, line: Unit, place: int, end: int, chart: EarleySet) -> Reading | None:
        """The lines from *place* to *end* in brackets that *line* opens, which are closed behind them.

        The Earley set in the innermost one is *chart*.
        """
        layout, units = self.assumed.layout, self._units(place, end)
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
        """The cheapest reading of *units* after *chart*, with brackets closed where the layout says so.

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
            found = self._searched(variant, chart, goes_on=goes_on)
            if found is not None and (best is None or found.cost + more < best.cost):
                best = found._replace(cost=found.cost + more)
        return best

    def _searched(
        self, units: list[Unit], chart: EarleySet, *, goes_on: bool, opens: bool | None = None
    ) -> Reading | None:
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.found.read])
        line_ends = list(accumulate(len(unit.found.read) for unit in units))
        if not symbols:
            return None
        start = self.assumed.before(chart, symbols[0])
        found = self._repair(start, symbols, opens, line_ends=line_ends, open_end=goes_on)
        if found is None:
            return None
        units[0] = units[0]._replace(column=units[0].column or Column())
        return self._as_reading(units, found)
