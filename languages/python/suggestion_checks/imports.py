"""A check of imports in a suggestion: none is repeated or needless. The names that a file imports."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FROM = re.compile(rb"(?:lazy[ \t]+)?from[ \t]+([\w.]+)[ \t]+import[ \t](?:[ \t]*\()?")
_CLAUSE = re.compile(rb"[^#)]*")
_TOP_IMPORT = re.compile(rb"^(?:lazy[ \t]+)?(?:import|from[ \t]+[\w.]+[ \t]+import)[ \t]+([^\n(#]+)", re.M)
_BOUND = re.compile(rb"([\w.]+)(?:[ \t]+as[ \t]+(\w+))?")
_ALWAYS_ON = frozenset(
    b"nested_scopes generators division absolute_import with_statement print_function unicode_literals "
    b"generator_stop".split()
)
"""The features of `__future__` that every supported version has without an import."""


def first_needless_import(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first name in *text* that is imported twice, or a feature that is always on.

    None if there is none. Only lines without indentation count: a function may import what its file imports.
    O(len(left) + len(right)) where there is such a line, else O(len(text)).
    """
    line_start = left.rfind(b"\n") + 1
    lines = (left[line_start:] + text).split(b"\n")
    if not any(map(_FROM.match, lines)):
        return None
    imported = {*imported_names(left[:line_start]), *imported_names(right)}
    start = line_start - len(left)
    for line in lines:
        for offset, name, is_always_on in _imports_from(line):
            end = start + offset + len(name)
            if end > 0 and (is_always_on or name in imported):
                return max(0, start + offset)
            imported.add(name)
        start += len(line) + 1
    return None


def _imports_from(line: bytes) -> Iterator[tuple[int, bytes, bool]]:
    """The names that *line* imports from a module: offset, bound name, and if it is a feature always on."""
    statement = _FROM.match(line)
    if statement is None:
        return
    clause = _CLAUSE.match(line, statement.end())
    assert clause is not None
    for offset, name in _bound_names(clause[0]):
        is_always_on = statement[1] == b"__future__" and name in _ALWAYS_ON
        yield statement.end() + offset, name, is_always_on


def imported_names(code: bytes) -> Iterator[bytes]:
    """The names that imports at the top level of *code* bind. O(len(code))."""
    return (name for statement in _TOP_IMPORT.finditer(code) for _, name in _bound_names(statement[1]))


def _bound_names(clause: bytes) -> Iterator[tuple[int, bytes]]:
    """The names that *clause*, the part of an import after `import`, binds, with their offsets."""
    return ((item.start(), item[2] or item[1]) for item in _BOUND.finditer(clause))
