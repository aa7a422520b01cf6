"""Judges if a middle only has to finish the cursor's line, so that the text around it is likely whole.

A file may be broken although some middle makes it valid. Such a middle closes a string or bracket of other
lines, opens one for them, or ends its line. A person would repair the other lines instead. So the file is
read in a further way, in which the cheapest middle finishes the cursor's line and does no more.
"""

from __future__ import annotations

from functools import cached_property

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.line import Line, physical_end, unmatched_brackets
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.broken_groups import unclosed_far_above
from fimlsp.quotient.recovery.lexemes import column_of, indentation_at, lexemes, may_end_early
from fimlsp.quotient.recovery.line_brackets import unmatched
from fimlsp.quotient.recovery.nesting import Nesting
from fimlsp.quotient.recovery.separators import SEPARATOR, rest_lacks_separator
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.lexeme_state import family_of_lexeme, within_lexeme
from fimlsp.quotient.states.protocol import State

_MOST_BLANK = 100
_STATEMENT_ENDS = b";"
_OPERAND_ENDS, _OPERAND_STARTS = ")]0123456789", "'\"0123456789"


def finishes_line(
    assumed: AssumedText, document: ContextDocument, state: State, cursor: int, cursor_end: int
) -> bool:
    """True if the cheapest middle in *state*, in place of the text up to *cursor_end*, only ends its line."""
    line = _CursorLine(document, cursor, cursor_end)
    if line.is_own_statement:
        whole = state.feed(assumed.plain_line)
        if (whole is not None and whole.complete) or not line.is_above_block:
            return whole is not None and whole.complete
    if line.is_in_whole_lexeme(state):
        return True
    if isinstance(state, GrammarState) and rest_lacks_separator(document, cursor, cursor_end):
        return False
    if not state.complete and (line.is_broken_before(assumed) or line.may_have_ended_string):
        return False
    completion = b"" if state.complete else state.shortest_completion
    if line.starts_after_cursor and not completion.strip():
        starts = (state.feed(word) for word in assumed.first_words)
        return any(start is not None and start.complete for start in starts)
    return not (b"\n" in completion or line.adds_more(completion) or line.goes_on_outside)


def balances_line(document: ContextDocument, state: State, cursor: int, cursor_end: int) -> bool:
    """True if the cheapest middle in *state*, in place of the text up to *cursor_end*, has a bracket.

    The rest of the line closes it, or it closes one before it, and nothing else is left to do.
    """
    line = _CursorLine(document, cursor, cursor_end)
    completion = b"" if state.complete else state.shortest_completion
    return b"\n" not in completion and line.is_balanced_by(completion)


def may_have_ended_string(
    document: ContextDocument, state: State | None, cursor: int, cursor_end: int
) -> bool:
    """True if the middle has to end a string of its line that may have ended before the cursor.

    In *state* a middle starts that takes the place of the text up to *cursor_end*.
    """
    if state is None or state.complete or not document.tables.offside:
        return False
    return _CursorLine(document, cursor, cursor_end).has_open_string


def may_have_lost_bracket(
    document: ContextDocument, state: State | None, cursor: int, cursor_end: int
) -> bool:
    """True if a middle has to be between two operands without white space, so that it may open a bracket.

    In *state* a middle starts that takes the place of the text up to *cursor_end*.
    """
    if state is None or state.complete or not document.tables.offside:
        return False
    return _CursorLine(document, cursor, cursor_end).is_between_operands


def opens_as_needed(document: ContextDocument, state: State, cursor: int, cursor_end: int) -> bool:
    """True if the cheapest middle in *state*, in place of the text up to *cursor_end*, opens a block at most.

    It does not end in a comment. It opens brackets only for deeper lines below, or for the
    rest of its line. It closes some of the lines above only if columns show no lack of others.
    """
    if state.complete:
        return True
    lexical, completion = document.tables.lexical, state.shortest_completion
    modes = _modes_at(document, cursor) if lexical.line_starts else None
    reading = lexemes(lexical, completion, 0, len(completion), modes=modes)
    read = reading.read
    if reading.unreadable or (read and read[-1].missing):
        return False
    closed, opened = unmatched(document.tables, read)
    line = _CursorLine(document, cursor, cursor_end)
    if line.rest and (read[-1].end if read else 0) < len(completion.rstrip()):
        return False
    if opened:
        rest = lexemes(lexical, line.rest, 0, len(line.rest), modes=reading.modes if modes else None)
        if opened > unmatched(document.tables, rest.read)[0]:
            is_as_needed = not closed and line.is_above_deeper
            return is_as_needed and not Nesting(document, cursor, cursor_end).edits()
    return not closed or not (
        Nesting(document, cursor, cursor_end).edits() or unclosed_far_above(document, line.start)
    )


