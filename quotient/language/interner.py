"""Hash-consing: makes equal values the same object, so that they are compared and hashed by identity.

Ershov, "On Programming of Arithmetic Operations" (CACM 1(8), 1958); Filliâtre and Conchon, "Type-Safe Modular
Hash-Consing" (ML Workshop 2006).
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TypeVar, cast
from weakref import WeakValueDictionary

T = TypeVar("T", bound="Interned")


class Interned:
    """Base class of the values that an `Interner` makes."""

    __slots__ = ("__weakref__",)


class Interner:
    """Makes values, each only once; a value is forgotten when nobody else refers to it."""

    __slots__ = ("_made",)

    def __init__(self) -> None:
        self._made: WeakValueDictionary[tuple[Hashable, ...], Interned] = WeakValueDictionary()

    def __call__(self, make: type[T], *parts: Hashable) -> T:
        """The value `make(*parts)`; the same object for equal parts."""
        key = make, *parts
        found = self._made.get(key)
        if found is None:
            found = self._made[key] = make(*parts)
        return cast("T", found)
