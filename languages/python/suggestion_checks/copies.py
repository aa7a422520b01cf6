"""A check of bodies that are those of another function in the same block.

Of 52,441 bodies in 74 packages 0.5 % were all of another one. Other names of parameters make no difference:
of 1,572 bodies of one `return` in 900 other files 19 were such, with and without renaming. One more of these
was a `return` within another function.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from fimlsp.languages.python.missing_names.import_table import positional_parameters
from fimlsp.languages.python.suggestion_checks.lines import HEADER_OF_FUNCTION, is_outside
from fimlsp.languages.suggested_lines import FAR, column_of, suggested_lines

_MEANS_SOMETHING = re.compile(rb"(?!raise[ \t]+NotImplemented)[^.(]*[\w)\]][.(]")
_SHORT_DOCSTRING = re.compile(rb"[rR]?\"\"\".*\"\"\"\Z")
_NAME = re.compile(rb"(?<![\w.\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_RETURN = b"return "


def first_copied_body(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first body that another function in the same block has; None without one.

    It is all of the other body, with the names of its own parameters, or a `return` of it alone. Bodies
    without an attribute or a call, and `NotImplementedError`, may be equal. O(len(left) + len(right)) if
    *text* has the first line of a body.
    """
    context, above = suggested_lines(left, text, right), left[-FAR:].split(b"\n")
    if text.partition(b"\n")[0].strip():
        above.pop()
    rows = [(line, 0) for line in above if line.strip()][-1:]
    rows += ((line.text, line.offset) for line in context.lines)
    below = right.split(b"\n")[1:]
    for number, (header, _) in enumerate(rows[:-1]):
        definition = HEADER_OF_FUNCTION.match(header)
        if definition is not None:
            column = column_of(header)
            body = _body_below(header, (*(row for row, _ in rows[number + 1 :]), *below))
            others = _others(left, right, column, definition[1])
            if _MEANS_SOMETHING.match(b"\n".join(body)) and any(map(body.__eq__, others)):
                return rows[number + 1][1]
    return None


def _others(left: bytes, right: bytes, column: int, name: bytes) -> Iterator[list[bytes]]:
    """The bodies, and each `return`, of the functions at *column* around the cursor but *name*.

    The block of the cursor ends at lines that are indented by less.
    """
    above, below = left.split(b"\n")[:-1], right.split(b"\n")[1:]
    first = next((n for n in range(len(above), 0, -1) if is_outside(above[n - 1], column)), 0)
    last = next((n for n, line in enumerate(below) if is_outside(line, column)), len(below))
    for lines in (above[first:], below[:last]):
        for number, line in enumerate(lines):
            definition = HEADER_OF_FUNCTION.match(line)
            if definition is not None and column_of(line) == column and definition[1] != name:
                body = _body_below(line, lines[number + 1 :])
                yield body
                yield from ([statement] for statement in body if statement.startswith(_RETURN))


def _body_below(header: bytes, lines: Iterable[bytes]) -> list[bytes]:
    """The code of *lines* up to the first one that is not deeper than *header*, without a short docstring.

    Its parameters have their numbers for names.
    """
    column, written = column_of(header), filter(bytes.strip, lines)
    parameters = positional_parameters(header) if b"(" in header else []
    numbers = {parameter.name: b"%d" % number for number, parameter in enumerate(parameters)}
    body = [line.strip() for line in takewhile(lambda line: column_of(line) > column, written)]
    code = body[1:] if body and _SHORT_DOCSTRING.match(body[0]) else body
    return [_NAME.sub(lambda name: numbers.get(name[0], name[0]), line) for line in code]
