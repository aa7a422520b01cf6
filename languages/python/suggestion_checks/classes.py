"""A check of classes that stand where a variable of the same name is meant.

A small model writes `entries.append(Entry)` below `entry = Entry(row)`. Counted in 1,100 files, without
`isinstance` and its like, which take classes:

| a class alone as | of | with such a variable |
|---|---|---|
| an argument | 1,256 | 2 |
| a keyword argument | 126 | 0 |
| an assigned value | 90 | 3 |
| a returned value | 132 | 1 |
"""

from __future__ import annotations

import re

from fimlsp.languages.python.names.code_state import CodeState, NameRole, state_at_end
from fimlsp.languages.python.names.symbol_tables import names_above
from fimlsp.languages.python.suggestion_checks.lines import enclosing_scope

LONGEST_FUNCTION = 20_000
"""Bytes before a class in which the function around it is searched."""

_CLASS = re.compile(rb"(?<![\w.\x80-\xff\"'])_?[A-Z][A-Za-z0-9]*[a-z][A-Za-z0-9]*(?![\w\x80-\xff])")
_BEGUN = re.compile(rb"(?<![\w.\x80-\xff])[\w\x80-\xff]{0,200}\Z")
_ENDS = re.compile(rb"[ \t]*(?:[,)#\r\n]|\Z)")
_NEXT_PART = re.compile(rb"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_TARGET = re.compile(rb"(?<![\w\x80-\xff])([\w\x80-\xff]+)[ \t]*=[ \t]*\Z")
_TAKES_CLASS = re.compile(rb"(?:class|cls|type|factory|model|schema)_*\Z")
_TAKES_CLASSES = frozenset([b"isinstance", b"issubclass", b"super", b"cast", b"TypeVar", b"NewType"])


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
