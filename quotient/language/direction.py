"""A recogniser for one direction, with caches, and classes of lines that no context can tell apart.

Left contexts are parsed forwards; right contexts backwards, with reversed rules.

After a whole logical line only two things matter: the rules that it completes, and the rules that continue on
other lines. Most lines of a file are equivalent in this sense, for instance all simple statements, or all
headers of `while` loops. So each class has one representative, and contexts read the representative, in both
directions. Every line itself is parsed just once, forwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import EVERY
from fimlsp.quotient.grammar.canonical_sets import CanonicalSets
from fimlsp.quotient.grammar.cfg import Grammar, Production, Rules, State
from fimlsp.quotient.grammar.earley import Automaton, Earley, EarleySet
from fimlsp.quotient.grammar.open_rules import OpenRuleFinder, OpenRules, Way
from fimlsp.quotient.language.escape import Enclosures, Insides

_MOST_QUERIES = 1024
_NONE = frozenset[int]()

_Query = tuple[tuple[Way, ...], tuple[int, ...] | None]
"""A query for open rules: the ways to read a text, and the suites open after it."""


class Direction:
    """An Earley recogniser for the groups of a language in one direction, with bounded caches."""

    __slots__ = (
        "_canonical_sets",
        "_enclosures",
        "_finder",
        "_insides",
        "_open_rules_at",
        "_possible_bodies",
        "_sets_after",
        "_starts",
        "earley",
        "rules",
    )

    def __init__(self, rules: Rules, enclosures: Enclosures) -> None:
        self.rules = rules
        self._enclosures = enclosures
        self._finder = OpenRuleFinder(rules)
        self.earley = Earley(Automaton(rules))
        self._open_rules_at = WeighedDict[_Query, OpenRules](8 * MEGABYTE, lambda _, rules: rules.weight)
        self._insides = WeighedDict[OpenRules, Insides](8 * MEGABYTE, lambda rules, _: rules.weight)
        self._possible_bodies: BoundedDict[_Query, frozenset[int]] = BoundedDict(_MOST_QUERIES)
        self._canonical_sets = CanonicalSets()
        self._starts: dict[frozenset[int], EarleySet] = {}
        self._sets_after = WeighedDict[tuple[EarleySet, tuple[int, ...]], EarleySet | None](
            2 * MEGABYTE, lambda key, _: 600 + 8 * len(key[1])
        )

    def prepare(self) -> None:
        """As `OpenRuleFinder.prepare`."""
        self._finder.prepare()

    def start(self, bodies: frozenset[int]) -> EarleySet:
        """The set before a group that may be any of *bodies*; the same object for equal *bodies*."""
        start = self._starts.get(bodies)
        if start is None:
            start = self._starts[bodies] = self.earley.start(bodies)
        return start

    def read(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `Earley.read`, cached: the same symbols after the same set give the same object."""
        key = before, symbols
        try:
            return self._sets_after[key]
        except KeyError:
            after = self._sets_after[key] = self.read_once(before, symbols)
            return after

    def read_once(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `read`, not cached.

        In between the sets are made canonical, so that those before need not be kept.
        """
        current = self.earley.read(before, symbols[:EVERY])
        for start in range(EVERY, len(symbols), EVERY):
            if current is None:
                return None
            current = self.read(self.canonical(current), symbols[start : start + EVERY])
        return current

    def canonical(self, earley_set: EarleySet) -> EarleySet:
        """As `CanonicalSets.standing_for`."""
        return self._canonical_sets.standing_for(earley_set)

    def open_rules(self, ways: tuple[Way, ...], suites: tuple[int, ...] | None) -> OpenRules:
        """As `OpenRuleFinder.open_rules`, cached."""
        query = ways, suites
        open_rules = self._open_rules_at.get(query)
        if open_rules is None:
            open_rules = self._open_rules_at[query] = self._finder.open_rules(*query)
        return open_rules

    def possible_bodies(
        self,
        ways: tuple[Way, ...],
        suites: tuple[int, ...] | None,
        bodies: frozenset[int],
    ) -> frozenset[int]:
        """Those of *bodies* that the group with open rules as in `open_rules` may be; cached."""
        query = ways, suites
        possible = self._possible_bodies.get(query)
        if possible is None:
            opened = self.open_rules(*query).opened
            possible = self._possible_bodies[query] = bodies & opened.get(self.start(bodies), _NONE)
        return possible

    def insides(self, of: OpenRules) -> Insides:
        """As `Enclosures.insides`, cached."""
        insides = self._insides.get(of)
        if insides is None:
            insides = self._insides[of] = self._enclosures.insides(of)
        return insides

    def read_any(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """The set after one symbol, which may be any of *symbols*; None if none of them is expected."""
        return self.read(before, symbols) if len(symbols) == 1 else self.earley.scan(before, symbols)


Form = tuple[frozenset[int], frozenset[State], frozenset[State], frozenset[State]]
"""The class of a line: the nonterminals that derive it, and three sets of states.

The states belong to unfinished rules: those that started with the line, those that started with its line end,
and those that wait for the latter.
"""


class LineClasses:
    """Finds the representative of a line.

    Where rules are copied for places (see `grammar/lark_loader.py`), a line that means the same in all of
    them is read in the first.

    *suites* are the symbols of nested blocks, *bodies* those of groups, and *lists* the repetitions of
    *bodies*.
    """

    __slots__ = (
        "_continuing",
        "_copies",
        "_forward",
        "_line_starts",
        "_newline",
        "_place_words",
        "_representative_of",
        "_representatives",
    )

    def __init__(
        self,
        grammar: Grammar,
        suites: Collection[int],
        bodies: Collection[int],
        lists: Collection[int],
        forward: Direction,
    ) -> None:
        opaque = {grammar.start, *suites, *lists}
        productions = [production for production in grammar.productions if production.lhs not in opaque]
        self._newline = grammar.symbol("NEWLINE")
        after_breaks = _after(productions, {self._newline, *suites}) - {*suites}
        self._continuing = frozenset(symbol for symbol in after_breaks if grammar.is_terminal(symbol))
        self._line_starts = after_breaks - self._continuing | frozenset(bodies)
        self._copies = grammar.copies
        self._place_words = grammar.place_words
        self._forward = forward
        self._representative_of = WeighedDict[tuple[int, ...], tuple[int, ...]](
            4 * MEGABYTE, lambda symbols, _: 150 + 8 * len(symbols)
        )
        self._representatives: dict[Form, tuple[int, ...]] = {}

    @property
    def start(self) -> EarleySet:
        """The set before any line."""
        return self._forward.start(self._line_starts)

    def representative(self, symbols: tuple[int, ...]) -> tuple[int, ...]:
        """The representative of the logical line *symbols*; neither includes its line end.

        It may replace the line in every group. The first line of a class represents it; a line that cannot be
        classified represents itself. Amortised O(line).
        """
        representative = self._representative_of.get(symbols)
        if representative is None:
            form = None if self._continuing.intersection(symbols[:1]) else self._form(symbols)
            representative = symbols if form is None else self._representatives.setdefault(form, symbols)
            self._representative_of[symbols] = representative
        return representative

    def _form(self, symbols: tuple[int, ...]) -> Form | None:
        """The class of the line *symbols*; None if it cannot be described by a `Form`."""
        start = self.start
        if self._copies and self._place_words.isdisjoint(symbols):
            start = self._forward.start(self._line_starts - self._copies)
        last = self._forward.earley.read(start, symbols)
        end = last and self._forward.earley.scan(last, (self._newline,))
        if last is None or end is None:
            return None
        unfinished = [(state, origin) for state, origin in end.entries if state.by_symbol]
        after_break = [(state, origin) for state, origin in unfinished if origin is not start]
        waiting = last.waiting if after_break else ()
        if any(origin is not last for _, origin in after_break) or any(
            origin is not start for _, origin in waiting
        ):
            return None
        return (
            end.completed_from(start),
            frozenset(state for state, origin in unfinished if origin is start),
            frozenset(state for state, _ in after_break),
            frozenset(state for state, _ in waiting),
        )


def _after(productions: Sequence[Production], breaks: Collection[int]) -> frozenset[int]:
    """The symbols that some production allows directly after a symbol that ends with one of *breaks*."""
    ending = set(breaks)
    while fresh := {p.lhs for p in productions if p.rhs[-1] in ending} - ending:
        ending |= fresh
    return frozenset(b for production in productions for a, b in pairwise(production.rhs) if a in ending)
