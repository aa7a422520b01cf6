"""Reads a file that is broken away from the cursor as the valid one that it most nearly is."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cache

from fimlsp.quotient.connect.connect import connect, read_up_to
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.language.tables import LanguageTables
from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.headers import Assumed
from fimlsp.quotient.recovery.mended_text import Mend, MendedText
from fimlsp.quotient.recovery.statements import Edit, Statements
from fimlsp.quotient.states.protocol import State


@cache
def assumed_of(tables: LanguageTables) -> Assumed:
    """What is assumed in texts of the language of *tables*."""
    return Assumed(tables)


class Recovery:
    """A broken document with the line of a cursor, mended above and below that line.

    It serves all cursors in the line, and follows edits within it as long as what was assumed does not depend
    on them.
    """

    def __init__(self, document: Document, cursor: int, cursor_end: int) -> None:
        assumed = assumed_of(document.tables)
        self._start, line_end = _line_around(document, cursor, cursor_end)
        self._from_end = len(document.data) - line_end
        self._text = MendedText(document, cursor, cursor_end)
        self._above = Above(assumed, self._text, cursor - self._start)
        self._above.mend()
        self._below = Below(assumed, self._text, line_end - cursor_end, self._above.column)
        self._below.mend()
        self._line = self._line_of(document)

    def _line_of(self, document: Document) -> Hashable:
        """What was assumed depends on of the cursor's line."""
        found = Statements(self._above.assumed, document.transitions.lines, document.data, len(document.data))
        line = found.next_line(self._start)
        line_end = len(document.data) - self._from_end
        around = _line_around(document, self._start, max(self._start, line_end - 1))
        is_own = line is not None and line.start == self._start
        return is_own and line and (line.column, line.first), around[0], len(document.data) - around[1]

    def follow(self, document: Document, start: int, end: int, replacement: bytes) -> bool:
        """Whether this serves *document*, in which `data[start:end]` was replaced by *replacement*."""
        shift = len(replacement) - (end - start)
        line_end = len(document.data) - self._from_end - shift
        if start < self._start or end >= line_end or not set(replacement).isdisjoint(b"\r\n,"):
            return False
        if self._line_of(document) != self._line:
            return False
        self._text.follow(self._start, start, end, replacement)
        return True

    def serves(self, document: Document, start: int, end: int) -> bool:
        """Whether the line has a cursor from *start* to *end* in it."""
        around = _line_around(document, start, end)
        return around == (self._start, len(document.data) - self._from_end)

    def state(
        self, document: Document, start: int, end: int, options: ConnectOptions
    ) -> tuple[State | None, tuple[Mend, ...]]:
        """The state of what may replace `data[start:end]` in the mended text, and how it was mended."""
        line_end = len(document.data) - self._from_end
        self._above.move(start - self._start)
        self._below.move(line_end - end, end - start)
        for reading in _readings(self._above, self._below):
            found = read_up_to(reading.document, reading.cursor)
            state = found and connect(reading.document, reading.cursor_end, *found, options)
            if state is not None:
                return state, tuple(reading.mends)
        return None, ()


def _line_around(document: Document, cursor: int, cursor_end: int) -> tuple[int, int]:
    """The start and the end of the line from *cursor* to *cursor_end*, as a string may continue it."""
    lines, data = document.transitions.lines, document.data
    start, end = lines.start_of_stretch(data, cursor), lines.end_of_stretch(data, cursor_end)
    first, _ = document.left_at(cursor)
    line = document.line_at(first)
    if first < len(data) and not line.broken and first + line.size > start:
        return min(first, start), max(first + line.size, end)
    return start, end


def _readings(above: Above, below: Below) -> Iterator[MendedText]:
    """The mended text, then ones in which what is at the cursor's line is mended or left out as well."""
    changes = [(), *filter(None, (below.without_closers(), below.without_rest()))]
    if below.has_strays:
        changes[:2] = reversed(changes[:2])
    lefts = [above, *above.closed()]
    yield from _combined(lefts, changes, below)
    yield from _combined(lefts, [(*below.without_rest(), *below.without_all())], below)
    bare = above.without_all()
    changes.append((*below.without_rest(), *below.without_all()))
    yield from _combined([above.without_line(), bare, bare.without_line()], changes, below)


def _combined(
    lefts: Iterable[Above], changes: Iterable[tuple[Edit, ...]], below: Below
) -> Iterator[MendedText]:
    """Each of *lefts* with each of the *changes* below."""
    for change in changes:
        for left in lefts:
            text = left.text.copy() if change else left.text
            shift = left.text.cursor - below.text.cursor
            text.replace([(start + shift, end + shift, new) for start, end, new in change])
            yield text
