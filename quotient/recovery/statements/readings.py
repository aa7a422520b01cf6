"""How a logical line is read: as its lexemes with the cheapest repair, or as one that is passed over."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.layout.lexemes import Lexeme
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.repairs.changes import Repair, read_with
from fimlsp.quotient.recovery.repairs.costs import PASSED_LINE
from fimlsp.quotient.recovery.repairs.line_ends import INSERTED
from fimlsp.quotient.recovery.repairs.search import Search
from fimlsp.quotient.recovery.statements.extents import MOST_UNITS, Extents, passed_over
from fimlsp.quotient.recovery.statements.lines import LEAD

Edit = tuple[int, int, bytes]
"""A span of a text, and what it is replaced by."""

_OWN_LINE = 12
"""What it costs that a line that might stand alone is in brackets of which nothing else tells."""

MISALIGNED = 15
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


class Readings(Extents):
    """Reads lines whose extents are known."""

    def _as_reading(self, units: list[Unit], found: Repair, *, lacks_header: bool = False) -> Reading:
        """How *found* reads the lines *units*."""
        read = [lexeme for unit in units for lexeme in unit.found.read]
        unreadable = [span for unit in units for span in unit.found.unreadable]
        missing = sum(bool(lexeme.missing) for lexeme in read)
        cost = (
            found.cost + INSERTED * (missing + len(unreadable)) + MISALIGNED * self._misaligned(units, found)
        )
        edits = (*_edits(self.assumed, read, found), *((start, end, b"") for start, end in unreadable))
        column = units[0].column
        assert column is not None
        return Reading(cost, units[0].start, units[-1].end, column, edits, lacks_header=lacks_header)

    def _misaligned(self, units: Sequence[Unit], found: Repair) -> int:
        """How many brackets *found* opens in a line deeper than the one that begins with their closer."""
        unmatched = self.tables.enclosures.unmatched
        if not any(unmatched(change.symbols)[1] for change in found.changes):
            return 0
        read = [(lexeme.kind, unit.column) for unit in units for lexeme in unit.found.read]
        symbols = self.tables.terminals([kind for kind, _ in read])
        begins = {*accumulate((len(unit.found.read) for unit in units), initial=0)}
        opened: list[Column | None] = []
        count = 0
        for place, symbol, is_assumed in read_with(symbols, found.changes):
            closes, opens = unmatched((symbol,))
            if opens:
                opened.append(read[max(place - 1, 0)][1] if is_assumed else None)
            elif closes and opened:
                column, own = opened.pop(), None if is_assumed else read[place][1]
                count += bool(column and own and place in begins and column.deeper_than(own))
        return count

    def _repaired(self, units: list[Unit], *, is_open: bool) -> Reading | None:
        column = units[0].column
        assert column is not None
        symbols = self.tables.terminals([lexeme.kind for unit in units for lexeme in unit.found.read])
        opens = self._opens(units[-1].end, column)
        line_ends = list(accumulate(len(unit.found.read) for unit in units))
        if not symbols:
            return None
        start = self.assumed.any_line
        found = self._repair(start, symbols, opens, line_ends=line_ends, open_end=is_open)
        if found is None:
            return None
        lacks_header = not is_open and opens is True and not found.opens
        return self._as_reading(units, found, lacks_header=lacks_header)

    def _repair(
        self,
        start: EarleySet,
        symbols: Sequence[int],
        opens: bool | None = None,
        *,
        line_ends: Sequence[int] = (),
        open_end: bool = False,
        backward: bool = False,
    ) -> Repair | None:
        """As `Search` with the same arguments finds it, cached; found again if *start* is the same set."""
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

    def _without_torn(self, units: Sequence[Unit]) -> list[Unit] | None:
        """*units* without the first line that cannot be read after those before it; None if there is none."""
        chart: EarleySet | None = self.assumed.any_line
        for number, unit in enumerate(units):
            symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
            chart = chart and self.tables.forward.read(chart, symbols)
            if chart is None:
                return [*units[:number], passed_over(unit), *units[number + 1 :]] if number else None
        return None

    def _closed_by_cursor(self, first: Unit) -> Reading | None:
        """The reading of the lines from *first* on in a bracket that it lacks, for the cursor to close.

        That line has the same column, and nothing before the cursor, and all lines between are deeper. The
        first of these is not blank, and none is a statement if *first* is a header that is cut off.
        """
        then = self.then
        if then is None or not self.open_end or then.first is not None or then.closes:
            return None
        if then.column is None or then.column != first.column or first.end >= self.stop:
            return None
        units = [first]
        while units[-1].end < self.stop and len(units) < MOST_UNITS:
            units.append(self.unit(units[-1].end))
            if units[-1].found.read and self._is_outside(units[-1], first):
                return None
        is_apart = not any(unit.found.read for unit in units[1:2])
        if is_apart or units[-1].end < self.stop or self.assumed.layout.left_open(units):
            return None
        lines = sum(
            self.is_line(unit.start) and not self.is_part(unit) for unit in units[1:] if unit.found.read
        )
        if lines and self._is_header_cut_off(first):
            return None
        ways = (self.assumed.layout.with_opener(units, kind) for kind in self.tables.lexical.brackets)
        found = [way for way in (self._repaired(units, is_open=True) for units in ways) if way is not None]
        best = min(found, key=lambda way: way.cost, default=None)
        return best and best._replace(cost=best.cost + INSERTED + _OWN_LINE * lines)

    def _is_header_cut_off(self, unit: Unit) -> bool:
        """Whether *unit* is sooner ended as a header than as another line."""
        symbols = self.tables.terminals([lexeme.kind for lexeme in unit.found.read])
        chart = self.tables.forward.read(self.assumed.any_line, symbols)
        ways = {} if chart is None else self.assumed.ends.of(chart)
        return True in ways and min(ways, key=lambda is_header: ways[is_header][0])

    def is_part(self, unit: Unit) -> bool:
        """Whether *unit* ends as lines in brackets do, with a comma."""
        return self.data[unit.content - 1 : unit.content] == b","

    def _passed(self, unit: Unit) -> Reading:
        """*unit* is passed over."""
        return self.passed(unit.start)

    def passed(self, start: int) -> Reading:
        """The line at *start* is passed over; if a block follows, a header stands in for it."""
        unit = self.physical(start)
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
            before, after = b" " * (change.place > 0), b" " * (change.place < len(read))
            text = before + assumed.words(change.symbols) + after
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
