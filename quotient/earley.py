"""Earley sets as immutable values.

An `EarleySet` (Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13(2), 1970) holds what is known
after a symbol: pairs (state, origin), where the origin is the earlier set at which the rules of the state
began. Sets refer to their origins directly, so a chart is a linked structure: a snapshot costs nothing, dead
branches are freed, and a set may be continued any number of times.
"""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.quotient.automaton import Automaton, Predicted, State

Entry = tuple[State, "EarleySet"]


class EarleySet:
    """What is known after a symbol.

    `entries` are the states with their origins, `predicted` all rules that may begin here (their origin is
    this set), `waiting` the entries that expect a nonterminal.
    """

    __slots__ = ("entries", "predicted", "waiting")

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
        states = (*self.predicted.states, *(state for state, _ in self.entries))
        return set[int]().union(*(state.by_symbol for state in states))

    def completed_from(self, start: EarleySet) -> frozenset[int]:
        """The nonterminals that span everything since *start*."""
        return frozenset(
            symbol for state, origin in self.entries if origin is start for symbol in state.completed
        )


class Beginning(EarleySet):
    """The set before any symbol, where each of some symbols may begin.

    All that may be there is looked up when it is needed: often it is enough to know what their own rules
    begin with.
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
        """As in other sets."""
        if self._predicted is None:
            self._predicted = self._automaton.predicted(self._symbols)
        return self._predicted

    def expects(self, terminal: int) -> bool:
        """As in other sets."""
        if self._predicted is None and self._automaton.begins_with(self._symbols, terminal):
            return True
        return self.predicted.expects(terminal)


class Earley:
    """A recogniser for the rules of an automaton."""

    __slots__ = ("automaton",)

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton

    def start(self, symbols: Iterable[int]) -> EarleySet:
        """The set before any symbol, where each of *symbols* may begin."""
        return Beginning(self.automaton, frozenset(symbols))

    def scan(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        """The set after one more symbol, any of *symbols*; None if none is expected.

        A nonterminal may be scanned as well, for a part that was recognised elsewhere.
        """
        entries: dict[Entry, None] = {}
        goto = self.automaton.goto
        for symbol in symbols:
            for state, origin in before.entries:
                following = goto(state, symbol)
                if following is not None:
                    entries[following, origin] = None
            for state in before.predicted.states:
                following = goto(state, symbol)
                if following is not None:
                    entries[following, before] = None
        if not entries:
            return None
        return self._complete(entries)

    def read(self, before: EarleySet, symbols: Iterable[int]) -> EarleySet | None:
        """The set after all of *symbols* in turn, or None if one of them is not expected."""
        current: EarleySet | None = before
        for symbol in symbols:
            if current is None:
                return None
            current = self.scan(current, (symbol,))
        return current

    def _complete(self, entries: dict[Entry, None]) -> EarleySet:
        done: set[tuple[int, EarleySet]] = set()
        goto = self.automaton.goto
        todo = [(symbol, origin) for state, origin in entries for symbol in state.completed]
        while todo:
            completion = todo.pop()
            if completion in done:
                continue
            done.add(completion)
            symbol, origin = completion
            states, symbols = self.automaton.chain(origin.predicted, symbol)
            for state in states:
                entries[state, origin] = None
            for state, earlier in origin.waiting:
                for expected in state.expected:
                    if expected in symbols:
                        following = goto(state, expected)
                        assert following is not None
                        if (following, earlier) not in entries:
                            entries[following, earlier] = None
                            todo.extend([(s, earlier) for s in following.completed])
        waiting = tuple(entry for entry in entries if entry[0].expected)
        expected_symbols = frozenset(symbol for state, _ in waiting for symbol in state.expected)
        return EarleySet(tuple(entries), self.automaton.predicted(expected_symbols), waiting)
