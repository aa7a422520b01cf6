"""Answers ahead: which texts may follow where some symbols of the language are expected, wherever that is.

Until a symbol is complete, what may come depends on its rules alone. So answers about it hold at all cursors:
which groups of texts end within it, and at which nodes of their trie it may be complete. What may follow then
depends on the place, and is left to `asking.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.quotient.earley.automaton import Automaton
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.rules import Rules
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.grouping.groups import Groups
from fimlsp.quotient.masks.repetition import changes_nothing

_MOST_SCANS, _MOST_NODES = 10_000, 10_000
_MOST_BYTES = 12 * MEGABYTE
_BYTES_PER_ANSWER, _BYTES_PER_NODE = 300, 40

Nodes = frozenset[int]
Rest = tuple[int, ...]
"""Symbols of the language, at least one, that are left to read of a rule. More may have to follow."""

Rests = frozenset[Rest]


class Within(NamedTuple):
    """What may come from a node of a trie of groups on, where the rest of a rule is expected.

    The groups of the bit set `allowed` may come; those of `asked` may, for more reasons than what symbols are
    expected. The rest may be complete at the nodes `passed`; `beyond` are the groups of these and later ones.
    A line begins behind the nodes `line_ends`.
    """

    allowed: int
    asked: int
    passed: Nodes
    beyond: int
    line_ends: Nodes


class Passed(NamedTuple):
    """Some *rests* may be complete at some *nodes*; those *beyond* are the groups of these and later ones."""

    rests: Rests
    nodes: Nodes
    beyond: int


class Answer(NamedTuple):
    """As `Within` for many rests; here `passed` says which of them may be complete at which nodes.

    The groups of `undecided` are at nodes where these are expected: they may straddle the end of the middle.
    """

    allowed: int
    asked: int
    passed: tuple[Passed, ...]
    line_ends: Nodes
    undecided: int


class _Reached(NamedTuple):
    """A set, *chart*, the bit set of what is *expected* there, and whether the symbol is complete."""

    chart: EarleySet
    is_complete: bool
    expected: int


_NO_RESTS: Rests = frozenset()
_NO_NODES: Nodes = frozenset()


class Ahead:
    """Answers about groups of texts in the language of *tables*."""

    def __init__(self, tables: LanguageTables) -> None:
        self._tables = tables
        self._rules = Rules()
        self._earley = Earley(Automaton(self._rules, tables.forward.earley.automaton))
        self._starts: dict[int, EarleySet] = {}
        self._firsts: dict[int, int] = {}
        self._scans: BoundedDict[tuple[EarleySet, int], _Reached] = BoundedDict(_MOST_SCANS)
        self._nodes: BoundedDict[Nodes, Nodes] = BoundedDict(_MOST_NODES)
        self._of_rests = WeighedDict[tuple[int, int, Rest], Within](_MOST_BYTES, _weight)
        self._of_many = WeighedDict[tuple[int, Nodes, Rests, Rests], Answer](_MOST_BYTES, _weight_of_many)

    def answer(self, groups: Groups, nodes: Nodes, rests: Rests, again: Rests = _NO_RESTS) -> Answer:
        """What may come at any of *nodes*, each reached where all of *rests* are expected.

        Where one of *again* is complete, the same are expected again.
        """
        key = groups.number, nodes, rests, again
        found = self._of_many.get(key)
        if found is None:
            found = self._of_many[key] = self._of_all(groups, nodes, rests, again)
        return found

    def _of_all(self, groups: Groups, nodes: Nodes, rests: Rests, again: Rests) -> Answer:
        allowed, asked, undecided = 0, 0, 0
        line_ends = _NO_NODES
        passed: dict[Rest, tuple[Nodes, int]] = {}
        by_first: dict[int, list[Rest]] = {}
        for rest in rests:
            by_first.setdefault(self._first(rest[0]), []).append(rest)
        waiting, seen = list(nodes), set(nodes)
        while waiting:
            node = waiting.pop()
            said = groups.at(node, self._tables)
            first = said.first
            allowed |= said.always << first
            asked |= said.asked << first
            undecided |= said.undecided << first
            if said.columns:
                line_ends |= {node}
            for rest in [rest for firsts, own in by_first.items() if said.symbols & firsts for rest in own]:
                one = self._of_rest(groups, node, rest)
                allowed |= one.allowed
                asked |= one.asked
                line_ends |= one.line_ends
                if one.passed and rest in again:
                    waiting += one.passed - seen
                    seen |= one.passed
                elif one.passed:
                    at, beyond = passed.get(rest, (_NO_NODES, 0))
                    passed[rest] = (at | one.passed if at else one.passed, beyond | one.beyond)
        return Answer(allowed, asked, _by_nodes(passed), line_ends, undecided)

    def _of_rest(self, groups: Groups, node: int, rest: Rest) -> Within:
        key = groups.number, node, rest
        found = self._of_rests.get(key)
        if found is None:
            if len(rest) == 1:
                found = self._walk(groups, node, rest[0])
            else:
                found = self._of_rest(groups, node, rest[:1])
                if found.passed:
                    found = self._with_more(groups, found, rest[1:])
            self._of_rests[key] = found
        return found

    def _with_more(self, groups: Groups, before: Within, rest: Rest) -> Within:
        """What may come where *rest* is expected after what *before* says."""
        after = self.answer(groups, before.passed, frozenset((rest,)))
        assert len(after.passed) <= 1
        at, beyond = (after.passed[0].nodes, after.passed[0].beyond) if after.passed else (_NO_NODES, 0)
        return Within(
            before.allowed | after.allowed,
            before.asked | after.asked,
            at,
            beyond,
            before.line_ends | after.line_ends,
        )

    def _first(self, symbol: int) -> int:
        """What may come first where *symbol* is expected, as a bit set."""
        found = self._firsts.get(symbol)
        if found is None:
            found = self._firsts[symbol] = self._start(symbol).predicted.expected_bits
        return found

    def _start(self, symbol: int) -> EarleySet:
        """A set at which *symbol* is expected, and nothing else."""
        found = self._starts.get(symbol)
        if found is None:
            whole = self._tables.first_free_symbol + symbol
            self._rules.add(whole, (symbol,))
            found = self._starts[symbol] = self._earley.start((whole,))
        return found

    def _walk(self, groups: Groups, node: int, symbol: int) -> Within:
        """What may come where *symbol* is expected, by reading."""
        tables = self._tables
        allowed, asked = 0, 0
        line_ends: list[int] = []
        passed: list[int] = []
        start = self._start(symbol)
        waiting = [(node, start, start.predicted.expected_bits)]
        while waiting:
            node, chart, expected = waiting.pop()
            said = groups.at(node, tables)
            allowed |= said.always << said.first
            asked |= said.asked << said.first
            if said.columns:
                line_ends.append(node)
            if not said.symbols & expected:
                continue
            for symbols, bits in said.needed:
                if symbols & expected:
                    allowed |= bits << said.first
            for (terminal, behind), bits in said.fallbacks:
                if expected >> terminal & 1:
                    reached = self._after(symbol, chart, terminal)
                    if reached.is_complete or reached.expected & behind:
                        asked |= bits << said.first
            for terminal, child in said.children:
                if expected >> terminal & 1:
                    reached = self._after(symbol, chart, terminal)
                    waiting.append((child, reached.chart, reached.expected))
                    if reached.is_complete:
                        passed.append(child)
        at = self._the_same(frozenset(passed))
        return Within(allowed, asked, at, groups.from_on(at), frozenset(line_ends))

    def _the_same(self, nodes: Nodes) -> Nodes:
        """Equal nodes as the same object, which is quickly compared."""
        found = self._nodes.get(nodes)
        if found is None:
            found = self._nodes[nodes] = nodes
        return found

    def _after(self, symbol: int, chart: EarleySet, terminal: int) -> _Reached:
        """Where *terminal* leads, which is expected at *chart*, in *symbol*."""
        found = self._scans.get((chart, terminal))
        if found is None:
            found = self._scans[chart, terminal] = self._read(symbol, chart, terminal)
        return found

    def _read(self, symbol: int, chart: EarleySet, terminal: int) -> _Reached:
        after = self._earley.scan(chart, (terminal,))
        assert after is not None
        whole = self._tables.first_free_symbol + symbol
        is_complete = whole in after.completed_from(self._starts[symbol])
        if changes_nothing(chart, after, self._tables.forward.rules, None):
            after = chart
        return _Reached(after, is_complete, after.expected_bits)


def _by_nodes(passed: Mapping[Rest, tuple[Nodes, int]]) -> tuple[Passed, ...]:
    """Rests with the nodes where they are *passed*, and the groups beyond; together if these are the same."""
    found: dict[tuple[Nodes, int], list[Rest]] = {}
    for rest, at in passed.items():
        found.setdefault(at, []).append(rest)
    return tuple([Passed(frozenset(rests), *at) for at, rests in found.items()])


def _weight(_: object, answer: Within | Answer) -> int:
    """About how many bytes an answer takes."""
    nodes = len(answer.line_ends) + len(answer.passed)
    bits = (answer.allowed.bit_length() + answer.asked.bit_length()) // 8
    return _BYTES_PER_ANSWER + bits + _BYTES_PER_NODE * nodes


def _weight_of_many(key: object, answer: Answer) -> int:
    nodes = sum(len(passed.nodes) for passed in answer.passed)
    bits = answer.undecided.bit_length() + sum(passed.beyond.bit_length() for passed in answer.passed)
    return _weight(key, answer) + _BYTES_PER_NODE * nodes + bits // 8
