"""Earley sets over random small grammars, against all sentences that the rules derive."""

import itertools
import random
from functools import cache

import pytest

from fimlsp.lexing.automata.bit_sets import members
from fimlsp.quotient.grammar import earley
from fimlsp.quotient.grammar.cfg import CheapestSentences, LazyRules, Rules, cheapest, cost_of
from fimlsp.quotient.grammar.earley import Automaton, Earley, EarleySet

LONGEST = 5
TERMINALS = (0, 1, 2)
Sides = dict[int, list[tuple[int, ...]]]
Sentence = tuple[int, ...]


def random_sides(rng: random.Random) -> Sides:
    """Rules for up to four nonterminals; recursion of any kind and ambiguity included, empty rules not."""
    nonterminals = range(len(TERMINALS), len(TERMINALS) + rng.randrange(1, 5))
    symbols = [*TERMINALS, *nonterminals]
    return {
        lhs: list(
            {tuple(rng.choices(symbols, k=rng.choice((1, 1, 2, 2, 3)))) for _ in range(rng.randrange(1, 4))}
        )
        for lhs in nonterminals
    }


def made(sides: Sides, *, backward: bool = False) -> Rules:
    rules = Rules()
    for lhs, alternatives in sides.items():
        for rhs in alternatives:
            rules.add(lhs, rhs[::-1] if backward else rhs)
    return rules


def languages(sides: Sides) -> dict[int, set[Sentence]]:
    """All sentences of at most `LONGEST` terminals of each nonterminal, as a least fixed point."""
    found: dict[int, set[Sentence]] = {lhs: set() for lhs in sides}
    size = -1
    while size < sum(map(len, found.values())):
        size = sum(map(len, found.values()))
        for lhs, alternatives in sides.items():
            for rhs in alternatives:
                found[lhs] |= joined([found.get(symbol, {(symbol,)}) for symbol in rhs])
    return found


def joined(parts: list[set[Sentence]]) -> set[Sentence]:
    """One sentence of each of *parts* after the other, if not too long."""
    whole: set[Sentence] = {()}
    for part in parts:
        whole = {
            head + group_end for head in whole for group_end in part if len(head) + len(group_end) <= LONGEST
        }
    return whole


@cache
def sentences() -> list[Sentence]:
    """All sequences of at most `LONGEST` terminals."""
    return [s for length in range(1, LONGEST + 1) for s in itertools.product(TERMINALS, repeat=length)]


def spanned(earley: Earley, start: EarleySet, sentence: Sentence) -> frozenset[int]:
    """The nonterminals that *sentence* is an instance of."""
    end = earley.read(start, sentence)
    return frozenset() if end is None else end.completed_from(start)


def check_members(sides: Sides, earley: Earley, *, backward: bool) -> None:
    members = languages(sides)
    start = earley.start(sides)
    for sentence in sentences():
        expected = {lhs for lhs in sides if sentence in members[lhs]}
        assert spanned(earley, start, sentence[::-1] if backward else sentence) == expected, (sides, sentence)


@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_members(seed, backward, few, monkeypatch):
    """Skipping long chains of completions from the first one on, or later, changes nothing."""
    monkeypatch.setattr(earley, "_FEW", few)
    sides = random_sides(random.Random(seed))
    check_members(sides, Earley(Automaton(made(sides, backward=backward))), backward=backward)


@pytest.mark.slow
@pytest.mark.parametrize("few", [0, 16])
@pytest.mark.parametrize("backward", [False, True])
def test_many_members(backward, few, monkeypatch):
    monkeypatch.setattr(earley, "_FEW", few)
    for seed in range(100, 2000):
        sides = random_sides(random.Random(seed))
        check_members(sides, Earley(Automaton(made(sides, backward=backward))), backward=backward)


def extended(sides: Sides, base: set[int]) -> Earley:
    """A recogniser of *sides* made from one of the *base* alone, which may be used before and after."""
    rules = made({lhs: sides[lhs] for lhs in base})
    automaton = Automaton(rules)
    added = sorted(sides.keys() - base)
    more = LazyRules(iter(added))
    for lhs in added:
        assert more.symbol(lhs, lambda _, lhs: sides[lhs], lhs) == lhs
    return Earley(Automaton(more, automaton))


def closed_under(sides: Sides, symbol: int) -> set[int]:
    """The nonterminals that derivations of *symbol* can use."""
    found = {symbol}
    for lhs in (waiting := [symbol]):
        fresh = {s for rhs in sides[lhs] for s in rhs if s in sides} - found
        found |= fresh
        waiting += fresh
    return found


@pytest.mark.parametrize("seed", range(40))
def test_members_of_extended_rules(seed):
    sides = random_sides(random.Random(seed))
    earley = extended(sides, closed_under(sides, max(sides)))
    check_members(sides, earley, backward=False)


