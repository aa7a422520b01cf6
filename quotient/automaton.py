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
    are only declared so far (see `LazyRules`).
    """

    __slots__ = ("_starts", "first", "lhs", "next_symbol", "nonterminals", "rhs", "rule")

    def __init__(self) -> None:
        self.next_symbol: list[int] = []
        self.lhs: list[int] = []
        self.rule: list[int] = []
        self.first: list[int] = []
        self.rhs: list[Rhs] = []
        self.nonterminals: set[int] = set()
        self._starts: dict[int, list[int]] = {}

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

    def starts(self, lhs: int) -> list[int]:
        """The items of the rules of *lhs* with their dots at 0."""
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """The right-hand sides of all nonterminals."""
        return {lhs: [self.rhs[self.rule[item]] for item in items] for lhs, items in self._starts.items()}

    def read(self, item: int) -> Rhs:
        """The symbols before the dot of *item*."""
        return self.rhs[self.rule[item]][: item - self.first[self.rule[item]]]

    def unread(self, item: int) -> Rhs:
        """The symbols after the dot of *item*."""
        return self.rhs[self.rule[item]][item - self.first[self.rule[item]] :]


class LazyRules(Rules):
    """The rules of a grammar, with more for new nonterminals, which are made when they are first needed."""

    __slots__ = ("_makers",)

    def __init__(self, base: Rules) -> None:
        """A copy of *base*. O(size)."""
        self.next_symbol = base.next_symbol.copy()
        self.lhs = base.lhs.copy()
        self.rule = base.rule.copy()
        self.first = base.first.copy()
        self.rhs = base.rhs.copy()
        self.nonterminals = base.nonterminals.copy()
        self._starts = base._starts.copy()
        self._makers: dict[int, tuple[Callable[..., Iterable[Rhs]], tuple[object, ...]]] = {}

    def declare(self, lhs: int, make: Callable[..., Iterable[Rhs]], *arguments: object) -> None:
        """Let the new symbol *lhs* have the right-hand sides of *make*, when they are needed.

        It is called with these rules and *arguments*, so that it need not keep them alive in a cycle.
        """
        self.nonterminals.add(lhs)
        self._makers[lhs] = make, arguments

    def starts(self, lhs: int) -> list[int]:
        """As `Rules.starts`."""
        if lhs in self._makers:
            make, arguments = self._makers.pop(lhs)
            for rhs in dict.fromkeys(make(self, *arguments)):
                self.add(lhs, rhs)
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """As `Rules.alternatives`; makes all rules."""
        while self._makers:
            self.starts(next(iter(self._makers)))
        return super().alternatives()


class State:
    """A set of dotted rules with a common origin; equal sets are the same object."""

    __slots__ = ("by_symbol", "chains", "completed", "expected", "gotos", "items")

    def __init__(self, rules: Rules, items: tuple[int, ...]) -> None:
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
        self.gotos: dict[int, State | None] = {}  # this and the next are filled by the automaton
        self.chains: dict[int, tuple[tuple[State, ...], frozenset[int]]] = {}


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

    def goto(self, state: State, symbol: int) -> State | None:
        """The state after *state* and *symbol*, or None when no rule expects it."""
        try:
            return state.gotos[symbol]
        except KeyError:
            advanced = state.by_symbol.get(symbol)
            following = state.gotos[symbol] = self.kernel(advanced) if advanced else None
            return following

    def chain(self, predicted: State, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        """What completing *symbol* at the origin of a predicted state completes there in turn.

        Returns the states reached, and all nonterminals so completed, *symbol* included. Precomputing this
        closure over unit rules saves a step per precedence level for every operand.
        """
        found = predicted.chains.get(symbol)
        if found is None:
            found = predicted.chains[symbol] = self._close_chain(predicted, symbol)
        return found

    def _close_chain(self, predicted: State, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        states: dict[State, None] = {}
        symbols = {symbol: None}
        for completed in (waiting := [symbol]):
            state = self.goto(predicted, completed)
            if state is not None and state not in states:
                states[state] = None
                fresh = [s for s in state.completed if s not in symbols]
                symbols.update(dict.fromkeys(fresh))
                waiting.extend(fresh)
        return tuple(states), frozenset(symbols)

    def kernel(self, items: Iterable[int]) -> State:
        """The state of *items*."""
        key = tuple(sorted(items))
        if self._base is not None and key[-1] < self._base_items:
            return self._base.kernel(key)
        state = self._kernels.get(key)
        if state is None:
            state = self._kernels[key] = State(self.rules, key)
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
            state = self._predicted[symbols] = State(self.rules, tuple(sorted(items)))
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
