r"""Writes `languages/python/unicode_tables.txt` from the Unicode data of real interpreters.

    python tests/languages/python/make_unicode_tables.py python3.8 python3.9 python3.10 ... python3.15

Each interpreter lists the characters that may start or continue an identifier, the names of characters, and
the other names that `\N{...}` accepts. For each version only the difference from the one before is written.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from fimlsp.languages.python.unicode_tables import NUMBERED, TABLES

_OLDEST_RUNNING = [3, 10]
"""The oldest interpreter that can run this package. It has the names of its own characters."""

_LIST = r"""
import ctypes, json, sys, unicodedata

def other_names():
    # CPython keeps them at private code points, which only its C interface reveals.
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    number, text, code = ctypes.c_int, ctypes.c_char_p, ctypes.c_uint32
    if sys.version_info >= (3, 10):
        table = pointer(unicodedata._ucnhash_CAPI, b"unicodedata._ucnhash_CAPI")
        function = ctypes.CFUNCTYPE(number, code, text, number, number)
        get = ctypes.cast(table, ctypes.POINTER(function))[0]
        name_at = lambda code_point, buffer: get(code_point, buffer, 300, 1)
    else:
        table = pointer(unicodedata.ucnhash_CAPI, b"unicodedata.ucnhash_CAPI")
        function = ctypes.CFUNCTYPE(number, ctypes.c_void_p, code, text, number, number)
        class Interface(ctypes.Structure):
            _fields_ = [("size", number), ("get", function)]
        get = ctypes.cast(table, ctypes.POINTER(Interface))[0].get
        name_at = lambda code_point, buffer: get(None, code_point, buffer, 300, 1)
    for code_point in range(0xF0000, 0xF1000):
        buffer = ctypes.create_string_buffer(300)
        if name_at(code_point, buffer):
            name = buffer.value.decode()
            if len(unicodedata.lookup(name)) == 1:  # `\N{...}` does not accept names of sequences
                yield name

def name_of(character):
    # 3.14 knows the characters of these names, but not the names of these characters.
    computed = "TANGUT IDEOGRAPH-%X" % ord(character)
    try:
        return unicodedata.name(character, "") or (unicodedata.lookup(computed) and computed)
    except KeyError:
        return ""

characters = [chr(code) for code in range(0x110000)]
print(json.dumps({
    "version": sys.version_info[:2],
    "start": [c.isidentifier() for c in characters],
    "continue": [("a" + c).isidentifier() for c in characters],
    "named": [name_of(c) for c in characters],
    "alias": list(other_names()),
}))
"""


def main(interpreters: list[str]) -> None:
    """Write the tables of the *interpreters*, paths or commands."""
    answers = sorted(
        (_lists_of(interpreter) for interpreter in interpreters), key=lambda answer: answer["version"]
    )
    lines = ["# Written by make_unicode_tables.py: the changes from each version to the next."]
    known: dict[str, set[str]] = {}
    for answer in answers:
        version = ".".join(map(str, answer["version"]))
        for table, members in _tables(answer).items():
            changed = known.get(table, set()) ^ members
            known[table] = members
            if changed and (table != "name" or answer["version"] > _OLDEST_RUNNING):
                lines.append(f"{version} {table} {'|'.join(sorted(changed))}")
    TABLES.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _lists_of(interpreter: str) -> dict[str, list[Any]]:
    done = subprocess.run([interpreter, "-c", _LIST], check=True, capture_output=True, text=True)
    answer: dict[str, list[Any]] = json.loads(done.stdout)
    return answer


def _tables(answer: dict[str, list[Any]]) -> dict[str, set[str]]:
    """The members of each table; sets of characters are given by the boundaries of their ranges."""
    tables = {table: set(_bounds(answer[table])) for table in ("start", "continue", "named")}
    tables["alias"] = set(answer["alias"])
    tables["name"] = {
        f"{code:x}:{name}"
        for code, name in enumerate(answer["named"])
        if name and not name.startswith(tuple(NUMBERED))
    }
    return tables


def _bounds(inside: list[Any]) -> Iterator[str]:
    """The boundaries of the ranges of characters that are in a set."""
    members = [False, *map(bool, inside), False]
    for code, (before, after) in enumerate(pairwise(members)):
        if before != after:
            yield f"{code:x}"


if __name__ == "__main__":
    main(sys.argv[1:])