@pytest.mark.parametrize("seed", range(40))
def test_sets_expect_what_may_follow(seed):
    sides = random_sides(random.Random(seed))
    earley = Earley(Automaton(made(sides)))
    start = earley.start(sides)
    for sentence in sentences():
        before = earley.read(start, sentence[:-1])
        if before is not None:
            assert before.expects(sentence[-1]) == (earley.scan(before, sentence[-1:]) is not None)


@pytest.mark.parametrize("seed", range(40))
def test_nonterminals_can_be_scanned(seed):
    """A part that is recognised elsewhere replaces each of its sentences."""
    sides = random_sides(random.Random(seed))
    earley = Earley(Automaton(made(sides)))
    members = languages(sides)
    start = earley.start(sides)
    parts = [(symbol, member) for symbol in sides for member in sorted(members[symbol])]
    for lhs, sentence in parts:
        for last in TERMINALS:
            whole = earley.read(start, (lhs, last))
            if whole is not None:
                assert whole.completed_from(start) <= spanned(earley, start, (*sentence, last))


@pytest.mark.parametrize("seed", range(30))
def test_cheapest_sentences(seed):
    """With a cost of one for each terminal, the cheapest sentence is one of the shortest."""
    sides = random_sides(random.Random(seed))
    rules = made(sides)
    costs, choices = cheapest(rules.alternatives(), dict.fromkeys(TERMINALS, 1))
    sentences = CheapestSentences(costs, choices, rules)
    for lhs, words in languages(sides).items():
        if words:
            shortest = min(map(len, words))
            assert cost_of(costs, (lhs,)) == sentences.of((lhs,)) == shortest
            assert tuple(sentences.expand((lhs,))) in words


def linear_sides(rng: random.Random) -> Sides:
    """Rules for up to eight nonterminals, each with at most one of them on its right-hand side."""
    nonterminals = range(len(TERMINALS), len(TERMINALS) + rng.randrange(2, 9))

    def side() -> tuple[int, ...]:
        symbols = rng.choices(TERMINALS, k=rng.randrange(3))
        if not symbols or rng.random() < 0.7:
            symbols.insert(rng.randrange(len(symbols) + 1), rng.choice(nonterminals))
        return tuple(symbols)

    return {lhs: [side() for _ in range(rng.randrange(1, 4))] for lhs in nonterminals}


@pytest.mark.parametrize("seed", range(200))
def test_cheapest_sentences_when_asked_for(seed):
    """Searched one by one, in any order, they have the same costs as searched all at once."""
    rng = random.Random(seed)
    rules = made(linear_sides(rng))
    known = {terminal: rng.randrange(4) for terminal in TERMINALS}
    costs, _ = cheapest(rules.alternatives(), known)
    asked = CheapestSentences(dict(known), {}, rules)
    for symbol in rng.sample(sorted(rules.nonterminals), len(rules.nonterminals)):
        assert asked.cost(symbol) == costs.get(symbol)
        if symbol in costs:
            assert sum(known[terminal] for terminal in asked.expand((symbol,))) == costs[symbol]


def test_cheapest_sentences_may_be_missing():
    """The seeds above have symbols without any sentence."""
    rules = [made(linear_sides(random.Random(seed))) for seed in range(200)]
    found = [cheapest(r.alternatives(), dict.fromkeys(TERMINALS, 1))[0] for r in rules]
    assert any(not r.nonterminals <= costs.keys() for r, costs in zip(rules, found, strict=True))


@pytest.mark.parametrize("seed", range(40))
def test_what_begins_alike_is_predicted_once(seed):
    sides = random_sides(random.Random(seed))
    rules = made(sides)
    automaton = Automaton(rules)
    symbol_sets = [frozenset(some) for size in (1, 2, 3) for some in itertools.combinations(sides, size)]
    begun = {
        some: frozenset(begun for symbol in some for begun in begun_by(sides, symbol)) for some in symbol_sets
    }
    for one, other in itertools.combinations(symbol_sets, 2):
        assert (automaton.predicted(one) is automaton.predicted(other)) == (begun[one] == begun[other])
    for some, nonterminals in begun.items():
        predicted = automaton.predicted(some)
        assert set(members(predicted.nonterminals)) == nonterminals
        items = sorted(item for first in predicted.expected() for item in predicted.items_after(first))
        assert items == sorted(item + 1 for symbol in nonterminals for item in rules.starts(symbol))
        assert predicted.expected() == {rules.unread(item - 1)[0] for item in items}


def begun_by(sides: Sides, symbol: int) -> set[int]:
    """The nonterminals that *symbol* may begin with, itself included."""
    found = {symbol}
    for lhs in (waiting := [symbol]):
        fresh = {rhs[0] for rhs in sides[lhs] if rhs[0] in sides} - found
        found |= fresh
        waiting += fresh
    return found
