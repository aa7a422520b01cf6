"""A buffer with its contexts: for each line start, what the text before opens and the text after closes.

Left contexts are functions of the text before, right contexts of the text after. So an edit leaves the left
contexts above it and the right contexts below it as they are. Those on its other side are kept aside: once
one of them turns out to hold again, so do all beyond it, and a keystroke costs its line.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import pairwise
from typing import TypeVar, cast

from fimlsp.lexing.line import MOST_JOINED, Line, LineReader, joined, n_joined, physical_end
from fimlsp.quotient.language import Language
from fimlsp.quotient.left_context import LeftContext, start_of_file
from fimlsp.quotient.left_places import LeftPlaces
from fimlsp.quotient.places import Places
from fimlsp.quotient.right_context import RightContext, end_of_file
from fimlsp.quotient.right_places import RightPlaces

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_BATCHES = 3
_MOST_SUFFIXES = 16

T = TypeVar("T")


class Document:
    """The text of a buffer as UTF-8, with the contexts of its lines."""

    def __init__(self, language: Language, lines: LineReader, data: bytes) -> None:
        self.language = language
        self.data = data
        self.lines = lines
        self._reset()

    def _reset(self) -> None:
        first = len(BYTE_ORDER_MARK) if self.data.startswith(BYTE_ORDER_MARK) else 0
        self._lefts = LeftPlaces(Places([first], [start_of_file(self.language)]))
        self._rights = RightPlaces(Places([0], [end_of_file(self.language)]))
        self._left_stale: list[LeftPlaces] = []
        self._right_stale: list[RightPlaces] = []
        self._dead: set[int] = set()
        self._of_suffix: dict[tuple[int, Hashable], object] = {}

    def prepare(self) -> None:
        """Make all contexts now, so that no later question pays for them. O(len(data)) the first time."""
        self.left_at(len(self.data))
        for start in reversed(self._lefts.places()):
            self.right_at(start)

    def line_at(self, position: int) -> Line:
        """The line that begins at *position*."""
        return self.lines.read(self.data, position)

    def left_at(self, position: int) -> tuple[int, LeftContext]:
        """The start of the line with *position*, and the context there. O(lines not seen before)."""
        while self._lefts.last[0] < position and self._extend_left(position):
            pass
        for start in self._lefts.unreadable:
            if start < position and self._is_open_from(start, position):
                position = start
        return self._within_joined(*self._lefts.at_or_before(position), position)

    def _within_joined(self, start: int, context: LeftContext, position: int) -> tuple[int, LeftContext]:
        """As `left_at`, if *position* may be within lines from *start* on that were read as one."""
        while start < self._lefts.last[0] and physical_end(self.data, start) <= position:
            line = self.line_at(start)
            if start + line.size > position:
                break
            start += line.size
            context = context.after_line(line)
            self._lefts.put(start, context)
        return start, context

    def _is_open_from(self, start: int, position: int) -> bool:
        """Whether the line at *start*, which cannot be read to its end, can be read up to *position*."""
        _, context = self._lefts.at_or_before(start)
        return context.reading().feed(self.data[start:position]) is not None

    def _extend_left(self, position: int) -> bool:
        start, before = self._lefts.last
        line = self.line_at(start)
        if not self._ends_before(position, start, line):
            return False
        if line.broken and self._is_open_from(start, position):
            return False
        if line.broken:
            self._lefts.unreadable.append(start)
        whole = line if before.nesting.depth or before.broken else self._joined_from(line, start, position)
        context = before.after_line(whole)
        if context.broken and whole is not line:
            whole, context = line, before.after_line(line)
        self._lefts.put(start + whole.size, context)
        self._revive_left(start + whole.size, context)
        return True

    def _ends_before(self, position: int, start: int, line: Line) -> bool:
        """Whether *line*, which begins at *start*, has a line end, and that not after *position*."""
        end = start + line.size
        return start < end <= position and self.data[end - 1] in b"\r\n"

    def _joined_from(self, line: Line, start: int, position: int) -> Line:
        """*line* with the lines that its brackets join to it, if they end before *position*; else *line*."""
        lines = [line]
        depth = len(line.openers)
        end = start + line.size
        while depth and len(lines) < MOST_JOINED:
            line = self.line_at(end)
            if line.broken or len(line.closers) > depth or not self._ends_before(position, end, line):
                break
            end += line.size
            lines.append(line)
            depth += len(line.openers) - len(line.closers)
        whole = lines[0] if depth else joined(lines)
        return lines[0] if self.language.too_deep(whole.kinds, 0) else whole

    def _revive_left(self, start: int, context: LeftContext) -> None:
        for batch in self._left_stale:
            if self._lefts.revive(batch, start, context):
                self._left_stale.remove(batch)
                return

    def right_at(self, position: int) -> RightContext:
        """The context at *position*, a line start in ordinary code. O(lines not seen before)."""
        rights = self._rights
        length = len(self.data)
        lines: list[Line] = []
        while length - position not in rights:
            lines.append(self.line_at(position))
            position += lines[-1].size
        context = rights.get(length - position)
        assert context is not None
        while lines:
            count = 1 if context.unmatched or context.broken else n_joined(lines)
            before = self._right_before(position, context, whole := joined(lines[-count:]))
            if before.broken and count > 1:
                count = 1
                before = self._right_before(position, context, whole := lines[-1])
            del lines[-count:]
            position -= whole.size
            context = before
            if length - position not in rights:
                rights.put(length - position, context, whole)
                self._revive_right(length - position, context)
        return context

    def _right_before(self, position: int, context: RightContext, line: Line) -> RightContext:
        """The context before *line*, which ends at *position*, where *context* holds."""
        known = self._rights.get(len(self.data) - position + line.size)
        return context.before_line(line) if known is None else known

    def goes_on_at(self, position: int) -> RightContext | None:
        """As `right_at`, but None as soon as a line turns out to be broken."""
        length = len(self.data)
        start = position
        seen: list[int] = []
        while length - position not in self._rights:
            line = self.line_at(position)
            seen.append(length - position)
            if length - position in self._dead or line.broken or not self.may_stand(line):
                self._dead.update(seen)
                return None
            position += line.size
        context = self.right_at(start)
        return None if context.broken else context

    def may_stand(self, line: Line) -> bool:
        """Whether each two neighbouring lexemes of *line* may stand beside each other."""
        return self.may_follow(line.kinds)

    def may_follow(self, kinds: tuple[int, ...]) -> bool:
        """Whether each two neighbours of *kinds* may stand beside each other."""
        terminals = self.language.terminals(kinds)
        return self.language.neighbours.issuperset(pairwise(terminals))

    def _revive_right(self, distance: int, context: RightContext) -> None:
        for batch in self._right_stale:
            if self._rights.revive(batch, distance, context):
                self._right_stale.remove(batch)
                return

    def of_suffix(self, position: int, key: Hashable, make: Callable[[], T]) -> T:
        """What *make* gives: a function of the text after *position*, remembered while that text stays."""
        place = len(self.data) - position, key
        if place not in self._of_suffix:
            if len(self._of_suffix) >= _MOST_SUFFIXES:
                self._of_suffix.clear()
            self._of_suffix[place] = make()
        return cast("T", self._of_suffix[place])

    def edit(self, start: int, end: int, replacement: bytes) -> None:
        """Replace `data[start:end]`. Contexts beyond it are set aside and made again when asked for.

        O(len(data)) for a copy of the bytes, and O(contexts set aside), which while typing are few.
        """
        length = len(self.data)
        marked = self.data.startswith(BYTE_ORDER_MARK)
        kept = memoryview(self.data)
        self.data = b"".join((kept[:start], replacement, kept[end:]))
        if marked != self.data.startswith(BYTE_ORDER_MARK):
            self._reset()
            return
        shift = len(replacement) - (end - start)
        self._cut_left(start, end, shift)
        self._cut_right(length - start, length - end, shift)

    def _cut_left(self, start: int, end: int, shift: int) -> None:
        batches = (*self._left_stale, self._lefts.cut_for_edit(start))
        moved = [batch.moved_beyond(end, shift) for batch in batches]
        self._left_stale = [batch for batch in moved if len(batch)][-_MOST_BATCHES:]

    def _cut_right(self, start: int, end: int, shift: int) -> None:
        """As `_cut_left`, with distances from the end of the text."""
        batches = (*self._right_stale, self._rights.cut(end))
        moved = [batch.moved_beyond(start, shift) for batch in batches]
        self._right_stale = [batch for batch in moved if len(batch)][-_MOST_BATCHES:]
        self._dead = {d for d in self._dead if d <= end}
        self._of_suffix = {place: found for place, found in self._of_suffix.items() if place[0] <= end}
