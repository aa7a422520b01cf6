"""The cheapest repair of one logical line: lexemes are passed over or assumed until it is valid.

A search by cost from the first lexeme that is not expected, as Corchuelo et al. 2002 and Diekmann and Tratt
(CPCT+, ECOOP 2020) do it. There are three changes: the lexeme is passed over, another one is assumed before
it, or the rest of the line is passed over. The search is bounded; its last resort is the third change.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.assumed_text import LineEnds, word_of
from fimlsp.quotient.recovery.repair_costs import (
    BRACKET,
    HEADER,
    INSERTED,
    MISFIT,
    OWN_LINE,
    PASSED,
    PASSED_LINE,
    PASSED_REST,
    WORD,
    Change,
    LineRepair,
    Path,
    changes_of,
    read_with,
    turned,
)

_MOST_STEPS = 60
_MOST_ASSUMED = 4
_LOOKAHEAD = 16
_NEAR = 3
_FAR = 12

Before = tuple[int, EarleySet]
"""The index of a lexeme, and the set before it."""
SearchNode = tuple[int, int, int, EarleySet, Path]
"""The cost so far, the next lexeme's index, negative, a serial number, the set, and the changes so far."""
_Way = tuple[int, tuple[int, ...]]
"""A cost, and the terminals to assume for it."""


@dataclass(slots=True)
class Run:
    """Lexemes read without a change, up to that of this `index`, where the set is `chart`.

    `line` is the first lexeme of the last physical line, `trail` are all lexemes of it. `closed` is the last
    closing bracket, and `opened` are the brackets that are open.
    """

    index: int
    chart: EarleySet
    line: Before | None = None
    closed: Before | None = None
    trail: list[Before] = field(default_factory=list)
    opened: list[Before] = field(default_factory=list)

    def read(self, following: EarleySet, *, starts_line: bool, closes: bool, opens: bool) -> None:
        """Read the next lexeme, which may start a line, close or open a bracket, and leads to *following*."""
        current = self.index, self.chart
        if starts_line:
            self.line = current
            self.trail.clear()
        if closes:
            self.closed = current
            del self.opened[-1:]
        if opens:
            self.opened.append(current)
        self.trail.append(current)
        self.index, self.chart = self.index + 1, following

    def nearest(self, count: int) -> list[Before]:
        """The last *count* lexemes of the line, and the bracket around them, if it is not among these."""
        near = self.trail[-count:]
        return [*(bracket for bracket in self.opened[-1:] if bracket not in near), *near]


class Stuck(NamedTuple):
    """The lexeme after `run` is not expected; `path` led there for `cost`."""

    cost: int
    path: Path
    run: Run


class Prices:
    """The price of assuming lexemes in a line whose lexemes are the terminals *symbols*.

    It comes on top of their own costs: for the lexemes that they need, and for those beside them.
    *line_ends* are the indices of the lexemes before which the physical lines end, the last that of the end
    of the whole line. A line with an *open_end* need not end. If *backward*, *symbols* are read from the end.
    """

    def __init__(
        self,
        tables: LanguageTables,
        ends: LineEnds,
        symbols: Sequence[int],
        line_ends: Sequence[int],
        *,
        open_end: bool,
        backward: bool,
    ) -> None:
        self._tables = tables
        self._enclosures = tables.enclosures
        self._ends = ends
        self._symbols = symbols
        self._line_ends = line_ends
        self._open_end = open_end
        self._backward = backward
        self._lacks_opener = bool(self._enclosures.unmatched(symbols[::-1] if backward else symbols)[0])

    def to_match(self, assumed: int) -> int:
        """The price of matching *assumed*, if it is a bracket that no bracket of the line matches."""
        closes, opens = self._enclosures.unmatched((assumed,))
        if self._backward and opens:
            return 0 if self._lacks_opener else BRACKET
        return BRACKET if closes is self._backward and (closes or opens) else 0

    def to_continue(self, index: int, chart: EarleySet, assumed: int, following: EarleySet) -> int:
        """The price of *assumed* if it is a word that still needs more, as `lambda` needs its colon.

        It stands after *chart*, before lexeme *index*, and the set is *following* some lexemes later. Nothing
        if the bracket around it is closed.
        """
        word = word_of(self._tables, assumed)
        if not self._open_end or self._backward or len(word) == 1 or not word.isalpha():
            return 0
        if self._enclosures.unmatched(self._symbols[index:])[0]:
            return 0
        before, after = (
            min((cost for cost, _ in self._ends.of(each).values()), default=0) for each in (chart, following)
        )
        return WORD if after > before else 0

    def beside(self, index: int, assumed: int) -> int:
        """As `to_match`, and the price of closing a bracket around nothing before lexeme *index*.

        If its line leaves another bracket open as well, the same is the price of not closing it.
        """
        cost = self.to_match(assumed)
        if not index or self._symbols[index - 1] not in self._enclosures:
            return cost
        before = self._symbols[index - 1]
        pair = (assumed, before) if self._backward else (before, assumed)
        closes = assumed in self._enclosures and not any(self._enclosures.unmatched(pair))
        opens = self._enclosures.unmatched((before,))[1]
        lacks_closer = opens and not self._backward and self._opened_in_line(index) > 1
        return cost + (closes is not lacks_closer)

    def _opened_in_line(self, index: int) -> int:
        """The number of brackets that the physical line with lexeme *index* leaves open."""
        depth = 0
        for symbol in line_with(self._symbols, self._line_ends, index):
            closes, opens = self._enclosures.unmatched((symbol,))
            depth = max(depth + opens - closes, 0)
        return depth


