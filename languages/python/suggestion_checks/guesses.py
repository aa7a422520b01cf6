"""Checks of texts that a small model takes from a neighbour, or guesses: nothing at the cursor supports them.

`entries.append(Entry)` below `entry = Entry(row)` has a class in place of its variable. Counted in 1,100
files, without `isinstance` and its like, which take classes:

| a class alone as | of | with such a variable |
|---|---|---|
| an argument | 1,256 | 2 |
| a keyword argument | 126 | 0 |
| an assigned value | 90 | 3 |
| a returned value | 132 | 1 |

A body is all of that of another function in the same block. Of 52,441 bodies in 74 packages 0.5 % were such.
Other names of parameters make no difference: of 1,572 bodies of one `return` in 900 other files 19 were such,
with and without renaming. One more of these was a `return` within another function.

The annotation of the method above is copied: `def to_row(self) ->` gets the `bool` of `is_read`. Of 51,599
annotated functions in 3,821 files, 4,309 return `bool`. By the first word of their names:

| first word | functions | return `bool` |
|---|---|---|
| to, as, build, copy, create, decode, encode, new, render, split | 1,947 | 0 |
| find, from, generate, make | 1,722 | 5 |

A number that is finished goes on: `end = 2` becomes `end = 256`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import takewhile

from fimlsp.languages.python.missing_names.import_table import positional_parameters
from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.languages.python.names.symbol_tables import names_above
from fimlsp.languages.python.suggestion_checks.lines import HEADER_OF_FUNCTION, enclosing_scope, is_outside
from fimlsp.languages.suggested_lines import FAR, column_of, suggested_lines

LONGEST_FUNCTION = 20_000
"""Bytes before a class in which the function around it is searched."""

_CLASS = re.compile(rb"(?<![\w.\x80-\xff\"'])_?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?![\w\x80-\xff])")
_BEGUN = re.compile(rb"(?<![\w.\x80-\xff])[\w\x80-\xff]{0,200}\Z")
_ENDS = re.compile(rb"[ \t]*(?:[,)#\r\n]|\Z)")
_NEXT_PART = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TARGET = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]+)[ \t]*=[ \t]*\Z")
_TAKES_CLASS = re.compile(rb"(?:class|cls|type|factory|model|schema)_*\Z")
_TAKES_CLASSES = frozenset([b"isinstance", b"issubclass", b"super", b"cast", b"TypeVar", b"NewType"])
_MEANS_SOMETHING = re.compile(rb"(?!raise[ \t]+NotImplemented)[^.(]*[\w)\]][.(]")
_SHORT_DOCSTRING = re.compile(rb"[rR]?\"\"\".*\"\"\"\Z")
_NAME = re.compile(rb"(?<![\w.\x80-\xff])[A-Za-z_\x80-\xff][\w\x80-\xff]*")
_RETURN = b"return "

LONGEST_NUMBER = 50
"""Bytes before the cursor in which its number is searched."""

_MAKES_BOOL = re.compile(
    rb"[ \t]*(?:async[ \t]+)?def[ \t]+_*"
    rb"(?:as|build|copy|create|decode|encode|find|from|generate|make|new|render|split|to)(?:_\w*)?"
    rb"[ \t]*\(.*\)[ \t]*->[ \t]*(?P<type>bool)[ \t]*(?::|\Z)"
)
_NUMBER = re.compile(rb"(?<![\w.\x80-\xff])(?:\d[\w.]{0,40})?\d\Z")
_GOES_ON = re.compile(rb"\w")


def first_class_for_variable(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first class in place of a variable that has its name in small letters.

    So is a class that is assigned to such a name. It is an argument, assigned or returned, in a function.
    None if there is none. O(len(text)), and the function above where there is a class.
    """
    begun = _BEGUN.search(left)
    before = len(begun[0]) if begun else 0
    start, code = left[: len(left) - before], left[len(left) - before :] + text
    for name in _CLASS.finditer(code):
        is_alone = name.end() > before and _ENDS.match(code[name.end() :] + right[:1])
        if is_alone and _is_variable(start, code[: name.start()], name[0]):
            return max(0, name.start() - before)
    return None


def _is_variable(start: bytes, code: bytes, name: bytes) -> bool:
    """True if the class *name* after *code*, which follows *start*, stands for a variable."""
    state = state_at_end(start).feed(code)
    above = start + code
    if not _is_value(state) or (scope := enclosing_scope(above)) is None or not scope[1]:
        return False
    variable = _NEXT_PART.sub(b"_", name).lower()
    line_start = above.rfind(b"\n") + 1
    line = above[line_start:]
    target = _TARGET.search(line)
    if target is not None and _TAKES_CLASS.search(target[1]):
        return False
    if target is not None and target[1].strip(b"_") == variable.strip(b"_"):
        return True
    column = len(line) - len(line.lstrip())
    return variable in names_above(above[max(0, line_start - LONGEST_FUNCTION) : line_start], column)


def _is_value(state: CodeState) -> bool:
    """True if the name at *state* is an argument, or is assigned or returned."""
    if state.quote:
        return False
    if state.role is NameRole.ARGUMENT:
        return state.callee.rpartition(b".")[2] not in _TAKES_CLASSES
    is_assigned = state.last == b"=" and not (state.brackets and state.brackets[-1].binds)
    return state.role is NameRole.USE and (is_assigned or (state.last == b"return" and not state.brackets))


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


def first_made_bool(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset in *text* of the first `bool` as the result of a function that makes something, or None.

    One that starts before *text* is intended. O(len(text)).
    """
    context = suggested_lines(left, text, right)
    for line in context.lines:
        header = _MAKES_BOOL.match(line.text)
        if header is None:
            continue
        if b"\n" in text[: line.offset + 1]:
            return line.offset
        start = header.start("type") - len(context.head)
        if start >= 0:
            return start
    return None


def first_longer_number(left: bytes, text: bytes, right: bytes) -> int | None:
    """0 if *text* goes on with the digits of a number at the end of *left*, else None. O(1)."""
    del right
    return 0 if _GOES_ON.match(text) and _NUMBER.search(left[-LONGEST_NUMBER:]) else None
