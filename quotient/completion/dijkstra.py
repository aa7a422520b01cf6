"""Finds the cheapest sequences of symbols that complete a middle, with Dijkstra's algorithm.

From an Earley set, the missing symbols are the rest of one of its rules, then the rest of a rule that waits
for that one, and so on up to the root. This is a shortest-path problem whose edges are rests of rules; the
cheapest derivation of each symbol is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.costs import CheapestSentences

Symbols = tuple[int, ...]
_Path = tuple["_Path", Symbols] | None
_Queue = list[tuple[int, int, "Source", int, EarleySet, _Path]]


class Source:
    """An Earley set to start from, `chart`; the text `prefix` leads to it and has the cost `cost`."""

    __slots__ = ("chart", "cost", "prefix")

    def __init__(self, chart: EarleySet, cost: int, prefix: bytes) -> None:
        self.chart = chart
        self.cost = cost
        self.prefix = prefix


def completions(
    cheapest: CheapestSentences, sources: list[Source], start: EarleySet, root: int
) -> Iterator[tuple[Source, Symbols]]:
    """Ways to complete *root*, cheapest first: the source, and the missing symbols.

    *root* is a nonterminal that must derive everything since the set *start*. Each source has a search of its
    own, because not every sequence of symbols can be written after every source.
    """
    serial = count()
    queue: _Queue = []
    for source in sources:
        for symbol, origin, rest in beginnings(source.chart, start, root):
            _push(queue, serial, cheapest, source.cost, source, symbol, origin, rest, None)
    done: set[tuple[Source, int, EarleySet]] = set()
    while queue:
        cost, _, source, symbol, origin, path = heappop(queue)
        if origin is start and symbol == root:
            yield source, _symbols(path)
            continue
        if (source, symbol, origin) in done:
            continue
        done.add((source, symbol, origin))
        if not len(done) % EVERY:
            checkpoint()
        for lhs, earlier, rest in waiting(symbol, origin):
            if (source, lhs, earlier) not in done:
                _push(queue, serial, cheapest, cost, source, lhs, earlier, rest, path)


def _push(
    queue: _Queue,
    serial: Iterator[int],
    cheapest: CheapestSentences,
    cost: int,
    source: Source,
    symbol: int,
    origin: EarleySet,
    rest: Symbols,
    path: _Path,
) -> None:
    more = cheapest.of(rest)
    if more is not None:
        heappush(queue, (cost + more, next(serial), source, symbol, origin, (path, rest)))


def beginnings(chart: EarleySet, start: EarleySet, root: int) -> Iterator[tuple[int, EarleySet, Symbols]]:
    """The rules that are open at *chart*: what they derive, where they began, and the symbols missing."""
    for state, origin in chart.entries:
        for item in state.items:
            yield state.rules.lhs_of(item), origin, state.rules.unread(item)
    if chart is start:
        yield root, start, (root,)


def waiting(symbol: int, origin: EarleySet) -> Iterator[tuple[int, EarleySet, Symbols]]:
    """As `beginnings`, for the rules that go on with a *symbol* that began at *origin*."""
    for state, earlier in origin.waiting:
        for item in state.by_symbol.get(symbol, ()):
            yield state.rules.lhs_of(item), earlier, state.rules.unread(item)
    for state in origin.predicted.after(symbol):
        for item in state.items:
            yield state.rules.lhs_of(item), origin, state.rules.unread(item)


def _symbols(path: _Path) -> Symbols:
    parts: list[Symbols] = []
    while path is not None:
        path, rest = path
        parts.append(rest)
    return tuple(symbol for part in reversed(parts) for symbol in part)
