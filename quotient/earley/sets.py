"""Earley sets as immutable values, and the recogniser that makes them.

An `EarleySet` (Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13(2), 1970) holds the items after
some symbols as pairs (state, origin), where the origin is the earlier set at which the rules of the state
began. Sets refer to their origins directly, so a chart is a linked structure: a snapshot costs nothing, dead
branches are freed, and a set can be continued any number of times.

Right recursion, such as `a if b else a if b else ...`, ends all rules that are open with each operand. Where
one completion leads to just one other and to nothing else, on and on, only the last of them is entered (Leo,
"A General Context-Free Parsing Algorithm Running in Linear Time on Every LR(k) Grammar Without Using
Lookahead", Theoretical Computer Science 82, 1991). Finding that takes time, so it begins after some.
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.earley.automaton import Automaton, Predicted, State

Entry = tuple[State, "EarleySet"]
Completion = tuple[int, "EarleySet"]
"""A symbol that was completed, and the set where it began."""

_FEW = 16
"""Completions at a set that are entered one by one before chains are looked for; most sets have no more."""


_NONE_YET: dict[int, Completion] = {}


class EarleySet:
    """The items after a sequence of symbols.

    `entries` are the states with their origins (what is complete is left out, except at an initial set, where
    somebody may ask for it), `predicted` is the prediction, whose origin is this set, and
    `waiting` are the entries that expect a nonterminal. `last_completions` is a cache of `Earley`: for a
    symbol that began here, the last of the completions that follow from it without a choice.
    """

    __slots__ = ("__weakref__", "entries", "last_completions", "predicted", "waiting")

    def __init__(self, entries: tuple[Entry, ...], predicted: Predicted, waiting: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.predicted = predicted
        self.waiting = waiting
        self.last_completions: dict[int, Completion] = _NONE_YET

    def expects(self, terminal: int) -> bool:
        """Whether *terminal* may come next. O(entries)."""
        for state, _ in self.entries:
            if terminal in state.by_symbol:
                return True
        return self.predicted.expects(terminal)

    def expected(self) -> set[int]:
        """All symbols that may come next. O(entries)."""
        return set[int]().union(self.predicted.expected(), *(state.by_symbol for state, _ in self.entries))

    @property
    def expected_bits(self) -> int:
        """The bit set of all symbols that may come next. O(entries), once the prediction was asked."""
        found = self.predicted.expected_bits
        for state, _ in self.entries:
            found |= state.expected_bits
        return found

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
        """The set with *entries*, to which those are added that what is complete among them leads to."""
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
        """What the completion of *symbol* completes, if that is one symbol and nothing else follows.

        Not if that one began at an initial set, where somebody may ask for it.
        """
        states, symbols = origin.predicted.chain(symbol)
        if any(state.by_symbol for state in states):
            return None
        found: set[Completion] = set()
        for state, earlier in origin.waiting:
            for expected in state.expected:
                if expected in symbols:
                    after = self.automaton.goto(state, expected)
                    if after.by_symbol or len(after.completed) != 1 or not earlier.entries:
                        return None
                    found.add((after.completed[0], earlier))
        return found.pop() if len(found) == 1 else None


def merged(earley: Earley, sets: Iterable[EarleySet]) -> EarleySet:
    """A set after which everything may follow that may follow any of *sets*."""
    entries: dict[Entry, None] = {}
    expected: set[int] = set()
    for each in sets:
        entries.update(dict.fromkeys(each.entries))
        expected |= each.predicted.symbols
    waiting = tuple([entry for entry in entries if entry[0].expected])
    return EarleySet(tuple(entries), earley.automaton.predicted(frozenset(expected)), waiting)
