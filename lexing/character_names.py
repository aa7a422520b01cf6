r"""The names that `\N{...}` may have.

A name is known in any case; those of ideographs and Hangul syllables, which CPython computes, in capitals.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from functools import cached_property

from fimlsp.lexing.python_versions import PythonVersion
from fimlsp.lexing.unicode_tables import named_characters, newer_names, other_names

_Names = tuple[list[str], list[str]]
_COMPUTED = ("CJK UNIFIED IDEOGRAPH-", "HANGUL SYLLABLE ")


class CharacterNames:
    """The names of characters in one version of Python. The first question takes 0.1 s."""

    def __init__(self, version: PythonVersion) -> None:
        self.version = version
        self._rests: dict[tuple[bytes, bytes], bytes | None] = {}

    def __contains__(self, name: bytes) -> bool:
        return self.between(name, b"") == b""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """What stands between *beginning* and *ending* in a short name that has both; None if none has.

        Both are ASCII. O(names that begin so, if both are given), remembered.
        """
        key = beginning, ending
        if key not in self._rests:
            self._rests[key] = self._between(beginning.decode("ascii"), ending.decode("ascii"))
        return self._rests[key]

    def _between(self, beginning: str, ending: str) -> bytes | None:
        if ending and not beginning:
            between = _shortest_fitting(self._turned_names, ending[::-1], "")
            return None if between is None else between[::-1].encode()
        between = _shortest_fitting(self._names, beginning, ending)
        return None if between is None else between.encode()

    @cached_property
    def _names(self) -> _Names:
        """The names that may be written in any case, and those that may not, sorted."""
        newer = {code: name for name, code in newer_names().items()}
        names = set(other_names(self.version))
        for first, last in named_characters(self.version):
            for code in range(first, last + 1):
                names.add(unicodedata.name(chr(code), "") or newer.get(code) or f"{_COMPUTED[0]}{code:X}")
        computed = {name for name in names if name.startswith(_COMPUTED)}
        return sorted(names - computed), sorted(computed)

    @cached_property
    def _turned_names(self) -> _Names:
        """The same, each read from its end."""
        given, computed = self._names
        return sorted(name[::-1] for name in given), sorted(name[::-1] for name in computed)


def _shortest_fitting(names: _Names, beginning: str, ending: str) -> str | None:
    given, computed = names
    found = [*_fitting(given, beginning.upper(), ending.upper()), *_fitting(computed, beginning, ending)]
    return min(found, key=len) if found else None


def _fitting(names: list[str], beginning: str, ending: str) -> list[str]:
    """What stands between *beginning* and *ending* in those of the sorted *names* that have both."""
    first = bisect_left(names, beginning)
    if not ending:
        shortest = names[first : first + 1]
        return [name[len(beginning) :] for name in shortest if name.startswith(beginning)]
    after = bisect_left(names, beginning + "\uffff", lo=first)
    least = len(beginning) + len(ending)
    return [
        name[len(beginning) : len(name) - len(ending)]
        for name in names[first:after]
        if len(name) >= least and name.endswith(ending)
    ]
