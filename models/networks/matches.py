"""Finds the text that followed wherever the bytes just written occur in other texts.

Texts that change with every key are scanned (`ScannedTexts`). The files of a project are indexed
(`TextIndex`), so that a search in all of them costs the same as in one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import nlargest
from itertools import chain, repeat
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from fimlsp.processes.plain_values import PlainValue

AGREEMENT_MAX = 32
"""The most bytes before a position that are compared."""

OCCURRENCES_MAX = 24
PIECE = 40
CURSOR = b"\0"
"""Ends each part of a text; no match extends beyond it."""

_KEY = np.dtype("<u8")
_BITS = 8 * AGREEMENT_MAX


class Match(NamedTuple):
    """The text after one position: its first 40 bytes, and how many bytes before it agree with the query.

    *weight* is that of its vote among those of other texts.
    """

    agreement: int
    text: bytes
    weight: float = 1.0


class MatchSource(Protocol):
    """Texts in which positions can be looked up by the bytes before them."""

    def after(self, written: bytes) -> Sequence[Match]:
        """Up to 24 matches that follow the longest suffixes of *written*, the longest first."""


class ScannedTexts:
    """`MatchSource` in *parts* of text that change too often for an index: a search scans all of them.

    Matches have this *weight*.
    """

    def __init__(self, parts: Sequence[bytes], weight: float = 1.0) -> None:
        self._weight = weight
        self._text = bytes(AGREEMENT_MAX) + b"".join(part + CURSOR for part in parts)

    def after(self, written: bytes) -> list[Match]:
        """See `MatchSource`. O(bytes of all parts), vectorised."""
        positions, agreement = best_occurrences(self._text, written)
        pieces = [_piece(self._text, position) for position in positions.tolist()]
        return list(map(Match, agreement.tolist(), pieces, repeat(self._weight)))


class CombinedSources:
    """`MatchSource` in any of several *sources*."""

    def __init__(self, sources: Sequence[MatchSource]) -> None:
        self._sources = sources

    def after(self, written: bytes) -> list[Match]:
        """See `MatchSource`."""
        matches = chain.from_iterable([source.after(written) for source in self._sources])
        return nlargest(OCCURRENCES_MAX, matches, key=itemgetter(0))


class TextIndex(PlainValue):
    """`MatchSource` in *files*, by name. Immutable.

    The order of the positions is that of a suffix array (Manber and Myers 1990), read backwards and cut off
    at 32 bytes. Positions after the same bytes are neighbours, and those with the longest agreement are next
    to where the query itself would be. Built in O(bytes · log bytes).

    | memory for each byte of text | bytes |
    |---|---|
    | while it is built | 24 |
    | afterwards | 5 |
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        parts = [text.replace(CURSOR, b"") + CURSOR for text in files.values()]
        self._starts = np.cumsum([AGREEMENT_MAX, *map(len, parts)]).tolist()
        self._names = list(files)
        self._text = bytes(AGREEMENT_MAX) + b"".join(parts)
        self._order = _sorted_by_context(self._text)

    def after(self, written: bytes) -> list[Match]:
        """See `MatchSource`. O(log bytes)."""
        return self._after(written, ())

    def without(self, names: Collection[str]) -> MatchSource:
        """The same index, in which the files of these *names* are skipped."""
        return _IndexWithout(self, frozenset(names).intersection(self._names))

    def _after(self, written: bytes, skipped: Collection[str]) -> list[Match]:
        query = int.from_bytes(written[-AGREEMENT_MAX:].rjust(AGREEMENT_MAX, CURSOR), "little")
        matches = list[Match]()
        for position, agreement in self._nearest(query):
            agreement = min(agreement, len(written))
            if agreement == 0 or len(matches) == OCCURRENCES_MAX:
                break
            if not skipped or self._file_at(position) not in skipped:
                matches.append(Match(agreement, _piece(self._text, position)))
        return matches

    def _nearest(self, query: int) -> Iterator[tuple[int, int]]:
        """Positions with the number of bytes that their contexts share with *query*, the most first."""
        order = self._order
        upper = bisect_left(order, query, key=self._context)
        lower = upper - 1
        upper_agreement = self._agreement(upper, query)
        lower_agreement = self._agreement(lower, query)
        while upper_agreement >= 0 or lower_agreement >= 0:
            if upper_agreement >= lower_agreement:
                yield int(order[upper]), upper_agreement
                upper += 1
                upper_agreement = self._agreement(upper, query)
            else:
                yield int(order[lower]), lower_agreement
                lower -= 1
                lower_agreement = self._agreement(lower, query)

    def _agreement(self, rank: int, query: int) -> int:
        """Bytes that *query* and the context of the position of this *rank* share; -1: no such rank."""
        if not 0 <= rank < len(self._order):
            return -1
        return (_BITS - (self._context(self._order[rank]) ^ query).bit_length()) // 8

    def _context(self, position: np.uint32) -> int:
        """The bytes before *position* as a number; the last one is the most significant."""
        at = int(position)
        return int.from_bytes(self._text[at - AGREEMENT_MAX : at], "little")

    def _file_at(self, position: int) -> str:
        return self._names[bisect_right(self._starts, position) - 1]


class _IndexWithout:
    """`MatchSource` in an *index* without the files *names*."""

    def __init__(self, index: TextIndex, names: frozenset[str]) -> None:
        self._index = index
        self._names = names

    def after(self, written: bytes) -> list[Match]:
        """See `MatchSource`."""
        return self._index._after(written, self._names)


def best_occurrences(text: bytes, written: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Up to 24 positions of *text* that follow the longest suffixes of *written*; lengths of the suffixes.

    *text* must start with as many zero bytes as a suffix may have. Positions of zero bytes do not count.
    """
    data = np.frombuffer(text, np.uint8)
    if not written:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    alive = positions = np.flatnonzero((data[:-1] == written[-1]) & (data[1:] != CURSOR[0])) + 1
    agreement = np.ones(len(positions), np.int64)
    for back in range(2, len(written) + 1):
        alive = alive[data[alive - back] == written[-back]]
        if not len(alive):
            break
        agreement[np.searchsorted(positions, alive)] += 1
    best = np.argsort(-agreement, kind="stable")[:OCCURRENCES_MAX]
    return positions[best], agreement[best]


def _piece(text: bytes, position: int) -> bytes:
    """Up to 40 bytes of *text* from *position* on, within its part."""
    return text[position : position + PIECE].partition(CURSOR)[0]


def _sorted_by_context(text: bytes) -> NDArray[np.uint32]:
    """The positions of *text* that have a byte other than zero, sorted by the 32 bytes before them.

    A radix sort with keys of eight bytes, the least significant first.
    """
    data = np.frombuffer(text, np.uint8)
    order = (np.flatnonzero(data[AGREEMENT_MAX:] != CURSOR[0])).astype(np.uint32)
    for start in range(0, AGREEMENT_MAX, _KEY.itemsize):
        keys = np.ndarray((len(text) - AGREEMENT_MAX,), _KEY, text, start, (1,))
        order = order[np.argsort(keys[order], kind="stable")]
    return order + np.uint32(AGREEMENT_MAX)
