"""Chooses a way to read a broken text in which the middle need not leave the cursor's block and brackets.

The layout shows which block and brackets the cursor is in. A candidate is taken at once if some middle surely
stays in them, and none is taken if its cheapest middle leaves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import islice
from typing import NamedTuple

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.nesting import Column
from fimlsp.quotient.first_state import ConnectOptions, connect, read_up_to
from fimlsp.quotient.recovery.bracket_layout import Unit
from fimlsp.quotient.recovery.candidates import (
    Candidate,
    Trust,
    after_line,
    bracketed,
    candidates,
    finishing,
    in_block,
    reopened,
    reopened_for_middle,
    string_ended,
    with_any_header,
    with_first_word,
    with_operand,
    with_rest_ended,
    without_closer,
)
from fimlsp.quotient.recovery.finished_line import (
    balances_line,
    count_unmatched,
    finishes_line,
    opens_as_needed,
)
from fimlsp.quotient.recovery.lexemes import column_of, lexemes
from fimlsp.quotient.recovery.lines import NextLine
from fimlsp.quotient.recovery.repair_left import RepairedLeft
from fimlsp.quotient.recovery.repair_right import RepairedRight
from fimlsp.quotient.recovery.repaired_text import RepairedText, always
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State

_MOST_HEADED, _MOST_REOPENED = 4, 2


class Choice(NamedTuple):
    """A repaired text with its first state; `is_sure` if a middle surely stays in the cursor's block."""

    state: State
    text: RepairedText
    is_sure: bool = False


def _connected(found: Iterable[Candidate], options: ConnectOptions) -> Iterator[Choice]:
    """The changed texts of those *found* that connect."""
    for candidate in found:
        text = candidate.text
        before = read_up_to(text.document, text.cursor) if text.repairs else None
        state = before and connect(text.document, text.cursor_end, *before, options)
        if state is not None:
            yield Choice(state, text)


def _assumes_at(cursor_end: int, choice: Choice) -> bool:
    """True if *choice* assumes text at the cursor, and repairs the text after it as well."""
    places = [repair.start for repair in choice.text.repairs if repair.start >= cursor_end]
    return len(places) > 1 and cursor_end in places


def _balances(choice: Choice) -> bool:
    """True if the cheapest middle in *choice* opens a bracket of its line, or closes one, and no more."""
    text = choice.text
    return balances_line(text.document, choice.state, text.cursor, text.cursor_end)


