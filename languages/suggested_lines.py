"""The lines of a suggestion as they would stand in the file, and a policy that refuses some of them.

Small models like to repeat a neighbouring line, and to continue after the end of the block at the cursor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fimlsp.quotient.language.editor_policy import EditorPolicy

NEAR = 4
"""Lines above and below within which an equal line is a repetition; blank ones do not count."""

FAR = 4_000
"""Bytes above and below the cursor in which these lines are looked up."""

HAS_WORD = re.compile(rb"[\w\x80-\xff]")
"""Matches lines with more than brackets and signs."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a suggestion, with the text left and right of it, and the offset at which to cut it off."""

    text: bytes
    offset: int

    @property
    def code(self) -> bytes:
        """The line without the white space around it."""
        return self.text.strip()

    @property
    def column(self) -> int:
        """Indentation of the line, in bytes."""
        return column_of(self.text)


@dataclass(frozen=True, slots=True)
class SuggestedLines:
    """The lines of a suggestion that are not blank, and the nearest lines *above* and *below* them.

    *head* is the text left of the cursor in its line.
    """

    head: bytes
    lines: tuple[Line, ...]
    above: tuple[bytes, ...]
    below: tuple[bytes, ...]


def suggested_lines(left: bytes, text: bytes, right: bytes) -> SuggestedLines:
    """The lines that *text* adds or changes between *left* and *right*. O(len(text))."""
    head = left[left.rfind(b"\n") + 1 :]
    tail = right.partition(b"\n")[0]
    above = _significant(
        reversed(left[max(0, len(left) - len(head) - FAR) : len(left) - len(head)].split(b"\n"))
    )
    below = _significant(right[len(tail) :][:FAR].split(b"\n"))
    return SuggestedLines(
        head, tuple(_lines(head, text, tail)), tuple(above[:NEAR][::-1]), tuple(below[:NEAR])
    )


def column_of(line: bytes) -> int:
    """Indentation of *line*, in bytes."""
    return len(line) - len(line.lstrip())


def _lines(head: bytes, text: bytes, tail: bytes) -> Iterator[Line]:
    """The lines of *text* that are not blank; each is cut off at the end of the line before it."""
    offset, rows = 0, text.split(b"\n")
    for number, row in enumerate(rows):
        whole = (head if number == 0 else b"") + row + (tail if number == len(rows) - 1 else b"")
        if row.strip():
            yield Line(whole, max(0, offset - 1))
        offset += len(row) + 1


def _significant(lines: Iterable[bytes]) -> list[bytes]:
    return [line.strip() for line in lines if line.strip()]


@dataclass(frozen=True)
class LinesPolicy(EditorPolicy):
    """An editor policy that refuses repeated lines and lines of another block.

    Lines that match `repeatable` may repeat near each other, as `return` does.
    """

    repeatable: re.Pattern[bytes] = re.compile(rb"(?!)")

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`: before a repeated line, a second comment, or a line of another block."""
        suggestion = suggested_lines(left, text, right)
        before = list(suggestion.above)
        for number, line in enumerate(suggestion.lines):
            is_partial = number == 0 and bool(suggestion.head.strip())
            if self._is_distinctive(line.code) and line.code in [*before[-NEAR:], *suggestion.below]:
                return len(text.partition(b"\n")[0].rstrip()) - 1 if is_partial else line.offset
            if number and line.column < column_of(suggestion.head) and not self.only_closes(line.code):
                return line.offset
            if not is_partial and before and self.is_comment(line.code) and self.is_comment(before[-1]):
                return line.offset
            before.append(line.code)
        return None

    def _is_distinctive(self, code: bytes) -> bool:
        is_common = self.only_closes(code) or self.repeatable.match(code) is not None
        return not is_common and HAS_WORD.search(code) is not None
