"""What is left to read of the rules that are open at a place, as far as it is of the language alone.

At a place the middle grammar expects symbols of the language, and others that are its own: nodes that are
open on one side, and the ways into the right context. Rules are taken apart where these begin.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.bridge.closed_blocks import GroupEnd
from fimlsp.quotient.bridge.middle_grammar import MiddleGrammar
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.open_rules import Child
from fimlsp.quotient.earley.sets import EarleySet, Entry
from fimlsp.quotient.grammar.rules import DOT, DOT_BITS, Rhs
from fimlsp.quotient.masks.ahead import Rest, Rests

_MOST = 4_000


class Expected(NamedTuple):
    """What is expected somewhere: *rests* of rules, and the *markers* of a bit set."""

    rests: Rests
    markers: int


class Frontier(NamedTuple):
    """What may follow: what is open at the set *chart*, and nodes `A?` that are expected, the *prefixes*.

    Rules of nodes that end in the right context are never complete in a middle, so it does not matter where
    they began, and no set has to remember it. `chart` is None where nothing else is open.
    """

    chart: EarleySet | None
    prefixes: frozenset[int]


class _Begun(NamedTuple):
    """What the rules expect that begin somewhere, and which nodes `A?` are among what they begin with."""

    expected: Expected
    prefixes: frozenset[int]


class _Prefix(NamedTuple):
    """What the rules of a node `A?` expect, and behind which symbols which `children` in its group."""

    expected: Expected
    children: Mapping[Rest, Collection[Child]]
    group_end: GroupEnd | None


_NO_PREFIXES = frozenset[int]()
_NOTHING = Expected(frozenset(), 0)
_NOTHING_BEGUN = _Begun(_NOTHING, _NO_PREFIXES)


def frontier_at(chart: EarleySet) -> Frontier:
    """What may follow at *chart*."""
    return Frontier(chart, _NO_PREFIXES)


class OpenRests:
    """Finds the rests of rules in the middles of a *grammar*, and where they lead.

    *markers* are those that matter. What states of the language expect is kept *of_language*, for all
    grammars of middles.
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
        self._behind: BoundedDict[tuple[Frontier, Rests], Frontier] = BoundedDict(_MOST)
        self._equal: BoundedDict[frozenset[tuple[object, EarleySet]], EarleySet] = BoundedDict(_MOST)
        self._of_language = of_language
        self._of_states: dict[State, Expected] = {}
        self._of_predicted: dict[Predicted, _Begun] = {}
        self._of_suffixes: dict[int, tuple[Expected, tuple[int, ...]]] = {}
        self._prefixes: dict[int, _Prefix] = {}

    def at(self, frontier: Frontier) -> Expected:
        """What is expected at *frontier*."""
        found = self._expected.get(frontier)
        if found is None:
            chart, prefixes = frontier
            parts = [self._prefix(prefix).expected for prefix in prefixes]
            if chart is not None:
                parts.append(self._begun(chart.predicted).expected)
                parts += [self._of_state(state) for state, _ in chart.entries]
            found = self._expected[frontier] = parts[0] if len(parts) == 1 else _together(parts)
        return found

    def _of_state(self, state: State) -> Expected:
        known = self._of_language if state.rules is self._language else self._of_states
        found = known.get(state)
        if found is None:
            rhs = state.rules.rhs
            found = known[state] = self._cut([rhs[item >> DOT_BITS][item & DOT :] for item in state.items])
        return found

    def _begun(self, predicted: Predicted) -> _Begun:
        """What begins there, but for rules of the language."""
        if predicted.rules is self._language:
            return _NOTHING_BEGUN
        found = self._of_predicted.get(predicted)
        if found is None:
            parts: list[Expected] = []
            prefixes, suffixes = set[int](), set[int]()
            waiting = [symbol for symbol in predicted.symbols if symbol >= self._first_free]
            while waiting:
                symbol = waiting.pop()
                if symbol in self._right.nonterminals:
                    prefixes.add(symbol)
                elif symbol not in suffixes:
                    suffixes.add(symbol)
                    own, firsts = self._of_suffix(symbol)
                    parts.append(own)
                    waiting += firsts
            parts += [self._prefix(prefix).expected for prefix in prefixes]
            found = self._of_predicted[predicted] = _Begun(_together(parts), frozenset(prefixes))
        return found

    def _of_suffix(self, symbol: int) -> tuple[Expected, tuple[int, ...]]:
        """What the rules of a node `A!` expect, and the nodes with which they begin that are open as well."""
        found = self._of_suffixes.get(symbol)
        if found is None:
            left, right = self._left, self._right
            sides = [left.rhs[item >> DOT_BITS] for item in left.starts(symbol)]
            firsts = {side[0] for side in sides}
            found = self._of_suffixes[symbol] = (
                self._cut(sides),
                tuple([each for each in firsts if each in right.nonterminals or each in left.nonterminals]),
            )
        return found

    def _prefix(self, prefix: int) -> _Prefix:
        """What is known of a node `A?`; of the marker of the cursor's line, if it is one."""
        found = self._prefixes.get(prefix)
        if found is None:
            found = self._prefixes[prefix] = self._look_up(prefix)
        return found

    def _look_up(self, prefix: int) -> _Prefix:
        if prefix not in self._right.nonterminals:
            markers = 1 << prefix if prefix in self._markers else 0
            return _Prefix(Expected(_NOTHING.rests, markers), {}, None)
        leading = self._right.leading(prefix)
        if leading is None:
            return _Prefix(_NOTHING, {}, None)
        (children, symbols), group_end = leading
        marker = group_end.marker
        markers = 1 << marker if marker in self._markers and None in children.get((), ()) else 0
        return _Prefix(Expected(symbols, markers), children, group_end)

    def _cut(self, sides: Iterable[Rhs]) -> Expected:
        """What is expected where all of some *sides* of rules are left to read."""
        first_free = self._first_free
        rests: set[Rest] = set()
        markers = 0
        for side in sides:
            size = 0
            for symbol in side:
                if symbol >= first_free:
                    break
                size += 1
            if size:
                rests.add(side[:size])
            elif side and side[0] in self._markers:
                markers |= 1 << side[0]
        return Expected(frozenset(rests), markers)

    def behind(self, frontier: Frontier, rests: Rests) -> Frontier:
        """Where everything may follow that may where one of *rests* is complete at *frontier*.

        It lacks what may follow because a symbol of them is a part of others of the language.
        """
        key = frontier, rests
        found = self._behind.get(key)
        if found is None:
            chart, prefixes = frontier
            entries: dict[Entry, None] = {}
            following: set[int] = set()
            if chart is not None:
                prefixes |= self._begun(chart.predicted).prefixes
                for rest in rests:
                    self._move(chart, rest, entries, following)
            prefix_of = self._right.prefix_of
            for _, children, group_end in map(self._prefix, prefixes):
                for rest in rests:
                    if group_end is not None and rest in children:
                        following.update([prefix_of(child, group_end) for child in children[rest]])
            behind = self._set_of(entries) if entries else None
            found = self._behind[key] = Frontier(behind, frozenset(following))
        return found

    def _set_of(self, entries: dict[Entry, None]) -> EarleySet:
        """The set with *entries* and what they complete; the same for entries that lead to the same."""
        alike = frozenset(
            [(state if state.by_symbol else state.completed, origin) for state, origin in entries]
        )
        found = self._equal.get(alike)
        if found is None:
            found = self._equal[alike] = self._earley.completed(entries)
        return found

    def _move(self, chart: EarleySet, rest: Rest, entries: dict[Entry, None], following: set[int]) -> None:
        """Add what is open after *rest*, where it is expected at *chart*, but not in nodes `A?` begun there.

        What is open in other nodes `A?` is their last symbol, and comes to *following*.
        """
        for state, origin in chart.entries:
            if rest[0] in state.by_symbol:
                if state.rules is self._right:
                    following.update(_last_behind(state, rest))
                elif (after := self._along(state, rest)) is not None:
                    entries[after, origin] = None
        if chart.predicted.rules is self._left:
            first = chart.predicted.own_after(rest[0])
            if first is not None and (after := self._along(first, rest[1:])) is not None:
                entries[after, chart] = None

    def _along(self, state: State, symbols: Rhs) -> State | None:
        for symbol in symbols:
            if symbol not in state.by_symbol:
                return None
            state = state.gotos.get(symbol) or self._earley.automaton.goto(state, symbol)
        return state


def _together(parts: Iterable[Expected]) -> Expected:
    """Everything that is expected in one of *parts*."""
    rests, markers = set[Rest](), 0
    for part in parts:
        rests |= part.rests
        markers |= part.markers
    return Expected(frozenset(rests), markers)


def _last_behind(state: State, rest: Rest) -> Iterable[int]:
    """The last symbols of the rules in *state* of which *rest* and that symbol are left."""
    for item in state.items:
        unread = state.rules.unread(item)
        if unread[:-1] == rest:
            yield unread[-1]
