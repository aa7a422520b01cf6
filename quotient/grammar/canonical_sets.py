"""Canonical Earley sets: equivalent sets are one object.

Entries that no completion can reach are dropped. A completed rule looks back once at the set where it
started, and there only at the rules that wait for it. The sets after the lines of a long table differ only in
entries without effect: each line starts its element at the set after the line before. Without these entries
all such sets are equal.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, HeldDict, WeighedDict
from fimlsp.quotient.grammar.cfg import State
from fimlsp.quotient.grammar.earley import NO_COMPLETIONS, EarleySet, Entry, Predicted

if TYPE_CHECKING:
    from typing_extensions import Unpack

    _Parts = tuple[Predicted, tuple[State, ...], Unpack[tuple[EarleySet, ...]]]
    """The prediction, the states, then the origin of each."""


class CanonicalSet(EarleySet):
    """A set that stands for all equivalent ones. Most sets in memory are of this kind, so they are compact.

    Only the sets that were used last have `entries` and `waiting`. The others make them when they are asked
    for; a pair takes several times the memory of its two parts.
    """

    __slots__ = ("parts",)

    def __init__(self, parts: _Parts) -> None:
        self.predicted = parts[0]
        self.last_completions = NO_COMPLETIONS
        self.parts = parts

    def __getattr__(self, name: str) -> tuple[Entry, ...]:
        """The `entries`, or those `waiting`: called where the set has none yet, or has lost them."""
        if name not in ("entries", "waiting"):
            raise AttributeError(name)
        entries = tuple(zip(self.parts[1], self.parts[2:]))  # noqa: B905  # in the innermost loop
        waiting = tuple([entry for entry in entries if entry[0].expected])
        self.entries, self.waiting = entries, waiting
        _in_use[self] = None
        return entries if name == "entries" else waiting

    def make_compact(self) -> None:
        """Lose `entries`, `waiting` and the cache."""
        del self.entries, self.waiting
        self.last_completions = NO_COMPLETIONS

    @property
    def is_empty(self) -> bool:
        """As in `EarleySet`."""
        return not self.parts[1]


class _InUse(BoundedDict[CanonicalSet, None]):
    """The sets that have entries. Those that leave it become compact."""

    __slots__ = ()

    def __delitem__(self, oldest: CanonicalSet) -> None:
        oldest.make_compact()
        super().__delitem__(oldest)

    def clear(self) -> None:
        """Evict all sets."""
        for canonical in self:
            canonical.make_compact()
        super().clear()


_MOST_IN_USE = 2_000
_in_use = _InUse(_MOST_IN_USE)

_MOST_ORIGINS = 3_000
_DEEPEST = 40


class CanonicalSets:
    """Maps Earley sets to canonical ones. Equivalent sets have the same one while something holds it."""

    __slots__ = ("_origins", "_passing", "_sets", "_states", "_wanted")

    def __init__(self) -> None:
        self._sets: HeldDict[_Parts, CanonicalSet] = HeldDict()
        self._states: dict[tuple[State, ...], tuple[State, ...]] = {}
        self._origins: BoundedDict[Entry, EarleySet] = BoundedDict(_MOST_ORIGINS)
        self._passing: dict[Entry, EarleySet] = {}
        self._wanted = WeighedDict[tuple[Predicted, State], int](
            2 * MEGABYTE, lambda _, wanted: sys.getsizeof(wanted)
        )

    def standing_for(self, earley_set: EarleySet) -> EarleySet:
        """A set that is equivalent to *earley_set*: the same may follow, and the same rules are open."""
        try:
            return self._set(earley_set.predicted, earley_set.entries, _DEEPEST)
        finally:
            self._passing.clear()

    def _set(self, predicted: Predicted, kept: Sequence[Entry], depth: int) -> EarleySet:
        known, passing = self._origins.get, self._passing.get
        entries = dict.fromkeys(
            [(entry[0], known(entry) or passing(entry) or self._origin(entry, depth)) for entry in kept]
        )
        pattern, origins = zip(*entries, strict=True) if entries else ((), ())
        parts = predicted, self._states.setdefault(pattern, pattern), *origins
        canonical = self._sets.get(parts)
        if canonical is None:
            canonical = self._sets[parts] = CanonicalSet(parts)
        return canonical

    def _origin(self, entry: Entry, depth: int) -> EarleySet:
        """The part of the origin of *entry* that the rules of its state, which started there, depend on."""
        state, origin = entry
        if not depth or origin.is_empty:
            return origin
        wanted = self._wanted_at(origin.predicted, state)
        kept = [waiting for waiting in origin.waiting if wanted & waiting[0].expected_bits]
        canonical = self._set(origin.predicted, kept, depth - 1)
        known = self._origins if isinstance(origin, CanonicalSet) else self._passing
        known[entry] = canonical
        return canonical

    def _wanted_at(self, predicted: Predicted, state: State) -> int:
        """The bit set of the symbols complete at a set with *predicted*, once a rule of *state* is."""
        key = predicted, state
        known = self._wanted.get(key)
        if known is None:
            wanted = {state.rules.lhs_of(item) for item in state.items}
            known = self._wanted[key] = predicted.with_parents(wanted)
        return known
