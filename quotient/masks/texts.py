"""Byte strings as arrays: their order, and runs of equal numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks.disk_cache import Arrays

Ints = NDArray[np.int32]


def smallest(count: int) -> type[np.int32]:
    """The smallest type for numbers below *count*."""
    return np.uint16 if count <= 1 << 16 else np.int32  # type: ignore[return-value]  # arrays of either are alike


class Texts(Sequence[bytes]):
    """Byte strings, concatenated in *data*; number i is `data[offsets[i]:offsets[i + 1]]`."""

    __slots__ = ("data", "offsets")

    def __init__(self, data: bytes, offsets: Ints) -> None:
        self.data = data
        self.offsets = offsets

    @classmethod
    def of(cls, texts: Sequence[bytes]) -> Texts:
        """These *texts*."""
        offsets = np.zeros(len(texts) + 1, np.int32)
        np.cumsum(np.fromiter(map(len, texts), np.int32, len(texts)), out=offsets[1:])
        return cls(b"".join(texts), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, number: int) -> bytes: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[bytes]: ...
    def __getitem__(self, number: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(number, slice):
            return list(self)[number]
        return self.data[self.offsets[number] : self.offsets[number + 1]]

    def __iter__(self) -> Iterator[bytes]:
        data = self.data
        return (data[start:end] for start, end in pairwise(self.offsets.tolist()))

    @property
    def lengths(self) -> Ints:
        """The number of bytes of each text."""
        return np.diff(self.offsets)

    @property
    def reversed(self) -> Texts:
        """The texts from the last to the first, each from its end to its start."""
        return Texts(self.data[::-1], (len(self.data) - self.offsets[::-1]).astype(np.int32))

    def taken(self, numbers: Ints) -> Texts:
        """The texts with these *numbers*."""
        lengths = self.lengths[numbers]
        offsets = np.zeros(len(numbers) + 1, np.int32)
        np.cumsum(lengths, out=offsets[1:])
        places = np.repeat(self.offsets[:-1][numbers] - offsets[:-1], lengths)
        places += np.arange(len(places), dtype=np.int32)
        return Texts(np.frombuffer(self.data, np.uint8)[places].tobytes(), offsets)

    def sorted(self) -> tuple[Ints, NDArray[np.bool_]]:
        """The numbers of the texts in their order, and True for each that differs from the one before.

        Eight bytes at a time are compared, first those of all, then those of texts that are equal so far.
        """
        pieces = _Pieces(self)
        keys = pieces.at(slice(None), 0)
        order = np.argsort(keys).astype(np.int32)
        is_new = np.ones(len(self) + 1, np.bool_)  # with one after the last
        np.not_equal(keys[order[1:]], keys[order[:-1]], out=is_new[1:-1])
        depth, are_equal = _Pieces.SIZE, False
        while not are_equal and len(tied := np.flatnonzero(~(is_new[:-1] & is_new[1:]))):
            numbers = order[tied]
            are_equal = not bool((pieces.lengths[numbers] > depth).any())
            keys = pieces.lengths[numbers] if are_equal else pieces.at(numbers, depth)
            by_key = np.lexsort((keys, np.cumsum(is_new[tied])))
            order[tied], keys = numbers[by_key], keys[by_key]
            is_new[tied[1:]] |= keys[1:] != keys[:-1]
            depth += _Pieces.SIZE
        return order, is_new[:-1]

    def arrays(self) -> Arrays:
        """The texts as arrays to save."""
        return {"data": np.frombuffer(self.data, np.uint8), "offsets": self.offsets}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Texts:
        """The inverse of `arrays`."""
        return cls(arrays["data"].tobytes(), arrays["offsets"])


class _Pieces:
    """Pieces of texts as numbers in the order of bytes. Zeros stand for bytes after the end of a text."""

    SIZE = 8
    _WITHIN = np.array([0, *(-1 << 8 * (8 - size) & (1 << 64) - 1 for size in range(1, 9))], np.uint64)

    def __init__(self, texts: Texts) -> None:
        self.lengths = texts.lengths
        self._starts = texts.offsets[:-1]
        padded = texts.data + bytes(self.SIZE)
        self._windows = np.ndarray(len(texts.data) + 1, ">u8", padded, strides=(1,))

    def at(self, numbers: Ints | slice, depth: int) -> NDArray[Any]:
        """The pieces from byte *depth* on of the texts with these *numbers*."""
        left = np.clip(self.lengths[numbers] - depth, 0, self.SIZE)
        starts = np.minimum(self._starts[numbers] + depth, len(self._windows) - 1)
        return self._windows[starts].astype(np.uint64) & self._WITHIN[left]


def distinct(keys: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """An index of each different one of *keys* in ascending order, and for each key the place of its equal.

    Runs of equal keys are sorted as one, since neighbours are mostly equal.
    """
    starts = np.flatnonzero(np.diff(keys, prepend=-1))
    _, firsts, places = np.unique(keys[starts], return_index=True, return_inverse=True)
    return starts[firsts], np.repeat(places, np.diff(starts, append=len(keys)))


class Runs(NamedTuple):
    """An array as runs: the number that each run repeats, and its length.

    Texts are sorted, so neighbours mostly mean the same: 49,152 tokens make some 4,000 runs. Runs take an
    eighth of the memory, and are looked up in half of the time.
    """

    numbers: Ints
    lengths: Ints

    @classmethod
    def of(cls, array: Ints) -> Runs:
        """The runs of *array*."""
        starts = np.flatnonzero(np.diff(array, prepend=-1))
        lengths = np.diff(starts, append=len(array))
        return cls(array[starts], lengths.astype(smallest(len(array) + 1)))

    @property
    def n_bytes(self) -> int:
        """Memory size."""
        return self.numbers.nbytes + self.lengths.nbytes

    def expanded(self) -> Ints:
        """The array."""
        return np.repeat(self.numbers, self.lengths)

    def looked_up(self, table: NDArray[Any]) -> NDArray[Any]:
        """The entries of *table* at the numbers of the array."""
        return np.repeat(table[self.numbers], self.lengths)