def line_with(symbols: Sequence[int], line_ends: Sequence[int], index: int) -> Sequence[int]:
    """Those of *symbols* that are in the physical line of lexeme *index*."""
    start = max((end for end in line_ends if end <= index), default=0)
    return symbols[start : next(end for end in line_ends if end > index)]


class Search:
    """The search for the repair of a line whose lexemes are the terminals *symbols*.

    *opens* is True if the lines that follow form its block; None if that is unknown. A line with an
    *open_end* need not end. *line_ends* are the indices of the lexemes before which its physical lines end. A
    *backward* search reads the line from its end, and returns the repair in the order of the text.
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
        self._queue: list[SearchNode] = []
        self._stuck: deque[Stuck] = deque()
        self._serial = count()
        self._lacks_opener = bool(self.enclosures.unmatched(symbols)[0])
        self._any_line = tables.line_classes.start if tables.offside else None

    def best(self, start: EarleySet) -> LineRepair | None:
        """The cheapest repair of the line after *start*; None if none was found."""
        self._push(0, 0, start, None)
        self._start_header(start)
        best: LineRepair | None = None
        size = len(self.symbols)
        for _ in range(_MOST_STEPS):
            node = self._cheapest(PASSED_LINE if best is None else best.cost)
            if node is None:
                break
            cost, negative, _, chart, path = node
            run = self._run(-negative, chart)
            if run.index < size:
                if self._is_ended(run.chart, run.index) or self._closes_none(run.chart, run.index, path):
                    self._unclose(cost, run.closed, path)
                self._stuck.append(Stuck(cost, path, run))
            else:
                self._close_header(cost, run.trail[-1:], path)
                if self._has_deeper(run.chart):
                    cost += MISFIT
                    self._unclose(cost - MISFIT, run.closed, path)
                best = min(filter(None, (best, self._ended(cost, run.chart, path))), default=None)
        return best

    def _run(self, index: int, chart: EarleySet) -> Run:
        """The lexemes from *index* on, read after *chart* as far as they are expected."""
        run = Run(index, chart)
        while run.index < len(self.symbols):
            following = self._after(run.chart, run.index)
            if following is None:
                break
            closes, opens = self.enclosures.unmatched((self.symbols[run.index],))
            run.read(following, starts_line=run.index in self.line_ends, closes=closes, opens=opens)
        return run

    def _cheapest(self, limit: int) -> SearchNode | None:
        """Takes the cheapest node from the queue; None if it is not cheaper than *limit*.

        Where no lexeme is expected, changes are made only when they may be the cheapest, as most never are.
        """
        while self._stuck:
            least = self._stuck[0].cost + INSERTED
            if least >= limit or (self._queue and least > self._queue[0][0]):
                break
            self._change_at(self._stuck.popleft())
        return heappop(self._queue) if self._queue and self._queue[0][0] < limit else None

    def _change_at(self, stuck: Stuck) -> None:
        """Queue all ways on from *stuck*."""
        cost, path, run = stuck
        index, chart, line = run.index, run.chart, run.line
        if not self._change(cost, index, chart, path) and not self.backward:
            self._assume_two(cost, index, chart, path)
        if self.backward:
            return
        if not self._is_ended(chart, index):
            self._assume_before(cost, index, run.nearest(_NEAR), path)
        if not self._closes(index) and self._line_lacks_opener(index):
            self._open_before(cost, index, run.trail[-_FAR:], path)
        if line is not None and line[0] < index <= line[0] + _FAR:
            self._change_before(cost, index, line, path)

    def _start_header(self, start: EarleySet) -> None:
        """Assume a first lexeme if that makes a header of a line that ends and is followed like one."""
        size = len(self.symbols)
        if not self.opens or self.backward or not size or not self._ends_header(size - 1):
            return
        ways = [way for way in self._ways(start, self.ends.costs.keys()) if way[1][0] not in self.enclosures]
        for price, symbols, following in self._read_on(start, ways, 0, size - 1):
            if following.expects(self.newline):
                self._push(price, size, following, (None, Change(0, symbols)))

    def _close_header(self, cost: int, trail: Sequence[Before], path: Path) -> None:
        """Close the open bracket before the last lexeme, if that ends a header."""
        for index, chart in trail if self.opens and self._ends_header(len(self.symbols) - 1) else ():
            for closer in filter(self._is_closer, chart.expected() & self.ends.kinds):
                following = self.scan(chart, (closer,))
                if following is not None and following.expects(self.symbols[index]):
                    change = Change(index, (closer,))
                    self._push(cost + self.ends.costs[closer], index, following, (path, change))

    def _unclose(self, cost: int, closed: Before | None, path: Path) -> None:
        """Pass over the bracket that was closed last, and continue after it."""
        if closed is not None:
            self._push(cost + PASSED, closed[0] + 1, closed[1], (path, Change(closed[0])))

    def _has_deeper(self, chart: EarleySet) -> bool:
        """True if a line that ends after *chart* without being a header has deeper ones after it."""
        is_open = self.open_end and bool(self.opens) and not self.backward
        return is_open and chart.expects(self.newline) and not self._ends_header(len(self.symbols) - 1)

    def _after(self, chart: EarleySet, index: int) -> EarleySet | None:
        """The set after lexeme *index*, read after *chart*; None if it is not expected."""
        return None if self._is_ended(chart, index) else self.scan(chart, (self.symbols[index],))

    def _is_ended(self, chart: EarleySet, index: int) -> bool:
        """True if the logical line ends before lexeme *index*, as that starts a physical one."""
        return self._starts_line(index) and chart.expects(self.newline)

    def _starts_line(self, index: int) -> bool:
        """True if lexeme *index* starts a physical line after the first, and lines matter."""
        return index > 0 and index in self.line_ends and self._any_line is not None and not self.backward

    def _push(self, cost: int, index: int, chart: EarleySet, path: Path) -> None:
        heappush(self._queue, (cost, -index, next(self._serial), chart, path))

    def _ways(self, chart: EarleySet, kinds: Set[int]) -> list[_Way]:
        """Those of *kinds* that are expected at *chart*, the cheapest first."""
        return sorted((self.ends.costs[symbol], (symbol,)) for symbol in chart.expected() & kinds)

    def _change(self, cost: int, index: int, chart: EarleySet, path: Path) -> bool:
        """Pass over lexeme *index* or the rest of its line, or assume one before it; True if that works."""
        extra = OWN_LINE if self._is_in_own_line(index) or self._closes_none(chart, index, path) else 0
        passed = PASSED + (OWN_LINE if self._ends_header(index) else extra)
        self._push(cost + passed, index + 1, chart, (path, Change(index)))
        rest = path
        end = next(end for end in self.line_ends if end > index)
        for number in range(index, end):
            rest = rest, Change(number)
        self._push(cost + PASSED_REST, end, chart, rest)
        assumed = sorted(self._assumed_before(index, chart), key=lambda way: (-way[0], way[2]))
        likely = assumed[:_MOST_ASSUMED]
        if self._lacks_opener:
            likely += [way for way in assumed[_MOST_ASSUMED:] if self._opens(way[3])]
        for reached, following, more, symbol in likely:
            self._push(cost + more + extra, reached, following, (path, Change(index, (symbol,))))
        return bool(assumed)

    def _assumed_before(self, index: int, chart: EarleySet) -> Iterator[tuple[int, EarleySet, int, int]]:
        """Terminals to assume before lexeme *index*: the index and the set that they reach, cost, terminal.

        The cheapest come first, and of these the ones that the line has elsewhere. Those are left out that
        cannot reach further than enough cheaper ones.
        """
        symbol = self.symbols[index]
        meeting = [other for other in chart.expected() & self.ends.kinds if self._may_meet(other, symbol)]
        furthest, count, seen = min(index + _LOOKAHEAD, len(self.symbols)), 0, {*self.symbols}
        for more, _, assumed in sorted(
            (self.ends.costs[other] + self.prices.beside(index, other), other not in seen, other)
            for other in meeting
        ):
            if count >= _MOST_ASSUMED and not (self._lacks_opener and self._opens(assumed)):
                continue
            following = self.scan(chart, (assumed,))
            if following is not None and following.expects(symbol):
                reached, advanced = self._advanced(following, index)
                count += reached == furthest
                price = self.prices.to_continue(index, chart, assumed, advanced)
                yield reached, advanced, more + price, assumed

    def _opens(self, symbol: int) -> bool:
        """True if *symbol* is an opening bracket."""
        return self.enclosures.unmatched((symbol,))[1]

    def _assume_two(self, cost: int, index: int, chart: EarleySet, path: Path) -> None:
        """Assume two terminals before lexeme *index*, the first in the cheapest way, and read it."""
        cost += OWN_LINE if self._is_in_own_line(index) else 0
        for total, symbols, following in self._after_operand(chart, self.ends.kinds, index, index):
            self._push(cost + total, index + 1, following, (path, Change(index, symbols)))

    def _change_before(self, cost: int, index: int, line: Before, path: Path) -> None:
        """Assume something before the line of lexeme *index*, and read up to that lexeme.

        That is one terminal, or an operand that the line before lacks, and one more.
        """
        first, chart = line
        extra = OWN_LINE if self._starts_own_line(first) else 0
        kinds = self.ends.costs.keys()
        ways = list(self._read_on(chart, self._ways(chart, kinds), first, index))
        ways += self._after_operand(chart, kinds, first, index)
        for price, symbols, following in ways:
            self._push(cost + price + extra, index + 1, following, (path, Change(first, symbols)))

    def _assume_before(self, cost: int, index: int, trail: Sequence[Before], path: Path) -> None:
        """Assume a terminal before one of the last lexemes of the line, and read up to lexeme *index*.

        The first lexeme of a logical line stays first.
        """
        for first, chart in trail:
            if not first:
                continue
            ways = [way for way in self._ways(chart, self.ends.kinds) if way[1][0] not in self.enclosures]
            for price, symbols, following in self._read_on(chart, ways, first, index):
                self._push(cost + price, index + 1, following, (path, Change(first, symbols)))

    def _open_before(self, cost: int, index: int, trail: Sequence[Before], path: Path) -> None:
        """Open a bracket before one of the last lexemes of the line, and read up to lexeme *index*."""
        for first, chart in trail:
            ways = [way for way in self._ways(chart, self.ends.kinds) if self._opens(way[1][0])]
            for price, symbols, following in self._read_on(chart, ways, first, index):
                self._push(cost + price, index + 1, following, (path, Change(first, symbols)))

    def _line_lacks_opener(self, index: int) -> bool:
        """True if the physical line with lexeme *index* closes a bracket that it does not open."""
        return self.enclosures.unmatched(line_with(self.symbols, self.line_ends, index))[0]

    def _closes(self, index: int) -> bool:
        """True if lexeme *index* is a closing bracket."""
        return self._is_closer(self.symbols[index])

    def _closes_none(self, chart: EarleySet, index: int, path: Path) -> bool:
        """True if lexeme *index* is a closer at the start of a line with more, and no bracket is open."""
        if not self._starts_line(index) or not self._closes(index) or index + 1 in self.line_ends:
            return False
        is_closed = not self._left_open(changes_of(path), index)
        return is_closed and not any(map(self._is_closer, chart.expected()))

    def _is_closer(self, symbol: int) -> bool:
        """True if *symbol* is a closing bracket."""
        return self.enclosures.unmatched((symbol,))[0]

    def _after_operand(
        self, chart: EarleySet, kinds: Set[int], first: int, index: int
    ) -> Iterator[tuple[int, tuple[int, ...], EarleySet]]:
        """As `_read_on`, for an operand and one more of *kinds* after it."""
        plain = [way for way in self._ways(chart, kinds) if way[1][0] not in self.enclosures]
        if not plain:
            return
        price, operand, following = self._operand(chart, plain)
        expected = following.expected() & kinds
        ways = sorted((price + self.ends.costs[symbol], (operand, symbol)) for symbol in expected)
        yield from self._read_on(following, ways, first, index)

    def _operand(self, chart: EarleySet, ways: Sequence[_Way]) -> tuple[int, int, EarleySet]:
        """The one of the cheapest *ways* with most continuations: its price, its symbol, and the set."""
        least = min(price for price, _ in ways)
        cheapest = [(symbols[0], self.scan(chart, symbols)) for price, symbols in ways if price == least]
        charts = [(symbol, following) for symbol, following in cheapest if following is not None]
        return least, *max(charts, key=lambda way: len(way[1].expected()))

    def _read_on(
        self, chart: EarleySet, ways: Sequence[_Way], first: int, index: int
    ) -> Iterator[tuple[int, tuple[int, ...], EarleySet]]:
        """Those of *ways* after *chart* that all lexemes from *first* to *index* may follow."""
        for price, symbols in ways:
            following: EarleySet | None = None
            if self._may_meet(symbols[-1], self.symbols[first]):
                following = self.scan(chart, symbols[-1:])
            for symbol in self.symbols[first : index + 1]:
                following = following and self.scan(following, (symbol,))
            if following is not None:
                more = self.prices.to_match(symbols[-1])
                more += self.prices.to_continue(first, chart, symbols[-1], following)
                yield price + more, symbols, following

    def _ends_header(self, index: int) -> bool:
        """True if lexeme *index* ends its physical line as headers end."""
        return (
            not self.backward and index + 1 in self.line_ends and self.symbols[index] in self.ends.of_headers
        )

    def _is_in_own_line(self, index: int) -> bool:
        """True if lexeme *index* is in a physical line that might as well stand alone."""
        starts = [end for end in self.line_ends if end <= index]
        return bool(starts) and self._starts_own_line(starts[-1])

    def _starts_own_line(self, index: int) -> bool:
        """True if lexeme *index* starts a physical line that is a logical one, or the start of one."""
        if self.backward or index not in self.line_ends or self._any_line is None:
            return False
        symbols = self.symbols[index : next(end for end in self.line_ends if end > index)]
        chart: EarleySet | None = self._any_line
        for symbol in symbols:
            chart = chart and self.scan(chart, (symbol,))
        return chart is not None and (self.enclosures.unmatched(symbols)[1] or chart.expects(self.newline))

    def _may_meet(self, read: int, following: int) -> bool:
        """True if *following* may stand beside *read*, and the two are no brackets around nothing."""
        pair = (following, read) if self.backward else (read, following)
        if pair not in self.neighbours:
            return False
        return pair[0] not in self.enclosures or any(self.enclosures.unmatched(pair))

    def _advanced(self, chart: EarleySet, index: int) -> tuple[int, EarleySet]:
        """The index up to which lexemes can be read after *chart*, and the set there."""
        for number in range(index, min(index + _LOOKAHEAD, len(self.symbols))):
            following = self._after(chart, number)
            if following is None:
                return number, chart
            chart = following
        return min(index + _LOOKAHEAD, len(self.symbols)), chart

    def _ended(self, cost: int, chart: EarleySet, path: Path) -> LineRepair | None:
        """The repair if the line ends after *chart*, in the cheapest way."""
        if self.open_end:
            changes = changes_of(path)
            opened = self._left_open(changes)
            cost += INSERTED * sum(opened)
            if opened and self.opens and changes and self._ends_header(len(self.symbols) - 1):
                cost += HEADER
            if self.opens and self.line_ends[0] == len(self.symbols):
                cost += self.ends.of(chart).get(True, (0, ()))[0]  # the text that the header still lacks
            return LineRepair(cost, turned(changes, len(self.symbols)) if self.backward else changes)
        size, repairs = len(self.symbols), list[LineRepair]()
        for opens, (more, symbols) in self.ends.of(chart, most_more=MISFIT).items():
            misfit = MISFIT if self.opens is not None and opens is not self.opens else 0
            changes = changes_of((path, Change(size, symbols)) if symbols else path)
            repairs.append(LineRepair(cost + more + misfit, changes, opens))
        return min(repairs, default=None)

    def _left_open(self, changes: Sequence[Change], size: int | None = None) -> list[bool]:
        """For each bracket open at the end, or after *size* lexemes, True if *changes* assume it."""
        opened: list[bool] = []
        for _, symbol, is_assumed in read_with(self.symbols[:size], changes):
            closes, opens = self.enclosures.unmatched((symbol,))
            if closes if self.backward else opens:
                opened.append(is_assumed)
            elif opened and (closes or opens):
                opened.pop()
        return opened
