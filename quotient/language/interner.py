"""Values of which equal ones are the same object, so that they are compared and looked up by identity.

Known as hash-consing: Ershov, "On Programming of Arithmetic Operations" (CACM 1(8), 1958); Filliâtre and
Conchon, "Type-Safe Modular Hash-Consing" (ML Workshop 2006).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar, cast
from weakref import WeakValueDictionary

T = TypeVar("T", bound="Interned")


class Interned:
    """A value that `Interner` makes."""

    __slots__ = ("__weakref__",)


class Interner:
    """Makes values, each once as long as somebody holds it."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: WeakValueDictionary[tuple[Hashable, ...], Interned] = WeakValueDictionary()

    def __call__(self, make: type[T], *parts: Hashable) -> T:
        """`make(*parts)`, or the same object as before. Equal parts make equal values."""
        key = make, *parts
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make(*parts)
        return cast("T", found)
