"""The memory of a worker is level: from time to time freed memory is returned, and caches are emptied.

Each cache has a bound of its own, by number or by weight, and an engine has dozens of them. Weights are
estimates, as values share their parts. Besides, an allocator keeps freed memory between blocks that are in
use: loading a model leaves 100 MB of that. So the system's own figure, the resident memory, decides for all
of them together.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fimlsp.lexing.bounded_dict import forget_all

MOST_GROWTH = 64 * 1024**2
"""Bytes of growth that are accepted. The caches of one engine take about 55 MB when all are full."""

_SIZES = Path("/proc/self/statm")


def resident_memory() -> int | None:
    """The bytes of this process in memory; None where the system has no such file. About 0.02 ms."""
    try:
        return int(_SIZES.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def return_memory() -> None:
    """Return freed memory to the system, if the C library can. About 10 ms per 100 MB."""
    with suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


class MemoryBound:
    """Keeps memory within `MOST_GROWTH` of that without caches. `look` is for moments without work.

    *resident* returns the bytes in memory, None if unknown. *give_back* returns freed memory to the system.
    """

    def __init__(
        self,
        resident: Callable[[], int | None] = resident_memory,
        give_back: Callable[[], None] = return_memory,
    ) -> None:
        self._resident = resident
        self._give_back = give_back
        self._base: int | None = None

    def look(self) -> None:
        """Return memory if too much has been added; if that frees less than half of it, empty all caches.

        All that remains then, such as another model or more documents, is the new base.
        """
        if (now := self._resident()) is None:
            return
        if self._base is None:
            self._settle()
        elif now > self._base + MOST_GROWTH:
            self._give_back()
            if (self._resident() or 0) > self._base + MOST_GROWTH // 2:
                forget_all()
                self._settle()
        else:
            self._base = min(self._base, now)

    def _settle(self) -> None:
        self._give_back()
        self._base = self._resident()
