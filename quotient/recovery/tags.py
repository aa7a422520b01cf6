"""Tags of elements that have not ended, and signs that one is cut off.

Only attributes stand between the start of a tag and its end, each in a line of its own or in that of the tag.
So a line that is no deeper than the tag, or starts as no attribute does, shows that the end is missing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from fimlsp.lexing.nesting import Column
from fimlsp.quotient.language.contract import Elements
from fimlsp.quotient.recovery.lexemes import Lexeme
from fimlsp.quotient.recovery.lines_around import LineBelow, PhysicalLine

_CLOSERS = b")", b"]", b"}"
_NO_ATTRIBUTE = re.compile(rb"[<)\]}]|\{(?!\s*(?:\.\.\.|/\*))")
_ENDS = b">", b"/>"


class Tag(NamedTuple):
    """A tag that has not ended: the text of its first lexeme, and the column of that line.

    `depth` is the number of brackets, blocks and elements around it.
    """

    text: bytes
    column: Column
    depth: int

    def is_cut_off(self, below: LineBelow) -> bool:
        """True if the line *below* the last one of the tag cannot go on with it."""
        if below.column == self.column:
            return not below.text.startswith(_ENDS)
        return not below.column.deeper_than(self.column) or _NO_ATTRIBUTE.match(below.text) is not None

    def has_content(self, below: LineBelow) -> bool:
        """True if the element of the tag, which is cut off, goes on with the line *below*."""
        is_closed = below.column == self.column and below.text.startswith(b"</" + self.text[1:])
        return is_closed or below.column.deeper_than(self.column)


def is_left(column: Column, below: LineBelow, tag: Tag | None) -> bool:
    """True if code in an element, which starts in a line of *column*, ends before the line *below*.

    The code may be in a *tag*.
    """
    if tag is not None and tag.column.deeper_than(below.column):
        return True
    return not (below.column.deeper_than(column) or below.text.startswith(_CLOSERS))


class OpenTags:
    """The tags that have not ended, outermost first."""

    def __init__(self, elements: Elements) -> None:
        self.elements = elements
        self.opened: list[Tag] = []

    def last(self, depth: int) -> Tag | None:
        """The innermost tag if *depth* brackets, blocks and elements are around it; else None."""
        return self.opened[-1] if self.opened and self.opened[-1].depth >= depth else None

    def is_outside(self, line: PhysicalLine) -> bool:
        """True if *line* surely starts in no tag."""
        return line.modes is not None and line.modes.after(self.elements.empty) is None

    def take(self, lexeme: Lexeme, name: str, data: bytes, column: Column, depth: int) -> Tag | None:
        """The tag that *lexeme* ends; None if it ends none. It may start one in a line of *column*."""
        if name in self.elements.starts:
            self.opened.append(Tag(data[lexeme.start : lexeme.end], column, depth))
        ends = name in (self.elements.opens, self.elements.empty)
        return self.opened.pop() if ends and self.opened else None
