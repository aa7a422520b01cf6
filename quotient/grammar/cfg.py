"""Context-free grammars as values, their rules in the parser's form, and their cheapest sentences.

Symbols are small integers, terminals first. There are no empty productions. Each repetition is a nonterminal
of its own and marked as such, because it has to be parsed from both ends.

A dotted rule, or *item*, is the integer 64 * (number of the rule in its layer) + (position of the dot). So
`item + 1` has its dot one symbol further right. A `State` is a set of items with a common origin.
`LazyRules` constructs rules on first use.

For the grammar of a language the cheapest derivations of all nonterminals are found at once (Knuth, "A
Generalization of Dijkstra's Algorithm", Information Processing Letters 6(1), 1977). Here that is an iteration
over the rules to a fixed point. It takes few rounds if symbols are visited after those in their rules. The
rules that a cursor adds are many, but linear: none has more than one symbol of its own layer. So their
cheapest derivations are shortest paths, which Dijkstra's algorithm finds on request. It looks at few of these
rules, and the others need not even be constructed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from heapq import heappop, heappush
from itertools import count, groupby
from typing import Any

from fimlsp.errors import UserError
from fimlsp.lexing.automata.bit_sets import bit_set
from fimlsp.lexing.values import value


class GrammarError(UserError, ValueError):
    """Raised for an unusable grammar; the message names the necessary change."""


@value
class Production:
    """The production `lhs` -> `rhs`. The right-hand side has at least one symbol."""

    lhs: int
    rhs: tuple[int, ...]


@value
class Grammar:
    """A grammar without empty productions.

    `terminals` are the symbols 0 .. T-1, `nonterminals` the symbols T .. T+N-1, beginning with the start
    symbol. `productions` are grouped by left-hand side. `repetitions` maps a nonterminal L to its element E
    if the productions of L are L -> E and L -> L E. With `may_be_empty` the empty sequence is a sentence too.
    `copies` are the nonterminals that are copies for a place (see `lark_loader.py`). A line without any of
    the terminals `place_words` means the same to all copies.
    """

    terminals: tuple[str, ...]
    nonterminals: tuple[str, ...]
    productions: tuple[Production, ...]
    repetitions: Mapping[int, int] = field(hash=False)
    may_be_empty: bool = False
    copies: frozenset[int] = frozenset()
    place_words: frozenset[int] = frozenset()
    _symbols: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _by_lhs: Mapping[int, tuple[Production, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        names = self.terminals + self.nonterminals
        by_lhs = {lhs: tuple(group) for lhs, group in groupby(self.productions, lambda p: p.lhs)}
        object.__setattr__(self, "_symbols", {name: symbol for symbol, name in enumerate(names)})
        object.__setattr__(self, "_by_lhs", by_lhs)

    @property
    def start(self) -> int:
        """The start symbol."""
        return len(self.terminals)

    def symbol(self, name: str) -> int:
        """The symbol called *name*.

        Raises:
            KeyError: There is none.
        """
        return self._symbols[name]

    def name(self, symbol: int) -> str:
        """The name of *symbol*."""
        count = len(self.terminals)
        return self.terminals[symbol] if symbol < count else self.nonterminals[symbol - count]

    def is_terminal(self, symbol: int) -> bool:
        """True if *symbol* is a terminal."""
        return symbol < len(self.terminals)

    def productions_of(self, symbol: int) -> tuple[Production, ...]:
        """The productions with *symbol* as their left-hand side; none for a terminal."""
        return self._by_lhs.get(symbol, ())


Alternatives = Mapping[str, Iterable[tuple[str, ...]]]


def make_grammar(
    start: str, rules: Alternatives, repetitions: Mapping[str, str], *, may_be_empty: bool = False
) -> Grammar:
    """The grammar with these *rules*, which map the name of each nonterminal to its right-hand sides.

    Names that are not keys of *rules* are terminals.

    Raises:
        GrammarError: A right-hand side is empty, or a nonterminal is unreachable or derives no sentence.
    """
    sides = {name: tuple(dict.fromkeys(rights)) for name, rights in rules.items()}
    _check(start, sides)
    nonterminals = (start, *(name for name in sides if name != start))
    used = (name for rights in sides.values() for right in rights for name in right)
    terminals = tuple(dict.fromkeys(name for name in used if name not in sides))
    symbols = {name: symbol for symbol, name in enumerate(terminals + nonterminals)}
    productions = tuple(
        Production(symbols[name], tuple(symbols[part] for part in right))
        for name in nonterminals
        for right in sides[name]
    )
    elements = {symbols[name]: symbols[element] for name, element in repetitions.items()}
    return Grammar(terminals, nonterminals, productions, elements, may_be_empty)


SENTINELS = "⊢", "⊣"
"""The terminals that enclose a file in a language without a layout, where the whole file is one group."""


def between_sentinels(grammar: Grammar) -> Grammar:
    """A grammar for the sentences of *grammar*, each enclosed by the `SENTINELS`."""
    begin, end = SENTINELS
    start = grammar.name(grammar.start)
    files = [(begin, start, end), *([(begin, end)] if grammar.may_be_empty else [])]
    rules: dict[str, list[tuple[str, ...]]] = {f"{begin}{start}{end}": files}
    for production in grammar.productions:
        rules.setdefault(grammar.name(production.lhs), []).append(tuple(map(grammar.name, production.rhs)))
    repetitions = {grammar.name(a): grammar.name(b) for a, b in grammar.repetitions.items()}
    return make_grammar(next(iter(rules)), rules, repetitions)


def without_useless(start: str, rules: Alternatives) -> dict[str, list[tuple[str, ...]]]:
    """The *rules* that occur in some derivation of a sentence from *start*."""
    sides = {name: tuple(rights) for name, rights in rules.items()}
    useless = sides.keys() - _productive(sides)
    kept = {
        name: tuple(right for right in rights if useless.isdisjoint(right))
        for name, rights in sides.items()
        if name not in useless
    }
    reachable = _reachable(start, kept)
    return {name: list(rights) for name, rights in kept.items() if name in reachable}


def _check(start: str, sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> None:
    empty = [name for name, rights in sides.items() if () in rights]
    reachable = _reachable(start, sides)
    productive = _productive(sides)
    for complaint, names in (
        ("may be empty; make them optional where they are used", empty),
        ("are never used; remove them", [name for name in sides if name not in reachable]),
        ("derive no sentence; give them an end", [name for name in sides if name not in productive]),
    ):
        if names:
            raise GrammarError(f"These rules {complaint}: {', '.join(names)}.")


def _reachable(start: str, sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> set[str]:
    reachable = {start}
    waiting = [start]
    while waiting:
        fresh = {part for right in sides.get(waiting.pop(), ()) for part in right} - reachable
        reachable |= fresh
        waiting.extend(fresh)
    return reachable


def _productive(sides: Mapping[str, tuple[tuple[str, ...], ...]]) -> set[str]:
    return derived(sides, lambda part: part not in sides)


def derived(sides: Mapping[str, Iterable[Sequence[str]]], is_given: Callable[[str], bool]) -> set[str]:
    """The names of *sides* that derive a sequence of symbols that are given. O(size of *sides*)."""
    missing: list[int] = []
    owners: list[str] = []
    users: dict[str, list[int]] = {}
    found: set[str] = set()
    for name, rights in sides.items():
        for right in rights:
            parts = {part for part in right if not is_given(part)}
            for part in parts:
                users.setdefault(part, []).append(len(owners))
            owners.append(name)
            missing.append(len(parts))
            if not parts:
                found.add(name)
    waiting = [*found]
    while waiting:
        for number in users.get(waiting.pop(), ()):
            missing[number] -= 1
            if not missing[number] and owners[number] not in found:
                found.add(owners[number])
                waiting.append(owners[number])
    return found


DOT_BITS = 6
DOT = (1 << DOT_BITS) - 1
Rhs = tuple[int, ...]
Maker = tuple[Callable[..., Iterable[Rhs]], tuple[Any, ...]]
"""A function that makes right-hand sides, and its arguments after the first one, the rules themselves."""


class Rules:
    """The rules of one layer.

    `lhs[number]` and `rhs[number]` are the two sides of a rule. `nonterminals` are all left-hand sides,
    including those whose rules are not constructed yet (see `LazyRules`). In *backward* rules the right-hand
    sides are reversed.
    """

    __slots__ = ("_starts", "backward", "lhs", "nonterminals", "rhs")

    def __init__(self, *, backward: bool = False) -> None:
        self.backward = backward
        self.rhs: list[Rhs] = []
        self.lhs: list[int] = []
        self.nonterminals: set[int] = set()
        self._starts: dict[int, Sequence[int]] = {}

    def add(self, lhs: int, *sides: Rhs) -> None:
        """Add a rule `lhs -> side` for each side. A side has fewer than 64 symbols."""
        first = len(self.rhs) << DOT_BITS
        self.rhs.extend(sides)
        self.lhs.extend([lhs] * len(sides))
        self.nonterminals.add(lhs)
        items = range(first, len(self.rhs) << DOT_BITS, 1 << DOT_BITS)
        self._starts[lhs] = [*self._starts[lhs], *items] if lhs in self._starts else items

    def starts(self, lhs: int) -> Sequence[int]:
        """The items of the rules of *lhs* with the dot at position 0."""
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """The right-hand sides of all nonterminals."""
        return {lhs: [self.rhs[item >> DOT_BITS] for item in items] for lhs, items in self._starts.items()}

    def lhs_of(self, item: int) -> int:
        """The left-hand side of the rule of *item*."""
        return self.lhs[item >> DOT_BITS]

    def unread(self, item: int) -> Rhs:
        """The symbols after the dot of *item*."""
        return self.rhs[item >> DOT_BITS][item & DOT :]


class State:
    """A set of dotted rules of one layer, with a common origin. Equal sets are the same object.

    Attributes:
        rules: the rules of the layer.
        items: the dotted rules (`DOT_BITS` and `DOT` take them apart).
        by_symbol: for each symbol after a dot, the items with the dot moved over it.
        completed: the left-hand sides of the rules whose dot is at the end.
        expected: the nonterminals after a dot.
        gotos: the next state by symbol, filled by `Automaton.goto`.
        after_any: the next states by sets of symbols, filled by `Automaton.goto_any`.
    """

    __slots__ = (
        "_expected_bits",
        "after_any",
        "by_symbol",
        "completed",
        "expected",
        "gotos",
        "items",
        "rules",
    )

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
        self.after_any: dict[frozenset[int], tuple[State, ...]] = {}
        self._expected_bits = -1

    @property
    def expected_bits(self) -> int:
        """The bit set of the symbols after a dot."""
        if self._expected_bits < 0:
            self._expected_bits = bit_set(self.by_symbol)
        return self._expected_bits


class LazyRules(Rules):
    """Rules that are constructed when first needed.

    A nonterminal is numbered, from *fresh*, when it is first mentioned, and its rules follow when it is
    predicted.
    """

    __slots__ = ("_makers", "_numbers", "fresh")

    def __init__(self, fresh: Iterator[int]) -> None:
        super().__init__()
        self.fresh = fresh
        self._numbers: dict[Hashable, int] = {}
        self._makers: dict[int, Maker] = {}

    def symbol(self, key: Hashable, make: Callable[..., Iterable[Rhs]], *arguments: object) -> int:
        """The nonterminal for *key*, whose right-hand sides `make(self, *arguments)` will return.

        The call passes these rules, so that *make* need not refer to them, which would be a reference cycle.
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
            make, arguments = self._makers[lhs]
            self.add(lhs, *make(self, *arguments))
        return self._starts[lhs]

    def made_by(self, lhs: int) -> Maker:
        """The function that makes the rules of *lhs*, with its arguments, as given to `symbol`."""
        return self._makers[lhs]


