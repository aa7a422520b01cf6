"""Missing ends and beginnings by the columns of lines, in languages without an offside layout.

Line ends and columns mean nothing to such a language. But people indent the content of brackets and blocks,
and close them in the column of their first line (de Jonge et al., SLE 2009, section 4). So in a broken file
columns show where a bracket or a word such as `end` is missing, long before the grammar does.
"""

from __future__ import annotations

import re
from itertools import takewhile
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.language.contract import Elements
from fimlsp.quotient.recovery.lexemes import Lexeme, indentation_at
from fimlsp.quotient.recovery.line_brackets import first_closer, left_open, may_lack_bracket, mended_line
from fimlsp.quotient.recovery.line_charts import LineCharts, Word, shortest_word
from fimlsp.quotient.recovery.line_edits import is_slip
from fimlsp.quotient.recovery.lines_around import LineBelow, LinesAround, PhysicalLine
from fimlsp.quotient.recovery.repaired_text import Edit
from fimlsp.quotient.recovery.tags import OpenTags, Tag, is_left

_TAG = re.compile(rb"</?\w")
_MOST_CONDITION = 12
_MOST_PLACES = 12
_LINE_ENDS = b"\r", b"\n"
_LABEL_END = ":"
_ENDS = frozenset(";,")
_NO_BLOCKS = frozenset("([")
"""Openers that start no block after a condition."""


class _Opened(NamedTuple):
    """An open bracket, block or element: the kind of its lexeme, None if the cursor's line may open it.

    An element has the start of its `tag`, such as `<a`.
    """

    kind: str | None
    column: Column
    line: int
    is_last: bool
    tag: bytes = b""


