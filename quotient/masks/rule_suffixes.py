"""Unread suffixes of the open rules, cut where symbols begin that only this middle has.

The middle grammar expects symbols of the language, and some of its own. The latter are nodes that are open on
one side, and markers of the ways into the right context. Only the former have answers that hold at all
cursors.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fimlsp.lexing.automata.bit_sets import bit_set
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.bridge.closed_blocks import GroupEnd
from fimlsp.quotient.bridge.middle_grammar import MiddleGrammar
from fimlsp.quotient.grammar.cfg import DOT, DOT_BITS, Rhs, State
from fimlsp.quotient.grammar.earley import EarleySet, Entry, Predicted
from fimlsp.quotient.grammar.open_rules import Child
from fimlsp.quotient.masks.precomputed import RuleSuffixes, Suffix

_MOST = 4_000


class Expected(NamedTuple):
    """The symbols expected at one place: *suffixes* of rules, and the *markers* of a bit set."""

    suffixes: RuleSuffixes
    markers: int


class Frontier(NamedTuple):
    """The rules that are open at the set *chart*, and the nodes `A?` expected there, the *prefixes*.

    Rules of nodes that end in the right context are never complete in a middle. So it does not matter where
    they began, and no set has to remember it. `chart` is None if nothing else is open.
    """

    chart: EarleySet | None
    prefixes: frozenset[int]


class _Started(NamedTuple):
    """The symbols expected by rules that start at one place, and the nodes `A?` among their first symbols."""

    expected: Expected
    prefixes: frozenset[int]


class _Prefix(NamedTuple):
    """The symbols expected by the rules of a node `A?`, and the `children` in its group after each suffix."""

    expected: Expected
    children: Mapping[Suffix, Collection[Child]]
    group_end: GroupEnd | None


_NO_PREFIXES = frozenset[int]()
_NOTHING = Expected(frozenset(), 0)
_NOTHING_STARTED = _Started(_NOTHING, _NO_PREFIXES)


def frontier_at(chart: EarleySet) -> Frontier:
    """The frontier at *chart*."""
    return Frontier(chart, _NO_PREFIXES)


class OpenRules:
    """Finds the suffixes of rules in the middles of a *grammar*, and the frontiers after them.

    Only these *markers* matter. The symbols that states of the language expect are kept in *of_language*, for
    all grammars of middles.
    """

    def __init__(
        self, grammar: MiddleGrammar, markers: Iterable[int], of_language: dict[State, Expected]
    ) -> None:
        self._earley = grammar.earley
        self._language = grammar.tables.forward.rules
        self._left = grammar.left
        self._right = grammar.right.partial_rules
        self._first_free = grammar.tables.first_free_symbol
        self._markers = frozenset(markers)
        self._expected: BoundedDict[Frontier, Expected] = BoundedDict(_MOST)
        self._after: BoundedDict[tuple[Frontier, RuleSuffixes], Frontier] = BoundedDict(_MOST)
        self._equal: BoundedDict[frozenset[tuple[object, EarleySet]], EarleySet] = BoundedDict(_MOST)
        self._of_language = of_language
        self._of_states: dict[State, Expected] = {}
        self._of_predicted: dict[Predicted, _Started] = {}
        self._of_suffix_nodes: dict[int, tuple[Expected, tuple[int, ...]]] = {}
        self._prefixes: dict[int, _Prefix] = {}

    def at(self, frontier: Frontier) -> Expected:
        """The symbols expected at *frontier*."""
        expected = self._expected.get(frontier)
        if expected is None:
            chart, prefixes = frontier
            parts = [self._prefix(prefix).expected for prefix in prefixes]
            if chart is not None:
                parts.append(self._started(chart.predicted).expected)
                parts += [self._of_state(state) for state, _ in chart.entries]
            expected = self._expected[frontier] = parts[0] if len(parts) == 1 else _together(parts)
        return expected

    def _of_state(self, state: State) -> Expected:
        known = self._of_language if state.rules is self._language else self._of_states
        expected = known.get(state)
        if expected is None:
            rhs = state.rules.rhs
            expected = known[state] = self._cut([rhs[item >> DOT_BITS][item & DOT :] for item in state.items])
        return expected

    def _started(self, predicted: Predicted) -> _Started:
        """The rules that start there, without those of the language."""
        if predicted.rules is self._language:
            return _NOTHING_STARTED
        started = self._of_predicted.get(predicted)
        if started is None:
            parts: list[Expected] = []
            prefixes, suffixes = set[int](), set[int]()
            waiting = [symbol for symbol in predicted.symbols if symbol >= self._first_free]
            while waiting:
                symbol = waiting.pop()
                if symbol in self._right.nonterminals:
                    prefixes.add(symbol)
                elif symbol not in suffixes:
                    suffixes.add(symbol)
                    own, firsts = self._of_suffix_node(symbol)
                    parts.append(own)
                    waiting += firsts
            parts += [self._prefix(prefix).expected for prefix in prefixes]
            started = self._of_predicted[predicted] = _Started(_together(parts), frozenset(prefixes))
        return started

    def _of_suffix_node(self, symbol: int) -> tuple[Expected, tuple[int, ...]]:
        """The symbols expected by the rules of a node `A!`, and the open nodes among their first symbols."""
        known = self._of_suffix_nodes.get(symbol)
        if known is None:
            left, right = self._left, self._right
            sides = [left.rhs[item >> DOT_BITS] for item in left.starts(symbol)]
            firsts = {side[0] for side in sides}
            known = self._of_suffix_nodes[symbol] = (
                self._cut(sides),
                tuple(
                    [first for first in firsts if first in right.nonterminals or first in left.nonterminals]
                ),
            )
        return known

    def _prefix(self, symbol: int) -> _Prefix:
        """The node `A?` of this symbol, or the marker of the cursor's line."""
        prefix = self._prefixes.get(symbol)
        if prefix is None:
            prefix = self._prefixes[symbol] = self._look_up(symbol)
        return prefix

    def _look_up(self, symbol: int) -> _Prefix:
        if symbol not in self._right.nonterminals:
            markers = 1 << symbol if symbol in self._markers else 0
            return _Prefix(Expected(_NOTHING.suffixes, markers), {}, None)
        leading = self._right.leading(symbol)
        if leading is None:
            return _Prefix(_NOTHING, {}, None)
        (children, symbols), group_end = leading
        ways = [way for way in children.get((), ()) if isinstance(way, int)]
        entered = self._markers.intersection([group_end.entries[way].marker for way in ways])
        return _Prefix(Expected(symbols, bit_set(entered)), children, group_end)

    def _cut(self, sides: Iterable[Rhs]) -> Expected:
        """The symbols expected where all of some right *sides* of rules are unread."""
        first_free = self._first_free
        suffixes: set[Suffix] = set()
        markers = 0
        for side in sides:
            size = 0
            for symbol in side:
                if symbol >= first_free:
                    break
                size += 1
            if size:
                suffixes.add(side[:size])
            elif side and side[0] in self._markers:
                markers |= 1 << side[0]
        return Expected(frozenset(suffixes), markers)

    def after(self, frontier: Frontier, suffixes: RuleSuffixes) -> Frontier:
        """The frontier where one of *suffixes*, expected at *frontier*, is complete.

        It lacks rules of the language that contain a symbol of the suffixes.
        """
        key = frontier, suffixes
        after = self._after.get(key)
        if after is None:
            chart, prefixes = frontier
            entries: dict[Entry, None] = {}
            following: set[int] = set()
            if chart is not None:
                prefixes |= self._started(chart.predicted).prefixes
                for suffix in suffixes:
                    self._move(chart, suffix, entries, following)
            prefix_of = self._right.prefix_of
            for _, children, group_end in map(self._prefix, prefixes):
                for suffix in suffixes:
                    if group_end is not None and suffix in children:
                        following.update([prefix_of(child, group_end) for child in children[suffix]])
            chart_after = self._set_of(entries) if entries else None
            after = self._after[key] = Frontier(chart_after, frozenset(following))
        return after

    def _set_of(self, entries: dict[Entry, None]) -> EarleySet:
        """The set with *entries* and what they complete; the same object for entries with equal results."""
        alike = frozenset(
            [(state if state.by_symbol else state.completed, origin) for state, origin in entries]
        )
        chart = self._equal.get(alike)
        if chart is None:
            chart = self._equal[alike] = self._earley.completed(entries)
        return chart

    def _move(
        self, chart: EarleySet, suffix: Suffix, entries: dict[Entry, None], following: set[int]
    ) -> None:
        """Add the rules open after *suffix*, expected at *chart*, without those in nodes `A?` started there.

        In other nodes `A?` the last symbol of a rule is open, which is added to *following*.
        """
        for state, origin in chart.entries:
            if suffix[0] in state.by_symbol:
                if state.rules is self._right:
                    following.update(_last_after(state, suffix))
                elif (after := self._along(state, suffix)) is not None:
                    entries[after, origin] = None
        if chart.predicted.rules is self._left:
            first = chart.predicted.own_after(suffix[0])
            if first is not None and (after := self._along(first, suffix[1:])) is not None:
                entries[after, chart] = None

    def _along(self, state: State, symbols: Rhs) -> State | None:
        for symbol in symbols:
            if symbol not in state.by_symbol:
                return None
            state = state.gotos.get(symbol) or self._earley.automaton.goto(state, symbol)
        return state


def _together(parts: Iterable[Expected]) -> Expected:
    """The union of *parts*."""
    suffixes, markers = set[Suffix](), 0
    for part in parts:
        suffixes |= part.suffixes
        markers |= part.markers
    return Expected(frozenset(suffixes), markers)


def _last_after(state: State, suffix: Suffix) -> Iterable[int]:
    """The last symbols of the rules in *state* of which *suffix* and that symbol are unread."""
    for item in state.items:
        unread = state.rules.unread(item)
        if unread[:-1] == suffix:
            yield unread[-1]
