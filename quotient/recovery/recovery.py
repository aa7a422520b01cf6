"""Reads a file that is broken away from the cursor as the nearest valid one.

First the text above the cursor's line is repaired, then the text below, each line by line. Then the cursor's
line is read between them, in the first of several ways that connects and fits the layout.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from enum import Flag, auto
from itertools import takewhile
from operator import eq
from typing import NamedTuple

from fimlsp.lexing.lexer_tables import LexerTables, remembered
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.first_state import ConnectOptions, connect, read_up_to
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.assumed_text import AssumedText
from fimlsp.quotient.recovery.broken_groups import unclosed_far_above, without_broken_groups
from fimlsp.quotient.recovery.broken_statements import without_broken_statements
from fimlsp.quotient.recovery.choose_repair import Choice, RepairChoice
from fimlsp.quotient.recovery.finished_line import (
    finishes_line,
    may_have_ended_string,
    may_have_lost_bracket,
    opens_as_needed,
)
from fimlsp.quotient.recovery.forgotten_ends import end_forgotten, may_be_forgotten
from fimlsp.quotient.recovery.lexemes import cursor_line, lexemes
from fimlsp.quotient.recovery.line_edits import lost_string_start
from fimlsp.quotient.recovery.lines_after import repaired_after
from fimlsp.quotient.recovery.lines_around import conflict_marks
from fimlsp.quotient.recovery.missing_text import with_missing_text
from fimlsp.quotient.recovery.nesting import Nesting
from fimlsp.quotient.recovery.repair_left import RepairedLeft
from fimlsp.quotient.recovery.repair_right import RepairedRight
from fimlsp.quotient.recovery.repaired_text import Edits, RepairedText, TextRepair
from fimlsp.quotient.recovery.statements import Statements
from fimlsp.quotient.states.protocol import State, either

_LONGEST_LEAD = 16
_CLOSERS = (b")", b"]", b"}")


@remembered(4)
def _assumed_text_of(_: LexerTables, tables: LanguageTables) -> AssumedText:
    """The assumed text in the language of *tables*; freed with them."""
    return AssumedText(tables)


def _finishes(document: ContextDocument, connected: State, start: int, end: int) -> bool:
    """True if a middle only has to finish its line; it may close brackets too, if lines mean nothing."""
    tables = document.tables
    if tables.offside:
        return finishes_line(_assumed_text_of(tables.lexical, tables), document, connected, start, end)
    return opens_as_needed(document, connected, start, end)


def _is_finished(text: RepairedText) -> bool:
    """True if some middle connects *text*, and the cheapest does no more than finish the cursor's line."""
    document, start, end = text.document, text.cursor, text.cursor_end
    before = read_up_to(document, start)
    state = None if before is None or before[0].broken else connect(document, end, *before, ConnectOptions())
    return state is not None and _finishes(document, state, start, end)


class Doubt(Flag):
    """Reasons to read a text in other ways than as it stands."""

    BROKEN = auto()
    """No middle makes it valid."""
    MORE = auto()
    """The cheapest middle does more than finish the cursor's line, or lines mark a conflict."""
    STRING = auto()
    """A string that is open at the cursor may have ended before it."""
    BRACKET = auto()
    """The middle may open a bracket that the rest of the line does not close."""


def _doubts(document: ContextDocument, connected: State | None, start: int, end: int) -> Doubt:
    """The doubts about a text whose first state at the cursor is *connected*."""
    if connected is None:
        return Doubt.BROKEN
    is_marked = not document.tables.offside and conflict_marks(document, start, end)
    doubts = Doubt.MORE if is_marked or not _finishes(document, connected, start, end) else Doubt(0)
    if may_have_ended_string(document, connected, start, end):
        doubts |= Doubt.STRING
    if may_have_lost_bracket(document, connected, start, end):
        doubts |= Doubt.BRACKET
    return doubts


Check = Callable[[RepairedText, State], State]
"""The state of the middles in a repaired text that pass a check of the whole, if any do."""


class RepairedReadings(NamedTuple):
    """The first state of the middles in repaired texts, and the repairs of the likeliest.

    `stands_as_well` if the text as it stands is at least as likely; then others are `unlikely`.
    """

    state: State | None = None
    repairs: tuple[TextRepair, ...] = ()
    stands_as_well: bool = False
    unlikely: State | None = None


