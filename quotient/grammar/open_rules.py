"""The rules that are open at a cursor: begun on one side of it and not finished there.

In an Earley chart these are the rules whose dot is after the first symbol, and all rules that wait for them,
up to the start symbol. Read forwards they are the left quotient of the grammar, read backwards the right
quotient (Melcer et al. 2024, arXiv 2402.17988, section IV). They are not turned into a grammar here, so that
the two sides can be combined rule by rule.

Most open rules have only an open first child, and few of those are ever needed. So `OpenRules` stores the
open nonterminals of each Earley set, and lists the open rules of one nonterminal on request.

A node is open on both sides if the left context has begun a rule that the right context finishes. Either both
contexts are in the same child, which is then open on both sides too. Or the middle consists of the suffix of
a child that is open on the left, whole children, and the prefix of a child that is open on the right.
`find_common_nodes` finds all such nodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import NamedTuple

from fimlsp.lexing.automata.bit_sets import bit_set, members
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import DOT, DOT_BITS, Rhs, Rules, State
from fimlsp.quotient.grammar.earley import EarleySet, Predicted

Open = tuple[int, EarleySet]
"""An open node: its nonterminal and the Earley set at which it began."""


@value
class OpenSuite:
    """An open suite as a child; its contents are an open block of their own."""

    suite: int


Child = Open | OpenSuite | int
"""The open child of an open rule. If the cursor is between two children, the number of the `Way` there."""


Way = tuple[EarleySet, frozenset[int]]
"""A way to read the text on one side up to the cursor: the set there, and symbols that may not come next."""


def is_open(child: Child) -> bool:
    """True if *child* is a node or a suite, and not only the place of the cursor."""
    return not isinstance(child, int)


RulePosition = tuple[int, int]
"""The number of a rule and the position of its dot, which is at the cursor or before the open child."""


RulesByNumber = Mapping[int, list[tuple[int, Child]]]
"""Maps the number of each open rule to the ways in which it is open: position of the dot, and open child."""


class Leading(NamedTuple):
    """The symbols that may be missing at the start of a node, and the open children that they precede.

    `children` maps missing symbols to open children, and `symbols` are its keys that are not empty. An open
    child at the start of the node is replaced by its own missing symbols, recursively. So the key is empty
    only before an open suite, or before the cursor.
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
        """Its approximate size in bytes, with its sets and the nodes in its caches. O(sets)."""
        return 10_000 + 200 * sum(map(len, self.opened.values()))

    def __contains__(self, opened: Open) -> bool:
        symbol, at = opened
        return symbol in self.opened.get(at, ())

    def __getitem__(self, opened: Open) -> RulesByNumber:
        """The open rules of an open node. O(their number)."""
        rules = self._rules.get(opened)
        if rules is None:
            rules = self._rules[opened] = self._open_rules(*opened)
        return rules

    def _open_rules(self, symbol: int, at: EarleySet) -> RulesByNumber:
        ways: dict[int, list[tuple[int, Child]]] = {}
        for positions, child in self.reached.get(at, _NOWHERE).get(symbol, ()):
            for rule, dot in positions:
                ways.setdefault(rule, []).append((dot, child))
        opened = self.opened[at]
        first_children = self.finder.first_children(symbol)
        for first in first_children.keys() & opened:
            child = self.child(first, at)
            for rule in first_children[first]:
                ways.setdefault(rule, []).append((0, child))
        return dict(sorted(ways.items()))  # a fixed order, however the sets were made

    def child(self, symbol: int, at: EarleySet) -> Open | OpenSuite:
        """The open child that is a *symbol* begun at *at*."""
        return OpenSuite(symbol) if symbol in self.open_suites else (symbol, at)

    def missing(self, opened: Open) -> list[tuple[Rhs, Child]]:
        """For each open rule of a node the symbols missing beside its open child, and that child."""
        missing = self._missing.get(opened)
        if missing is None:
            unread = self.finder.unread
            missing = self._missing[opened] = [
                (unread[rule][dot + is_open(child)], child)
                for rule, ways in self[opened].items()
                for dot, child in ways
            ]
        return missing

    def leading(self, opened: Open) -> Leading:
        """The symbols that may be missing at the start of a node. Cached."""
        leading = self._leading.get(opened)
        if leading is None:
            ways: dict[Rhs, set[Child]] = {}
            seen, waiting = {opened}, [opened]
            while waiting:
                for missing, child in self.missing(waiting.pop()):
                    if missing or not isinstance(child, tuple):
                        ways.setdefault(missing, set()).add(child)
                    elif child not in seen:
                        seen.add(child)
                        waiting.append(child)
            leading = self._leading[opened] = Leading(ways, frozenset(filter(None, ways)))
        return leading


