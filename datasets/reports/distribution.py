"""Summaries of many numbers: quantiles, and classes of file sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


def size_class(characters: int) -> int:
    """The smallest power of two that is at least 1,024 and greater than *characters*."""
    return max(1024, 1 << characters.bit_length())


@dataclass(frozen=True, slots=True)
class Distribution:
    """Median, 90th percentile, maximum and mean of *n* numbers."""

    n: int
    median: float
    p90: float
    max: float
    mean: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Distribution | None:
        """The distribution of *values*; None if there are none. `of([4, 1, 2, 3])` has median 3."""
        if not values:
            return None
        ordered = sorted(values)
        return cls(
            len(ordered),
            quantile(ordered, 0.5),
            quantile(ordered, 0.9),
            ordered[-1],
            sum(ordered) / len(ordered),
        )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The value below which *share* of the *ordered* values lie."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