_NOT_REPAIRED = RepairedReadings(stands_as_well=True)


class Readings(NamedTuple):
    """All readings of a text at a cursor; `connected` reads it as it stands.

    The others are as in `RepairedReadings`; `repairs` are those of the last repaired one.
    """

    connected: State | None
    state: State | None = None
    repairs: tuple[TextRepair, ...] = ()
    stands_as_well: bool = True
    unlikely: State | None = None

    @property
    def replaces_text(self) -> bool:
        """True if some repaired reading is likelier than the text as it stands."""
        return self.state is not None and not self.stands_as_well

    def union(self, stands: State | None) -> State | None:
        """The union of all readings, with *stands* for `connected`, of which checks may refuse more."""
        if self.stands_as_well:
            return either(stands, self.state, unlikely=self.unlikely)
        return either(self.state, unlikely=stands)


def _starts_checked_name(document: ContextDocument, place: int) -> bool:
    """True if a name starts at *place* that the check of whole texts compares with another one."""
    check = document.tables.whole_text_check
    before = document.data[max(place - _LONGEST_LEAD, 0) : place]
    return check is not None and check.structure and before.endswith(check.spelt_after)


class Recoveries:
    """The recoveries of a document at its last cursor; they follow the cursor in its line."""

    def __init__(self) -> None:
        self._known: dict[bool, Recovery] = {}  # True: all that is open above is ended

    def follow(self, document: ContextDocument, edit: Replacement) -> None:
        """Keep those that still serve *document* after *edit*."""
        known, self._known = self._known, {}
        for forgotten, recovery in known.items():
            if recovery.follow(document, edit):
                self._known[forgotten] = recovery

    def readings(
        self,
        document: ContextDocument,
        connected: State | None,
        start: int,
        end: int,
        options: ConnectOptions,
        check: Check,
    ) -> Readings:
        """All readings of the text at a cursor, where *connected* reads it as it stands.

        Repaired ones pass the *check*. There are none if a middle only has to finish the line, and nothing
        open above may have been forgotten.
        """
        found, doubts = _NOT_REPAIRED, _doubts(document, connected, start, end)
        if doubts:
            recovery = self._at(document, start, end)
            found = recovery.readings(document, start, end, options, check, doubts)
        if may_be_forgotten(document, connected, start, end):
            recovery = self._at(document, start, end, forgotten=True)
            forgotten = recovery.readings(document, start, end, options, check, Doubt.BROKEN)
            if forgotten.repairs != found.repairs:
                found = found._replace(state=either(found.state, forgotten.state))
            found = found._replace(repairs=forgotten.repairs or found.repairs)
        return Readings(connected, *found)

    def _at(self, document: ContextDocument, start: int, end: int, *, forgotten: bool = False) -> Recovery:
        """The recovery at a cursor; if *forgotten*, all that is open above is ended there."""
        known = self._known.pop(forgotten, None)
        if known is None or not known.serves(document, start, end):
            known = Recovery(document, start, end, forgotten=forgotten)
        self._known[forgotten] = known
        return known


