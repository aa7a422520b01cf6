"""Repairs the text below the cursor's line, statement by statement, from the last line that cannot be read.

Each such line is repaired by the first row of `RIGHT_REPAIRS` that applies, as in `repair_left.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.grammar.earley import merged
from fimlsp.quotient.recovery.lexemes import lexemes
from fimlsp.quotient.recovery.line_edits import (
    header_above,
    header_end,
    indented,
    is_slip,
    lost_string_start,
    missing_closer,
    missing_opener,
    with_header,
    without_slip_below,
)
from fimlsp.quotient.recovery.readings import Reading
from fimlsp.quotient.recovery.repair_costs import INSERTED, PASSED, PASSED_LINE
from fimlsp.quotient.recovery.repair_left import RepairedLeft
from fimlsp.quotient.recovery.repaired_text import (
    EARLY,
    FIRST,
    GIVEN_UP,
    LAST,
    Edits,
    RepairedText,
    RepairRow,
    always,
    first_edits,
)
from fimlsp.quotient.recovery.rest_of_line import RestOfLine
from fimlsp.quotient.recovery.statements import Statements

_MOST_REPAIRS = 60
_MOST_LINES = 40


class RepairedRight(RestOfLine):
    """The text with repairs from the line after the cursor's on."""

    def repair(self) -> None:
        """Repair until all lines from `start` on can be read; if too many cannot, these are removed."""
        self._unrepaired = self.text.copy()
        attempts: dict[int, int] = {}
        for _ in range(_MOST_REPAIRS):
            checkpoint()
            position = self._broken_below()
            if position is None:
                return
            edits = () if attempts else lost_string_start(self.statements(), self.start)
            if edits and edits[0][0] <= position:  # after the last line that is broken all are valid
                self.text.replace(edits)
                continue
            attempts[position] = attempt = attempts.get(position, 0) + 1
            self.text.replace(first_edits(RIGHT_REPAIRS, BrokenBelow(self, position), attempt))
        position = self._broken_below()
        if position is not None:
            end = position + self.text.document.line_at(position).size
            self.text.replace([(self.start, end, b"")])

    @property
    def n_repairs(self) -> int:
        """The number of places that `repair` changed."""
        return len(self.text.repairs) - len(self._unrepaired.repairs)

    def unrepaired(self) -> RepairedText:
        """The text before `repair`, with the cursor where it is now; to be changed at will."""
        text = self._unrepaired.copy()
        text.cursor, text.cursor_end = self.text.cursor, self.text.cursor_end
        return text

    def follow(self, line_start: int, start: int, end: int, replacement: bytes) -> None:
        """Edit the text before `repair` as `RepairedText.follow` does."""
        self._unrepaired.follow(line_start, start, end, replacement)

    def _broken_below(self) -> int | None:
        """The start of the last unreadable line; None if all from `start` on can be read.

        With several line starts, a line of code counts as unreadable if it can only be text of a string.
        """
        document, lexical = self.text.document, self.assumed.tables.lexical
        if not lexical.line_starts:
            return document.broken_below(self.start)
        place = self.start
        last: int | None = None
        modes = self._modes_below
        for line in document.transitions.lines.lines(self.text.data, place):
            context = document.right_at(place)
            if not context.broken and any(map(context.ways_from, self._line_starts(modes))):
                break
            last = place
            modes = lexemes(lexical, self.text.data, place, place + line.size, modes=modes).modes or modes
            place += line.size
        return last

    @property
    def _modes_below(self) -> ModeStack:
        """The modes after the cursor's line, without a middle."""
        text, lexical = self.text, self.assumed.tables.lexical
        start, context = text.document.left_at(text.cursor)
        modes = context.modes
        for span in ((start, text.cursor), (text.cursor_end, self.start)):
            modes = lexemes(lexical, text.data, *span, modes=modes).modes or modes
        return modes

    def _line_starts(self, modes: ModeStack) -> list[int]:
        """The numbers of the line starts from which text in *modes* may be read; in code no string's."""
        tables = self.assumed.tables
        if tables.language.strings_in(modes.opened):
            return [number for number in (modes.starts_line,) if number is not None]
        starts = enumerate(tables.lexical.line_starts)
        return [number for number, start in starts if not tables.language.strings_in(start.opened)]

    def balanced(self, left: RepairedLeft) -> Iterator[Edits]:
        """Edits after which the lines below may follow any line of the cursor; gentlest first."""
        within = self.in_brackets(self.statements())
        if within is not None and within.edits:
            yield within.edits
        if self.has_strays and (
            closers := self.without_closers(self.start if within is None else within.end)
        ):
            yield closers
        position = self.outside_brackets(self.text.document, self.start)
        if position is None or self._is_header:
            return
        if edits := left.missing_below(self.statements(position)):
            yield edits

    @staticmethod
    def outside_brackets(document: ContextDocument, position: int) -> int | None:
        """The start of the next line outside brackets, from *position* on; None if that is far."""
        for _ in range(_MOST_LINES):
            if not document.right_at(position).unmatched:
                return position
            position += document.line_at(position).size
        return None

    def without_closers(self, begin: int | None = None) -> Edits:
        """The edits after which the line after the cursor's, or that at *begin*, is outside brackets."""
        offside = self.assumed.tables.offside
        position = self.start if begin is None else begin
        if not offside or not self.text.document.right_at(position).unmatched:
            return ()
        statements = self.statements()
        while (line := statements.next_line(position)) is not None:
            reading = statements.read(line.start)
            if reading.edits:
                return reading.edits
            if not self.text.document.right_at(line.end).unmatched:
                return ()
            position = line.end
        return ()

    @property
    def has_strays(self) -> bool:
        """True if the next lines close brackets that, by their columns, were never opened before them."""
        document, closing = self.text.document, self._closing_line(self.statements())
        position = self.start if closing is None else closing.end
        if not self.assumed.tables.offside or not document.right_at(position).unmatched:
            return False
        for line in document.transitions.lines.lines(document.data, position):
            if not document.right_at(position + line.size).unmatched:
                return not self.is_continued(position)
            position += line.size
        return False

    def follows_deeper(self, column: Column | None, document: ContextDocument, start: int) -> bool:
        """True if the next line is deeper than *column*, but a blank line keeps it from being a block.

        A slip counts as well, if it is still there in *document*, at *start*, unless the line opens a
        bracket.
        """
        line = self.statements().next_line(self.start)
        if column is None or line is None or not line.column.deeper_than(column) or self._is_header:
            return False
        if is_slip(line.column, column):
            if self.assumed.layout.left_open((self.own_line(),)):
                return False
            repaired = self.statements_of(document, start).next_line(start)
            return repaired is None or repaired.column != column
        after = self.text.data[self.start : line.start].splitlines()[:1]
        is_apart = any(not blank.strip() for blank in after)
        return is_apart and not self.text.document.right_at(self.start).unmatched

    def without_all(self) -> Edits:
        """The edit that removes everything after the cursor's line."""
        return ((self.start, len(self.text.data), b""),) if self.start < len(self.text.data) else ()

    def in_place(self, statements: Statements, position: int) -> Reading | None:
        """The reading of the line at *position* in the brackets that are open before the cursor's line."""
        if self.assumed.tables.lexical.line_starts:
            return self._in_place_somewhere(statements, position)
        end = position + self.text.document.line_at(position).size
        after = self.text.document.right_at(end)
        ways = tuple((after.ways() if self.column is None else after.ways_at(self.column)).values())
        reading = statements.in_place(
            position, merged(self.assumed.tables.backward.earley, ways), backward=True
        )
        return reading if reading is not None and reading.edits else None

    def _in_place_somewhere(self, statements: Statements, position: int) -> Reading | None:
        """As `in_place`, with several line starts: the cheapest reading from any of them."""
        tables = self.assumed.tables
        readings: list[Reading] = []
        for modes in tables.lexical.line_starts:
            own = statements.in_modes(modes)
            unit = own.unit(position)
            after = self.text.document.right_at(unit.end)
            end = None if unit.lexemes.modes is None else unit.lexemes.modes.starts_line
            ways = tuple(after.ways_from(0 if end is None else end).values())
            if not ways:
                continue
            reading = own.in_place(position, merged(tables.backward.earley, ways), backward=True)
            if reading is not None and reading.edits:
                readings.append(reading)
        return min(readings, key=lambda reading: reading.cost, default=None)

    def is_continued(self, stop: int) -> bool:
        """True if the lines up to *stop* may be in brackets that were opened before them."""
        lines, data = self.text.document.transitions.lines, self.text.data
        position, last = self.start, None
        if not self._brackets and self._opens_none:
            return False
        while position <= stop:
            line = lines.read(data, position)
            if line.column is not None:
                symbols = self.assumed.tables.terminals(line.kinds)
                outside = self.column is not None and not line.column.deeper_than(self.column)
                kind = self.assumed.tables.lexical.kinds[line.kinds[0]]
                closes = kind in self.assumed.tables.opening_of
                if (outside and not closes) or symbols[0] not in self.assumed.in_brackets:
                    return False
                if last is not None and (last, symbols[0]) not in self.assumed.tables.neighbours:
                    return False
                last = symbols[-1]
            position += line.size
        return True


