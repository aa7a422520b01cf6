r"""The names that `\N{...}` may have.

A name is known in any case; those of ideographs and Hangul syllables, which CPython computes, in capitals.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from itertools import chain

from fimlsp.lexing.python_versions import PythonVersion
from fimlsp.lexing.unicode_tables import named_characters, newer_names, other_names

_IDEOGRAPHS = (range(0x3400, 0x4DC0), range(0x4E00, 0xA000), range(0x20000, 0x2F800), range(0x30000, 0x40000))
_SYLLABLES = range(0xAC00, 0xD7A4)
COMPUTED = (*_IDEOGRAPHS, _SYLLABLES)
"""The characters of which CPython computes the names, as far as they have one."""


class CharacterNames:
    """The names of characters in one version of Python. The first question takes some 50 ms."""

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
            found = self._between(beginning.decode("ascii"), ending.decode("ascii"))
            self._rests[key] = None if found is None else found.encode()
        return self._rests[key]

    def _between(self, beginning: str, ending: str) -> str | None:
        if ending.endswith((" ", "-")):
            return None
        given = self._given.between(beginning.upper(), ending.upper())
        in_capitals = (beginning + ending).upper() == beginning + ending
        return self._computed.between(beginning, ending) if given is None and in_capitals else given

    @cached_property
    def _given(self) -> _Names:
        """The names that may be written in any case."""
        newer = {code: name for name, code in newer_names().items()}
        codes = self._codes.difference(*COMPUTED)
        names = {unicodedata.name(chr(code), "") or newer[code] for code in codes}
        return _Names(names.union(other_names(self.version)))

    @cached_property
    def _computed(self) -> _Names:
        """The names that may not."""
        syllables = self._codes.intersection(_SYLLABLES)
        ideographs = self._codes.intersection(chain(*_IDEOGRAPHS))
        names = (f"CJK UNIFIED IDEOGRAPH-{code:X}" for code in ideographs)
        return _Names([*names, *(unicodedata.name(chr(code)) for code in syllables)])

    @cached_property
    def _codes(self) -> frozenset[int]:
        """The characters that have a name."""
        return frozenset(chain(*(range(first, last + 1) for first, last in named_characters(self.version))))


class _Names:
    """Names, to be found by what they begin or end with."""

    def __init__(self, names: Iterable[str]) -> None:
        self._sorted = sorted(names)

    @cached_property
    def _turned(self) -> list[str]:
        return sorted(name[::-1] for name in self._sorted)

    def between(self, beginning: str, ending: str) -> str | None:
        """The shortest text between *beginning* and *ending* in a name; None if no name has both."""
        if beginning or not ending:
            least, names = len(beginning) + len(ending), _beginning_with(beginning, self._sorted)
            fitting = [name for name in names if len(name) >= least and name.endswith(ending)]
            found = [name[len(beginning) : len(name) - len(ending)] for name in fitting]
        else:
            turned = _beginning_with(ending[::-1], self._turned)
            found = [name[len(ending) :][::-1] for name in turned]
        return min(found, key=len, default=None)


def _beginning_with(beginning: str, names: list[str]) -> list[str]:
    """Those of the sorted *names* that begin so."""
    return names[bisect_left(names, beginning) : bisect_left(names, beginning + "\uffff")]
