"""The cheapest ways to end a logical line, whatever is open in it: a block may follow it or not.

They are shortest paths through the rules that are open, as in `completion/dijkstra.py`, up to the first line
end; what a nonterminal costs up to a line end is known for all of them (Knuth 1977).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from heapq import heappop, heappush
from itertools import count

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.costs import CheapestSentences, cheapest
from fimlsp.quotient.language.tables import LanguageTables

Symbols = tuple[int, ...]
Ways = dict[bool, tuple[int, Symbols]]
"""The cheapest end of a line that a block follows (True) and of one without (False): cost and terminals."""

INSERTED = 10
"""What it costs to assume a lexeme of one byte; a longer one costs more."""
_LONGER = 2
_LONGEST = 6


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
        changed = True
        while changed:
            changed = False
            for lhs, sides in alternatives.items():
                for rhs in sides:
                    changed |= self._improve(lhs, rhs)

    @cached_property
    def kinds(self) -> frozenset[int]:
        """What may be assumed: of terminals that stand in the same places, as `+` and `-`, the cheapest."""
        places: dict[int, set[tuple[int, Symbols, Symbols]]] = {}
        for production in self._grammar.productions:
            for at, symbol in enumerate(production.rhs):
                if symbol in self.costs:
                    around = production.lhs, production.rhs[:at], production.rhs[at + 1 :]
                    places.setdefault(symbol, set()).add(around)
        cheapest_of: dict[frozenset[tuple[int, Symbols, Symbols]], int] = {}
        for symbol in sorted(self.costs, key=lambda symbol: (self.costs[symbol], symbol)):
            cheapest_of.setdefault(frozenset(places.get(symbol, ())), symbol)
        return frozenset(cheapest_of.values())

    @cached_property
    def of_headers(self) -> frozenset[int]:
        """The terminals with which headers end."""
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
        """The ends of a line whose next symbols are *rest*, as far as it ends within them."""
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
        found: Ways = {}
        queue: list[tuple[int, int, int, EarleySet, Symbols]] = []

        def begin(cost: int, symbol: int, origin: EarleySet, rest: Symbols, path: Symbols) -> None:
            for is_header, (more, symbols) in self._ends_of(rest):
                if is_header not in found or cost + more < found[is_header][0]:
                    found[is_header] = cost + more, (*path, *symbols)
            if self._known.issuperset(rest):
                more = sum(self._within.costs[each] for each in rest)
                heappush(queue, (cost + more, next(serial), symbol, origin, (*path, *rest)))

        for state, origin in chart.entries:
            for item in state.items:
                begin(0, state.rules.lhs_of(item), origin, state.rules.unread(item), ())
        done: set[tuple[int, EarleySet]] = set()
        while queue:
            cost, _, symbol, origin, path = heappop(queue)
            if len(found) == 2 and cost >= max(way[0] for way in found.values()):
                break
            if found and most_more is not None and cost >= most_more + min(way[0] for way in found.values()):
                break
            if (symbol, origin) in done:
                continue
            done.add((symbol, origin))
            for state, earlier in origin.waiting:
                for item in state.by_symbol.get(symbol, ()):
                    begin(cost, state.rules.lhs_of(item), earlier, state.rules.unread(item), path)
            for state in origin.predicted.after(symbol):
                for item in state.items:
                    begin(cost, state.rules.lhs_of(item), origin, state.rules.unread(item), path)
        return {
            is_header: (cost, tuple(self._within.expand(way))) for is_header, (cost, way) in found.items()
        }


def _cost(tables: LanguageTables, terminal: int) -> int:
    word = word_of(tables, terminal)
    return INSERTED + _LONGER * min(len(word) - 1, _LONGEST)


def word_of(tables: LanguageTables, terminal: int) -> bytes:
    """A short text of a *terminal*, as it is written in the first mode that has it."""
    return min(_words(tables.lexical, tables.kinds_of[terminal]), key=len)


def _words(lexical: LexerTables, kinds: Symbols) -> Iterator[bytes]:
    starts = lexical.dfa.starts
    ordered = (lexical.start.mode, *starts)
    for kind in kinds:
        words = (lexical.shortest_words.suffix(starts[mode], kind) for mode in ordered)
        yield next(word for word in words if word is not None)