class BrokenBelow:
    """The last line below the cursor's that cannot be read, at *position*, and edits that may repair it."""

    def __init__(self, right: RepairedRight, position: int) -> None:
        self.right = right
        self.document = right.text.document
        self.position = position
        self.statements = right.statements()

    def has_no_layout(self) -> bool:
        """True if lines and columns mean nothing in the language."""
        return not self.statements.tables.offside

    def may_be_inside(self) -> bool:
        """True if the line does not start as a statement does."""
        return not self._is_statement(self.position)

    def _is_statement(self, position: int) -> bool:
        return self.statements.starts_statement(self.statements.unit(position))

    def is_hopeless(self) -> bool:
        """True if no valid line starts like it."""
        unit = self.statements.unit(self.position)
        return unit.column is not None and self.statements.is_hopeless(unit)

    def is_before_cursor(self) -> bool:
        """True if the logical line of the line starts before the cursor."""
        return self._statement is None

    def is_changed(self) -> bool:
        """True if the reading of the logical line changes it, or it lacks a header for the lines after it."""
        return bool(self.reading.edits) or self.reading.lacks_header

    @cached_property
    def reading(self) -> Reading:
        """The cheapest reading of the logical line, or of the next one if it starts before the cursor."""
        start = self._statement
        if start is None:
            start = self.position + self.document.line_at(self.position).size
        line = self.statements.next_line(start)
        return self.statements.read(self.position if line is None else line.start)

    def in_place(self) -> Edits:
        """Repair the line by itself, in the brackets and blocks around it."""
        reading = self.right.in_place(self.statements, self.position)
        return () if reading is None else reading.edits

    def removed(self) -> Edits:
        """Remove the line."""
        return self.statements.without(self.position)

    def with_header_end(self) -> Edits:
        """End a header as such, where it ends with an opening bracket instead."""
        return header_end(self.statements, self.position)

    def with_closer(self) -> Edits:
        """Add the closing bracket for which the column of the line is right."""
        return missing_closer(self.statements, self.position)

    def without_slip(self) -> Edits:
        """Take back an indentation by one column too many."""
        return without_slip_below(self.statements, self.position)

    def with_bracket(self) -> Edits:
        """Add the closing bracket before this line or the next, or the opening one, that columns show."""
        after = self.statements.next_line(self.statements.unit(self.position).end)
        for position in (self.position, self.position if after is None else after.start):
            edits = (
                missing_closer(self.statements, position)
                or missing_opener(self.statements, position)
                or self.right.closer_for_line(self.statements, position)
            )
            if edits:
                return edits
        return ()

    def in_opened(self) -> Edits:
        """Repair the lines as content of a bracket that the cursor's line opens."""
        return self._in_lines_of(self.right.in_opened(self.statements))

    def in_brackets(self) -> Edits:
        """Repair the lines as content of the brackets that the cursor's line is in."""
        return self._in_lines_of(self.right.in_brackets(self.statements))

    def _in_lines_of(self, within: Reading | None) -> Edits:
        """The edits of *within* if the line is part of it, or those of the line alone if it is dear."""
        if within is None or not within.start <= self.position < within.end:
            return ()
        if within.cost > 2 * PASSED and (alone := self._alone(within.cost)):
            within = alone
        return within.edits or self.right.without_closers(within.end)

    def _alone(self, most: int) -> Reading | None:
        """The reading of the line alone, if it is part of brackets and costs less than *most*."""
        reading = self.right.in_place(self.statements, self.position) if self.may_be_inside() else None
        return reading if reading is not None and reading.cost < most else None

    def removed_with_end(self) -> Edits:
        """Remove the line with its end."""
        unit = self.statements.unit(self.position)
        return ((unit.start, unit.end, b""),)

    def as_read(self) -> Edits:
        """Repair the logical line as its cheapest reading says, with a header for deeper lines after it."""
        slip = without_slip_below(self.statements, self.reading.start) if self.reading.edits else ()
        return (*with_header(self.statements, self.reading), *slip)

    def fitted(self) -> Edits:
        """Make the logical line, valid by itself, and the lines after it fit together."""
        statements, reading = self.statements, self.reading
        first = after = statements.next_line(reading.end)
        while first is not None and after is not None and after.column.deeper_than(reading.column):
            if is_slip(first.column, after.column):
                return (indented(statements, first.start, after.column),)
            if first.column.deeper_than(after.column):
                return self._with_block_column(reading.column, first.column, after.start, after.column)
            after = statements.next_line(after.end)
        is_next = after is not None and after.column == reading.column
        if after is not None and is_next and not self.document.right_at(after.start).bodies:
            return statements.passed(after.start).edits
        return statements.passed(reading.start).edits

    def _with_block_column(self, outer: Column, inner: Column, start: int, column: Column) -> Edits:
        """The edit after which the line at *start*, of a *column* between two others, is in a block.

        It gets the nearer column of *outer* and *inner*, or the lines above it a header.
        """
        is_nearer = 2 * column.tabs8 >= inner.tabs8 + outer.tabs8
        is_alone = self.statements.read(start).lacks_header
        header = () if is_alone else header_above(self.statements, start, column)
        if is_nearer and header:
            return header
        return (indented(self.statements, start, inner if is_nearer else outer),)

    def passed(self) -> Edits:
        """Pass over the line; a header stands in for it if a block follows."""
        return self.statements.passed(self.position).edits

    def given_up(self) -> Edits:
        """Remove the line with its end, as far as it was read."""
        return ((self.position, self.position + self.document.line_at(self.position).size, b""),)

    @cached_property
    def _statement(self) -> int | None:
        """The start of the logical line that makes the line invalid; None if that is before the cursor."""
        position, line = self.position, self.document.line_at(self.position)
        unmatched = self.document.right_at(position + line.size).unmatched - len(line.openers)
        if unmatched < 0 or not unmatched + len(line.closers):
            return position
        above = self._opening_line(unmatched + len(line.closers))
        if above is None and not self.right.is_continued(position):
            if unmatched and (around := self._opening_line(unmatched, or_most=True)) is not None:
                return around
            return position + line.size if unmatched and not self._lacks_opener() else position
        return above

    def _lacks_opener(self) -> bool:
        """True if the line opens a bracket, or should, as deeper lines follow."""
        statements, position = self.statements, self.position
        line, after = statements.unit(position), statements.next_line(statements.unit(position).end)
        if statements.unmatched(position)[1]:
            return True
        if statements.is_line(position):
            return False
        return line.column is not None and after is not None and after.column.deeper_than(line.column)

    def _opening_line(self, unmatched: int, *, or_most: bool = False) -> int | None:
        """The line from which brackets are open at the broken line, unless columns contradict that.

        There are *unmatched* brackets; with *or_most* not all of them need be opened.
        """
        data, lines, begin = self.document.data, self.document.transitions.lines, self.right.start
        position = self.position
        least = lines.read(data, position).column
        most: int | None = None
        for _ in range(_MOST_LINES):
            if position <= begin:
                return most
            position = max(data.rfind(b"\n", begin, position - 1) + 1, begin)
            line = lines.read(data, position)
            if line.broken or line.column is None:
                continue
            unmatched += len(line.closers) - len(line.openers)
            if unmatched <= 0:
                return position if least is None or least.deeper_than(line.column) else None
            if least is None or least.deeper_than(line.column):
                least = line.column
                if or_most and line.openers and self._is_statement(position):
                    most = position
        return most