Costs = dict[int, int]
"""For each symbol the cost of its cheapest derivation, in bytes of text."""
Choices = dict[int, Rhs]
"""For each nonterminal the right-hand side of the first rule in its cheapest derivation."""

_Path = tuple["_Path", int, Rhs] | None


def cheapest(alternatives: Mapping[int, Sequence[Rhs]], known: Mapping[int, int]) -> tuple[Costs, Choices]:
    """The cheapest derivation of each nonterminal.

    *alternatives* are the right-hand sides of all nonterminals, *known* are the costs of the terminals.
    """
    costs = dict(known)
    choices: Choices = {}

    def improve(lhs: int, rhs: Rhs) -> bool:
        cost = cost_of(costs, rhs)
        if cost is None or (lhs in costs and costs[lhs] <= cost):
            return False
        costs[lhs], choices[lhs] = cost, rhs
        return True

    unknown = sorted(alternatives.keys() - known.keys(), reverse=True)
    improve_all([(lhs, rhs) for lhs in unknown for rhs in alternatives[lhs]], improve)
    return costs, choices


def improve_all(rules: Sequence[tuple[int, Rhs]], improve: Callable[[int, Rhs], bool]) -> None:
    """Call *improve* with rules until none improves the value of its left-hand side, which True says.

    Rules are visited in their order, again and again. One is passed over unless the value of a symbol in it
    has improved since its last visit.
    """
    users: dict[int, list[int]] = {}
    for number, (_, rhs) in enumerate(rules):
        for symbol in set(rhs):
            users.setdefault(symbol, []).append(number)
    pending = [True] * len(rules)
    while any(pending):
        for number, (lhs, rhs) in enumerate(rules):
            if pending[number]:
                pending[number] = False
                if improve(lhs, rhs):
                    for user in users.get(lhs, ()):
                        pending[user] = True


