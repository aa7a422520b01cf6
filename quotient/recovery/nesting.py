"""Missing ends and beginnings by the columns of lines, in languages without an offside layout.

Line ends and columns mean nothing to such a language. But people indent the content of brackets and blocks,
and close them in the column of their first line (de Jonge et al., SLE 2009, section 4). So in a broken file
columns show where a bracket or a word such as `end` is missing, long before the grammar does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.line import physical_end
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.grammar.earley_sets import EarleySet
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, column_of, indentation_at, lexemes
from fimlsp.quotient.recovery.repaired_text import Edit

MOST_LINES = 200
"""The number of lines read above the cursor, and below."""
_MOST_CONDITION = 4
_LINE_ENDS = b"\r\n"
_LABEL_END = ":"


class _Line(NamedTuple):
    """A physical line with code, or several that a lexeme joins; `opaque` if it is the cursor's."""

    start: int
    column: Column
    read: tuple[Lexeme, ...]
    opaque: bool = False


class _Opened(NamedTuple):
    """An open bracket or block: the kind of its lexeme, None if the cursor's line may open it; its line."""

    kind: str | None
    column: Column
    line: int
    is_last: bool


class Nesting:
    """The lines around a cursor, which spans from *cursor* to *cursor_end*, read one by one.

    The elements of `opened` have the column of the line that opened them, and are closed after the last line
    that is deeper. `added` has the kinds to add after each line.
    """

    def __init__(self, document: ContextDocument, cursor: int, cursor_end: int) -> None:
        self.document = document
        line_start = document.data.rfind(b"\n", 0, cursor) + 1
        line_end = physical_end(document.data, cursor_end)
        self.tables = document.tables
        self.data = document.data
        self.kinds = self.tables.lexical.kinds
        language = self.tables.language
        brackets = {
            opener: (closer,)
            for opener, closer in language.enclosures.items()
            if not self.tables.lexical.line_starts or None not in (self._word(opener), self._word(closer))
        }
        self.closers = {**brackets, **language.blocks}
        self.closing = frozenset(closer for closers in self.closers.values() for closer in closers)
        begin, above = document.left_at(_lines_up(self.data, line_start, MOST_LINES))
        self.modes: ModeStack | None = above.modes if self.tables.lexical.line_starts else None
        self.lines = [*self._read(begin, line_start), *self._around(line_start, cursor, cursor_end, line_end)]
        self.lines += self._read(line_end, _lines_down(self.data, line_end, MOST_LINES))
        context = document.left_at(begin)[1]
        self.first_chart: EarleySet | None = None if context.broken else context.group
        self.chart = self.first_chart
        self.n_charted = 0
        self.opened: list[_Opened] = []
        self.added: dict[int, list[str]] = {}

    def edits(self) -> tuple[Edit, ...]:
        """Additions by which everything is closed in the column in which it is opened, and vice versa."""
        for number in range(len(self.lines)):
            self._take(number)
        ends = [lexeme.end for line in self.lines for lexeme in line.read[-1:]]
        if ends and not self.data[ends[-1] :].strip():
            while self.opened:
                self._close(len(self.lines))
        return tuple(self._edit(number, kinds) for number, kinds in self.added.items())

    def _edit(self, number: int, kinds: list[str]) -> Edit:
        end = self._without_line_end(self.lines[number]).read[-1].end
        return end, end, b"".join(b" " + (self._word(kind) or b"") for kind in kinds)

    def _without_line_end(self, line: _Line) -> _Line:
        """*line* without the lexeme of its end, which some languages have."""
        is_ended = len(line.read) > 1 and self.data[line.read[-1].start] in _LINE_ENDS
        return line._replace(read=line.read[:-1]) if is_ended else line

    def _word(self, kind: str) -> bytes | None:
        """The shortest lexeme of *kind* at the start of a line of code; None if there is none."""
        lexical = self.tables.lexical
        return lexical.shortest_words.suffix(lexical.dfa.starts[lexical.start.mode], self.kinds.index(kind))

    def _lexemes(self, start: int, end: int) -> Lexemes:
        """The lexemes from *start* to *end*; with several line starts they are read in the modes before."""
        reading = lexemes(self.tables.lexical, self.data, start, end, modes=self.modes)
        if self.modes is not None and reading.modes is not None:
            self.modes = reading.modes
        return reading

    def _read(self, start: int, stop: int) -> Iterator[_Line]:
        """The lines with code from *start* to *stop*; those that a string joins are one."""
        while start < stop:
            line = self.document.line_at(start)
            last = start if line.broken else start + line.size - 1
            end = min(physical_end(self.data, max(start, last)), stop)
            reading = self._lexemes(start, end)
            if reading.read:
                yield _Line(start, self._column_at(start), reading.read)
            start = end

    def _around(self, start: int, cursor: int, cursor_end: int, end: int) -> Iterator[_Line]:
        """The cursor's line without its middle."""
        before, after = (self._lexemes(*span).read for span in ((start, cursor), (cursor_end, end)))
        yield _Line(start, self._column_at(start), (*before, *after), opaque=True)

    def _column_at(self, start: int) -> Column:
        return column_of(indentation_at(self.data, start))

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
        for index, name in enumerate(names, 1):
            if name in self.closing and self.opened and self._closes(name, self.opened[-1]):
                top = self.opened.pop()
                closed = top.line if index == 1 else closed
                column = min(column, top.column)
            if name in self.closers:
                is_last = all(later in self.closers for later in names[index:])
                self.opened.append(_Opened(name, column, number, is_last))
        if not self._is_followed_deeper(number):
            self.opened = [opened for opened in self.opened if opened.line != closed]

    def _take_opaque(self, number: int) -> None:
        """Take the cursor's line, which may close and open whatever the lines around it require."""
        column = self.lines[number].column
        while self.opened and self._ends_before(number):
            self.opened.pop()
        is_inside = bool(self.opened) and self.opened[-1].column == column
        if self._is_followed_deeper(number) and not is_inside:
            self.opened.append(_Opened(None, column, number, is_last=True))

    def _is_followed_deeper(self, number: int) -> bool:
        following = self.lines[number + 1 : number + 2]
        return any(line.column.deeper_than(self.lines[number].column) for line in following)

    def _ends_before(self, number: int) -> bool:
        """True if the innermost was opened in a deeper line than *number*, or deeper lines are in between."""
        column, top = self.lines[number].column, self.opened[-1]
        if top.column == column:
            between = self.lines[top.line + 1 : number]
            return not between or any(line.column.deeper_than(column) for line in between)
        return top.column.deeper_than(column)

    def _closes(self, name: str, opened: _Opened) -> bool:
        return opened.kind is None or name in self.closers[opened.kind]

    def _forget_inline(self, number: int) -> None:
        """Forget openers within the line before *number* if the lines after it are not deeper."""
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
        """Give a block after a condition of several lines the column of the first of them."""
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
        """True if line *number* can follow once everything deeper is closed, or if that is unknown."""
        line = self.lines[number]
        deeper = [opened for opened in self.opened if opened.column.deeper_than(line.column)]
        chart = self._chart_before(number) if deeper else None
        if chart is None or line.opaque:
            return True
        kinds = [self.closers[opened.kind][0] for opened in reversed(deeper) if opened.kind is not None]
        return self._after(self._scanned(chart, kinds), line) is not None

    def _close_deeper(self, number: int) -> None:
        """Close before line *number* everything opened in deeper lines."""
        while self.opened and self.opened[-1].column.deeper_than(self.lines[number].column):
            self._close(number)

    def _close_alike(self, number: int) -> None:
        """Close before line *number* everything opened in equally deep lines, if the line can then follow."""
        line = self.lines[number]
        while self.opened and self.opened[-1].column == line.column and self._ends_before(number):
            chart = self._chart_before(number)
            if chart is not None and not self._follows(chart, self.opened[-1].kind, line):
                return
            self._close(number)

    def _follows(self, chart: EarleySet, opener: str | None, line: _Line) -> bool:
        """True if *line* can follow *chart* once *opener* is closed."""
        if opener is None:
            return False
        closed = self._scanned(chart, [self.closers[opener][0]])
        return closed is not None and self._after(closed, line) is not None

    def _chart_before(self, number: int) -> EarleySet | None:
        """The Earley set before line *number*, after all additions; None if it is unknown."""
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
        """The set after *names*, added at the end of a line, and after the line end if that is a lexeme."""
        kinds = [self.kinds.index(name) for name in names]
        after = chart and self.tables.forward.read(chart, self.tables.terminals(kinds))
        if after is None or not names or (terminator := self._terminator(names[-1])) is None:
            return after
        return self.tables.forward.read(after, self.tables.terminals([terminator])) or after

    def _terminator(self, name: str) -> int | None:
        """The kind of a line end after *name* if it ends a statement; None elsewhere."""
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
        """Add an opener for the *closer* at the start of line *number*, after the line in its column.

        Not if something was opened there.
        """
        column = self.lines[number].column
        if self.opened and (not column.deeper_than(self.opened[-1].column)):
            return
        opening = self._aligned_before(number)
        if opening is None:
            return
        if not self.lines[opening + 1].column.deeper_than(column) or opening in self.added:
            return
        kind = self._fitting_opener(opening, closer) if self._is_balanced(opening) else None
        if kind is not None:
            self.added[opening] = [kind]
            self.opened.append(_Opened(kind, column, opening, is_last=True))

    def _aligned_before(self, number: int) -> int | None:
        """The last line before *number* in its column that is no label.

        None if a shallower one or the cursor's comes after it.
        """
        column = self.lines[number].column
        for before in reversed(range(number)):
            line = self.lines[before]
            if column.deeper_than(line.column) or line.opaque:
                return None
            is_label = line.read and self.kinds[line.read[-1].kind] == _LABEL_END
            if line.column == column and not is_label:
                return before
        return None

    def _fitting_opener(self, number: int, closer: str) -> str | None:
        """An opener that can follow line *number*, and that *closer* can close."""
        self.chart, self.n_charted = self.first_chart, 0
        chart = self._after(self._chart_before(number), self._without_line_end(self.lines[number]))
        openers = (opener for opener, closers in self.closers.items() if closer in closers)
        fitting = next((opener for opener in openers if self._scanned(chart, [opener]) is not None), None)
        self.chart, self.n_charted = self.first_chart, 0
        return fitting

    def _is_balanced(self, number: int) -> bool:
        """True if line *number* leaves nothing open that it opens."""
        names = [self.kinds[lexeme.kind] for lexeme in self.lines[number].read]
        depth = 0
        for name in names:
            depth = max(depth - (name in self.closing), 0) + (name in self.closers)
        return depth == 0


def _lines_up(data: bytes, position: int, count: int) -> int:
    """The start of the line that is *count* lines above the line start *position*."""
    for _ in range(count):
        if position <= 0:
            break
        position = data.rfind(b"\n", 0, position - 1) + 1
    return position


def _lines_down(data: bytes, position: int, count: int) -> int:
    """The start of the line that is *count* lines below the line start *position*."""
    for _ in range(count):
        position = physical_end(data, position)
    return position
