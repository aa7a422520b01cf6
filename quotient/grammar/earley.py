"""The Earley recogniser: an automaton of dotted rules, built on demand, and Earley sets as immutable values.

Earley items with the same origin form one state, as in Aycock and Horspool, "Practical Earley Parsing" (The
Computer Journal 45(6), 2002). A state is a set of dotted rules, and `goto` moves all their dots over a
symbol. The items that a state predicts are kept apart, because their origin differs.

Automata are stacked in layers. A layer adds rules for new nonterminals to those of the automaton `below` it.
No rule below mentions the new nonterminals. So a set of dotted rules splits into one state per layer, and all
layers above share the states below. This makes it cheap to build a grammar for every cursor.

An `EarleySet` (Earley, "An Efficient Context-Free Parsing Algorithm", CACM 13(2), 1970) holds the items after
some symbols as pairs (state, origin). The origin is the earlier set at which the rules of the state started.
Sets refer to their origins directly, so a chart is a linked structure. A snapshot costs nothing, dead
branches are freed, and a set can be continued any number of times.

Right recursion, such as `a if b else a if b else ...`, completes all open rules at each operand. In a chain
of completions, each of which leads to just one other, only the last one is entered (Leo, "A General
Context-Free Parsing Algorithm Running in Linear Time on Every LR(k) Grammar Without Using Lookahead",
Theoretical Computer Science 82, 1991). The search for chains takes time, so it starts only after some
completions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from fimlsp.lexing.automata.bit_sets import bit_set, members
from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.quotient.grammar.cfg import DOT_BITS, Rules, State


class PossibleStarts(NamedTuple):
    """The items predicted at a set, layer by layer.

    `nonterminals` are the nonterminals of this layer that are predicted. `items` maps each first symbol of
    their rules to the items with the dot after it. `below` is the prediction in the layers below.
    """

    nonterminals: frozenset[int]
    items: dict[int, list[int]]
    below: Predicted


Chain = tuple[tuple[State, ...], frozenset[int]]
"""The states reached by completing a symbol, also through unit rules, and all symbols completed."""


class Predicted:
    """The prediction of an Earley set: all rules that may start where *symbols* are expected.

    It is computed lazily, since nothing is ever read after the last symbol of a middle. The states that a
    symbol leads to are computed lazily as well, since few of hundreds of predicted rules start with the
    symbol read.
    """

    __slots__ = ("_after", "_expected_bits", "_layer", "_possible_starts", "chains", "rules", "symbols")

    def __init__(self, layer: Layer, symbols: frozenset[int]) -> None:
        self.symbols = symbols
        self.rules = layer.rules
        self.chains: dict[int, Chain] = {}
        self._layer = layer
        self._possible_starts: PossibleStarts | None = None
        self._after: dict[int, tuple[State, ...]] = {}
        self._expected_bits = -1

    @property
    def possible_starts(self) -> PossibleStarts:
        """The predicted items."""
        if self._possible_starts is None:
            self._possible_starts = self._layer.possible_starts(self.symbols)
        return self._possible_starts

    @property
    def nonterminals(self) -> int:
        """The bit set of the predicted nonterminals of this layer."""
        return bit_set(self.possible_starts.nonterminals)

    @property
    def below(self) -> Predicted | None:
        """The prediction in the layers below."""
        return self.possible_starts.below

    def items_after(self, symbol: int) -> Sequence[int]:
        """The items of this layer with the dot after *symbol*, the first one of their rules."""
        return self.possible_starts.items.get(symbol, ())

    def expects(self, symbol: int) -> bool:
        """True if some predicted rule starts with *symbol*."""
        _, items, below = self.possible_starts
        return symbol in items or below.expects(symbol)

    def expected(self) -> set[int]:
        """The first symbols of all predicted rules."""
        return set(members(self.expected_bits))

    @property
    def expected_bits(self) -> int:
        """The bit set of the first symbols of all predicted rules."""
        if self._expected_bits < 0:
            _, items, below = self.possible_starts
            self._expected_bits = bit_set(items) | below.expected_bits
        return self._expected_bits

    def after(self, symbol: int) -> tuple[State, ...]:
        """The states after scanning *symbol* here, one per layer that has such rules."""
        states = self._after.get(symbol)
        if states is None:
            below, own = self.below, self.own_after(symbol)
            states = () if below is None else below.after(symbol)
            if own is not None:
                states = own, *states
            self._after[symbol] = states
        return states

    def own_after(self, symbol: int) -> State | None:
        """The state after scanning *symbol* here in its own layer; None if no such rule starts with it."""
        items = self.items_after(symbol)
        return self._layer.state(items) if items else None

    def with_parents(self, symbols: Iterable[int]) -> int:
        """*symbols*, and the left-hand sides of the predicted rules that start with one of all these.

        They are a bit set.
        """
        found = set(symbols)
        waiting = list(found)
        while waiting:
            following = self.after(waiting.pop())
            fresh = {after.rules.lhs_of(item) for after in following for item in after.items} - found
            waiting += fresh
            found |= fresh
        return bit_set(found)

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
        below = self.below
        lower: Chain = ((), frozenset((symbol,)))
        if below is not None and symbol not in self._layer.rules.nonterminals:
            lower = below.chain(symbol)
        states: dict[State, None] = {}
        symbols = set(lower[1])
        waiting = list(symbols)
        while waiting:
            state = self.own_after(waiting.pop())
            if state is not None:
                states[state] = None
                fresh = [s for s in state.completed if s not in symbols]
                symbols.update(fresh)
                waiting.extend(fresh)
        return ((*states, *lower[0]), frozenset(symbols)) if states else lower


class LowestPredicted(Predicted):
    """A prediction in the lowest layer, whose rules are all known. No list of all predicted items is made."""

    __slots__ = ("_firsts", "nonterminals")

    def __init__(
        self, layer: Layer, symbols: frozenset[int], nonterminals: int, firsts: FirstSymbols
    ) -> None:
        super().__init__(layer, symbols)
        self.nonterminals = nonterminals  # type: ignore[misc]  # computed in other layers
        self._firsts = firsts

    @property
    def below(self) -> None:
        """As in `Predicted`."""

    def items_after(self, symbol: int) -> Sequence[int]:
        """As in `Predicted`."""
        predicted = self.nonterminals
        if not self._firsts.starting.get(symbol, 0) & predicted:
            return ()
        return [item for lhs, item in self._firsts.items[symbol] if predicted >> lhs & 1]

    def expects(self, symbol: int) -> bool:
        """As in `Predicted`."""
        return self._firsts.starting.get(symbol, 0) & self.nonterminals != 0

    def with_parents(self, symbols: Iterable[int]) -> int:
        """As in `Predicted`."""
        starting, found = self._firsts.starting, bit_set(symbols)
        waiting = members(found)
        while waiting:
            fresh = starting.get(waiting.pop(), 0) & self.nonterminals & ~found
            if fresh:
                found |= fresh
                waiting += members(fresh)
        return found

    @property
    def expected_bits(self) -> int:
        """As in `Predicted`."""
        if self._expected_bits < 0:
            self._expected_bits = 0
            for symbol in members(self.nonterminals):
                self._expected_bits |= self._firsts.of[symbol]
        return self._expected_bits


class FirstSymbols:
    """The first symbols of *rules* that are all known.

    Attributes:
        items: for each first symbol, the left-hand sides of its rules, and the items with the dot after it.
        starting: for each first symbol the left-hand sides, as a bit set.
        of: for each left-hand side the first symbols of its rules, as a bit set.
    """

    __slots__ = ("items", "of", "starting")

    def __init__(self, rules: Rules) -> None:
        self.items: dict[int, list[tuple[int, int]]] = {}
        self.starting: dict[int, int] = {}
        self.of: dict[int, int] = dict.fromkeys(rules.nonterminals, 0)
        for lhs in rules.nonterminals:
            for item in rules.starts(lhs):
                first = rules.rhs[item >> DOT_BITS][0]
                self.items.setdefault(first, []).append((lhs, item + 1))
                self.starting[first] = self.starting.get(first, 0) | 1 << lhs
                self.of[lhs] |= 1 << first


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
        """The items predicted where *symbols* are expected, in a layer above another one."""
        nonterminals: set[int] = set()
        items: dict[int, list[int]] = {}
        for symbol in symbols:
            if symbol in self.rules.nonterminals and symbol not in nonterminals:
                self._close(symbol, nonterminals, items)
        assert self.below is not None
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

    __slots__ = ("_by_closure", "_closures", "_firsts", "_predicted", "layer")

    def __init__(self, rules: Rules, below: Automaton | None = None) -> None:
        self.layer = Layer(rules, below)
        self._predicted: dict[frozenset[int], Predicted] = {}
        self._closures: dict[int, int] = {}
        self._by_closure: dict[int, Predicted] = {}
        self._firsts: FirstSymbols | None = None

    def goto(self, state: State, symbol: int) -> State:
        """The state that *state* leads to on *symbol*, which it expects."""
        following = state.gotos.get(symbol)
        if following is None:
            following = self._layer_of(state).state(state.by_symbol[symbol])
            state.gotos[symbol] = following
        return following

    def goto_any(self, state: State, symbols: frozenset[int]) -> tuple[State, ...]:
        """The states that *state* leads to on those of *symbols* that it expects."""
        expected = [symbol for symbol in state.expected if symbol in symbols]
        following = tuple(dict.fromkeys([self.goto(state, symbol) for symbol in expected]))
        state.after_any[symbols] = following
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
            firsts = self._firsts = self._firsts or FirstSymbols(self.layer.rules)
            predicted = LowestPredicted(self.layer, symbols, closure, firsts)
            self._by_closure[closure] = predicted
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


Entry = tuple[State, "EarleySet"]
Completion = tuple[int, "EarleySet"]
"""A symbol that was completed, and the set where it began."""

_FEW = 16
"""Number of completions at a set before chains are searched; most sets have no more."""


NO_COMPLETIONS: dict[int, Completion] = {}


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

    __slots__ = ("entries", "last_completions", "predicted", "waiting")

    def __init__(self, entries: tuple[Entry, ...], predicted: Predicted, waiting: tuple[Entry, ...]) -> None:
        self.entries = entries
        self.predicted = predicted
        self.waiting = waiting
        self.last_completions: dict[int, Completion] = NO_COMPLETIONS

    @property
    def is_empty(self) -> bool:
        """True without entries, as before any symbol."""
        return not self.entries

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
        self.last_completions = NO_COMPLETIONS
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
                    following = state.after_any.get(symbols)
                    if following is None:
                        following = self.automaton.goto_any(state, symbols)
                    for after in following:
                        entry = after, earlier
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
