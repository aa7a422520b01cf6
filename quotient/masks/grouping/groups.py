"""Texts grouped by what they mean to the parser: the symbols they finish, and the lexer state they end in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.text_trie import Ints
from fimlsp.quotient.masks.viability import Need, need_of

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE, _BYTES_PER_END = 40, 400, 500
_MOST_KNOWN = 2_000
_MOST_SELECTIONS = 32
_NO_INTS = np.zeros(0, np.int32)


class Ends:
    """The lexer states in which texts end, numbered, so that equal ones are held once.

    All are of one language.
    """

    def __init__(self) -> None:
        self.states: list[LexerState] = []
        self._numbers: dict[LexerState, int] = {}
        self._needs: dict[int, Need] = {}
        self._within: dict[LexerState, dict[tuple[int, int, int], int]] = {}

    @property
    def n_bytes(self) -> int:
        """About what they hold in memory."""
        return _BYTES_PER_END * len(self.states)

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
        found = self._needs.get(number)
        if found is None:
            found = self._needs[number] = need_of(tables, self.states[number])
        return found


class Alike(NamedTuple):
    """Groups with the same symbols that need the same of the parser.

    *numbers* are theirs, *ends* those of the lexer states that they end in.
    """

    need: Need
    numbers: Ints
    ends: Ints


class Known(NamedTuple):
    """What symbols are expected tells of the groups of a node.

    Those *allowed* are viable; those of *asked* may be, for other reasons. Of the *others* only those are
    that straddle the end of the middle: their numbers, and those of their ends.
    """

    allowed: Ints
    asked: tuple[Alike, ...]
    others: tuple[Ints, Ints]


class Groups:
    """Groups of texts, in a trie of the symbols that they finish; node 0 is the root.

    `children[node]` holds pairs of a symbol and a node, which has a higher number; `parents` is the inverse.
    `node_of` and `end_of` are the node of each group and the number of the state that it ends in, once all
    groups are there. The *ends* are shared by all groups of a vocabulary.
    """

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self.children: list[list[tuple[Symbol, int]]] = [[]]
        self.parents = [0]
        self.node_of: Ints = _NO_INTS
        self.end_of: Ints = _NO_INTS
        self._added = [(0, 0)]
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._read: dict[tuple[int, int], int] = {}
        self._by_node: tuple[list[int], list[int], list[int]] = [], [], []
        self._alike: list[tuple[tuple[Alike, ...], int] | None] = []
        self._only: BoundedDict[bytes, Groups] = BoundedDict(_MOST_SELECTIONS)
        self._known: BoundedDict[tuple[int, int], Known] = BoundedDict(_MOST_KNOWN)

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
        self._alike = [None] * len(self.children)

    def only(self, numbers: Ints) -> Groups:
        """The groups of these *numbers*, which are sorted and not dead, numbered anew in the same order.

        The same object for the same numbers, as long as it is remembered.
        """
        key = numbers.tobytes()
        found = self._only.get(key)
        if found is None:
            found = self._only[key] = self._make_only(numbers)
        return found

    def _make_only(self, numbers: Ints) -> Groups:
        found = Groups(self.ends)
        nodes = self.node_of[numbers].tolist()
        wanted = {0, *nodes}
        for node in nodes:
            while (node := self.parents[node]) not in wanted:
                wanted.add(node)
        new = {0: 0}
        for node in sorted(wanted):
            for symbol, child in self.children[node]:
                if child in wanted:
                    new[child] = found.node(new[node], (symbol,))
        for node, end in zip(nodes, self.end_of[numbers].tolist(), strict=True):
            found.add(new[node], end)
        found.finish()
        return found

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

    def alike(self, node: int, tables: LanguageTables) -> tuple[Alike, ...]:
        """The groups of a node, by what they need."""
        return self._by_need(node, tables)[0]

    def _by_need(self, node: int, tables: LanguageTables) -> tuple[tuple[Alike, ...], int]:
        """The groups of a node by what they need, and all symbols that any of them needs."""
        found = self._alike[node]
        if found is None:
            by_need: dict[Need, tuple[list[int], list[int]]] = {}
            relevant, need_of_end = 0, self.ends.need
            numbers, ends, firsts = self._by_node
            own = slice(firsts[node], firsts[node + 1])
            for group, end in zip(numbers[own], ends[own], strict=True):
                need = need_of_end(end, tables)
                members = by_need.get(need)
                if members is None:
                    members = by_need[need] = [], []
                    relevant |= max(need.symbols, 0)
                members[0].append(group)
                members[1].append(end)
            alike = tuple(
                [
                    Alike(need, np.array(groups, np.int32), np.array(ends, np.int32))
                    for need, (groups, ends) in by_need.items()
                ]
            )
            found = self._alike[node] = alike, relevant
        return found

    def known(self, node: int, expected: int, tables: LanguageTables) -> Known:
        """What is known of the groups of *node* where the symbols of the bit set *expected* are."""
        alike, relevant = self._by_need(node, tables)
        key = node, expected & relevant
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _known(alike, expected)
        return found


def _known(alike: tuple[Alike, ...], expected: int) -> Known:
    allowed: list[Ints] = []
    asked: list[Alike] = []
    others: list[Alike] = []
    for each in alike:
        symbols, more = each.need
        if symbols < 0 or symbols & expected:
            allowed.append(each.numbers)
        else:
            (asked if more else others).append(each)
    numbers = _joined([each.numbers for each in others])
    return Known(_joined(allowed), tuple(asked), (numbers, _joined([each.ends for each in others])))


def _joined(parts: list[Ints]) -> Ints:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else _NO_INTS


def after_lexeme(lexer: LexerState, kind: int) -> tuple[LexerState, list[Symbol]] | None:
    """The state at the start of the next lexeme, if that in progress ends here as one of *kind*."""
    step = lexer._replace(state=0, accepted=kind, leftover=b"").finish()
    return None if step is None else (step.lexer, step.symbols)