def cost_of(costs: Mapping[int, int], symbols: tuple[int, ...]) -> int | None:
    """The total cost of *symbols*; None if one of them has none."""
    total = 0
    for symbol in symbols:
        cost = costs.get(symbol)
        if cost is None:
            return None
        total += cost
    return total


class CheapestSentences:
    """The cheapest derivations of the symbols of a layer and of the layers below it.

    `costs` and `choices` hold the results so far. Derivations by *rules*, which must be linear, are searched
    on demand, and those of the layers *below* are looked up there. Any other symbol is a terminal of cost
    *other*; with None it may not occur.
    """

    __slots__ = ("_below", "_other", "_rules", "choices", "costs")

    def __init__(
        self,
        costs: Costs,
        choices: Choices,
        rules: Rules,
        below: CheapestSentences | None = None,
        other: int | None = 0,
    ) -> None:
        self.costs = costs
        self.choices = choices
        self._rules = rules
        self._below = below
        self._other = other

    def cost(self, symbol: int) -> int | None:
        """The cost of *symbol*; None if it derives no sentence."""
        cost = self.costs.get(symbol)
        if cost is not None:
            return cost
        if symbol in self._rules.nonterminals:
            self._search(symbol)
            return self.costs.get(symbol)
        return self._cost_below(symbol)

    def _cost_below(self, symbol: int) -> int | None:
        return self._other if self._below is None else self._below.cost(symbol)

    def of(self, symbols: Rhs) -> int | None:
        """The total cost of *symbols*; None if one of them derives no sentence."""
        total, known = 0, self.costs
        for symbol in symbols:
            cost = known[symbol] if symbol in known else self.cost(symbol)
            if cost is None:
                return None
            total += cost
        return total

    def expand(self, symbols: Rhs) -> list[int]:
        """The terminals of the cheapest sentence that *symbols* derive; all of them must have a cost."""
        terminals: list[int] = []
        waiting = list(reversed(symbols))
        while waiting:
            symbol = waiting.pop()
            rhs = self._choice(symbol)
            if rhs is None:
                terminals.append(symbol)
            else:
                waiting.extend(reversed(rhs))
        return terminals

    def _choice(self, symbol: int) -> Rhs | None:
        rhs = self.choices.get(symbol)
        return rhs if rhs is not None or self._below is None else self._below._choice(symbol)

    def _search(self, goal: int) -> None:
        """Find the shortest path from *goal* to a rule without any symbol of this layer."""
        rules, costs, serial = self._rules, self.costs, count()
        nonterminals = rules.nonterminals
        queue: list[tuple[int, int, int | None, _Path]] = [(0, next(serial), goal, None)]
        done: set[int] = set()
        while queue:
            spent, _, symbol, path = heappop(queue)
            if symbol is None:
                self._keep(path)
                return
            if symbol in done:
                continue
            done.add(symbol)
            for item in rules.starts(symbol):
                rhs = rules.rhs[item >> DOT_BITS]
                inner, total = None, spent
                for part in rhs:
                    cost = costs.get(part)
                    if cost is None and part in nonterminals:
                        inner = part
                        continue
                    cost = self._cost_below(part) if cost is None else cost
                    if cost is None:
                        break
                    total += cost
                else:
                    if inner not in done:
                        heappush(queue, (total, next(serial), inner, (path, symbol, rhs)))

    def _keep(self, path: _Path) -> None:
        """Record the costs and choices of all symbols on *path*, which is linked from its end."""
        while path is not None:
            path, symbol, rhs = path
            cost = self.of(rhs)
            assert cost is not None
            self.costs[symbol] = cost
            self.choices[symbol] = rhs
