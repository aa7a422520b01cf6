"""Real Python for measurements: files of the interpreter's standard library, and longer texts of them."""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from keyword import kwlist, softkwlist
from pathlib import Path
from random import Random

from fimlsp.languages.python import python
from fimlsp.languages.python.versions import Check

from .corpus import Corpus, Text, text_of

_OTHER_FOLDERS = frozenset(("test", "tests", "idle_test", "site-packages", "lib2to3", "encodings"))
"""Tests, installed packages, and a hundred near equal tables that would count for too much."""

_LEAST, _MOST = 2_000, 60_000


def shuffled_files(random: Random) -> Iterator[tuple[str, bytes]]:
    """Names and texts of files that can follow one another in a longer valid file, shuffled."""
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
    """A random offset in `data[start:end]` between two characters."""
    offset = random.randrange(start, end)
    while data[offset] & 0xC0 == 0x80:
        offset -= 1
    return offset


_RESERVED = "|".join((*kwlist, *softkwlist)).encode()


class PythonCorpus:
    """The interpreter's standard library."""

    lengths = (10_000, 25_000, 50_000, 100_000, 200_000)
    word = re.compile(rb"(?<![\w!\\'\"])(?!(?:%s)\b)[a-z_]{2,}(?![\w'\"])" % _RESERVED)

    def __init__(self, check: Check = "parse") -> None:
        self.title = f"Python, {check}"
        self.language = python(check=check)

    def files(self, random: Random) -> Iterator[Text]:
        """As in `Corpus`."""
        for name, data in shuffled_files(random):
            yield text_of(self, name, b"", data, b"")

    def growing(self, random: Random, lengths: Sequence[int]) -> Iterator[Text]:
        """As in `Corpus`."""
        files = shuffled_files(random)
        core = text_of_length(files, lengths[0])
        above = below = b""
        for length in lengths:
            missing = max(length - len(core) - len(above) - len(below), 0)
            if missing:
                above = text_of_length(files, missing // 2) + above
                below += text_of_length(files, missing // 2)
            yield text_of(self, f"{length}", above, core, below)


CORPORA: Mapping[str, Sequence[Corpus]] = {
    "python": (PythonCorpus(),),
    "python-compile": (PythonCorpus("compile"),),
}
