"""Logical lines that no context tells apart.

After a whole logical line only those rules matter that it completes, and those that go on in other lines.
Most lines of a file are alike in that: all simple statements, all headers of `while` loops. So one line
stands for all that are like it, and contexts read that one, from both sides. Each line itself is read once,
whichever side it is met from.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Protocol

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.earley.automaton import State
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.cfg import Grammar, Production

_MOST_LINES = 30_000

Form = tuple[frozenset[int], frozenset[State], frozenset[State], frozenset[State]]
"""What a line is; the states of rules begun with it, of those begun with its end, and that wait for these."""


class Forward(Protocol):
    """What reads groups forwards."""

    earley: Earley

    def start(self, symbols: frozenset[int]) -> EarleySet:
        """The set before a line that may begin any of *symbols*; always the same object."""


class LineClasses:
    """Finds the line that stands for a line.

    *suites* are the symbols of nested blocks and *bodies* those of groups, of which *lists* are made.
    """

    __slots__ = (
        "_continuing",
        "_forward",
        "_line_starts",
        "_newline",
        "_representative_of",
        "_representatives",
    )

    def __init__(
        self,
        grammar: Grammar,
        suites: Collection[int],
        bodies: Collection[int],
        lists: Collection[int],
        forward: Forward,
    ) -> None:
        opaque = {grammar.start, *suites, *lists}
        productions = [production for production in grammar.productions if production.lhs not in opaque]
        self._newline = grammar.symbol("NEWLINE")
        after_breaks = _after(productions, {self._newline, *suites}) - {*suites}
        self._continuing = frozenset(symbol for symbol in after_breaks if grammar.is_terminal(symbol))
        self._line_starts = after_breaks - self._continuing | frozenset(bodies)
        self._forward = forward
        self._representative_of: BoundedDict[tuple[int, ...], tuple[int, ...]] = BoundedDict(_MOST_LINES)
        self._representatives: dict[Form, tuple[int, ...]] = {}

    def representative(self, symbols: tuple[int, ...]) -> tuple[int, ...]:
        """A line that stands for the logical line *symbols* in every group; both without their line ends.

        A line that is like no other found before, or fits nowhere, stands for itself. Amortised O(line).
        """
        found = self._representative_of.get(symbols)
        if found is None:
            form = None if self._continuing.intersection(symbols[:1]) else self._form(symbols)
            found = symbols if form is None else self._representatives.setdefault(form, symbols)
            self._representative_of[symbols] = found
        return found

    def _form(self, symbols: tuple[int, ...]) -> Form | None:
        """What decides how a group may go on before and after *symbols*; None if that is more than a form."""
        start = self._forward.start(self._line_starts)
        last = self._forward.earley.read(start, symbols)
        end = last and self._forward.earley.scan(last, (self._newline,))
        if last is None or end is None:
            return None
        unfinished = [(state, origin) for state, origin in end.entries if state.by_symbol]
        after_break = [(state, origin) for state, origin in unfinished if origin is not start]
        waiting = last.waiting if after_break else ()
        if any(origin is not last for _, origin in after_break) or any(
            origin is not start for _, origin in waiting
        ):
            return None
        return (
            end.completed_from(start),
            frozenset(state for state, origin in unfinished if origin is start),
            frozenset(state for state, _ in after_break),
            frozenset(state for state, _ in waiting),
        )


def _after(productions: Sequence[Production], breaks: Collection[int]) -> frozenset[int]:
    """The symbols that may stand directly after one that ends with any of *breaks*, in a production."""
    ending = set(breaks)
    while fresh := {p.lhs for p in productions if p.rhs[-1] in ending} - ending:
        ending |= fresh
    return frozenset(b for production in productions for a, b in pairwise(production.rhs) if a in ending)
