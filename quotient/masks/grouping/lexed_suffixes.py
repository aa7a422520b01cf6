"""Reads all suffixes of a vocabulary from the start of a lexeme, and groups them.

One step reads a lexeme of every suffix that is not read yet, in arrays; what only few suffixes need, and what
the automaton alone does not decide, is left to the lexer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.masks.grouping.ends import Ends
from fimlsp.quotient.masks.grouping.first_lexemes import FirstLexemes
from fimlsp.quotient.masks.grouping.group_builder import GroupBuilder
from fimlsp.quotient.masks.grouping.groups import Groups, after_lexeme
from fimlsp.quotient.masks.texts.suffixes import Suffixes
from fimlsp.quotient.masks.texts.text_trie import Ints, smallest

_SPACE = b" "
_FEW = 48
"""Up to this many texts are read one by one rather than in arrays."""

Mask = NDArray[np.bool_]


class LexedSuffixes(NamedTuple):
    """The suffixes of a vocabulary, read from one state on: their *groups*, and the group of each.

    Where a line begins in that state, those are left out that `first_in_line` has.
    """

    groups: Groups
    of_suffix: Ints

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        return self.of_suffix.nbytes + self.groups.n_bytes


def lexed_suffixes(
    suffixes: Suffixes, start: LexerState, first: Callable[[int], FirstLexemes], ends: Ends
) -> LexedSuffixes:
    """The *suffixes*, read from *start*, a state between two lexemes.

    *first* gives their first lexemes by the state of the automaton.
    """
    reader = _Reader(suffixes, start, first, ends)
    groups, numbers = reader.groups.finish()
    return LexedSuffixes(groups, numbers[reader.of_suffix].astype(smallest(groups.n_groups)))


class FirstInLine(NamedTuple):
    """Suffixes that begin the first lexeme of a line behind the same white space.

    `numbers` are theirs, `rests` those of what is left behind that. The white space gives `symbols`, and
    leads to `lexer`.
    """

    symbols: tuple[Symbol, ...]
    lexer: LexerState
    numbers: Ints
    rests: Ints


def first_in_line(suffixes: Suffixes, lexer: LexerState) -> Iterator[FirstInLine]:
    """The suffixes that begin the first lexeme of the line that *lexer* is in, at once or behind a space.

    That are nearly all. What such a lexeme means hardly depends on the line, so they are read once for all.
    """
    if lexer.margin is None or lexer.modes.depth or not lexer.at_lexeme_start:
        return
    lexical, firsts = lexer.lexical, suffixes.first_bytes
    is_code = ~np.isin(firsts, np.array(sorted({-1, *lexical.quiet}), np.int32))
    at_once = lexer.start_line(b"")
    if at_once is not None:
        numbers = np.flatnonzero(is_code).astype(np.int32)
        yield FirstInLine(tuple(at_once.symbols), at_once.lexer, numbers, numbers)
    blank = lexer.feed(_SPACE)
    ended = blank and blank.lexer.accepted == lexical.space and blank.lexer.finish()
    behind = ended and ended.lexer.margin is not None and ended.lexer.start_line(b"")
    if blank and ended and behind:
        numbers = np.flatnonzero(firsts == _SPACE[0]).astype(np.int32)
        rests = suffixes.after[suffixes.start[numbers] + 1]
        row = np.array(lexical.dfa.rows[blank.lexer.state])
        chosen = is_code[rests]
        chosen[chosen] = row[firsts[rests[chosen]]] == 0
        symbols = (*blank.symbols, *ended.symbols, *behind.symbols)
        yield FirstInLine(symbols, behind.lexer, numbers[chosen], rests[chosen])


class _Reader:
    """Reads all suffixes but those that are first in a line that begins at the start."""

    def __init__(
        self, suffixes: Suffixes, start: LexerState, first: Callable[[int], FirstLexemes], ends: Ends
    ) -> None:
        self.groups = GroupBuilder(ends)
        self.of_suffix = np.zeros(len(suffixes), np.int32)
        self._suffixes = suffixes
        self._first = first
        self._lexical = start.lexical
        is_read = np.ones(len(suffixes), np.bool_)
        for first_ones in first_in_line(suffixes, start):
            is_read[first_ones.numbers] = False
        everything = np.flatnonzero(is_read).astype(np.int32)
        self._waiting: dict[LexerState, list[tuple[Ints, Ints, Ints]]] = {}
        self._wait(start, everything, everything, np.zeros_like(everything))
        while self._waiting:
            checkpoint()
            lexer = max(self._waiting, key=self._n_waiting)
            parts = self._waiting.pop(lexer)
            items, rests, nodes = (np.concatenate(column) for column in zip(*parts, strict=True))
            self._read(lexer, items, rests, nodes)

    def _n_waiting(self, lexer: LexerState) -> int:
        return sum(len(items) for items, _, _ in self._waiting[lexer])

    def _wait(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Note that of *items* the *rests* are left, to be read from *lexer* on, behind *nodes*."""
        if len(items):
            self._waiting.setdefault(lexer, []).append((items, rests, nodes))

    def _read(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Read one lexeme of each of *rests*."""
        if len(items) <= _FEW:
            self._read_one_by_one(lexer, items, rests, nodes)
            return
        if lexer.margin is not None:
            items, rests, nodes = self._lay_out(lexer, items, rests, nodes)
        first = self._first(lexer.state)
        singly = first.checked[rests] | self._singly(lexer, rests)
        self._read_one_by_one(lexer, items[singly], rests[singly], nodes[singly])
        items, rests, nodes = items[~singly], rests[~singly], nodes[~singly]
        inside = first.states[rests] != 0
        self._end(lexer, first, items[inside], rests[inside], nodes[inside])
        ended = ~inside & (first.kinds[rests] >= 0)
        self._go_on(lexer, first, items[ended], rests[ended], nodes[ended])

    def _read_one_by_one(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> None:
        texts = self._suffixes.texts
        for item, rest, node in zip(items.tolist(), rests.tolist(), nodes.tolist(), strict=True):
            self.of_suffix[item] = self.groups.read(node, lexer, texts[rest])

    def _singly(self, lexer: LexerState, rests: Ints) -> Mask:
        """Which of *rests* hold a byte that what is open forbids, once or three times in a row."""
        found = np.zeros(len(rests), np.bool_)
        for byte in lexer.modes.forbidden | lexer.modes.forbidden_thrice:
            found |= self._suffixes.holding(byte)[rests]
        return found

    def _lay_out(self, lexer: LexerState, items: Ints, rests: Ints, nodes: Ints) -> tuple[Ints, Ints, Ints]:
        """Begin the line of those whose next byte does, and return the others."""
        quiet = np.array(sorted({-1, *self._lexical.quiet}), np.int32)
        begins = ~np.isin(self._suffixes.first_bytes[rests], quiet)
        step = lexer.start_line(b"")
        assert step is not None
        self._wait(step.lexer, items[begins], rests[begins], self._moved(nodes[begins], step.symbols))
        return items[~begins], rests[~begins], nodes[~begins]

    def _moved(self, nodes: Ints, symbols: list[Symbol]) -> Ints:
        """The nodes that *symbols* lead to from *nodes*."""
        if not symbols or not len(nodes):
            return nodes
        found, inverse = np.unique(nodes, return_inverse=True)
        moved = np.array([self.groups.node(node, symbols) for node in found.tolist()], np.int32)
        return moved[inverse]

    def _end(self, lexer: LexerState, first: FirstLexemes, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Group those that end inside a lexeme, or at its start."""
        if not len(items):
            return
        suffixes, kinds = self._suffixes, first.kinds[rests]
        extra = suffixes.after[suffixes.start[rests] + first.ends[rests]]  # the bytes since the lexeme's end
        extra[(kinds < 0) | (kinds == self._lexical.bad)] = 0
        if lexer.margin is not None:
            blank = kinds == self._lexical.space
            extra[blank] = rests[blank]  # the column is a matter of what was read
        keys = (nodes.astype(np.int64) * len(self._lexical.dfa.rows) + first.states[rests]) * (
            len(self._lexical.kinds) + 1
        ) + (kinds + 1)
        keys = keys * len(suffixes) + extra
        _, where, inverse = np.unique(keys, return_index=True, return_inverse=True)
        columns = (column[where].tolist() for column in (nodes, first.states[rests], kinds, extra))
        groups = [
            self.groups.add(node, self.groups.ends.number(self._inside(lexer, state, kind, since)))
            for node, state, kind, since in zip(*columns, strict=True)
        ]
        self.of_suffix[items] = np.array(groups, np.int32)[inverse]

    def _inside(self, lexer: LexerState, state: int, kind: int, since: int) -> LexerState:
        """The state in a lexeme begun in *lexer*; *since* numbers the bytes since its last end."""
        text = self._suffixes.texts[since]
        if lexer.margin is not None and kind == self._lexical.space:
            return lexer._replace(state=state, accepted=kind, margin=lexer.margin.after(text))
        return lexer._replace(state=state, accepted=kind, leftover=text)

    def _go_on(self, lexer: LexerState, first: FirstLexemes, items: Ints, rests: Ints, nodes: Ints) -> None:
        """Go on behind the first lexemes of those that hold more than one."""
        suffixes, kinds, ends = self._suffixes, first.kinds[rests], first.ends[rests]
        left = suffixes.after[suffixes.start[rests] + ends]
        for kind in set(kinds.tolist()):
            chosen = kinds == kind
            if kind == self._lexical.space and lexer.margin is not None:
                self._indent(lexer, items[chosen], rests[chosen], left[chosen], nodes[chosen], ends[chosen])
                continue
            following = after_lexeme(lexer, kind)
            if following is not None:
                moved = self._moved(nodes[chosen], following[1])
                self._wait(following[0], items[chosen], left[chosen], moved)

    def _indent(
        self, lexer: LexerState, items: Ints, rests: Ints, left: Ints, nodes: Ints, ends: Ints
    ) -> None:
        """Go on behind white space that counts as indentation."""
        runs, texts = self._suffixes.blank_runs
        found, inverse = np.unique(runs[rests], return_inverse=True)
        for number, run in enumerate(found.tolist()):
            step = lexer.feed(texts[run])
            finished = step and step.lexer.finish()
            chosen = (inverse == number) & (ends == len(texts[run]))
            odd = (inverse == number) & ~chosen
            self._read_one_by_one(lexer, items[odd], rests[odd], nodes[odd])
            if step is not None and finished is not None:
                moved = self._moved(nodes[chosen], [*step.symbols, *finished.symbols])
                self._wait(finished.lexer, items[chosen], left[chosen], moved)
