"""The lines of a suggestion as they will stand in the file, and those of them that it should not have.

Small models like to write a neighbouring line once more, and to go on when the block at the cursor is
finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from fimlsp.quotient.language.editor_policy import EditorPolicy

NEAR = 4
"""Lines above and below within which the same line is a repetition; blank ones do not count."""

FAR = 4_000
"""Bytes above and below the cursor in which these lines are looked for."""

TELLS = re.compile(rb"[\w\x80-\xff]")
"""Matches where a line has more than brackets."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a suggestion, with what stands left and right of it there, and the offset to cut it off."""

    text: bytes
    offset: int

    @property
    def code(self) -> bytes:
        """The line without the white space around it."""
        return self.text.strip()

    @property
    def column(self) -> int:
        """How far the line is indented, in bytes."""
        return column_of(self.text)


@dataclass(frozen=True, slots=True)
class Written:
    """The lines of a suggestion that are not blank, and the nearest of those *above* and *below* them.

    *head* is what its first line has left of the cursor.
    """

    head: bytes
    lines: tuple[Line, ...]
    above: tuple[bytes, ...]
    below: tuple[bytes, ...]


def written_lines(left: bytes, text: bytes, right: bytes) -> Written:
    """The lines that *text* makes or changes between *left* and *right*. O(len(text))."""
    head = left[left.rfind(b"\n") + 1 :]
    tail = right.partition(b"\n")[0]
    above = _significant(
        reversed(left[max(0, len(left) - len(head) - FAR) : len(left) - len(head)].split(b"\n"))
    )
    below = _significant(right[len(tail) :][:FAR].split(b"\n"))
    return Written(head, tuple(_lines(head, text, tail)), tuple(above[:NEAR][::-1]), tuple(below[:NEAR]))


def column_of(line: bytes) -> int:
    """How far *line* is indented, in bytes."""
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
    """An editor policy that refuses repeated lines and those of another block.

    Lines that match `repeatable` may stand twice near each other, as `return` does.
    """

    repeatable: re.Pattern[bytes] = re.compile(rb"(?!)")

    def first_fault(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`: before a repeated line, a remark behind a remark, or one of another block."""
        written = written_lines(left, text, right)
        before = list(written.above)
        for number, line in enumerate(written.lines):
            is_begun = number == 0 and bool(written.head.strip())
            if self._tells(line.code) and line.code in [*before[-NEAR:], *written.below]:
                return len(text.partition(b"\n")[0].rstrip()) - 1 if is_begun else line.offset
            if number and line.column < column_of(written.head) and not self.only_closes(line.code):
                return line.offset
            if not is_begun and before and self.is_remark(line.code) and self.is_remark(before[-1]):
                return line.offset
            before.append(line.code)
        return None

    def _tells(self, code: bytes) -> bool:
        is_common = self.only_closes(code) or self.repeatable.match(code) is not None
        return not is_common and TELLS.search(code) is not None