class Nesting:
    """The lines around a cursor, which spans from *cursor* to *cursor_end*, read one by one.

    The elements of `opened` have the column of the line that opened them, and are closed after the last line
    that is deeper. `added` has the words to add after each line. Lines that mark conflicts are left out.
    """

    def __init__(self, document: ContextDocument, cursor: int, cursor_end: int) -> None:
        self.document = document
        self.tables = document.tables
        self.data = document.data
        self.cursor = cursor
        self.kinds = self.tables.lexical.kinds
        self.closers = self.tables.language.closers
        self.closing = self.tables.language.closing
        self.elements = self.tables.language.elements
        self.code_starts = frozenset(
            kind for kind in self.closers if self.elements and shortest_word(self.tables, kind) is None
        )
        self.tags = None if self.elements is None else OpenTags(self.elements)
        self.reread = -1  # the last line that was read again as a closing tag
        self.around = LinesAround(document, cursor, cursor_end)
        self.lines = self.around.lines
        self.changed: list[Edit] = []
        self.forgotten: _Opened | None = None  # the last opener that was forgotten
        self.is_outside = (
            not self.around.begin
        )  # nothing is open before the first line, or the last at the margin
        self.opened: list[_Opened] = []
        self.added: dict[int, list[Word]] = {}
        self.charts = LineCharts(document, self.lines, self.added)

    def edits(self) -> tuple[Edit, ...]:
        """Edits by which everything is closed in the column in which it is opened, and vice versa."""
        number = 0
        while number < len(self.lines):  # lines that are read again may be more
            self._take(number)
            self._end_closing_tag(number)
            self._end_tags(number)
            number += 1
        ends = [lexeme.end for line in self.lines for lexeme in line.read[-1:]]
        if ends and not self.data[ends[-1] :].strip():
            while self.opened:
                self._close(len(self.lines))
        return (
            *self.around.edits.values(),
            *self.around.surplus.values(),
            *self.changed,
            *(self._edit(number, words) for number, words in self.added.items()),
        )

    def _edit(self, number: int, words: list[Word]) -> Edit:
        """The edit that adds *words* after line *number*; on a line of their own after the cursor's."""
        line = self.lines[number]
        if line.opaque:
            before = b"" if self.data[: line.end].endswith(_LINE_ENDS) else b"\n"
            return line.end, line.end, before + b" ".join(word.text for word in words) + b"\n"
        end = line.without_line_end(self.data).read[-1].end
        if self.elements is not None and words[0].kinds == self.elements.closes:
            # text of an element is no lexeme
            end = line.start + len(self.data[line.start : line.end].rstrip())
        return end, end, b"".join(b" " + word.text for word in words)

    def _end_of(self, opened: _Opened) -> Word | None:
        """The text that closes *opened*; None if that is unknown."""
        kinds = self._kinds_closing(opened)
        if self.elements is not None and opened.kind == self.elements.opens:
            return Word(kinds, self.elements.closing(opened.tag)) if opened.tag else None
        text = shortest_word(self.tables, kinds[0]) if kinds else None
        return None if text is None else Word(kinds, text)

    def _kinds_closing(self, opened: _Opened) -> tuple[str, ...]:
        """The kinds of the text that closes *opened*."""
        if self.elements is not None and opened.kind == self.elements.opens:
            return self.elements.closes
        return () if opened.kind is None else self.closers[opened.kind][:1]

    def _read_closing_tag(self, number: int) -> None:
        """Read line *number* as a closing tag if it looks like one, and deeper lines left something open."""
        line = self.lines[number]
        if self.elements is None or self.kinds[line.read[0].kind] in self.elements.closes:
            return
        deeper = takewhile(lambda opened: opened.column.deeper_than(line.column), reversed(self.opened))
        kinds = [kind for opened in deeper for kind in self._kinds_closing(opened)]
        code = line.start + len(indentation_at(self.data, line.start))
        if kinds and self.data.startswith(self.elements.closing(b"<")[:-1], code):
            self.around.read_again(number, kinds)
            self.reread = number

    def _take(self, number: int) -> None:
        line = self.lines[number]
        if line.opaque:
            self._take_opaque(number)
            return
        self._read_closing_tag(number)
        self._take_back_slip(number)
        self._mend(number)
        line = self.lines[number]
        names = [self.kinds[lexeme.kind] for lexeme in line.without_line_end(self.data).read]
        self._forget_inline(number)
        self._end_condition(number)
        if names[0] in self.closing:
            self._close_deeper(number)
            self._close_within(number, names[0])
            self._open_for(number, names[0])
        elif _ENDS.issuperset(names) and self.opened:
            self._close_deeper(number)
            if self.opened and self.opened[-1].is_last and self._ends_before(number):
                self._close(number)
        elif names[-1] != _LABEL_END:
            if not self._may_close_deeper(number):
                return
            self._close_deeper(number)
            self._close_alike(number)
            self.is_outside = self.is_outside or not (self.opened or line.column.deeper_than(Column()))
        closed: int | None = None
        column, surplus, unopened = line.column, list[Lexeme](), set[int]()
        for index, name in enumerate(names, 1):
            tag = self._tag_ended(line, index - 1)
            if index > 1 and name in self.closing and self._is_surplus(number, name):
                surplus.append(line.read[index - 1])
            elif name in self.closing and self.opened and self._closes(name, self.opened[-1]):
                top = self.opened.pop()
                unopened |= {index - 1} if top.kind is None else set()
                closed = top.line if index == 1 else closed
                column = min(column, top.column)
            if name in self.closers:
                is_last = all(later in self.closers for later in names[index:])
                outer = column if tag is None else min(column, tag.column)
                self.opened.append(_Opened(name, outer, number, is_last, b"" if tag is None else tag.text))
        self._leave_out(number, surplus)
        self._read_on_without(number, unopened)
        if not self._is_followed_deeper(number):
            while self.opened and self._is_of_header(self.opened[-1], closed):
                self._close_in_header(self.opened.pop(), number)
            self.opened = [opened for opened in self.opened if not self._is_of_header(opened, closed)]

    def _read_on_without(self, number: int, unopened: set[int]) -> None:
        """Read on as if the openers closed by the lexemes *unopened* of line *number* did not exist.

        The cursor's line may open it, so the modes of the lines below do not know of it.
        """
        if unopened and self.elements is not None and not self.around.is_known_below:
            names = enumerate(self.kinds[lexeme.kind] for lexeme in self.lines[number].read)
            kept = [name for index, name in names if not (index in unopened or name in self.elements.closes)]
            self.around.read_on(number, kept)

    def _leave_out(self, number: int, surplus: list[Lexeme]) -> None:
        """Leave the lexemes *surplus* out of line *number*."""
        self.changed += [(lexeme.start, lexeme.end, b"") for lexeme in surplus]
        if surplus:
            read = self.lines[number].read
            self.around.replace(number, tuple(lexeme for lexeme in read if lexeme not in surplus))
            self.charts.forget(number)

    def _take_back_slip(self, number: int) -> None:
        """Give line *number* the column of the innermost, if it only lost the closer of that at its start."""
        line, top = self.lines[number], self.opened[-1] if self.opened else None
        if top is None or not top.is_last or top.kind is None or not is_slip(line.column, top.column):
            return
        between = self.lines[top.line + 1 : number]
        if between and all(each.column.deeper_than(line.column) for each in between):
            self.lines[number] = line._replace(column=top.column)

    def _mend(self, number: int) -> None:
        """Add or leave out the bracket of line *number* by which it can be read, if it cannot be as it is."""
        line = self.lines[number]
        if self.opened and self.opened[-1].kind is None:
            return  # the cursor's line may open whatever this one closes
        is_above, read = line.end <= self.cursor, line.without_line_end(self.data).read
        if self.charts.is_readable(number) or not may_lack_bracket(self.tables, read, is_known=is_above):
            return
        if not is_above and self._is_balanced(number):
            return
        chart = self.charts.before(number)
        if chart is None or self.charts.after(chart, line) is not None:
            return
        opened = [*([] if self.is_outside else [""]), *(opened.kind or "" for opened in self.opened)]
        closer = first_closer(self.tables, line.read)
        if closer is not None and self._is_surplus(number, closer):
            opened = []  # the brackets before the line go on after it
        mended = mended_line(self.tables, chart, line.read, opened, is_known=is_above)
        if mended is not None:
            self.changed.append(mended.edit)
            self.around.replace(number, mended.read)
            self.charts.forget(number)

    def _is_balanced(self, number: int) -> bool:
        """True if the next line that is no deeper closes all that line *number* leaves open."""
        line, opened = self.lines[number], left_open(self.tables, self.lines[number].read)
        if not opened or first_closer(self.tables, line.read) is not None:
            return False
        below = (each for each in self.lines[number + 1 :] if not each.column.deeper_than(line.column))
        last = next(below, line)
        closers = [self.kinds[lexeme.kind] for lexeme in last.read[: len(opened)]]
        return not last.opaque and [self.closers[kind][0] for kind in reversed(opened)] == closers

    def _is_of_header(self, opened: _Opened, line: int | None) -> bool:
        """True if *opened* starts in that *line*, and no code in an element with it."""
        return opened.line == line and not self._is_in_element(opened)

    def _close_in_header(self, opened: _Opened, last: int) -> None:
        """Close *opened*, a bracket of a header, before the opener of the block that line *last* ends.

        It goes to the last place where the header can then be read. It may be closed below, by the line after
        the block.
        """
        kinds, following = self._kinds_closing(opened), self.lines[last + 1 : last + 2]
        if opened.is_last or len(kinds) != 1 or (word := shortest_word(self.tables, kinds[0])) is None:
            return
        if any(line.opaque or self.kinds[line.read[0].kind] in kinds for line in following):
            return
        chart, read = self.charts.before(opened.line), self.lines[opened.line].read
        names = [self.kinds[lexeme.kind] for lexeme in read]
        for place in range(len(read) - 1, max(len(read) - _MOST_PLACES, 0), -1):
            if self.charts.read(chart, [*names[:place], *kinds, *names[place:]]) is not None:
                start = read[place].start
                self.changed.append((start, start, word + b" "))
                return

    def _tag_ended(self, line: PhysicalLine, index: int) -> Tag | None:
        """The tag that the lexeme number *index* of *line* ends; None if it ends none. It may start one."""
        if self.tags is None:
            return None
        lexeme = line.read[index]
        name = self.kinds[lexeme.kind]
        return self.tags.take(lexeme, name, self.data, line.column, len(self.opened))

    def _end_closing_tag(self, number: int) -> None:
        """End a closing tag that line *number* leaves open."""
        line, elements = self.lines[number], self.elements
        if elements is None or line.opaque or self.kinds[line.read[-1].kind] != elements.closes[0]:
            return
        below = self.around.below(number)
        if below is not None and not below.text.startswith(elements.end_texts[0]):
            self._end_after(number, [Word(elements.closes[1:], elements.end_texts[0])])

    def _end_tags(self, number: int) -> None:
        """End tags, and code in elements, that line *number* leaves open and the next line is outside of."""
        below = None if self.tags is None else self.around.below(number)
        after_cursor = self.lines[number + 1 : number + 2] if self.lines[number].opaque else ()
        is_ended = self.tags is not None and any(map(self.tags.is_outside, after_cursor))
        while self.tags is not None and below is not None:
            tag = self.tags.last(len(self.opened))
            if tag is not None and (is_ended or tag.is_cut_off(below)):
                self._end_tag(number, tag, self.tags.elements, has_content=tag.has_content(below))
            elif tag is not None or not self._end_code(number, below):
                return

    def _end_tag(self, number: int, tag: Tag, elements: Elements, *, has_content: bool) -> None:
        """End *tag*, the innermost one, after line *number*."""
        assert self.tags is not None
        self.tags.opened.pop()
        read, words = self.lines[number].read, list[Word]()
        if read and self.kinds[read[-1].kind] == elements.equal:
            words.append(Word((elements.text,), b'""'))
        kind = elements.opens if has_content else elements.empty
        words.append(Word((kind,), elements.end_texts[not has_content]))
        if has_content:
            self.opened.append(_Opened(kind, tag.column, number, is_last=True, tag=tag.text))
        self._end_after(number, words)

    def _end_code(self, number: int, below: LineBelow) -> bool:
        """True if the innermost code in an element ends before the line *below*; it is ended then."""
        numbers = reversed(range(len(self.opened)))
        elements = (n for n in numbers if self.opened[n].tag or self._is_in_element(self.opened[n]))
        first = next(elements, None)
        if first is None or self.opened[first].tag or self.tags is None:
            return False
        tag = self.tags.last(first)
        if not is_left(self.opened[first].column, below, tag) and not self._is_before_tag(number, below):
            return False
        words = [self._end_of(opened) for opened in reversed(self.opened[first:])]
        del self.opened[first:]
        self._end_after(number, [word for word in words if word is not None])
        return True

    def _is_before_tag(self, number: int, below: LineBelow) -> bool:
        """True if the line *below* starts with a tag, which cannot follow line *number* as code."""
        line = self.lines[number]
        chart = None if line.opaque else self.charts.after(self.charts.before(number), line)
        if chart is None or self.elements is None or _TAG.match(below.text) is None:
            return False
        starts = (self.tables.terminal_of[self.kinds.index(name)] for name in self.elements.starts)
        return not any(map(chart.expects, starts))

    def _end_after(self, number: int, words: list[Word]) -> None:
        """Add *words* after line *number*, unless it is the cursor's, and read on after them."""
        for word in words if not self.lines[number].opaque else ():
            self._add(number, word)
        self.around.read_again(number + 1, [kind for word in words for kind in word.kinds])

    def _take_opaque(self, number: int) -> None:
        """Take the cursor's line, which may close and open whatever the lines around it require."""
        column = self.lines[number].column
        self._end_condition(number)
        self._close_siblings(number)
        while self.opened and self._ends_before(number):
            self.forgotten = self.opened.pop()
            self.around.read_again(number + 1, self._kinds_closing(self.forgotten))
        tag = self.tags and self.tags.last(len(self.opened))
        is_inside = column in (each.column for each in (*self.opened[-1:], *([tag] if tag else ())))
        if self._is_followed_deeper(number) and not is_inside:
            self.opened.append(_Opened(None, column, number, is_last=True))

    def _close_siblings(self, number: int) -> None:
        """Close the elements directly before the cursor's line that have its column, if it has code itself.

        They have no content in other lines, which would be deeper. Code in an element ends with its line.
        """
        line = self.lines[number]
        if self.elements is None or not line.read or self.kinds[line.read[0].kind] in self.closing:
            return
        while self.opened and self.opened[-1][1:3] == (line.column, number - 1):
            top = self.opened[-1]
            if not top.tag and (top.is_last or not self._is_in_element(top)):
                return
            self._close(number)

    def _is_in_element(self, opened: _Opened) -> bool:
        """True if *opened* starts code in an element, as no bracket of code does."""
        return opened.kind in self.code_starts

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

    def _is_surplus(self, number: int, name: str) -> bool:
        """True if *name* in the inside of line *number* closes nothing, or a block that goes on after it."""
        column, top = self.lines[number].column, self.opened[-1] if self.opened else None
        if self.elements is not None and name in self.elements.closes:
            return False
        if top is None:
            return self._is_double(number, name)
        if top.kind is None or not top.is_last or not column.deeper_than(top.column):
            return False
        is_forgotten = self.forgotten is not None and top.line < self.forgotten.line
        if is_forgotten or self._may_open_since(top.line, number):
            return False
        if not self._closes(name, top):
            return True
        if left_open(self.tables, self.lines[number].read):
            return False
        following = self.lines[number + 1] if number + 1 < len(self.lines) else None
        if following is None or following.column.deeper_than(top.column):
            return following is not None
        is_aligned = following.column == top.column and not following.opaque
        return is_aligned and self._closes(self.kinds[following.read[0].kind], top)

    def _is_double(self, number: int, name: str) -> bool:
        """True if *name* follows itself in line *number* of closers, outside of all brackets."""
        read = self.lines[number].without_line_end(self.data).read
        names = [self.kinds[lexeme.kind] for lexeme in read]
        is_known = self.is_outside and not self._may_open_since(-1, number)
        return is_known and names[:2] == [name, name] and not {*names[2:]} - self.closing - _ENDS

    def _may_open_since(self, first: int, last: int) -> bool:
        """True if the cursor's line is between these lines, and may open something that the *last* closes.

        Lines below it are deeper then, and the last one is no shallower.
        """
        opaque = next((i for i in range(first + 1, last) if self.lines[i].opaque), None)
        if opaque is None or self.lines[opaque].column.deeper_than(self.lines[last].column):
            return False
        return self._is_followed_deeper(opaque)

    def _closes(self, name: str, opened: _Opened) -> bool:
        return opened.kind is None or name in self.closers[opened.kind]

    def _forget_inline(self, number: int) -> None:
        """Forget openers within the line before *number* if the lines after it are not deeper.

        Those that start code in an element end with their line.
        """
        while self.opened and self._is_inline(self.opened[-1], number):
            if self._is_in_element(self.opened[-1]):
                self._close(number)
            elif count := self._count_inline(number):
                for _ in range(count):
                    self._close(number)
            else:
                self.forgotten = self.opened.pop()

    def _count_inline(self, number: int) -> int:
        """The number of openers that must be closed before line *number* can follow; 0 if that is unknown."""
        line, chart = self.lines[number], self.charts.before(number)
        if chart is None or line.opaque or self.charts.after(chart, line) is not None:
            return 0
        return self._count_to_close(number)

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
        is_block = top.kind not in _NO_BLOCKS and not top.tag
        is_part = line.read and (self.kinds[line.read[0].kind] in self.closing or self._is_label(line))
        if is_part or not is_block:
            return
        for before in reversed(self.lines[max(top.line - _MOST_CONDITION, 0) : top.line]):
            if line.column.deeper_than(before.column):
                self.opened[-1] = top._replace(column=before.column)
                return

    def _may_close_deeper(self, number: int) -> bool:
        """True if line *number* can follow once everything deeper is closed, or if that is unknown."""
        line = self.lines[number]
        deeper = [opened for opened in self.opened if opened.column.deeper_than(line.column)]
        chart = self.charts.before(number) if deeper else None
        if chart is None or line.opaque:
            return True
        kinds = [kind for opened in reversed(deeper) for kind in self._kinds_closing(opened)]
        return self.charts.after(self.charts.with_added(chart, kinds), line) is not None

    def _close_deeper(self, number: int) -> None:
        """Close before line *number* everything opened in deeper lines."""
        while self.opened and self.opened[-1].column.deeper_than(self.lines[number].column):
            self._close(number)

    def _close_within(self, number: int, name: str) -> None:
        """Close before line *number* whatever is open within the bracket of its column that *name* closes."""
        column = self.lines[number].column
        alike = takewhile(lambda opened: opened.column == column, reversed(self.opened))
        inner = next((count for count, opened in enumerate(alike) if self._closes(name, opened)), 0)
        for _ in range(inner):
            self._close(number)

    def _close_alike(self, number: int) -> None:
        """Close before line *number* everything opened in equally deep lines, if the line can then follow."""
        line = self.lines[number]
        while self.opened and self.opened[-1].column == line.column and self._ends_before(number):
            count = self._count_to_close(number)
            if not count:
                return
            for _ in range(count):
                self._close(number)

    def _count_to_close(self, number: int) -> int:
        """The number of openers in equally deep lines that must be closed before line *number* can follow.

        0 if it cannot, and 1 if that is unknown.
        """
        line, chart = self.lines[number], self.charts.before(number)
        if chart is None:
            return 1
        closers: list[str] = []
        for count, opened in enumerate(reversed(self.opened), 1):
            if opened.kind is None or line.column.deeper_than(opened.column):
                break
            closers += self._kinds_closing(opened)
            if self.charts.after(self.charts.with_added(chart, closers), line) is not None:
                return count
        return 0

    def _close(self, number: int) -> None:
        """Close the innermost before line *number*."""
        top = self.opened.pop()
        if number != self.reread:
            self.around.read_again(number, self._kinds_closing(top))
        end, before = self._end_of(top), self.lines[number - 1]
        if end is not None and not (before.opaque and self._may_end_at(top, before)):
            self._add(number - 1, end)

    def _may_end_at(self, opened: _Opened, cursor_line: PhysicalLine) -> bool:
        """True if the cursor's line may close *opened*, as it is less deep than the lines in it."""
        first = self.lines[opened.line + 1]
        return not cursor_line.column.deeper_than(opened.column) or first.column.deeper_than(
            cursor_line.column
        )

    def _add(self, number: int, word: Word) -> None:
        self.added.setdefault(number, []).append(word)
        self.charts.forget(number)

    def _open_for(self, number: int, closer: str) -> None:
        """Add an opener for the *closer* at the start of line *number*, after the line in its column.

        Not if something was opened there. A line that was cut off in brackets gets their closers first,
        unless line *number* closes them as well.
        """
        column, opening = self.lines[number].column, self._aligned_before(number)
        goes_on = opening is not None and self._closes_left_open(number, opening, closer)
        while not goes_on and self.opened and self._is_cut_off(self.opened[-1], opening, closer):
            self.opened.pop()
        is_outermost = not self.opened or column.deeper_than(self.opened[-1].column)
        if opening is None or not (goes_on or is_outermost):
            return
        if not self.lines[opening + 1].column.deeper_than(column) or opening in self.added:
            return
        opened = () if goes_on else left_open(self.tables, self.lines[opening].read)
        header = self.lines[opening].without_line_end(self.data)
        if opened and closer in self.closers.get(self.kinds[header.read[-1].kind], ()):
            return  # it was opened there, and is closed once too often
        cut_off = [self.closers[kind][0] for kind in reversed(opened)]
        kinds = self.charts.fitting_opener((header, self.lines[opening + 1]), opening, cut_off, closer)
        if kinds:
            words = ((each, shortest_word(self.tables, each) or b"") for each in (*cut_off, *kinds))
            self.added[opening] = [Word((each,), text) for each, text in words]
            self.opened.append(_Opened(kinds[-1], column, opening, is_last=True))

    def _is_cut_off(self, opened: _Opened, opening: int | None, closer: str) -> bool:
        return opened.line == opening and not self._closes(closer, opened)

    def _closes_left_open(self, number: int, opening: int, closer: str) -> bool:
        """True if line *number*, after *closer*, closes the last bracket that line *opening* leaves open.

        Nothing was opened since.
        """
        opened, after = left_open(self.tables, self.lines[opening].read), self.lines[number].read[1:2]
        if (
            not opened
            or not after
            or not self.opened
            or not self._is_cut_off(self.opened[-1], opening, closer)
        ):
            return False
        return self.kinds[after[0].kind] in self.closers[opened[-1]]

    def _aligned_before(self, number: int) -> int | None:
        """The last line before *number* in its column that is no label, or a label directly above its block.

        None if a shallower one or the cursor's comes after it.
        """
        column = self.lines[number].column
        for before in reversed(range(number)):
            line = self.lines[before]
            if column.deeper_than(line.column) or (line.opaque and not line.column.deeper_than(column)):
                return None
            if line.column == column and (not self._is_label(line) or self._may_open(before)):
                return before
        return None

    def _is_label(self, line: PhysicalLine) -> bool:
        return self.kinds[line.without_line_end(self.data).read[-1].kind] == _LABEL_END

    def _may_open(self, label: int) -> bool:
        """True if the line of a *label* may open a block. The end of a forgotten one may be in its column."""
        is_forgotten = self.forgotten is not None and self.forgotten.column == self.lines[label].column
        return self._is_followed_deeper(label) and not is_forgotten
