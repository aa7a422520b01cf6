"""What stands below the cursor's line, and the brackets that this text shares with the cursor's line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

from fimlsp.lexing.columns import Column
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.recovery.layout.brackets import Unit
from fimlsp.quotient.recovery.layout.lexemes import Lexemes, lexemes
from fimlsp.quotient.recovery.mended_text import MendedText
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.statements.closers import Closer, closer_below
from fimlsp.quotient.recovery.statements.readings import MISALIGNED, Edit, Reading
from fimlsp.quotient.recovery.statements.statements import Brackets, Statements

_OPENED = 5
"""What it costs that the cursor's line opens a bracket with which the lines below still are not in order."""


class SharedBrackets:
    """Reads *text* from the line after the cursor's on, which begins *beyond* bytes after the cursor's end.

    *column* is that of the logical line with the cursor, *line_column* that of the line itself, None if it is
    unknown; *brackets* finds those around it, if any.
    """

    def __init__(
        self,
        assumed: Assumed,
        text: MendedText,
        beyond: int,
        column: Column | None,
        line_column: Column | None,
        brackets: Callable[[], tuple[Brackets, ...]],
    ) -> None:
        self.assumed = assumed
        self.text = text
        self.column = column
        self._line_column = line_column
        self._beyond = beyond
        self._find_brackets = brackets
        self._known_in_brackets: tuple[tuple[bytes, int], Reading | None] | None = None

    @cached_property
    def _brackets(self) -> tuple[Brackets, ...]:
        return self._find_brackets()

    def move(self, beyond: int, size: int) -> None:
        """Let the cursor's end be *beyond* bytes before the next line, and *size* bytes after the cursor."""
        self.text.cursor_end, self._beyond = self.text.cursor + size, beyond

    @property
    def start(self) -> int:
        """Where the line after the cursor's begins."""
        return self.text.cursor_end + self._beyond

    @property
    def rest(self) -> bytes:
        """The rest of the cursor's line."""
        return self.text.data[self.text.cursor_end : self.start].rstrip(b"\r\n")

    @property
    def ends_as_no_header(self) -> bool:
        """Whether the cursor's line ends behind the cursor, as no header does."""
        return bool(self.rest.strip()) and not self._is_header

    @property
    def _is_header(self) -> bool:
        """Whether the cursor's line ends as those do that a block follows."""
        tables, rest = self.assumed.tables, self.rest
        found = lexemes(tables.lexical, rest, 0, len(rest))
        if not found.read or found.unreadable or not tables.offside:
            return False
        symbols = tables.terminals([lexeme.kind for lexeme in found.read])
        behind = tables.backward.read_any(tables.backward.start(tables.bodies), tuple(tables.suites))
        return (
            behind is not None and tables.backward.read(behind, (tables.newline, *symbols[::-1])) is not None
        )

    def statements(self, begin: int | None = None) -> Statements:
        """The reader of the text below, or of that from *begin* on."""
        return self.statements_of(self.text.document, self.start if begin is None else begin)

    def statements_of(self, document: Document, begin: int) -> Statements:
        """The reader of the text of *document* from *begin* on."""
        size = len(document.data)
        return Statements(self.assumed, document.transitions.lines, document.data, size, begin=begin)

    def _opened(self, statements: Statements) -> Closer | None:
        """The line that closes a bracket which the cursor's line opens, as the layout tells."""
        column = self._line_column
        return None if column is None else closer_below(statements, self.start, column)

    def _in_opened(self, statements: Statements) -> Reading | None:
        """The reading of the lines in a bracket that the cursor's line opens."""
        if self._is_header:
            return None
        closer = self._opened(statements) or self._opened(statements.early)
        if closer is None:
            return self._in_unclosed(statements)
        found = statements.inside(self.start, closer.end, self.assumed.inside(closer.opening))
        if found is not None and found.cost:
            closer, found = self._or_further(statements, closer, found)
        if found is not None and self._ends_with_opener(closer):
            return found
        if found is None or statements.is_apart(self.start, found, or_ends=True):
            return None
        apart = statements.cost_apart(self.start, closer.end)
        line = statements.next_line(self.start)
        if apart and line is not None and (alone := statements.read(line.start)).end >= closer.end:
            apart = min(apart, alone.cost)
        more = _OPENED + MISALIGNED * statements.is_aligned_with_before(closer.start, self.start)
        return found if found.cost + (more if found.cost else 0) <= apart else None

    def _or_further(self, statements: Statements, closer: Closer, found: Reading) -> tuple[Closer, Reading]:
        """*closer* with *found*, the reading up to it, or the next one with its own if that is cheaper."""
        column = self._line_column
        further = None if column is None else closer_below(statements, closer.end, column)
        if further is None:
            return closer, found
        other = statements.inside(self.start, further.end, self.assumed.inside(further.opening))
        apart = statements.cost_apart(closer.end, further.end)
        return (further, other) if other is not None and other.cost < found.cost + apart else (closer, found)

    def lacking_closer(self, statements: Statements, place: int) -> Edit | None:
        """The edit that closes before the line at *place* what the cursor's blank line opens.

        No line begins like it, and it has the column of the cursor's line, with deeper ones between.
        """
        unit, column = statements.unit(place), self._line_column
        if column is None or unit.column != column or not statements.is_hopeless(unit):
            return None
        following = statements.column_after(self.start, column)
        line = statements.next_line(self.start)
        if self.own_line().found.read or line is None or not line.column.deeper_than(column):
            return None
        closing = statements.closing_line(self.start)
        if following != column or (closing is not None and closing.start < place):
            return None
        brackets = self.assumed.tables.lexical.brackets
        ways = [(statements.inside(self.start, place, self.assumed.inside(kind)), kind) for kind in brackets]
        beside = statements.next_line(unit.end)
        opened = () if beside is None else statements.unmatched(beside.start)[1]
        found = [(way.cost, brackets[kind] not in opened, kind) for way, kind in ways if way is not None]
        if not found:
            return None
        return unit.code, unit.code, self.assumed.layout.closer(brackets[min(found)[2]])[1]

    def _ends_with_opener(self, closer: Closer) -> bool:
        """Whether the cursor's line ends with the bracket that *closer*, in its column, closes."""
        lexical, rest = self.assumed.tables.lexical, self.rest
        read = lexemes(lexical, rest, 0, len(rest)).read
        line = self.statements().next_line(closer.start)
        is_aligned = line is not None and line.column == self._line_column
        return is_aligned and bool(read) and lexical.kinds[read[-1].kind] == closer.opening

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

    @property
    def closes_for_line(self) -> bool:
        """Whether the layout tells that the lines below close a bracket which the cursor's line opens."""
        return self._opened(self.statements()) is not None

    @property
    def goes_on_in_brackets(self) -> bool:
        """Whether the lines below are valid in the brackets that the cursor's line is in."""
        found = self._in_brackets(self.statements())
        return found is not None and not found.cost

    @property
    def _opens_none(self) -> bool:
        """Whether the cursor's line surely opens no bracket that the lines below close."""
        statements = self.statements()
        return self._is_header or (
            self._opened(statements) is not None and self._in_opened(statements) is None
        )

    def _in_brackets(self, statements: Statements) -> Reading | None:
        """The reading of the lines behind the cursor's in the brackets that it is in."""
        key = statements.data, statements.begin
        if self._known_in_brackets is None or self._known_in_brackets[0] != key:
            self._known_in_brackets = key, self._read_in_brackets(statements)
        return self._known_in_brackets[1]

    def _read_in_brackets(self, statements: Statements) -> Reading | None:
        if not self._brackets or self._closes_all(self._brackets[0]):
            return None
        closer = self._opened(statements)
        if closer is not None and closer.closes_more:
            return None
        place = self.start if closer is None else closer.end
        found: Reading | None = None
        for brackets in self._behind_line(has_closer=closer is not None):
            if found is not None and not found.cost:
                break
            other = statements.within(place, *statements.still_in(brackets, place))
            if other is not None and (found is None or other.cost < found.cost):
                found = other
        if found is None or statements.is_apart(place, found):
            return None
        above = self._brackets[0].above
        is_closed = self._line_column is not None and not self._line_column.deeper_than(
            above[0].column or Column()
        )
        is_closed = is_closed and not statements.are_unaligned(above)
        return None if is_closed and statements.cost_apart(place, found.end) < found.cost else found

    def _behind_line(self, *, has_closer: bool) -> Iterator[Brackets]:
        """What may be open behind the cursor's line, or behind a line that *has_closer* of what it opens."""
        yield self._brackets[0]
        if not has_closer and (through := self._through_line(self._brackets[0])) is not None:
            yield through
        yield from self._brackets[1:]

    def _through_line(self, brackets: Brackets) -> Brackets | None:
        """What is open behind the cursor's line if *brackets* are before it, and the middle changes nothing.

        None if the line cannot be read so.
        """
        tables, own = self.assumed.tables, self.own_line()
        behind = [lexeme for lexeme in own.found.read if lexeme.start >= self.text.cursor_end]
        before = [lexeme for lexeme in own.found.read if lexeme.start < self.text.cursor_end]
        closed = len(brackets.above[-1].found.read)
        before, behind = (before[closed:], behind) if before else (before, behind[closed:])
        chart = tables.forward.read(brackets.chart, tables.terminals([lexeme.kind for lexeme in before]))
        symbols = tables.terminals([lexeme.kind for lexeme in behind])
        if chart is not None and symbols:
            chart = tables.forward.read(self.assumed.before(chart, symbols[0]), symbols)
        return None if chart is None else Brackets(chart, (*brackets.above[:-1], own))

    def own_line(self) -> Unit:
        """The cursor's line, as it is without a middle."""
        lexical, text = self.assumed.tables.lexical, self.text
        begin = text.document.transitions.lines.start_of_stretch(text.data, text.cursor)
        before = lexemes(lexical, text.data, begin, text.cursor).read
        after = lexemes(lexical, text.data, text.cursor_end, self.start).read
        return Unit(begin, self.start, self._line_column, Lexemes((*before, *after), (), joined=False))

    def _closes_all(self, brackets: Brackets) -> bool:
        """Whether the cursor's line, behind the closers that *brackets* know of, closes all of them."""
        lexical = self.assumed.tables.lexical
        closed = len(brackets.above[-1].found.read)
        opened = [closing for closing, _ in self.assumed.layout.left_open(brackets.above)]
        for lexeme in self.own_line().found.read[closed:]:
            kind = lexical.kinds[lexeme.kind]
            if not opened:
                break
            if kind in lexical.brackets:
                opened.append(lexical.brackets[kind])
            elif kind == opened[-1]:  # one of another kind closes what the middle opens
                opened.pop()
        return not opened
