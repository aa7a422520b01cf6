"""Finds the cheapest derivation of each nonterminal.

For the grammar of a language all are found at once (Knuth, "A Generalization of Dijkstra's Algorithm",
Information Processing Letters 6(1), 1977). Here that is an iteration over the rules to a fixed point. It
takes few rounds if symbols are visited after those in their rules.

The rules that a cursor adds are many, but linear: none has more than one symbol of its own layer. So their
cheapest derivations are shortest paths, which Dijkstra's algorithm finds on request. It looks at few of these
rules, and the others need not even be constructed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from itertools import count

from fimlsp.quotient.grammar.cfg import DOT_BITS, Rhs, Rules

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
    unknown = sorted(alternatives.keys() - known.keys(), reverse=True)
    changed = True
    while changed:
        changed = False
        for lhs in unknown:
            for rhs in alternatives[lhs]:
                cost = cost_of(costs, rhs)
                if cost is not None and (lhs not in costs or cost < costs[lhs]):
                    costs[lhs] = cost
                    choices[lhs] = rhs
                    changed = True
    return costs, choices


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
