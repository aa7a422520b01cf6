"""A reading of a broken logical line, and its edits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.lexemes import Lexeme
from fimlsp.quotient.recovery.repair_costs import LineRepair
from fimlsp.quotient.recovery.repaired_text import Edit


class Reading(NamedTuple):
    """A reading of the logical line from `start` to `end`: the `edits` that make it valid, and their cost.

    `passed` means that no repair was found, so that all of it is passed over. `lacks_header` means that the
    lines after it are deeper although it is no header.
    """

    cost: int
    start: int
    end: int
    column: Column
    edits: tuple[Edit, ...]
    passed: bool = False
    lacks_header: bool = False


def dearer(reading: Reading | None, cost: int) -> Reading | None:
    """*reading* with an additional *cost*."""
    return None if reading is None else reading._replace(cost=reading.cost + cost)


def cheaper(best: Reading | None, other: Reading | None) -> Reading | None:
    """*other* if it is cheaper than *best*."""
    return other if other is not None and (best is None or other.cost < best.cost) else best


def edits_of(assumed: AssumedText, read: list[Lexeme], repair: LineRepair) -> Iterator[Edit]:
    """The edits of the lexemes *read* by *repair*; lexemes that were cut off are completed."""
    passed = {change.position for change in repair.changes if not change.symbols}
    assumed_at: dict[int, bytes] = {}
    for change in repair.changes:
        if change.symbols:
            before, after = b" " * (change.position > 0), b" " * (change.position < len(read))
            text = before + assumed.words(change.symbols) + after
            assumed_at[change.position] = assumed_at.get(change.position, b"") + text
    added: dict[int, bytes] = {}
    for index in range(len(read) + 1):
        if index in assumed_at:
            position = read[index - 1].end if index else read[0].start
            added[position] = added.get(position, b"") + assumed_at[index]
        if index in passed:
            yield read[index].start, read[index].end, b""
        elif index < len(read) and read[index].missing:
            added[read[index].end] = added.get(read[index].end, b"") + read[index].missing
    for position, text in added.items():
        yield position, position, text
