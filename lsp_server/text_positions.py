r"""Texts as UTF-8 bytes, and the way from an editor's positions to byte offsets.

The editor counts lines from 0 and, inside a line, code units of the encoding agreed upon at
`initialize`; everything below this room counts bytes. This module is the only place where the two
meet. Lines end at `\n`, `\r\n` or `\r` and nowhere else (LSP 3.18, "Text Documents"): a form feed or
U+2028 does not end one, unlike in `str.splitlines`.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

_LINE_END = re.compile(rb"\r\n?|\n")
_CONTINUATION = 0b1000_0000


def encode(text: str) -> bytes:
    """UTF-8 of *text*; a lone surrogate, which JSON can carry, becomes `?`."""
    return text.encode("utf-8", "replace")


@dataclass(frozen=True)
class Text:
    """One version of a document. Immutable; the line index is made on first use, O(bytes)."""

    data: bytes

    @cached_property
    def line_starts(self) -> list[int]:
        """Byte offset of the first character of every line; never empty."""
        return [0, *(match.end() for match in _LINE_END.finditer(self.data))]

    def has_line(self, line: int) -> bool:
        """Whether the 0-based *line* exists. An empty text has one line."""
        return line < len(self.line_starts)

    def line(self, number: int) -> bytes:
        """The 0-based line *number* without its line end."""
        starts = self.line_starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.data)
        return self.data[starts[number] : end].rstrip(b"\r\n")

    def line_at(self, offset: int) -> int:
        """The 0-based number of the line that holds the byte *offset*."""
        return bisect_right(self.line_starts, offset) - 1

    def offset(self, line: int, character: int, encoding: str) -> int:
        """Byte offset of a position whose *character* counts code units of *encoding*.

        As LSP wants it: a character beyond the line's end means the line's end, a line beyond the last
        means the end of the text. A position inside a character means that character's start.
        """
        if not self.has_line(line):
            return len(self.data)
        return self.line_starts[line] + _bytes_before(self.line(line), character, encoding)

    def replaced(self, start: int, end: int, replacement: bytes) -> Text:
        """The text with the bytes from *start* to *end* replaced."""
        return Text(self.data[:start] + replacement + self.data[end:])


def _bytes_before(line: bytes, character: int, encoding: str) -> int:
    """How many bytes of *line* its first *character* code units take, rounded down to whole characters."""
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
