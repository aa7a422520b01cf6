"""Canonical Earley sets: equivalent sets are one object.

Entries that no completion can reach are dropped. A completed rule looks back once at the set where it
started, and there only at the rules that wait for it. The sets after the lines of a long table differ only in
entries without effect: each line starts its element at the set after the line before. Without these entries
all such sets are equal.
"""

from __future__ import annotations

import sys
from weakref import WeakValueDictionary

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.quotient.grammar.earley import NO_COMPLETIONS, EarleySet, Entry, Predicted, State


class CanonicalSet(EarleySet):
    """A set that stands for all equivalent ones. Most sets in memory are of this kind, so they are compact.

    Its entries are made when they are asked for; those that expect no nonterminal count as waiting as well.
    """

    __slots__ = ("_origins", "_states")

    def __init__(
        self, states: tuple[State, ...], origins: tuple[EarleySet, ...], predicted: Predicted
    ) -> None:
        self.predicted = predicted
        self.last_completions = NO_COMPLETIONS
        self._states = states
        self._origins = origins

    @property
    def entries(self) -> tuple[Entry, ...]:  # type: ignore[override]  # a slot of all other sets
        """As in `EarleySet`."""
        return tuple(zip(self._states, self._origins))  # noqa: B905  # likewise

    @property
    def waiting(self) -> tuple[Entry, ...]:  # type: ignore[override]  # likewise
        """As in `EarleySet`."""
        return tuple(zip(self._states, self._origins))  # noqa: B905  # in the innermost loop

    @property
    def is_empty(self) -> bool:
        """As in `EarleySet`."""
        return not self._states

    def is_made_of(
        self, states: tuple[State, ...], origins: tuple[EarleySet, ...], predicted: Predicted
    ) -> bool:
        """True if these are its parts."""
        return self._states is states and self._origins == origins and self.predicted is predicted


_MOST_ORIGINS = 3_000
_DEEPEST = 40


class CanonicalSets:
    """Maps Earley sets to canonical ones. Equivalent sets have the same one while something holds it."""

    __slots__ = ("_origins", "_passing", "_sets", "_states", "_wanted")

    def __init__(self) -> None:
        self._sets: WeakValueDictionary[int, CanonicalSet] = WeakValueDictionary()
        self._states: dict[tuple[State, ...], tuple[State, ...]] = {}
        self._origins: BoundedDict[tuple[EarleySet, State], EarleySet] = BoundedDict(_MOST_ORIGINS)
        self._passing: dict[tuple[EarleySet, State], EarleySet] = {}
        self._wanted = WeighedDict[tuple[Predicted, State], frozenset[int]](
            2 * MEGABYTE, lambda _, wanted: sys.getsizeof(wanted)
        )

    def standing_for(self, earley_set: EarleySet) -> EarleySet:
        """A set that is equivalent to *earley_set*: the same may follow, and the same rules are open."""
        try:
            return self._set(earley_set.predicted, earley_set.entries, _DEEPEST)
        finally:
            self._passing.clear()

    def _set(self, predicted: Predicted, kept: tuple[Entry, ...], depth: int) -> EarleySet:
        entries = dict.fromkeys([(state, self._origin(origin, state, depth)) for state, origin in kept])
        pattern = tuple([state for state, _ in entries])
        states = self._states.setdefault(pattern, pattern)
        origins = tuple([origin for _, origin in entries])
        key = hash((predicted, states, origins))
        while (canonical := self._sets.get(key)) is not None:
            if canonical.is_made_of(states, origins, predicted):
                return canonical
            key += 1  # another set with the same hash, which is rare
        canonical = self._sets[key] = CanonicalSet(states, origins, predicted)
        return canonical

    def _origin(self, origin: EarleySet, state: State, depth: int) -> EarleySet:
        """The part of *origin* that the rules of *state*, which started there, depend on."""
        if not depth or origin.is_empty:
            return origin
        key = origin, state
        known = self._origins if isinstance(origin, CanonicalSet) else self._passing
        canonical = known.get(key)
        if canonical is None:
            wanted = self._wanted_at(origin.predicted, state)
            kept = tuple([entry for entry in origin.waiting if not wanted.isdisjoint(entry[0].expected)])
            canonical = known[key] = self._set(origin.predicted, kept, depth - 1)
        return canonical

    def _wanted_at(self, predicted: Predicted, state: State) -> frozenset[int]:
        """The symbols that may be complete at a set with *predicted*, once a rule of *state* is."""
        key = predicted, state
        known = self._wanted.get(key)
        if known is None:
            wanted = {state.rules.lhs_of(item) for item in state.items}
            waiting = list(wanted)
            while waiting:
                following = predicted.after(waiting.pop())
                fresh = {after.rules.lhs_of(item) for after in following for item in after.items} - wanted
                waiting += fresh
                wanted |= fresh
            known = self._wanted[key] = frozenset(wanted)
        return known
