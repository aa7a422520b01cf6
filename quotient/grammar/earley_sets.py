"""Earley sets as immutable values, and the recogniser that makes them.

An `EarleySet` (Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13(2), 1970) holds the items after
some symbols as pairs (state, origin). The origin is the earlier set at which the rules of the state started.
Sets refer to their origins directly, so a chart is a linked structure. A snapshot costs nothing, dead
branches are freed, and a set can be continued any number of times.

Right recursion, such as `a if b else a if b else ...`, completes all open rules at each operand. In a chain
of completions, each of which leads to just one other, only the last one is entered (Leo, "A General
Context-Free Parsing Algorithm Running in Linear Time on Every LR(k) Grammar Without Using Lookahead",
Theoretical Computer Science 82, 1991). The search for chains takes time, so it starts only after some
completions.

`CanonicalSets` drops entries that no completion can reach, so that equivalent sets are one object. A
completed rule looks back once at the set where it started, and there only at the rules that wait for it. The
sets after the lines of a long table differ only in entries without effect: each line starts its element at
the set after the line before. Without these entries all such sets are equal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from weakref import WeakValueDictionary

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.grammar.earley_automaton import Automaton, Predicted, State

Entry = tuple[State, "EarleySet"]
Completion = tuple[int, "EarleySet"]
"""A symbol that was completed, and the set where it began."""

_FEW = 16
"""Number of completions at a set before chains are searched; most sets have no more."""


_NONE_YET: dict[int, Completion] = {}


class EarleySet:
    """The items after a sequence of symbols.

    Attributes:
        entries: the states with their origins, without complete rules. These are kept only if they started at
            an initial set, for `completed_from`.
        predicted: the prediction, whose origin is this set.
        waiting: the entries that expect a nonterminal.
        last_completions: a cache of `Earley`: for a symbol that started here, the last of the completions
            that follow from it without a choice.
    """

    __slots__ = ("__weakref__", "entries", "last_completions", "predicted", "waiting")

    def __init__(self, entries: tuple[Entry, ...], predicted: Predicted, waiting: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.predicted = predicted
        self.waiting = waiting
        self.last_completions: dict[int, Completion] = _NONE_YET

    def expects(self, terminal: int) -> bool:
        """True if *terminal* may come next. O(entries)."""
        for state, _ in self.entries:
            if terminal in state.by_symbol:
                return True
        return self.predicted.expects(terminal)

    def expected(self) -> set[int]:
        """All symbols that may come next. O(entries)."""
        return set[int]().union(self.predicted.expected(), *(state.by_symbol for state, _ in self.entries))

    @property
    def expected_bits(self) -> int:
        """The bit set of all symbols that may come next. O(entries), once the prediction is known."""
        bits = self.predicted.expected_bits
        for state, _ in self.entries:
            bits |= state.expected_bits
        return bits

    def completed_from(self, start: EarleySet) -> frozenset[int]:
        """The nonterminals that derive everything read since *start*."""
        return frozenset(
            symbol for state, origin in self.entries if origin is start for symbol in state.completed
        )


class InitialSet(EarleySet):
    """The Earley set before any symbol, which predicts some given symbols.

    The prediction is computed only when it is needed; often the first symbols of the given rules suffice.
    """

    __slots__ = ("_automaton", "_predicted", "_symbols")

    def __init__(self, automaton: Automaton, symbols: frozenset[int]) -> None:
        self.entries = ()
        self.waiting = ()
        self.last_completions = _NONE_YET
        self._automaton = automaton
        self._symbols = symbols
        self._predicted: Predicted | None = None

    @property
    def predicted(self) -> Predicted:  # type: ignore[override]  # a slot of all other sets
        """As in `EarleySet`."""
        if self._predicted is None:
            self._predicted = self._automaton.predicted(self._symbols)
        return self._predicted

    def expects(self, terminal: int) -> bool:
        """As in `EarleySet`."""
        if self._predicted is None and self._automaton.layer.begins_with(self._symbols, terminal):
            return True
        return self.predicted.expects(terminal)


class Earley:
    """An Earley recogniser for the rules of an automaton."""

    __slots__ = ("automaton",)

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton

    def start(self, symbols: Iterable[int]) -> EarleySet:
        """The set before any symbol, which predicts *symbols*."""
        return InitialSet(self.automaton, frozenset(symbols))

    def scan(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        """The set after one more symbol, which may be any of *symbols*; None if none of them is expected.

        A nonterminal can be scanned too, for a part that was recognised elsewhere.
        """
        entries: dict[Entry, None] = {}
        goto = self.automaton.goto
        for symbol in symbols:
            for state, origin in before.entries:
                if symbol in state.by_symbol:
                    entries[state.gotos.get(symbol) or goto(state, symbol), origin] = None
            for state in before.predicted.after(symbol):
                entries[state, before] = None
        if not entries:
            return None
        return self.completed(entries)

    def read(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        """The set after all of *symbols*, in order; None if one of them is not expected."""
        current: EarleySet | None = before
        for count, symbol in enumerate(symbols, 1):
            if current is None:
                return None
            if not count % EVERY:
                checkpoint()
            current = self.scan(current, (symbol,))
        return current

    def completed(self, entries: dict[Entry, None]) -> EarleySet:
        """The set with *entries* and all entries that follow from complete rules among them."""
        goto = self.automaton.goto
        done: set[Completion] = set()
        todo = list(entries)
        while todo:
            ended, origin = todo.pop()
            for symbol in ended.completed:
                completion = symbol, origin
                if completion in done:
                    continue
                done.add(completion)
                if len(done) > _FEW and (last := self._last_completion(*completion)) != completion:
                    if last in done:
                        continue
                    done.add(last)
                    completion = last
                completed, begun = completion
                states, symbols = begun.predicted.chain(completed)
                for state in states:
                    entries[state, begun] = None
                for state, earlier in begun.waiting:
                    for expected in state.expected:
                        if expected in symbols:
                            entry = state.gotos.get(expected) or goto(state, expected), earlier
                            if entry not in entries:
                                entries[entry] = None
                                todo.append(entry)
        kept: list[Entry] = []
        waiting: list[Entry] = []
        wanted: set[int] = set()
        for entry in entries:
            state, origin = entry
            if state.by_symbol or not origin.entries:
                kept.append(entry)
            if state.expected:
                waiting.append(entry)
                wanted.update(state.expected)
        return EarleySet(tuple(kept), self.automaton.predicted(frozenset(wanted)), tuple(waiting))

    def _last_completion(self, symbol: int, origin: EarleySet) -> Completion:
        """The last of the completions that follow from that of *symbol* without a choice. Amortised O(1)."""
        path: list[Completion] = []
        last: Completion | None = symbol, origin
        while last is not None:
            symbol, origin = last
            if symbol in origin.last_completions:
                symbol, origin = origin.last_completions[symbol]
                break
            path.append(last)
            last = self._only_completion(symbol, origin)
        for passed, at in path:
            at.last_completions = {**at.last_completions, passed: (symbol, origin)}
        return symbol, origin

    def _only_completion(self, symbol: int, origin: EarleySet) -> Completion | None:
        """The only symbol that the completion of *symbol* completes; None if more follows from it.

        None also for a symbol that started at an initial set, because `completed_from` needs it.
        """
        states, symbols = origin.predicted.chain(symbol)
        if any(state.by_symbol for state in states):
            return None
        completions: set[Completion] = set()
        for state, earlier in origin.waiting:
            for expected in state.expected:
                if expected in symbols:
                    after = self.automaton.goto(state, expected)
                    if after.by_symbol or len(after.completed) != 1 or not earlier.entries:
                        return None
                    completions.add((after.completed[0], earlier))
        return completions.pop() if len(completions) == 1 else None


def merged(earley: Earley, sets: Iterable[EarleySet]) -> EarleySet:
    """The union of *sets*: whatever may follow one of them may follow it."""
    entries: dict[Entry, None] = {}
    expected: set[int] = set()
    for earley_set in sets:
        entries.update(dict.fromkeys(earley_set.entries))
        expected |= earley_set.predicted.symbols
    waiting = tuple([entry for entry in entries if entry[0].expected])
    return EarleySet(tuple(entries), earley.automaton.predicted(frozenset(expected)), waiting)


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

    def standing_for(self, earley_set: EarleySet) -> EarleySet:
        """A set that is equivalent to *earley_set*: the same may follow, and the same rules are open."""
        return self._set(earley_set.predicted, earley_set.entries, _DEEPEST)

    def _set(self, predicted: Predicted, kept: tuple[Entry, ...], depth: int) -> EarleySet:
        entries = tuple(
            dict.fromkeys([(state, self._origin(origin, state, depth)) for state, origin in kept])
        )
        key = predicted, entries
        canonical = self._sets.get(key)
        if canonical is None:
            waiting = tuple([entry for entry in entries if entry[0].expected])
            canonical = self._sets[key] = EarleySet(entries, predicted, waiting)
        return canonical

    def _origin(self, origin: EarleySet, state: State, depth: int) -> EarleySet:
        """The part of *origin* that the rules of *state*, which started there, depend on."""
        if not origin.entries or not depth:
            return origin
        key = origin, state
        canonical = self._origins.get(key)
        if canonical is None:
            wanted = self._wanted_at(origin.predicted, state)
            kept = tuple([entry for entry in origin.waiting if not wanted.isdisjoint(entry[0].expected)])
            canonical = self._origins[key] = self._set(origin.predicted, kept, depth - 1)
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
