"""Reads a file that is broken away from the cursor as the valid one that it most nearly is."""

from __future__ import annotations

from collections.abc import Hashable

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.candidates import Kind, candidates
from fimlsp.quotient.recovery.layout.cursor_line import cursor_line
from fimlsp.quotient.recovery.layout.lexemes import lexemes
from fimlsp.quotient.recovery.layout.nesting import Nesting
from fimlsp.quotient.recovery.mended_text import Mend, MendedText
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.settling import Settling
from fimlsp.quotient.recovery.statements.readings import Edit
from fimlsp.quotient.recovery.statements.statements import Statements
from fimlsp.quotient.recovery.statements.string_beginnings import lost_beginning
from fimlsp.quotient.states.protocol import State


@remembered(4)
def _assumed_of(_: LexerTables, tables: LanguageTables) -> Assumed:
    """What is assumed in texts of the language of *tables*; freed with them."""
    return Assumed(tables)


class Recovery:
    """A broken document with the line of a cursor, mended above and below that line.

    It serves all cursors in the line, and follows edits within it as long as what was assumed does not depend
    on them.
    """

    def __init__(self, document: Document, cursor: int, cursor_end: int) -> None:
        assumed = _assumed_of(document.tables.lexical, document.tables)
        self._text = MendedText(document, cursor, cursor_end)
        beginning = _lost_beginning(assumed, document, cursor)
        self._text.replace(() if beginning is None else (beginning,))
        self._is_behind_string = beginning is not None
        self._start, line_end = self._line_around(document, cursor, cursor_end)
        self._from_end = len(document.data) - line_end
        if not document.tables.offside:
            self._text.replace(Nesting(document, cursor, cursor_end).edits())
        self._above = Above(assumed, self._text, cursor - self._start)
        self._above.mend()
        columns = self._above.column, self._above.cursor_line().column
        self._below = Below(assumed, self._text, line_end - cursor_end, *columns, self._above.brackets)
        self._below.mend()
        self._line = self._line_of(document)
        self._layout = self._above.cursor_line()
        self._settling = Settling(self._below, self._start)

    def _line_of(self, document: Document) -> Hashable:
        """What was assumed depends on of the cursor's line."""
        found = Statements(self._above.assumed, document.transitions.lines, document.data, len(document.data))
        line = found.next_line(self._start)
        line_end = len(document.data) - self._from_end
        around = self._line_around(document, self._start, max(self._start, line_end - 1))
        is_own = line is not None and line.start == self._start
        return is_own and line and (line.column, line.first), around[0], len(document.data) - around[1]

    def _line_around(self, document: Document, cursor: int, cursor_end: int) -> tuple[int, int]:
        """The start and the end of the line from *cursor* to *cursor_end*, as a string may continue it."""
        lines, lexical, data = document.transitions.lines, document.tables.lexical, document.data
        start, end = lines.start_of_stretch(data, cursor), lines.end_of_stretch(data, cursor_end)
        while end < len(data) and _ends_joined(lexical, data, cursor_end, end):
            end = lines.end_of_stretch(data, end)
        rest = document.line_at(cursor_end)
        if not rest.broken and data[cursor_end:end].strip():
            end = max(end, cursor_end + rest.size)  # a string that begins there ends on another line
        if self._is_behind_string:  # what seems to be in a string is behind it
            while start and _ends_joined(
                lexical, data, above := lines.start_of_stretch(data, start - 1), start
            ):
                start = above
            return start, end
        first, _ = document.left_at(cursor)
        line = document.line_at(first)
        is_joined = first < len(data) and not line.broken and first + line.size > start
        if is_joined and (
            document.tables.may_follow(line.kinds) or _ends_joined(lexical, data, first, start)
        ):
            return min(first, start), max(first + line.size, end)
        return start, end

    def follow(self, document: Document, edit: Replacement) -> bool:
        """Whether this serves *document* after *edit*."""
        start, end, replacement = edit.start, edit.end, edit.text
        line_end = len(document.data) - self._from_end - edit.shift
        if start < self._start or end >= line_end or not set(replacement).isdisjoint(b"\r\n,"):
            return False
        if self._line_of(document) != self._line:
            return False
        self._text.follow(self._start, start, end, replacement)
        return True

    def serves(self, document: Document, start: int, end: int) -> bool:
        """Whether a cursor from *start* to *end* is in the line that this was made for."""
        line_start, line_end = self._line_around(document, start, end)
        if (line_start, line_end) != (self._start, len(document.data) - self._from_end):
            return False
        data = document.data
        return self._layout == cursor_line(document.tables, data[line_start:start], data[end:line_end])

    def state(
        self, document: Document, start: int, end: int, options: ConnectOptions
    ) -> tuple[State | None, tuple[Mend, ...]]:
        """The first state of the middles for `data[start:end]` in the mended text, and how it was mended."""
        line_end = len(document.data) - self._from_end
        self._above.move(start - self._start)
        self._below.move(line_end - end, end - start)
        found: tuple[State, MendedText] | None = None
        for number, (candidate, kind) in enumerate(candidates(self._above, self._below)):
            reading = candidate._replace(number=number)
            if found is not None and kind is Kind.ROUGH:
                break
            if kind is Kind.SURE and (reading.left.depth or self._settling.closes_brackets(self._above)):
                continue
            text = reading.text
            above = read_up_to(text.document, text.cursor)
            state = above and connect(text.document, text.cursor_end, *above, options)
            if state is None or above is None:
                continue
            opened = _depth(above[1]) - reading.left.depth
            if kind is not Kind.ROUGH and self._settling.settles(state, reading, opened, line_end):
                return state, tuple(text.mends)
            if kind in (Kind.SURE, Kind.ENCLOSED) or self._settling.leaves(state, reading, opened):
                continue
            if kind is Kind.ROUGH:
                return state, tuple(text.mends)
            found = found or (state, text)
        return (None, ()) if found is None else (found[0], tuple(found[1].mends))


def _lost_beginning(assumed: Assumed, document: Document, cursor: int) -> Edit | None:
    """The edit that begins a string above the *cursor* of which only the end is there."""
    lines, data = document.transitions.lines, document.data
    place, stop = document.broken_above(cursor), lines.start_of_stretch(data, cursor)
    if place is None or place >= stop or not assumed.tables.offside:
        return None
    return lost_beginning(Statements(assumed, lines, data, stop), place)


def _ends_joined(lexical: LexerTables, data: bytes, first: int, start: int) -> bool:
    """Whether the lines of *data* from *first* up to *start* end with a line joiner."""
    return first < start and lexemes(lexical, data, first, start).joined


def _depth(lexer: LexerState) -> int:
    """How many brackets are open, also with the last lexeme, which need not have ended."""
    last = lexer.lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
    after = lexer.modes.after(last) if last in lexer.lexical.brackets else None
    return (lexer.modes if after is None else after).depth
