"""Finds lines that a suggestion should not have: repeated ones, and those of another block.

So are further comments behind a comment. Small models like to write a neighbouring line or definition once
more, and to go on with the next function when the one at the cursor is finished.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from fimlsp.languages.suggested_lines import NEAR, TELLS, Line, column_of, written_lines

_DEFINITION = re.compile(rb"(?:async\s+)?(?:def|class)\s+(\w+)")
_NAMED = re.compile(_DEFINITION.pattern + rb"\W")
_IMPORT = re.compile(rb"(?:from\s+\S+\s+)?import\s")
_CONTINUES = re.compile(rb"(?:else|elif|except|finally|case)\b")
_MAY_DEFINE_AGAIN = re.compile(rb"@(?:.*\.(?:setter|getter|deleter|register)\b|.*\boverload\b)")
_COMMON = frozenset(
    [b"pass", b"else:", b"try:", b"finally:", b"return", b"continue", b"break", b"raise", b"yield", b"..."]
)


def first_unwanted_line(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text*, between *left* and *right*, behind which it should not be shown; None if all may.

    O(len(text)), and O(len(left) + len(right)) where it defines or imports something.
    """
    around = written_lines(left, text, right)
    head, lines = around.head, around.lines
    if text[:1] in (b" ", b"\t") and head and not head.strip() and lines:
        return 0
    written = list[bytes]()
    for number, line in enumerate(lines):
        is_begun = number == 0 and bool(head.strip())
        before = [*around.above, *written][-NEAR:]
        if _tells(line.code) and line.code in [*before, *around.below]:
            return len(text.partition(b"\n")[0].rstrip()) - 1 if is_begun else line.offset
        if number and _leaves(line, lines[0], head):
            return line.offset
        if not is_begun and line.code.startswith(b"#") and before[-1:] and before[-1].startswith(b"#"):
            return line.offset
        if _exists(line, head if is_begun else b"", left, right, before[-1:]):
            return line.offset
        written.append(line.code)
    return None


def _tells(code: bytes) -> bool:
    return code not in _COMMON and TELLS.search(code) is not None


def _leaves(line: Line, first: Line, head: bytes) -> bool:
    """Whether *line* stands behind the block that is being written, whose first line is *first*."""
    column = column_of(head)
    if head.strip() and first.offset == 0 and _opens(head, first):
        return (
            line.column <= column and not _CONTINUES.match(line.code) and TELLS.match(line.code) is not None
        )
    return line.column < column


def _opens(head: bytes, first: Line) -> bool:
    header = first.text if first.text.startswith(head) else head
    return header.rstrip().endswith(b":") or head.rstrip().endswith(b":")


def _exists(line: Line, begun: bytes, left: bytes, right: bytes, before: list[bytes]) -> bool:
    """Whether the file has the definition, the import or the decorator with arguments of *line* already.

    A definition whose name the user has *begun* and ended is meant to be there.
    """
    code = line.code
    if _IMPORT.match(code) or (code.startswith(b"@") and (b'"' in code or b"'" in code)):
        same = re.compile(rb"^%b%b\s*$" % (b"" if _IMPORT.match(code) else rb"[ \t]*", re.escape(code)), re.M)
        return any(same.search(side) is not None for side in (left, right)) or _is_in_function(line, left)
    defined = _DEFINITION.match(code)
    is_meant = _NAMED.match(begun.lstrip()) is not None or any(map(_MAY_DEFINE_AGAIN.match, before))
    if defined is None or is_meant:
        return False
    above, below = left.rpartition(b"\n")[0], right.partition(b"\n")[2]
    names = {
        *_defined(reversed(above.split(b"\n")), line.column),
        *_defined(below.split(b"\n"), line.column),
    }
    return defined[1] in names


def _is_in_function(line: Line, left: bytes) -> bool:
    """Whether the function that the indented *line* would be in has such a line above."""
    for above in reversed(left.split(b"\n")[:-1]) if line.column else ():
        if above.strip() == line.code:
            return True
        if column_of(above) < line.column and _DEFINITION.match(above.lstrip()):
            return False
    return False


def _defined(lines: Iterable[bytes], column: int) -> Iterator[bytes]:
    """The names that *lines* define at *column*, up to the end of the block."""
    for line in lines:
        if not line.strip():
            continue
        if column_of(line) < column:
            return
        found = _DEFINITION.match(line, column) if column_of(line) == column else None
        if found is not None:
            yield found[1]
