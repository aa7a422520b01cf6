"""Leaves out the broken statements of a file that the cursor is not in.

In a language without an offside layout, people start the statements of a file itself at the left margin. A
fault in one of them concerns no cursor in another. So the lines from that statement to the cursor's are left
out, as in panic mode (Aho et al., "Compilers", 2nd edition, section 4.1.4). The other statements have the
contexts that they had before, however long the file is.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from fimlsp.lexing.line import modes_after_reading, physical_end
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.recovery.lexemes import indentation_at
from fimlsp.quotient.recovery.repaired_text import RepairedText

_MOST_LINES = 2_000
_BRACKETS = (b"(", b")"), (b"[", b"]"), (b"{", b"}")


def without_broken_statements(text: RepairedText, start: int, end: int) -> Iterator[RepairedText]:
    """*text* without broken statements above and below the cursor's line, from *start* to *end*.

    Then, if that is not enough, also without those above that leave something open. Nothing is yielded if
    only the statement of that line may be broken. Broken statements of a single line stay, as they are easily
    repaired. O(statements left out), and O(lines above) for the second text.
    """
    before, after = text.cursor - start, end - text.cursor_end
    steps = (
        (_MarginStatements.without_above, _MarginStatements.without_below),
        (_MarginStatements.without_unclosed,),
    )
    for step in steps:
        repaired = text
        for leave_out in step:
            place = repaired.cursor - before, repaired.cursor_end + after
            repaired = leave_out(_MarginStatements(repaired.document, *place), repaired)
        if repaired is not text:
            text = repaired
            yield text


class _MarginStatements:
    """The statements that start at the left margin, around the line from *start* to *end*."""

    def __init__(self, document: ContextDocument, start: int, end: int) -> None:
        self.document = document
        self.data = document.data
        self.start = start
        self.end = end
        self.tables = document.tables
        self._chart = self._before_second()

    def _before_second(self) -> EarleySet:
        """The set before the second statement of the file, or before the first one if that may go there too.

        An unfinished first statement could go on with an operator.
        """
        first = self.document.left_at(0)[1].group
        places = (place for place in self._margin(0) if place and _is_whole_before(self.document, place))
        second = next(places, 0)
        kinds = self.document.line_at(second).kinds
        if not kinds or first.expects(self.tables.terminal_of[kinds[0]]):
            return first
        return self.document.left_at(second)[1].group

    def without_above(self, text: RepairedText) -> RepairedText:
        """*text* without the broken statements above, if one more may then follow at the cursor's."""
        own = self._own
        if own is None or _is_whole_before(self.document, own):
            return text
        between = [own]
        for whole in self._starts_above(self._line_above(own)):
            if _is_whole_before(self.document, whole):
                break
            between.append(whole)
        else:
            return text
        for last in dict.fromkeys((between[-1], own)):
            trial = self._left_out(text, whole, last)
            if trial is not None and _is_whole_before(trial.document, own - (last - whole)):
                return trial
        return text

    def without_unclosed(self, text: RepairedText) -> RepairedText:
        """*text* without the statements above that leave brackets or blocks open.

        The lines after such a statement can be read, as its content.
        """
        own = self._own
        if own is None:
            return text
        starts = [own, *self._starts_above(self._line_above(own))]
        spans = [
            (above, below) for below, above in pairwise(starts) if leaves_open(self.document, above, below)
        ]
        trial = text.copy() if spans else text
        trial.replace((start, stop, b"") for start, stop in spans)
        shift = sum(stop - start for start, stop in spans)
        return trial if _is_whole_before(trial.document, own - shift) else text

    def without_below(self, text: RepairedText) -> RepairedText:
        """*text* without the broken statements below, if all that follow the cursor's can be read then."""
        own = self._own
        if own is None or not _is_whole_before(self.document, own):
            return text
        starts = (place for place in self._margin(self.end) if self._may_start(place))
        first = next((place for place in starts if self._is_in_code(own, place)), None)
        if first is None or _is_whole_from(self.document, first):
            return text
        between, whole = [first], len(self.data)
        for place in starts:
            if _is_whole_from(self.document, place):
                whole = place
                break
            between.append(place)
        for begin in dict.fromkeys((between[-1], first)):
            trial = self._left_out(text, begin, whole)
            if trial is not None and _is_whole_from(trial.document, first):
                return trial
        return text

    @property
    def _own(self) -> int | None:
        """The start of the statement with the cursor's line."""
        starts = self._starts_above(self.start)
        places = pairwise(chain(starts, (0,)))
        shown = (place for place, above in places if self._is_known(place) or self._is_in_code(above, place))
        return next(shown, None)

    def _is_known(self, place: int) -> bool:
        """True if the text up to *place* is whole, and no string is open there."""
        modes = self.document.left_at(place)[1].modes
        return _is_whole_before(self.document, place) and not self.tables.language.strings_in(modes.opened)

    def _left_out(self, text: RepairedText, first: int, last: int) -> RepairedText | None:
        """*text* without that from *first* to *last*; None if all its lines are at the margin."""
        if not _has_body(self.data, first, last):
            return None
        trial = text.copy()
        trial.replace(((first, last, b""),))
        return trial

    def _starts_above(self, place: int | None) -> Iterator[int]:
        """The starts of lines at the margin from *place* upwards with which a statement may start."""
        for _ in range(_MOST_LINES):
            if place is None:
                return
            if self._is_at_margin(place) and self._may_start(place):
                yield place
            place = self._line_above(place)

    def _line_above(self, position: int) -> int | None:
        return self.data.rfind(b"\n", 0, position - 1) + 1 if position > 0 else None

    def _margin(self, place: int) -> Iterator[int]:
        """The starts of lines at the margin from *place* on."""
        for _ in range(_MOST_LINES):
            if place >= len(self.data):
                return
            if self._is_at_margin(place):
                yield place
            place = self.data.find(b"\n", place) + 1 or len(self.data)

    def _is_at_margin(self, place: int) -> bool:
        return self.data[place : place + 1] not in (b"", b" ", b"\t", b"\r", b"\n")

    def _may_start(self, place: int) -> bool:
        """True if a statement may start at *place*."""
        line = self.document.line_at(place)
        if line.broken or not line.kinds:
            return False
        language, name = self.tables.language, self.tables.lexical.kinds[line.kinds[0]]
        if name in language.closing or (name in language.closers and not name.isalpha()):
            return False  # it goes on with a block or list
        return not place or self._chart.expects(self.tables.terminal_of[line.kinds[0]])

    def _is_in_code(self, start: int, stop: int) -> bool:
        """True if *stop* is the start of a line of code, as far as the lines from *start* on show."""
        lexical, place = self.tables.lexical, start
        modes = lexical.start
        for _ in range(_MOST_LINES):
            if place >= stop:
                break
            line = self.document.line_at(place)
            following = (modes_after_reading(lexical, reading, modes) for reading in line.readings)
            modes = next(filter(None, following), modes)
            place = physical_end(self.data, place) if line.broken else place + line.size
        return place == stop and not self.tables.language.strings_in(modes.opened)


