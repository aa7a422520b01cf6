"""The names that are known at a cursor, as sets that can be asked for beginnings of names as well."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["visible", "attributes", "keywords", "imports"]

Wanted = tuple[Kind, bytes]
"""A kind of names, and the name of the value, the function or the module that has them."""


class NameSet:
    """An immutable set of names."""

    __slots__ = ("_names", "_sorted")

    def __init__(self, names: Iterable[bytes] = ()) -> None:
        self._names = frozenset(names)
        self._sorted = sorted(self._names)

    def __contains__(self, name: bytes) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._sorted)

    def __repr__(self) -> str:
        return f"NameSet({self._sorted!r})"

    def has(self, word: bytes, is_whole: bool) -> bool:
        """Whether *word* is one of the names or, unless it is *whole*, begins one. O(log len)."""
        if is_whole:
            return word in self._names
        at = bisect_left(self._sorted, word)
        return at < len(self._sorted) and self._sorted[at].startswith(word)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """What is known at a cursor; where something is missing, any name may stand.

    Attributes:
        visible: the names that may be used.
        attributes: of values, by the names with dots that tell them, such as `self.items`.
        keywords: the names of arguments of what is called, by its names with dots.
        imports: the names of modules, by what is written behind `from`.
        functions: those of the attributes that are functions, by their owners; of visible names by no name.
    """

    visible: NameSet | None = None
    attributes: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    keywords: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    imports: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    functions: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict, hash=False)

    def has_function(self, chain: bytes) -> bool:
        """Whether *chain*, a name or names with dots, is known to be a function."""
        owner, dot, name = chain.rpartition(b".")
        return bool(owner or not dot) and name in self.functions.get(owner, ())
