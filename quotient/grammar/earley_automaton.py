"""The automaton of an Earley recogniser: sets of dotted rules that move together, built on demand.

Earley items with the same origin form one state, as in Aycock and Horspool, "Practical Earley Parsing" (The
Computer Journal 45(6), 2002). A state is a set of dotted rules, and `goto` moves all their dots over a
symbol. The items that a state predicts are kept apart, because their origin differs.

Automata are stacked in layers. A layer adds rules for new nonterminals to those of the automaton `below` it.
No rule below mentions the new nonterminals. So a set of dotted rules splits into one state per layer, and all
layers above share the states below. This makes it cheap to build a grammar for every cursor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fimlsp.quotient.grammar.cfg import DOT, DOT_BITS, Rules


def bit_set(numbers: Iterable[int]) -> int:
    """The bit set of *numbers*."""
    bits = 0
    for number in numbers:
        bits |= 1 << number
    return bits


class State:
    """A set of dotted rules of one layer, with a common origin. Equal sets are the same object.

    Attributes:
        rules: the rules of the layer.
        items: the dotted rules (see `cfg`).
        by_symbol: for each symbol after a dot, the items with the dot moved over it.
        completed: the left-hand sides of the rules whose dot is at the end.
        expected: the nonterminals after a dot.
        gotos: the next state by symbol, filled by `Automaton.goto`.
    """

    __slots__ = ("_expected_bits", "by_symbol", "completed", "expected", "gotos", "items", "rules")

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
        self.gotos: dict[int, State] = {}
        self._expected_bits = -1

    @property
    def expected_bits(self) -> int:
        """The bit set of the symbols after a dot."""
        if self._expected_bits < 0:
            self._expected_bits = bit_set(self.by_symbol)
        return self._expected_bits


class PossibleStarts(NamedTuple):
    """The items predicted at a set, layer by layer.

    `nonterminals` are the nonterminals of this layer that are predicted. `items` maps each first symbol of
    their rules to the items with the dot after it. `below` is the prediction in the layers below.
    """

    nonterminals: frozenset[int]
    items: dict[int, list[int]]
    below: Predicted | None


Chain = tuple[tuple[State, ...], frozenset[int]]
"""The states reached by completing a symbol, also through unit rules, and all symbols completed."""


class Predicted:
    """The prediction of an Earley set: all rules that may start where *symbols* are expected.

    It is computed lazily, since nothing is ever read after the last symbol of a middle. The states that a
    symbol leads to are computed lazily as well, since few of hundreds of predicted rules start with the
    symbol read.
    """

    __slots__ = ("_after", "_expected_bits", "_layer", "_possible_starts", "_symbols", "chains")

    def __init__(self, layer: Layer, symbols: frozenset[int]) -> None:
        self.chains: dict[int, Chain] = {}
        self._layer = layer
        self._symbols = symbols
        self._possible_starts: PossibleStarts | None = None
        self._after: dict[int, tuple[State, ...]] = {}
        self._expected_bits = -1

    @property
    def symbols(self) -> frozenset[int]:
        """The symbols whose rules may start."""
        return self._symbols

    @property
    def rules(self) -> Rules:
        """The rules of its layer."""
        return self._layer.rules

    @property
    def possible_starts(self) -> PossibleStarts:
        """The predicted items."""
        if self._possible_starts is None:
            self._possible_starts = self._layer.possible_starts(self._symbols)
        return self._possible_starts

    def expects(self, symbol: int) -> bool:
        """True if some predicted rule starts with *symbol*."""
        _, items, below = self.possible_starts
        return symbol in items or (below is not None and below.expects(symbol))

    def expected(self) -> set[int]:
        """The first symbols of all predicted rules."""
        _, items, below = self.possible_starts
        return set(items) if below is None else below.expected().union(items)

    @property
    def expected_bits(self) -> int:
        """The bit set of the first symbols of all predicted rules."""
        if self._expected_bits < 0:
            _, items, below = self.possible_starts
            self._expected_bits = bit_set(items) | (0 if below is None else below.expected_bits)
        return self._expected_bits

    def after(self, symbol: int) -> tuple[State, ...]:
        """The states after scanning *symbol* here, one per layer that has such rules."""
        states = self._after.get(symbol)
        if states is None:
            _, items, below = self.possible_starts
            states = () if below is None else below.after(symbol)
            if symbol in items:
                states = self._layer.state(items[symbol]), *states
            self._after[symbol] = states
        return states

    def own_after(self, symbol: int) -> State | None:
        """The state after scanning *symbol* here in its own layer; None if no such rule starts with it."""
        items = self.possible_starts.items.get(symbol)
        return None if items is None else self._layer.state(items)

    def chain(self, symbol: int) -> Chain:
        """The states reached, and the symbols completed, by completing *symbol* and all that follows from it.

        This closure over unit rules is precomputed, which saves one step per precedence level for every
        operand. No rule below mentions a nonterminal of this layer, so the closure below is known below.
        """
        chain = self.chains.get(symbol)
        if chain is None:
            chain = self.chains[symbol] = self._close_chain(symbol)
        return chain

    def _close_chain(self, symbol: int) -> Chain:
        _, items, below = self.possible_starts
        lower: Chain = ((), frozenset((symbol,)))
        if below is not None and symbol not in self._layer.rules.nonterminals:
            lower = below.chain(symbol)
        states: dict[State, None] = {}
        symbols = set(lower[1])
        waiting = list(symbols)
        while waiting:
            completed = waiting.pop()
            if completed in items:
                state = self._layer.state(items[completed])
                states[state] = None
                fresh = [s for s in state.completed if s not in symbols]
                symbols.update(fresh)
                waiting.extend(fresh)
        return ((*states, *lower[0]), frozenset(symbols)) if states else lower


class Layer:
    """A layer: its rules, the automaton *below* it, and the states built from its rules so far."""

    __slots__ = ("_states", "below", "rules")

    def __init__(self, rules: Rules, below: Automaton | None) -> None:
        self.rules = rules
        self.below = below
        self._states: dict[tuple[int, ...], State] = {}

    def is_nonterminal(self, symbol: int) -> bool:
        """True if *symbol* has rules, here or below."""
        if symbol in self.rules.nonterminals:
            return True
        return self.below is not None and self.below.layer.is_nonterminal(symbol)

    def nonterminals_of(self, symbols: frozenset[int]) -> frozenset[int]:
        """Those of *symbols* that have rules, here or below."""
        own = symbols & self.rules.nonterminals
        return own if self.below is None else own | self.below.layer.nonterminals_of(symbols)

    def state(self, items: Iterable[int]) -> State:
        """The state with these *items*, which belong to rules of this layer."""
        key = tuple(sorted(items))
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(self.rules, key, self.is_nonterminal)
        return state

    def begins_with(self, symbols: Iterable[int], terminal: int) -> bool:
        """True if a rule of one of *symbols*, nonterminals of this layer, starts with *terminal*."""
        rules = self.rules
        return any(rules.rhs[item >> DOT_BITS][0] == terminal for s in symbols for item in rules.starts(s))

    def possible_starts(self, symbols: frozenset[int]) -> PossibleStarts:
        """The items predicted where *symbols* are expected."""
        nonterminals: set[int] = set()
        items: dict[int, list[int]] = {}
        for symbol in symbols:
            if symbol in self.rules.nonterminals and symbol not in nonterminals:
                self._close(symbol, nonterminals, items)
        below: Predicted | None = None
        if self.below is not None:
            lower = symbols.union(items) - nonterminals
            below = self.below.predicted(self.below.layer.nonterminals_of(lower))
        return PossibleStarts(frozenset(nonterminals), items, below)

    def _close(self, symbol: int, nonterminals: set[int], items: dict[int, list[int]]) -> None:
        """Add the prediction of *symbol* in this layer to *nonterminals* and *items*."""
        starts, rhs_of, having_rules = self.rules.starts, self.rules.rhs, self.rules.nonterminals
        nonterminals.add(symbol)
        waiting = [symbol]
        while waiting:
            for item in starts(waiting.pop()):
                following = rhs_of[item >> DOT_BITS][0]
                if following in items:
                    items[following].append(item + 1)
                    continue
                items[following] = [item + 1]
                if following in having_rules and following not in nonterminals:
                    nonterminals.add(following)
                    waiting.append(following)


class Automaton:
    """An automaton for the rules of a layer and of those below: its goto function and its predictions.

    The layer does not refer back to its predictions. So there are no reference cycles, and the automaton of a
    cursor is freed as soon as the cursor moves on.
    """

    __slots__ = ("_by_closure", "_closures", "_predicted", "layer")

    def __init__(self, rules: Rules, below: Automaton | None = None) -> None:
        self.layer = Layer(rules, below)
        self._predicted: dict[frozenset[int], Predicted] = {}
        self._closures: dict[int, int] = {}
        self._by_closure: dict[int, Predicted] = {}

    def goto(self, state: State, symbol: int) -> State:
        """The state that *state* leads to on *symbol*, which it expects."""
        following = state.gotos.get(symbol)
        if following is None:
            following = self._layer_of(state).state(state.by_symbol[symbol])
            state.gotos[symbol] = following
        return following

    def _layer_of(self, state: State) -> Layer:
        layer = self.layer
        while layer.rules is not state.rules:
            assert layer.below is not None
            layer = layer.below.layer
        return layer

    def predicted(self, symbols: frozenset[int]) -> Predicted:
        """The prediction where *symbols* are expected; the same object for equal ones of the lowest layer."""
        layer = self.layer
        if layer.below is not None and symbols.isdisjoint(layer.rules.nonterminals):
            return layer.below.predicted(symbols)
        predicted = self._predicted.get(symbols)
        if predicted is None:
            predicted = (
                Predicted(layer, symbols) if layer.below is not None else self._by_left_corners(symbols)
            )
            self._predicted[symbols] = predicted
        return predicted

    def _by_left_corners(self, symbols: frozenset[int]) -> Predicted:
        """As `predicted` in the lowest layer, whose rules are all known; many sets predict the same."""
        closure = 0
        for symbol in symbols:
            if symbol in self.layer.rules.nonterminals:
                closure |= self._closure(symbol)
        predicted = self._by_closure.get(closure)
        if predicted is None:
            predicted = self._by_closure[closure] = Predicted(self.layer, symbols)
        return predicted

    def _closure(self, symbol: int) -> int:
        """The bit set of the nonterminals that *symbol* may start with, itself included."""
        closure = self._closures.get(symbol)
        if closure is None:
            rules = self.layer.rules
            closure, waiting = 1 << symbol, [symbol]
            while waiting:
                for item in rules.starts(waiting.pop()):
                    first = rules.rhs[item >> DOT_BITS][0]
                    if first in rules.nonterminals and not closure >> first & 1:
                        closure |= self._closures.get(first, 1 << first)
                        if first not in self._closures:
                            waiting.append(first)
            self._closures[symbol] = closure
        return closure
