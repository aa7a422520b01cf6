"""Leaves out the lines with a fault beside the cursor's, in languages without an offside layout.

A line and the deeper ones below it, with those that close them, are a group: a statement, an element or a
member. A fault in a group that the cursor is not in concerns no cursor. A line that is cut off is noticed at
the next one only. So the fault is in the group of the first line that cannot be read, or in that before it.

A group may also leave something open, in which the lines after it can all be read. It is left out too, if it
is too far above for its brackets to be closed one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from fimlsp.lexing.line import physical_end
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.broken_statements import leaves_open
from fimlsp.quotient.recovery.lexemes import column_of, indentation_at
from fimlsp.quotient.recovery.lines_around import MOST_LINES
from fimlsp.quotient.recovery.open_strings import string_start
from fimlsp.quotient.recovery.repaired_text import RepairedText

_MOST_OF_GROUP, _MOST_ABOVE = 60, 5_000
_NEAR = 2_000
"""Bytes before a group in which the line before it ends and starts."""
_BLANK = b"", b"\r", b"\n"
_PART = re.compile(rb"[)\]}?:&|+*=>]|\.(?!\.\.)|/>|</")
"""The start of a line that goes on with the group of the line above."""
_MAY_BE_EMPTY = re.compile(rb"(?:[{\[;]|(?<!=)>|\w)\Z")
"""The end of a line after which deeper ones may all be left out."""


class Span(NamedTuple):
    """The lines from `start` to `end`, which belong together by their columns."""

    start: int
    end: int


def without_broken_groups(text: RepairedText, start: int, end: int) -> Iterator[RepairedText]:
    """*text* without the groups that may have its fault, for a cursor in the line from *start* to *end*.

    Nothing if all lines up to *start* and from *end* on can be read. O(lines of the groups).
    """
    document = text.document
    above, below = document.broken_above(start), document.broken_below(end)
    groups = _Groups(document, start, end)
    opening = string_start(document, start if above is None else above, _MOST_ABOVE)
    for place in (opening, above, below):
        for spans in groups.suspects(place) if place is not None else ():
            trial = text.copy()
            trial.replace((first, last, b"") for first, last in spans)
            yield trial


def unclosed_far_above(document: ContextDocument, start: int) -> tuple[Span, ...]:
    """The groups of several lines that leave something open, far above the cursor's line at *start*.

    They are beside the line or beside those that it is in. O(lines above), up to `_MOST_ABOVE`.
    """
    data, groups, place, below = document.data, list[Span](), start, start
    column = column_of(indentation_at(data, start))
    for distance in range(_MOST_ABOVE):
        if not place:
            break
        place = data.rfind(b"\n", 0, place - 1) + 1
        code = place + len(indentation_at(data, place))
        above = column_of(data[place:code])
        is_part = data[code : code + 1] in _BLANK or _PART.match(data, code)
        if above.deeper_than(column) or (is_part and above == column) or data[code : code + 1] in _BLANK:
            continue
        if above == column and distance > MOST_LINES and leaves_open(document, place, below):
            groups.append(Span(place, below))
        column, below = above, place
    return tuple(groups)


class _Groups:
    """The groups of lines around the cursor's line, which spans from *start* to *end*."""

    def __init__(self, document: ContextDocument, start: int, end: int) -> None:
        self._document = document
        self._data = document.data
        self._start = start
        self._end = end

    def suspects(self, place: int) -> Iterator[tuple[Span, ...]]:
        """The groups to leave out for a fault at the line *place*: its own, that before it, and both."""
        own = self._group_at(place)
        before = self._group_before(place if own is None else own.start)
        if own is not None:
            yield (own,)
        if before is not None:
            yield (before,)
        if own is not None and before is not None:
            yield (before, own)

    def _group_at(self, place: int) -> Span | None:
        """The group that starts with the line at *place*; None if it closes another, or has the cursor's."""
        column = self._column(place)
        return None if column is None or self._is_part(place) else self._without_cursor(place, column)

    def _group_before(self, place: int) -> Span | None:
        """The group that ends before the line at *place*; None if that line is in it."""
        column, start = self._column(place), place
        for _ in range(_MOST_OF_GROUP):
            if not start:
                return None
            start = self._data.rfind(b"\n", 0, start - 1) + 1
            above = self._column(start)
            if above is None or column is None or (above == column and self._is_part(start)):
                continue
            if not above.deeper_than(column):
                return self._without_cursor(start, column) if above == column else None
        return None

    def _without_cursor(self, start: int, column: Column) -> Span | None:
        """The group from *start* on, in lines of *column*; None if the cursor's line is in it."""
        end = physical_end(self._data, start)
        for _ in range(_MOST_OF_GROUP):
            below = self._column(end)
            if end >= len(self._data) or not (
                below is None or below.deeper_than(column) or (below == column and self._is_part(end))
            ):
                break
            end = physical_end(self._data, end)
        is_apart = end <= self._start or start >= self._end
        return Span(start, end) if is_apart and not self._is_operand(start, end, column) else None

    def _is_operand(self, start: int, end: int, column: Column) -> bool:
        """True if the group from *start* to *end* is all that is in a bracket, or after an operator."""
        before, below = self._data[max(0, start - _NEAR) : start].rstrip(), self._column(end)
        line = before[before.rfind(b"\n") + 1 :]
        is_first = column.deeper_than(column_of(indentation_at(line, 0)))
        is_last = below is None or column.deeper_than(below)
        return is_first and is_last and _MAY_BE_EMPTY.search(line) is None

    def _column(self, place: int) -> Column | None:
        """The column of the line at *place*; None if it is blank."""
        indentation = indentation_at(self._data, place)
        code = self._data[place + len(indentation) : place + len(indentation) + 1]
        return None if code in _BLANK else column_of(indentation)

    def _is_part(self, place: int) -> bool:
        """True if the line at *place* continues a statement or a bracket of lines above."""
        if _PART.match(self._data, place + len(indentation_at(self._data, place))):
            return True
        tables, line = self._document.tables, self._document.line_at(place)
        return bool(line.kinds) and tables.lexical.kinds[line.kinds[0]] in tables.language.closing
