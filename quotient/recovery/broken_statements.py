"""Leaves out the broken statements of a file that the cursor is not in.

In a language without an offside layout, people start the statements of a file itself at the left margin. A
fault in one of them concerns no cursor in another. So the lines from that statement to the cursor's are left
out, as in panic mode (Aho et al., "Compilers", 2nd edition, section 4.1.4). The other statements have the
contexts that they had before, however long the file is.
"""

from __future__ import annotations

from collections.abc import Iterator

from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.recovery.lexemes import lexemes
from fimlsp.quotient.recovery.repaired_text import RepairedText

_MOST_LINES = 2_000


def without_broken_statements(text: RepairedText, start: int, end: int) -> RepairedText:
    """*text* without the broken statements above and below the cursor's line, from *start* to *end*.

    It is returned as it is if only the statement of that line may be broken, or if a broken one is a single
    line, which is easily repaired. O(statements left out).
    """
    before, after = text.cursor - start, end - text.cursor_end
    for leave_out in (_MarginStatements.without_above, _MarginStatements.without_below):
        around = _MarginStatements(text.document, text.cursor - before, text.cursor_end + after)
        text = leave_out(around, text)
    return text


class _MarginStatements:
    """The statements that start at the left margin, around the line from *start* to *end*."""

    def __init__(self, document: ContextDocument, start: int, end: int) -> None:
        self.document = document
        self.data = document.data
        self.start = start
        self.end = end
        self.tables = document.tables

    def without_above(self, text: RepairedText) -> RepairedText:
        """*text* without the broken statements above, if one more may then follow at the cursor's."""
        own = next(self._starts_above(self.start), None)
        if own is None or self._chart_before(own) is not None:
            return text
        between = [own]
        for whole in self._starts_above(self._line_above(own)):
            chart = self._chart_before(whole)
            if chart is not None:
                break
            between.append(whole)
        else:
            return text
        if not self._may_start(own, chart):
            return text
        for last in dict.fromkeys((between[-1], own)):
            trial = self._left_out(text, whole, last)
            if trial is not None and _is_whole_before(trial.document, own - (last - whole)):
                return trial
        return text

    def without_below(self, text: RepairedText) -> RepairedText:
        """*text* without the broken statements below, if all that follow the cursor's can be read then."""
        own = next(self._starts_above(self.start), None)
        chart = None if own is None else self._chart_before(own)
        if own is None or chart is None:
            return text
        starts = (place for place in self._margin_below() if self._may_start(place, chart))
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

    def _left_out(self, text: RepairedText, first: int, last: int) -> RepairedText | None:
        """*text* without that from *first* to *last*; None if all its lines are at the margin."""
        if not any(line[:1] in (b" ", b"\t") for line in self.data[first:last].splitlines()):
            return None
        trial = text.copy()
        trial.replace(((first, last, b""),))
        return trial

    def _starts_above(self, place: int | None) -> Iterator[int]:
        """The starts of lines at the margin from *place* upwards with which a statement may start."""
        for _ in range(_MOST_LINES):
            if place is None:
                return
            if self._is_at_margin(place) and self._may_start(place, None):
                yield place
            place = self._line_above(place)

    def _line_above(self, position: int) -> int | None:
        return self.data.rfind(b"\n", 0, position - 1) + 1 if position > 0 else None

    def _margin_below(self) -> Iterator[int]:
        """The starts of lines at the margin below the cursor's."""
        place = self.end
        for _ in range(_MOST_LINES):
            if place >= len(self.data):
                return
            if self._is_at_margin(place):
                yield place
            place = self.data.find(b"\n", place) + 1 or len(self.data)

    def _is_at_margin(self, place: int) -> bool:
        return self.data[place : place + 1] not in (b"", b" ", b"\t", b"\r", b"\n")

    def _may_start(self, place: int, chart: EarleySet | None) -> bool:
        """True if a statement may start at *place*: one after *chart*, if that is known."""
        line = self.document.line_at(place)
        if line.broken or not line.kinds:
            return False
        language, name = self.tables.language, self.tables.lexical.kinds[line.kinds[0]]
        if name in language.closing or name in language.closers:
            return False
        return chart is None or chart.expects(self.tables.terminal_of[line.kinds[0]])

    def _chart_before(self, place: int) -> EarleySet | None:
        """The set before *place* if the statement there may be one of the file; None otherwise."""
        if not _is_whole_before(self.document, place):
            return None
        chart = self.document.left_at(place)[1].group
        return chart if self._may_start(place, chart) else None

    def _is_in_code(self, start: int, stop: int) -> bool:
        """True if the text at *stop* is not in a string, as far as the text from *start* on shows."""
        reading = lexemes(self.tables.lexical, self.data, start, stop)
        if reading.read and reading.read[-1].missing:
            return False
        return reading.modes is None or not self.tables.language.strings_in(reading.modes.opened)


def _is_whole_before(document: ContextDocument, place: int) -> bool:
    """True if the text up to *place* can be read, and leaves no bracket open."""
    start, context = document.left_at(place)
    return start == place and not context.broken and not context.modes.depth


def _is_whole_from(document: ContextDocument, place: int) -> bool:
    """True if the text from *place* on can be read, and closes nothing that it does not open."""
    context = document.right_at(place)
    return not context.broken and not context.unmatched
