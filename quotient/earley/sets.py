"""Earley sets as immutable values, and the recogniser that makes them.

An `EarleySet` (Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13(2), 1970) holds the items after
some symbols as pairs (state, origin), where the origin is the earlier set at which the rules of the state
began. Sets refer to their origins directly, so a chart is a linked structure: a snapshot costs nothing, dead
branches are freed, and a set can be continued any number of times.
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.quotient.earley.automaton import Automaton, Predicted, State

Entry = tuple[State, "EarleySet"]


class EarleySet:
    """The items after a sequence of symbols.

    `entries` are the states with their origins, `predicted` is the prediction, whose origin is this set, and
    `waiting` are the entries that expect a nonterminal.
    """

    __slots__ = ("__weakref__", "entries", "predicted", "waiting")

    def __init__(self, entries: tuple[Entry, ...], predicted: Predicted, waiting: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.predicted = predicted
        self.waiting = waiting

    def expects(self, terminal: int) -> bool:
        """Whether *terminal* may come next. O(entries)."""
        for state, _ in self.entries:
            if terminal in state.by_symbol:
                return True
        return self.predicted.expects(terminal)

    def expected(self) -> set[int]:
        """All symbols that may come next. O(entries)."""
        return set[int]().union(self.predicted.expected(), *(state.by_symbol for state, _ in self.entries))

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
        return self._complete(entries)

    def read(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        """The set after all of *symbols*, in order; None if one of them is not expected."""
        current: EarleySet | None = before
        for symbol in symbols:
            if current is None:
                return None
            current = self.scan(current, (symbol,))
        return current

    def _complete(self, entries: dict[Entry, None]) -> EarleySet:
        goto = self.automaton.goto
        done: set[tuple[int, EarleySet]] = set()
        todo = list(entries)
        while todo:
            ended, origin = todo.pop()
            for symbol in ended.completed:
                if (symbol, origin) in done:
                    continue
                done.add((symbol, origin))
                states, symbols = origin.predicted.chain(symbol)
                for state in states:
                    entries[state, origin] = None
                for state, earlier in origin.waiting:
                    for expected in state.expected:
                        if expected in symbols:
                            entry = state.gotos.get(expected) or goto(state, expected), earlier
                            if entry not in entries:
                                entries[entry] = None
                                todo.append(entry)
        waiting: list[Entry] = []
        wanted: set[int] = set()
        for entry in entries:
            if entry[0].expected:
                waiting.append(entry)
                wanted.update(entry[0].expected)
        return EarleySet(tuple(entries), self.automaton.predicted(frozenset(wanted)), tuple(waiting))


def merged(earley: Earley, sets: Iterable[EarleySet]) -> EarleySet:
    """The set after which may follow what may follow any of *sets*."""
    entries: dict[Entry, None] = {}
    expected: set[int] = set()
    for each in sets:
        entries.update(dict.fromkeys(each.entries))
        expected |= each.predicted.symbols
    waiting = tuple([entry for entry in entries if entry[0].expected])
    return EarleySet(tuple(entries), earley.automaton.predicted(frozenset(expected)), waiting)
