"""The rules that are open at a cursor: begun on one side of it and not finished there.

In an Earley chart these are the rules whose dot is after the first symbol, and the rules that wait for one of
them, up to the start symbol. Read forwards they are the left quotient of the grammar, read backwards the
right quotient (Melcer et al. 2024, arXiv 2402.17988, section IV). They are not turned into a grammar here, so
that the two sides can be combined rule by rule.

Most open rules have only an open first child, and few of those are ever needed. So `OpenRules` stores the
open nonterminals of each Earley set, and lists the open rules of one nonterminal on request.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field
from typing import NamedTuple

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.values import value
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.rules import DOT, DOT_BITS, Rhs, Rules

Open = tuple[int, EarleySet]
"""An open node: its nonterminal and the Earley set at which it began."""


@value
class OpenSuite:
    """Stands for an open suite, whose contents are kept as an open block of its own."""

    suite: int


Child = Open | OpenSuite | None
"""The open child of an open rule; None if the cursor is between two children."""


RulePosition = tuple[int, int]
"""The number of a rule and the position of its dot, which is at the cursor or before the open child."""


RulesByNumber = Mapping[int, list[tuple[int, Child]]]
"""Maps the number of each open rule to the ways in which it is open: position of the dot, and open child."""


class Leading(NamedTuple):
    """What may be missing at the beginning of a node: the `symbols`, each time before which open `children`.

    Where an open child begins the node, it is looked into, and so are those that begin that one. So no symbol
    is missing (the key is empty) only before what is no open node: an open suite, or the cursor, None.
    """

    children: Mapping[Rhs, Collection[Child]]
    symbols: frozenset[Rhs]


@value(eq=False)
class OpenRules:
    """All rules that are open at a cursor.

    `opened` maps each Earley set to the open nonterminals that began there. `reached` holds the positions of
    their rules that are after the first symbol, with the open child. In both, sets nearer to the cursor come
    first. The symbols `open_suites` are suites that are open at the cursor.
    """

    finder: OpenRuleFinder
    open_suites: frozenset[int]
    opened: dict[EarleySet, frozenset[int]]
    reached: dict[EarleySet, dict[int, list[tuple[list[RulePosition], Child]]]]
    _rules: dict[Open, RulesByNumber] = field(default_factory=dict, repr=False)
    _missing: dict[Open, list[tuple[Rhs, Child]]] = field(default_factory=dict, repr=False)
    _leading: dict[Open, Leading] = field(default_factory=dict, repr=False)

    @property
    def weight(self) -> int:
        """About how many bytes it takes with the sets it holds, once some nodes were asked for. O(sets)."""
        return 10_000 + 200 * sum(map(len, self.opened.values()))

    def __contains__(self, opened: Open) -> bool:
        symbol, at = opened
        return symbol in self.opened.get(at, ())

    def __getitem__(self, opened: Open) -> RulesByNumber:
        """The open rules of an open node. O(their number)."""
        found = self._rules.get(opened)
        if found is None:
            found = self._rules[opened] = self._open_rules(*opened)
        return found

    def _open_rules(self, symbol: int, at: EarleySet) -> RulesByNumber:
        found: dict[int, list[tuple[int, Child]]] = {}
        for positions, child in self.reached.get(at, _NOWHERE).get(symbol, ()):
            for rule, dot in positions:
                found.setdefault(rule, []).append((dot, child))
        opened = self.opened[at]
        for rule, first in self.finder.first_children(symbol):
            if first in opened:
                found.setdefault(rule, []).append((0, self.child(first, at)))
        return dict(sorted(found.items()))  # a fixed order, however the sets were made

    def child(self, symbol: int, at: EarleySet) -> Open | OpenSuite:
        """The open child that is a *symbol* begun at *at*."""
        return OpenSuite(symbol) if symbol in self.open_suites else (symbol, at)

    def missing(self, opened: Open) -> list[tuple[Rhs, Child]]:
        """For each open rule of a node the symbols missing beside its open child, and that child."""
        found = self._missing.get(opened)
        if found is None:
            behind = self.finder.behind
            found = self._missing[opened] = [
                (behind[rule][dot + (child is not None)], child)
                for rule, ways in self[opened].items()
                for dot, child in ways
            ]
        return found

    def leading(self, opened: Open) -> Leading:
        """What may be missing at the beginning of a node. Cached."""
        found = self._leading.get(opened)
        if found is None:
            ways: dict[Rhs, set[Child]] = {}
            seen, waiting = {opened}, [opened]
            while waiting:
                for missing, child in self.missing(waiting.pop()):
                    if missing or not isinstance(child, tuple):
                        ways.setdefault(missing, set()).add(child)
                    elif child not in seen:
                        seen.add(child)
                        waiting.append(child)
            found = self._leading[opened] = Leading(ways, frozenset(filter(None, ways)))
        return found


_NONE = frozenset[int]()


class OpenRuleFinder:
    """Finds the rules that are open at an Earley set; caches tables of the *rules* of a language.

    `behind[rule][dot]` are the symbols that remain to be read behind that position, in text order.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._left_corner_of = _left_corner_relation(rules)
        self._positions: dict[tuple[State, int | None], dict[int, list[RulePosition]]] = {}
        turned = -1 if rules.backward else 1
        self.behind = [[rhs[dot:][::turned] for dot in range(len(rhs) + 1)] for rhs in rules.rhs]
        self._children: dict[int, list[tuple[int, int]]] = {}

    def open_rules(
        self, last: EarleySet, suites: Iterable[int] | None = None, not_next: frozenset[int] = _NONE
    ) -> OpenRules:
        """The rules that are open at the set *last*.

        If *suites* are given, the next symbol is one of them, and it is open itself. Otherwise the next
        symbol is none of *not_next*. O(entries that wait in the sets where open nodes began), however long
        the text is.
        """
        found = OpenRules(self, frozenset(suites or ()), {}, {})
        pending: dict[EarleySet, set[int]] = {}

        def reach(origin: EarleySet, positions: dict[int, list[RulePosition]], child: Child) -> None:
            reached = found.reached.setdefault(origin, {})
            for symbol, own in positions.items():
                reached.setdefault(symbol, []).append((own, child))
            pending.setdefault(origin, set()).update(positions)

        if suites is None:
            for state, origin in last.entries:
                if state.by_symbol and not_next.isdisjoint(state.by_symbol):
                    reach(origin, self._positions_in(state), None)
                    continue
                for symbol in state.by_symbol.keys() - not_next:
                    reach(origin, self._positions_in(state, symbol), None)
        else:
            pending[last] = set(found.open_suites)
        while pending:
            checkpoint()
            at = next(iter(pending))
            known = found.opened.get(at, _NONE)
            fresh = self._starting_with(pending.pop(at), at.predicted) - known
            found.opened[at] = known | fresh
            for state, origin in at.waiting:
                for symbol in state.expected:
                    if symbol in fresh:
                        reach(origin, self._positions_in(state, symbol), found.child(symbol, at))
        return found

    def _starting_with(self, symbols: Iterable[int], predicted: Predicted) -> frozenset[int]:
        """The *predicted* nonterminals that have one of *symbols* as a left corner, these included."""
        return predicted.possible_starts.nonterminals & _NONE.union(
            *[self._left_corner_of[symbol] for symbol in symbols]
        )

    def _positions_in(self, state: State, symbol: int | None = None) -> dict[int, list[RulePosition]]:
        """The rule positions in *state* before *symbol*, or before any symbol, by left-hand side."""
        found = self._positions.get((state, symbol))
        if found is None:
            found = self._positions[state, symbol] = {}
            groups = state.by_symbol.values() if symbol is None else (state.by_symbol[symbol],)
            for item in (item for group in groups for item in group):
                position = item >> DOT_BITS, (item & DOT) - 1
                found.setdefault(self.rules.lhs_of(item), []).append(position)
        return found

    def prepare(self) -> None:
        """Make now what `first_children` gives."""
        for symbol in self.rules.nonterminals:
            self.first_children(symbol)

    def first_children(self, symbol: int) -> list[tuple[int, int]]:
        """The rules of *symbol* that begin with a nonterminal, each with that nonterminal."""
        found = self._children.get(symbol)
        if found is None:
            numbers = [item >> DOT_BITS for item in self.rules.starts(symbol)]
            firsts = [(number, self.rules.rhs[number][0]) for number in numbers]
            nonterminals = self.rules.nonterminals
            found = self._children[symbol] = [pair for pair in firsts if pair[1] in nonterminals]
        return found


_NOWHERE: dict[int, list[tuple[list[RulePosition], Child]]] = {}


def _left_corner_relation(rules: Rules) -> dict[int, frozenset[int]]:
    """For each nonterminal those that have it as a left corner: the reflexive, transitive closure."""
    parents: dict[int, set[int]] = {symbol: set() for symbol in rules.nonterminals}
    for lhs, rhs in zip(rules.lhs, rules.rhs, strict=True):
        if rhs[0] in parents:
            parents[rhs[0]].add(lhs)
    found: dict[int, frozenset[int]] = {}
    for symbol in parents:
        above = {symbol}
        waiting = [symbol]
        while waiting:
            fresh = parents[waiting.pop()] - above
            above |= fresh
            waiting += fresh
        found[symbol] = frozenset(above)
    return found
