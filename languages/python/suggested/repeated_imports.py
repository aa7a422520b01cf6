"""Names that a suggestion imports although the file has imported them already."""

from __future__ import annotations

import re
from collections.abc import Iterator

_IMPORTS_HERE = re.compile(rb"from[ \t]+[\w.]+[ \t]+import[ \t]+\(?(?:[^\n()]*[ \t,(])?(\w*)")
_IMPORT = re.compile(rb"^(?:lazy[ \t]+)?(?:import|from[ \t]+[\w.]+[ \t]+import)[ \t]+([^\n(#]+)", re.M)
_BOUND = re.compile(rb"([\w.]+)(?:[ \t]+as[ \t]+(\w+))?")


def first_repeated_import(left: bytes, text: bytes, right: bytes) -> int | None:
    """The offset of the first name in *text*, between *left* and *right*, that is imported twice.

    None if there is none. Only lines without indentation count: a function may import what its file has.
    """
    at = left.rfind(b"\n") + 1
    here = _IMPORTS_HERE.fullmatch(left, at)
    if here is None:
        return None
    begun = here[1]
    imported = {name for _, name in (*_imported(left[:at]), *_imported(right))}
    for offset, name in _names(begun + text.partition(b"\n")[0]):
        if name in imported:
            return max(0, offset - len(begun))
    return None


def _imported(code: bytes) -> Iterator[tuple[int, bytes]]:
    for line in _IMPORT.finditer(code):
        yield from _names(line[1])


def _names(clause: bytes) -> Iterator[tuple[int, bytes]]:
    """The names that are bound by what stands behind an `import`, with their offsets."""
    for found in _BOUND.finditer(clause):
        yield found.start(), found[2] or found[1]