_NONE = frozenset[int]()


class OpenRuleFinder:
    """Finds the rules that are open at an Earley set; caches tables of the *rules* of a language.

    `unread[rule][dot]` are the symbols that remain to be read after that position, in text order.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self._left_corner_of = _LeftCorners(rules)
        self._positions: dict[tuple[State, int | None], dict[int, list[RulePosition]]] = {}
        turned = -1 if rules.backward else 1
        self.unread = [[rhs[dot:][::turned] for dot in range(len(rhs) + 1)] for rhs in rules.rhs]
        self._children: dict[int, dict[int, list[int]]] = {}

    def open_rules(self, ways: Iterable[Way], suites: Iterable[int] | None = None) -> OpenRules:
        """The rules that are open at the cursor, where the text of one side is read in any of *ways*.

        If *suites* are given, the next symbol is one of them, and it is open itself. O(entries that wait in
        the sets where open nodes began), however long the text is. Ways that end alike share these.
        """
        open_rules = OpenRules(self, frozenset(suites or ()), {}, {})
        pending: dict[EarleySet, set[int]] = {}

        def reach(origin: EarleySet, positions: dict[int, list[RulePosition]], child: Child) -> None:
            reached = open_rules.reached.setdefault(origin, {})
            for symbol, own in positions.items():
                reached.setdefault(symbol, []).append((own, child))
            pending.setdefault(origin, set()).update(positions)

        for number, (last, not_next) in enumerate(ways):
            if suites is not None:
                pending[last] = set(open_rules.open_suites)
                continue
            for state, origin in last.entries:
                if state.by_symbol and not_next.isdisjoint(state.by_symbol):
                    reach(origin, self._positions_in(state), number)
                    continue
                for symbol in state.by_symbol.keys() - not_next:
                    reach(origin, self._positions_in(state, symbol), number)
        while pending:
            checkpoint()
            at = next(iter(pending))
            known = open_rules.opened.get(at, _NONE)
            fresh = self._starting_with(pending.pop(at), at.predicted) - known
            open_rules.opened[at] = known | fresh
            if not fresh:
                continue
            for state, origin in at.waiting:
                for symbol in state.expected:
                    if symbol in fresh:
                        reach(origin, self._positions_in(state, symbol), open_rules.child(symbol, at))
        return open_rules

    def _starting_with(self, symbols: Iterable[int], predicted: Predicted) -> frozenset[int]:
        """The *predicted* nonterminals that have one of *symbols* as a left corner, these included."""
        above = 0
        for symbol in symbols:
            above |= self._left_corner_of[symbol]
        return frozenset(members(above & predicted.nonterminals))

    def _positions_in(self, state: State, symbol: int | None = None) -> dict[int, list[RulePosition]]:
        """The rule positions in *state* before *symbol*, or before any symbol, by left-hand side."""
        positions = self._positions.get((state, symbol))
        if positions is None:
            positions = self._positions[state, symbol] = {}
            groups = state.by_symbol.values() if symbol is None else (state.by_symbol[symbol],)
            for item in (item for group in groups for item in group):
                position = item >> DOT_BITS, (item & DOT) - 1
                positions.setdefault(self.rules.lhs_of(item), []).append(position)
        return positions

    def prepare(self) -> None:
        """Compute `first_children` of all nonterminals now."""
        for symbol in self.rules.nonterminals:
            self.first_children(symbol)

    def first_children(self, symbol: int) -> dict[int, list[int]]:
        """The rules of *symbol* that start with a nonterminal, by that nonterminal."""
        children = self._children.get(symbol)
        if children is None:
            children = self._children[symbol] = {}
            for number in [item >> DOT_BITS for item in self.rules.starts(symbol)]:
                first = self.rules.rhs[number][0]
                if first in self.rules.nonterminals:
                    children.setdefault(first, []).append(number)
        return children


_NOWHERE: dict[int, list[tuple[list[RulePosition], Child]]] = {}


class _LeftCorners:
    """For each nonterminal those that have it as a left corner: the reflexive, transitive closure."""

    def __init__(self, rules: Rules) -> None:
        self._known: dict[int, int] = {}
        self._parents: dict[int, set[int]] = {symbol: set() for symbol in rules.nonterminals}
        for lhs, rhs in zip(rules.lhs, rules.rhs, strict=True):
            if rhs[0] in self._parents:
                self._parents[rhs[0]].add(lhs)

    def __getitem__(self, symbol: int) -> int:
        """Those that have *symbol* as a left corner, a bit set.

        Cached, as few symbols of large grammars are needed.
        """
        known = self._known.get(symbol)
        if known is None:
            above, waiting = {symbol}, [symbol]
            while waiting:
                fresh = self._parents[waiting.pop()] - above
                above |= fresh
                waiting += fresh
            known = self._known[symbol] = bit_set(above)
        return known


@value
class CommonNodes:
    """The missing parts of nodes that are open on both sides, outermost node first.

    `between` has an entry for each rule and position of such a node: the child that is open on the left, the
    symbols missing after it, and the child that is open on the right. `suites` are the symbols of the blocks
    that may be open on both sides.
    """

    between: tuple[tuple[Child, Rhs, Child], ...]
    suites: tuple[int, ...]

    @property
    def weight(self) -> int:
        """Their approximate size in memory, in bytes."""
        return 300 + 150 * len(self.between)


def find_common_nodes(
    left: OpenRules, right: OpenRules, left_node: Open, right_node: Open, repetitions: Mapping[int, int]
) -> CommonNodes:
    """The missing parts of nodes open on both sides: of a given node and all nodes inside it.

    That node is *left_node* among the open rules of the *left* and *right_node* among those of the *right*.
    *repetitions* maps each repetition to its element, as in `Grammar`. O(open rules of both sides).
    """
    between: list[tuple[Child, Rhs, Child]] = []
    suites: dict[int, None] = {}
    both = {(left_node, right_node): None} if left_node in left else {}
    waiting = deque(both)
    while waiting:
        checkpoint()
        left_node, right_node = waiting.popleft()
        for before, inner, after in _gaps(left, right, left_node, right_node, repetitions):
            if inner is not None:
                between.append((before, inner, after))
            elif isinstance(before, OpenSuite):
                suites[before.suite] = None
            else:
                assert isinstance(before, tuple)
                assert isinstance(after, tuple)
                if (before, after) not in both:
                    both[before, after] = None
                    waiting.append((before, after))
    return CommonNodes(tuple(between), tuple(suites))


def _gaps(
    left: OpenRules, right: OpenRules, left_node: Open, right_node: Open, repetitions: Mapping[int, int]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """Each way to match the two sides of a node: open child left, symbols missing, open child right.

    The missing symbols are None if both sides are in the same child.
    """
    if left_node[0] in repetitions:
        element = repetitions[left_node[0]]
        return _in_elements(
            left_node[0], _elements(left[left_node], element), _elements(right[right_node], element)
        )
    return _in_rules(left.finder.rules.rhs, left[left_node], right[right_node])


def _in_rules(
    rhs_of: Sequence[Rhs], lefts: RulesByNumber, rights: RulesByNumber
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    for rule in [rule for rule in lefts if rule in rights]:
        rhs = rhs_of[rule]
        for dot, left in lefts[rule]:
            first = dot + is_open(left)
            for n_read, right in rights[rule]:
                end = len(rhs) - n_read
                last = end - is_open(right)
                if first <= last:
                    yield left, rhs[first:last], right
                elif dot + 1 == end and is_open(left) and is_open(right):
                    yield left, None, right


def _in_elements(
    repetition: int, lefts: Sequence[Child], rights: Sequence[Child]
) -> Iterator[tuple[Child, Rhs | None, Child]]:
    """As `_gaps` for a repetition: each context is inside an element or between two elements."""
    for left in lefts:
        for right in rights:
            yield left, (), right
            yield left, (repetition,), right
            if is_open(left) and is_open(right):
                yield left, None, right


def _elements(rules: RulesByNumber, element: int) -> list[Child]:
    """The elements of a repetition that may be open at the cursor; numbers if it may be between two."""
    children = dict.fromkeys([child for ways in rules.values() for _, child in ways])
    return [c for c in children if isinstance(c, int) or (isinstance(c, tuple) and c[0] == element)]
