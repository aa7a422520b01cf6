"""The names that are known at a cursor, as sets that can be searched by prefix as well."""

from __future__ import annotations

import builtins
import keyword
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

NameKind = Literal["visible", "attributes", "keywords", "imports"]

NameQuery = tuple[NameKind, bytes]
"""A kind of names, and the name of the value, the function or the module that has them."""

BUILTIN_NAMES = frozenset(
    name.encode() for name in (*dir(builtins), *keyword.kwlist, *keyword.softkwlist, "self", "cls")
)
"""The names that need not be defined in a file: keywords, builtins, and the usual names of an object."""


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
        """True if *word* is one of the names or, unless it *is_whole*, the prefix of one. O(log len)."""
        if is_whole:
            return word in self._names
        index = bisect_left(self._sorted, word)
        return index < len(self._sorted) and self._sorted[index].startswith(word)


@dataclass(frozen=True, slots=True)
class KnownNames:
    """The names known at a cursor; where an entry is missing, any name is possible.

    Attributes:
        visible: the names that can be used.
        attributes: those of values, by the names with dots of these, such as `self.items`.
        keywords: the names of arguments of functions, by the names with dots of these.
        imports: the names of modules, by the text after `from`.
        functions: attributes that are functions, by their owners; visible functions by the empty name.
        is_older: True if the visible names are those of an older text.
    """

    visible: NameSet | None = None
    attributes: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    keywords: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    imports: Mapping[bytes, NameSet] = field(default_factory=dict, hash=False)
    functions: Mapping[bytes, frozenset[bytes]] = field(default_factory=dict, hash=False)
    is_older: bool = False

    def is_surely_visible(self, name: bytes) -> bool:
        """True if *name* was looked up in the newest text, and can be used."""
        return self.visible is not None and not self.is_older and name in self.visible

    def has_function(self, chain: bytes) -> bool:
        """True if *chain*, a name or names with dots, is known to be a function."""
        owner, dot, name = chain.rpartition(b".")
        return bool(owner or not dot) and name in self.functions.get(owner, ())
