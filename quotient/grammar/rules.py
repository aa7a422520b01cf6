"""Grammar rules, with dotted rules encoded as integers; also rules that are constructed on first use.

No rule is empty. A dotted rule, or *item*, is the integer 64 * (number of the rule in its layer) + (position
of the dot). So `item + 1` has its dot one symbol further right.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

DOT_BITS = 6
DOT = (1 << DOT_BITS) - 1
Rhs = tuple[int, ...]
Maker = tuple[Callable[..., Iterable[Rhs]], tuple[Any, ...]]
"""A function that makes right-hand sides, and its arguments behind the rules themselves."""


class Rules:
    """The rules of one layer.

    `lhs[number]` and `rhs[number]` are the two sides of a rule. `nonterminals` are all left-hand sides,
    including those whose rules are not constructed yet (see `LazyRules`). In *backward* rules the right-hand
    sides are reversed.
    """

    __slots__ = ("_starts", "backward", "lhs", "nonterminals", "rhs")

    def __init__(self, *, backward: bool = False) -> None:
        self.backward = backward
        self.rhs: list[Rhs] = []
        self.lhs: list[int] = []
        self.nonterminals: set[int] = set()
        self._starts: dict[int, Sequence[int]] = {}

    def add(self, lhs: int, *sides: Rhs) -> None:
        """Add a rule `lhs -> side` for each side. A side has fewer than 64 symbols."""
        first = len(self.rhs) << DOT_BITS
        self.rhs.extend(sides)
        self.lhs.extend([lhs] * len(sides))
        self.nonterminals.add(lhs)
        items = range(first, len(self.rhs) << DOT_BITS, 1 << DOT_BITS)
        self._starts[lhs] = [*self._starts[lhs], *items] if lhs in self._starts else items

    def starts(self, lhs: int) -> Sequence[int]:
        """The items of the rules of *lhs* with the dot at position 0."""
        return self._starts[lhs]

    def alternatives(self) -> dict[int, list[Rhs]]:
        """The right-hand sides of all nonterminals."""
        return {lhs: [self.rhs[item >> DOT_BITS] for item in items] for lhs, items in self._starts.items()}

    def lhs_of(self, item: int) -> int:
        """The left-hand side of the rule of *item*."""
        return self.lhs[item >> DOT_BITS]

    def unread(self, item: int) -> Rhs:
        """The symbols after the dot of *item*."""
        return self.rhs[item >> DOT_BITS][item & DOT :]


class LazyRules(Rules):
    """Rules that are constructed when first needed.

    A nonterminal is numbered, from *fresh*, when it is first mentioned, and its rules follow when it is
    predicted.
    """

    __slots__ = ("_makers", "_numbers", "fresh")

    def __init__(self, fresh: Iterator[int]) -> None:
        super().__init__()
        self.fresh = fresh
        self._numbers: dict[Hashable, int] = {}
        self._makers: dict[int, Maker] = {}

    def symbol(self, key: Hashable, make: Callable[..., Iterable[Rhs]], *arguments: object) -> int:
        """The nonterminal for *key*, whose right-hand sides `make(self, *arguments)` will return.

        The call passes these rules, so that *make* need not refer to them, which would be a reference cycle.
        """
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = next(self.fresh)
            self.nonterminals.add(number)
            self._makers[number] = make, arguments
        return number

    def starts(self, lhs: int) -> Sequence[int]:
        """As `Rules.starts`."""
        if lhs not in self._starts:
            make, arguments = self._makers[lhs]
            self.add(lhs, *make(self, *arguments))
        return self._starts[lhs]

    def made_by(self, lhs: int) -> Maker:
        """What makes the rules of *lhs*, as given to `symbol`."""
        return self._makers[lhs]
