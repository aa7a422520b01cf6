"""The memory of a worker is level: from time to time freed memory is returned, and caches are emptied.

Each cache has a bound of its own, by number or by weight, and an engine has dozens of them. Weights are
estimates, as values share their parts. Besides, an allocator keeps freed memory between blocks that are in
use: loading a model leaves 100 MB of that. So the system's own figure, the resident memory, decides for all
of them together.
"""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from fimlsp.lexing.bounded_dict import forget_all

MOST_GROWTH = 64 * 1024**2
"""Bytes of growth that are accepted. The caches of one engine take about 55 MB when all are full."""

LEAST_GROWTH = MOST_GROWTH // 4
"""Bytes of growth that are accepted in any case after caches were emptied.

Most of their memory stays with the allocator then, as other values lie in between, and is used again. So
memory that has grown by this has taken in much more. Were it `MOST_GROWTH`, each time would end higher.
"""

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
    """Keeps memory within `MOST_GROWTH` of the least since this was made: one for each model that is loaded.

    *resident* returns the bytes in memory, None if unknown. *give_back* returns freed memory to the system.
    """

    def __init__(
        self,
        resident: Callable[[], int | None] = resident_memory,
        give_back: Callable[[], None] = return_memory,
    ) -> None:
        self._resident = resident
        self._give_back = give_back
        self._least: int | None = None
        self._emptied = 0  # the bytes that remained when caches were emptied last

    def look(self) -> None:
        """Return memory if too much has been added; if that frees too little, empty all caches.

        About 0.02 ms, and 0.1 s where caches are emptied. What remains then, such as more documents, is
        accepted.
        """
        if (now := self._resident()) is None:
            return
        if self._least is None:
            now = self._least = self._after_return()
        most = max(self._least + MOST_GROWTH, self._emptied + LEAST_GROWTH)
        if now > most and (now := self._after_return()) > most - LEAST_GROWTH:
            forget_all()
            gc.unfreeze()
            gc.collect()
            now = self._emptied = self._after_return()
        self._least = min(self._least, now)
        self._emptied = min(self._emptied, now)

    def _after_return(self) -> int:
        self._give_back()
        return self._resident() or 0
