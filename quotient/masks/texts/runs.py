"""Arrays in which equal numbers mostly stand side by side, as runs.

Texts are sorted, so neighbours begin alike and mostly mean the same: of 49,152 tokens there are some 4,000
runs. They take an eighth of the memory, and are looked up in half of the time.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.quotient.masks.texts.text_trie import Ints, smallest


class Runs(NamedTuple):
    """The number that each run repeats, and how long it is."""

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
        """What they hold in memory."""
        return self.numbers.nbytes + self.lengths.nbytes

    def expanded(self) -> Ints:
        """The array."""
        return np.repeat(self.numbers, self.lengths)

    def looked_up(self, table: NDArray[Any]) -> NDArray[Any]:
        """What *table* has at each number of the array."""
        return np.repeat(table[self.numbers], self.lengths)
