"""Sets of dotted rules that move together, built on demand.

Earley items that share their origin are kept as one state, as in Aycock and Horspool, "Practical Earley
Parsing" (The Computer Journal 45(6), 2002): a state is a set of dotted rules, `goto` moves all of them over a
symbol, and what a state predicts is a state of its own because its origin differs. Rules may be added to a
copy (`extended`): the states of the original are then shared, which is what makes a middle grammar cheap.

No rule is empty. A dotted rule is an integer: the position of its dot in the concatenation of all right-hand
sides, each followed by an end mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

END = -1
Rhs = tuple[int, ...]


class Rules:
    """The dotted rules of a grammar, as integer tables.

    `next_symbol[item]` is the symbol after the dot (`END` at the end of a rule), `lhs[item]` the left-hand
    side, `rule[item]` the number of the rule, and `item + 1` the item with its dot one symbol further.
    `rhs[number]` is the right-hand side of a rule, `nonterminals` are all left-hand sides, also those that
    are only declared so far.
    """

    __slots__ = ("_makers", "_starts", "first", "lhs", "next_symbol", "nonterminals", "rhs", "rule")

    def __init__(self) -> None:
        self.next_symbol: list[int] = []
        self.lhs: list[int] = []
        self.rule: list[int] = []
        self.first: list[int] = []
        self.rhs: list[Rhs] = []
        self.nonterminals: set[int] = set()
        self._starts: dict[int, list[int]] = {}
        self._makers: dict[int, Callable[[], Iterable[Rhs]]] = {}

    def copy(self) -> Rules:
        """A copy to which rules for *new* left-hand sides can be added. O(size)."""
        other = Rules()
        other.next_symbol = self.next_symbol.copy()
        other.lhs = self.lhs.copy()
        other.rule = self.rule.copy()
        other.first = self.first.copy()
        other.rhs = self.rhs.copy()
        other.nonterminals = self.nonterminals.copy()
        other._starts = self._starts.copy()
        return other

    def add(self, lhs: int, rhs: Rhs) -> None:
        """Append the rule `lhs -> rhs`."""
        start = len(self.next_symbol)
        self.rule.extend([len(self.first)] * (len(rhs) + 1))
        self.first.append(start)
        self.rhs.append(rhs)
        self.next_symbol.extend(rhs)
        self.next_symbol.append(END)
        self.lhs.extend([lhs] * (len(rhs) + 1))
        self.nonterminals.add(lhs)
        self._starts.setdefault(lhs, []).append(start)

    def declare(self, lhs: int, make: Callable[[], Iterable[Rhs]]) -> None:
        """Let the new symbol *lhs* have the right-hand sides of *make*, called when they are first needed."""
        self.nonterminals.add(lhs)
        self._makers[lhs] = make

    def starts(self, lhs: int) -> list[int]:
        """The items of the rules of *lhs* with their dots at 0."""
        make = self._makers.pop(lhs, None)
        if make is not None:
            for rhs in dict.fromkeys(make()):
                self.add(lhs, rhs)
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """The right-hand sides of all nonterminals, those included that were only declared so far."""
        while self._makers:
            self.starts(next(iter(self._makers)))
        return {lhs: [self.rhs[self.rule[item]] for item in items] for lhs, items in self._starts.items()}

    def read(self, item: int) -> Rhs:
        """The symbols before the dot of *item*."""
        return self.rhs[self.rule[item]][: item - self.first[self.rule[item]]]

    def unread(self, item: int) -> Rhs:
        """The symbols after the dot of *item*."""
        return self.rhs[self.rule[item]][item - self.first[self.rule[item]] :]


class State:
    """A set of dotted rules with a common origin; equal sets are the same object."""

    __slots__ = ("_automaton", "_chains", "_gotos", "by_symbol", "completed", "expected", "items")

    def __init__(self, automaton: Automaton, items: tuple[int, ...]) -> None:
        rules = automaton.rules
        by_symbol: dict[int, list[int]] = {}
        completed: dict[int, None] = {}
        for item in items:
            symbol = rules.next_symbol[item]
            if symbol == END:
                completed[rules.lhs[item]] = None
            else:
                by_symbol.setdefault(symbol, []).append(item + 1)
        self.items = items
        self.by_symbol = by_symbol
        self.completed = tuple(completed)
        self.expected = tuple([symbol for symbol in by_symbol if symbol in rules.nonterminals])
        self._automaton = automaton
        self._gotos: dict[int, State | None] = {}
        self._chains: dict[int, tuple[tuple[State, ...], frozenset[int]]] = {}

    def goto(self, symbol: int) -> State | None:
        """The state after *symbol*, or None when no rule expects it."""
        try:
            return self._gotos[symbol]
        except KeyError:
            advanced = self.by_symbol.get(symbol)
            state = self._automaton.kernel(advanced) if advanced else None
            self._gotos[symbol] = state
            return state

    def chain(self, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        """For a predicted state: what completing *symbol* at its own origin completes there in turn.

        Returns the states reached, and all nonterminals so completed, *symbol* included. Precomputing this
        closure over unit rules saves a step per precedence level for every operand.
        """
        found = self._chains.get(symbol)
        if found is None:
            found = self._chains[symbol] = self._close_chain(symbol)
        return found

    def _close_chain(self, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        states: dict[State, None] = {}
        symbols = {symbol: None}
        for completed in (waiting := [symbol]):
            state = self.goto(completed)
            if state is not None and state not in states:
                states[state] = None
                fresh = [s for s in state.completed if s not in symbols]
                symbols.update(dict.fromkeys(fresh))
                waiting.extend(fresh)
        return tuple(states), frozenset(symbols)


class Automaton:
    """All states reached so far for a set of rules."""

    __slots__ = ("_base", "_base_items", "_base_symbols", "_closures", "_kernels", "_predicted", "rules")

    def __init__(
        self, rules: Rules, base: Automaton | None = None, base_symbols: frozenset[int] = frozenset()
    ) -> None:
        self.rules = rules
        self._base = base
        self._base_items = len(base.rules.next_symbol) if base else 0
        self._base_symbols = base_symbols
        self._kernels: dict[tuple[int, ...], State] = {}
        self._predicted: dict[frozenset[int], State] = {}
        self._closures: dict[int, frozenset[int]] = {}

    def extended(self, rules: Rules) -> Automaton:
        """An automaton for *rules*, a copy of this one's with more, sharing every state of this one."""
        return Automaton(rules, self, frozenset(self.rules.nonterminals))

    def kernel(self, items: Iterable[int]) -> State:
        """The state of *items*."""
        key = tuple(sorted(items))
        if self._base is not None and key[-1] < self._base_items:
            return self._base.kernel(key)
        state = self._kernels.get(key)
        if state is None:
            state = self._kernels[key] = State(self, key)
        return state

    def predicted(self, symbols: frozenset[int]) -> State:
        """The state of everything that *symbols* may begin with."""
        if self._base is not None and symbols <= self._base_symbols:
            return self._base.predicted(symbols)
        state = self._predicted.get(symbols)
        if state is None:
            items: set[int] = set()
            for symbol in symbols:
                items |= self._closure(symbol)
            state = self._predicted[symbols] = State(self, tuple(sorted(items)))
        return state

    def _closure(self, symbol: int) -> frozenset[int]:
        if self._base is not None and symbol in self._base_symbols:
            return self._base._closure(symbol)
        found = self._closures.get(symbol)
        if found is None:
            found = self._closures[symbol] = self._close(symbol)
        return found

    def _close(self, symbol: int) -> frozenset[int]:
        rules = self.rules
        items: set[int] = set()
        seen = {symbol}
        for nonterminal in (waiting := [symbol]):
            if self._base is not None and nonterminal in self._base_symbols:
                items |= self._base._closure(nonterminal)
                continue
            for item in rules.starts(nonterminal):
                items.add(item)
                following = rules.next_symbol[item]
                if following in rules.nonterminals and following not in seen:
                    seen.add(following)
                    waiting.append(following)
        return frozenset(items)
