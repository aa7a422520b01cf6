"""What a repair changes in a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """The terminals `symbols` are assumed before lexeme number `place`; if empty, that one is skipped."""

    place: int
    symbols: tuple[int, ...] = ()


class Repair(NamedTuple):
    """Changes that make a line valid, their cost, and whether the line then opens a block."""

    cost: int
    changes: tuple[Change, ...]
    opens: bool = False


Path = tuple["Path", Change] | None
"""The changes made so far, the last one first."""


def read_with(symbols: Sequence[int], changes: Sequence[Change]) -> Iterator[tuple[int, int, bool]]:
    """The terminals *symbols* with *changes* made: for each the number of the one of *symbols* that it is.

    For one that is assumed, which the third element tells, it is that of the one that it stands before.
    """
    assumed: dict[int, list[int]] = {}
    for change in changes:
        assumed.setdefault(change.place, []).extend(change.symbols)
    passed = {change.place for change in changes if not change.symbols}
    for place, symbol in enumerate((*symbols, -1)):
        yield from ((place, each, True) for each in assumed.get(place, ()))
        if place not in passed and symbol >= 0:
            yield place, symbol, False


def changes_of(path: Path) -> tuple[Change, ...]:
    """The changes on *path* in the order in which they were made."""
    found: list[Change] = []
    while path is not None:
        path, change = path
        found.append(change)
    return tuple(reversed(found))