class RepairChoice:
    """Chooses candidates for the cursor's line, which starts at *line_start* in the original text."""

    def __init__(self, left: RepairedLeft, right: RepairedRight, line_start: int) -> None:
        self.left = left
        self.right = right
        self.line_start = line_start
        self._known_fits: dict[int, bool] = {}

    def choose_finishing(
        self, cursor_end: int, options: ConnectOptions, *, of_rest: bool = False
    ) -> Choice | None:
        """As `choose`: the first changed text in which the cheapest middle only finishes the line.

        One where it has a lexeme at most comes first. If the line has other repairs, one comes first that
        assumes nothing at the cursor, as the middle writes that. The cursor ends at *cursor_end* in the
        original text.
        With *of_rest* the rest of the line is changed.
        """
        for found in finishing(in_block(self.left), self.right, of_rest=of_rest):
            best: tuple[tuple[bool, int], Choice] | None = None
            for choice in self._finishing(found, options):
                count = _assumes_at(cursor_end, choice), self._count_lexemes(choice)
                if best is None or count < best[0]:
                    best = count, choice
                if count <= (False, 1):
                    break
            if best is not None:
                return best[1]
        return None

    def _finishing(self, found: Iterable[Candidate], options: ConnectOptions) -> Iterator[Choice]:
        """The changed texts of those *found* in which the cheapest middle only finishes the line."""
        for choice in _connected(found, options):
            if self.finishes(choice) or _balances(choice):
                yield choice

    def choose_reopened(self, nearest: Choice, options: ConnectOptions) -> Iterator[Choice]:
        """As `choose_finishing`: a closing bracket of the rest was opened before the cursor.

        Nothing if a middle that opens that bracket is *nearest*, or only finishes the line.
        """
        if not (_balances(nearest) or self.finishes(nearest)):
            yield from islice(self._finishing(reopened(in_block(self.left), self.right), options), 1)

    def _count_lexemes(self, choice: Choice) -> int:
        """The number of lexemes in the cheapest middle."""
        middle = b"" if choice.state.complete else choice.state.shortest_completion
        return len(lexemes(self.left.assumed.tables.lexical, middle, 0, len(middle)).read)

    def choose_others(self, options: ConnectOptions) -> Iterator[Choice]:
        """As `choose_finishing`: readings that are as likely as another one.

        A word may be lost at the start of the line, if a slip of that shows its lack. A string that is open
        at the cursor may have ended. Above deeper lines the middle may write the first word of any header. A
        dot before the cursor may lack an operand, and a line that is cut off its end.
        """
        left, right = in_block(self.left), self.right
        yield from islice(self._finishing(with_operand(left, right), options), 1)
        yield from islice(self._finishing(with_rest_ended(left, right), options), 1)
        worded = with_first_word(left, right) if left is not self.left else ()
        yield from islice(self._finishing(worded, options), _MOST_HEADED)
        yield from islice(self._finishing(string_ended(left, right), options), 1)
        yield from islice(self._finishing(with_any_header(left, right), options), _MOST_HEADED)

    def choose_closing(self, options: ConnectOptions) -> Iterator[Choice]:
        """As `choose_finishing`: the line lost a bracket that the middle closes, or closes one twice."""
        left, right = in_block(self.left), self.right
        yield from islice(self._finishing(reopened_for_middle(left, right), options), _MOST_REOPENED)
        yield from islice(self._finishing(without_closer(left, right), options), 1)

    def choose_ended(self, options: ConnectOptions) -> Choice | None:
        """As `choose_finishing`: a string that is open at the cursor ended before it."""
        return next(self._finishing(string_ended(in_block(self.left), self.right), options), None)

    @property
    def lacks_opener(self) -> bool:
        """True if the cursor's line closes a bracket of another kind than the one open there."""
        return self.left.assumed.layout.closes_over_another(self.right.own_line())

    def choose_bracketed(self, options: ConnectOptions) -> Iterator[Choice]:
        """As `choose_finishing`: the cheapest middle closes a bracket of the line, or opens one."""
        for found in bracketed(in_block(self.left), self.right):
            yield from islice(filter(_balances, _connected(found, options)), 1)

    def finishes(self, choice: Choice) -> bool:
        """True if the cheapest middle in *choice* only finishes the line, or opens no more than needed."""
        assumed, text = self.left.assumed, choice.text
        place = text.document, choice.state, text.cursor, text.cursor_end
        return finishes_line(assumed, *place) if assumed.tables.offside else opens_as_needed(*place)

    def choose(self, line_end: int, options: ConnectOptions) -> Choice | None:
        """The first state of the middles in the best candidate, and its text; None if no candidate connects.

        The cursor's line ends at *line_end* in the original text.
        """
        fallback: Choice | None = None
        for number, (candidate, trust) in enumerate(candidates(in_block(self.left), self.right)):
            if trust is Trust.ROUGH and fallback is not None:
                break
            if trust is Trust.SURE and (candidate.left.depth or self._closes_brackets()):
                continue
            text = candidate.text
            before = read_up_to(text.document, text.cursor)
            state = before and connect(text.document, text.cursor_end, *before, options)
            if state is None or before is None:
                continue
            opened = _depth(before[1]) - candidate.left.depth
            check = MiddleCheck(candidate._replace(number=number), state, opened, self, line_end)
            if trust is not Trust.ROUGH and check.surely_stays():
                return Choice(state, text, is_sure=True)
            if trust in (Trust.SURE, Trust.ENCLOSED) or check.leaves():
                continue
            if trust is Trust.ROUGH:
                return Choice(state, text)
            fallback = fallback or Choice(state, text)
        return fallback

    def _closes_brackets(self) -> bool:
        """True if the cursor's line may go on in the brackets above, and closes one that it does not open."""
        left, right = self.left, self.right
        before = left.text.data[left.stop : left.text.cursor]
        if (
            count_unmatched(left.assumed.tables.lexical, right.rest)[0]
            <= count_unmatched(left.assumed.tables.lexical, before)[1]
        ):
            return False
        chart = after_line(left, right)
        return chart is not None and chart.expects(left.assumed.tables.newline)

    def fits(self, candidate: Candidate) -> bool:
        """True if the lines below may follow those above with any whole line between, outside brackets."""
        number = candidate.number
        if number not in self._known_fits:
            left, document = candidate.left, candidate.text.document
            start = candidate.start_below(self.right)
            fits = not left.depth and not document.right_at(start).unmatched and left.takes_line()
            below = self.right.statements_of(document, start)
            self._known_fits[number] = fits and not left.missing_below(below)
        return self._known_fits[number]


