"""A recogniser for one direction: parses groups forwards or backwards, and caches the results.

Left contexts are parsed forwards; right contexts backwards, with reversed rules.
"""

from __future__ import annotations

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import EVERY
from fimlsp.quotient.earley.automaton import Automaton
from fimlsp.quotient.earley.canonical_sets import CanonicalSets
from fimlsp.quotient.earley.open_rules import OpenRuleFinder, OpenRules
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.rules import Rules
from fimlsp.quotient.language.escape import Enclosures, Insides

_MOST_QUERIES = 1024
_NONE = frozenset[int]()

_Query = tuple[EarleySet, tuple[int, ...] | None, frozenset[int]]
"""Where to find open rules: a set, the suites open behind it, and symbols that may not come next."""


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
        found = self._starts.get(bodies)
        if found is None:
            found = self._starts[bodies] = self.earley.start(bodies)
        return found

    def read(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `Earley.read`, cached: the same symbols after the same set give the same object."""
        key = before, symbols
        try:
            return self._sets_after[key]
        except KeyError:
            found = self._sets_after[key] = self._read(before, symbols)
            return found

    def _read(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `read`. In between the sets are made canonical, so that those before need not be kept."""
        current = self.earley.read(before, symbols[:EVERY])
        for start in range(EVERY, len(symbols), EVERY):
            if current is None:
                return None
            current = self.read(self.canonical(current), symbols[start : start + EVERY])
        return current

    def canonical(self, found: EarleySet) -> EarleySet:
        """As `CanonicalSets.standing_for`."""
        return self._canonical_sets.standing_for(found)

    def open_rules(
        self, last: EarleySet, suites: tuple[int, ...] | None, not_next: frozenset[int] = _NONE
    ) -> OpenRules:
        """As `OpenRuleFinder.open_rules`, cached."""
        query = last, suites, not_next
        found = self._open_rules_at.get(query)
        if found is None:
            found = self._open_rules_at[query] = self._finder.open_rules(*query)
        return found

    def possible_bodies(
        self,
        last: EarleySet,
        suites: tuple[int, ...] | None,
        bodies: frozenset[int],
        not_next: frozenset[int] = _NONE,
    ) -> frozenset[int]:
        """Which of *bodies* the group may be whose rules are open at *last* (as in `open_rules`); cached."""
        query = last, suites, not_next
        found = self._possible_bodies.get(query)
        if found is None:
            opened = self.open_rules(*query).opened
            found = self._possible_bodies[query] = bodies & opened.get(self.start(bodies), _NONE)
        return found

    def insides(self, of: OpenRules) -> Insides:
        """As `Enclosures.insides`, cached."""
        found = self._insides.get(of)
        if found is None:
            found = self._insides[of] = self._enclosures.insides(of)
        return found

    def read_any(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """The set after one symbol, which may be any of *symbols*; None if none of them is expected."""
        return self.read(before, symbols) if len(symbols) == 1 else self.earley.scan(before, symbols)
