"""Cursor-independent answers: the groups of texts that can follow a set of expected symbols.

Until a symbol is complete, only its own rules decide which texts may follow. So two answers hold at all
cursors. These are the groups of texts that end within the symbol, and the nodes of their trie at which it may
be complete. The continuations after that depend on the cursor, and are left to `parser_queries.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.quotient.grammar.cfg import DOT, DOT_BITS, Rules, State
from fimlsp.quotient.grammar.earley import Automaton, Earley, EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.groups import Groups

_MOST_SCANS, _MOST_NODES = 10_000, 10_000
_MOST_BYTES = 12 * MEGABYTE
_BYTES_PER_ANSWER, _BYTES_PER_NODE = 300, 40

Nodes = frozenset[int]
Suffix = tuple[int, ...]
"""The symbols of the language, at least one, that are left to read of a rule. More may have to follow."""

RuleSuffixes = frozenset[Suffix]


class Within(NamedTuple):
    """The groups that may follow from a node of their trie on, if the suffix of a rule is expected there.

    Those of the bit set `allowed` may follow; those of `uncertain` may, for more reasons than the expected
    symbols. The suffix may be complete at the nodes `passed`; `beyond` are the groups there and below. A line
    starts after the nodes `line_ends`.
    """

    allowed: int
    uncertain: int
    passed: Nodes
    beyond: int
    line_ends: Nodes


class Passed(NamedTuple):
    """Some *suffixes* may be complete at some *nodes*; `beyond` are the groups there and below."""

    suffixes: RuleSuffixes
    nodes: Nodes
    beyond: int


class Answer(NamedTuple):
    """As `Within` for many suffixes; `passed` has the nodes at which each of them may be complete.

    The groups of `undecided` are at nodes where these are expected: their last lexeme may continue into the
    right context.
    """

    allowed: int
    uncertain: int
    passed: tuple[Passed, ...]
    line_ends: Nodes
    undecided: int


class _Reached(NamedTuple):
    """A set *chart*, the bit set of symbols *expected* there, and True if the whole symbol is complete."""

    chart: EarleySet
    is_complete: bool
    expected: int


_NO_SUFFIXES: RuleSuffixes = frozenset()
_NO_NODES: Nodes = frozenset()


class PrecomputedAnswers:
    """Answers about groups of texts in the language of *tables*, made when first needed."""

    def __init__(self, tables: LanguageTables) -> None:
        self._tables = tables
        self._rules = Rules()
        self._earley = Earley(Automaton(self._rules, tables.forward.earley.automaton))
        self._starts: dict[int, EarleySet] = {}
        self._firsts: dict[int, int] = {}
        self._scans: BoundedDict[tuple[EarleySet, int], _Reached] = BoundedDict(_MOST_SCANS)
        self._nodes: BoundedDict[Nodes, Nodes] = BoundedDict(_MOST_NODES)
        self._of_suffix = WeighedDict[tuple[int, int, Suffix], Within](_MOST_BYTES, _weight)
        self._of_many = WeighedDict[tuple[int, Nodes, RuleSuffixes, RuleSuffixes], Answer](
            _MOST_BYTES, _weight_of_many
        )

    def answer(
        self, groups: Groups, nodes: Nodes, suffixes: RuleSuffixes, again: RuleSuffixes = _NO_SUFFIXES
    ) -> Answer:
        """The groups that may follow at any of *nodes*, if all of *suffixes* are expected at each of them.

        After one of *again* the same are expected again.
        """
        key = groups.number, nodes, suffixes, again
        answer = self._of_many.get(key)
        if answer is None:
            answer = self._of_many[key] = self._answer(groups, nodes, suffixes, again)
        return answer

    def _answer(self, groups: Groups, nodes: Nodes, suffixes: RuleSuffixes, again: RuleSuffixes) -> Answer:
        allowed, uncertain, undecided = 0, 0, 0
        line_ends = _NO_NODES
        passed: dict[Suffix, tuple[Nodes, int]] = {}
        by_first: dict[int, list[Suffix]] = {}
        for suffix in suffixes:
            by_first.setdefault(self._first(suffix[0]), []).append(suffix)
        waiting, seen = list(nodes), set(nodes)
        while waiting:
            number = waiting.pop()
            node = groups.at(number, self._tables)
            first = node.first
            allowed |= node.always << first
            uncertain |= node.uncertain << first
            undecided |= node.undecided << first
            if node.columns:
                line_ends |= {number}
            for suffix in [one for firsts, own in by_first.items() if node.symbols & firsts for one in own]:
                within = self._of_one(groups, number, suffix)
                allowed |= within.allowed
                uncertain |= within.uncertain
                line_ends |= within.line_ends
                if within.passed and suffix in again:
                    waiting += within.passed - seen
                    seen |= within.passed
                elif within.passed:
                    known, beyond = passed.get(suffix, (_NO_NODES, 0))
                    passed[suffix] = (
                        known | within.passed if known else within.passed,
                        beyond | within.beyond,
                    )
        return Answer(allowed, uncertain, _by_nodes(passed), line_ends, undecided)

    def _of_one(self, groups: Groups, node: int, suffix: Suffix) -> Within:
        key = groups.number, node, suffix
        within = self._of_suffix.get(key)
        if within is None:
            if len(suffix) == 1:
                within = self._walk(groups, node, suffix[0])
            else:
                within = self._of_one(groups, node, suffix[:1])
                if within.passed:
                    within = self._with_more(groups, within, suffix[1:])
            self._of_suffix[key] = within
        return within

    def _with_more(self, groups: Groups, before: Within, suffix: Suffix) -> Within:
        """*before*, and the groups that may follow if *suffix* is expected where that is complete."""
        after = self.answer(groups, before.passed, frozenset((suffix,)))
        assert len(after.passed) <= 1
        nodes, beyond = (after.passed[0].nodes, after.passed[0].beyond) if after.passed else (_NO_NODES, 0)
        return Within(
            before.allowed | after.allowed,
            before.uncertain | after.uncertain,
            nodes,
            beyond,
            before.line_ends | after.line_ends,
        )

    def _first(self, symbol: int) -> int:
        """The first terminals where *symbol* is expected, as a bit set."""
        bits = self._firsts.get(symbol)
        if bits is None:
            bits = self._firsts[symbol] = self._start(symbol).predicted.expected_bits
        return bits

    def _start(self, symbol: int) -> EarleySet:
        """A set at which *symbol* is expected, and nothing else."""
        chart = self._starts.get(symbol)
        if chart is None:
            whole = self._tables.first_free_symbol + symbol
            self._rules.add(whole, (symbol,))
            chart = self._starts[symbol] = self._earley.start((whole,))
        return chart

    def _walk(self, groups: Groups, first_node: int, symbol: int) -> Within:
        """The groups that may follow where *symbol* is expected, by reading along the trie."""
        tables = self._tables
        allowed, uncertain = 0, 0
        line_ends: list[int] = []
        passed: list[int] = []
        start = self._start(symbol)
        waiting = [(first_node, start, start.predicted.expected_bits)]
        while waiting:
            number, chart, expected = waiting.pop()
            node = groups.at(number, tables)
            allowed |= node.always << node.first
            uncertain |= node.uncertain << node.first
            if node.columns:
                line_ends.append(number)
            if not node.symbols & expected:
                continue
            for symbols, bits in node.needed:
                if symbols & expected:
                    allowed |= bits << node.first
            for (terminal, following), bits in node.fallbacks:
                if expected >> terminal & 1:
                    reached = self._after(symbol, chart, terminal)
                    if reached.is_complete or reached.expected & following:
                        uncertain |= bits << node.first
            for terminal, child in node.children:
                if expected >> terminal & 1:
                    reached = self._after(symbol, chart, terminal)
                    waiting.append((child, reached.chart, reached.expected))
                    if reached.is_complete:
                        passed.append(child)
        nodes = self._shared(frozenset(passed))
        return Within(allowed, uncertain, nodes, groups.in_subtrees(nodes), frozenset(line_ends))

    def _shared(self, nodes: Nodes) -> Nodes:
        """Equal nodes as the same object, which is quick to compare."""
        shared = self._nodes.get(nodes)
        if shared is None:
            shared = self._nodes[nodes] = nodes
        return shared

    def _after(self, symbol: int, chart: EarleySet, terminal: int) -> _Reached:
        """The set after *terminal*, which is expected at *chart*, within *symbol*."""
        reached = self._scans.get((chart, terminal))
        if reached is None:
            reached = self._scans[chart, terminal] = self._read(symbol, chart, terminal)
        return reached

    def _read(self, symbol: int, chart: EarleySet, terminal: int) -> _Reached:
        after = self._earley.scan(chart, (terminal,))
        assert after is not None
        whole = self._tables.first_free_symbol + symbol
        is_complete = whole in after.completed_from(self._starts[symbol])
        if changes_nothing(chart, after, self._tables.forward.rules, None):
            after = chart
        return _Reached(after, is_complete, after.expected_bits)


def _by_nodes(passed: Mapping[Suffix, tuple[Nodes, int]]) -> tuple[Passed, ...]:
    """Suffixes with the nodes at which they are *passed*, and the groups beyond; one for equal nodes."""
    suffixes_at: dict[tuple[Nodes, int], list[Suffix]] = {}
    for suffix, nodes in passed.items():
        suffixes_at.setdefault(nodes, []).append(suffix)
    return tuple([Passed(frozenset(suffixes), *nodes) for nodes, suffixes in suffixes_at.items()])


def _weight(_: object, answer: Within | Answer) -> int:
    """Approximate memory size of an answer."""
    nodes = len(answer.line_ends) + len(answer.passed)
    bits = (answer.allowed.bit_length() + answer.uncertain.bit_length()) // 8
    return _BYTES_PER_ANSWER + bits + _BYTES_PER_NODE * nodes


def _weight_of_many(key: object, answer: Answer) -> int:
    nodes = sum(len(passed.nodes) for passed in answer.passed)
    bits = answer.undecided.bit_length() + sum(passed.beyond.bit_length() for passed in answer.passed)
    return _weight(key, answer) + _BYTES_PER_NODE * nodes + bits // 8


def changes_nothing(before: EarleySet, after: EarleySet, rules: Rules, right: Rules | None) -> bool:
    """True if the same may follow *after* a symbol as *before* it, as with the second minus of `--x`.

    So long runs of it are read at once. It is true if the symbol starts the rule that was started before it
    once more, at the last symbol of that. Completing the inner one then completes the outer one only. *rules*
    are those of the language. Rules of the *right* context are never completed within a middle, so equal
    states suffice for them.
    """
    if after.predicted is not before.predicted or len(after.entries) != len(before.entries):
        return False
    if any(origin is not before for _, origin in after.entries):
        return False
    states = {state for state, _ in after.entries}
    if len(states) != len(after.entries) or states != {state for state, _ in before.entries}:
        return False
    own = [state for state in states if state.rules is not right]
    return len(own) == 1 and own[0].rules is rules and _only_completes(own[0], before)


def _only_completes(state: State, before: EarleySet) -> bool:
    """True if the rule of *state* is at its last symbol, which completes at *before* its left side alone."""
    if len(state.items) != 1:
        return False
    item = state.items[0]
    lhs, rhs = state.rules.lhs_of(item), state.rules.rhs[item >> DOT_BITS]
    if (item & DOT) + 1 != len(rhs):
        return False
    states, completed = before.predicted.chain(lhs)
    return rhs[-1] in completed and not any(reached.by_symbol for reached in states)
