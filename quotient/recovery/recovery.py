"""Reads a file that is broken away from the cursor as the valid one that it most nearly is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.lexing.line import unmatched_brackets
from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.alternatives import closed, outside, without_all, without_line
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.layout.cursor_line import cursor_line
from fimlsp.quotient.recovery.layout.lexemes import lexemes
from fimlsp.quotient.recovery.layout.nesting import Nesting
from fimlsp.quotient.recovery.mended_text import Mend, MendedText
from fimlsp.quotient.recovery.repairs.assumed import Assumed
from fimlsp.quotient.recovery.statements.readings import Edit
from fimlsp.quotient.recovery.statements.statements import Statements
from fimlsp.quotient.recovery.statements.string_beginnings import lost_beginning
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.protocol import State

T = TypeVar("T")


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
        self._known_fits: dict[int, bool] = {}

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
        for number, (found_one, kind) in enumerate(_readings(self._above, self._below)):
            reading = found_one._replace(number=number)
            if found is not None and kind is _Kind.ROUGH:
                break
            if kind is _Kind.SURE and (reading.left.depth or self._closes_brackets):
                continue
            text = reading.text
            above = read_up_to(text.document, text.cursor)
            state = above and connect(text.document, text.cursor_end, *above, options)
            if state is None or above is None:
                continue
            if kind is _Kind.GENTLE:
                found = found or (state, text)
            if kind is _Kind.ROUGH or self._settles(
                state, reading, _depth(above[1]) - reading.left.depth, line_end
            ):
                return state, tuple(text.mends)
        return (None, ()) if found is None else (found[0], tuple(found[1].mends))

    @property
    def _closes_brackets(self) -> bool:
        """Whether the cursor's line may go on in the brackets above, and closes one that it does not open."""
        above, assumed = self._above, self._above.assumed
        text, document, tables = above.text, above.text.document, assumed.tables
        if self._unmatched(self._below.rest)[0] <= self._unmatched(text.data[above.stop : text.cursor])[1]:
            return False
        chart: EarleySet | None = document.left_at(above.stop)[1].group
        for part in (text.data[above.stop : text.cursor], self._below.rest):
            read = lexemes(tables.lexical, part, 0, len(part)).read
            symbols = tables.terminals([lexeme.kind for lexeme in read])
            if chart is not None and symbols:
                chart = tables.forward.read(assumed.before(chart, symbols[0]), symbols)
        return chart is not None and chart.expects(tables.newline)

    def _settles(self, state: State, reading: _Reading, opened: int, line_end: int) -> bool:
        """Whether a middle need not leave a block or bracket that the layout says it is in.

        The line itself has *opened* so many brackets before the cursor, and ends at *line_end* in the text as
        it was. Where all around the line fits, that tells it, else the cheapest completion.
        """
        closed_after, opened_after = self._unmatched(self._below.rest)
        if closed_after <= opened and not opened_after and self._fits(reading):
            return True
        if not isinstance(state, GrammarState):
            return True
        completion = state.shortest_completion
        start, column = self._start_below(reading), reading.left.cursor_line().column
        if b"\n" in completion or self._below.follows_deeper(column, reading.text.document, start):
            return False
        lexical = self._above.assumed.tables.lexical
        read = lexemes(lexical, completion, 0, len(completion)).read
        if self._below.rest and read and read[-1].end < len(completion.rstrip()):
            return False  # it makes a comment of the rest of the line
        closers, openers = self._unmatched(completion)
        if self._is_as_it_was(reading, line_end) and (not openers or self._may_close_below(reading)):
            return True
        if closers and closers > opened + (reading.left.depth if reading.left.may_be_inside else 0):
            return False
        return not openers or openers <= self._may_open(reading, opened - closed_after, closers)

    def _is_as_it_was(self, reading: _Reading, line_end: int) -> bool:
        """Whether nothing is mended in the logical line of the cursor, which ends its line at *line_end*.

        What is broken is elsewhere then, and brackets that are open there are no second fault.
        """
        left, below = reading.left, self._start_below(reading)
        begin, _ = left.text.document.statement_before(left.stop)
        end = self._below.outside_brackets(reading.text.document, below)
        if end is None:
            return False
        first, last = self._start - (left.stop - begin), line_end + end - below
        return all(mend.end <= first or mend.start >= last for mend in reading.text.mends)

    def _may_close_below(self, reading: _Reading) -> bool:
        """Whether columns allow that the lines below close a bracket that the cursor's line opens."""
        column, start = reading.left.cursor_line().column, self._start_below(reading)
        below = self._below.statements_of(reading.text.document, start)
        line = below.next_line(start)
        if column is None or line is None or not (reading.left.depth or line.column.deeper_than(column)):
            return False
        closing = below.closing_line(start)
        return closing is None or not (below.begins_closing(closing) and column.deeper_than(closing.column))

    def _may_open(self, reading: _Reading, opened: int, closers: int) -> int:
        """How many brackets a middle with as many *closers* may open, in a line that *opened* so many."""
        needed = self._unmatched_below(reading) - reading.left.depth - opened
        return max(needed, 0) + (closers if closers and self._may_reopen(reading) else 0)

    def _may_reopen(self, reading: _Reading) -> bool:
        """Whether the columns allow that the cursor's line closes a bracket and opens another one."""
        column, above = reading.left.cursor_line().column, reading.left.column
        if column is None or above is None or column.deeper_than(above):
            return False
        line = self._below.statements().next_line(self._below.start)
        return line is not None and line.column.deeper_than(column)

    def _fits(self, reading: _Reading) -> bool:
        """Whether the lines below may follow those above with any whole line between, outside brackets."""
        number = reading.number
        if number not in self._known_fits:
            left, document = reading.left, reading.text.document
            start = self._start_below(reading)
            fits = not left.depth and not document.right_at(start).unmatched and left.takes_line()
            below = self._below.statements_of(document, start)
            self._known_fits[number] = fits and not left.missing_below(below)
        return self._known_fits[number]

    def _start_below(self, reading: _Reading) -> int:
        """Where the line after the cursor's begins in *reading*."""
        return reading.text.cursor_end + self._below.start - self._below.text.cursor_end

    def _unmatched_below(self, reading: _Reading) -> int:
        """How many brackets the lines below close for the cursor's line or those above it to open."""
        below = self._below
        if below.has_strays or not (below.closes_for_line or below.goes_on_in_brackets):
            return 0
        return reading.text.document.right_at(self._start_below(reading)).unmatched

    def _unmatched(self, text: bytes) -> tuple[int, int]:
        """How many brackets *text* closes and opens."""
        lexical = self._above.assumed.tables.lexical
        kinds = [lexical.kinds[lexeme.kind] for lexeme in lexemes(lexical, text, 0, len(text)).read]
        closers, openers = unmatched_brackets(lexical.brackets, kinds)
        return len(closers), len(openers)


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


