"""Texts grouped by their meaning to the parser: the symbols they complete, and the lexer state at their end.

Masks are computed for groups rather than texts; sets of groups are the bits of one integer.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.end_states import EndStates, Fallback, LexemeEnds, Need
from fimlsp.quotient.masks.texts import Ints, smallest
from fimlsp.quotient.masks.vocabulary import BoolMask

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE = 10, 300
_OF_DEAD_GROUP = np.zeros(1, np.int32)

_numbers = count()


class Node(NamedTuple):
    """A node in the trie of the symbols that texts complete, with the groups and edges there.

    Bit sets are of groups, counted from the `first` group of the node:

    - `always`: viable wherever the symbols up to the node are read.
    - `uncertain`: may be viable for more reasons than the expected symbols; the parser decides.
    - `needed`: pairs of the symbols that some groups need, and these groups.
    - `undecided`: groups that may also be part of a lexeme across the end of the middle.
    - `fallbacks`: pairs of a condition under which lexemes may have ended earlier, and these groups.

    The bit set `symbols` has all symbols that are needed or lead to a child. `children` are pairs of a
    terminal and a node, `columns` are pairs of the column of a new line and a node.
    """

    first: int
    always: int
    uncertain: int
    needed: tuple[tuple[int, int], ...]
    undecided: int
    fallbacks: tuple[tuple[Fallback, int], ...]
    symbols: int
    children: tuple[tuple[int, int], ...]
    columns: tuple[tuple[Column, int], ...]


class DifferentEnds(NamedTuple):
    """The states in which groups end, each once: their numbers, and their states of the automaton.

    `surroundings` are states with different open brackets and strings. `around` has the index of one of
    these for each end, `of_group` the index of the end for each group.
    """

    numbers: Ints
    dfa_states: Ints
    surroundings: tuple[LexerState, ...]
    around: Ints
    of_group: Ints


class Groups:
    """Groups of texts, in a trie of the symbols that they complete.

    Node 0 is the root. Nodes are numbered in preorder, and groups by nodes, so the groups at a node and below
    are consecutive. `children[node]` holds pairs of a symbol and a node. `end_of` has the number of the end
    state of each group. The *ends* are shared by all groups of a vocabulary. Caches refer to groups by their
    `number`, so that they do not keep them alive.
    """

    def __init__(
        self,
        ends: EndStates,
        children: list[list[tuple[Symbol, int]]],
        node_of: Ints,
        end_of: Ints,
        within: LexemeEnds | None = None,
    ) -> None:
        """The groups from 1 on are at these nodes, in order, and have these ends.

        With *within* all of them end within that lexeme.
        """
        self.number = next(_numbers)
        self.ends = ends
        self.children = children
        self.end_of: Ints = np.concatenate((_OF_DEAD_GROUP, end_of))
        self.parents = [0] * len(children)
        for node, pairs in enumerate(children):
            for _, child in pairs:
                self.parents[child] = node
        self._firsts: list[int] = (np.searchsorted(node_of, np.arange(len(children) + 1)) + 1).tolist()
        self._after_subtree = list(range(1, 1 + len(children)))
        for node in range(len(children) - 1, 0, -1):
            parent = self.parents[node]
            self._after_subtree[parent] = max(self._after_subtree[parent], self._after_subtree[node])
        self._nodes: list[Node | None] = [None] * len(children)
        self._within = within

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return len(self.end_of)

    @property
    def n_bytes(self) -> int:
        """Approximate memory size."""
        return _BYTES_PER_GROUP * self.n_groups + _BYTES_PER_NODE * len(self.children)

    def at(self, number: int, tables: LanguageTables) -> Node:
        """The node of this *number*."""
        node = self._nodes[number]
        if node is None:
            node = self._nodes[number] = self._node(number, tables)
        return node

    def _needs(self, node: int, tables: LanguageTables) -> list[Need]:
        if self._within is not None:
            return self.ends.needs_within(self._within, tables)
        ends = self.end_of[self._firsts[node] : self._firsts[node + 1]].tolist()
        return [self.ends.need(end, tables) for end in ends]

    def _node(self, node: int, tables: LanguageTables) -> Node:
        always, uncertain, undecided, symbols = 0, 0, 0, 0
        needed: dict[int, int] = {}
        fallbacks: dict[Fallback, int] = {}
        bit = 1
        for needs, more, fallback in self._needs(node, tables):
            if needs < 0:
                always |= bit
            else:
                if more:
                    uncertain |= bit
                else:
                    undecided |= bit
                if fallback is not None:
                    fallbacks[fallback] = fallbacks.get(fallback, 0) | bit
                    symbols |= 1 << fallback.terminal
                if needs:
                    needed[needs] = needed.get(needs, 0) | bit
                    symbols |= needs
            bit <<= 1
        children, columns = self._edges(node, tables)
        for terminal, _ in children:
            symbols |= 1 << terminal
        return Node(
            first=self._firsts[node],
            always=always,
            uncertain=uncertain,
            needed=tuple(needed.items()),
            undecided=undecided,
            fallbacks=tuple(fallbacks.items()),
            symbols=symbols,
            children=children,
            columns=columns,
        )

    def _edges(
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
        """The groups at a node."""
        return range(self._firsts[node], self._firsts[node + 1])

    def in_subtrees(self, nodes: Iterable[int]) -> int:
        """The bit set of the groups at *nodes* and below them."""
        bits = 0
        for node in nodes:
            bits |= (1 << self._firsts[self._after_subtree[node]]) - (1 << self._firsts[node])
        return bits

    def node_of(self, number: int) -> int:
        """The node of a group."""
        return bisect_right(self._firsts, number) - 1

    @property
    def nodes_of_all(self) -> Ints:
        """The nodes of all groups from 1 on."""
        return np.repeat(np.arange(len(self.children), dtype=np.int32), np.diff(self._firsts))

    @cached_property
    def different_ends(self) -> DifferentEnds:
        """The different states in which groups end."""
        numbers, of_group = np.unique(self.end_of, return_inverse=True)
        lexers = [self.ends.around[number] for number in numbers.tolist()]
        index_of: dict[tuple[ModeStack, tuple[int, int]], int] = {}
        around = [index_of.setdefault((lexer.modes, lexer.equal_run), len(index_of)) for lexer in lexers]
        return DifferentEnds(
            numbers,
            self.ends.dfa_states(numbers),
            tuple([lexers[around.index(index)] for index in index_of.values()]),
            np.array(around, np.int32),
            of_group.astype(smallest(len(numbers))),
        )

    @cached_property
    def symbols(self) -> list[Symbol]:
        """The symbol that leads to each node; that of the root is unused."""
        symbols: list[Symbol] = [0] * len(self.children)
        for pairs in self.children:
            for symbol, child in pairs:
                symbols[child] = symbol
        return symbols


class GroupBuilder:
    """Groups in the making, with their *ends*; node 0 is the root. They are put in order at the end."""

    def __init__(self, ends: EndStates) -> None:
        self.ends = ends
        self._children: list[list[tuple[Symbol, int]]] = [[]]
        self._added = [(0, 0)]
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._read: dict[tuple[int, int], int] = {}

    def node(self, node: int, symbols: Iterable[Symbol]) -> int:
        """The node to which *symbols* lead from *node*."""
        for symbol in symbols:
            child = self._nodes.get((node, symbol))
            if child is None:
                child = self._nodes[node, symbol] = len(self._children)
                self._children[node].append((symbol, child))
                self._children.append([])
            node = child
        return node

    def add(self, node: int, end: int) -> int:
        """A new group of texts that complete the symbols of *node* and end in the state of number *end*."""
        self._added.append((node, end))
        return len(self._added) - 1

    def add_all(self, node: int, ends: Sequence[int]) -> range:
        """New groups at *node*, as `add` adds one, for all of *ends*."""
        first = len(self._added)
        self._added += [(node, end) for end in ends]
        return range(first, len(self._added))

    def read(self, node: int, start: LexerState, text: bytes) -> int:
        """The group of a *text* that is read from *start* on, after the symbols of *node*."""
        step = start.feed(text)
        if step is None:
            return DEAD_GROUP
        node = self.node(node, step.symbols)
        key = node, self.ends.number(step.lexer)
        group = self._read.get(key)
        if group is None:
            group = self._read[key] = self.add(*key)
        return group

    def finish(self, within: LexemeEnds | None = None) -> tuple[Groups, Ints]:
        """The groups, and the final number of each by the number that `add` returned.

        With *within* all of them end within that lexeme.
        """
        order = self._preorder()
        number_of = np.empty(len(order), np.int32)
        number_of[order] = np.arange(len(order))
        children = [
            [(symbol, int(number_of[child])) for symbol, child in self._children[node]] for node in order
        ]
        nodes, ends = np.array(self._added, np.int32).T
        nodes = number_of[nodes]
        by_node = np.argsort(nodes[1:], kind="stable") + 1
        numbers = np.full(len(nodes), DEAD_GROUP, np.int32)
        numbers[by_node] = np.arange(1, len(nodes))
        return Groups(self.ends, children, nodes[by_node], ends[by_node], within), numbers

    def _preorder(self) -> list[int]:
        order, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            order.append(node)
            waiting += [child for _, child in reversed(self._children[node])]
        return order


def after_lexeme(lexer: LexerState, kind: int) -> tuple[LexerState, list[Symbol]] | None:
    """The state at the start of the next lexeme, if that in progress ends here as one of *kind*."""
    step = lexer._replace(state=0, accepted=kind, leftover=b"").finish()
    return None if step is None else (step.lexer, step.symbols)


def bits_of(mask: BoolMask) -> int:
    """The bit set of the indices that are True in *mask*."""
    return int.from_bytes(np.packbits(mask, bitorder="little").tobytes(), "little")


def mask_of(bits: int, count: int) -> BoolMask:
    """The inverse of `bits_of`, for indices below *count*."""
    data = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").view(np.bool_)
