"""Mends the text below the cursor's line, statement by statement, from the last line that cannot be read."""

from __future__ import annotations

from fimlsp.quotient.recovery.above import with_header
from fimlsp.quotient.recovery.headers import Assumed, indentation
from fimlsp.quotient.recovery.mended_text import MendedText
from fimlsp.quotient.recovery.statements import Edit, Reading, Statements

_MOST_MENDS = 60
_MOST_TRIES = 3
_MOST_LINES = 40


class Below:
    """Mends *text* from the line after the cursor's on, which begins *beyond* bytes after the cursor's end."""

    def __init__(self, assumed: Assumed, text: MendedText, beyond: int) -> None:
        self.assumed = assumed
        self.text = text
        self._beyond = beyond

    @property
    def start(self) -> int:
        """Where the line after the cursor's begins."""
        return self.text.cursor_end + self._beyond

    def mend(self) -> None:
        """Mend until all lines from `start` on can be read, or too many cannot: these are passed over."""
        tried: dict[int, int] = {}
        for _ in range(_MOST_MENDS):
            place = self.text.document.broken_below(self.start)
            if place is None:
                return
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
        line = statements.next_line(self._statement_at(place))
        reading = statements.read(place if line is None else line.start)
        if reading.edits or reading.lacks_header:
            self.text.replace(with_header(self.assumed, statements, reading))
        else:
            self.text.replace(self._laid_out(statements, reading))

    def without_closers(self) -> tuple[Edit, ...]:
        """The edits by which the line after the cursor's begins outside brackets."""
        if not self.text.document.right_at(self.start).unmatched:
            return ()
        statements = self.statements()
        place = self.start
        while (line := statements.next_line(place)) is not None:
            reading = statements.read(line.start)
            if reading.edits:
                return reading.edits
            if not self.text.document.right_at(line.end).unmatched:
                return ()
            place = line.end
        return ()

    def without_rest(self) -> tuple[Edit, ...]:
        """The edit that passes over the rest of the cursor's line."""
        end = self.start - len(self.text.data[: self.start]) + len(self.text.data[: self.start].rstrip(b"\r\n"))
        return ((self.text.cursor_end, end, b""),) if end > self.text.cursor_end else ()

    def statements(self) -> Statements:
        """The reader of the text below."""
        document = self.text.document
        return Statements(self.assumed, document.transitions.lines, document.data, len(document.data))

    def _statement_at(self, place: int) -> int:
        """Where the logical line begins that makes the line at *place* invalid."""
        line = self.text.document.line_at(place)
        after = self.text.document.right_at(place + line.size)
        if not after.unmatched:
            return place
        above = self._opening_line(place, after.unmatched + len(line.closers))
        return place + line.size if above is None else above

    def _opening_line(self, place: int, unmatched: int) -> int | None:
        """The line from which brackets are open at *place*, if the layout does not speak against it."""
        data, lines = self.text.data, self.text.document.transitions.lines
        own = lines.read(data, place)
        unmatched -= len(own.openers)
        if unmatched <= 0:
            return place
        least = None if own.column is None else own.column
        for _ in range(_MOST_LINES):
            if place <= self.start:
                return None
            place = max(data.rfind(b"\n", self.start, place - 1) + 1, self.start)
            line = lines.read(data, place)
            if line.broken or line.column is None:
                continue
            unmatched += len(line.closers) - len(line.openers)
            if unmatched <= 0:
                return place if least is None or least.deeper_than(line.column) else None
            if least is None or least.deeper_than(line.column):
                least = line.column
        return None

    def _laid_out(self, statements: Statements, reading: Reading) -> tuple[Edit, ...]:
        """The edits by which a line that is valid by itself stands before what follows it."""
        after = statements.next_line(reading.end)
        deeper = None
        while after is not None and after.column.deeper_than(reading.column):
            deeper, after = after, statements.next_line(after.end)
        if after is not None:
            context = self.text.document.right_at(after.start)
            if after.column == reading.column and not context.bodies:
                return statements.passed(after.start).edits
            if deeper is not None and after.column != reading.column and context.column == after.column:
                unit = statements.unit(after.start)
                return ((after.start, unit.code, indentation(reading.column)),)
        return statements.passed(reading.start).edits
