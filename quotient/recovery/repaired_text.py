"""A text that is repaired edit by edit, and the form of the tables of repairs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fimlsp.lexing.values import value
from fimlsp.quotient.contexts.document import ContextDocument

Edit = tuple[int, int, bytes]
"""A span of a text, and its replacement."""
Edits = tuple[Edit, ...]
"""Edits that are made together; none if a repair does not apply."""

FIRST, EARLY, LAST, GIVEN_UP = range(1, 2), range(1, 3), range(3, 4), range(4, 5)
"""The attempts at one line: the first, the first two, the last, and afterwards."""
ANY = range(1, 5)
B = TypeVar("B")


@dataclass(frozen=True)
class RepairRow(Generic[B]):
    """A row in a table of repairs, tried in order: the *edits* of a broken line that meets its *condition*.

    It is tried in these *attempts* at the line. *cost* is the least cost of such a repair by
    `repair_costs.py`; 0 if columns show the repair. Of the rows without a condition the cheaper come first.
    """

    attempts: range
    condition: Callable[[B], bool]
    edits: Callable[[B], Edits]
    cost: int


def first_edits(table: Iterable[RepairRow[B]], broken: B, attempt: int) -> Edits:
    """The edits of the first row that makes any of *broken* in this *attempt*, counted from 1."""
    number = min(attempt, GIVEN_UP[0])
    for row in table:
        if number in row.attempts and row.condition(broken) and (edits := row.edits(broken)):
            return edits
    return ()


def always(_: object) -> bool:
    """The condition of a row that applies whenever it makes edits."""
    return True


@value
class TextRepair:
    """An assumption: `data[start:end]` of the broken text is read as `replacement`."""

    start: int
    end: int
    replacement: bytes


class RepairedText:
    """A document under repair. Its sorted `repairs` are the differences from the original text.

    The cursor spans from `cursor` to `cursor_end`, and no repair is there.
    """

    def __init__(self, document: ContextDocument, cursor: int, cursor_end: int) -> None:
        self.document = document.copy()
        self.cursor = cursor
        self.cursor_end = cursor_end
        self.repairs: list[TextRepair] = []

    def copy(self) -> RepairedText:
        """A copy that can be repaired in another way."""
        copied = RepairedText(self.document, self.cursor, self.cursor_end)
        copied.repairs = list(self.repairs)
        return copied

    def follow(self, line_start: int, start: int, end: int, replacement: bytes) -> None:
        """Replace `data[start:end]` of the original text, within the cursor's line, as an editor does."""
        above = [repair for repair in self.repairs if repair.end <= line_start]
        growth = sum(len(repair.replacement) - (repair.end - repair.start) for repair in above)
        self.document.edit(start + growth, end + growth, replacement)
        shift = len(replacement) - (end - start)
        below = [
            TextRepair(repair.start + shift, repair.end + shift, repair.replacement)
            for repair in self.repairs[len(above) :]
        ]
        self.repairs = above + below

    @property
    def changes(self) -> int:
        """The number of bytes that the repairs remove and add, and two for each of them."""
        return sum(2 + repair.end - repair.start + len(repair.replacement) for repair in self.repairs)

    @property
    def data(self) -> bytes:
        """The text with all repairs made so far."""
        return self.document.data

    def replace(self, edits: Iterable[Edit]) -> None:
        """Apply *edits*: spans of the text before all of them, which neither overlap nor hold the cursor."""
        for start, end, replacement in sorted(edits, reverse=True):
            if end <= self.cursor or start >= self.cursor_end:
                self._replace(start, end, replacement)

    def _replace(self, start: int, end: int, replacement: bytes) -> None:
        self._record(start, end, replacement)
        self.document.edit(start, end, replacement)
        if end <= self.cursor:
            shift = len(replacement) - (end - start)
            self.cursor += shift
            self.cursor_end += shift

    def _record(self, start: int, end: int, replacement: bytes) -> None:
        """Add a repair, joined with those that it touches."""
        before: list[TextRepair] = []
        touched: list[tuple[int, TextRepair]] = []
        after: list[TextRepair] = []
        shift = shift_before = shift_touched = 0  # from the original text to the repaired one
        for repair in self.repairs:
            position = repair.start + shift
            shift += len(repair.replacement) - (repair.end - repair.start)
            if position + len(repair.replacement) < start:
                before.append(repair)
                shift_before = shift_touched = shift
            elif position > end:
                after.append(repair)
            else:
                touched.append((position, repair))
                shift_touched = shift
        first, last, head, tail = start - shift_before, end - shift_touched, b"", b""
        for position, repair in touched:
            if position <= start:
                first, head = repair.start, repair.replacement[: start - position]
            if position + len(repair.replacement) >= end:
                last, tail = repair.end, repair.replacement[end - position :]
        self.repairs = [*before, TextRepair(first, last, head + replacement + tail), *after]
