"""Finds what followed in a text wherever the bytes just written stand in it."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nlargest
from itertools import chain
from operator import itemgetter
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

AGREEMENT_MAX = 32
"""Bytes before a place that are compared at most."""

OCCURRENCES_MAX = 24
PIECE = 40
CURSOR = b"\0"
"""Ends each part of a text; no precedent goes beyond it."""


class Precedent(NamedTuple):
    """What followed somewhere: its first 40 bytes, and how many before it agree with what is written."""

    agreement: int
    text: bytes


class Precedents(Protocol):
    """Texts in which places can be looked up by what stands before them."""

    def after(self, written: bytes) -> Sequence[Precedent]:
        """What followed, up to 24 times, the longest runs that *written* ends with, the longest first."""


class ScannedTexts:
    """`Precedents` in *parts* of text that change too often for an index: a search passes over all."""

    def __init__(self, parts: Sequence[bytes]) -> None:
        self._text = bytes(AGREEMENT_MAX) + b"".join(part + CURSOR for part in parts)

    def after(self, written: bytes) -> list[Precedent]:
        """As of `Precedents`. O(bytes of all parts), vectorised."""
        places, agreement = best_occurrences(self._text, written)
        text = self._text
        pieces = [text[place : place + PIECE].partition(CURSOR)[0] for place in places.tolist()]
        return list(map(Precedent, agreement.tolist(), pieces))


class Together:
    """`Precedents` in any of several *sources*."""

    def __init__(self, sources: Sequence[Precedents]) -> None:
        self._sources = sources

    def after(self, written: bytes) -> list[Precedent]:
        """As of `Precedents`."""
        found = chain.from_iterable([source.after(written) for source in self._sources])
        return nlargest(OCCURRENCES_MAX, found, key=itemgetter(0))


def best_occurrences(text: bytes, written: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Up to 24 positions of *text* that follow the longest runs *written* ends with; lengths of the runs.

    *text* must begin with as many zero bytes as a run may have. Positions of zero bytes do not count.
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
