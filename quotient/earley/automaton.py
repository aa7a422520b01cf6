"""Sets of dotted rules that move together, built on demand.

Earley items that share their origin are kept as one state, as in Aycock and Horspool, "Practical Earley
Parsing" (The Computer Journal 45(6), 2002): a state is a set of dotted rules, `goto` moves all of them over a
symbol, and what a state predicts is kept apart because its origin differs.

Automata lie in layers. One may add rules to those of the one `below` it, for new nonterminals; as no rule
below mentions these, a set of dotted rules falls apart into one state for each layer. So the states below
serve all that lies above them, whatever is added, which is what makes a middle grammar cheap.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from fimlsp.quotient.grammar.rules import DOT, DOT_BITS, Rules


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


class PossibleStarts(NamedTuple):
    """The *nonterminals* of a layer that may begin somewhere, and what may begin there *below* it.

    `items` are those of their rules with the dots at 1, by the symbol before the dot.
    """

    nonterminals: frozenset[int]
    items: dict[int, list[int]]
    below: Predicted | None


Chain = tuple[tuple[State, ...], frozenset[int]]


class Predicted:
    """All rules that may begin at some place, where *symbols* are expected.

    They are looked up when something is read there, which after the last symbol of a middle is never. Of
    hundreds of rules few begin with what is read, so what a symbol leads to is looked up when it is.
    """

    __slots__ = ("_after", "_begun", "_layer", "_symbols", "chains")

    def __init__(self, layer: Layer, symbols: frozenset[int]) -> None:
        self.chains: dict[int, Chain] = {}
        self._layer = layer
        self._symbols = symbols
        self._begun: PossibleStarts | None = None
        self._after: dict[int, tuple[State, ...]] = {}

    @property
    def begun(self) -> PossibleStarts:
        """What may begin here."""
        if self._begun is None:
            self._begun = self._layer.begun(self._symbols)
        return self._begun

    def expects(self, symbol: int) -> bool:
        """Whether some rule begins with *symbol*."""
        _, items, below = self.begun
        return symbol in items or (below is not None and below.expects(symbol))

    def expected(self) -> set[int]:
        """All symbols that some rule begins with."""
        _, items, below = self.begun
        return set(items) if below is None else below.expected().union(items)

    def after(self, symbol: int) -> tuple[State, ...]:
        """What has begun with *symbol*: a state for each layer in which some rule does."""
        found = self._after.get(symbol)
        if found is None:
            _, items, below = self.begun
            found = () if below is None else below.after(symbol)
            if symbol in items:
                found = self._layer.state(items[symbol]), *found
            self._after[symbol] = found
        return found

    def chain(self, symbol: int) -> Chain:
        """What completing *symbol* completes here in turn: the states reached, all nonterminals completed.

        Precomputing this closure over unit rules saves a step per precedence level for every operand. As no
        rule below mentions a nonterminal of this layer, what is completed there is known there.
        """
        found = self.chains.get(symbol)
        if found is None:
            found = self.chains[symbol] = self._close_chain(symbol)
        return found

    def _close_chain(self, symbol: int) -> Chain:
        _, items, below = self.begun
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
    """The rules of a layer, the automaton *below* it, and the states made of these rules so far."""

    __slots__ = ("_states", "below", "rules")

    def __init__(self, rules: Rules, below: Automaton | None) -> None:
        self.rules = rules
        self.below = below
        self._states: dict[tuple[int, ...], State] = {}

    def is_nonterminal(self, symbol: int) -> bool:
        """Whether there are rules for *symbol*."""
        if symbol in self.rules.nonterminals:
            return True
        return self.below is not None and self.below.layer.is_nonterminal(symbol)

    def nonterminals_of(self, symbols: frozenset[int]) -> frozenset[int]:
        """Those of *symbols* that there are rules for."""
        found = symbols & self.rules.nonterminals
        return found if self.below is None else found | self.below.layer.nonterminals_of(symbols)

    def state(self, items: Iterable[int]) -> State:
        """The state of *items* of this layer's rules."""
        key = tuple(sorted(items))
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = State(self.rules, key, self.is_nonterminal)
        return state

    def begins_with(self, symbols: Iterable[int], terminal: int) -> bool:
        """Whether a rule of one of *symbols*, which are of this layer, begins with *terminal* itself."""
        rules = self.rules
        return any(rules.rhs[item >> DOT_BITS][0] == terminal for s in symbols for item in rules.starts(s))

    def begun(self, symbols: frozenset[int]) -> PossibleStarts:
        """What *symbols* may begin with."""
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

    def _close(self, symbol: int, nonterminals: set[int], begun: dict[int, list[int]]) -> None:
        """Add the *nonterminals* of this layer that *symbol* may begin with, and what those have *begun*."""
        rules = self.rules
        nonterminals.add(symbol)
        waiting = [symbol]
        while waiting:
            for item in rules.starts(waiting.pop()):
                following = rules.rhs[item >> DOT_BITS][0]
                if following in begun:
                    begun[following].append(item + 1)
                    continue
                begun[following] = [item + 1]
                if following in rules.nonterminals and following not in nonterminals:
                    nonterminals.add(following)
                    waiting.append(following)


class Automaton:
    """What may begin where, by rules of a *layer*; what those below begin is known below.

    The layer does not know them, so that no cycle keeps alive what a cursor has left behind.
    """

    __slots__ = ("_predicted", "layer")

    def __init__(self, rules: Rules, below: Automaton | None = None) -> None:
        self.layer = Layer(rules, below)
        self._predicted: dict[frozenset[int], Predicted] = {}

    def goto(self, state: State, symbol: int) -> State:
        """The state after *state* and *symbol*, which it expects."""
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
        """Everything that *symbols* may begin with."""
        layer = self.layer
        if layer.below is not None and symbols.isdisjoint(layer.rules.nonterminals):
            return layer.below.predicted(symbols)
        found = self._predicted.get(symbols)
        if found is None:
            found = self._predicted[symbols] = Predicted(layer, symbols)
        return found
