"""The physical lines around a cursor, which nesting by columns reads (`nesting.py`).

Where lines may start in elements or templates, each is read in the modes that the lines above leave. If
something is then assumed to end before a line, it and those after it are read again, outside of that.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fimlsp.lexing.line import physical_end
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.recovery.lexemes import Lexeme, Lexemes, column_of, indentation_at, lexemes
from fimlsp.quotient.recovery.modes_below import ModesBelow
from fimlsp.quotient.recovery.repaired_text import Edit

MOST_LINES = 200
"""The number of lines read above the cursor, and below."""
_LINE_ENDS = b"\r\n"
_NEAR = 16_000
_MARKERS = b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"
"""The starts of the lines that mark a conflict in a merge."""
_AFTER_MARKER = b" ", b"\r", b"\n", b""
_CODE = re.compile(rb"(?:[ \t]*\r?\n)*([ \t]*)(?=(\S))")
_BRACE = b"}"
_NO_CODE = b"", b"{"
"""Texts before a cursor that do not show how its line starts: a brace may be an attribute or a child."""
_BEFORE_TEXT = b"=", b"(", b"[", b"{", b",", b":"
_CLOSERS = b"}", b")", b"]", b"/>", b">", b"</"


class _Span(NamedTuple):
    """The start and the end of a line, and the text in it that the cursor spans, if it is the cursor's."""

    start: int
    end: int
    hole: tuple[int, int] | None = None


class PhysicalLine(NamedTuple):
    """A physical line with code, or several that a lexeme joins.

    It is read in `modes`, which are None if all lines start in the same. That of the cursor is `opaque`.
    """

    start: int
    column: Column
    read: tuple[Lexeme, ...]
    end: int
    modes: ModeStack | None
    opaque: bool = False

    def without_line_end(self, data: bytes) -> PhysicalLine:
        """This line without the lexeme of its end, which some languages have."""
        is_ended = len(self.read) > 1 and data[self.read[-1].start] in _LINE_ENDS
        return self._replace(read=self.read[:-1]) if is_ended else self


class LineBelow(NamedTuple):
    """The column and the text of the next line that is not blank, however it may be read."""

    column: Column
    text: bytes


