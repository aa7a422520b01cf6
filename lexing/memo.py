"""Tables that may forget."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Memo(dict[K, V]):
    """What was found before. Once it has *most* entries it is emptied, so it never grows beyond that."""

    __slots__ = ("_most",)

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def __setitem__(self, key: K, value: V) -> None:
        """Remember *value*, and perhaps nothing else any more."""
        if len(self) >= self._most:
            self.clear()
        super().__setitem__(key, value)
