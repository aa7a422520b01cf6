"""Tells by the columns of lines what lacks an end or a beginning, in languages without an offside layout.

Line ends and columns mean nothing to such a language, but people indent what stands in brackets and blocks,
and close it in the column of the line that opened it (de Jonge et al., SLE 2009, section 4). Where a file is
broken, this tells where a bracket or a word such as `end` is missing long before the grammar minds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import Margin
from fimlsp.lexing.line import physical_end
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.recovery.layout.lexemes import Lexeme, lexemes

MOST_LINES = 200
"""How many lines above the cursor are read, and how many below."""
_MOST_CONDITION = 4
_LINE_ENDS = b"\r\n"
_LEAD = re.compile(rb"[ \t\f]*")
_LABEL_END = ":"

Edit = tuple[int, int, bytes]


class _Line(NamedTuple):
    """A physical line with code, or several that a lexeme joins; `opaque` if it is the cursor's."""

    start: int
    column: Column
    read: tuple[Lexeme, ...]
    opaque: bool = False


class _Opened(NamedTuple):
    """What is open: the kind of its lexeme, None if the cursor's line may open it, and where that is."""

    kind: str | None
    column: Column
    line: int
    is_last: bool


class Nesting:
    """The lines around a cursor, which spans from *cursor* to *cursor_end*.

    They are taken one by one. What is `opened` by then has the column of the line that opened it, and is
    closed behind the last line that is deeper; what was `added` is by the line that it stands behind.
    """

    def __init__(self, document: Document, cursor: int, cursor_end: int) -> None:
        self.document = document
        line_start = document.data.rfind(b"\n", 0, cursor) + 1
        line_end = physical_end(document.data, cursor_end)
        self.tables = document.tables
        self.data = document.data
        self.kinds = self.tables.lexical.kinds
        language = self.tables.language
        brackets = {opener: (closer,) for opener, closer in language.enclosures.items()}
        self.closers = {**brackets, **language.blocks}
        self.closing = frozenset(closer for closers in self.closers.values() for closer in closers)
        begin = document.left_at(_back(self.data, line_start, MOST_LINES))[0]
        self.lines = [*self._read(begin, line_start), *self._around(line_start, cursor, cursor_end, line_end)]
        self.lines += self._read(line_end, _on(self.data, line_end, MOST_LINES))
        context = document.left_at(begin)[1]
        self.first_chart: EarleySet | None = None if context.broken else context.group
        self.chart = self.first_chart
        self.n_charted = 0
        self.opened: list[_Opened] = []
        self.added: dict[int, list[str]] = {}

    def edits(self) -> tuple[Edit, ...]:
        """What is added behind lines so that what opens in a column closes there, and the other way round."""
        for number in range(len(self.lines)):
            self._take(number)
        ends = [lexeme.end for line in self.lines for lexeme in line.read[-1:]]
        if ends and not self.data[ends[-1] :].strip():
            while self.opened:
                self._close(len(self.lines))
        return tuple(self._edit(number, kinds) for number, kinds in self.added.items())

    def _edit(self, number: int, kinds: list[str]) -> Edit:
        end = self._without_line_end(self.lines[number]).read[-1].end
        return end, end, b"".join(b" " + self._word(kind) for kind in kinds)

    def _without_line_end(self, line: _Line) -> _Line:
        """*line* without the lexeme that its end is in some languages."""
        is_ended = len(line.read) > 1 and self.data[line.read[-1].start] in _LINE_ENDS
        return line._replace(read=line.read[:-1]) if is_ended else line

    def _word(self, kind: str) -> bytes:
        lexical = self.tables.lexical
        word = lexical.shortest_words.suffix(lexical.dfa.starts[lexical.start.mode], self.kinds.index(kind))
        assert word is not None
        return word

    def _read(self, start: int, stop: int) -> Iterator[_Line]:
        """The lines with code from *start* to *stop*; those that a string joins are one."""
        while start < stop:
            line = self.document.line_at(start)
            last = start if line.broken else start + line.size - 1
            end = min(physical_end(self.data, max(start, last)), stop)
            found = lexemes(self.tables.lexical, self.data, start, end)
            if found.read:
                yield _Line(start, _column(self.data, start), found.read)
            start = end

    def _around(self, start: int, cursor: int, cursor_end: int, end: int) -> Iterator[_Line]:
        """The cursor's line, of which what the cursor will bring is unknown."""
        lexical = self.tables.lexical
        before, after = (
            lexemes(lexical, self.data, *span).read for span in ((start, cursor), (cursor_end, end))
        )
        yield _Line(start, _column(self.data, start), (*before, *after), opaque=True)

    def _take(self, number: int) -> None:
        line = self.lines[number]
        names = [self.kinds[lexeme.kind] for lexeme in line.read]
        if line.opaque:
            self._take_opaque(number)
            return
        self._forget_inline(number)
        self._end_condition(number)
        if names[0] in self.closing:
            self._close_deeper(number)
            self._open_for(number, names[0])
        elif names[-1] != _LABEL_END:
            if not self._may_close_deeper(number):
                return
            self._close_deeper(number)
            self._close_alike(number)
        closed: int | None = None
        column = line.column
        for place, name in enumerate(names, 1):
            if name in self.closing and self.opened and self._closes(name, self.opened[-1]):
                top = self.opened.pop()
                closed = top.line if place == 1 else closed
                column = min(column, top.column)
            if name in self.closers:
                is_last = all(each in self.closers for each in names[place:])
                self.opened.append(_Opened(name, column, number, is_last))
        if not self._is_followed_deeper(number):
            self.opened = [each for each in self.opened if each.line != closed]

    def _take_opaque(self, number: int) -> None:
        """Take the cursor's line: whatever the lines around it ask for, it may close and open."""
        column = self.lines[number].column
        while self.opened and self._ends_before(number):
            self.opened.pop()
        is_inside = bool(self.opened) and self.opened[-1].column == column
        if self._is_followed_deeper(number) and not is_inside:
            self.opened.append(_Opened(None, column, number, is_last=True))

    def _is_followed_deeper(self, number: int) -> bool:
        following = self.lines[number + 1 : number + 2]
        return any(each.column.deeper_than(self.lines[number].column) for each in following)

    def _ends_before(self, number: int) -> bool:
        """Whether the innermost was opened in a deeper line than *number*, or deeper lines are in between."""
        column, top = self.lines[number].column, self.opened[-1]
        if top.column == column:
            between = self.lines[top.line + 1 : number]
            return not between or any(each.column.deeper_than(column) for each in between)
        return top.column.deeper_than(column)

    def _closes(self, name: str, opened: _Opened) -> bool:
        return opened.kind is None or name in self.closers[opened.kind]

    def _forget_inline(self, number: int) -> None:
        """Leave alone what the line before *number* opens for itself: the lines after it are not deeper."""
        while self.opened and self._is_inline(self.opened[-1], number):
            self.opened.pop()

    def _is_inline(self, opened: _Opened, number: int) -> bool:
        if opened.line != number - 1 or opened.kind is None or opened.is_last:
            return False
        line = self.lines[number]
        if self.kinds[line.read[0].kind] in self.closing:
            return opened.column.deeper_than(line.column)
        return not line.column.deeper_than(opened.column)

    def _end_condition(self, number: int) -> None:
        """Where a block begins behind a condition of several lines, its column is that of the first."""
        line = self.lines[number]
        top = self.opened[-1] if self.opened else None
        if top is None or not top.is_last or top.line != number - 1 or line.column.deeper_than(top.column):
            return
        if self.kinds[line.read[0].kind] in self.closing:
            return
        for before in reversed(self.lines[max(top.line - _MOST_CONDITION, 0) : top.line]):
            if line.column.deeper_than(before.column):
                self.opened[-1] = top._replace(column=before.column)
                return

    def _may_close_deeper(self, number: int) -> bool:
        """Whether line *number* can follow if all that is deeper is closed; yes where nobody knows."""
        line = self.lines[number]
        deeper = [each for each in self.opened if each.column.deeper_than(line.column)]
        chart = self._chart_before(number) if deeper else None
        if chart is None or line.opaque:
            return True
        kinds = [self.closers[each.kind][0] for each in reversed(deeper) if each.kind is not None]
        return self._after(self._scanned(chart, kinds), line) is not None

    def _close_deeper(self, number: int) -> None:
        """Close before line *number* what was opened in deeper lines."""
        while self.opened and self.opened[-1].column.deeper_than(self.lines[number].column):
            self._close(number)

    def _close_alike(self, number: int) -> None:
        """Close before line *number* what an equally deep line opened, if the line can then follow."""
        line = self.lines[number]
        while self.opened and self.opened[-1].column == line.column and self._ends_before(number):
            chart = self._chart_before(number)
            if chart is not None and not self._follows(chart, self.opened[-1].kind, line):
                return
            self._close(number)

    def _follows(self, chart: EarleySet, opener: str | None, line: _Line) -> bool:
        """Whether *line* can follow *chart* once *opener* is closed."""
        if opener is None:
            return False
        closed = self._scanned(chart, [self.closers[opener][0]])
        return closed is not None and self._after(closed, line) is not None

    def _chart_before(self, number: int) -> EarleySet | None:
        """The Earley set before line *number*, with what was added; None if nothing is known."""
        while self.n_charted < number and self.chart is not None:
            line, added = self.lines[self.n_charted], self.added.get(self.n_charted, [])
            if not line.opaque:  # a line that does not fit is passed over
                self.chart = self._scanned(self._after(self.chart, line), added) or self.chart
            self.n_charted += 1
        return self.chart

    def _after(self, chart: EarleySet | None, line: _Line) -> EarleySet | None:
        kinds = [lexeme.kind for lexeme in line.read]
        return chart and self.tables.forward.read(chart, self.tables.terminals(kinds))

    def _scanned(self, chart: EarleySet | None, names: Sequence[str]) -> EarleySet | None:
        """The set after *names*, added behind a line, and after the line end where that is a lexeme."""
        kinds = [self.kinds.index(name) for name in names]
        after = chart and self.tables.forward.read(chart, self.tables.terminals(kinds))
        if after is None or not names or (terminator := self._terminator(names[-1])) is None:
            return after
        return self.tables.forward.read(after, self.tables.terminals([terminator])) or after

    def _terminator(self, name: str) -> int | None:
        """The kind of a line end behind *name* where it ends a statement; None elsewhere."""
        modes = self.tables.lexical.start.after(name)
        line_end = None if modes is None else modes.line_end
        return None if line_end is None else self.kinds.index(line_end)

    def _close(self, number: int) -> None:
        """Close the innermost before line *number*."""
        top = self.opened.pop()
        if top.kind is not None:
            self._add(number - 1, self.closers[top.kind][0])

    def _add(self, number: int, kind: str) -> None:
        if self.lines[number].opaque:
            return
        self.added.setdefault(number, []).append(kind)
        if number < self.n_charted:
            self.chart, self.n_charted = self.first_chart, 0

    def _open_for(self, number: int, closer: str) -> None:
        """Open what line *number* closes behind the line that has its column, if nothing was opened there."""
        column = self.lines[number].column
        if self.opened and (not column.deeper_than(self.opened[-1].column)):
            return
        for place in reversed(range(number)):
            before = self.lines[place].column
            if column.deeper_than(before):
                return
            is_label = self.lines[place].read and self.kinds[self.lines[place].read[-1].kind] == _LABEL_END
            if self.lines[place].opaque:
                return
            if before == column and not is_label:
                break
        else:
            return
        if not self.lines[place + 1].column.deeper_than(column) or place in self.added:
            return
        kind = self._fitting_opener(place, closer) if self._is_unmatched(place) else None
        if kind is not None:
            self.added[place] = [kind]
            self.opened.append(_Opened(kind, column, place, is_last=True))

    def _fitting_opener(self, number: int, closer: str) -> str | None:
        """What can be opened behind line *number*, and be closed by *closer* later."""
        self.chart, self.n_charted = self.first_chart, 0
        chart = self._after(self._chart_before(number), self._without_line_end(self.lines[number]))
        openers = (opener for opener, closers in self.closers.items() if closer in closers)
        found = next((opener for opener in openers if self._scanned(chart, [opener]) is not None), None)
        self.chart, self.n_charted = self.first_chart, 0
        return found

    def _is_unmatched(self, number: int) -> bool:
        """Whether line *number* opens nothing that it leaves open."""
        names = [self.kinds[lexeme.kind] for lexeme in self.lines[number].read]
        depth = 0
        for name in names:
            depth = max(depth - (name in self.closing), 0) + (name in self.closers)
        return depth == 0


def _column(data: bytes, start: int) -> Column:
    lead = _LEAD.match(data, start)
    assert lead is not None
    return Margin().after(lead.group()).counted


def _back(data: bytes, position: int, count: int) -> int:
    """Where the line begins that is *count* lines above the line start *position*."""
    for _ in range(count):
        if position <= 0:
            break
        position = data.rfind(b"\n", 0, position - 1) + 1
    return position


def _on(data: bytes, position: int, count: int) -> int:
    """Where the line begins that is *count* lines below the line start *position*."""
    for _ in range(count):
        position = physical_end(data, position)
    return position
