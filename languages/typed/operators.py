"""The operators of expressions as data: their levels, their operands and results, and where they may lead."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Generic, TypeVar

V = TypeVar("V")
T = TypeVar("T")
R = TypeVar("R", covariant=True)


MOST_KEPT = 4096


@dataclass(frozen=True, eq=False)
class Operator(Generic[V, R]):
    """An operator after its left operand.

    Attributes:
        level: its precedence; a higher one binds more strongly.
        takes: True for the values that may stand on its left.
        right: the target of its right operand, for the value on its left.
        result: its value.
        right_level: the least level of operators within its right operand.
    """

    level: int
    takes: Callable[[V], bool]
    right: Callable[[V], R]
    result: V
    right_level: int


class Operators(Generic[V, T]):
    """The operators of a language by their tokens; *suits* is True if a value suits a target as it is."""

    def __init__(self, rows: Mapping[str, Operator[V, T]], suits: Callable[[V, T], bool]) -> None:
        self.rows = rows
        self._suits = suits
        self.following = lru_cache(MOST_KEPT)(self._following)
        self.can_become = lru_cache(MOST_KEPT)(self._can_become)

    def _following(self, value: V, target: T, level: int, most: int) -> frozenset[str]:
        """The operators from *level* to *most* that may follow *value* on a way to *target*."""
        return frozenset(
            sign
            for sign, row in self.rows.items()
            if level <= row.level <= most
            and row.takes(value)
            and self.can_become(row.result, target, level, row.level)
        )

    def _can_become(self, value: V, target: T, level: int, most: int) -> bool:
        """True if *value* suits *target* as it is, or with operators from *level* to *most* after it."""
        return self.first_step(value, target, level, most) is not None

    def first_step(self, value: V, target: T, level: int, most: int) -> str | None:
        """The first of the fewest operators after *value* that lead to *target*.

        It is empty if *value* suits as it is, and None if nothing leads there.
        """
        seen, waiting = set[tuple[V, int]](), deque([(value, most, "")])
        while waiting:
            reached, highest, first = waiting.popleft()
            if self._suits(reached, target):
                return first
            if (reached, highest) not in seen:
                seen.add((reached, highest))
                waiting += (
                    (row.result, row.level, first or sign)
                    for sign, row in self.rows.items()
                    if level <= row.level <= highest and row.takes(reached)
                )
        return None
