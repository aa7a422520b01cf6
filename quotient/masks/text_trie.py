"""A trie of byte strings as arrays, level by level, so that an automaton reads all of them at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]


def smallest(count: int) -> type[np.int32]:
    """The smallest type for numbers below *count*."""
    return np.uint16 if count <= 1 << 16 else np.int32  # type: ignore[return-value]  # arrays of either are alike


class TextTrie:
    """The trie of *texts*.

    `node_of[i]` is the node of text i; node 0 is the root. `levels` holds for each depth from 1 on the first
    node of that depth, the parents of the nodes there, and their bytes.
    """

    __slots__ = ("levels", "n_nodes", "node_of")

    def __init__(self, texts: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        order = np.argsort(lengths, kind="stable")
        offsets = (np.cumsum(lengths) - lengths)[order]
        data = np.frombuffer(b"".join(texts), np.uint8)
        ends = lengths[order]
        at = np.zeros(len(texts), np.int64)  # the node that each text has reached
        self.levels: list[tuple[int, Ints, Ints]] = []
        self.n_nodes = 1
        first, depth = int(np.searchsorted(ends, 0, "right")), 0
        while first < len(texts):
            keys = at[first:] * 256 + data[offsets[first:] + depth]
            found, inverse = np.unique(keys, return_inverse=True)
            self.levels.append((self.n_nodes, (found >> 8).astype(np.int32), (found & 255).astype(np.int32)))
            at[first:] = inverse + self.n_nodes
            self.n_nodes += len(found)
            depth += 1
            first = int(np.searchsorted(ends, depth, "right"))
        self.node_of = np.empty(len(texts), np.int32)
        self.node_of[order] = at
