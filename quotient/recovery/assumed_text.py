"""Text that is assumed where a broken file lacks it, made from the grammar alone: line ends and headers.

`LineEnds` finds the cheapest ways to end a logical line, whatever is open in it, with a block after it or
without. They are shortest paths through the open rules, as in `completion/dijkstra.py`, up to the first line
end. The cost of each nonterminal up to a line end is precomputed (Knuth 1977).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import count
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.grammar.cfg import CheapestSentences, cheapest, improve_all
from fimlsp.quotient.grammar.earley import EarleySet, merged
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.bracket_layout import BracketLayout
from fimlsp.quotient.recovery.lexemes import Lexemes
from fimlsp.quotient.recovery.repair_costs import INSERTED, INSERTED_BYTE, MOST_COUNTED_BYTES, LineRepair
from fimlsp.quotient.states.cheapest_sentences import Source, completions

Symbols = tuple[int, ...]
Ways = dict[bool, tuple[int, Symbols]]
"""The cheapest end of a line with a block after it (True) and of one without (False): cost and terminals."""

_MOST_REPAIRS = 1_000
_STEP = 4
_TAB = 8


class LineEnds:
    """Finds the cheapest ends of lines; made once for a language with a layout."""

    def __init__(self, tables: LanguageTables) -> None:
        self._newline = tables.newline
        self._grammar = tables.grammar
        self._suites = frozenset(tables.suites)
        layout = {tables.newline, tables.indent, tables.dedent}
        alternatives = tables.forward.rules.alternatives()
        self.costs = {
            terminal: _cost(tables, terminal) for terminal in tables.kinds_of if terminal not in layout | {-1}
        }
        self._within = CheapestSentences(*cheapest(alternatives, self.costs), tables.forward.rules)
        self._known = frozenset(self._within.costs)
        self._ends: dict[int, Ways] = {}
        improve_all([(lhs, rhs) for lhs, sides in alternatives.items() for rhs in sides], self._improve)

    @cached_property
    def kinds(self) -> frozenset[int]:
        """The terminals that may be assumed: of those with equal places, as `+` and `-`, the cheapest."""
        places: dict[int, set[tuple[int, Symbols, Symbols]]] = {}
        for production in self._grammar.productions:
            for index, symbol in enumerate(production.rhs):
                if symbol in self.costs:
                    around = production.lhs, production.rhs[:index], production.rhs[index + 1 :]
                    places.setdefault(symbol, set()).add(around)
        cheapest_of: dict[frozenset[tuple[int, Symbols, Symbols]], int] = {}
        for symbol in sorted(self.costs, key=lambda symbol: (self.costs[symbol], symbol)):
            cheapest_of.setdefault(frozenset(places.get(symbol, ())), symbol)
        return frozenset(cheapest_of.values())

    @cached_property
    def of_headers(self) -> frozenset[int]:
        """The last terminals of headers."""
        return frozenset(ways[True][1][-1] for ways in self._ends.values() if ways.get(True, (0, ()))[1])

    def _improve(self, lhs: int, rhs: Symbols) -> bool:
        changed = False
        ways = self._ends.setdefault(lhs, {})
        for is_header, (cost, symbols) in self._ends_of(rhs):
            if is_header not in ways or cost < ways[is_header][0]:
                ways[is_header] = cost, symbols
                changed = True
        return changed

    def _ends_of(self, rest: Symbols) -> Iterator[tuple[bool, tuple[int, Symbols]]]:
        """The ends of a line with the next symbols *rest*, as far as it ends within them."""
        spent = 0
        for index, symbol in enumerate(rest):
            before = rest[:index]
            if symbol == self._newline:
                yield self._suites.issuperset(rest[index + 1 : index + 2] or (-1,)), (spent, before)
                return
            for is_header, (cost, symbols) in self._ends.get(symbol, {}).items():
                yield is_header, (spent + cost, (*before, *symbols))
            if symbol not in self._known:
                return
            spent += self._within.costs[symbol]

    def of(self, chart: EarleySet, *, most_more: int | None = None) -> Ways:
        """The cheapest ends of a line after *chart*, with the terminals that are missing.

        One that costs *most_more* or more than the other is left out.
        """
        serial = count()
        ways: Ways = {}
        queue: list[tuple[int, int, int, EarleySet, Symbols]] = []

        def push(cost: int, symbol: int, origin: EarleySet, rest: Symbols, path: Symbols) -> None:
            for is_header, (more, symbols) in self._ends_of(rest):
                if is_header not in ways or cost + more < ways[is_header][0]:
                    ways[is_header] = cost + more, (*path, *symbols)
            if self._known.issuperset(rest):
                more = sum(self._within.costs[symbol] for symbol in rest)
                heappush(queue, (cost + more, next(serial), symbol, origin, (*path, *rest)))

        for state, origin in chart.entries:
            for item in state.items:
                push(0, state.rules.lhs_of(item), origin, state.rules.unread(item), ())
        done: set[tuple[int, EarleySet]] = set()
        while queue:
            cost, _, symbol, origin, path = heappop(queue)
            if len(ways) == 2 and cost >= max(way[0] for way in ways.values()):
                break
            if ways and most_more is not None and cost >= most_more + min(way[0] for way in ways.values()):
                break
            if (symbol, origin) in done:
                continue
            done.add((symbol, origin))
            for state, earlier in origin.waiting:
                for item in state.by_symbol.get(symbol, ()):
                    push(cost, state.rules.lhs_of(item), earlier, state.rules.unread(item), path)
            for state in origin.predicted.after(symbol):
                for item in state.items:
                    push(cost, state.rules.lhs_of(item), origin, state.rules.unread(item), path)
        return {is_header: (cost, tuple(self._within.expand(way))) for is_header, (cost, way) in ways.items()}


class Header(NamedTuple):
    """A header, such as `if x:`, as text, with the cost of assuming it.

    Its terminals are `symbols`. `expects` are those that may follow its block in its column. `whole` is True
    if none has to.
    """

    cost: int
    symbols: tuple[int, ...]
    text: bytes
    whole: bool
    expects: frozenset[int]


class AssumedText:
    """Makes text to be assumed in one language, and caches repairs of its lines."""

    def __init__(self, tables: LanguageTables) -> None:
        self.tables = tables
        self.ends = LineEnds(tables)
        self.repairs: BoundedDict[Hashable, LineRepair | None] = BoundedDict(_MOST_REPAIRS)
        self.lexemes: WeighedDict[tuple[bytes, bool, ModeStack | None], Lexemes] = WeighedDict(
            4 * MEGABYTE, lambda key, lexemes: 300 + len(key[0]) + 100 * len(lexemes.read)
        )
        self._inside: dict[str, EarleySet] = {}
        self._before: BoundedDict[tuple[EarleySet, int], EarleySet] = BoundedDict(_MOST_REPAIRS)
        self._after_any: BoundedDict[tuple[EarleySet, bool], EarleySet] = BoundedDict(_MOST_REPAIRS)

    @cached_property
    def headers(self) -> list[Header]:
        """The cheapest header for each possible first terminal, the cheapest first."""
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

    @cached_property
    def header_words(self) -> tuple[int, ...]:
        """The words that start headers, also those of clauses, the cheapest first."""
        scan, costs = self.tables.forward.earley.scan, self.ends.costs
        starts = sorted((costs[first], first) for first in self.any_line.expected() & costs.keys())
        charts = ((first, scan(self.any_line, (first,))) for _, first in starts)
        return tuple(first for first, chart in charts if chart and self.may_head(chart, ()))

    def header(self, clause: int | None, group: EarleySet | None = None) -> bytes:
        """A header after whose block a line may start with the terminal *clause*.

        It is one that may follow the unfinished *group* before it, if any.
        """
        headers = [header for header in self.headers if group and group.expects(header.symbols[0])]
        headers = headers or self.headers
        fitting = (header for header in headers if clause in header.expects)
        whole = (header for header in headers if header.whole)
        return next(fitting, next(whole, headers[0])).text

    def unfinished(self, symbols: Sequence[int]) -> EarleySet | None:
        """The set after a line of the terminals *symbols* that may not end its group; None if it may."""
        bodies = frozenset((self.tables.file_body,))
        start = self.tables.forward.start(bodies)
        chart = self.tables.forward.read(start, (*symbols, self.tables.newline))
        return None if chart is None or chart.completed_from(start) & bodies else chart

    def words(self, symbols: Iterable[int]) -> bytes:
        """Terminals of one line as text."""
        return b" ".join(word_of(self.tables, symbol) for symbol in symbols)

    @cached_property
    def in_brackets(self) -> frozenset[int]:
        """The terminals that may stand in brackets; a line that starts with another is outside them."""
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
        """The set after an open bracket of the lexeme *kind* that starts an operand, or follows one."""
        if kind not in self._inside:
            self._inside[kind] = self._find_inside(kind)
        return self._inside[kind]

    def _find_inside(self, kind: str) -> EarleySet:
        """The set after a bracket that starts a line, or stands after its first lexeme or a second one."""
        tables = self.tables
        opening = tables.terminal_of[tables.lexical.kinds.index(kind)]
        scan = tables.forward.earley.scan
        firsts = [scan(self.any_line, (first,)) for first in self.any_line.expected()]
        before = [self.any_line, *(self.before(chart, opening) for chart in firsts if chart is not None)]
        after = [scan(chart, (opening,)) for chart in before]
        return merged(tables.forward.earley, [chart for chart in after if chart is not None])

    def before(self, chart: EarleySet, symbol: int) -> EarleySet:
        """*chart* if the terminal *symbol* is expected there, else the set after a lexeme before it."""
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
            (costs[terminal], terminal)
            for terminal in chart.expected()
            if terminal in costs and not closes((terminal,))[0]
        )
        leading: list[EarleySet] = []
        least = 0
        for cost, terminal in ways:
            if leading and cost > least:
                break
            following = earley.scan(chart, (terminal,))
            if following is not None and following.expects(symbol):
                least = cost
                leading.append(following)
        return merged(earley, leading) if leading else chart

    def after_any(self, chart: EarleySet, *, closes: bool = True) -> EarleySet:
        """The set after *chart* and any one lexeme, or none; with *closes* it may close a bracket."""
        key = chart, closes
        if key not in self._after_any:
            earley, enclosures = self.tables.forward.earley, self.tables.enclosures
            ways = (
                earley.scan(chart, (terminal,))
                for terminal in chart.expected() & self.ends.costs.keys()
                if closes or not enclosures.unmatched((terminal,))[0]
            )
            self._after_any[key] = merged(earley, [chart, *(way for way in ways if way is not None)])
        return self._after_any[key]

    def is_line(self, symbols: Sequence[int]) -> bool:
        """True if the terminals *symbols* are a whole logical line."""
        return self.tables.forward.read(self.any_line, (*symbols, self.tables.newline)) is not None

    @cached_property
    def layout(self) -> BracketLayout:
        """Reads brackets by columns."""
        return BracketLayout(self.tables)

    @cached_property
    def plain_line(self) -> bytes:
        """The cheapest logical line that no block follows, without its end."""
        start, ways = self.any_line, list[tuple[int, Symbols]]()
        for first in sorted(start.expected() & self.ends.costs.keys()):
            chart = self.tables.forward.earley.scan(start, (first,))
            way = chart and self.ends.of(chart).get(False)
            if way:
                ways.append((self.ends.costs[first] + way[0], (first, *way[1])))
        return self.words(min(ways)[1])

    def may_head(self, chart: EarleySet, rest: Sequence[int]) -> bool:
        """True if the terminals *rest* end a header after *chart*, or some do if there are none."""
        if not rest:
            return True in self.ends.of(chart)
        last = self.tables.forward.read(chart, (*rest, self.tables.newline))
        return last is not None and any(map(last.expects, self.tables.suites))

    @cached_property
    def operand(self) -> int:
        """Of the cheapest lexemes that start a line, the one that most others may follow."""
        scan, costs = self.tables.forward.earley.scan, self.ends.costs
        starts = self.any_line.expected() & costs.keys()
        firsts = {first for first in starts if first not in self.tables.enclosures}
        least = min(costs[first] for first in firsts)
        charts = {first: scan(self.any_line, (first,)) for first in firsts if costs[first] == least}
        follow = {first: len(chart.expected()) for first, chart in charts.items() if chart is not None}
        return max(follow, key=lambda first: (follow[first], -first))

    @cached_property
    def first_words(self) -> tuple[bytes, ...]:
        """The cheapest text of each lexeme that starts a line, the cheapest first."""
        costs = self.ends.costs
        firsts = sorted(self.any_line.expected() & costs.keys(), key=lambda first: (costs[first], first))
        return tuple(word_of(self.tables, first) for first in firsts)

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
        """Lines of a group in the block of *context* that may continue with the terminal *clause*.

        None if no group may, or if groups start with that terminal.
        """
        tables, frame = self.tables, context.frame
        headers = (header for header in self.headers if clause in header.expects)
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


def _cost(tables: LanguageTables, terminal: int) -> int:
    word = word_of(tables, terminal)
    return INSERTED + INSERTED_BYTE * min(len(word) - 1, MOST_COUNTED_BYTES)


def word_of(tables: LanguageTables, terminal: int) -> bytes:
    """A short text of a *terminal*, as it is written in the first mode that has it."""
    return min(_words(tables.lexical, tables.kinds_of[terminal]), key=len)


def _words(lexical: LexerTables, kinds: Symbols) -> Iterator[bytes]:
    starts = lexical.dfa.starts
    ordered = (lexical.start.mode, *starts)
    for kind in kinds:
        words = (lexical.shortest_words.suffix(starts[mode], kind) for mode in ordered)
        yield next(word for word in words if word is not None)


def indentation(column: Column) -> bytes:
    """White space of the width *column*, by both measures."""
    tabs = min((column.tabs8 - column.tabs1) // (_TAB - 1), column.tabs8 // _TAB)
    return b"\t" * tabs + b" " * (column.tabs1 - tabs)
