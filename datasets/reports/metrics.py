"""How near a completion is to the truth, and distributions. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rapidfuzz.distance import Levenshtein


def edit_similarity(text: str, truth: str) -> float:
    """1 less the share of characters to change: Levenshtein's distance by the longer length.

    `edit_similarity("cat", "cart")` is 0.75; two empty texts are equal. O(len(text) * len(truth) / 64).
    """
    return float(Levenshtein.normalized_similarity(text, truth))


def first_line(text: str) -> str:
    """The text before its first line end; empty if *text* begins with that."""
    return text.partition("\n")[0]


def is_one_line(text: str) -> bool:
    """Whether *text* has no line end."""
    return "\n" not in text


def size_class(characters: int) -> int:
    """The power of two, at least 1,024, below which *characters* lies: the class of a context by its size."""
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
        """That of *values*; None if there are none. `of([4, 1, 2, 3])` has median 3 and maximum 4."""
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
