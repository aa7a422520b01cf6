"""The text below the cursor's line, and the brackets that it shares with that line.

The lines below may close a bracket that the cursor's line opens, or continue in one that is open before it.
Columns decide which, and the costs of reading the lines so and as statements of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.bracket_layout import Unit
from fimlsp.quotient.recovery.lexemes import Lexemes, lexemes
from fimlsp.quotient.recovery.readings import Reading
from fimlsp.quotient.recovery.repair_costs import MISALIGNED, STILL_BROKEN
from fimlsp.quotient.recovery.repaired_text import Edits, RepairedText
from fimlsp.quotient.recovery.statements import OpenBrackets, Statements

_MOST_LINES = 40


class ClosingLine(NamedTuple):
    """A line that closes a bracket of the kind *opening*, and perhaps more."""

    start: int
    end: int
    opening: str
    closes_more: bool


def closing_line_below(statements: Statements, start: int, column: Column) -> ClosingLine | None:
    """The line from *start* on that closes a bracket which the line before, of *column*, opens.

    It is the one that starts with the closer in this column. Else it is the first deeper one that closes more
    than is opened before it. There is none if no deeper line comes first.
    """
    tables, layout = statements.tables, statements.assumed.layout
    line, depth = statements.next_hopeful(start), 0
    if line is None or not line.column.deeper_than(column):
        return None
    deeper: ClosingLine | None = None
    for _ in range(_MOST_LINES):
        if line is None:
            break
        closers, openers = statements.unmatched(line.start)
        is_deeper = line.column.deeper_than(column)
        if not is_deeper:
            if line.column != column or not layout.starts_with_closer(statements.unit(line.start)):
                break
            depth = 0  # whatever is open in the lines above
        if len(closers) > depth:
            opening = tables.opening_of[closers[depth]]
            closing = ClosingLine(line.start, line.end, opening, closes_more=len(closers) > depth + 1)
            if not is_deeper:
                return closing
            deeper = deeper or closing
        depth = max(depth + len(openers) - len(closers), 0)
        line = statements.next_hopeful(line.end)
    return deeper


class SharedBrackets:
    """Reads *text* from the line after the cursor's on, which starts *beyond* bytes after the cursor's end.

    *column* is that of the logical line with the cursor, *line_column* that of the line itself, None if it is
    unknown. *brackets* finds those around it, if any.
    """

    def __init__(
        self,
        assumed: AssumedText,
        text: RepairedText,
        beyond: int,
        column: Column | None,
        line_column: Column | None,
        brackets: Callable[[], tuple[OpenBrackets, ...]],
    ) -> None:
        self.assumed = assumed
        self.text = text
        self.column = column
        self._line_column = line_column
        self._beyond = beyond
        self._find_brackets = brackets
        self._known_in_brackets: tuple[tuple[bytes, int], Reading | None] | None = None

    @cached_property
    def _brackets(self) -> tuple[OpenBrackets, ...]:
        return self._find_brackets()

    def move(self, beyond: int, size: int) -> None:
        """Let the cursor's end be *beyond* bytes before the next line, and *size* bytes after the cursor."""
        self.text.cursor_end, self._beyond = self.text.cursor + size, beyond

    @property
    def start(self) -> int:
        """The start of the line after the cursor's."""
        return self.text.cursor_end + self._beyond

    @property
    def rest(self) -> bytes:
        """The rest of the cursor's line."""
        return self.text.data[self.text.cursor_end : self.start].rstrip(b"\r\n")

    @property
    def ends_as_no_header(self) -> bool:
        """True if the cursor's line has code after the cursor, and headers do not end with it."""
        reading = lexemes(self.assumed.tables.lexical, self.rest, 0, len(self.rest))
        return bool(reading.read or reading.unreadable) and not self._is_header

    @property
    def _is_header(self) -> bool:
        """True if the cursor's line ends as lines do that a block follows."""
        tables, rest = self.assumed.tables, self.rest
        reading = lexemes(tables.lexical, rest, 0, len(rest))
        if not reading.read or reading.unreadable or not tables.offside:
            return False
        symbols = tables.terminals([lexeme.kind for lexeme in reading.read])
        after = tables.backward.read_any(tables.backward.start(tables.bodies), tuple(tables.suites))
        return after is not None and tables.backward.read(after, (tables.newline, *symbols[::-1])) is not None

    def statements(self, begin: int | None = None) -> Statements:
        """The reader of the text below, or of that from *begin* on."""
        return self.statements_of(self.text.document, self.start if begin is None else begin)

    def statements_of(self, document: ContextDocument, begin: int) -> Statements:
        """The reader of the text of *document* from *begin* on."""
        size = len(document.data)
        return Statements(self.assumed, document.transitions.lines, document.data, size, begin=begin)

    def own_line(self) -> Unit:
        """The cursor's line, as it is without a middle."""
        lexical, text = self.assumed.tables.lexical, self.text
        begin = text.document.transitions.lines.start_of_stretch(text.data, text.cursor)
        before = lexemes(lexical, text.data, begin, text.cursor).read
        after = lexemes(lexical, text.data, text.cursor_end, self.start).read
        return Unit(begin, self.start, self._line_column, Lexemes((*before, *after), (), joined=False))

    # Brackets that the cursor's line opens

    def _closing_line(self, statements: Statements) -> ClosingLine | None:
        """The line that closes a bracket which the cursor's line opens, by columns."""
        column = self._line_column
        return None if column is None else closing_line_below(statements, self.start, column)

    @property
    def closes_for_line(self) -> bool:
        """True if the lines below close a bracket which the cursor's line opens, by columns."""
        return self._closing_line(self.statements()) is not None

    @property
    def _opens_none(self) -> bool:
        """True if the cursor's line surely opens no bracket that the lines below close."""
        statements = self.statements()
        return self._is_header or (
            self._closing_line(statements) is not None and self.in_opened(statements) is None
        )

    def in_opened(self, statements: Statements) -> Reading | None:
        """The reading of the lines in a bracket that the cursor's line opens."""
        if self._is_header:
            return None
        closing = self._closing_line(statements) or self._closing_line(statements.early)
        if closing is None:
            return self._in_unclosed(statements)
        reading = statements.inside(self.start, closing.end, self.assumed.inside(closing.opening))
        if reading is not None and reading.cost:
            closing, reading = self._or_further(statements, closing, reading)
        if reading is not None and self._ends_with_opener(closing):
            return reading
        if reading is None or statements.is_apart(self.start, reading, or_ends=True):
            return None
        apart = statements.cost_apart(self.start, closing.end)
        line = statements.next_line(self.start)
        if apart and line is not None and (alone := statements.read(line.start)).end >= closing.end:
            apart = min(apart, alone.cost)
        more = STILL_BROKEN + MISALIGNED * statements.is_aligned_with_before(closing.start, self.start)
        return reading if reading.cost + (more if reading.cost else 0) <= apart else None

    def _or_further(
        self, statements: Statements, closing: ClosingLine, reading: Reading
    ) -> tuple[ClosingLine, Reading]:
        """*closing* with *reading*, which ends there, or the next such line with its own if cheaper."""
        column = self._line_column
        further = None if column is None else closing_line_below(statements, closing.end, column)
        if further is None:
            return closing, reading
        other = statements.inside(self.start, further.end, self.assumed.inside(further.opening))
        apart = statements.cost_apart(closing.end, further.end)
        is_cheaper = other is not None and other.cost < reading.cost + apart
        return (further, other) if other is not None and is_cheaper else (closing, reading)

    def _ends_with_opener(self, closing: ClosingLine) -> bool:
        """True if the cursor's line ends with the bracket that *closing*, in its column, closes."""
        lexical, rest = self.assumed.tables.lexical, self.rest
        read = lexemes(lexical, rest, 0, len(rest)).read
        line = self.statements().next_line(closing.start)
        is_aligned = line is not None and line.column == self._line_column
        return is_aligned and bool(read) and lexical.kinds[read[-1].kind] == closing.opening

    def _in_unclosed(self, statements: Statements) -> Reading | None:
        """The reading of the deeper lines in brackets that the cursor's line opens and nothing closes."""
        tables, own, column = self.assumed.tables, self.own_line(), self._line_column
        opened = self.assumed.layout.left_open((own,))
        if not self.rest.strip() or not opened or column is None:
            return None
        end = self.start
        while (line := statements.next_line(end)) is not None and line.column.deeper_than(column):
            end = line.end
        chart = self.assumed.inside(tables.opening_of[opened[-1][0]])
        return statements.unclosed(own, self.start, end, chart) if end > self.start else None

    def closer_for_line(self, statements: Statements, position: int) -> Edits:
        """The edit that closes before the line at *position* a bracket that the blank cursor's line opens.

        No line starts like that at *position*. It has the column of the cursor's line, with deeper ones in
        between.
        """
        unit, column = statements.unit(position), self._line_column
        if column is None or unit.column != column or not statements.is_hopeless(unit):
            return ()
        following = statements.column_after(self.start, column)
        line = statements.next_line(self.start)
        if self.own_line().read or line is None or not line.column.deeper_than(column):
            return ()
        closing = statements.closing_line(self.start)
        if following != column or (closing is not None and closing.start < position):
            return ()
        brackets = self.assumed.tables.lexical.brackets
        beside = statements.next_line(unit.end)
        opened = () if beside is None else statements.unmatched(beside.start)[1]
        readings = [
            (statements.inside(self.start, position, self.assumed.inside(kind)), kind) for kind in brackets
        ]
        ways = [
            (reading.cost, brackets[kind] not in opened, kind)
            for reading, kind in readings
            if reading is not None
        ]
        if not ways:
            return ()
        text = self.assumed.layout.closer(brackets[min(ways)[2]])[1]
        return ((unit.code_start, unit.code_start, text),)

    # Brackets that are open before the cursor's line

    @property
    def goes_on_in_brackets(self) -> bool:
        """True if the lines below are valid in the brackets that the cursor's line is in."""
        reading = self.in_brackets(self.statements())
        return reading is not None and not reading.cost

    def in_brackets(self, statements: Statements) -> Reading | None:
        """The reading of the lines after the cursor's in the brackets that it is in."""
        key = statements.data, statements.begin
        if self._known_in_brackets is None or self._known_in_brackets[0] != key:
            self._known_in_brackets = key, self._read_in_brackets(statements)
        return self._known_in_brackets[1]

    def _read_in_brackets(self, statements: Statements) -> Reading | None:
        if not self._brackets or self._closes_all(self._brackets[0]):
            return None
        closing = self._closing_line(statements)
        if closing is not None and closing.closes_more:
            return None
        position = self.start if closing is None else closing.end
        best: Reading | None = None
        for brackets in self._after_line(has_closer=closing is not None):
            if best is not None and not best.cost:
                break
            reading = statements.within(position, *self._still_in(statements, brackets, position))
            if reading is not None and (best is None or reading.cost < best.cost):
                best = reading
        if best is None or statements.is_apart(position, best):
            return None
        above = self._brackets[0].above
        is_closed = self._line_column is not None and not self._line_column.deeper_than(
            above[0].column or Column()
        )
        is_closed = is_closed and not statements.are_unaligned(above)
        return None if is_closed and statements.cost_apart(position, best.end) < best.cost else best

    def _still_in(self, statements: Statements, brackets: OpenBrackets, position: int) -> OpenBrackets:
        """Those of *brackets* that the line at *position* is still in, by its column.

        The others are for the cursor's line to close.
        """
        tables = self.assumed.tables
        line = statements.next_hopeful(position)
        if line is None:
            return brackets
        chart, closed = brackets.chart, list[int]()
        for kind in self.assumed.layout.left_before(brackets.above, statements.unit(line.start)):
            symbol = tables.terminal_of[kind]
            following = tables.forward.read(self.assumed.before(chart, symbol), (symbol,))
            if following is None:
                break
            chart = following
            closed.append(kind)
        return brackets.after(chart, closed, position)

    def _after_line(self, *, has_closer: bool) -> Iterator[OpenBrackets]:
        """The brackets that may be open after the cursor's line, or after a line that *has_closer* of it."""
        yield self._brackets[0]
        if not has_closer and (through := self._through_line(self._brackets[0])) is not None:
            yield through
        yield from self._brackets[1:]

    def _through_line(self, brackets: OpenBrackets) -> OpenBrackets | None:
        """The brackets after the cursor's line if *brackets* are before it, and the middle changes nothing.

        None if the line cannot be read so.
        """
        tables, own = self.assumed.tables, self.own_line()
        after = [lexeme for lexeme in own.read if lexeme.start >= self.text.cursor_end]
        before = [lexeme for lexeme in own.read if lexeme.start < self.text.cursor_end]
        closed = len(brackets.above[-1].read)
        before, after = (before[closed:], after) if before else (before, after[closed:])
        chart = tables.forward.read(brackets.chart, tables.terminals([lexeme.kind for lexeme in before]))
        symbols = tables.terminals([lexeme.kind for lexeme in after])
        if chart is not None and symbols:
            chart = tables.forward.read(self.assumed.before(chart, symbols[0]), symbols)
        return None if chart is None else OpenBrackets(chart, (*brackets.above[:-1], own))

    def _closes_all(self, brackets: OpenBrackets) -> bool:
        """True if the cursor's line closes all of *brackets*, after the closers included in them."""
        lexical = self.assumed.tables.lexical
        closed = len(brackets.above[-1].read)
        opened = [closing for closing, _ in self.assumed.layout.left_open(brackets.above)]
        for lexeme in self.own_line().read[closed:]:
            kind = lexical.kinds[lexeme.kind]
            if not opened:
                break
            if kind in lexical.brackets:
                opened.append(lexical.brackets[kind])
            elif kind == opened[-1]:  # one of another kind closes what the middle opens
                opened.pop()
        return not opened
