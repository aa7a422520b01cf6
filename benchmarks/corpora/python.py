"""Real Python to measure on: files of the interpreter's standard library, and longer files made of them."""

from __future__ import annotations

import ast
import sysconfig
import warnings
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

_OTHER_FOLDERS = frozenset(("test", "tests", "idle_test", "site-packages", "lib2to3", "encodings"))
"""Tests, what is not the library's own, and a hundred near equal tables that would count for too much."""

_LEAST, _MOST = 2_000, 60_000


def shuffled_files(random: Random) -> Iterator[tuple[str, bytes]]:
    """Names and texts of files that can stand one after another in a longer valid file, shuffled."""
    root = Path(sysconfig.get_path("stdlib"))
    paths = sorted(path for path in root.rglob("*.py") if _OTHER_FOLDERS.isdisjoint(path.parts))
    random.shuffle(paths)
    for path in paths:
        data = path.read_bytes()
        if _LEAST <= len(data) <= _MOST and _stands_anywhere(data):
            yield str(path.relative_to(root)), data


def _stands_anywhere(data: bytes) -> bool:
    if b"from __future__" in data or not data.endswith(b"\n") or data.startswith(b"\xef\xbb\xbf"):
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(data.decode())
    except (SyntaxError, ValueError):
        return False
    return True


def text_of_length(files: Iterator[tuple[str, bytes]], length: int) -> bytes:
    """Whole *files*, one after another, up to the end of the first statement that reaches *length* bytes."""
    data = b""
    while len(data) < length:
        data += next(files)[1]
    line_ends = list(accumulate(map(len, data.splitlines(keepends=True))))
    ends = (line_ends[line - 1] for line in _last_lines(ast.parse(data).body))
    return data[: next((end for end in ends if end >= length), len(data))]


def _last_lines(statements: list[ast.stmt]) -> Iterator[int]:
    """The last lines of *statements*, also of those in classes and functions, which may end after any."""
    for statement in statements:
        if isinstance(statement, (ast.ClassDef, ast.FunctionDef)):
            yield from _last_lines(statement.body)
        else:
            yield statement.end_lineno or statement.lineno


def random_place(random: Random, data: bytes, start: int, end: int) -> int:
    """A place of `data[start:end]` between two characters."""
    place = random.randrange(start, end)
    while data[place] & 0xC0 == 0x80:
        place -= 1
    return place