class LinesAround:
    """The `lines` with code around a cursor, which spans from *cursor* to *cursor_end*.

    The first starts at `begin`. Lines that mark conflicts are left out by `edits`. These also end texts of
    attributes that go on up to the start of the next one. The edits `surplus` leave out braces in elements.
    """

    def __init__(self, document: ContextDocument, cursor: int, cursor_end: int) -> None:
        self._document = document
        self._lexical = document.tables.lexical
        self._data = data = document.data
        line_start = data.rfind(b"\n", 0, cursor) + 1
        line_end = physical_end(data, cursor_end)
        self._is_code_before_cursor = data[line_start:cursor].strip() not in _NO_CODE
        self.begin, above = document.left_at(_lines_up(data, line_start, MOST_LINES))
        self._modes: ModeStack | None = above.modes if self._lexical.line_starts else None
        self.edits: dict[int, Edit] = {}
        self.surplus: dict[int, Edit] = {}
        self._elements = document.tables.language.elements
        self._all_spans = list(self._spans(self.begin, line_start))
        self._all_spans.append(_Span(line_start, line_end, (cursor, cursor_end)))
        stop = _lines_down(data, line_end, MOST_LINES)
        self._all_spans += self._spans(line_end, stop)
        self._modes_below = ModesBelow(document, cursor_end, line_end, stop)
        self._code_column = Column()
        self.is_known_below = False  # True if the text below shows the modes in which it is read
        self.lines = list(self._read(self._all_spans))

    def _spans(self, start: int, stop: int) -> Iterator[_Span]:
        """The lines from *start* to *stop*; those that a string joins are one."""
        while start < stop:
            if self._is_marker(start):
                end = physical_end(self._data, start)
                self.edits[start] = start, start + len(self._data[start:end].rstrip(_LINE_ENDS)), b""
            else:
                line = self._document.line_at(start)
                last = start if line.broken else start + line.size - 1
                end = min(physical_end(self._data, max(start, last)), stop)
                yield _Span(start, end)
            start = end

    @property
    def marks(self) -> list[Edit]:
        """The edits that leave out the lines which mark conflicts."""
        return [edit for edit in self.edits.values() if not edit[2]]

    def _is_marker(self, start: int) -> bool:
        after = start + len(_MARKERS[0])
        return self._data.startswith(_MARKERS, start) and self._data[after : after + 1] in _AFTER_MARKER

    def _read(self, spans: Iterable[_Span]) -> Iterator[PhysicalLine]:
        """The lines of *spans* that have code, and that of the cursor without its middle."""
        for start, end, hole in spans:
            modes = left = self._modes
            code_end = start
            if hole is None:
                reading = self._lexemes(start, end)
                read = reading.read
                self.surplus.update(self._surplus(reading))
                if (text := self._unended_text(read)) is not None:
                    yield self._with_text_ended(start, text, modes)
                    yield from self._read(list(self._spans(physical_end(self._data, start), end)))
                    continue
            else:
                read, code_end = self._lexemes(start, hole[0]).read, hole[0]
                left = self._modes
                read += self._rest(hole[1], end).read
            if read or hole is not None:
                column = self._column(start, code_end if hole else end, modes)
                yield PhysicalLine(start, column, read, end, modes, hole is not None)
                if hole is not None and modes is not None and left is not None:
                    self._modes = self._after_cursor_line(column, end, modes, left)

    def _column(self, start: int, end: int, modes: ModeStack | None) -> Column:
        """The column of the line from *start* to *end*, read in *modes*.

        Lines that start in a string count as deeper than the one in which it starts.
        """
        if self._is_in_string(modes):
            return self._code_column.after(ord(" "))
        self._code_column = column_of(indentation_at(self._data[:end], start))
        return self._code_column

    def _is_in_string(self, modes: ModeStack | None) -> bool:
        return modes is not None and bool(self._document.tables.language.strings_in(modes.opened))

    def _surplus(self, line: Lexemes) -> Iterator[tuple[int, Edit]]:
        """The edits, by offset, that leave out braces after lexemes of a *line* in elements."""
        for start, end in line.unreadable if self._elements is not None else ():
            place = start + len(self._data[start:end]) - len(self._data[start:end].lstrip())
            if line.read and line.read[0].start < place and self._data[place:end].strip() == _BRACE:
                yield place, (place, place + 1, b"")

    def _unended_text(self, read: Sequence[Lexeme]) -> Lexeme | None:
        """The first of *read* that is the text of an attribute, and has no end before the next one starts."""
        for lexeme in read:
            text = self._data[lexeme.start : lexeme.end]
            is_odd = b"\n" in text and (text[-2:-1] in _BEFORE_TEXT or b"<" in text)
            if self._is_text(lexeme) and (lexeme.missing or is_odd):
                return lexeme
        return None

    def _is_text(self, lexeme: Lexeme) -> bool:
        """True if *lexeme* is the text of an attribute."""
        return self._elements is not None and self._lexical.kinds[lexeme.kind] == self._elements.text

    def _with_text_ended(self, start: int, text: Lexeme, modes: ModeStack | None) -> PhysicalLine:
        """The physical line at *start*, in which the lexeme *text* ends before the end of its tag."""
        data, lexical = self._data, self._lexical
        line_end = physical_end(data, text.start)
        before = lexemes(lexical, data, start, text.start, modes=modes)
        shown = data[text.start : line_end].rstrip()
        end = text.start + len(shown.removesuffix(b">").removesuffix(b"/").rstrip())
        self.edits[end] = end, end, data[text.start : text.start + 1]
        after = None if before.modes is None else before.modes.after(lexical.kinds[text.kind])
        rest = lexemes(lexical, data, end, line_end, modes=after)
        self._modes = rest.modes
        read = *before.read, Lexeme(text.kind, text.start, end), *rest.read
        return PhysicalLine(start, column_of(indentation_at(data, start)), read, line_end, modes)

    def _rest(self, start: int, end: int) -> Lexemes:
        """The lexemes of the rest of the cursor's line, before which the middle may open something."""
        before, rest = self._modes, self._lexemes(start, end)
        for kind in self._document.tables.language.closers if rest.unreadable and before is not None else ():
            modes = None if before is None else before.after(kind)
            opened = None if modes is None else lexemes(self._lexical, self._data, start, end, modes=modes)
            if opened is not None and not opened.unreadable:
                self._modes = opened.modes
                return opened
        return rest

    def below(self, number: int) -> LineBelow | None:
        """The next line after line *number* that is not blank, and marks no conflict.

        None if the middle may write the start of it, or if it starts in a string.
        """
        end, modes = self.lines[number].end, self.lines[number].modes
        for lexeme in self.lines[number].read:
            modes = None if modes is None else modes.after(self._lexical.kinds[lexeme.kind])
        if self._is_in_string(modes):
            return None
        if any(
            line.opaque and not self._is_code_before_cursor for line in self.lines[number + 1 : number + 2]
        ):
            return None
        while (code := _CODE.match(self._data, end)) is not None:
            end = physical_end(self._data, code.start(2))
            if not self._is_marker(code.start(2)):
                return LineBelow(column_of(code.group(1)), self._data[code.start(2) : end])
        return None

    def _after_cursor_line(
        self, column: Column, end: int, before: ModeStack, left: ModeStack
    ) -> ModeStack | None:
        """The modes after the cursor's line of *column*, up to *end*, which starts in the modes *before*.

        Those at the cursor are *left*. The result are those of the line without its middle, unless the lines
        below show others.
        """
        code = _CODE.match(self._data, end)
        below = None if code is None else column_of(code.group(1))
        opens = below is not None and below.deeper_than(column)
        known = self._modes_below.after(before, self._modes, left if opens else None)
        self.is_known_below = known is not None
        if known is not None or self._modes is None or code is None or below is None:
            return known or self._modes
        closes = below == column and self._data.startswith(_CLOSERS, code.start(2))
        leaves_open = self._modes.starts_line != before.starts_line
        return before if leaves_open and not opens and not closes else self._modes

    def _lexemes(self, start: int, end: int) -> Lexemes:
        """The lexemes from *start* to *end*; with several line starts they are read in the modes before.

        A string that the line cuts off ends before a mark, so that the brackets after it count.
        """
        reading = lexemes(self._lexical, self._data, start, end, modes=self._modes)
        cut_off = [lexeme for lexeme in reading.read if lexeme.missing and not self._is_text(lexeme)]
        if cut_off and (self._modes is None or self._modes.in_code):
            return lexemes(
                self._lexical, self._data, start, end, ended_early=self._document.tables.may_follow
            )
        if self._modes is not None and reading.modes is not None:
            self._modes = reading.modes
        return reading

    def read_again(self, number: int, kinds: Iterable[str]) -> None:
        """Read line *number* and those after it in the modes after *kinds*, with which text before it ends.

        So far the lines were read as inside of that.
        """
        self._go_on(number, self.lines[number].modes if number < len(self.lines) else self._modes, kinds)

    def read_on(self, number: int, kinds: Iterable[str]) -> None:
        """Read the lines after line *number* as if that had lexemes of *kinds* only."""
        self._go_on(number + 1, self.lines[number].modes, kinds)

    def replace(self, number: int, read: tuple[Lexeme, ...]) -> None:
        """Let line *number* have the lexemes *read*, and read the lines after it in the modes after them."""
        line = self.lines[number] = self.lines[number]._replace(read=read)
        self._go_on(number + 1, line.modes, [self._lexical.kinds[lexeme.kind] for lexeme in read])

    def _go_on(self, number: int, modes: ModeStack | None, kinds: Iterable[str]) -> None:
        """Read line *number* and those after it in the modes after *kinds*, which come after *modes*."""
        for kind in kinds:
            modes = None if modes is None else modes.after(kind)
        if modes is None or self._elements is None or not number:
            return
        starts = range(len(self._lexical.line_starts))
        modes = next(filter(None, map(modes.at_line_start, starts)), modes)
        self._modes, begin, self._code_column = (
            modes,
            self.lines[number - 1].end,
            self.lines[number - 1].column,
        )
        self.surplus = {place: edit for place, edit in self.surplus.items() if place < begin}
        lines = list(self._read(span for span in self._all_spans if span.start >= begin))
        is_known = number < len(self.lines)
        if lines and not (is_known and lines[0].start > self.lines[number].start):  # else it has no code then
            self.lines[number:] = lines


def conflict_marks(document: ContextDocument, cursor: int, cursor_end: int) -> tuple[Edit, ...]:
    """The edits that leave out the lines around a cursor which mark conflicts. O(`MOST_LINES`).

    Each jump of the cursor asks, so the bytes around it are searched before lines are counted.
    """
    data = document.data
    near = data[max(cursor - _NEAR, 0) : cursor_end + _NEAR]
    if not any(mark in near for mark in _MARKERS):
        return ()
    line_start, line_end = data.rfind(b"\n", 0, cursor) + 1, physical_end(data, cursor_end)
    first, last = _lines_up(data, line_start, MOST_LINES), _lines_down(data, line_end, MOST_LINES)
    if not any(mark in data[first:last] for mark in _MARKERS):
        return ()
    return tuple(LinesAround(document, cursor, cursor_end).marks)


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
