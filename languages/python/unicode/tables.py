"""What each version of Python knows about Unicode, whatever interpreter runs this.

The characters of identifiers have the properties XID_Start and XID_Continue in the Unicode version of the
interpreter: 12.1 in Python 3.8, 13 in 3.9 and 3.10, 14 in 3.11, 15 in 3.12, 15.1 in 3.13, 16 in 3.14,
17 in 3.15.
"""

from __future__ import annotations

from functools import cache, reduce
from operator import xor
from pathlib import Path

from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion
from fimlsp.lexing.automata.regex import Range

TABLES = Path(__file__).with_name("tables.txt")


@cache
def _lines() -> list[tuple[PythonVersion, str, frozenset[str]]]:
    """The version, table and entries of each line: what changes in the table with that version."""
    lines = [line.split(" ", 2) for line in TABLES.read_text("utf-8").splitlines() if line[0] != "#"]
    return [(_version(version), table, frozenset(text.split("|"))) for version, table, text in lines]


def _version(text: str) -> PythonVersion:
    major, minor = map(int, text.split("."))
    return major, minor


@cache
def _entries(table: str, version: PythonVersion) -> frozenset[str]:
    changes = (entries for since, name, entries in _lines() if name == table and since <= version)
    return reduce(xor, changes, frozenset())


def _ranges(table: str, version: PythonVersion) -> tuple[Range, ...]:
    bounds = sorted(int(entry, 16) for entry in _entries(table, version))
    return tuple((start, end - 1) for start, end in zip(bounds[::2], bounds[1::2], strict=True))


def identifier_starts(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that may begin an identifier, as ascending ranges."""
    return _ranges("start", version)


def identifier_parts(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that may follow the first one in an identifier, as ascending ranges."""
    return _ranges("continue", version)


@cache
def named_characters(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that have a name, as ascending ranges."""
    return _ranges("named", version)


def other_names(version: PythonVersion) -> frozenset[str]:
    """The names of characters beyond those that `unicodedata.name` returns: aliases."""
    return _entries("alias", version)


@cache
def newer_names() -> dict[str, int]:
    """The names of characters newer than the oldest interpreter that runs this, without ideographs."""
    pairs = (entry.split(":") for entry in _entries("name", PYTHON_VERSIONS[-1]))
    return {name: int(code, 16) for code, name in pairs}
