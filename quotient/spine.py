"""The rules that are open at a cursor: begun on one side of it and not finished there.

In an Earley chart these are the rules with their dot after the first symbol, and those that wait for one of
them, up to the start. Read forwards they make the left quotient of the grammar, read backwards the right
quotient (Melcer et al. 2024, arXiv 2402.17988, section IV); here they are kept apart from any grammar, so
that the two sides can be joined rule by rule.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from fimlsp.quotient.automaton import Rhs, Rules
from fimlsp.quotient.earley import EarleySet

Open = tuple[int, EarleySet]
"""A nonterminal and the set at which it was begun."""


@dataclass(frozen=True, slots=True)
class Hole:
    """Stands for an open suite, which is described elsewhere."""

    suite: int


Child = Open | Hole | None
"""The open child of an open rule; None if the rule goes on with a whole one."""


Progress = tuple[int, Child]
"""How far an open rule has come: an item with its dot at the cursor or before the open child; that child."""


@dataclass(frozen=True, slots=True, eq=False)
class Spine:
    """What is open at a cursor: each open nonterminal with its open rules, those nearest to it first."""

    rules: Rules
    progresses: dict[Open, dict[Progress, None]]
    _missing: dict[Open, tuple[tuple[Rhs, Child], ...]] = field(default_factory=dict, repr=False)

    def __contains__(self, opened: Open) -> bool:
        return opened in self.progresses

    def __getitem__(self, opened: Open) -> dict[Progress, None]:
        return self.progresses[opened]

    def missing(self, opened: Open) -> tuple[tuple[Rhs, Child], ...]:
        """What each open rule of *opened* lacks beside its open child, in the order of the text, and that."""
        found = self._missing.get(opened)
        if found is None:
            unread = self.rules.unread
            step = -1 if self.rules.backward else 1
            found = tuple((unread(item + (child is not None))[::step], child) for item, child in self[opened])
            self._missing[opened] = found
        return found


def spine(rules: Rules, last: EarleySet, suites: Iterable[int] | None = None) -> Spine:
    """What is open at *last*.

    With *suites*, the next symbol is one of them, and open. O(open rules), which does not depend on how much
    was read.
    """
    found: dict[Open, dict[Progress, None]] = {}
    waiting: list[Open] = []

    def add(item: int, origin: EarleySet, child: Child) -> None:
        key = rules.lhs_of(item), origin
        progresses = found.get(key)
        if progresses is None:
            progresses = found[key] = {}
            waiting.append(key)
        progresses[item, child] = None

    def add_waiting(at: EarleySet, symbol: int, child: Open | Hole) -> None:
        for state, origin in at.waiting:
            for item in state.by_symbol.get(symbol, ()):
                add(item - 1, origin, child)
        for state in at.predicted.states:
            for item in state.by_symbol.get(symbol, ()):
                add(item - 1, at, child)

    if suites is None:
        for state, origin in last.entries:
            for items in state.by_symbol.values():
                for item in items:
                    add(item - 1, origin, None)
    else:
        for suite in suites:
            add_waiting(last, suite, Hole(suite))
    for opened in waiting:
        add_waiting(opened[1], opened[0], opened)
    return Spine(rules, found)
