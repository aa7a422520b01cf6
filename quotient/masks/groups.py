"""Texts grouped by what they mean to the parser: the symbols they finish, and the lexeme they end in."""

from __future__ import annotations

from collections.abc import Iterable

from fimlsp.lexing.lexer_state import LexerState, Symbol

DEAD_GROUP = 0
"""The group of texts that are lexically impossible."""

_BYTES_PER_GROUP, _BYTES_PER_NODE = 600, 500


class End:
    """A lexer state in which texts end: that after *text*, read from *start* on.

    `wanted` is what the parser is asked about the lexeme in progress, see `asking.py`; None until it is known.
    """

    __slots__ = ("_lexer", "_start", "_text", "wanted")

    def __init__(self, start: LexerState, text: bytes = b"") -> None:
        self._start = start
        self._text = text
        self._lexer: LexerState | None = None
        self.wanted: int | None = None

    @property
    def lexer(self) -> LexerState:
        """The state, without what is known of the blocks around."""
        if self._lexer is None:
            step = self._start.feed(self._text)
            assert step is not None
            self._lexer = step.lexer
        return self._lexer


class Groups:
    """Groups of texts, in a trie of the symbols that they finish; node 0 is the root.

    `children[node]` holds pairs of a symbol and a node, `ends[node]` pairs of a group and where its texts end.
    """

    def __init__(self) -> None:
        self.children: list[list[tuple[Symbol, int]]] = [[]]
        self.ends: list[list[tuple[int, End]]] = [[]]
        self.n_groups = 1
        self._nodes: dict[tuple[int, Symbol], int] = {}
        self._scalar: dict[tuple[int, LexerState], int] = {}

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
                self.ends.append([])
            node = found
        return node

    def add(self, node: int, end: End) -> int:
        """A new group of texts that finish the symbols of *node* and end in *end*."""
        group = self.n_groups
        self.n_groups += 1
        self.ends[node].append((group, end))
        return group

    def read(self, node: int, start: LexerState, text: bytes) -> int:
        """The group of a *text* that begins in *start*, behind the symbols of *node*."""
        step = start.feed(text)
        if step is None:
            return DEAD_GROUP
        key = self.node(node, step.symbols), step.lexer
        group = self._scalar.get(key)
        if group is None:
            group = self._scalar[key] = self.add(key[0], End(step.lexer))
        return group


def after_lexeme(lexer: LexerState, kind: int) -> tuple[LexerState, list[Symbol]] | None:
    """The state at the start of the next lexeme, if that in progress ends here as one of *kind*."""
    step = lexer._replace(state=0, accepted=kind, leftover=b"").finish()
    return None if step is None else (step.lexer, step.symbols)