class MiddleCheck:
    """Checks the middles of *candidate*, which start in *state*, against the layout around the cursor.

    The cursor's line has *opened* so many brackets before the cursor, and ends at *line_end* in the original
    text. `closers` and `openers` are the numbers of unmatched brackets in the cheapest middle, `closed_after`
    and `opened_after` those in the rest of the line.
    """

    def __init__(
        self, candidate: Candidate, state: State, opened: int, choice: RepairChoice, line_end: int
    ) -> None:
        self._candidate = candidate
        self._left = candidate.left
        self._right = choice.right
        self._state = state
        self._opened = opened
        self._choice = choice
        self._line_end = line_end
        self.closed_after, self.opened_after = count_unmatched(
            self._left.assumed.tables.lexical, self._right.rest
        )

    def surely_stays(self) -> bool:
        """True if a middle surely need not leave a block or bracket that it is in by the layout."""
        return next(answer for condition, answer in STAYS if condition(self))

    def leaves(self) -> bool:
        """True if the cheapest middle leaves a block or bracket that it is in by the layout."""
        return isinstance(self._state, GrammarState) and any(condition(self) for condition in LEAVES)

    # The cheapest middle

    @cached_property
    def _completion(self) -> bytes:
        return self._state.shortest_completion

    @cached_property
    def _unmatched(self) -> tuple[int, int]:
        return count_unmatched(self._left.assumed.tables.lexical, self._completion)

    @property
    def closers(self) -> int:
        """The number of brackets that the cheapest middle closes without opening them."""
        return self._unmatched[0]

    @property
    def openers(self) -> int:
        """The number of brackets that the cheapest middle leaves open."""
        return self._unmatched[1]

    # Conditions of `STAYS`

    def any_line_fits(self) -> bool:
        """True if the lines around fit together with any line between, and this one is whole."""
        is_whole = self.closed_after == self._opened or (
            self.closed_after < self._opened and not self._right.rest.strip()
        )
        return is_whole and not self.opened_after and self._choice.fits(self._candidate)

    def is_in_lexeme(self) -> bool:
        """True if the middle stays in a string or comment."""
        return not isinstance(self._state, GrammarState)

    def lacks_block(self) -> bool:
        """True if the text below dedents to a column that no open block has."""
        is_offside = self._right.text.document.tables.offside
        return is_offside and self._left.lacking_column(self._candidate.text) is not None

    def leaves_line(self) -> bool:
        """True if the cheapest middle ends the line or comments out its rest, or deeper lines are apart."""
        start, column = self._candidate.start_below(self._right), self._left.cursor_line().column
        completion = self._completion
        if b"\n" in completion or self._right.follows_deeper(column, self._candidate.text.document, start):
            return True
        lexical = self._left.assumed.tables.lexical
        read = lexemes(lexical, completion, 0, len(completion)).read
        return bool(self._right.rest) and (read[-1].end if read else 0) < len(completion.rstrip())

    def replaces_bracket(self) -> bool:
        """True if the cheapest middle closes a bracket of its line and opens another."""
        return bool(self.openers) and 0 < self.closers <= self._opened

    def is_in_unchanged_line(self) -> bool:
        """True if no repair is in the logical line of the cursor, so that its brackets are right."""
        return self._is_as_it_was() and (not self.openers or self._may_close_below())

    def opens_only_needed(self) -> bool:
        """True if the cheapest middle opens no more brackets than the lines below close."""
        unmatched = self._unmatched_below() - self._left.depth - self._opened + self.closed_after
        return self.openers <= max(unmatched, 0) + (self.closers if self._may_reopen() else 0)

    # Conditions of `LEAVES`

    def reopens_outer(self) -> bool:
        """True if the cheapest middle closes a bracket of the lines above and opens another, without need."""
        return bool(self.closers > self._opened and self.openers and not self._may_reopen())

    def closes_before_deeper(self) -> bool:
        """True if the cheapest middle closes a bracket of its line that the line below is in."""
        return 0 < self.closers <= self._opened and not self.closed_after and self._goes_on_below()

    def closes_too_many(self) -> bool:
        """True if the cursor's line closes more brackets of the lines above than it may."""
        beyond = self.closers + min(self.closed_after - self._opened, 0)
        return beyond > 0 and beyond + max(self.closed_after - self._opened, 0) > self._may_close()

    def dedents(self) -> bool:
        """True if the cheapest middle has a line of code that is shallower than the cursor's."""
        column = self._left.cursor_line().column
        lines = self._completion.split(b"\n")[1:]
        columns = (column_of(line[: -len(line.lstrip())]) for line in lines if line.strip())
        return column is not None and any(column.deeper_than(other) for other in columns)

    def closes_assumed(self) -> bool:
        """True if the cheapest middle closes a bracket that a repair of the cursor's line opens."""
        lexical, start, end = self._left.assumed.tables.lexical, self._choice.line_start, self._line_end
        assumed = (
            repair.replacement
            for repair in self._candidate.text.repairs
            if start <= repair.start and repair.end <= end
        )
        return self.closers > 0 and any(count_unmatched(lexical, text)[1] for text in assumed)

    # Brackets around the cursor's line

    def _is_as_it_was(self) -> bool:
        """True if no repair is in the logical line of the cursor."""
        left, below = self._left, self._candidate.start_below(self._right)
        begin, _ = left.text.document.statement_before(left.stop)
        end = self._right.outside_brackets(self._candidate.text.document, below)
        if end is None:
            return False
        first, last = self._choice.line_start - (left.stop - begin), self._line_end + end - below
        repairs = self._candidate.text.repairs
        return all(repair.end <= first or repair.start >= last for repair in repairs)

    def _unmatched_below(self) -> int:
        """The number of brackets closed by the lines below for the cursor's line or those above to open."""
        right = self._right
        if right.has_strays or not (right.closes_for_line or right.goes_on_in_brackets):
            return 0
        return self._candidate.text.document.right_at(self._candidate.start_below(right)).unmatched

    @cached_property
    def _column(self) -> Column | None:
        return self._left.cursor_line().column

    @cached_property
    def _next(self) -> NextLine | None:
        return self._right.statements().next_line(self._right.start)

    def _may_close(self) -> int:
        """The number of brackets open before the cursor's line that may be closed in it."""
        left, column = self._left, self._column
        before_cursor = left.text.data[left.stop : left.text.cursor]
        is_inside = left.may_be_inside or bool(before_cursor.strip())
        if not left.depth or column is None or (self._next is None and is_inside):
            return left.depth
        start, _ = left.text.document.statement_before(left.stop)
        units = left.statements().units_from(start)
        before = left.statements().column_before(left.stop)
        is_after_deeper = before is not None and before.deeper_than(column)
        closed = len(left.cursor_line().closes)
        aligned = max(left.assumed.layout.as_deep_as(units, column) - closed, 0) if is_after_deeper else 0
        if self._next is None or not is_inside:
            return aligned
        return max(aligned, self._closed_before(self._next, units, column))

    def _closed_before(self, line: NextLine, above: Sequence[Unit], column: Column) -> int:
        """The number of brackets opened *above* that may close before *line*; the cursor's has *column*."""
        left, statements = self._left, self._right.statements()
        layout, unit = left.assumed.layout, statements.unit(line.start)
        left_before = len(layout.left_before(above, unit, outermost=True))
        if statements.starts_closing(line):
            return left_before
        is_near = not column.deeper_than(line.column) or statements.are_unaligned(above)
        if is_near and (statements.is_part(unit) or statements.is_part(self._right.own_line())):
            return 0
        is_deeper = line.column.deeper_than(above[0].column or Column())
        if not is_deeper or True in left.assumed.ends.of(left.text.document.left_at(left.stop)[1].group):
            return left.depth  # the line is outside all of them, or may be in the block of a header
        return max(left_before, layout.as_deep_as(above, line.column))

    def _may_close_below(self) -> bool:
        """True if the lines below may close a bracket that the cursor's line opens."""
        column, start = self._column, self._candidate.start_below(self._right)
        below = self._right.statements_of(self._candidate.text.document, start)
        line = below.next_line(start)
        if column is None or line is None or not (self._left.depth or line.column.deeper_than(column)):
            return False
        closing = below.closing_line(start)
        if closing is None:
            return True
        if below.starts_closing(closing):
            return not column.deeper_than(closing.column)
        return not self._right.rest.strip() or closing.column.deeper_than(column)

    def _goes_on_below(self) -> bool:
        """True if the line below is in a bracket that the cursor's line, which is no header, opens."""
        line, column = self._next, self._column
        if line is None or column is None or self._right.statements().starts_closing(line):
            return False
        return line.column.deeper_than(column) and not self._may_be_header()

    def _may_be_header(self) -> bool:
        """True if a block may follow the cursor's line."""
        if self._left.depth or self._right.ends_as_no_header:
            return False
        chart = after_line(self._left, self._right)
        return chart is None or True in self._left.assumed.ends.of(chart)

    def _may_reopen(self) -> bool:
        """True if the cursor's line may close a bracket and open another one."""
        column, above = self._column, self._left.column
        if column is None or above is None or column.deeper_than(above):
            return False
        return self._next is not None and self._next.column.deeper_than(column)


STAYS: tuple[tuple[Callable[[MiddleCheck], bool], bool], ...] = (
    # condition, answer if it is the first that holds
    (MiddleCheck.any_line_fits, True),
    (MiddleCheck.is_in_lexeme, True),
    (MiddleCheck.lacks_block, False),
    (MiddleCheck.leaves, False),
    (MiddleCheck.leaves_line, False),
    (MiddleCheck.replaces_bracket, False),
    (MiddleCheck.is_in_unchanged_line, True),
    (MiddleCheck.opens_only_needed, True),
    (always, False),
)
LEAVES = (
    MiddleCheck.reopens_outer,
    MiddleCheck.closes_before_deeper,
    MiddleCheck.closes_too_many,
    MiddleCheck.dedents,
    MiddleCheck.closes_assumed,
)


def _depth(lexer: LexerState) -> int:
    """The number of open brackets, counting the last lexeme, which need not have ended."""
    last = lexer.lexical.kinds[lexer.accepted] if lexer.accepted >= 0 else ""
    after = lexer.modes.after(last) if last in lexer.lexical.brackets else None
    return (lexer.modes if after is None else after).depth
