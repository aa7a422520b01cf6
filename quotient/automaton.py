"""Sets of dotted rules that move together, built on demand.

Earley items that share their origin are kept as one state, as in Aycock and Horspool, "Practical Earley
Parsing" (The Computer Journal 45(6), 2002): a state is a set of dotted rules, `goto` moves all of them over a
symbol, and what a state predicts is kept apart because its origin differs.

Automata lie in layers. One may add rules to those of the one `below` it, for new nonterminals; as no rule
below mentions these, a set of dotted rules falls apart into one state for each layer. So the states below
serve all that lies above them, whatever is added, which is what makes a middle grammar cheap.

No rule is empty. A dotted rule, an *item*, is an integer: the number of the rule in its layer, times 64, and
the position of the dot; so `item + 1` has the dot one symbol further.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

DOT_BITS = 6
DOT = (1 << DOT_BITS) - 1
Rhs = tuple[int, ...]


class Rules:
    """The dotted rules of one layer.

    `rhs[number]` is the right-hand side of a rule, `lhs[number]` its left-hand side; `nonterminals` are all
    left-hand sides, also those that are only declared so far (see `LazyRules`). The right-hand sides of
    *backward* rules are reversed.
    """

    __slots__ = ("_starts", "backward", "lhs", "nonterminals", "rhs")

    def __init__(self, *, backward: bool = False) -> None:
        self.backward = backward
        self.rhs: list[Rhs] = []
        self.lhs: list[int] = []
        self.nonterminals: set[int] = set()
        self._starts: dict[int, Sequence[int]] = {}

    def add(self, lhs: int, *sides: Rhs) -> None:
        """Append the rules `lhs -> side`. The sides have fewer than 64 symbols."""
        first = len(self.rhs) << DOT_BITS
        self.rhs.extend(sides)
        self.lhs.extend([lhs] * len(sides))
        self.nonterminals.add(lhs)
        items = range(first, len(self.rhs) << DOT_BITS, 1 << DOT_BITS)
        self._starts[lhs] = [*self._starts[lhs], *items] if lhs in self._starts else items

    def starts(self, lhs: int) -> Sequence[int]:
        """The items of the rules of *lhs* with their dots at 0."""
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """The right-hand sides of all nonterminals."""
        return {lhs: [self.rhs[item >> DOT_BITS] for item in items] for lhs, items in self._starts.items()}

    def lhs_of(self, item: int) -> int:
        """The left-hand side of the rule of *item*."""
        return self.lhs[item >> DOT_BITS]

    def read(self, item: int) -> Rhs:
        """The symbols before the dot of *item*."""
        return self.rhs[item >> DOT_BITS][: item & DOT]

    def unread(self, item: int) -> Rhs:
        """The symbols after the dot of *item*."""
        return self.rhs[item >> DOT_BITS][item & DOT :]


class LazyRules(Rules):
    """Rules of nonterminals that get their numbers, of *fresh*, when they are first mentioned.

    Their right-hand sides are made when they are first needed.
    """

    __slots__ = ("_makers", "_numbers", "fresh")

    def __init__(self, fresh: Iterator[int]) -> None:
        super().__init__()
        self.fresh = fresh
        self._numbers: dict[Hashable, int] = {}
        self._makers: dict[int, tuple[Callable[..., Iterable[Rhs]], tuple[object, ...]]] = {}

    def symbol(self, key: Hashable, make: Callable[..., Iterable[Rhs]], *arguments: object) -> int:
        """The nonterminal for *key*, of which *make* tells the right-hand sides.

        It is called with these rules and *arguments*, so that it need not keep them alive in a cycle.
        """
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = next(self.fresh)
            self.nonterminals.add(number)
            self._makers[number] = make, arguments
        return number

    def starts(self, lhs: int) -> Sequence[int]:
        """As `Rules.starts`."""
        if lhs not in self._starts:
            make, arguments = self._makers.pop(lhs)
            self.add(lhs, *make(self, *arguments))
        return self._starts[lhs]


class State:
    """A set of dotted rules of one layer, with a common origin; equal sets are the same object."""

    __slots__ = ("by_symbol", "completed", "expected", "gotos", "items", "rules")

    def __init__(self, rules: Rules, items: tuple[int, ...], is_nonterminal: Callable[[int], bool]) -> None:
        by_symbol: dict[int, list[int]] = {}
        completed: dict[int, None] = {}
        for item in items:
            rhs, dot = rules.rhs[item >> DOT_BITS], item & DOT
            if dot == len(rhs):
                completed[rules.lhs[item >> DOT_BITS]] = None
            else:
                by_symbol.setdefault(rhs[dot], []).append(item + 1)
        self.rules = rules
        self.items = items
        self.by_symbol = by_symbol
        self.completed = tuple(completed)
        self.expected = tuple([symbol for symbol in by_symbol if is_nonterminal(symbol)])
        self.gotos: dict[int, State] = {}  # filled by the automaton


class Predicted:
    """All rules that may begin at some place: a state for each layer that has any."""

    __slots__ = ("chains", "states")

    def __init__(self, states: tuple[State, ...]) -> None:
        self.states = states
        self.chains: dict[int, tuple[tuple[State, ...], frozenset[int]]] = {}  # filled by the automaton

    def expects(self, symbol: int) -> bool:
        """Whether some rule begins with *symbol*."""
        for state in self.states:  # noqa: SIM110 - `any` takes thrice the time for one to three states
            if symbol in state.by_symbol:
                return True
        return False


class Automaton:
    """All states reached so far for the rules of a layer; those of the layers below are theirs."""

    __slots__ = ("_beginnings", "_closures", "_kernels", "_predicted", "below", "rules")

    def __init__(self, rules: Rules, below: Automaton | None = None) -> None:
        self.rules = rules
        self.below = below
        self._kernels: dict[tuple[int, ...], State] = {}
        self._predicted: dict[frozenset[int], Predicted] = {}
        self._beginnings: dict[tuple[State, ...], Predicted] = {}
        self._closures: dict[int, tuple[frozenset[int], frozenset[int]]] = {}

    def is_nonterminal(self, symbol: int) -> bool:
        """Whether there are rules for *symbol*."""
        if symbol in self.rules.nonterminals:
            return True
        return self.below is not None and self.below.is_nonterminal(symbol)

    def goto(self, state: State, symbol: int) -> State:
        """The state after *state* and *symbol*, which it expects."""
        following = state.gotos.get(symbol)
        if following is None:
            following = self._layer_of(state)._state(state.by_symbol[symbol])
            state.gotos[symbol] = following
        return following

    def _layer_of(self, state: State) -> Automaton:
        layer: Automaton = self
        while layer.rules is not state.rules:
            assert layer.below is not None
            layer = layer.below
        return layer

    def chain(self, predicted: Predicted, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        """What completing *symbol* where *predicted* is predicted completes there in turn.

        Returns the states reached, and all nonterminals so completed, *symbol* included. Precomputing this
        closure over unit rules saves a step per precedence level for every operand.
        """
        found = predicted.chains.get(symbol)
        if found is None:
            found = predicted.chains[symbol] = self._close_chain(predicted, symbol)
        return found

    def _close_chain(self, predicted: Predicted, symbol: int) -> tuple[tuple[State, ...], frozenset[int]]:
        states: dict[State, None] = {}
        symbols = {symbol: None}
        for completed in (waiting := [symbol]):
            for beginning in predicted.states:
                if completed not in beginning.by_symbol:
                    continue
                state = self.goto(beginning, completed)
                if state not in states:
                    states[state] = None
                    fresh = [s for s in state.completed if s not in symbols]
                    symbols.update(dict.fromkeys(fresh))
                    waiting.extend(fresh)
        return tuple(states), frozenset(symbols)

    def _state(self, items: Iterable[int]) -> State:
        """The state of *items* of this layer's rules."""
        key = tuple(sorted(items))
        state = self._kernels.get(key)
        if state is None:
            state = self._kernels[key] = State(self.rules, key, self.is_nonterminal)
        return state

    def predicted(self, symbols: frozenset[int]) -> Predicted:
        """Everything that *symbols* may begin with."""
        if self.below is not None and symbols.isdisjoint(self.rules.nonterminals):
            return self.below.predicted(symbols)
        found = self._predicted.get(symbols)
        if found is None:
            found = self._predicted[symbols] = self._predict(symbols)
        return found

    def begins_with(self, symbols: Iterable[int], terminal: int) -> bool:
        """Whether a rule of one of *symbols*, which are of this layer, begins with *terminal* itself."""
        rules = self.rules
        return any(rules.rhs[item >> DOT_BITS][0] == terminal for s in symbols for item in rules.starts(s))

    def _predict(self, symbols: frozenset[int]) -> Predicted:
        items: set[int] = set()
        lower: set[int] = set()
        for symbol in symbols:
            if symbol in self.rules.nonterminals:
                begun, others = self._closure(symbol)
                items |= begun
                lower |= others
            else:
                lower.add(symbol)
        states: tuple[State, ...] = (self._state(items),) if items else ()
        if self.below is not None:
            states += self.below.predicted(frozenset(lower)).states
        found = self._beginnings.get(states)
        if found is None:
            found = self._beginnings[states] = Predicted(states)
        return found

    def _closure(self, symbol: int) -> tuple[frozenset[int], frozenset[int]]:
        """The items of this layer that *symbol* may begin with, and the nonterminals below that these do."""
        found = self._closures.get(symbol)
        if found is None:
            found = self._closures[symbol] = self._close(symbol)
        return found

    def _close(self, symbol: int) -> tuple[frozenset[int], frozenset[int]]:
        rules = self.rules
        items: list[int] = []
        lower: set[int] = set()
        seen = {symbol}
        for nonterminal in (waiting := [symbol]):
            starts = rules.starts(nonterminal)
            items.extend(starts)
            for item in starts:
                following = rules.rhs[item >> DOT_BITS][0]
                if following not in seen:
                    seen.add(following)
                    if following in rules.nonterminals:
                        waiting.append(following)
                    elif self.below is not None and self.below.is_nonterminal(following):
                        lower.add(following)
        return frozenset(items), frozenset(lower)