class _Kind(Enum):
    """How much a reading is trusted: whether it may be taken although it does not settle."""

    GENTLE = "taken if nothing settles"
    SURE = "taken only if it settles"
    ROUGH = "taken as it is, where no gentle one connects"


class _Reading(NamedTuple):
    """A mended text, with what is above the cursor's line."""

    text: MendedText
    left: Above
    number: int = -1


def _readings(above: Above, below: Below) -> Iterator[tuple[_Reading, _Kind]]:
    """The mended text, then others, the gentle ones first, which keep all that is at the cursor's line.

    Most often the first one is taken, so nothing is made before it is asked for.
    """
    taken_out = _Kept(chain((above,), outside(above)))
    balanced = _Kept(chain([()], below.balanced(above)))
    for reading in _combined(taken_out, balanced, below):
        yield reading, _Kind.GENTLE
    for reading in _combined(_Kept(outside(above, surely=True)), balanced, below):
        yield reading, _Kind.SURE
    lefts = _Kept(chain((above,), closed(above)))
    changes = _Kept(_changes(below))
    for reading in _combined(lefts, changes, below):
        yield reading, _Kind.ROUGH
    bare_below = (*below.without_rest(), *below.without_all())
    for reading in _combined(lefts, [bare_below], below):
        yield reading, _Kind.ROUGH
    bare = without_all(above)
    last = [without_line(above), bare, without_line(bare)]
    for reading in _combined(last, [*changes, bare_below], below):
        yield reading, _Kind.ROUGH


def _changes(below: Below) -> Iterator[tuple[Edit, ...]]:
    """What may be changed below the cursor, nothing among it; the likelier first."""
    strays = below.has_strays
    if not strays:
        yield ()
    if closers := below.without_closers():
        yield closers
    if strays:
        yield ()
    yield from below.completed_rest()
    if rest := below.without_rest():
        yield rest


class _Kept(Generic[T]):
    """The elements of an iterator, made when they are first asked for and then kept."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._known: list[T] = []

    def __iter__(self) -> Iterator[T]:
        yield from self._known
        for element in self._source:
            self._known.append(element)
            yield element


def _combined(
    lefts: Iterable[Above], changes: Iterable[tuple[Edit, ...]], below: Below
) -> Iterator[_Reading]:
    """Each of *lefts* with each of the *changes* below."""
    for change in changes:
        for left in lefts:
            text = left.text.copy() if change else left.text
            shift = left.text.cursor - below.text.cursor
            text.replace([(start + shift, end + shift, new) for start, end, new in change])
            yield _Reading(text, left)