RIGHT_REPAIRS: tuple[RepairRow[BrokenBelow], ...] = (
    # attempts, condition, edits, least cost
    RepairRow(EARLY, BrokenBelow.has_no_layout, BrokenBelow.in_place, INSERTED),
    RepairRow(EARLY, BrokenBelow.has_no_layout, BrokenBelow.removed, PASSED_LINE),
    RepairRow(FIRST, always, BrokenBelow.with_header_end, 0),
    RepairRow(FIRST, BrokenBelow.may_be_inside, BrokenBelow.with_closer, 0),
    RepairRow(FIRST, BrokenBelow.may_be_inside, BrokenBelow.without_slip, 0),
    RepairRow(FIRST, always, BrokenBelow.with_bracket, 0),
    RepairRow(FIRST, always, BrokenBelow.in_opened, INSERTED),
    RepairRow(FIRST, always, BrokenBelow.in_brackets, INSERTED),
    RepairRow(EARLY, BrokenBelow.is_hopeless, BrokenBelow.removed_with_end, PASSED_LINE),
    RepairRow(EARLY, BrokenBelow.is_before_cursor, BrokenBelow.in_place, INSERTED),
    RepairRow(EARLY, BrokenBelow.is_changed, BrokenBelow.as_read, INSERTED),
    RepairRow(EARLY, always, BrokenBelow.fitted, INSERTED),
    RepairRow(LAST, always, BrokenBelow.passed, PASSED_LINE),
    RepairRow(GIVEN_UP, always, BrokenBelow.given_up, PASSED_LINE),
)
