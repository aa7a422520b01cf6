"""Sums up what a Python file defines: headers of functions and classes, first lines of their docstrings.

This scans lines instead of parsing, as the file may be one that is being written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from fimlsp.lsp_server.python.remembered import remembered

LONGEST_OUTLINE = 16_000

LONGEST_HEADER = 20
"""Lines; what is longer is cut."""

_DEFINITION = re.compile(rb"(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)")
_ASSIGNMENT = re.compile(rb"(\w+)[ \t]*(?::[^=\n]*)?=[^=]")
_DOCSTRING = re.compile(rb"\s*[rR]?(?:\"\"\"|''')[ \t]*(\S[^\n]*)?")
_STRING_OR_COMMENT = re.compile(rb"\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|\#.*")


@remembered(256)
def outline(source: bytes, names: frozenset[str] | None = None) -> bytes:
    """The definitions of *names* at the top level of *source*, or of all names but private ones.

    At most `LONGEST_OUTLINE` bytes, in whole definitions. O(len(source)).
    """
    lines = source.replace(b"\r\n", b"\n").split(b"\n")
    parts, size = [], 0
    for start, end, name in _top_level(lines):
        if name in names if names is not None else not name.startswith("_"):
            part = b"\n".join(_shortened(lines[start:end])) + b"\n"
            size += len(part)
            if size > LONGEST_OUTLINE:
                break
            parts.append(part)
    return b"".join(parts)


@remembered(64)
def defined_names(source: bytes) -> frozenset[str]:
    """The names that `outline` finds in *source*. O(len(source))."""
    lines = source.replace(b"\r\n", b"\n").split(b"\n")
    return frozenset(name for _, _, name in _top_level(lines))


def _top_level(lines: list[bytes]) -> Iterator[tuple[int, int, str]]:
    """First line, line behind the last, and name, of each definition that begins in column 0."""
    starts = [number for number, line in enumerate(lines) if line and line[:1] not in b" \t#)]}@\"'"]
    for start, end in pairwise([*starts, len(lines)]):
        found = _DEFINITION.match(lines[start]) or _ASSIGNMENT.match(lines[start])
        if found is not None:
            yield start, end, found[1].decode(errors="replace")


def _shortened(lines: list[bytes]) -> Iterator[bytes]:
    """The header of a definition, the first line of its docstring, the headers of a class's methods."""
    if _DEFINITION.match(lines[0]) is None:
        yield lines[0]
        return
    header = _header(lines)
    said = _said(lines[len(header) :])
    methods = list(_methods(lines[len(header) :])) if b"class" in lines[0].split() else []
    if not said and not methods:
        yield b"\n".join(header) + b" ..."
        return
    yield from header
    if said:
        yield b'    """' + said + b'"""'
    for method in methods:
        yield b"\n".join(method) + b" ..."


def _header(lines: list[bytes]) -> list[bytes]:
    """The first lines of *lines*, up to the colon that ends a header."""
    depth = 0
    for number, line in enumerate(lines[:LONGEST_HEADER]):
        code = _STRING_OR_COMMENT.sub(b"", line)
        depth += sum(map(code.count, (b"(", b"[", b"{"))) - sum(map(code.count, (b")", b"]", b"}")))
        if depth <= 0 and code.rstrip().endswith(b":"):
            return lines[: number + 1]
    return lines[:1]


def _said(lines: list[bytes]) -> bytes:
    found = _DOCSTRING.match(b"\n".join(lines[:2]))
    return (found[1] or b"").split(b'"""')[0].split(b"'''")[0].strip() if found else b""


def _methods(lines: list[bytes]) -> Iterator[list[bytes]]:
    """The headers of the functions that stand directly in a class with these *lines*."""
    inside = [line for line in lines if line.strip() and not line.lstrip().startswith(b"#")]
    column = len(inside[0]) - len(inside[0].lstrip()) if inside else 0
    for number, line in enumerate(lines):
        if len(line) - len(line.lstrip()) == column and _DEFINITION.match(line.lstrip()):
            yield _header(lines[number:])
