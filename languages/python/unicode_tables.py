r"""The Unicode tables of each version of Python, in any interpreter: identifiers, and names of characters.

The characters of identifiers have the properties XID_Start and XID_Continue in the Unicode version of the
interpreter: 12.1 in Python 3.8, 13 in 3.9 and 3.10, 14 in 3.11, 15 in 3.12, 15.1 in 3.13, 16 in 3.14, and 17
in 3.15. The script beside the tests of this module writes `unicode_tables.txt`.

The names in `\N{...}` are accepted in any case. Up to 3.13 those of ideographs and Hangul syllables, which
CPython computes, are accepted in capitals only.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, cached_property, reduce
from operator import xor
from pathlib import Path

from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion
from fimlsp.lexing.automata.regex import Range

TABLES = Path(__file__).with_name("unicode_tables.txt")


@cache
def _lines() -> list[tuple[PythonVersion, str, frozenset[str]]]:
    """The version, table and entries of each line; the entries are changes from the version before."""
    lines = [line.split(" ", 2) for line in TABLES.read_text("utf-8").splitlines() if line[0] != "#"]
    return [(_version(version), table, frozenset(text.split("|"))) for version, table, text in lines]


def _version(text: str) -> PythonVersion:
    major, minor = map(int, text.split("."))
    return major, minor


@cache
def _entries(table: str, version: PythonVersion) -> frozenset[str]:
    changes = (entries for since, name, entries in _lines() if name == table and since <= version)
    return reduce(xor, changes, frozenset())


def _ranges_of(table: str, version: PythonVersion) -> tuple[Range, ...]:
    bounds = sorted(int(entry, 16) for entry in _entries(table, version))
    return tuple((start, end - 1) for start, end in zip(bounds[::2], bounds[1::2], strict=True))


def identifier_starts(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that may start an identifier, as ascending ranges."""
    return _ranges_of("start", version)


def identifier_parts(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that may follow the first one in an identifier, as ascending ranges."""
    return _ranges_of("continue", version)


@cache
def named_characters(version: PythonVersion) -> tuple[Range, ...]:
    """The characters that have a name, as ascending ranges."""
    return _ranges_of("named", version)


def other_names(version: PythonVersion) -> frozenset[str]:
    """The names of characters beyond those that `unicodedata.name` returns: aliases."""
    return _entries("alias", version)


@cache
def newer_names() -> dict[str, int]:
    """The names of characters newer than the oldest supported interpreter, without ideographs."""
    pairs = (entry.split(":") for entry in _entries("name", PYTHON_VERSIONS[-1]))
    return {name: int(code, 16) for code, name in pairs}


_UNIFIED = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0x20000, 0x2F800), range(0x30000, 0x40000))
_TANGUT = (range(0x17000, 0x18800), range(0x18D00, 0x18D80))
_SYLLABLES = range(0xAC00, 0xD7A4)
_HIEROGLYPHS = (range(0x13460, 0x143FB),)
NUMBERED = {
    "CJK UNIFIED IDEOGRAPH-": _UNIFIED,
    "TANGUT IDEOGRAPH-": _TANGUT,
    "EGYPTIAN HIEROGLYPH-": _HIEROGLYPHS,
}
"""The characters whose names end with their numbers."""

COMPUTED = (*_UNIFIED, *_TANGUT, *_HIEROGLYPHS, _SYLLABLES)
"""The characters whose names follow a rule, if they have names at all."""
_ENDS = sorted(end for block in COMPUTED for end in (block.start, block.stop))
_ELSEWHERE = tuple(range(*ends) for ends in zip([0, *_ENDS[1::2]], [*_ENDS[::2], 0x110000], strict=True))

_COMPUTED_IN_ANY_CASE: PythonVersion = (3, 14)
"""The first version that accepts names that follow a rule in small letters."""

_LETTERS = re.compile(r"[A-Za-z0-9 -]*")
_HEXADECIMAL = "0123456789ABCDEF"


class CharacterNames:
    """The character names of one version of Python. The first search takes about 20 ms."""

    def __init__(self, version: PythonVersion) -> None:
        self.version = version
        self._between_cache: dict[tuple[bytes, bytes], bytes | None] = {}

    def __contains__(self, name: bytes) -> bool:
        return self.between(name, b"") == b""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """The text that completes *beginning* to a short name that ends with *ending*; None if there is none.

        Both are ASCII. O(names with this beginning or ending), cached.
        """
        key = beginning, ending
        if key not in self._between_cache:
            text = self._between(beginning.decode("ascii"), ending.decode("ascii"))
            self._between_cache[key] = None if text is None else text.encode()
        return self._between_cache[key]

    def _between(self, beginning: str, ending: str) -> str | None:
        if ending.endswith((" ", "-")) or not _LETTERS.fullmatch(beginning + ending):
            return None
        is_capital = (beginning + ending).upper() == beginning + ending
        beginning, ending = beginning.upper(), ending.upper()
        text = self._given.between(beginning, ending)
        if text is None and (is_capital or self.version >= _COMPUTED_IN_ANY_CASE):
            text = self._syllables.between(beginning, ending)
            if text is None and _may_be_numbered(beginning, ending):
                text = self._numbered.between(beginning, ending)
        return text

    @cached_property
    def _given(self) -> _Names:
        """The names that are accepted in any case."""
        newer = {code: name for name, code in newer_names().items()}
        names = [unicodedata.name(chr(code), "") or newer[code] for code in self._codes(_ELSEWHERE)]
        return _Names([*names, *sorted(other_names(self.version))])

    @cached_property
    def _syllables(self) -> _Names:
        """The names of Hangul syllables."""
        return _Names([unicodedata.name(chr(code)) for code in self._codes((_SYLLABLES,))])

    @cached_property
    def _numbered(self) -> _Names:
        """The names that end with the number of the character."""
        blocks = NUMBERED.items()
        return _Names([f"{name}{code:X}" for name, block in blocks for code in self._codes(block)])

    def _codes(self, blocks: Iterable[range]) -> Iterator[int]:
        """The characters in *blocks* that have names."""
        named = named_characters(self.version)
        for block in blocks:
            for first, last in named:
                yield from range(max(first, block.start), min(last + 1, block.stop))


def _may_be_numbered(beginning: str, ending: str) -> bool:
    """True if a name that ends with a number may have this *beginning* and *ending*.

    A quick test that avoids building the table of these names.
    """
    stem = ending.rstrip(_HEXADECIMAL)
    return any(
        (name.startswith(beginning) or beginning.startswith(name)) and name.endswith(stem)
        for name in NUMBERED
    )


class _Names:
    """A collection of names that can be searched by prefix and suffix."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._names)

    @cached_property
    def _by_last_letter(self) -> dict[str, list[str]]:
        names: dict[str, list[str]] = {}
        for name in self._names:
            names.setdefault(name[-1], []).append(name)
        return names

    def between(self, beginning: str, ending: str) -> str | None:
        """The shortest text between *beginning* and *ending* in any name; None if no name has both."""
        least = len(beginning) + len(ending)
        names = [name for name in self._candidates(beginning, ending) if name.endswith(ending)]
        texts = [name[len(beginning) : len(name) - len(ending)] for name in names if len(name) >= least]
        return min(texts, key=len, default=None)

    def _candidates(self, beginning: str, ending: str) -> Sequence[str]:
        """Names with this *beginning*, among them all with this *ending*."""
        if beginning:
            first, last = (
                bisect_left(self._sorted, beginning),
                bisect_left(self._sorted, beginning + "\uffff"),
            )
            return self._sorted[first:last]
        return self._by_last_letter.get(ending[-1], ()) if ending else self._names
