"""Texts grouped by what they mean to the parser: the symbols they finish, and the lexer state they end in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from itertools import count
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.earley.automaton import bit_set
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.texts.text_trie import Ints, smallest
from fimlsp.quotient.masks.viability import Need, need_of
from numpy.typing import NDArray

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE, _BYTES_PER_END = 40, 700, 500
_NO_INTS = np.zeros(0, np.int32)

_numbers = count()


class Ends:
    """The lexer states in which texts end, numbered, so that equal ones are held once.

    All are of one language.
    """

    def __init__(self) -> None:
        self.states: list[LexerState] = []
        self._numbers: dict[LexerState, int] = {}
        self.needs: dict[int, Need] = {}  # filled by `need`
        self._dfa_states = _NO_INTS
        self._within: dict[LexerState, dict[tuple[int, int, int], int]] = {}

    @property
    def n_bytes(self) -> int:
        """About what they hold in memory."""
        return _BYTES_PER_END * len(self.states)

    def dfa_states(self, numbers: Ints) -> Ints:
        """The states of the automaton in which those of these *numbers* are."""
        known = len(self._dfa_states)
        if known < len(self.states):
            fresh = [lexer.state for lexer in self.states[known:]]
            self._dfa_states = np.concatenate((self._dfa_states, np.array(fresh, np.int32)))
        return self._dfa_states[numbers]

    def within(self, lexer: LexerState) -> dict[tuple[int, int, int], int]:
        """The numbers of states in which texts end that do not end the lexeme of *lexer*, as far as noted.

        Keys are the state of the automaton, the kind of its last lexeme on the way (-1: none), and the number
        of the suffix behind it. What *lexer* itself says of these is left out where it does not matter.
        """
        return self._within.setdefault(lexer, {})

    def number(self, lexer: LexerState) -> int:
        """The number of *lexer*."""
        found = self._numbers.get(lexer)
        if found is None:
            found = self._numbers[lexer] = len(self.states)
            self.states.append(lexer)
        return found

    def need(self, number: int, tables: LanguageTables) -> Need:
        """What the state *number* needs of the parser, in the language of *tables*."""
        found = self.needs.get(number)
        if found is None:
            found = self.needs[number] = need_of(tables, self.states[number])
        return found


class Node(NamedTuple):
    """What is said of a node by its groups, and by what leads on from it.

    The groups of the bit set `always` are viable wherever the symbols of the node are read; those of `asked`
    may be, for more reasons than what symbols are expected. `needed` has what the others need, and the bit
    sets of those that do; the `undecided` (a bit set) may as well straddle the end of the middle. The bit set
    `symbols` is all that is needed, or leads on: to the nodes `children` with terminals. To those of
    `columns` the beginning of a line leads.
    """

    always: int
    asked: int
    needed: tuple[tuple[int, int], ...]
    undecided: int
    symbols: int
    children: tuple[tuple[int, int], ...]
    columns: tuple[tuple[Column, int], ...]


class Groups:
    """Groups of texts, in a trie of the symbols that they finish; node 0 is the root.

    `children[node]` holds pairs of a symbol and a node, which has a higher number; `parents` is the inverse.
    `node_of` and `end_of` are the node of each group and the number of the state that it ends in, once all
    groups are there. The *ends* are shared by all groups of a vocabulary. What is remembered of groups goes
    by their `number`, so that it does not hold them.
    """

    def __init__(self, ends: Ends) -> None:
        self.number = next(_numbers)
        self.ends = ends
        self.children: list[list[tuple[Symbol, int]]] = [[]]
        self.parents = [0]
        self.node_of: Ints = _NO_INTS
        self.end_of: Ints = _NO_INTS
        self._added = [(0, 0)]
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._read: dict[tuple[int, int], int] = {}
        self._by_node: tuple[list[int], list[int], list[int]] = [], [], []
        self._said: list[Node | None] = []
        self._from_on: list[int] = []

    @classmethod
    def of(
        cls,
        ends: Ends,
        children: list[list[tuple[Symbol, int]]],
        parents: list[int],
        node_of: Ints,
        end_of: Ints,
    ) -> Groups:
        """Groups from what these attributes of others were."""
        found = cls(ends)
        found.children = children
        found.parents = parents
        found._set(node_of, end_of)
        return found

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return len(self.node_of) or len(self._added)

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        return _BYTES_PER_GROUP * self.n_groups + _BYTES_PER_NODE * len(self.children)

    def finish(self) -> None:
        """Add no more groups, and forget what only adding them needs."""
        nodes, ends = zip(*self._added, strict=True)
        self._set(np.array(nodes, np.int32), np.array(ends, np.int32))
        self._added.clear()
        self._nodes.clear()
        self._read.clear()

    def _set(self, node_of: Ints, end_of: Ints) -> None:
        self.node_of, self.end_of = node_of, end_of
        order = np.argsort(node_of[1:], kind="stable") + 1
        firsts = np.searchsorted(node_of[order], np.arange(len(self.children) + 1))
        self._by_node = order.tolist(), end_of[order].tolist(), firsts.tolist()
        self._said = [None] * len(self.children)
        self._from_on = [0] * len(self.children)

    def node(self, node: int, symbols: Iterable[Symbol]) -> int:
        """The node that *symbols* lead to from *node*."""
        for symbol in symbols:
            found = self._nodes.get((node, symbol))
            if found is None:
                found = self._nodes[node, symbol] = len(self.children)
                self.children[node].append((symbol, found))
                self.children.append([])
                self.parents.append(node)
            node = found
        return node

    def add(self, node: int, end: int) -> int:
        """A new group of texts that finish the symbols of *node* and end in the state of number *end*."""
        self._added.append((node, end))
        return len(self._added) - 1

    def read(self, node: int, start: LexerState, text: bytes) -> int:
        """The group of a *text* that begins in *start*, behind the symbols of *node*."""
        step = start.feed(text)
        if step is None:
            return DEAD_GROUP
        node = self.node(node, step.symbols)
        key = node, self.ends.number(step.lexer)
        group = self._read.get(key)
        if group is None:
            group = self._read[key] = self.add(*key)
        return group

    def at(self, node: int, tables: LanguageTables) -> Node:
        """What is said of a node."""
        found = self._said[node]
        if found is None:
            found = self._said[node] = self._say(node, tables)
        return found

    def _say(self, node: int, tables: LanguageTables) -> Node:
        always, asked, undecided, symbols = 0, 0, 0, 0
        needed: dict[int, int] = {}
        known, need_of_end = self.ends.needs, self.ends.need
        for group, end in self.ends_of(node):
            needs, more = known.get(end) or need_of_end(end, tables)
            bit = 1 << group
            if needs < 0:
                always |= bit
                continue
            if more:
                asked |= bit
            else:
                undecided |= bit
            if needs:
                needed[needs] = needed.get(needs, 0) | bit
                symbols |= needs
        children: list[tuple[int, int]] = []
        columns: list[tuple[Column, int]] = []
        for symbol, child in self.children[node]:
            if isinstance(symbol, Column):
                columns.append((symbol, child))
            elif (terminal := tables.terminal_of[symbol]) >= 0:
                children.append((terminal, child))
                symbols |= 1 << terminal
        return Node(always, asked, tuple(needed.items()), undecided, symbols, tuple(children), tuple(columns))

    def ends_of(self, node: int) -> Iterable[tuple[int, int]]:
        """The groups of a node, each with the number of the state that it ends in."""
        numbers, ends, firsts = self._by_node
        own = slice(firsts[node], firsts[node + 1])
        return zip(numbers[own], ends[own], strict=True)

    def from_on(self, nodes: Iterable[int]) -> int:
        """The bit set of the groups of *nodes*, and of all nodes that these lead to."""
        found = 0
        for node in nodes:
            found |= self._from_on[node] or self._groups_from_on(node)
        return found

    def _groups_from_on(self, node: int) -> int:
        below = self.from_on(child for _, child in self.children[node])
        found = self._from_on[node] = below | bit_set(self.numbers(node))
        return found

    @cached_property
    def different_ends(self) -> tuple[Ints, Ints]:
        """The numbers of the states that groups end in, each once, and for each group where its own is."""
        ends, at = np.unique(self.end_of, return_inverse=True)
        return ends, at.astype(smallest(len(ends)))

    def numbers(self, node: int) -> list[int]:
        """The groups of a node."""
        numbers, _, firsts = self._by_node
        return numbers[firsts[node] : firsts[node + 1]]

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
