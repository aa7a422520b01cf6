"""The cheapest sentence of each nonterminal.

Knuth, "A Generalization of Dijkstra's Algorithm" (Information Processing Letters 6(1), 1977); here as a
fixed point over the rules, which takes few rounds when symbols are visited after those in their rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fimlsp.quotient.automaton import Rhs

Costs = dict[int, int]
"""For each symbol the cost of its cheapest sentence, in bytes."""
Choices = dict[int, Rhs]
"""For each nonterminal the right-hand side with which its cheapest sentence begins."""


def cheapest(alternatives: Mapping[int, Sequence[Rhs]], known: Mapping[int, int]) -> tuple[Costs, Choices]:
    """The cost of each nonterminal not *known*, and the right-hand side that its derivation begins with.

    *alternatives* are the right-hand sides of all nonterminals.
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
    """The cost of a sequence, None if one of its symbols has none."""
    total = 0
    for symbol in symbols:
        cost = costs.get(symbol)
        if cost is None:
            return None
        total += cost
    return total


def expand(choices: Choices, symbols: tuple[int, ...]) -> list[int]:
    """The terminals of the cheapest sentence of *symbols*."""
    found: list[int] = []
    waiting = list(reversed(symbols))
    while waiting:
        symbol = waiting.pop()
        rhs = choices.get(symbol)
        if rhs is None:
            found.append(symbol)
        else:
            waiting.extend(reversed(rhs))
    return found
