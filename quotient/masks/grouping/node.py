"""What groups of texts say of a node in the trie of the symbols that they finish."""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.quotient.masks.viability import Fallback


class Node(NamedTuple):
    """What is said of a node by its groups, and by what leads on from it.

    Bit sets are of groups from its `first` one on. Those of `always` are viable wherever the symbols of the
    node are read; those of `asked` may be, for more reasons than what symbols are expected. `needed` has what
    the others need, and those that do; the `undecided` may as well straddle the end of the middle. Lexemes
    may have ended earlier where `fallbacks` say, and may then be viable for more reasons. The bit set
    `symbols` is all that is needed, or leads on: to the nodes `children` with terminals. To those of
    `columns` the beginning of a line leads.
    """

    first: int
    always: int
    asked: int
    needed: tuple[tuple[int, int], ...]
    undecided: int
    fallbacks: tuple[tuple[Fallback, int], ...]
    symbols: int
    children: tuple[tuple[int, int], ...]
    columns: tuple[tuple[Column, int], ...]
