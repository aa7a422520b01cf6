"""A bounded dict that evicts its oldest eighth when full."""

from __future__ import annotations

from itertools import islice
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class BoundedDict(dict[K, V]):
    """A dict of at most *most* entries. Adding to a full one first evicts the eighth that was added first."""

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