class Recovery:
    """A broken document with the line of a cursor, repaired above and below that line.

    It serves all cursors in the line, and follows edits within it as long as the repairs do not depend on
    them. If the ends of text that is open above are *forgotten*, they are assumed before that line. Where no
    statement may start there, `applies` is False.
    """

    def __init__(
        self, document: ContextDocument, cursor: int, cursor_end: int, *, forgotten: bool = False
    ) -> None:
        assumed = _assumed_text_of(document.tables.lexical, document.tables)
        text = whole = RepairedText(document, cursor, cursor_end)
        self.applies = not forgotten or end_forgotten(assumed, text)
        string_start = () if forgotten else _lost_string_start(assumed, document, cursor)
        text.replace(string_start)
        self._is_after_string = bool(string_start)
        self._forgotten = forgotten
        self._start, line_end = self._line_around(document, cursor, cursor_end)
        self._from_end = len(document.data) - line_end
        self._around_cursor = cursor - self._start, line_end - cursor_end
        self._repair(assumed, text if document.tables.offside else self._without_faults(whole))
        if not (document.tables.offside or forgotten or _is_finished(self._text)):
            found = next(filter(_is_finished, self._with_missing_text()), None)
            if found is not None:
                self._repair(assumed, found)
        self._line = self._line_of(document)
        self._layout = self._left.cursor_line()
        self._choice = RepairChoice(self._left, self._right, self._start)

    def _without_faults(self, text: RepairedText) -> RepairedText:
        """*text* with the brackets that columns show, and without the lines of a fault if that is enough."""
        text.replace(conflict_marks(text.document, text.cursor, text.cursor_end))
        self._plain = self._nested = text.copy()
        for trial in without_broken_statements(text, *self._line_in(text)):
            if _is_finished(trial):
                return trial
            text = trial
        far_above = unclosed_far_above(text.document, self._line_in(text)[0])
        text.replace((*place, b"") for place in far_above)
        self._plain, text = text, text.copy()
        text.replace(Nesting(text.document, text.cursor, text.cursor_end).edits())
        self._nested = text.copy()
        return next(filter(_is_finished, without_broken_groups(text, *self._line_in(text))), text)

    def _with_missing_text(self) -> Iterator[RepairedText]:
        """Texts in which another line has the text that it lacks."""
        is_changed = self._nested.repairs != self._plain.repairs
        for text in (self._plain, *((self._nested,) if is_changed else ())):
            if not (text.repairs and self._is_whole(text)):
                yield from with_missing_text(text, *self._line_in(text))

    def _is_whole(self, text: RepairedText) -> bool:
        """True if the lines above and below the cursor's can be read in *text*."""
        start, end = self._line_in(text)
        return text.document.broken_above(start) is None and text.document.broken_below(end) is None

    def _line_in(self, text: RepairedText) -> tuple[int, int]:
        """The start and the end of the cursor's line in *text*."""
        before, after = self._around_cursor
        return text.cursor - before, text.cursor_end + after

    def _repair(self, assumed: AssumedText, text: RepairedText) -> None:
        """Repair *text* above the cursor's line and below it, line by line."""
        before, after = self._around_cursor
        self._text = text
        self._left = left = RepairedLeft(assumed, text, before)
        left.repair()
        columns = left.column, left.cursor_line().column
        self._right = RepairedRight(assumed, text, after, *columns, left.brackets)
        self._right.repair()
        if not text.document.tables.offside and self._right.n_repairs > 1:
            self._repair_after()

    def _repair_after(self) -> None:
        """Repair the text below as lines after the cursor's instead, if that changes less of it."""
        for after in repaired_after(self._left, self._right):
            if after.changes < self._text.changes and _stays(after):
                self._text = self._left.text = self._right.text = after
                return

    def _line_of(self, document: ContextDocument) -> Hashable:
        """The part of the cursor's line that the repairs depend on."""
        lines = Statements(self._left.assumed, document.transitions.lines, document.data, len(document.data))
        line = lines.next_line(self._start)
        line_end = len(document.data) - self._from_end
        around = self._line_around(document, self._start, max(self._start, line_end - 1))
        is_own = line is not None and line.start == self._start
        return is_own and line and (line.column, line.first), around[0], len(document.data) - around[1]

    def _line_around(self, document: ContextDocument, cursor: int, cursor_end: int) -> tuple[int, int]:
        """The start and the end of the line from *cursor* to *cursor_end*, which strings may extend."""
        lines, lexical, data = document.transitions.lines, document.tables.lexical, document.data
        start, end = lines.start_of_stretch(data, cursor), lines.end_of_stretch(data, cursor_end)
        while end < len(data) and _ends_joined(lexical, data, cursor_end, end):
            end = lines.end_of_stretch(data, end)
        if self._forgotten:
            return start, end
        rest = document.line_at(cursor_end)
        if not rest.broken and data[cursor_end:end].strip():
            end = max(end, cursor_end + rest.size)  # a string that starts there ends on another line
        if self._is_after_string:  # the text that seems to be in a string is after it
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

    def follow(self, document: ContextDocument, edit: Replacement) -> bool:
        """Apply *edit*; True if this still serves *document* after it."""
        start, end, replacement = edit.start, edit.end, edit.text
        line_end = len(document.data) - self._from_end - edit.shift
        if start < self._start or end >= line_end or not set(replacement).isdisjoint(b"\r\n,"):
            return False
        if self._line_of(document) != self._line or _starts_checked_name(document, start):
            return False
        self._text.follow(self._start, start, end, replacement)
        self._right.follow(self._start, start, end, replacement)
        return True

    def serves(self, document: ContextDocument, start: int, end: int) -> bool:
        """True if a cursor from *start* to *end* is in the line of this recovery."""
        line_start, line_end = self._line_around(document, start, end)
        if (line_start, line_end) != (self._start, len(document.data) - self._from_end):
            return False
        data = document.data
        return self._layout == cursor_line(
            document.tables.lexical, data[line_start:start], data[end:line_end]
        )

    def readings(
        self,
        document: ContextDocument,
        start: int,
        end: int,
        options: ConnectOptions,
        check: Check,
        doubts: Doubt,
    ) -> RepairedReadings:
        """The readings of the middles for `data[start:end]` in repaired texts that pass the *check*.

        If the text *connects* as it stands, the cheapest middle has to finish the cursor's line and no more.
        If it does not, and the nearest reading is in doubt, such a reading is possible as well. So are those
        in which the middle opens a bracket for the rest of the line, or closes one before it. Text that is
        only missing at the cursor is not assumed: the middle writes it, and leaves a valid file. If more is
        missing before the rest of the line, that text may be missing earlier, so both are possible.
        """
        if not self.applies:
            return _NOT_REPAIRED
        line_end = len(document.data) - self._from_end
        self._left.move(start - self._start)
        self._right.move(line_end - end, end - start)
        connects = Doubt.BROKEN not in doubts
        as_it_stands = self._as_it_stands(doubts, options, check)
        if connects and Doubt.MORE not in doubts:
            return as_it_stands
        nearest = None if connects else self._choice.choose(line_end, options)
        has_rest, is_sure = self._has_rest(document, end), nearest is not None and nearest.is_sure
        if nearest is not None and is_sure and (not has_rest or self._choice.finishes(nearest)):
            return _readings(*_checked([nearest, *self._choice.choose_others(options)], check))
        finishing = self._choice.choose_finishing(end, options, of_rest=is_sure)
        is_at_cursor = finishing is not None and _inserts_at(finishing.text.repairs, document.data, end)
        if connects and is_at_cursor and not (has_rest and finishing and not finishing.state.complete):
            return as_it_stands
        choices, doubtful = self._finished(finishing, document, end, options, connects=connects)
        if nearest is not None and not is_sure:
            choices += self._choice.choose_reopened(nearest, options)
        first = None if nearest is None else _checked([nearest], check)[0]
        others = _checked(choices, check), _checked(doubtful, check)
        return self._in_order(first, *others, as_it_stands, stands=connects and is_at_cursor)

    @staticmethod
    def _in_order(
        nearest: Choice | None,
        choices: list[Choice],
        doubtful: list[Choice],
        as_it_stands: RepairedReadings,
        *,
        stands: bool,
    ) -> RepairedReadings:
        """The readings of the *nearest* choice, of others, and of *doubtful* ones, which are unlikely.

        A nearest one that is sure is unlikely as well, if there are others. The text *stands* as well, if so.
        """
        unlikely = _union(doubtful)
        if not choices:
            if nearest is None:
                return as_it_stands._replace(unlikely=either(as_it_stands.unlikely, unlikely))
            found = _readings(nearest)
            return found._replace(state=either(found.state, unlikely=unlikely))
        found, before = _readings(*choices, stands_as_well=stands), nearest and nearest.state
        if nearest is not None and nearest.is_sure:
            before, unlikely = None, either(before, unlikely)
        return found._replace(state=either(before, found.state, unlikely=unlikely))

    def _finished(
        self,
        finishing: Choice | None,
        document: ContextDocument,
        end: int,
        options: ConnectOptions,
        *,
        connects: bool,
    ) -> tuple[list[Choice], list[Choice]]:
        """The choices beside the nearest one, the likelier first, and those that are less likely.

        A choice in which the middle has a bracket is less likely if it changes more of the rest of the line
        than *finishing* does. If that bracket is a closing one, so is an equal change.
        """
        line_end = len(document.data) - self._from_end
        doubtful = [*self._choice.choose_closing(options)]
        if not connects and finishing is not None and self._choice.lacks_opener:
            finishing = None  # a bracket that the middle opens is nearer than the loss of one
        choices = [] if finishing is None else [finishing]
        bracketed = self._choice.choose_bracketed(options) if self._has_rest(document, end) else ()
        least, only_ends = (
            (0, False) if finishing is None else _changes(finishing, document.data, end, line_end)
        )
        for choice in bracketed:
            size, _ = _changes(choice, document.data, end, line_end)
            closes = choice.state.shortest_completion.startswith(_CLOSERS)
            is_more = finishing is not None and (only_ends or size + closes > least)
            (doubtful if is_more else choices).append(choice)
        return [*choices, *self._choice.choose_others(options)], doubtful

    def _as_it_stands(self, doubts: Doubt, options: ConnectOptions, check: Check) -> RepairedReadings:
        """The text as it stands, with the readings that this makes unlikely."""
        ended = self._choice.choose_ended(options) if Doubt.STRING in doubts else None
        opened = self._choice.choose_bracketed(options) if Doubt.BRACKET in doubts else ()
        choices = _checked([*(() if ended is None else (ended,)), *opened], check)
        repairs = choices[0].text.repairs if choices else ()
        return _NOT_REPAIRED._replace(repairs=tuple(repairs), unlikely=_union(choices))

    def _has_rest(self, document: ContextDocument, cursor_end: int) -> bool:
        """True if there is code after the cursor in its line."""
        return bool(document.data[cursor_end : len(document.data) - self._from_end].strip())


