r"""The names of characters that `\N{...}` accepts.

Names are accepted in any case, except that up to 3.13 those of ideographs and Hangul syllables, which CPython
computes, are accepted in capitals only.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property

from fimlsp.languages.python.unicode.tables import named_characters, newer_names, other_names
from fimlsp.languages.python.versions import PythonVersion

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
"""The first version that takes names that follow a rule in small letters."""

_LETTERS = re.compile(r"[A-Za-z0-9 -]*")
_HEXADECIMAL = "0123456789ABCDEF"


class CharacterNames:
    """The character names of one version of Python. The first question takes about 20 ms."""

    def __init__(self, version: PythonVersion) -> None:
        self.version = version
        self._rests: dict[tuple[bytes, bytes], bytes | None] = {}

    def __contains__(self, name: bytes) -> bool:
        return self.between(name, b"") == b""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """What completes *beginning* to a short name that ends with *ending*; None if nothing does.

        Both are ASCII. O(names that begin or end like this), cached.
        """
        key = beginning, ending
        if key not in self._rests:
            found = self._between(beginning.decode("ascii"), ending.decode("ascii"))
            self._rests[key] = None if found is None else found.encode()
        return self._rests[key]

    def _between(self, beginning: str, ending: str) -> str | None:
        if ending.endswith((" ", "-")) or not _LETTERS.fullmatch(beginning + ending):
            return None
        is_capital = (beginning + ending).upper() == beginning + ending
        beginning, ending = beginning.upper(), ending.upper()
        found = self._given.between(beginning, ending)
        if found is None and (is_capital or self.version >= _COMPUTED_IN_ANY_CASE):
            found = self._syllables.between(beginning, ending)
            if found is None and _may_be_numbered(beginning, ending):
                found = self._numbered.between(beginning, ending)
        return found

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
    """Whether a name that ends with a number may begin and end like this.

    A quick test that avoids building their table.
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
        found: dict[str, list[str]] = {}
        for name in self._names:
            found.setdefault(name[-1], []).append(name)
        return found

    def between(self, beginning: str, ending: str) -> str | None:
        """The shortest text between *beginning* and *ending* in any name; None if no name has both."""
        least = len(beginning) + len(ending)
        fitting = [name for name in self._near(beginning, ending) if name.endswith(ending)]
        found = [name[len(beginning) : len(name) - len(ending)] for name in fitting if len(name) >= least]
        return min(found, key=len, default=None)

    def _near(self, beginning: str, ending: str) -> Sequence[str]:
        """Candidates: names that begin with *beginning*, among them all that end with *ending*."""
        if beginning:
            first, last = (
                bisect_left(self._sorted, beginning),
                bisect_left(self._sorted, beginning + "\uffff"),
            )
            return self._sorted[first:last]
        return self._by_last_letter.get(ending[-1], ()) if ending else self._names
