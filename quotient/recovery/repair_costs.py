"""The repair of a line as changes of its lexemes, and the cost of each kind of change.

Of several readings of a line the cheapest is taken, so costs only matter relative to each other. Their effect
on files with known breaks is measured by `tests/oracle/recovery.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

# Lexemes of a line
INSERTED = 10
"""A lexeme of one byte is assumed."""
INSERTED_BYTE = 2
"""Each further byte of an assumed lexeme, up to `MOST_COUNTED_BYTES`."""
MOST_COUNTED_BYTES = 6
BRACKET = 2
"""Extra cost of an assumed opening bracket, as it takes a closing one."""
WORD = 14
"""Extra cost of an assumed word that needs more after it, in a line that may continue after the cursor."""
PASSED = 16
"""A lexeme is passed over."""
PASSED_REST = 34
"""The rest of a line is passed over."""
PASSED_LINE = 50
"""A whole line is passed over; no repair is dearer."""

# The line and its neighbours
MISFIT = 25
"""A line that should open a block does not, or the other way round."""
HEADER = 2
"""Extra cost of a change to a line that must continue, although it ends and is followed like a header."""
OWN_LINE = 12
"""Extra cost of a change before a line in brackets that might as well be outside them."""
LONE_LINE = 12
"""A line that might be a statement is in brackets without any other evidence of these."""
MISALIGNED = 15
"""A line in brackets is not deeper than the one that opened them."""
STILL_BROKEN = 5
"""The cursor's line opens a bracket, and the lines below still need changes with it."""


class Change(NamedTuple):
    """The terminals `symbols` are assumed before lexeme number `position`; if empty, it is passed over."""

    position: int
    symbols: tuple[int, ...] = ()


class LineRepair(NamedTuple):
    """Changes that make a line valid, their cost, and True if the line then opens a block."""

    cost: int
    changes: tuple[Change, ...]
    opens: bool = False


Path = tuple["Path", Change] | None
"""The changes made so far, the last one first."""


def read_with(symbols: Sequence[int], changes: Sequence[Change]) -> Iterator[tuple[int, int, bool]]:
    """The terminals *symbols* with *changes* made, each with its index in *symbols*.

    For an assumed one, marked by the third element, the index is that of the one after it.
    """
    assumed: dict[int, list[int]] = {}
    for change in changes:
        assumed.setdefault(change.position, []).extend(change.symbols)
    passed = {change.position for change in changes if not change.symbols}
    for index, symbol in enumerate((*symbols, -1)):
        yield from ((index, added, True) for added in assumed.get(index, ()))
        if index not in passed and symbol >= 0:
            yield index, symbol, False


def changes_of(path: Path) -> tuple[Change, ...]:
    """The changes on *path* in the order in which they were made."""
    changes: list[Change] = []
    while path is not None:
        path, change = path
        changes.append(change)
    return tuple(reversed(changes))


def turned(changes: Sequence[Change], size: int) -> tuple[Change, ...]:
    """*changes* of a line of *size* lexemes that was read backwards, as those of the line."""
    return tuple(
        Change(size - index, symbols[::-1]) if symbols else Change(size - 1 - index)
        for index, symbols in reversed(changes)
    )
