"""All different suffixes of some texts, the shortest first.

A suffix is its first byte and a shorter suffix. So facts about all suffixes follow from those about shorter
ones, one length at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fimlsp.lexing.bounded_dict import BoundedDict
from fimlsp.quotient.masks.disk_cache import Arrays
from fimlsp.quotient.masks.texts import Ints, Texts

_INDENTATION = b" \t\f"
_MOST_RESTS = 16
Cached = Callable[[str, Callable[[], Arrays]], Arrays]
"""Returns the arrays cached under a name, or else those that a function makes."""


class Suffixes:
    """The different suffixes of some texts, numbered by their lengths; number 0 is the empty one.

    `shorter` is the number of each suffix without its first byte, that of the empty one its own. `number_of`
    is the number of each whole text.
    """

    def __init__(self, of: Texts, cached: Cached) -> None:
        self._data = of.data
        arrays = cached("suffixes", lambda: numbered_suffixes(of))
        self.shorter, self.number_of, self._places, self._edges = (
            arrays[name] for name in ("shorter", "number_of", "places", "edges")
        )
        self._holding: dict[int, NDArray[np.bool_]] = {}
        self._rests = BoundedDict[bytes, Ints](_MOST_RESTS)

    def __len__(self) -> int:
        return len(self.shorter)

    @property
    def levels(self) -> list[slice]:
        """The numbers of the suffixes of each length from 1 on."""
        return [slice(first, end) for first, end in pairwise(self._edges.tolist())]

    @cached_property
    def lengths(self) -> Ints:
        """The number of bytes of each suffix."""
        sizes = np.diff(self._edges)
        return np.concatenate(([0], np.repeat(np.arange(1, len(sizes) + 1), sizes))).astype(np.int32)

    def text(self, number: int) -> bytes:
        """The suffix of this number."""
        place = int(self._places[number])
        return self._data[place : place + int(self.lengths[number])]

    @cached_property
    def first_bytes(self) -> NDArray[np.uint8]:
        """The first byte of each suffix, some byte for the empty one."""
        return np.frombuffer(self._data or b"\0", np.uint8).take(self._places)

    def without(self, numbers: Ints, counts: Ints) -> Ints:
        """The suffixes of these *numbers* without so many first bytes."""
        rests, longer, depth = numbers.copy(), np.flatnonzero(counts), 0
        while len(longer):
            rests[longer] = self.shorter[rests[longer]]
            depth += 1
            longer = longer[counts[longer] > depth]
        return rests

    def rests(self, skipped: NDArray[np.bool_]) -> Ints:
        """The number of each suffix without the bytes at its start that are *skipped*."""
        key = skipped.tobytes()
        rests = self._rests.get(key)
        if rests is None:
            rests = np.arange(len(self), dtype=np.int32)
            for level in self.levels:
                inside = np.flatnonzero(skipped[self.first_bytes[level]])
                rests[level][inside] = rests[self.shorter[level][inside]]
            self._rests[key] = rests
        return rests

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """For each suffix, True if it contains *byte*."""
        holds = self._holding.get(byte)
        if holds is None:
            others = np.ones(256, np.bool_)
            others[byte] = False
            holds = self._holding[byte] = self.rests(others) != 0
        return holds

    @cached_property
    def leading_spaces(self) -> tuple[Ints, list[bytes]]:
        """The number of the white space at the start of each suffix, and the text of each such number."""
        numbers, spaces = {b"": 0}, [b""]
        number_of = np.zeros(len(self), np.int32)
        is_space = np.isin(self.first_bytes, list(_INDENTATION))
        for level in self.levels:
            spaced = np.flatnonzero(is_space[level]) + level.start
            rests = number_of[self.shorter[spaced]]
            pairs, inverse = np.unique(rests * 256 + self.first_bytes[spaced], return_inverse=True)
            texts = [
                bytes([byte]) + spaces[rest] for rest, byte in (divmod(pair, 256) for pair in pairs.tolist())
            ]
            spaces += [text for text in texts if text not in numbers]
            numbers |= {text: number for number, text in enumerate(spaces[len(numbers) :], len(numbers))}
            number_of[spaced] = np.array([numbers[text] for text in texts], np.int32)[inverse]
        return number_of, spaces


def numbered_suffixes(texts: Texts) -> Arrays:
    """The suffixes of *texts* as arrays: `shorter` and `number_of` as in `Suffixes`.

    `places` are those of each suffix in the bytes of all texts, `edges` the first numbers of each length. In
    their order from the last byte on, texts with a common suffix are neighbours. O(bytes).
    """
    order, _ = texts.reversed.sorted()
    order = len(texts) - 1 - order
    data, ends, lengths = np.frombuffer(texts.data, np.uint8), texts.offsets[1:][order], texts.lengths[order]
    number_of = np.zeros(len(texts), np.int32)
    shorter, places, edges = [np.zeros(1, np.int32)], [np.zeros(1, np.int32)], [1]
    longer = np.flatnonzero(lengths)
    reached = np.zeros(len(longer), np.int32)  # the suffix of each of them so far
    while len(longer):
        at = ends[longer] - len(edges)
        letters = data[at]
        is_new = np.ones(len(longer), np.bool_)
        np.not_equal(letters[1:], letters[:-1], out=is_new[1:])
        is_new[1:] |= reached[1:] != reached[:-1]
        firsts = np.flatnonzero(is_new)
        shorter.append(reached[firsts])
        places.append(at[firsts])
        reached = np.cumsum(is_new, dtype=np.int32) + (edges[-1] - 1)
        is_whole = lengths[longer] == len(edges)
        number_of[order[longer[is_whole]]] = reached[is_whole]
        edges.append(edges[-1] + len(firsts))
        kept = np.flatnonzero(~is_whole)
        longer, reached = longer[kept], reached[kept]
    return {
        "shorter": np.concatenate(shorter),
        "number_of": number_of,
        "places": np.concatenate(places).astype(np.int32),
        "edges": np.array(edges, np.int32),
    }
