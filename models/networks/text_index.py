"""Sorts the places of many files by what stands before them, so that a search costs the same in all of them.

The order is that of a suffix array (Manber and Myers 1990), read backwards and cut off at 32 bytes: places
behind the same bytes stand side by side, those with the longest agreement next to where what is written would
stand itself.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.networks.precedents import (
    AGREEMENT_MAX,
    CURSOR,
    OCCURRENCES_MAX,
    PIECE,
    Precedent,
    Precedents,
)

_KEY = np.dtype("<u8")
_BITS = 8 * AGREEMENT_MAX


class TextIndex:
    """An index of *files*, by name. Five bytes of memory for each byte of text; made in O(bytes · log bytes).

    Immutable. Making it needs 24 bytes for each byte of text for a while.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        parts = [text.replace(CURSOR, b"") + CURSOR for text in files.values()]
        self._starts = np.cumsum([AGREEMENT_MAX, *map(len, parts)]).tolist()
        self._names = list(files)
        self._text = bytes(AGREEMENT_MAX) + b"".join(parts)
        self._order = _by_what_stands_before(self._text)

    def after(self, written: bytes) -> list[Precedent]:
        """As of `Precedents`. O(log bytes)."""
        return self._after(written, ())

    def without(self, names: Collection[str]) -> Precedents:
        """The same without the files of these *names*, whose places are passed over."""
        return _Without(self, frozenset(names).intersection(self._names))

    def _after(self, written: bytes, without: Collection[str]) -> list[Precedent]:
        wanted = int.from_bytes(written[-AGREEMENT_MAX:].rjust(AGREEMENT_MAX, CURSOR), "little")
        found = list[Precedent]()
        for place, agreement in self._nearest(wanted):
            agreement = min(agreement, len(written))
            if agreement == 0 or len(found) == OCCURRENCES_MAX:
                break
            if not without or self._file_at(place) not in without:
                found.append(Precedent(agreement, self._text[place : place + PIECE].partition(CURSOR)[0]))
        return found

    def _nearest(self, wanted: int) -> Iterator[tuple[int, int]]:
        """Places with what their contexts and *wanted* have in common, the most first."""
        order = self._order
        above = bisect_left(order, wanted, key=self._context)
        below = above - 1
        up = self._agreement(above, wanted)
        down = self._agreement(below, wanted)
        while up >= 0 or down >= 0:
            if up >= down:
                yield int(order[above]), up
                above += 1
                up = self._agreement(above, wanted)
            else:
                yield int(order[below]), down
                below -= 1
                down = self._agreement(below, wanted)

    def _agreement(self, rank: int, wanted: int) -> int:
        """Bytes that *wanted* and the context of the place with this *rank* share; -1: there is none."""
        if not 0 <= rank < len(self._order):
            return -1
        return (_BITS - (self._context(self._order[rank]) ^ wanted).bit_length()) // 8

    def _context(self, place: np.uint32) -> int:
        """What stands before *place*; its last byte counts most."""
        at = int(place)
        return int.from_bytes(self._text[at - AGREEMENT_MAX : at], "little")

    def _file_at(self, place: int) -> str:
        return self._names[bisect_right(self._starts, place) - 1]


class _Without:
    """`Precedents` in an *index*, but for the files *names*."""

    def __init__(self, index: TextIndex, names: frozenset[str]) -> None:
        self._index = index
        self._names = names

    def after(self, written: bytes) -> list[Precedent]:
        """As of `Precedents`."""
        return self._index._after(written, self._names)


def _by_what_stands_before(text: bytes) -> NDArray[np.uint32]:
    """The places of *text* that have a byte other than zero, sorted by the 32 bytes before them.

    A radix sort with digits of eight bytes, the least significant first.
    """
    data = np.frombuffer(text, np.uint8)
    order = (np.flatnonzero(data[AGREEMENT_MAX:] != CURSOR[0])).astype(np.uint32)
    for digit in range(0, AGREEMENT_MAX, _KEY.itemsize):
        keys = np.ndarray((len(text) - AGREEMENT_MAX,), _KEY, text, digit, (1,))
        order = order[np.argsort(keys[order], kind="stable")]
    return order + np.uint32(AGREEMENT_MAX)
