"""Texts grouped by what they mean to the parser: the symbols they finish, and the lexer state they end in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.modes import ModeStack
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.grouping.ends import Ends, Within
from fimlsp.quotient.masks.grouping.node import Node
from fimlsp.quotient.masks.texts.text_trie import Ints, smallest
from fimlsp.quotient.masks.viability import Fallback, Need

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE = 10, 300
_OF_DEAD_GROUP = np.zeros(1, np.int32)

_numbers = count()


class DifferentEnds(NamedTuple):
    """The states that groups end in, each once: their numbers, and their states of the automaton.

    `surroundings` are states in all of which something else is open around the lexeme; `around` says which is
    that of each. `of_group` says for each group which its state is.
    """

    numbers: Ints
    dfa_states: Ints
    surroundings: tuple[LexerState, ...]
    around: Ints
    of_group: Ints


class Groups:
    """Groups of texts, in a trie of the symbols that they finish.

    Node 0 is the root; nodes are numbered in preorder, and groups by nodes, so what stands at a node and
    below are numbers in a row. `children[node]` holds pairs of a symbol and a node. `end_of` is the number of
    the state that each group ends in. The *ends* are shared by all groups of a vocabulary. What is remembered
    of groups goes by their `number`, so that it does not hold them. They may all be ends *within* a lexeme.
    """

    def __init__(
        self,
        ends: Ends,
        children: list[list[tuple[Symbol, int]]],
        node_of: Ints,
        end_of: Ints,
        within: Within | None = None,
    ) -> None:
        """The groups from 1 on are at these nodes, in order, and have these ends."""
        self.number = next(_numbers)
        self.ends = ends
        self.children = children
        self.end_of: Ints = np.concatenate((_OF_DEAD_GROUP, end_of))
        self.parents = [0] * len(children)
        for node, pairs in enumerate(children):
            for _, child in pairs:
                self.parents[child] = node
        self._firsts: list[int] = (np.searchsorted(node_of, np.arange(len(children) + 1)) + 1).tolist()
        self._ends_below = list(range(1, 1 + len(children)))  # the next node in preorder that is not below
        for node in range(len(children) - 1, 0, -1):
            parent = self.parents[node]
            self._ends_below[parent] = max(self._ends_below[parent], self._ends_below[node])
        self._said: list[Node | None] = [None] * len(children)
        self._within = within

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.end_of)

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        return _BYTES_PER_GROUP * self.n_groups + _BYTES_PER_NODE * len(self.children)

    def at(self, node: int, tables: LanguageTables) -> Node:
        """What is said of a node."""
        found = self._said[node]
        if found is None:
            found = self._said[node] = self._say(node, tables)
        return found

    def _needs(self, node: int, tables: LanguageTables) -> list[Need]:
        if self._within is not None:
            return self.ends.needs_within(self._within, tables)
        ends = self.end_of[self._firsts[node] : self._firsts[node + 1]].tolist()
        return [self.ends.need(end, tables) for end in ends]

    def _say(self, node: int, tables: LanguageTables) -> Node:
        always, asked, undecided, symbols = 0, 0, 0, 0
        needed: dict[int, int] = {}
        fallbacks: dict[Fallback, int] = {}
        bit = 1
        for needs, more, fallback in self._needs(node, tables):
            if needs < 0:
                always |= bit
            else:
                if more:
                    asked |= bit
                else:
                    undecided |= bit
                if fallback is not None:
                    fallbacks[fallback] = fallbacks.get(fallback, 0) | bit
                    symbols |= 1 << fallback.terminal
                if needs:
                    needed[needs] = needed.get(needs, 0) | bit
                    symbols |= needs
            bit <<= 1
        children, columns = self._ways_on(node, tables)
        for terminal, _ in children:
            symbols |= 1 << terminal
        return Node(
            first=self._firsts[node],
            always=always,
            asked=asked,
            needed=tuple(needed.items()),
            undecided=undecided,
            fallbacks=tuple(fallbacks.items()),
            symbols=symbols,
            children=children,
            columns=columns,
        )

    def _ways_on(
        self, node: int, tables: LanguageTables
    ) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[Column, int], ...]]:
        children: list[tuple[int, int]] = []
        columns: list[tuple[Column, int]] = []
        for symbol, child in self.children[node]:
            if isinstance(symbol, Column):
                columns.append((symbol, child))
            elif (terminal := tables.terminal_of[symbol]) >= 0:
                children.append((terminal, child))
        return tuple(children), tuple(columns)

    def numbers(self, node: int) -> range:
        """The groups of a node."""
        return range(self._firsts[node], self._firsts[node + 1])

    def from_on(self, nodes: Iterable[int]) -> int:
        """The bit set of the groups of *nodes*, and of all nodes that these lead to."""
        found = 0
        for node in nodes:
            found |= (1 << self._firsts[self._ends_below[node]]) - (1 << self._firsts[node])
        return found

    def node_of(self, number: int) -> int:
        """The node of a group."""
        return bisect_right(self._firsts, number) - 1

    @property
    def nodes_of_all(self) -> Ints:
        """The nodes of all groups from 1 on."""
        return np.repeat(np.arange(len(self.children), dtype=np.int32), np.diff(self._firsts))

    @cached_property
    def different_ends(self) -> DifferentEnds:
        """The states that groups end in."""
        numbers, of_group = np.unique(self.end_of, return_inverse=True)
        lexers = [self.ends.around[number] for number in numbers.tolist()]
        which: dict[tuple[ModeStack, tuple[int, int]], int] = {}
        around = [which.setdefault((lexer.modes, lexer.equal_run), len(which)) for lexer in lexers]
        return DifferentEnds(
            numbers,
            self.ends.dfa_states(numbers),
            tuple([lexers[around.index(each)] for each in which.values()]),
            np.array(around, np.int32),
            of_group.astype(smallest(len(numbers))),
        )

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The symbol that leads to each node; nobody asks for that of the root."""
        found: list[Symbol] = [0] * len(self.children)
        for pairs in self.children:
            for symbol, child in pairs:
                found[child] = symbol
        return found


def after_lexeme(lexer: LexerState, kind: int) -> tuple[LexerState, list[Symbol]] | None:
    """The state at the start of the next lexeme, if that in progress ends here as one of *kind*."""
    step = lexer._replace(state=0, accepted=kind, leftover=b"").finish()
    return None if step is None else (step.lexer, step.symbols)


def bits_of(truths: NDArray[np.bool_]) -> int:
    """The bit set of the numbers of what is true."""
    return int.from_bytes(np.packbits(truths, bitorder="little").tobytes(), "little")


def truths_of(bits: int, count: int) -> NDArray[np.bool_]:
    """For each number below *count* whether it is in a bit set."""
    data = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").view(np.bool_)


def members(bits: int) -> list[int]:
    """The numbers in a bit set."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
