"""Tables that may forget."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """What was found before: at most *most* entries. Once it is full it forgets the oldest eighth."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Remember *value*, and perhaps some old ones no more."""
        if len(self) >= self._most:
            for oldest in list(islice(self, self._most // 8 + 1)):
                del self[oldest]
        super().__setitem__(key, value)
