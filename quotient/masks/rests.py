"""What is left to read of the rules that are open at a place, as far as it is of the language alone.

At a place the middle grammar expects symbols of the language, and others that are its own: nodes that are
open on one side, and the ways into the right context. Rules are taken apart where these begin.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.bridge.middle_grammar import MiddleGrammar
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import EarleySet, Entry
from fimlsp.quotient.grammar.rules import DOT, DOT_BITS, Rhs
from fimlsp.quotient.masks.ahead import Rest

_MOST = 4_000

Rests = frozenset[Rest]


class Expected(NamedTuple):
    """What is expected at a place: *rests* of rules, and the *markers* of a bit set."""

    rests: Rests
    markers: int


_NOTHING = Expected(frozenset(), 0)


class OpenRests:
    """Finds the rests of rules at the sets of the middles of a *grammar*, and where they lead.

    *markers* are those that matter.
    """

    def __init__(self, grammar: MiddleGrammar, markers: Iterable[int]) -> None:
        self._earley = grammar.earley
        self._start = grammar.start
        self._language = grammar.tables.forward.rules
        self._left = grammar.left
        self._right = grammar.right.partial_rules
        self._first_free = grammar.tables.first_free_symbol
        self._markers = frozenset(markers)
        self._expected: BoundedDict[EarleySet, Expected] = BoundedDict(_MOST)
        self._behind: BoundedDict[tuple[EarleySet, Rests], EarleySet] = BoundedDict(_MOST)
        self._equal: BoundedDict[frozenset[tuple[object, EarleySet]], EarleySet] = BoundedDict(_MOST)
        self._of_states: dict[State, Expected] = {}
        self._of_predicted: dict[Predicted, Expected] = {}
        self._of_symbols: dict[int, tuple[Expected, tuple[int, ...]]] = {}

    def at(self, chart: EarleySet) -> Expected:
        """What is expected at *chart*."""
        found = self._expected.get(chart)
        if found is None:
            rests, markers = self._begun(chart.predicted)
            for state, _ in chart.entries:
                more = self._of_states.get(state)
                if more is None:
                    items, rhs = state.items, state.rules.rhs
                    more = self._cut([rhs[item >> DOT_BITS][item & DOT :] for item in items])
                    self._of_states[state] = more
                rests |= more.rests
                markers |= more.markers
            found = self._expected[chart] = Expected(rests, markers)
        return found

    def _begun(self, predicted: Predicted) -> Expected:
        """What the rules expect that begin there, but for those of the language."""
        if predicted.rules is self._language:
            return _NOTHING
        found = self._of_predicted.get(predicted)
        if found is None:
            rests: set[Rest] = set()
            markers, seen = 0, set[int]()
            waiting = [symbol for symbol in predicted.symbols if symbol >= self._first_free]
            while waiting:
                symbol = waiting.pop()
                if symbol not in seen:
                    seen.add(symbol)
                    own, firsts = self._of_symbol(symbol)
                    rests |= own.rests
                    markers |= own.markers
                    waiting += firsts
            found = self._of_predicted[predicted] = Expected(frozenset(rests), markers)
        return found

    def _of_symbol(self, symbol: int) -> tuple[Expected, tuple[int, ...]]:
        """What the rules of a node expect that is open on one side, and the nodes with which they begin."""
        found = self._of_symbols.get(symbol)
        if found is None:
            left, right = self._left, self._right
            rules = right if symbol in right.nonterminals else left
            sides = [rules.rhs[item >> DOT_BITS] for item in rules.starts(symbol)]
            firsts = {side[0] for side in sides}
            found = self._of_symbols[symbol] = (
                self._cut(sides),
                tuple([each for each in firsts if each in right.nonterminals or each in left.nonterminals]),
            )
        return found

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

    def behind(self, chart: EarleySet, rests: Rests) -> EarleySet:
        """The set at which everything may follow that may where one of *rests* is complete after *chart*.

        It lacks what may follow because a symbol of them is a part of others of the language.
        """
        key = chart, rests
        found = self._behind.get(key)
        if found is None:
            entries: dict[Entry, None] = {}
            for rest in rests:
                self._move(chart, rest, entries)
            alike = frozenset(
                [(state if state.by_symbol else state.completed, origin) for state, origin in entries]
            )
            found = self._equal.get(alike)
            if found is None:
                found = self._equal[alike] = self._earley.completed(entries)
            self._behind[key] = found
        return found

    def _move(self, chart: EarleySet, rest: Rest, entries: dict[Entry, None]) -> None:
        """Add to *entries* what is open after *rest*, where it is expected at *chart*.

        Rules of the right context are never complete in a middle: where they began does not matter.
        """
        right, start = self._right, self._start
        for state, origin in chart.entries:
            if rest[0] in state.by_symbol and (after := self._along(state, rest)) is not None:
                entries[after, start if after.rules is right else origin] = None
        for state in chart.predicted.after(rest[0]):
            if state.rules is not self._language and (after := self._along(state, rest[1:])) is not None:
                entries[after, start if after.rules is right else chart] = None

    def _along(self, state: State, symbols: Rhs) -> State | None:
        for symbol in symbols:
            if symbol not in state.by_symbol:
                return None
            state = state.gotos.get(symbol) or self._earley.automaton.goto(state, symbol)
        return state
