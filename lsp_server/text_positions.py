r"""Texts as UTF-8 bytes, and the byte offsets of an editor's positions in them.

The editor counts lines from 0 and, inside a line, code units of the encoding agreed upon at `initialize`.
Everything below the session counts bytes; only this module converts. Lines end at `\n`, `\r\n` or `\r` and
nowhere else (LSP 3.18, "Text Documents"): a form feed or U+2028 does not end one, unlike in `str.splitlines`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.contexts.replacement import Replacement

_LINE_END = re.compile(rb"\n|\r(?!\n)")
_LINE_FEED, _CARRIAGE_RETURN = b"\n\r"
_NO_BYTES = np.zeros(0, np.uint8)
_CONTINUATION = 0b1000_0000


def encode(text: str) -> bytes:
    """UTF-8 of *text*; a lone surrogate, which JSON can carry, becomes `?`."""
    return text.encode("utf-8", "replace")


@dataclass(frozen=True)
class Text:
    """One version of a document, immutable. Its table of lines is made on first use, O(bytes).

    Versions that differ in one line share the table, so each keystroke costs only a copy of the bytes.
    """

    data: bytes

    @cached_property
    def _lines(self) -> LineTable:
        starts = _line_starts(self.data, 0, len(self.data))
        return LineTable(np.concatenate([np.zeros(1, np.int64), starts]), 0, len(self.data))

    @property
    def n_lines(self) -> int:
        """Number of lines; an empty text has one."""
        return len(self._lines.starts)

    def has_line(self, line: int) -> bool:
        """True if the 0-based *line* exists."""
        return line < len(self._lines.starts)

    def line_start(self, number: int) -> int:
        """Byte offset of the 0-based line *number*, which exists."""
        lines = self._lines
        return int(lines.starts[number]) + (len(self.data) - lines.size if number > lines.edited else 0)

    def line_span(self, number: int) -> tuple[int, int]:
        """Byte offsets of start and end of the 0-based line *number*, without its line end."""
        lines, moved = self._lines, len(self.data) - self._lines.size
        start = int(lines.starts[number]) + (moved if number > lines.edited else 0)
        if number + 1 == len(lines.starts):
            return start, len(self.data)
        end = int(lines.starts[number + 1]) + (moved if number >= lines.edited else 0)
        return start, end - 2 if self.data[max(start, end - 2) : end] == b"\r\n" else end - 1

    def line(self, number: int) -> bytes:
        """The 0-based line *number* without its line end."""
        start, end = self.line_span(number)
        return self.data[start:end]

    def line_at(self, offset: int) -> int:
        """The 0-based number of the line around the byte *offset*."""
        lines = self._lines
        above = int(np.searchsorted(lines.starts[: lines.edited + 1], offset, "right")) - 1
        if above < lines.edited:
            return above
        moved = len(self.data) - lines.size
        return above + int(np.searchsorted(lines.starts[lines.edited + 1 :], offset - moved, "right"))

    def longest_line(self) -> tuple[int, int]:
        """The number of the longest line, and its length in bytes, including the line end."""
        lines = self._lines
        own = int(lines.lengths[lines.edited]) + len(self.data) - lines.size
        return max(lines.longest_other, (lines.edited, own), key=lambda line: (line[1], -line[0]))

    def hashes(self, offset: int) -> tuple[int, int]:
        """The hashes of all text before the byte *offset* and of all after it. O(bytes) once for a line."""
        number = self.line_at(offset)
        start, end = self.line_span(number)
        above, below = self._with(number).hashes_around(self.data, start, end)
        return hash((above, self.data[start:offset])), hash((self.data[offset:end], below))

    def offset(self, line: int, character: int, encoding: str) -> int:
        """Byte offset of a position whose *character* counts code units of *encoding*.

        As in LSP, a character beyond the line's end is clipped to it, and a line beyond the last to the end
        of the text. A position inside a character is its start.
        """
        if line >= len(self._lines.starts):
            return len(self.data)
        start, end = self.line_span(line)
        return start + _bytes_before(self.data[start:end], character, encoding)

    def replaced(self, replacement: Replacement) -> Text:
        """The text after an edit; O(bytes) for one copy, but no line is read again."""
        start, end = replacement.start, replacement.end
        new = Text(replacement.applied_to(self.data))
        number = self.line_at(start)
        if self._is_within(number, start, end) and _LINE_END.search(replacement.text) is None:
            new.__dict__["_lines"] = self._with(number)  # shared: no other line has changed
        else:
            starts = self._starts_replaced(start, end, new.data, start + len(replacement.text))
            new.__dict__["_lines"] = LineTable(
                starts, int(np.searchsorted(starts, start, "right")) - 1, len(new.data)
            )
        return new

    def _with(self, number: int) -> LineTable:
        """The table of lines, in which line *number* may be edited from now on."""
        if self._lines.edited != number:
            self.__dict__["_lines"] = LineTable(self._starts, number, len(self.data))
        return self._lines

    def _is_within(self, number: int, start: int, end: int) -> bool:
        r"""True if bytes *start* to *end* can be edited in line *number* without effect on other lines.

        False at the start of a line after `\r`: an inserted `\n` would join that line end.
        """
        return end <= self.line_span(number)[1] and self.data[max(0, start - 1) : start] != b"\r"

    @property
    def _starts(self) -> NDArray[np.int64]:
        lines, moved = self._lines, len(self.data) - self._lines.size
        if not moved:
            return lines.starts
        above, below = lines.starts[: lines.edited + 1], lines.starts[lines.edited + 1 :]
        return np.concatenate([above, below + moved])

    def _starts_replaced(self, start: int, end: int, data: bytes, new_end: int) -> NDArray[np.int64]:
        """The line starts of *data*, in which bytes *start* to *new_end* replace *start* to *end*."""
        starts = self._starts
        return np.concatenate(
            [
                starts[: max(1, int(np.searchsorted(starts, start)))],
                _line_starts(data, start, new_end),
                starts[int(np.searchsorted(starts, end, "right")) :] + (new_end - end),
            ]
        )


@dataclass(eq=False)
class LineTable:
    """The lines of a text, shared by versions that differ in one line.

    *starts* has the byte offset of each line in a text of *size* bytes. In other texts that share this table,
    line *edited* may be longer or shorter.
    """

    starts: NDArray[np.int64]
    edited: int
    size: int
    _hashes: tuple[int, int] | None = field(default=None, repr=False)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """Bytes of each line, including its line end."""
        return np.diff(self.starts, append=self.size)

    @cached_property
    def longest_other(self) -> tuple[int, int]:
        """The number and the bytes of the longest line other than *edited*; 0 bytes if there is no other."""
        lengths = self.lengths.copy()
        lengths[self.edited] = 0
        longest = int(lengths.argmax())
        return longest, int(lengths[longest])

    def hashes_around(self, data: bytes, start: int, end: int) -> tuple[int, int]:
        """The hashes of *data* before and after the line *edited*, which is *start* to *end*."""
        if self._hashes is None:
            text = memoryview(data)
            self._hashes = hash(text[:start]), hash(text[end:])
        return self._hashes


def units(text: str, encoding: str) -> int:
    """Length of *text* in code units of *encoding*."""
    if encoding == "utf-32":
        return len(text)
    return len(text.encode()) if encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


def _line_starts(data: bytes, first: int, last: int) -> NDArray[np.int64]:
    """The line starts from *first* to *last*, both included, without the start of the text."""
    start = max(0, first - 1)
    read = np.frombuffer(data, np.uint8, min(len(data), last + 1) - start, start) if data else _NO_BYTES
    ends = read == _LINE_FEED
    returns = read == _CARRIAGE_RETURN
    returns[:-1] &= ~ends[1:]
    starts = np.flatnonzero(ends | returns) + start + 1
    return starts[(first <= starts) & (starts <= last)]


def _bytes_before(line: bytes, character: int, encoding: str) -> int:
    """Bytes of the first *character* code units of *line*, rounded down to whole characters."""
    if encoding == "utf-8":
        return _character_start(line, min(character, len(line)))
    if encoding == "utf-32":
        return len(line.decode()[:character].encode())
    units = line.decode().encode("utf-16-le")[: 2 * character]
    return len(units.decode("utf-16-le", "ignore").encode())


def _character_start(line: bytes, offset: int) -> int:
    while 0 < offset < len(line) and line[offset] & 0b1100_0000 == _CONTINUATION:
        offset -= 1
    return offset