def _stays(text: RepairedText) -> bool:
    """True if some middle of *text* stays in its brackets."""
    before = read_up_to(text.document, text.cursor)
    options = ConnectOptions(forbid_escape=True, falls_back=False)
    return before is not None and connect(text.document, text.cursor_end, *before, options) is not None


def _checked(choices: Iterable[Choice], check: Check) -> list[Choice]:
    """The *choices* with the middles that pass the *check*."""
    return [choice._replace(state=check(choice.text, choice.state)) for choice in choices]


def _readings(first: Choice, *others: Choice, stands_as_well: bool = False) -> RepairedReadings:
    """The readings of the *first* choice and of *others*."""
    state = either(first.state, *(choice.state for choice in others))
    return RepairedReadings(state, tuple(first.text.repairs), stands_as_well)


def _union(choices: Iterable[Choice]) -> State | None:
    """The union of the readings of *choices*; None if there are none."""
    return either(*(choice.state for choice in choices))


def _changes(choice: Choice, data: bytes, cursor_end: int, line_end: int) -> tuple[int, bool]:
    """The bytes that *choice* changes in the rest of the cursor's line, and True if it adds to its end only.

    White space does not count.
    """
    size, is_at_end = 0, True
    for repair in choice.text.repairs:
        if cursor_end <= repair.start < line_end:
            old, new = data[repair.start : repair.end], repair.replacement
            kept = sum(takewhile(bool, map(eq, old, new)))
            size += len(old[kept:].strip()) + len(new[kept:].strip())
            is_at_end = is_at_end and kept == len(old) and not data[repair.end : line_end].strip()
    return size, is_at_end


def _inserts_at(repairs: Iterable[TextRepair], data: bytes, cursor_end: int) -> bool:
    """True if one of *repairs* only adds text to *data*, directly after the cursor."""
    last = cursor_end
    while data[last : last + 1] in (b" ", b"\t"):
        last += 1
    return any(
        cursor_end <= repair.start <= last
        and len(repair.replacement) > repair.end - repair.start
        and repair.replacement.endswith(data[repair.start : repair.end])
        for repair in repairs
    )


def _lost_string_start(assumed: AssumedText, document: ContextDocument, cursor: int) -> Edits:
    """The edit that starts a string above the *cursor* of which only the end is there."""
    lines, data = document.transitions.lines, document.data
    position, stop = document.broken_above(cursor), lines.start_of_stretch(data, cursor)
    if position is None or position >= stop or not assumed.tables.offside:
        return ()
    return lost_string_start(Statements(assumed, lines, data, stop), position)


def _ends_joined(lexical: LexerTables, data: bytes, first: int, start: int) -> bool:
    """True if the lines of *data* from *first* up to *start* end with a line joiner."""
    return first < start and lexemes(lexical, data, first, start).joined
