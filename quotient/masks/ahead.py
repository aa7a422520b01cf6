"""Answers for all cursors: which texts may follow an operator or opening bracket, whatever precedes it.

After such a symbol, an operator or an opening bracket, nothing is complete yet. What may follow then depends
on the rules in which the symbol stands, not on where they began. Only where one of them is completed does
that matter; these questions are left to `asking.py`, which knows the cursor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Symbol
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import EarleySet, Entry
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.grouping.groups import Alike, Groups
from fimlsp.quotient.masks.text_trie import Ints

_MOST_ANSWERS, _MOST_KERNELS = 20_000, 5_000

Kernel = frozenset[State]


class OriginNeededError(Exception):
    """Where a rule began decides, and is not known."""


class _UnknownOrigin(EarleySet):
    """Stands for the sets at which the rules of a kernel began."""

    __slots__ = ()

    def __init__(self) -> None:
        self.last_completions = {}

    @property
    def entries(self) -> tuple[Entry, ...]:  # type: ignore[override]  # slots of all other sets
        """Some, which nobody looks at."""
        return _SOME

    @property
    def predicted(self) -> Predicted:  # type: ignore[override]  # as `entries`
        """Unknown."""
        raise OriginNeededError

    @property
    def waiting(self) -> tuple[Entry, ...]:  # type: ignore[override]  # as `entries`
        """Unknown."""
        raise OriginNeededError


_UNKNOWN = _UnknownOrigin()
_SOME: tuple[Entry, ...] = ((None, _UNKNOWN),)  # type: ignore[assignment]  # nobody looks at its state


class Answer(NamedTuple):
    """The groups that may come behind a kernel, and the questions that are left.

    `left` are nodes with the symbols that lead there from the kernel. `asked` are groups that need more of
    the parser than which symbols it expects.
    """

    allowed: Ints
    left: tuple[tuple[tuple[Symbol, ...], int], ...]
    asked: tuple[tuple[tuple[Symbol, ...], Alike], ...]


class Ahead:
    """Answers about the groups of a mask store."""

    def __init__(self, tables: LanguageTables) -> None:
        self._tables = tables
        self._rules = tables.forward.rules
        self._goto = tables.forward.earley.automaton.goto
        self._answers: BoundedDict[tuple[Groups, int, Kernel], Answer] = BoundedDict(_MOST_ANSWERS)
        self._sets: BoundedDict[Kernel, EarleySet] = BoundedDict(_MOST_KERNELS)

    def kernel(self, chart: EarleySet, terminal: int) -> Kernel | None:
        """The states that *terminal* leads to after *chart*; None if more than these decides what follows."""
        states: list[State] = []
        rules = self._rules
        for state, _ in chart.entries:
            if terminal in state.by_symbol:
                if state.rules is not rules or (after := self._goto(state, terminal)).completed:
                    return None
                states.append(after)
        for state in chart.predicted.after(terminal):
            if state.completed or state.rules is not rules:
                return None
            states.append(state)
        return frozenset(states)

    def answer(self, groups: Groups, node: int, kernel: Kernel) -> Answer:
        """What is known of the groups of *node*, and of those behind it, after *kernel*."""
        key = groups, node, kernel
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._walk(groups, node, kernel)
        return found

    def _set(self, kernel: Kernel) -> EarleySet:
        found = self._sets.get(kernel)
        if found is None:
            entries = tuple([(state, _UNKNOWN) for state in kernel])
            wanted = frozenset(symbol for state in kernel for symbol in state.expected)
            waiting = tuple([entry for entry in entries if entry[0].expected])
            predicted = self._tables.forward.earley.automaton.predicted(wanted)
            found = self._sets[kernel] = EarleySet(entries, predicted, waiting)
        return found

    def _walk(self, groups: Groups, node: int, kernel: Kernel) -> Answer:
        earley, terminal_of = self._tables.forward.earley, self._tables.terminal_of
        allowed: list[Ints] = []
        left: list[tuple[tuple[Symbol, ...], int]] = []
        asked: list[tuple[tuple[Symbol, ...], Alike]] = []
        waiting: list[tuple[int, EarleySet, tuple[Symbol, ...]]] = [(node, self._set(kernel), ())]
        while waiting:
            node, chart, path = waiting.pop()
            expected = chart.predicted.expected_bits
            for state, _ in chart.entries:
                expected |= state.expected_bits
            for alike in groups.alike(node, self._tables):
                symbols, more = alike.need
                if symbols < 0 or symbols & expected:
                    allowed.append(alike.numbers)
                elif more:
                    asked.append((path, alike))
            for symbol, child in groups.children[node]:
                if isinstance(symbol, Column):
                    left.append(((*path, symbol), child))
                    continue
                terminal = terminal_of[symbol]
                if terminal < 0 or not expected >> terminal & 1:
                    continue
                try:
                    after = earley.scan(chart, (terminal,))
                except OriginNeededError:
                    left.append(((*path, symbol), child))
                    continue
                if after is not None:
                    waiting.append((child, after, (*path, symbol)))
        numbers = np.concatenate(allowed) if allowed else np.zeros(0, np.int32)
        return Answer(numbers, tuple(left), tuple(asked))
