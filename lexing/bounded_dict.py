"""Dicts that evict entries: the oldest if there are too many, or too heavy ones, or those without a use."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable
from itertools import islice
from typing import Any, TypeVar
from weakref import ReferenceType, ref

K = TypeVar("K")
V = TypeVar("V")

MEGABYTE = 1_000_000


class _Forgetful(dict[K, V]):
    """A dict that may lose any entry; `forget_all` knows all that are alive."""

    __slots__ = ("__weakref__",)

    def __init__(self) -> None:
        super().__init__()
        reference = ref(self, _drop)
        _alive[id(reference)] = reference


_alive: dict[int, ReferenceType[_Forgetful[Any, Any]]] = {}
"""References to all dicts of this module, by their own ids: references to dicts cannot be hashed."""


def _drop(reference: ReferenceType[_Forgetful[Any, Any]]) -> None:
    _alive.pop(id(reference), None)


def forget_all() -> None:
    """Evict all entries of all dicts of this module, in this process.

    Whoever uses one can do without any entry, as it may be evicted at any time. O(entries).
    """
    alive = [forgetful for reference in list(_alive.values()) if (forgetful := reference()) is not None]
    for forgetful in sorted(alive, key=lambda one: isinstance(one, HeldDict)):  # others hold their values
        forgetful.clear()


class BoundedDict(_Forgetful[K, V]):
    """A dict of at most *most* entries. Adding to a full one first evicts the oldest eighth."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value of *key*. Amortised O(1)."""
        if len(self) >= self._most:
            for oldest in list(islice(self, self._most // 8 + 1)):
                del self[oldest]
        super().__setitem__(key, value)


class WeighedDict(_Forgetful[K, V]):
    """A dict whose entries weigh at most *most* together, for entries of very different sizes.

    *weigh* returns the weight of an entry, about its bytes; it is called once, when the entry is added. If
    the dict becomes too heavy, the oldest entries are evicted, an eighth of *most* at once. The last entry
    stays even if it alone weighs more. Entries are deleted in no other way than that and `clear`.
    """

    __slots__ = ("_most", "_total", "_weigh", "_weights")

    def __init__(self, most: int, weigh: Callable[[K, V], int]) -> None:
        super().__init__()
        self._most = most
        self._weigh = weigh
        self._weights = deque[int]()
        self._total = 0

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value of *key*. Amortised O(1)."""
        if key not in self:
            weight = self._weigh(key, value)
            self._weights.append(weight)
            self._total += weight
        super().__setitem__(key, value)
        if self._total > self._most:
            self._evict()

    def clear(self) -> None:
        """Evict all entries."""
        super().clear()
        self._weights.clear()
        self._total = 0

    def _evict(self) -> None:
        n_oldest = 0
        while self._total > self._most - self._most // 8 and len(self._weights) > 1:
            self._total -= self._weights.popleft()
            n_oldest += 1
        for oldest in list(islice(self, n_oldest)):
            del self[oldest]


def _references(values: dict[K, V], key: K) -> int:
    """The number of references to the value of *key*, with those of this call: versions of Python differ."""
    return sys.getrefcount(values[key])


_UNUSED = _references({0: object()}, 0)
"""The number for a value that nothing but the dict holds."""
_LEAST_HELD = 1_000


class HeldDict(_Forgetful[K, V]):
    """A dict that keeps a value as long as something else holds it, and at times a little longer.

    References are counted whenever the dict has grown by a fourth. A weak reference to each value would take
    more memory than a small value itself. Keys must not hold their own value; values may hold earlier ones.
    """

    __slots__ = ("_most",)

    def __init__(self) -> None:
        super().__init__()
        self._most = _LEAST_HELD

    def __setitem__(self, key: K, value: V) -> None:
        """Set the value of *key*, which has none. Amortised O(1)."""
        super().__setitem__(key, value)
        if len(self) > self._most:
            self.clear()

    def clear(self) -> None:
        """Evict all values that nothing else holds, the latest first, as they may hold the others."""
        keys = list(self)
        while keys:
            key = keys.pop()
            if _references(self, key) <= _UNUSED:
                del self[key]
        self._most = max(_LEAST_HELD, len(self) + len(self) // 4)
