"""Finds the cheapest sequences of symbols that complete a middle, with Dijkstra's algorithm.

Each way to finish the lexeme being read gives a source: an Earley set to start from. First the rest of one of
its rules is missing, then the rest of a rule that waits for that one, up to the root. This is a shortest-path
problem whose edges are rests of rules. The cheapest derivation of each symbol is known.
"""

from __future__ import annotations

from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import count
from typing import Protocol

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme
from fimlsp.quotient.bridge.middle_grammar import Connection, RightEntry
from fimlsp.quotient.grammar.cfg import CheapestSentences, Costs
from fimlsp.quotient.grammar.earley import EarleySet

Symbols = tuple[int, ...]
_Path = tuple["_Path", Symbols] | None
_Queue = list[tuple[int, int, "Source", int, EarleySet, _Path]]
_COST_OF_CLOSED_INDENT = 4
_AVOIDED = 10_000
"""The cost of a marker that no sentence should end with."""


class Incomplete(Protocol):
    """A state of a middle that the search can complete.

    `connection` holds both contexts, `chart` is the Earley set after the whole lexemes of the middle, and
    `lexer` the state within the last lexeme.
    """

    connection: Connection
    chart: EarleySet
    lexer: LexerState

    def feed(self, data: bytes) -> Incomplete | None:
        """The state after *data*; None if nothing that starts like this connects."""

    def scanned(self, symbols: list[Symbol]) -> EarleySet | None:
        """The chart after *symbols*; None if they are not expected."""

    def after_fallback(self) -> Incomplete | None:
        """The state if the lexeme being read ended earlier and the bytes since then begin the next one."""

    @property
    def live(self) -> int:
        """The kinds that the lexeme being read may become, as a bit set."""

    @property
    def complete(self) -> bool:
        """True if the middle may end here."""


class Source:
    """An Earley set to start from, `chart`; the text `prefix` leads to it and has the cost `cost`."""

    __slots__ = ("chart", "cost", "prefix")

    def __init__(self, chart: EarleySet, cost: int, prefix: bytes) -> None:
        self.chart = chart
        self.cost = cost
        self.prefix = prefix


def sentences(
    state: Incomplete, skipping: int, *, uncommon: bool = False
) -> Iterator[tuple[Source, list[int], list[RightEntry]]]:
    """The cheapest sentences of the grammar after *state*: the source, the symbols, and the right entries.

    Before the first symbol no rule is open, so a search finds a single sentence. Others avoid its marker.
    """
    grammar = state.connection.grammar
    sources = sources_of(state, uncommon=uncommon)
    avoided: frozenset[int] = frozenset()
    while True:
        cheapest = _cheapest(state.connection, skipping, avoided)
        markers: set[int] = set()
        for source, missing in completions(cheapest, sources, grammar.start, grammar.root):
            *symbols, marker = cheapest.expand(missing)
            if marker not in avoided:
                markers.add(marker)
                entries = [entry for entry in state.connection.right_entries if entry.marker == marker]
                yield source, symbols, entries
        if not markers:
            return
        avoided |= markers


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
    """The rules that are open at *chart*: left-hand side, set of its start, and missing symbols."""
    for state, origin in chart.entries:
        for item in state.items:
            yield state.rules.lhs_of(item), origin, state.rules.unread(item)
    if chart is start:
        yield root, start, (root,)


def waiting(symbol: int, origin: EarleySet) -> Iterator[tuple[int, EarleySet, Symbols]]:
    """As `beginnings`, for the rules that continue with a *symbol* that started at *origin*."""
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


def sources_of(state: Incomplete, *, uncommon: bool = False) -> list[Source]:
    """The Earley sets after each way to finish the lexeme being read."""
    lexer = state.lexer
    if lexer.at_lexeme_start:
        return [Source(state.chart, 0, b"")]
    live = state.live
    skipped = _after_skipped(state, live)
    if skipped:
        return skipped
    ends = _after_words(state, live) if uncommon else _after_lexemes(state, live)
    sources = [*ends, *_after_fallback(state)]
    if lexer.lexical.separation is not None:
        for kind in lexer.lexical.blank:
            sources += _after_blank(state, kind) if live & 1 << kind else ()
    return sources


def _after_blank(state: Incomplete, kind: int) -> Iterator[Source]:
    """The sources if the lexeme being read is of *kind*, which means nothing."""
    lexical = state.lexer.lexical
    suffix = lexical.shortest_words.suffix(state.lexer.state, kind)
    if suffix is not None:
        for between in lexical.between:
            yield Source(state.chart, len(suffix + between), suffix + between)


def _after_skipped(state: Incomplete, live: int) -> list[Source]:
    """As `_sources` if the lexeme being read may be one that never reaches the grammar; else none."""
    lexical = state.lexer.lexical
    if live & lexical.ends_line and (sources := _after_line_end(state, live)):
        return sources
    for kind in lexical.blank:
        if live & lexical.always_viable & 1 << kind:
            # after a carriage return, a line end written next would be part of the same line end
            return list(_after_blank(state, kind))
    return []