def _modes_at(document: ContextDocument, cursor: int) -> ModeStack | None:
    """The modes of the lexer at the *cursor*."""
    start, context = document.left_at(cursor)
    return lexemes(document.tables.lexical, document.data, start, cursor, modes=context.modes).modes


class _CursorLine:
    """The line of a cursor in *document*, and the lines around it as they are."""

    def __init__(self, document: ContextDocument, cursor: int, cursor_end: int) -> None:
        lines, data = document.transitions.lines, document.data
        self.document = document
        self.start = lines.start_of_stretch(data, cursor)
        self.end = lines.end_of_stretch(data, cursor_end)
        self.before = data[self.start : cursor]
        self.rest = data[cursor_end : self.end].strip()
        after = data[cursor_end : self.end]
        self._blanks = after[: len(after) - len(after.lstrip())]
        self._follows_directly = not self._blanks
        self.column = column_of(indentation_at(data[:cursor], self.start))

    @cached_property
    def _left(self) -> LeftContext:
        return self.document.left_at(self.start)[1]

    @cached_property
    def _next(self) -> Line | None:
        """The next line with code; None if there is none near."""
        document, position = self.document, self.end
        for _ in range(_MOST_BLANK):
            if position >= len(document.data):
                return None
            line = document.line_at(position)
            if line.column is not None:
                return line
            position += line.size
        return None

    @property
    def is_blank(self) -> bool:
        """True if the line has nothing but the indentation before the cursor."""
        return not self.before.strip() and not self.rest

    def is_in_whole_lexeme(self, state: State) -> bool:
        """True if the text is complete as it stands, and the cursor is in a string or comment of it."""
        if not state.complete or not isinstance(state, GrammarState):
            return False
        within = None if family_of_lexeme(state.lexer) is None else within_lexeme(state)
        return within is not None and within.complete

    def is_broken_before(self, assumed: AssumedText) -> bool:
        """True if the lexeme directly before the cursor may not stand there, unless a middle changes it."""
        tables, text = self.document.tables, self.before
        read = lexemes(tables.lexical, text, 0, len(text)).read
        if not read or read[-1].missing or read[-1].end < len(text):
            return False
        last = tables.terminals([lexeme.kind for lexeme in read[-2:]])
        if len(last) > 1:
            return tuple(last) not in tables.neighbours
        return not (self._left.group if self._left.modes.depth else assumed.any_line).expects(last[0])

    @property
    def may_have_ended_string(self) -> bool:
        """True if code follows a string that is open at the cursor and has a mark that may end it."""
        return any(char.isalnum() for char in self.rest.decode(errors="replace")) and self.has_open_string

    @property
    def has_open_string(self) -> bool:
        """True if a string of the line is open at the cursor and has a mark that may end it."""
        read = lexemes(self.document.tables.lexical, self.before, 0, len(self.before)).read
        return bool(read) and bool(read[-1].missing) and may_end_early(self.before[read[-1].start :])

    @property
    def is_between_operands(self) -> bool:
        """True if an operand ends directly before the cursor, and another one starts directly after it."""
        before, after = self.before[-1:].decode(errors="replace"), self.rest[:1].decode(errors="replace")
        if not (self._follows_directly and before and after):
            return False
        return (before.isidentifier() or before in _OPERAND_ENDS) and (
            after.isidentifier() or after in _OPERAND_STARTS
        )

    @property
    def starts_after_cursor(self) -> bool:
        """True if the line starts after the cursor and one blank, as if it had lost its first word.

        A line at the column of a block, or of the next line, has lost none.
        """
        if not self.rest or len(self._blanks) != 1 or self.before.strip() or b"\n" in self.before:
            return False
        column = column_of(self.before + self._blanks)
        return column not in self._left.indents.columns and (
            self._next is None or self._next.column != column
        )

    @property
    def is_own_statement(self) -> bool:
        """True if the line is blank, and only a statement of its own may stand there."""
        if not self.is_blank or not self.before:
            return False
        return self.document.left_at(self.start)[0] == self.start and not self._left.modes.depth

    @property
    def is_above_block(self) -> bool:
        """True if the very next line is deeper, so that a header is likely meant."""
        below = self.document.line_at(self.end) if self.end < len(self.document.data) else None
        return below is not None and below.column is not None and below.column.deeper_than(self.column)

    @property
    def is_above_deeper(self) -> bool:
        """True if the next line with code is deeper."""
        data, position = self.document.data, self.end
        for _ in range(_MOST_BLANK):
            lead = indentation_at(data, position)
            if data[position + len(lead) : position + len(lead) + 1] not in (b"", b"\r", b"\n"):
                return column_of(lead).deeper_than(self.column)
            position = physical_end(data, position)
        return False

    def adds_more(self, completion: bytes) -> bool:
        """True if *completion* does more than finish the line.

        It opens a string or a bracket, comments out the rest of the line, or closes brackets of other lines.
        It may end a statement and start another.
        It may also have a word such as `lambda` in brackets and more after it. Or it has a lexeme that ends
        with an operator of the rest, or moves the rest to another column.
        """
        lexical, text = self.document.tables.lexical, self.before + completion
        if not completion:
            return False
        if self.rest and not self.before.strip() and not (completion.strip() and completion[:1].strip()):
            return True
        read = lexemes(lexical, text, 0, len(text)).read
        end = read[-1].end if read else 0
        if (read and read[-1].missing) or (self.rest and end < len(text.rstrip())):
            return True
        closers, openers = count_unmatched(lexical, completion)
        if openers or (closers and self.rest) or self._swallows_operator(completion):
            return True
        if any(char in completion.rstrip()[:-1] for char in _STATEMENT_ENDS):
            return True
        opened = count_unmatched(lexical, self.before)[1]
        added = [text[lexeme.start : lexeme.end] for lexeme in read if lexeme.start >= len(self.before)]
        has_word = len(added) > 1 and any(len(word) > 1 and word.isalpha() for word in added)
        if has_word and (opened or self._left.modes.depth):
            return True
        return closers > opened and not self._may_close

    def is_balanced_by(self, completion: bytes) -> bool:
        """True if *completion* is a bracket or several, and the line leaves nothing open."""
        lexical, text = self.document.tables.lexical, self.before + completion
        read = lexemes(lexical, text, 0, len(text)).read
        if not read or read[-1].missing or read[-1].end < len(text.rstrip()):
            return False
        added = lexemes(lexical, completion, 0, len(completion)).read
        brackets = {*lexical.brackets, *lexical.brackets.values()}
        if not added or any(lexical.kinds[lexeme.kind] not in brackets for lexeme in added):
            return False
        if count_unmatched(lexical, completion)[0] and not self._may_close_here:
            return False
        closers, openers = count_unmatched(lexical, text + self.rest)
        below, depth = self.document.right_at(self.end).unmatched, self._left.modes.depth
        return closers <= depth and openers <= max(below - (depth - closers), 0)

    def _swallows_operator(self, completion: bytes) -> bool:
        """True if the last lexeme of *completion*, as `0`, goes on in an operator of the rest, as in `0.`."""
        lexical = self.document.tables.lexical
        alone, after = (lexemes(lexical, text, 0, len(text)).read for text in (completion, self.rest))
        if not alone or not after or alone[-1].end < len(completion) or not self._follows_directly:
            return False
        text = completion + self.rest
        joined = lexemes(lexical, text, 0, len(text)).read[len(alone) - 1]
        kinds = {joined.kind, alone[-1].kind}
        return joined.end > len(completion) and len(kinds) == 1 and after[0].kind not in kinds

    @property
    def _may_close_here(self) -> bool:
        """True unless the line is deeper than its statement, or a separator is before the cursor in it."""
        before = self.before.strip()
        if not before:
            return not self.column.deeper_than(self._logical_column)
        return not (self.rest and before.endswith(SEPARATOR))

    @property
    def _may_close(self) -> bool:
        """True if brackets of the lines above may be closed here by the columns around."""
        return self._is_outside_below and not self.column.deeper_than(self._logical_column)

    @property
    def goes_on_outside(self) -> bool:
        """True if a bracket is open after the line, although the next line is outside it by its column."""
        return bool(self.document.right_at(self.end).unmatched) and self._is_outside_below

    @cached_property
    def _logical_column(self) -> Column:
        """The column of the logical line with the cursor."""
        start, _ = self.document.statement_before(self.start)
        return self.column if start == self.start else column_of(indentation_at(self.document.data, start))

    @cached_property
    def _is_outside_below(self) -> bool:
        """True if the next line is no deeper than the logical line with the cursor, and closes no bracket."""
        document, following, column = self.document, self._next, self._logical_column
        is_first = document.statement_before(self.start)[0] == self.start
        if not (is_first or self.is_blank or self.column.deeper_than(column)):
            return False  # columns mean nothing in these brackets
        if following is None or following.column is None:
            return True
        closes = document.tables.lexical.kinds[following.kinds[0]] in document.tables.opening_of
        return not following.column.deeper_than(column) and not closes


def count_unmatched(lexical: LexerTables, text: bytes) -> tuple[int, int]:
    """The numbers of brackets that *text* closes without opening them, and that it leaves open."""
    kinds = [lexical.kinds[lexeme.kind] for lexeme in lexemes(lexical, text, 0, len(text)).read]
    closers, openers = unmatched_brackets(lexical.brackets, kinds)
    return len(closers), len(openers)
