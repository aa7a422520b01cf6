"""A recogniser that reads groups from one side of a cursor, forwards or backwards."""

from __future__ import annotations

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.earley.automaton import Automaton
from fimlsp.quotient.earley.canonical_sets import SharedSets
from fimlsp.quotient.earley.open_rules import OpenRuleFinder, OpenRules
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.rules import Rules
from fimlsp.quotient.language.escape import Enclosures, Insides

_MOST_READ = 3_000
_MOST_OPEN_RULES = 1024
_NONE = frozenset[int]()

_Top = tuple[EarleySet, tuple[int, ...] | None, frozenset[int]]
"""What open rules are found from: a set, the open suites behind it, and the symbols that may not come next."""


class Direction:
    """A recogniser that reads groups from one side, remembering what it read."""

    __slots__ = (
        "_begun",
        "_enclosures",
        "_finder",
        "_insides",
        "_memo",
        "_open_rules_at",
        "_sets",
        "_starts",
        "earley",
        "rules",
    )

    def __init__(self, rules: Rules, enclosures: Enclosures) -> None:
        self.rules = rules
        self._enclosures = enclosures
        self._finder = OpenRuleFinder(rules)
        self.earley = Earley(Automaton(rules))
        self._open_rules_at: BoundedDict[_Top, OpenRules] = BoundedDict(_MOST_OPEN_RULES)
        self._insides: BoundedDict[OpenRules, Insides] = BoundedDict(_MOST_OPEN_RULES)
        self._begun: BoundedDict[_Top, frozenset[int]] = BoundedDict(_MOST_OPEN_RULES)
        self._sets = SharedSets()
        self._starts: dict[frozenset[int], EarleySet] = {}
        self._memo: BoundedDict[tuple[EarleySet, tuple[int, ...]], EarleySet | None] = BoundedDict(_MOST_READ)

    def start(self, bodies: frozenset[int]) -> EarleySet:
        """The set before a group that may be any of *bodies*; always the same object."""
        found = self._starts.get(bodies)
        if found is None:
            found = self._starts[bodies] = self.earley.start(bodies)
        return found

    def read(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """As `Earley.read`; equal readings from one set give the same object."""
        key = before, symbols
        try:
            return self._memo[key]
        except KeyError:
            found = self._memo[key] = self.earley.read(before, symbols)
            return found

    def shared(self, found: EarleySet) -> EarleySet:
        """As `SharedSets.standing_for`."""
        return self._sets.standing_for(found)

    def open_rules(
        self, last: EarleySet, suites: tuple[int, ...] | None, not_next: frozenset[int] = _NONE
    ) -> OpenRules:
        """As `OpenRuleFinder.open_rules`, remembered."""
        top = last, suites, not_next
        found = self._open_rules_at.get(top)
        if found is None:
            found = self._open_rules_at[top] = self._finder.open_rules(*top)
        return found

    def begun(
        self,
        last: EarleySet,
        suites: tuple[int, ...] | None,
        bodies: frozenset[int],
        not_next: frozenset[int] = _NONE,
    ) -> frozenset[int]:
        """Which of *bodies* the group may be whose spine is that at *last*, remembered."""
        top = last, suites, not_next
        found = self._begun.get(top)
        if found is None:
            opened = self.open_rules(*top).opened
            found = self._begun[top] = bodies & opened.get(self.start(bodies), _NONE)
        return found

    def insides(self, of: OpenRules) -> Insides:
        """As `Enclosures.insides`, remembered."""
        found = self._insides.get(of)
        if found is None:
            found = self._insides[of] = self._enclosures.insides(of)
        return found

    def read_any(self, before: EarleySet, symbols: tuple[int, ...]) -> EarleySet | None:
        """The set after one symbol, any of *symbols*."""
        return self.read(before, symbols) if len(symbols) == 1 else self.earley.scan(before, symbols)
