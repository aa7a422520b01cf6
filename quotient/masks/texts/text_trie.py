"""Byte strings in one array, and their trie, level by level, so that an automaton reads all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import overload

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks.array_files import Arrays

Ints = NDArray[np.int32]


def smallest(count: int) -> type[np.int32]:
    """The smallest type for numbers below *count*."""
    return np.uint16 if count <= 1 << 16 else np.int32  # type: ignore[return-value]  # arrays of either are alike


class Texts(Sequence[bytes]):
    """Byte strings, one behind another in *data*; number i is `data[offsets[i]:offsets[i + 1]]`."""

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
        """The number of bytes of each."""
        return np.diff(self.offsets)

    @property
    def first_bytes(self) -> Ints:
        """The first byte of each; -1 of an empty one."""
        found = np.full(len(self), -1, np.int32)
        full = np.flatnonzero(self.lengths)
        found[full] = np.frombuffer(self.data, np.uint8)[self.offsets[full]]
        return found

    def holding(self, byte: int) -> NDArray[np.bool_]:
        """Which of them hold *byte*."""
        count = np.zeros(len(self.data) + 1, np.int32)
        np.cumsum(np.frombuffer(self.data, np.uint8) == byte, out=count[1:])
        found: NDArray[np.bool_] = count[self.offsets[1:]] > count[self.offsets[:-1]]
        return found

    def arrays(self) -> Arrays:
        """As arrays, to be kept."""
        return {"data": np.frombuffer(self.data, np.uint8), "offsets": self.offsets}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> Texts:
        """What `arrays` gave."""
        return cls(arrays["data"].tobytes(), arrays["offsets"])


class TextTrie:
    """The trie of some texts.

    `node_of[i]` is the node of text i; node 0 is the root. `levels` holds for each depth from 1 on the first
    node of that depth, the parents of the nodes there, and their bytes.
    """

    __slots__ = ("levels", "n_nodes", "node_of")

    def __init__(self, node_of: Ints, levels: Iterable[tuple[Ints, Ints]]) -> None:
        self.node_of = node_of
        self.levels: list[tuple[int, Ints, Ints]] = []
        self.n_nodes = 1
        for parents, data in levels:
            self.levels.append((self.n_nodes, parents, data))
            self.n_nodes += len(parents)

    @classmethod
    def of(cls, texts: Texts) -> TextTrie:
        """The trie of *texts*."""
        order = np.argsort(texts.lengths, kind="stable")
        offsets = texts.offsets[:-1][order]
        data = np.frombuffer(texts.data, np.uint8)
        ends = texts.lengths[order]
        at = np.zeros(len(texts), np.int64)  # the node that each text has reached
        levels: list[tuple[Ints, Ints]] = []
        n_nodes = 1
        first, depth = int(np.searchsorted(ends, 0, "right")), 0
        while first < len(texts):
            keys = at[first:] * 256 + data[offsets[first:] + depth]
            found, inverse = np.unique(keys, return_inverse=True)
            levels.append(((found >> 8).astype(np.int32), (found & 255).astype(np.uint8)))
            at[first:] = inverse + n_nodes
            n_nodes += len(found)
            depth += 1
            first = int(np.searchsorted(ends, depth, "right"))
        node_of = np.empty(len(texts), np.int32)
        node_of[order] = at
        return cls(node_of, levels)

    def arrays(self) -> Arrays:
        """As arrays, to be kept."""
        sizes = np.array([len(parents) for _, parents, _ in self.levels], np.int32)
        parents = np.concatenate([np.zeros(0, np.int32), *(parents for _, parents, _ in self.levels)])
        data = np.concatenate([np.zeros(0, np.uint8), *(data for _, _, data in self.levels)])
        return {"node_of": self.node_of, "sizes": sizes, "parents": parents, "data": data}

    @classmethod
    def from_arrays(cls, arrays: Arrays) -> TextTrie:
        """What `arrays` gave."""
        ends = np.cumsum(arrays["sizes"])[:-1]
        levels = zip(np.split(arrays["parents"], ends), np.split(arrays["data"], ends), strict=True)
        return cls(arrays["node_of"], levels)
