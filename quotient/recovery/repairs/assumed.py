"""Text that is assumed where a broken file lacks it, such as headers; made from the grammar alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.columns import Column
from fimlsp.quotient.completion.dijkstra import Source, completions
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.earley.sets import EarleySet, merged
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.layout.brackets import Layout
from fimlsp.quotient.recovery.layout.lexemes import Lexemes
from fimlsp.quotient.recovery.repairs.changes import Repair
from fimlsp.quotient.recovery.repairs.line_ends import LineEnds, word_of

_MOST_REPAIRS = 1_000
_STEP = 4
_TAB = 8


class Header(NamedTuple):
    """A header, such as `if x:`, as text, with what it costs to assume it.

    Its terminals are `symbols`. `expects` are those that may follow its block in its column; `whole` tells
    that none has to.
    """

    cost: int
    symbols: tuple[int, ...]
    text: bytes
    whole: bool
    expects: frozenset[int]


class Assumed:
    """Makes text to be assumed, for a language with a layout."""

    def __init__(self, tables: LanguageTables) -> None:
        self.tables = tables
        self.ends = LineEnds(tables)
        self.repairs: BoundedDict[Hashable, Repair | None] = BoundedDict(_MOST_REPAIRS)
        self.lexemes: WeighedDict[tuple[bytes, bool], Lexemes] = WeighedDict(
            4 * MEGABYTE, lambda key, found: 300 + len(key[0]) + 100 * len(found.read)
        )
        self._inside: dict[str, EarleySet] = {}
        self._before: BoundedDict[tuple[EarleySet, int], EarleySet] = BoundedDict(_MOST_REPAIRS)

    @cached_property
    def headers(self) -> list[Header]:
        """One header for each terminal that a header may begin with, the cheapest first."""
        return sorted(self._headers())

    def _headers(self) -> Iterator[Header]:
        tables = self.tables
        bodies = frozenset((tables.file_body,))
        start = tables.forward.start(bodies)
        scan = tables.forward.earley.scan
        for first in sorted(start.expected() & self.ends.costs.keys()):
            chart = scan(start, (first,))
            way = chart and self.ends.of(chart).get(True)
            if chart is None or not way:
                continue
            last = tables.forward.read(chart, (*way[1], tables.newline))
            suites = [suite for suite in tables.suites if last is not None and last.expects(suite)]
            after = last and tables.forward.earley.scan(last, suites)
            if after is not None and tables.file_body in {tables.suites[suite] for suite in suites}:
                expects = after.expected() & self.ends.costs.keys()
                whole = bool(after.completed_from(start) & bodies)
                symbols = (first, *way[1])
                cost = self.ends.costs[first] + way[0]
                yield Header(cost, symbols, self.words(symbols), whole, frozenset(expects))

    def header(self, clause: int | None, behind: EarleySet | None = None) -> bytes:
        """A header whose block may be followed by a line that begins with the terminal *clause*.

        It is one that may follow an unfinished group *behind* which it stands, if any.
        """
        headers = [each for each in self.headers if behind is not None and behind.expects(each.symbols[0])]
        headers = headers or self.headers
        fitting = (header for header in headers if clause in header.expects)
        whole = (header for header in headers if header.whole)
        return next(fitting, next(whole, headers[0])).text

    def unfinished(self, symbols: Sequence[int]) -> EarleySet | None:
        """The set behind a line of the terminals *symbols* that may not end its group; None if it may."""
        bodies = frozenset((self.tables.file_body,))
        start = self.tables.forward.start(bodies)
        chart = self.tables.forward.read(start, (*symbols, self.tables.newline))
        return None if chart is None or chart.completed_from(start) & bodies else chart

    def words(self, symbols: Iterable[int]) -> bytes:
        """Terminals of one line as text."""
        return b" ".join(word_of(self.tables, symbol) for symbol in symbols)

    @cached_property
    def in_brackets(self) -> frozenset[int]:
        """The terminals that may stand in brackets; a line that begins with another is outside them."""
        tables = self.tables
        inside: set[int] = set()
        for production in tables.grammar.productions:
            depth = 0
            for symbol in production.rhs:
                inside.update((symbol,) if depth else ())
                if symbol in tables.enclosures:
                    depth += 1 if tables.enclosures.unmatched((symbol,))[1] else -1
        waiting = list(inside)
        while waiting:
            for production in tables.grammar.productions_of(waiting.pop()):
                fresh = set(production.rhs) - inside
                inside |= fresh
                waiting += fresh
        return frozenset(inside)

    def inside(self, kind: str) -> EarleySet:
        """The set behind an open bracket of the lexeme *kind* that begins an operand, or follows one."""
        if kind not in self._inside:
            self._inside[kind] = self._behind(kind)
        return self._inside[kind]

    def before(self, chart: EarleySet, symbol: int) -> EarleySet:
        """*chart*, or if the terminal *symbol* is not expected there, the set behind what comes before it."""
        if chart.expects(symbol):
            return chart
        key = chart, symbol
        if key not in self._before:
            self._before[key] = self._find_before(chart, symbol)
        return self._before[key]

    def _find_before(self, chart: EarleySet, symbol: int) -> EarleySet:
        costs, earley = self.ends.costs, self.tables.forward.earley
        closes = self.tables.enclosures.unmatched
        ways = sorted(
            (costs[each], each) for each in chart.expected() if each in costs and not closes((each,))[0]
        )
        found: list[EarleySet] = []
        least = 0
        for cost, each in ways:
            if found and cost > least:
                break
            following = earley.scan(chart, (each,))
            if following is not None and following.expects(symbol):
                least = cost
                found.append(following)
        return merged(earley, found) if found else chart

    def _behind(self, kind: str) -> EarleySet:
        """The set behind a bracket that begins a line, or stands behind its first lexeme or a second."""
        tables = self.tables
        opening = tables.terminal_of[tables.lexical.kinds.index(kind)]
        scan = tables.forward.earley.scan
        firsts = [scan(self.any_line, (first,)) for first in self.any_line.expected()]
        before = [self.any_line, *(self.before(chart, opening) for chart in firsts if chart is not None)]
        found = [scan(chart, (opening,)) for chart in before]
        return merged(tables.forward.earley, [chart for chart in found if chart is not None])

    def is_line(self, symbols: Sequence[int]) -> bool:
        """Whether the terminals *symbols* are a whole logical line."""
        return self.tables.forward.read(self.any_line, (*symbols, self.tables.newline)) is not None

    @cached_property
    def layout(self) -> Layout:
        """Reads brackets by columns."""
        return Layout(self.tables)

    @cached_property
    def any_line(self) -> EarleySet:
        """The set before any logical line."""
        return self.tables.line_classes.start

    def rest_of_group(self, context: LeftContext) -> bytes | None:
        """Lines that complete the last group of the innermost block of *context*, a line start."""
        tables, frame = self.tables, context.frame
        for body in sorted(frame.bodies):
            sources = [Source(context.group, 0, b"")]
            for _, symbols in completions(tables.cheapest, sources, context.start, body):
                return self.lines(tables.cheapest.expand(symbols), frame.column)
        return None

    def group_for(self, context: LeftContext, clause: int) -> bytes | None:
        """Lines that begin a group in the block of *context* that may go on with the terminal *clause*.

        None if no group may, or if groups begin with that terminal.
        """
        tables, frame = self.tables, context.frame
        headers = (each for each in self.headers if clause in each.expects)
        header = None if context.start.expects(clause) else next(headers, None)
        chart = header and tables.forward.read(context.start, (*header.symbols, tables.newline))
        if header is None or chart is None:
            return None
        for body in sorted(frame.bodies):
            for _, symbols in completions(tables.cheapest, [Source(chart, 0, b"")], context.start, body):
                rest = self.lines(tables.cheapest.expand(symbols), frame.column)
                return indentation(frame.column) + header.text + b"\n" + rest
        return None

    def lines(self, symbols: Sequence[int], column: Column) -> bytes:
        """Terminals, layout included, as lines of which the first has *column*."""
        tables = self.tables
        text, line, steps = b"", list[bytes](), 0
        for symbol in symbols:
            if symbol == tables.newline:
                text += indentation(column) + b" " * _STEP * steps + b" ".join(line) + b"\n"
                line = []
            elif symbol in (tables.indent, tables.dedent):
                steps += 1 if symbol == tables.indent else -1
            else:
                line.append(word_of(tables, symbol))
        return text


def indentation(column: Column) -> bytes:
    """White space whose width is *column*, by both measures."""
    tabs = min((column.tabs8 - column.tabs1) // (_TAB - 1), column.tabs8 // _TAB)
    return b"\t" * tabs + b" " * (column.tabs1 - tabs)
