"""Canonicalises Earley sets: drops what no completion can reach, so that equivalent sets are one object.

A completed rule looks back once at the set where it began, and there only at the rules that wait for it. The
lines of a long table leave sets behind that differ only in entries that nothing will look at: each line
begins its element at the set after the line before. Without these entries all such sets are equal.
"""

from __future__ import annotations

import sys
from weakref import WeakValueDictionary

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import EarleySet, Entry

_MOST_ORIGINS = 3_000
_DEEPEST = 40

_Key = tuple[Predicted, tuple[Entry, ...]]


class CanonicalSets:
    """Maps Earley sets to canonical ones. Equivalent sets have the same one while something holds it."""

    __slots__ = ("_origins", "_sets", "_wanted")

    def __init__(self) -> None:
        self._sets: WeakValueDictionary[_Key, EarleySet] = WeakValueDictionary()
        self._origins: BoundedDict[tuple[EarleySet, State], EarleySet] = BoundedDict(_MOST_ORIGINS)
        self._wanted = WeighedDict[tuple[Predicted, State], frozenset[int]](
            2 * MEGABYTE, lambda _, wanted: sys.getsizeof(wanted)
        )

    def standing_for(self, found: EarleySet) -> EarleySet:
        """A set after which the same may follow as after *found*, and to which the same rules are open."""
        return self._set(found.predicted, found.entries, _DEEPEST)

    def _set(self, predicted: Predicted, kept: tuple[Entry, ...], depth: int) -> EarleySet:
        entries = tuple(
            dict.fromkeys([(state, self._origin(origin, state, depth)) for state, origin in kept])
        )
        key = predicted, entries
        found = self._sets.get(key)
        if found is None:
            waiting = tuple([entry for entry in entries if entry[0].expected])
            found = self._sets[key] = EarleySet(entries, predicted, waiting)
        return found

    def _origin(self, origin: EarleySet, state: State, depth: int) -> EarleySet:
        """What the rules of *state* need to know of *origin*, where they were begun."""
        if not origin.entries or not depth:
            return origin
        key = origin, state
        found = self._origins.get(key)
        if found is None:
            wanted = self._wanted_at(origin.predicted, state)
            kept = tuple([entry for entry in origin.waiting if not wanted.isdisjoint(entry[0].expected)])
            found = self._origins[key] = self._set(origin.predicted, kept, depth - 1)
        return found

    def _wanted_at(self, predicted: Predicted, state: State) -> frozenset[int]:
        """What may be complete where *predicted* is, once a rule of *state* that was begun there is."""
        key = predicted, state
        found = self._wanted.get(key)
        if found is None:
            wanted = {state.rules.lhs_of(item) for item in state.items}
            waiting = list(wanted)
            while waiting:
                following = predicted.after(waiting.pop())
                fresh = {each.rules.lhs_of(item) for each in following for item in each.items} - wanted
                waiting += fresh
                wanted |= fresh
            found = self._wanted[key] = frozenset(wanted)
        return found
