"""The cheapest repair of one logical line: lexemes are passed over or assumed until it is valid.

A search by cost from the first lexeme that is not expected, as Corchuelo et al. 2002 and Diekmann and Tratt
(CPCT+, ECOOP 2020) do it: at such a lexeme either it is passed over, or another one is assumed before it, or
the rest of the line is passed over. The search is bounded; its last resort is the latter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from itertools import count

from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.repairs.changes import Change, Path, Repair, changes_of, read_with, turned
from fimlsp.quotient.recovery.repairs.costs import (
    HEADER,
    MISFIT,
    OWN_LINE,
    PASSED,
    PASSED_LINE,
    PASSED_REST,
)
from fimlsp.quotient.recovery.repairs.line_ends import INSERTED, LineEnds
from fimlsp.quotient.recovery.repairs.places import Before, Place, Run, Stuck
from fimlsp.quotient.recovery.repairs.prices import Prices, line_with

_MOST_STEPS = 60
_MOST_ASSUMED = 4
_AHEAD = 16
_NEAR = 3
_BACK = 12

_Way = tuple[int, tuple[int, ...]]


class Search:
    """The search for the repair of a line whose lexemes are the terminals *symbols*.

    *opens* tells whether the lines that follow form its block; None if that is unknown. A line with an
    *open_end* need not end. *line_ends* are the numbers of the lexemes before which its physical lines end. A
    *backward* search reads the line from its end, and gives the repair in the order of the text.
    """

    def __init__(
        self,
        tables: LanguageTables,
        ends: LineEnds,
        symbols: Sequence[int],
        opens: bool | None = None,
        *,
        line_ends: Sequence[int] = (),
        open_end: bool = False,
        backward: bool = False,
    ) -> None:
        self.scan = (tables.backward if backward else tables.forward).earley.scan
        self.tables = tables
        self.neighbours = tables.neighbours
        self.enclosures = tables.enclosures
        self.newline = tables.newline
        self.ends = ends
        self.symbols = symbols[::-1] if backward else symbols
        self.opens = opens
        self.line_ends = (*line_ends, len(symbols))
        self.open_end = open_end or backward
        self.backward = backward
        self.prices = Prices(
            tables, ends, self.symbols, self.line_ends, open_end=self.open_end, backward=backward
        )
        self._queue: list[Place] = []
        self._stuck: deque[Stuck] = deque()
        self._serial = count()
        self._lacks_opener = bool(self.enclosures.unmatched(symbols)[0])
        self._any_line = tables.line_classes.start if tables.offside else None

    def best(self, start: EarleySet) -> Repair | None:
        """The cheapest repair of the line after *start*; None if none was found."""
        self._push(0, 0, start, None)
        self._begin_header(start)
        best: Repair | None = None
        size = len(self.symbols)
        for _ in range(_MOST_STEPS):
            found = self._cheapest(PASSED_LINE if best is None else best.cost)
            if found is None:
                break
            cost, negative, _, chart, path = found
            run = self._run(-negative, chart)
            if run.number < size:
                if self._is_ended(run.chart, run.number) or self._closes_none(run.chart, run.number, path):
                    self._unclose(cost, run.closed, path)
                self._stuck.append(Stuck(cost, path, run))
            else:
                self._close_header(cost, run.trail[-1:], path)
                if self._has_deeper(run.chart):
                    cost += MISFIT
                    self._unclose(cost - MISFIT, run.closed, path)
                best = min(filter(None, (best, self._ended(cost, run.chart, path))), default=None)
        return best

    def _run(self, number: int, chart: EarleySet) -> Run:
        """The lexemes from *number* on, read after *chart* as far as they are expected."""
        run = Run(number, chart)
        while run.number < len(self.symbols):
            following = self._after(run.chart, run.number)
            if following is None:
                break
            closes, opens = self.enclosures.unmatched((self.symbols[run.number],))
            run.read(following, begins_line=run.number in self.line_ends, closes=closes, opens=opens)
        return run

    def _cheapest(self, limit: int) -> Place | None:
        """Takes the cheapest place to go on from; None if it is not cheaper than *limit*.

        Where no lexeme is expected, changes are made only when they may be the cheapest, as most never are.
        """
        while self._stuck:
            least = self._stuck[0].cost + INSERTED
            if least >= limit or (self._queue and least > self._queue[0][0]):
                break
            self._change_at(self._stuck.popleft())
        return heappop(self._queue) if self._queue and self._queue[0][0] < limit else None

    def _change_at(self, stuck: Stuck) -> None:
        """Go on from *stuck* in all ways."""
        cost, path, run = stuck
        index, chart, line = run.number, run.chart, run.line
        if not self._change(cost, index, chart, path) and not self.backward:
            self._assume_two(cost, index, chart, path)
        if self.backward:
            return
        if not self._is_ended(chart, index):
            self._assume_before(cost, index, run.nearest(_NEAR), path)
        if not self._closes(index) and self._line_lacks_opener(index):
            self._open_before(cost, index, run.trail[-_BACK:], path)
        if line is not None and line[0] < index <= line[0] + _BACK:
            self._change_before(cost, index, line, path)

    def _begin_header(self, start: EarleySet) -> None:
        """Begin with one more lexeme if a line that ends and is followed like a header is one with that."""
        size = len(self.symbols)
        if not self.opens or self.backward or not size or not self._ends_header(size - 1):
            return
        expected = start.expected() & self.ends.costs.keys()
        ways = sorted((self.ends.costs[each], (each,)) for each in expected if each not in self.enclosures)
        for price, symbols, following in self._read_on(start, ways, 0, size - 1):
            if following.expects(self.newline):
                self._push(price, size, following, (None, Change(0, symbols)))

    def _close_header(self, cost: int, trail: Sequence[Before], path: Path) -> None:
        """Go on before the last lexeme, if it ends a header, but not in the bracket that is open there."""
        for index, chart in trail if self.opens and self._ends_header(len(self.symbols) - 1) else ():
            closers = [each for each in chart.expected() & self.ends.kinds if self._is_closer(each)]
            for each in closers:
                following = self.scan(chart, (each,))
                if following is not None and following.expects(self.symbols[index]):
                    self._push(cost + self.ends.costs[each], index, following, (path, Change(index, (each,))))

    def _unclose(self, cost: int, closed: Before | None, path: Path) -> None:
        """Go on behind the bracket that was closed last, which is passed over."""
        if closed is not None:
            self._push(cost + PASSED, closed[0] + 1, closed[1], (path, Change(closed[0])))

    def _has_deeper(self, chart: EarleySet) -> bool:
        """Whether a line that ends after *chart*, and is no header, has deeper ones behind it that go on."""
        is_open = self.open_end and bool(self.opens) and not self.backward
        return is_open and chart.expects(self.newline) and not self._ends_header(len(self.symbols) - 1)

    def _after(self, chart: EarleySet, index: int) -> EarleySet | None:
        """The set behind lexeme number *index* after *chart*; None if it is not expected."""
        return None if self._is_ended(chart, index) else self.scan(chart, (self.symbols[index],))

    def _is_ended(self, chart: EarleySet, index: int) -> bool:
        """Whether the logical line ends before lexeme number *index*, as it begins a physical one."""
        return self._begins_line(index) and chart.expects(self.newline)

    def _begins_line(self, index: int) -> bool:
        """Whether lexeme number *index* begins a physical line behind the first, and lines count."""
        return index > 0 and index in self.line_ends and self._any_line is not None and not self.backward

    def _push(self, cost: int, index: int, chart: EarleySet, path: Path) -> None:
        heappush(self._queue, (cost, -index, next(self._serial), chart, path))

    def _change(self, cost: int, index: int, chart: EarleySet, path: Path) -> bool:
        """Go on behind the lexeme of number *index*, which is not expected; whether one before it will do."""
        extra = OWN_LINE if self._is_in_own_line(index) or self._closes_none(chart, index, path) else 0
        passed = PASSED + (OWN_LINE if self._ends_header(index) else extra)
        self._push(cost + passed, index + 1, chart, (path, Change(index)))
        rest = path
        end = next(end for end in self.line_ends if end > index)
        for number in range(index, end):
            rest = rest, Change(number)
        self._push(cost + PASSED_REST, end, chart, rest)
        found = sorted(self._assumed_before(index, chart), key=lambda way: (-way[0], way[2]))
        likely = found[:_MOST_ASSUMED]
        if self._lacks_opener:
            likely += [way for way in found[_MOST_ASSUMED:] if self._opens(way[3])]
        for place, following, more, assumed in likely:
            self._push(cost + more + extra, place, following, (path, Change(index, (assumed,))))
        return bool(found)

    def _assumed_before(self, index: int, chart: EarleySet) -> Iterator[tuple[int, EarleySet, int, int]]:
        """What may be assumed before lexeme number *index*: how far it leads, the set there, cost, terminal.

        The cheapest come first, and of these what the line has elsewhere. What cannot lead further than as
        many cheaper ones as are tried is left out.
        """
        symbol = self.symbols[index]
        meeting = [each for each in chart.expected() & self.ends.kinds if self._may_meet(each, symbol)]
        furthest, count, seen = min(index + _AHEAD, len(self.symbols)), 0, {*self.symbols}
        for more, _, assumed in sorted(
            (self.ends.costs[each] + self.prices.beside(index, each), each not in seen, each)
            for each in meeting
        ):
            if count >= _MOST_ASSUMED and not (self._lacks_opener and self._opens(assumed)):
                continue
            following = self.scan(chart, (assumed,))
            if following is not None and following.expects(symbol):
                place, advanced = self._advanced(following, index)
                count += place == furthest
                yield place, advanced, more + self.prices.to_go_on(index, chart, assumed, advanced), assumed

    def _opens(self, symbol: int) -> bool:
        """Whether *symbol* is an opening bracket."""
        return self.enclosures.unmatched((symbol,))[1]

    def _assume_two(self, cost: int, index: int, chart: EarleySet, path: Path) -> None:
        """Go on behind lexeme number *index*, before which two are assumed, the first in the cheapest way."""
        cost += OWN_LINE if self._is_in_own_line(index) else 0
        ways = sorted((self.ends.costs[each], (each,)) for each in chart.expected() & self.ends.kinds)
        if plain := [way for way in ways if way[1][0] not in self.enclosures]:
            price, first, operand = self._operand(chart, plain)
            expected = operand.expected() & self.ends.kinds
            more = sorted((price + self.ends.costs[each], (first, each)) for each in expected)
            for total, symbols, following in self._read_on(operand, more, index, index):
                self._push(cost + total, index + 1, following, (path, Change(index, symbols)))

    def _change_before(self, cost: int, index: int, begun: Before, path: Path) -> None:
        """Go on behind lexeme number *index*: something is assumed before its line.

        That is one lexeme, or an operand that the line before lacks, and one more.
        """
        first, chart = begun
        extra = OWN_LINE if self._begins_own_line(first) else 0
        ways = sorted((self.ends.costs[each], (each,)) for each in chart.expected() & self.ends.costs.keys())
        found = list(self._read_on(chart, ways, first, index))
        if plain := [way for way in ways if way[1][0] not in self.enclosures]:
            price, symbol, operand = self._operand(chart, plain)
            expected = operand.expected() & self.ends.costs.keys()
            more = sorted((price + self.ends.costs[each], (symbol, each)) for each in expected)
            found += self._read_on(operand, more, first, index)
        for price, symbols, following in found:
            self._push(cost + price + extra, index + 1, following, (path, Change(first, symbols)))

    def _assume_before(self, cost: int, index: int, trail: Sequence[Before], path: Path) -> None:
        """Go on behind lexeme number *index*: another one is assumed before one of the last in its line.

        What a logical line begins with stays.
        """
        for first, chart in trail:
            if not first:
                continue
            expected = chart.expected() & self.ends.kinds
            plain = [each for each in expected if each not in self.enclosures]
            ways = sorted((self.ends.costs[each], (each,)) for each in plain)
            for price, symbols, following in self._read_on(chart, ways, first, index):
                self._push(cost + price, index + 1, following, (path, Change(first, symbols)))

    def _open_before(self, cost: int, index: int, trail: Sequence[Before], path: Path) -> None:
        """Go on behind lexeme number *index*: a bracket is opened before one of the last in its line."""
        for first, chart in trail:
            expected = chart.expected() & self.ends.kinds
            openers = [each for each in expected if self._opens(each)]
            ways = sorted((self.ends.costs[each], (each,)) for each in openers)
            for price, symbols, following in self._read_on(chart, ways, first, index):
                self._push(cost + price, index + 1, following, (path, Change(first, symbols)))

    def _line_lacks_opener(self, index: int) -> bool:
        """Whether the physical line with lexeme number *index* closes a bracket that it does not open."""
        return self.enclosures.unmatched(line_with(self.symbols, self.line_ends, index))[0]

    def _closes(self, index: int) -> bool:
        """Whether the lexeme of number *index* is a closing bracket."""
        return self._is_closer(self.symbols[index])

    def _closes_none(self, chart: EarleySet, index: int, path: Path) -> bool:
        """Whether a line that goes on begins with lexeme number *index*, a closer, and no bracket is open."""
        if not self._begins_line(index) or not self._closes(index) or index + 1 in self.line_ends:
            return False
        is_closed = not self._left_open(changes_of(path), index)
        return is_closed and not any(map(self._is_closer, chart.expected()))

    def _is_closer(self, symbol: int) -> bool:
        """Whether *symbol* is a closing bracket."""
        return self.enclosures.unmatched((symbol,))[0]

    def _operand(self, chart: EarleySet, ways: Sequence[_Way]) -> tuple[int, int, EarleySet]:
        """The one of the cheapest *ways* behind which most may follow: its price, its symbol, and the set."""
        least = min(price for price, _ in ways)
        cheapest = [(symbols[0], self.scan(chart, symbols)) for price, symbols in ways if price == least]
        charts = [(symbol, following) for symbol, following in cheapest if following is not None]
        return least, *max(charts, key=lambda way: len(way[1].expected()))

    def _read_on(
        self, chart: EarleySet, ways: Sequence[_Way], first: int, index: int
    ) -> Iterator[tuple[int, tuple[int, ...], EarleySet]]:
        """Those of *ways* behind *chart* that let all lexemes from *first* to *index* follow."""
        for price, symbols in ways:
            following: EarleySet | None = None
            if self._may_meet(symbols[-1], self.symbols[first]):
                following = self.scan(chart, symbols[-1:])
            for symbol in self.symbols[first : index + 1]:
                following = following and self.scan(following, (symbol,))
            if following is not None:
                more = self.prices.to_match(symbols[-1])
                more += self.prices.to_go_on(first, chart, symbols[-1], following)
                yield price + more, symbols, following

    def _ends_header(self, index: int) -> bool:
        """Whether the lexeme of number *index* ends its physical line as headers end."""
        return (
            not self.backward and index + 1 in self.line_ends and self.symbols[index] in self.ends.of_headers
        )

    def _is_in_own_line(self, index: int) -> bool:
        """Whether the lexeme of number *index* is in a physical line that might as well stand alone."""
        starts = [end for end in self.line_ends if end <= index]
        return bool(starts) and self._begins_own_line(starts[-1])

    def _begins_own_line(self, index: int) -> bool:
        """Whether a physical line that begins a logical one begins with the lexeme of number *index*."""
        if self.backward or index not in self.line_ends or self._any_line is None:
            return False
        symbols = self.symbols[index : next(end for end in self.line_ends if end > index)]
        chart: EarleySet | None = self._any_line
        for symbol in symbols:
            chart = chart and self.scan(chart, (symbol,))
        return chart is not None and (self.enclosures.unmatched(symbols)[1] or chart.expects(self.newline))

    def _may_meet(self, read: int, following: int) -> bool:
        """Whether *following* may stand beside *read*, and the two are no brackets around nothing."""
        pair = (following, read) if self.backward else (read, following)
        if pair not in self.neighbours:
            return False
        return pair[0] not in self.enclosures or any(self.enclosures.unmatched(pair))

    def _advanced(self, chart: EarleySet, index: int) -> tuple[int, EarleySet]:
        """How far the next lexemes can be read after *chart*, and the set there."""
        for place in range(index, min(index + _AHEAD, len(self.symbols))):
            following = self._after(chart, place)
            if following is None:
                return place, chart
            chart = following
        return min(index + _AHEAD, len(self.symbols)), chart

    def _ended(self, cost: int, chart: EarleySet, path: Path) -> Repair | None:
        """The line ends after *chart*, in the cheapest way."""
        if self.open_end:
            changes = changes_of(path)
            opened = self._left_open(changes)
            cost += INSERTED * sum(opened)
            if opened and self.opens and changes and self._ends_header(len(self.symbols) - 1):
                cost += HEADER
            return Repair(cost, turned(changes, len(self.symbols)) if self.backward else changes)
        size, found = len(self.symbols), list[Repair]()
        for opens, (more, symbols) in self.ends.of(chart, most_more=MISFIT).items():
            misfit = MISFIT if self.opens is not None and opens is not self.opens else 0
            changes = changes_of((path, Change(size, symbols)) if symbols else path)
            found.append(Repair(cost + more + misfit, changes, opens))
        return min(found, default=None)

    def _left_open(self, changes: Sequence[Change], size: int | None = None) -> list[bool]:
        """For each bracket not matched at the end, or behind *size* lexemes, whether *changes* assume it."""
        opened: list[bool] = []
        for _, symbol, is_assumed in read_with(self.symbols[:size], changes):
            closes, opens = self.enclosures.unmatched((symbol,))
            if closes if self.backward else opens:
                opened.append(is_assumed)
            elif opened and (closes or opens):
                opened.pop()
        return opened
