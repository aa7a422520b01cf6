"""Judges whether a middle need not leave the block or brackets that the layout says the cursor is in."""

from __future__ import annotations

from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.line import unmatched_brackets
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.candidates import Candidate
from fimlsp.quotient.recovery.enclosed import behind_line
from fimlsp.quotient.recovery.layout.lexemes import lexemes
from fimlsp.quotient.recovery.middle_brackets import MiddleBrackets
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State


class Settling:
    """Judges candidates for the cursor's line, which begins at *line_start* in the text as it was.

    The text below it is read by *below*.
    """

    def __init__(self, below: Below, line_start: int) -> None:
        self._below = below
        self._line_start = line_start
        self._known_fits: dict[int, bool] = {}

    def settles(self, state: State, reading: Candidate, opened: int, line_end: int) -> bool:
        """Whether a middle need not leave a block or bracket that the layout says it is in, and this is sure.

        The line itself has *opened* so many brackets before the cursor, and ends at *line_end* in the text as
        it was. Where all around the line fits, that tells it, else the cheapest completion.
        """
        closed_after, opened_after = self._unmatched(self._below.rest)
        is_whole = closed_after == opened or (closed_after < opened and not self._below.rest.strip())
        if is_whole and not opened_after and self._fits(reading):
            return True
        if not isinstance(state, GrammarState):
            return True
        if self._below.text.document.tables.offside and reading.left.lacking_column(reading.text) is not None:
            return False
        if self.leaves(state, reading, opened) or self._leaves_line(state.shortest_completion, reading):
            return False
        columns = MiddleBrackets(reading, self._below)
        closers, openers = self._unmatched(state.shortest_completion)
        if openers and 0 < closers <= opened:
            return False
        if self._is_as_it_was(reading, line_end) and (not openers or columns.may_close_below()):
            return True
        needed = max(self._unmatched_below(reading) - reading.left.depth - opened + closed_after, 0)
        return openers <= needed + (closers if columns.may_reopen() else 0)

    def leaves(self, state: State, reading: Candidate, opened: int) -> bool:
        """Whether the cheapest middle leaves a block or bracket that the layout says it is in.

        The line itself has *opened* so many brackets before the cursor.
        """
        if not isinstance(state, GrammarState):
            return False
        completion, columns = state.shortest_completion, MiddleBrackets(reading, self._below)
        closed_after, _ = self._unmatched(self._below.rest)
        closers, openers = self._unmatched(completion)
        if closers > opened and openers and not columns.may_reopen():
            return True
        if 0 < closers <= opened and not closed_after and columns.goes_on_below():
            return True
        beyond = closers + min(closed_after - opened, 0)
        is_beyond = beyond > 0 and beyond + max(closed_after - opened, 0) > columns.may_close()
        return is_beyond or self._dedents(completion, reading)

    def _dedents(self, completion: bytes, reading: Candidate) -> bool:
        """Whether *completion* has a line of code that is shallower than the cursor's, in *reading*."""
        column = reading.left.cursor_line().column
        lines = completion.split(b"\n")[1:]
        margins = (Margin().after(line[: -len(line.lstrip())]).counted for line in lines if line.strip())
        return column is not None and any(column.deeper_than(margin) for margin in margins)

    def _leaves_line(self, completion: bytes, reading: Candidate) -> bool:
        """Whether *completion* ends the line or makes a comment of its rest, or deeper lines stand apart."""
        start, column = reading.start_below(self._below), reading.left.cursor_line().column
        if b"\n" in completion or self._below.follows_deeper(column, reading.text.document, start):
            return True
        lexical = reading.left.assumed.tables.lexical
        read = lexemes(lexical, completion, 0, len(completion)).read
        return bool(self._below.rest) and (read[-1].end if read else 0) < len(completion.rstrip())

    def closes_brackets(self, left: Above) -> bool:
        """Whether the cursor's line may go on in the brackets above, and closes one that it does not open."""
        before = left.text.data[left.stop : left.text.cursor]
        if self._unmatched(self._below.rest)[0] <= self._unmatched(before)[1]:
            return False
        chart = behind_line(left, self._below)
        return chart is not None and chart.expects(left.assumed.tables.newline)

    def _is_as_it_was(self, reading: Candidate, line_end: int) -> bool:
        """Whether nothing is mended in the logical line of the cursor, which ends its line at *line_end*.

        What is broken is elsewhere then, and brackets that are open there are no second fault.
        """
        left, below = reading.left, reading.start_below(self._below)
        begin, _ = left.text.document.statement_before(left.stop)
        end = self._below.outside_brackets(reading.text.document, below)
        if end is None:
            return False
        first, last = self._line_start - (left.stop - begin), line_end + end - below
        return all(mend.end <= first or mend.start >= last for mend in reading.text.mends)

    def _fits(self, reading: Candidate) -> bool:
        """Whether the lines below may follow those above with any whole line between, outside brackets."""
        number = reading.number
        if number not in self._known_fits:
            left, document = reading.left, reading.text.document
            start = reading.start_below(self._below)
            fits = not left.depth and not document.right_at(start).unmatched and left.takes_line()
            below = self._below.statements_of(document, start)
            self._known_fits[number] = fits and not left.missing_below(below)
        return self._known_fits[number]

    def _unmatched_below(self, reading: Candidate) -> int:
        """How many brackets the lines below close for the cursor's line or those above it to open."""
        below = self._below
        if below.has_strays or not (below.closes_for_line or below.goes_on_in_brackets):
            return 0
        return reading.text.document.right_at(reading.start_below(below)).unmatched

    def _unmatched(self, text: bytes) -> tuple[int, int]:
        """How many brackets *text* closes and opens."""
        lexical = self._below.assumed.tables.lexical
        kinds = [lexical.kinds[lexeme.kind] for lexeme in lexemes(lexical, text, 0, len(text)).read]
        closers, openers = unmatched_brackets(lexical.brackets, kinds)
        return len(closers), len(openers)
