"""Finds classes of logical lines that no context can tell apart, with one representative each.

After a whole logical line only two things matter: which rules it completes, and which rules continue on other
lines. Most lines of a file are equivalent in this sense, for instance all simple statements, or all headers
of `while` loops. So each class has one representative, and contexts read the representative, in both
directions. Every line itself is parsed just once, forwards.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import pairwise
from typing import Protocol

from fimlsp.lexing.bounded_dict import MEGABYTE, WeighedDict
from fimlsp.quotient.earley.automaton import State
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.cfg import Grammar, Production

Form = tuple[frozenset[int], frozenset[State], frozenset[State], frozenset[State]]
"""What a line is: the nonterminals that it derives, and three sets of states.

These are the states of unfinished rules that began with the line, of those that began with its line end, and
of those that wait for the latter.
"""


class Forward(Protocol):
    """The forward recogniser, as far as `LineClasses` uses it (a `Direction`)."""

    earley: Earley

    def start(self, symbols: frozenset[int]) -> EarleySet:
        """The set before a line that may begin any of *symbols*; the same object for equal *symbols*."""


class LineClasses:
    """Finds the representative of a line.

    Where rules are copied for places (see `grammar/places.py`), a line that means the same in all of them is
    read in the first.

    *suites* are the symbols of nested blocks, *bodies* those of groups, and *lists* the repetitions of
    *bodies*.
    """

    __slots__ = (
        "_continuing",
        "_copies",
        "_forward",
        "_line_starts",
        "_newline",
        "_place_words",
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
        self._copies = grammar.copies
        self._place_words = grammar.place_words
        self._forward = forward
        self._representative_of = WeighedDict[tuple[int, ...], tuple[int, ...]](
            4 * MEGABYTE, lambda symbols, _: 150 + 8 * len(symbols)
        )
        self._representatives: dict[Form, tuple[int, ...]] = {}

    @property
    def start(self) -> EarleySet:
        """The set before any line."""
        return self._forward.start(self._line_starts)

    def representative(self, symbols: tuple[int, ...]) -> tuple[int, ...]:
        """The representative of the logical line *symbols*; neither includes its line end.

        It may replace the line in every group. The first line of a class represents it; a line that cannot be
        classified represents itself. Amortised O(line).
        """
        found = self._representative_of.get(symbols)
        if found is None:
            form = None if self._continuing.intersection(symbols[:1]) else self._form(symbols)
            found = symbols if form is None else self._representatives.setdefault(form, symbols)
            self._representative_of[symbols] = found
        return found

    def _form(self, symbols: tuple[int, ...]) -> Form | None:
        """The class of the line *symbols*; None if it cannot be described by a `Form`."""
        start = self.start
        if self._copies and self._place_words.isdisjoint(symbols):
            start = self._forward.start(self._line_starts - self._copies)
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
    """The symbols that some production allows directly after a symbol that ends with one of *breaks*."""
    ending = set(breaks)
    while fresh := {p.lhs for p in productions if p.rhs[-1] in ending} - ending:
        ending |= fresh
    return frozenset(b for production in productions for a, b in pairwise(production.rhs) if a in ending)
