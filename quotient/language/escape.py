"""Detects context escape: a middle leaves the bracket or block around both contexts, and enters another one.

Between `f(a` and `b)` the text `) + g(` connects, but then the two contexts are in different calls. Between
two statements of a function one can insert a whole `def` that takes the second one away (Melcer et al. 2024,
arXiv 2402.17988, section VIII-A). A middle escapes if, within one rule, it closes a bracket or block of the
left context and opens one of the same kind for the right context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.grammar.open_rules import Child, OpenRules, OpenSuite
from fimlsp.quotient.language.contract import Elements

Inside = frozenset[Literal["bracket", "block"]]
"""The enclosures open within a rule on one side of the cursor: brackets, blocks, both or none."""

NOTHING: Inside = frozenset()
BRACKET: Inside = frozenset({"bracket"})
BLOCK: Inside = frozenset({"block"})

Insides = dict[EarleySet, Inside]
"""The enclosures open between the cursor and each set at which an open node started."""


class Enclosures:
    """The paired terminals of a language, such as brackets.

    *pairs* maps each one to the one that closes it. A nonterminal that derives only opening ones, or only
    closing ones, alone or after a line end, counts as such a one. A tag of *elements* is an enclosure too,
    from its start up to its own end, or that of the closing tag. The rest of such a tag counts as closing.
    """

    def __init__(self, grammar: Grammar, pairs: Mapping[str, str], elements: Elements | None = None) -> None:
        numbers = {name: number for number, name in enumerate(grammar.terminals)}
        self._step = {numbers[name]: 1 for name in pairs if name in numbers}
        self._step |= {numbers[name]: -1 for name in pairs.values() if name in numbers}
        if elements is not None:
            self._step |= {numbers[name]: 1 for name in elements.starts}
            self._step |= {numbers[name]: -1 for name in (elements.empty, elements.closes[-1])}
        sides: dict[int, list[tuple[int, ...]]] = {}
        for production in grammar.productions:
            sides.setdefault(production.lhs, []).append(production.rhs)
        for symbol, alternatives in sides.items():
            step, *others = {self._step.get(side[-1], 0) for side in alternatives}
            is_short = all(len(side) <= 2 for side in alternatives)
            is_rest = elements is not None and all(self._balance(side) == step for side in alternatives)
            if step and not others and (is_short or is_rest):
                self._step[symbol] = step

    def _balance(self, symbols: Iterable[int]) -> int:
        """The number of enclosures that *symbols* open, less those that they close."""
        return sum(self._step.get(symbol, 0) for symbol in symbols)

    def __contains__(self, symbol: int) -> bool:
        """True if *symbol* opens or closes something."""
        return symbol in self._step

    def unmatched(self, symbols: Iterable[int]) -> tuple[bool, bool]:
        """Two flags: *symbols* close a bracket they did not open, and they leave one open."""
        depth = lowest = 0
        for symbol in symbols:
            depth += self._step.get(symbol, 0)
            lowest = min(lowest, depth)
        return lowest < 0, depth > lowest

    def insides(self, open_rules: OpenRules) -> Insides:
        """The enclosures open between the cursor and each set of *open_rules*, in either direction. O(sets).

        All rules that started at a set have the same text between it and the cursor, so one of them suffices.
        """
        rules = open_rules.finder.rules
        insides: Insides = dict.fromkeys(open_rules.opened if open_rules.open_suites else (), BLOCK)
        for at, reached in open_rules.reached.items():
            ((rule, dot), *_), child = next(iter(reached.values()))[0]
            read = rules.rhs[rule][:dot][:: -1 if rules.backward else 1]
            inside = BRACKET if any(self.unmatched(read)) else NOTHING
            insides[at] = inside | of_child(child, insides)
        return insides

    def escapes(self, left: Inside, between: Iterable[int], right: Inside) -> bool:
        """True if a middle escapes that finishes a child, continues with *between*, and starts another child.

        *left* and *right* are the enclosures open in these two children.
        """
        closes, opens = self.unmatched(between)
        left |= BRACKET if closes else NOTHING
        right |= BRACKET if opens else NOTHING
        return bool(left & right)


def of_child(child: Child, insides: Insides) -> Inside:
    """The enclosures open within an open child; *insides* has them for each set."""
    if isinstance(child, OpenSuite):
        return BLOCK
    return NOTHING if isinstance(child, int) else insides[child[1]]
