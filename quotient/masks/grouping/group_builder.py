"""Makes groups of texts: nodes and groups are added as texts are read, and put in order at the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.masks.grouping.ends import Ends, Within
from fimlsp.quotient.masks.grouping.groups import DEAD_GROUP, Groups
from fimlsp.quotient.masks.texts.text_trie import Ints


class GroupBuilder:
    """Groups that are being made, with their *ends*; node 0 is the root."""

    def __init__(self, ends: Ends) -> None:
        self.ends = ends
        self._children: list[list[tuple[Symbol, int]]] = [[]]
        self._added = [(0, 0)]
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._read: dict[tuple[int, int], int] = {}

    def node(self, node: int, symbols: Iterable[Symbol]) -> int:
        """The node that *symbols* lead to from *node*."""
        for symbol in symbols:
            found = self._nodes.get((node, symbol))
            if found is None:
                found = self._nodes[node, symbol] = len(self._children)
                self._children[node].append((symbol, found))
                self._children.append([])
            node = found
        return node

    def add(self, node: int, end: int) -> int:
        """A new group of texts that finish the symbols of *node* and end in the state of number *end*."""
        self._added.append((node, end))
        return len(self._added) - 1

    def add_all(self, node: int, ends: Sequence[int]) -> range:
        """New groups at *node*, as `add` adds one, for each of *ends*."""
        first = len(self._added)
        self._added += [(node, end) for end in ends]
        return range(first, len(self._added))

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

    def finish(self, within: Within | None = None) -> tuple[Groups, Ints]:
        """The groups, and the number that each has there, by the number that `add` gave.

        If all are ends *within* a lexeme, it says so.
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
        found, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            found.append(node)
            waiting += [child for _, child in reversed(self._children[node])]
        return found
