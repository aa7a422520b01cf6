"""Which lines belong to a logical line whose brackets are not in order.

If brackets are left open, it ends before the first line that is not deeper, or that begins with a lexeme
which never stands in brackets. If it closes a bracket that it never opened, it extends to the closer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.line import unmatched_brackets
from fimlsp.quotient.recovery.layout.brackets import Unit, is_deeper
from fimlsp.quotient.recovery.layout.lexemes import Lexeme, Lexemes
from fimlsp.quotient.recovery.statements.lines import Lines

MOST_UNITS = 40
_MOST_OWN_LINES = 3
_MOST_SEARCHED = 100
_MOST_SKIPPED = 400


class Extent(NamedTuple):
    """The lines that may belong to a logical line, and how many of them it may have.

    `is_open` tells whether it may go on at the end. `lacking` is a bracket that is closed beyond these lines
    and opened in none of them. `closing` are the first of these lines up to one that no line begins like, but
    that stands where their closing bracket would.
    """

    units: list[Unit]
    ends: list[int]
    is_open: bool = False
    lacking: str | None = None
    closing: tuple[Unit, ...] = ()


def passed_over(unit: Unit) -> Unit:
    """*unit* as a line of which nothing can be read, so that its column means nothing."""
    return unit._replace(column=None, found=Lexemes((), ((unit.code, unit.content),), joined=False))


class Extents(Lines):
    """Finds the extents of logical lines."""

    def extent(self, first: Unit) -> Extent:
        """The extent of the logical line that begins with *first*."""
        units, closing = [first], tuple[Unit, ...]()
        while (depth := len(self.assumed.layout.left_open(units))) and len(units) < MOST_UNITS:
            if units[-1].end >= self.stop:
                is_open = self.open_end and self._may_go_on(first)
                ends = {1, len(units), *islice(self._own_lines(units), _MOST_OWN_LINES)}
                return Extent(units, sorted(ends), is_open, closing=closing)
            unit = self.unit(units[-1].end)
            if self._is_outside(unit, first):
                if not self.is_hopeless(unit):
                    break
                if unit.column == first.column and unit.found.read and not closing:
                    closing = (*units, unit)
                unit = passed_over(unit)
            units.append(unit)
        if depth:
            is_cut = len(units) == MOST_UNITS and not self._is_outside(self.unit(units[-1].end), first)
            ends = {1, min(2, len(units)), len(units), *islice(self._own_lines(units), _MOST_OWN_LINES)}
            return Extent(units, sorted(ends), is_cut, closing=closing)
        ends = {len(units)}
        while units[-1].end < self.stop and self._closes(unit := self.unit(units[-1].end), first):
            units.append(unit)
            ends.add(len(units))
        further, lacking = self._further(units, first)
        units += further
        ends.add(len(units))
        return Extent(units, sorted(ends), lacking is not None and self.open_end, lacking)

    def lacks_opener(self, start: int) -> bool:
        """Whether the line at *start* lacks a bracket that is closed beyond the one with the cursor."""
        return self.extent(self.unit(start)).lacking is not None

    def is_closed_beyond(self, units: Sequence[Unit]) -> bool:
        """Whether the bracket with which the first of *units* ends is closed behind them, as columns tell."""
        opened = self.assumed.layout.left_open(units[:1])
        if not opened or not opened[-1][1]:
            return False
        closing = self._closed_far(units[-1].end, units[0])
        return closing is not None and self.tables.lexical.brackets[closing] == opened[-1][0]

    def lacking_opener(self, start: int) -> tuple[int, int, bytes] | None:
        """The edit that adds the bracket that the line before *start* lacks at its end, as columns tell.

        The line at *start* is deeper, and the first one after it that is not closes a bracket in the column
        of the line before.
        """
        line, before = self.unit(start), self.line_before(start)
        if before is None or line.column is None or not line.column.deeper_than(before[1]):
            return None
        above, layout = self.unit(before[0]), self.assumed.layout
        if not above.found.read or layout.left_open((above,)):
            return None
        opening = self._closed_far(line.end, above)
        if opening is None:
            return None
        kind, text = layout.closer(opening)
        pair = self.tables.terminal_of[above.found.read[-1].kind], self.tables.terminal_of[kind]
        end = above.found.read[-1].end
        return (end, end, b" " + text) if pair in self.tables.neighbours else None

    def _own_lines(self, units: Sequence[Unit]) -> Iterator[int]:
        """The numbers of those of *units* but the first that begin as logical lines do.

        The likelier come first: those that end as headers end, and those that are less deep than the line
        before them.
        """
        coded = [number for number, unit in enumerate(units) if unit.column is not None]
        less_deep = [b for a, b in pairwise(coded) if is_deeper(units[a], units[b])]
        headers = [number for number in coded[1:] if self._ends_header(units[number])]
        likely = [*headers, *(each for each in less_deep if each not in headers)]
        for number in (*likely, *(each for each in coded[1:] if each not in likely)):
            if units[number].found.read and self.begins_line(units[number]):
                yield number

    def _ends_header(self, unit: Unit) -> bool:
        """Whether *unit* ends as headers end."""
        read = unit.found.read
        return bool(read) and self.tables.terminal_of[read[-1].kind] in self.assumed.ends.of_headers

    def _further(self, units: Sequence[Unit], first: Unit) -> tuple[list[Unit], str | None]:
        """The deeper lines that follow, if they close a bracket that nothing here opens, up to that.

        If it is closed beyond the line with the cursor, also the kind of that bracket.
        """
        found: list[Unit] = []
        depth = outer = 0
        end = self.stop
        for unit, is_beyond in self._lines_from(units[-1].end):
            if not is_beyond or unit.start == self.stop:
                outer = depth
            if unit.column is not None:
                if not unit.found.read or self._is_outside(unit, first):
                    break
                of_middle = is_beyond and depth <= outer and self._may_follow_opener(unit)
                kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in unit.found.read]
                closers, openers = unmatched_brackets(self.tables.lexical.brackets, kinds)
                if unit.column == first.column and self.assumed.layout.closes(unit):
                    depth = 0  # whatever is open in the lines above
                if len(closers) > depth + of_middle:
                    return (
                        (found, self.tables.opening_of[closers[depth]])
                        if is_beyond
                        else ([*found, unit], None)
                    )
                depth = max(depth - len(closers), 0) + len(openers)
                if not unit.column.deeper_than(first.column or Column()):
                    break
            found += () if is_beyond else (unit,)
            end, outer = unit.end, min(outer, depth)
        else:
            if lacking := self._closed_far(end, first):
                return found, lacking
        return [], None

    def _closed_far(self, place: int, first: Unit) -> str | None:
        """What the first line from *place* on that is no deeper than *first* closes, if it has its column."""
        below, column = self._below, first.column or Column()
        for _ in range(_MOST_SKIPPED):
            line = below.next_line(place)
            if line is None:
                return None
            if not line.column.deeper_than(column):
                unit = below.unit(line.start)
                kinds = [self.tables.lexical.kinds[lexeme.kind] for lexeme in unit.found.read[:1]]
                return self.tables.opening_of.get(kinds[0]) if kinds and line.column == column else None
            place = line.end
        return None

    @property
    def _below(self) -> Lines:
        """The lines of the whole text, also beyond the line with the cursor."""
        return Lines(self.assumed, self.lines, self.data, len(self.data))

    def _may_follow_opener(self, unit: Unit) -> bool:
        """Whether *unit*, below the cursor's line, may be in a bracket that this line opens."""
        then = self.then
        if then is None or then.column is None or unit.column is None or unit.end == self.stop:
            return False
        column = then.column
        if not then.may_open and not then.opens:
            return False
        return unit.column.deeper_than(column) or (unit.column == column and self.assumed.layout.closes(unit))

    def _lines_from(self, place: int) -> Iterator[tuple[Unit, bool]]:
        """Some lines from *place* on, and whether they are that with the cursor, or beyond it.

        Of the cursor's line these are the brackets that it closes at its beginning, and those that it leaves
        open, if any.
        """
        count = 0
        while place < self.stop and count < _MOST_SEARCHED:
            yield (unit := self.unit(place)), False
            place, count = unit.end, count + 1
        then = self.then
        if then is not None and (then.closes or then.opens) and place == self.stop:
            brackets = tuple(Lexeme(kind, place, place) for kind in (*then.closes, *then.opens))
            yield Unit(place, place, then.column, Lexemes(brackets, (), joined=False)), True
        if self.beyond is None:
            return
        below, place = self._below, self.beyond
        while place < len(self.data) and count < _MOST_SEARCHED:
            yield (unit := below.unit(place)), True
            place, count = unit.end, count + 1

    def _may_go_on(self, first: Unit) -> bool:
        """Whether the layout allows that the line at `stop` is in brackets that *first* left open."""
        then = self.then
        if then is None or then.column is None or then.closes or first.column is None:
            return True
        return then.column.deeper_than(first.column) or self.hangs(first.start)

    def _closes(self, unit: Unit, first: Unit) -> bool:
        """Whether *unit* begins as the last line of brackets does that *first* opens."""
        if unit.column is None or not unit.found.read or first.column is None:
            return False
        kind = self.tables.lexical.kinds[unit.found.read[0].kind]
        return kind in self.tables.opening_of and not first.column.deeper_than(unit.column)
