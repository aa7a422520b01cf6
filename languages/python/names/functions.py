"""The function around a line, and the names that it binds above it, by indentation alone."""

from __future__ import annotations

import re
from functools import lru_cache

from fimlsp.languages.python.names.symbol_tables import code_alone

_BOUND = re.compile(rb"(?<![\w.\x80-\xff])([\w\x80-\xff]+)(?=\s*(?:=(?!=)|[,):]|\sin\s))")
_HEADER = re.compile(rb"^(?P<column>[ \t]*)(?:async )?def[ \t]+(?P<name>[\w\x80-\xff]+)[ \t]*\(", re.M)


@lru_cache(maxsize=8)
def names_above(above: bytes, column: int) -> frozenset[bytes]:
    """The names that the function around a line below *above*, indented by *column*, binds. Cached."""
    header = header_around(above, column)
    return frozenset(_BOUND.findall(code_alone(above[header.start() :]))) if header else frozenset()


def header_around(above: bytes, column: int) -> re.Match[bytes] | None:
    """The header of the function around a line below *above*: the last one that is indented by less."""
    headers = [header for header in _HEADER.finditer(above) if len(header["column"]) < column]
    return headers[-1] if headers else None
