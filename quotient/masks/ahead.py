"""Answers ahead: which texts may follow an operator or opening bracket, whatever precedes it.

After such a symbol, an operator or an opening bracket, nothing is complete yet. What may follow then depends
on the rules in which the symbol stands, not on where they began. Only where one of them is completed does
that matter; these questions are left to `asking.py`. Where all rules are those of the language, the answer
holds at all cursors, else at all places of one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Symbol
from fimlsp.quotient.earley.automaton import Predicted, State
from fimlsp.quotient.earley.sets import Earley, EarleySet, Entry
from fimlsp.quotient.grammar.rules import Rules
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.grouping.groups import Alike, Groups, Known
from fimlsp.quotient.masks.repetition import changes_nothing
from fimlsp.quotient.masks.text_trie import Ints

_MOST_KERNELS = 5_000

Kernel = frozenset[State]


class OriginNeededError(Exception):
    """Where a rule began decides, and is not known."""


class UnknownOrigin(EarleySet):
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


_UNKNOWN = UnknownOrigin()
_SOME: tuple[Entry, ...] = ((None, _UNKNOWN),)  # type: ignore[assignment]  # nobody looks at its state


class Answer(NamedTuple):
    """The groups that may come behind a kernel, and the questions that are left.

    `left` are nodes with the symbols that lead there from the kernel. `asked` are groups that need more of
    the parser than which symbols it expects.
    """

    allowed: Ints
    left: tuple[tuple[tuple[Symbol, ...], int], ...]
    asked: tuple[tuple[tuple[Symbol, ...], Alike], ...]


Straddling = Callable[[Groups, Known, int], Ints]
"""Which groups end in a lexeme that may straddle the end of the middle where some symbols are expected."""


class Ahead:
    """Answers about groups with the grammar of *earley*, which is that of a language, or of middles in it.

    The rules *right* are those that end in the right context. It remembers at *most* so many.
    """

    def __init__(self, tables: LanguageTables, earley: Earley, most: int, right: Rules | None = None) -> None:
        self._right = right
        self._tables = tables
        self._earley = earley
        self._rules = tables.forward.rules
        self._answers: BoundedDict[tuple[Groups, int, Kernel], Answer] = BoundedDict(most)
        self._sets: BoundedDict[Kernel, EarleySet] = BoundedDict(_MOST_KERNELS)
        self._scans: BoundedDict[tuple[EarleySet, int], EarleySet | None] = BoundedDict(_MOST_KERNELS)

    def kernel(self, chart: EarleySet, terminal: int) -> tuple[Kernel, bool] | None:
        """The states that *terminal* leads to after *chart*, and whether all are of the language alone.

        None if more than these states decides what follows.
        """
        states: list[State] = []
        rules, of_language = self._rules, True
        goto = self._earley.automaton.goto
        for state, _ in chart.entries:
            if terminal in state.by_symbol:
                after = state.gotos.get(terminal) or goto(state, terminal)
                if after.completed:
                    return None
                of_language = of_language and after.rules is rules
                states.append(after)
        for state in chart.predicted.after(terminal):
            if state.completed:
                return None
            of_language = of_language and state.rules is rules
            states.append(state)
        return frozenset(states), of_language

    def answer(self, groups: Groups, node: int, kernel: Kernel, straddling: Straddling) -> Answer:
        """What is known of the groups of *node*, and of those behind it, after *kernel*."""
        key = groups, node, kernel
        found = self._answers.get(key)
        if found is None:
            found = self._answers[key] = self._walk(groups, node, kernel, straddling)
        return found

    def _set(self, kernel: Kernel) -> EarleySet:
        found = self._sets.get(kernel)
        if found is None:
            entries = tuple([(state, _UNKNOWN) for state in kernel])
            wanted = frozenset(symbol for state in kernel for symbol in state.expected)
            waiting = tuple([entry for entry in entries if entry[0].expected])
            predicted = self._earley.automaton.predicted(wanted)
            found = self._sets[kernel] = EarleySet(entries, predicted, waiting)
        return found

    def _walk(self, groups: Groups, node: int, kernel: Kernel, straddling: Straddling) -> Answer:
        terminal_of = self._tables.terminal_of
        allowed: list[Ints] = []
        left: list[tuple[tuple[Symbol, ...], int]] = []
        asked: list[tuple[tuple[Symbol, ...], Alike]] = []
        waiting: list[tuple[int, EarleySet, tuple[Symbol, ...]]] = [(node, self._set(kernel), ())]
        while waiting:
            node, chart, path = waiting.pop()
            expected = chart.predicted.expected_bits
            for state, _ in chart.entries:
                expected |= state.expected_bits
            known = groups.known(node, expected, self._tables)
            allowed += known.allowed, straddling(groups, known, expected)
            asked += [(path, alike) for alike in known.asked]
            for symbol, child in groups.children[node]:
                if isinstance(symbol, Column):
                    left.append(((*path, symbol), child))
                    continue
                terminal = terminal_of[symbol]
                if terminal < 0 or not expected >> terminal & 1:
                    continue
                after = self._after(chart, terminal)
                if after is _UNKNOWN:
                    left.append(((*path, symbol), child))
                elif after is not None:
                    waiting.append((child, after, (*path, symbol)))
        numbers = np.concatenate(allowed) if allowed else np.zeros(0, np.int32)
        return Answer(numbers, tuple(left), tuple(asked))

    def _after(self, chart: EarleySet, terminal: int) -> EarleySet | None:
        """The set after *terminal*, `_UNKNOWN` where an origin decides, *chart* itself if nothing changes."""
        key = chart, terminal
        if key not in self._scans:
            try:
                after = self._earley.scan(chart, (terminal,))
                if after is not None and changes_nothing(chart, after, self._rules, self._right):
                    after = chart
            except OriginNeededError:
                after = _UNKNOWN
            self._scans[key] = after
        return self._scans[key]