def leaves_open(document: ContextDocument, start: int, stop: int) -> bool:
    """True if the statement of several lines from *start* to *stop* leaves a bracket or block open."""
    language, kinds, opened = document.tables.language, document.tables.lexical.kinds, list[str]()
    text = document.data[start:stop]
    is_even = all(text.count(opener) == text.count(closer) for opener, closer in _BRACKETS)
    if (is_even and not language.blocks) or not _has_body(document.data, start, stop):
        return False
    place = start
    while place < stop:
        line = document.line_at(place)
        for name in (kinds[kind] for kind in line.kinds):
            if opened and name in language.closers[opened[-1]]:
                opened.pop()
            if name in language.closers:
                opened.append(name)
            if language.strings_in((name,)):
                return False  # lines of code may be text
        place += max(line.size, 1)
    return bool(opened)


def _has_body(data: bytes, first: int, last: int) -> bool:
    """True if a line from *first* to *last* is deeper than the first one."""
    column = len(indentation_at(data, first))
    return any(
        len(indentation_at(line, 0)) > column for line in data[first:last].splitlines() if line.strip()
    )


def _is_whole_before(document: ContextDocument, place: int) -> bool:
    """True if the text up to *place* can be read, and leaves no bracket open."""
    start, context = document.left_at(place)
    return start == place and not context.broken and not context.modes.depth


def _is_whole_from(document: ContextDocument, place: int) -> bool:
    """True if the text from *place* on can be read as code, and closes nothing that it does not open."""
    context, tables = document.goes_on_at(place), document.tables
    if context is None or context.unmatched:
        return False
    starts = [
        number
        for number, start in enumerate(tables.lexical.line_starts)
        if not tables.language.strings_in(start.opened)
    ]
    return not starts or any(map(context.ways_from, starts))
