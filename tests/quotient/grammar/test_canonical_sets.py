"""Canonical sets: each is equivalent to the set it replaces, and the lines of a table leave only a few."""

import random
from collections.abc import Iterable

import pytest

from fimlsp.quotient.grammar.canonical_sets import CanonicalSets
from fimlsp.quotient.grammar.cfg import Rules
from fimlsp.quotient.grammar.earley import Automaton, Earley, EarleySet
from fimlsp.quotient.grammar.open_rules import Child, OpenRuleFinder, OpenRules, OpenSuite

from ..middle_support import engine
from .test_earley_sets import check_members, made, random_sides, sentences


class CanonicalEarley(Earley):
    """A recogniser that continues with a shared set after every symbol."""

    __slots__ = ("canonical",)

    def __init__(self, rules: Rules) -> None:
        super().__init__(Automaton(rules))
        self.canonical = CanonicalSets()

    def read(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        current: EarleySet | None = before
        for symbol in symbols:
            after = current and self.scan(current, (symbol,))
            current = after and self.canonical.standing_for(after)
        return current


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_the_same_may_follow(seed, backward):
    sides = random_sides(random.Random(seed))
    check_members(sides, CanonicalEarley(made(sides, backward=backward)), backward=backward)


def paths(found: OpenRules, child: Child, depth: int) -> frozenset[tuple[object, ...]]:
    """The missing parts of nested open rules, from the outermost, some levels deep."""
    if isinstance(child, (int, OpenSuite)) or not depth:
        return frozenset({()})
    ways = found.missing(child)
    return frozenset((rest, *inner) for rest, below in ways for inner in paths(found, below, depth - 1))


def all_open(rules: Rules, last: EarleySet, start: EarleySet) -> dict[int, frozenset[tuple[object, ...]]]:
    """The paths of each nonterminal that was begun at *start* and is open at *last*."""
    found = OpenRuleFinder(rules).open_rules([(last, frozenset())])
    return {lhs: paths(found, (lhs, start), 6) for lhs in found.opened.get(start, ())}


@pytest.mark.parametrize("seed", range(40))
def test_the_same_rules_are_open(seed):
    rules = made(random_sides(random.Random(seed)))
    earley, canonical = Earley(Automaton(rules)), CanonicalEarley(rules)
    symbols = rules.nonterminals
    start, other = earley.start(symbols), canonical.start(symbols)
    for sentence in sentences():
        last, stripped = earley.read(start, sentence), canonical.read(other, sentence)
        assert (last is None) == (stripped is None)
        if last is not None and stripped is not None:
            assert all_open(rules, last, start) == all_open(rules, stripped, other)


TABLES = {
    "dictionary": (b"x = {\n", b'    "a": 1,\n', b"}\n"),
    "list": (b"x = [\n", b'    "a", b,\n', b"]\n"),
    "tuples": (b"x = (\n", b"    (1, [2, -x]),\n", b")\n"),
    "call": (b"f(\n", b"    a=g(x)[1],\n", b")\n"),
    "sum": (b"x = (1\n", b"    + f(x)\n", b")\n"),
    "string": (b"x = (\n", b"    'a' f'{b}'\n", b")\n"),
    "methods": (b"x = (y\n", b"    .f(x)\n", b")\n"),
    "inside others": (b"with a:\n  f([{1: [\n", b"  (1, {2: {3}}),\n", b"]}])\n"),
}


@pytest.mark.parametrize("name", TABLES)
def test_the_lines_of_a_table_leave_few_contexts(name):
    begin, line, end = TABLES[name]
    document = engine().document(begin + 120 * line + end)
    starts = range(len(begin), len(begin) + 120 * len(line), len(line))
    assert len({document.right_at(start) for start in starts}) < 6
    assert len({document.left_at(start)[1] for start in starts}) < 6