def _after_line_end(state: Incomplete, live: int) -> list[Source]:
    """The source after the line end that ends the lexeme being read, if one may come; else none."""
    lexer, lexical = state.lexer, state.lexer.lexical
    prefix = b"" if lexer.accepted == lexical.line_end else b"\n"
    if prefix and lexical.comment >= 0 and live & 1 << lexical.comment:
        prefix = (lexical.shortest_words.suffix(lexer.state, lexical.comment) or b"") + prefix
    step = lexer.feed(prefix)
    last = step and step.lexer.finish()
    if step is None or last is None:
        return []
    chart = state.scanned(step.symbols + last.symbols)
    return [] if chart is None else [Source(chart, len(prefix), prefix)]


def _after_lexemes(state: Incomplete, live: int) -> Iterator[Source]:
    tables = state.connection.tables
    for terminal in tables.live_terminals(live):
        chart = state.connection.grammar.earley.scan(state.chart, (terminal,))
        if chart is None:
            continue
        for suffix in _suffixes(state, terminal, live):
            yield Source(chart, len(suffix), suffix)
            if state.lexer.equal_run[1]:  # a delimiter byte could be one too many in a row
                yield Source(chart, 1 + len(suffix), b" " + suffix)


def _suffixes(state: Incomplete, terminal: int, live: int) -> Iterator[bytes]:
    """The ends of the lexeme being read, if it is one of *terminal*: the shortest, and the best one."""
    tables = state.connection.tables
    kinds = [kind for kind in tables.kinds_of[terminal] if live & 1 << kind]
    best = tables.shortest_words
    found = {
        min((s for kind in kinds if (s := words.suffix(state.lexer.state, kind)) is not None), key=len)
        for words in ((best,) if best.anywhere is best else (best.anywhere, best))
    }
    for suffix in sorted(found, key=len):
        yield suffix or (state.lexer.lexical.counted_part.way_out if state.lexer.too_long else b"")


def _after_words(state: Incomplete, live: int) -> Iterator[Source]:
    """As `_after_lexemes`, where the lexeme being read may become a longer word than it has to."""
    tables, lexer = state.connection.tables, state.lexer
    for kind in lexer.lexical.kinds_in(live):
        terminal = tables.terminal_of[kind]
        word = tables.language.another_word(lexer.lexical.kinds[kind], 0)
        step = None if word is None else lexer.feed(word)
        if word is not None and step is not None and step.lexer.accepted == kind and not step.symbols:
            chart = state.connection.grammar.earley.scan(state.chart, (terminal,))
            if chart is not None:
                yield Source(chart, len(word), word)
    yield from _after_lexemes(state, live)


def _after_fallback(state: Incomplete) -> list[Source]:
    """As `_sources` if the lexeme ended earlier and the bytes since then begin the next one."""
    following = state.after_fallback()
    return [] if following is None else sources_of(following)


def _cheapest(connection: Connection, skipping: int, avoided: frozenset[int]) -> CheapestSentences:
    grammar, key = connection.grammar, (skipping, avoided)
    sentences = grammar.cheapest.get(key)
    if sentences is None:
        below = _cheapest_of_right(connection, skipping, avoided)
        sentences = grammar.cheapest[key] = CheapestSentences(below.costs.copy(), {}, grammar.left, below)
    return sentences


def _cheapest_of_right(connection: Connection, skipping: int, avoided: frozenset[int]) -> CheapestSentences:
    right, key = connection.grammar.right, (skipping, avoided)
    sentences = right.cheapest.get(key)
    if sentences is None:
        below = connection.tables.cheapest
        known = below.costs | _costs_of_markers(connection, skipping) | dict.fromkeys(avoided, _AVOIDED)
        sentences = CheapestSentences(known, {}, right.partial_rules, below, other=_COST_OF_CLOSED_INDENT)
        right.cheapest[key] = sentences
    return sentences


def _costs_of_markers(connection: Connection, skipping: int) -> Costs:
    known: Costs = {}
    for entry in connection.right_entries:
        cost = 0
        if entry.boundary.offset:
            cost = (
                skipping if entry.boundary.kind is None else _cost_of_straddling(connection, entry.boundary)
            )
        known[entry.marker] = min(cost, known.get(entry.marker, cost))
    return known


def _cost_of_straddling(connection: Connection, boundary: BoundaryLexeme) -> int:
    """The least number of bytes that the lexeme at *boundary* has in the middle."""
    lexical = connection.tables.lexical
    lengths = lexical.paths.lengths_from(lexical.dfa.starts[boundary.modes.mode])
    states = boundary.states
    return next((length for state, length in lengths.items() if states >> state & 1), 0) or 1
