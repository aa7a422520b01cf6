"""Texts grouped by what they mean to the parser: the symbols they finish, and the lexer state they end in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.masks.text_trie import Ints
from fimlsp.quotient.masks.viability import Need, need_of

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE = 600, 500


class Alike(NamedTuple):
    """Groups with the same symbols that need the same of the parser: their *numbers*, and their *ends*."""

    need: Need
    numbers: Ints
    ends: tuple[LexerState, ...]


class Groups:
    """Groups of texts, in a trie of the symbols that they finish; node 0 is the root.

    `children[node]` holds pairs of a symbol and a node.
    """

    def __init__(self) -> None:
        self.children: list[list[tuple[Symbol, int]]] = [[]]
        self.n_groups = 1
        self._ends: list[list[tuple[int, LexerState]]] = [[]]
        self._alike: list[tuple[Alike, ...] | None] = [None]
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._read: dict[tuple[int, LexerState], int] = {}

    @property
    def n_bytes(self) -> int:
        """About what it holds in memory."""
        return _BYTES_PER_GROUP * self.n_groups + _BYTES_PER_NODE * len(self.children)

    def node(self, node: int, symbols: Iterable[Symbol]) -> int:
        """The node that *symbols* lead to from *node*."""
        for symbol in symbols:
            found = self._nodes.get((node, symbol))
            if found is None:
                found = self._nodes[node, symbol] = len(self.children)
                self.children[node].append((symbol, found))
                self.children.append([])
                self._ends.append([])
                self._alike.append(None)
            node = found
        return node

    def add(self, node: int, end: LexerState) -> int:
        """A new group of texts that finish the symbols of *node* and end in *end*."""
        group = self.n_groups
        self.n_groups += 1
        self._ends[node].append((group, end))
        return group

    def read(self, node: int, start: LexerState, text: bytes) -> int:
        """The group of a *text* that begins in *start*, behind the symbols of *node*."""
        step = start.feed(text)
        if step is None:
            return DEAD_GROUP
        key = self.node(node, step.symbols), step.lexer
        group = self._read.get(key)
        if group is None:
            group = self._read[key] = self.add(*key)
        return group

    def alike(self, node: int, tables: LanguageTables) -> tuple[Alike, ...]:
        """The groups of a node, by what they need."""
        found = self._alike[node]
        if found is None:
            by_need: dict[Need, list[tuple[int, LexerState]]] = {}
            for group, end in self._ends[node]:
                by_need.setdefault(need_of(tables, end), []).append((group, end))
            found = self._alike[node] = tuple(
                Alike(need, np.array([group for group, _ in members]), tuple(end for _, end in members))
                for need, members in by_need.items()
            )
        return found


def after_lexeme(lexer: LexerState, kind: int) -> tuple[LexerState, list[Symbol]] | None:
    """The state at the start of the next lexeme, if that in progress ends here as one of *kind*."""
    step = lexer._replace(state=0, accepted=kind, leftover=b"").finish()
    return None if step is None else (step.lexer, step.symbols)
