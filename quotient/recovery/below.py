"""Mends the text below the cursor's line, statement by statement, from the last line that cannot be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fimlsp.lexing.columns import Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.earley.sets import merged
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.layout.lexemes import Lexemes, lexemes
from fimlsp.quotient.recovery.repairs.assumed import indentation
from fimlsp.quotient.recovery.repairs.costs import PASSED
from fimlsp.quotient.recovery.shared_brackets import SharedBrackets
from fimlsp.quotient.recovery.statements.blocks import header_above, is_slip, slip_below
from fimlsp.quotient.recovery.statements.placing import with_header
from fimlsp.quotient.recovery.statements.readings import Edit, Reading
from fimlsp.quotient.recovery.statements.statements import Statements
from fimlsp.quotient.recovery.statements.string_beginnings import lost_beginning

_MOST_MENDS = 60
_MOST_TRIES = 3
_MOST_LINES = 40


class Below(SharedBrackets):
    """Mends the text from the line after the cursor's on."""

    def mend(self) -> None:
        """Mend until all lines from `start` on can be read, or too many cannot: these are passed over."""
        tried: dict[int, int] = {}
        for _ in range(_MOST_MENDS):
            checkpoint()
            place = self.text.document.broken_below(self.start)
            if place is None:
                return
            edit = None if tried else lost_beginning(self.statements(), self.start)
            if edit is not None and edit[0] <= place:  # what follows the last line that is broken is in order
                self.text.replace([edit])
                continue
            tried[place] = tries = tried.get(place, 0) + 1
            self._mend_at(place, tries)
        place = self.text.document.broken_below(self.start)
        if place is not None:
            end = place + self.text.document.line_at(place).size
            self.text.replace([(self.start, end, b"")])

    def _mend_at(self, place: int, tries: int) -> None:
        statements = self.statements()
        if tries > _MOST_TRIES:
            self.text.replace([(place, place + self.text.document.line_at(place).size, b"")])
            return
        if tries == _MOST_TRIES:
            self.text.replace(statements.passed(place).edits)
            return
        if not self.assumed.tables.offside:
            reading = self._in_place(statements, place)
            self.text.replace(reading.edits if reading is not None else statements.without(place))
            return
        is_inside = tries == 1 and not statements.is_outside_brackets(place)
        if is_inside and (edit := statements.lacking_closer(place) or slip_below(statements, place)):
            self.text.replace([edit])
            return
        after = statements.next_line(statements.unit(place).end)
        for begin in (place, place if after is None else after.start) if tries == 1 else ():
            if edit := (
                statements.lacking_closer(begin)
                or statements.lacking_opener(begin)
                or self.lacking_closer(statements, begin)
            ):
                self.text.replace([edit])
                return
        if tries == 1:
            for read in (self._in_opened, self._in_brackets):
                within = read(statements)
                if within is None or not within.start <= place < within.end:
                    continue
                if within.cost > 2 * PASSED and (alone := self._alone(statements, place, within.cost)):
                    within = alone
                if edits := within.edits or self.without_closers(within.end):
                    self.text.replace(edits)
                    return
        own = statements.unit(place)
        if own.column is not None and statements.is_hopeless(own):
            self.text.replace([(own.start, own.end, b"")])
            return
        start = self._statement_at(place)
        if start is None:
            reading = self._in_place(statements, place)
            if reading is not None:
                self.text.replace(reading.edits)
                return
            start = place + self.text.document.line_at(place).size
        line = statements.next_line(start)
        reading = statements.read(place if line is None else line.start)
        if reading.edits or reading.lacks_header:
            slip = slip_below(statements, reading.start) if reading.edits else None
            edits = with_header(self.assumed, statements, reading)
            self.text.replace(edits if slip is None else (*edits, slip))
        else:
            self.text.replace(self._laid_out(statements, reading))

    def balanced(self, above: Above) -> Iterator[tuple[Edit, ...]]:
        """Edits that let the lines below follow the cursor's, whatever is written there; gentlest first."""
        within = self._in_brackets(self.statements())
        if within is not None and within.edits:
            yield within.edits
        if self.has_strays and (
            closers := self.without_closers(self.start if within is None else within.end)
        ):
            yield closers
        place = self.outside_brackets(self.text.document, self.start)
        if place is None or self._is_header:
            return
        if edits := above.missing_below(self.statements(place)):
            yield edits

    @staticmethod
    def outside_brackets(document: Document, place: int) -> int | None:
        """Where the first line of *document* from *place* on is outside brackets; None if that is far."""
        for _ in range(_MOST_LINES):
            if not document.right_at(place).unmatched:
                return place
            place += document.line_at(place).size
        return None

    def without_closers(self, begin: int | None = None) -> tuple[Edit, ...]:
        """The edits that make the line after the cursor's, or that at *begin*, begin outside brackets."""
        offside = self.assumed.tables.offside
        place = self.start if begin is None else begin
        if not offside or not self.text.document.right_at(place).unmatched:
            return ()
        statements = self.statements()
        while (line := statements.next_line(place)) is not None:
            reading = statements.read(line.start)
            if reading.edits:
                return reading.edits
            if not self.text.document.right_at(line.end).unmatched:
                return ()
            place = line.end
        return ()

    @property
    def has_strays(self) -> bool:
        """Whether the next lines close brackets that, by their columns, were never opened before them."""
        document, closer = self.text.document, self._opened(self.statements())
        place = self.start if closer is None else closer.end
        if not self.assumed.tables.offside or not document.right_at(place).unmatched:
            return False
        for line in document.transitions.lines.lines(document.data, place):
            if not document.right_at(place + line.size).unmatched:
                return not self._is_continued(place)
            place += line.size
        return False

    def follows_deeper(self, column: Column | None, document: Document, start: int) -> bool:
        """Whether the next line is deeper than *column*, but a blank line keeps it from being a block.

        A slip of one column counts as well, if it is still there in *document*, at *start*, unless the line
        opens a bracket.
        """
        line = self.statements().next_line(self.start)
        if column is None or line is None or not line.column.deeper_than(column) or self._is_header:
            return False
        if is_slip(line.column, column):
            if self.assumed.layout.left_open((self.own_line(),)):
                return False
            mended = self.statements_of(document, start).next_line(start)
            return mended is None or mended.column != column
        after = self.text.data[self.start : line.start].splitlines()[:1]
        is_apart = any(not each.strip() for each in after)
        return is_apart and not self.text.document.right_at(self.start).unmatched

    def completed_rest(self) -> Iterator[tuple[Edit, ...]]:
        """The edits that close the strings and brackets which the rest of the cursor's line leaves open.

        Where deeper lines follow, the first ones also end it as headers end.
        """
        rest = self.rest
        found = lexemes(self.assumed.tables.lexical, rest, 0, len(rest)).read
        cut_off = [(lexeme.end, lexeme.missing) for lexeme in found if lexeme.missing]
        layout = self.assumed.layout
        opened = layout.left_open((Unit(0, len(rest), None, Lexemes(found, (), joined=False)),))
        closers = b"".join(layout.closer(closing)[1] for closing, _ in reversed(opened))
        ends = {len(rest): closers} if closers else {}
        for end, missing in reversed(cut_off):
            ends[end] = missing + ends.get(end, b"")
        if not ends:
            return
        line, headers = self.statements().next_line(self.start), self.assumed.ends.of_headers
        if line is not None and self.column is not None and line.column.deeper_than(self.column):
            words = [self.assumed.words((symbol,)) for symbol in sorted(headers)]
            yield from (self._at_ends({**ends, len(rest): closers + word}) for word in words)
        yield self._at_ends(ends)

    def _at_ends(self, ends: Mapping[int, bytes]) -> tuple[Edit, ...]:
        """Texts to be added in the rest of the cursor's line as edits, by their distance from the cursor."""
        return tuple((self.text.cursor_end + end,) * 2 + (text,) for end, text in ends.items())

    def without_rest(self) -> tuple[Edit, ...]:
        """The edit that passes over the rest of the cursor's line."""
        rest = self.rest
        return ((self.text.cursor_end, self.text.cursor_end + len(rest), b""),) if rest.strip() else ()

    def without_all(self) -> tuple[Edit, ...]:
        """The edit that passes over all that follows the cursor's line."""
        return ((self.start, len(self.text.data), b""),) if self.start < len(self.text.data) else ()

    def _alone(self, statements: Statements, place: int, most: int) -> Reading | None:
        """The reading of the line at *place* alone, if it is part of brackets and costs less than *most*."""
        found = None if statements.is_outside_brackets(place) else self._in_place(statements, place)
        return found if found is not None and found.cost < most else None

    def _in_place(self, statements: Statements, place: int) -> Reading | None:
        """The reading of the line at *place* in the brackets that are open before the cursor's line."""
        end = place + self.text.document.line_at(place).size
        after = self.text.document.right_at(end)
        ways = tuple((after.ways() if self.column is None else after.ways_at(self.column)).values())
        reading = statements.in_place(place, merged(self.assumed.tables.backward.earley, ways), backward=True)
        return reading if reading is not None and reading.edits else None

    def _statement_at(self, place: int) -> int | None:
        """Where the logical line begins that makes the line at *place* invalid; None if before the cursor."""
        line = self.text.document.line_at(place)
        unmatched = self.text.document.right_at(place + line.size).unmatched - len(line.openers)
        if unmatched < 0 or not unmatched + len(line.closers):
            return place
        above = self._opening_line(place, unmatched + len(line.closers))
        if above is None and not self._is_continued(place):
            if unmatched and (around := self._opening_line(place, unmatched, or_most=True)) is not None:
                return around
            return place + line.size if unmatched and not self._lacks_opener(place) else place
        return above

    def _lacks_opener(self, place: int) -> bool:
        """Whether the line at *place* opens a bracket, or should, as deeper lines follow."""
        statements = self.statements()
        line, after = statements.unit(place), statements.next_line(statements.unit(place).end)
        if statements.unmatched(place)[1]:
            return True
        if statements.is_line(place):
            return False
        return line.column is not None and after is not None and after.column.deeper_than(line.column)

    def _is_continued(self, place: int) -> bool:
        """Whether the lines up to *place* may be in brackets that were opened before them."""
        lines, data = self.text.document.transitions.lines, self.text.data
        position, last = self.start, None
        if not self._brackets and self._opens_none:
            return False
        while position <= place:
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

    def _opening_line(self, place: int, unmatched: int, *, or_most: bool = False) -> int | None:
        """The line from which brackets are open at *place*, if the layout does not speak against it.

        There are *unmatched* brackets; with *or_most* not all of them need be opened.
        """
        data, lines = self.text.data, self.text.document.transitions.lines
        least = lines.read(data, place).column
        most: int | None = None
        for _ in range(_MOST_LINES):
            if place <= self.start:
                return most
            place = max(data.rfind(b"\n", self.start, place - 1) + 1, self.start)
            line = lines.read(data, place)
            if line.broken or line.column is None:
                continue
            unmatched += len(line.closers) - len(line.openers)
            if unmatched <= 0:
                return place if least is None or least.deeper_than(line.column) else None
            if least is None or least.deeper_than(line.column):
                least = line.column
                if or_most and line.openers and self.statements().is_outside_brackets(place):
                    most = place
        return most

    def _laid_out(self, statements: Statements, reading: Reading) -> tuple[Edit, ...]:
        """The edits by which a line that is valid by itself stands before what follows it."""
        after = statements.next_line(reading.end)
        inner = None if after is None else after.column
        first = after
        while after is not None and inner is not None and after.column.deeper_than(reading.column):
            if first is not None and is_slip(inner, after.column):
                return ((first.start, statements.unit(first.start).code, indentation(after.column)),)
            if inner.deeper_than(after.column):
                column = after.column.tabs8
                is_nearer = 2 * column >= inner.tabs8 + reading.column.tabs8
                nearest = inner if is_nearer else reading.column
                is_alone = statements.read(after.start).lacks_header
                header = (
                    None if is_alone else header_above(self.assumed, statements, after.start, after.column)
                )
                if is_nearer and header is not None:
                    return (header,)
                return ((after.start, statements.unit(after.start).code, indentation(nearest)),)
            after = statements.next_line(after.end)
        if after is None or after.column != reading.column:
            return statements.passed(reading.start).edits
        if not self.text.document.right_at(after.start).bodies:
            return statements.passed(after.start).edits
        return statements.passed(reading.start).edits
