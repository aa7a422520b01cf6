"""The growth of an operation's cost with the length of the file.

The same cuts are made in the same text, with more and more text around it, so that only the length differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from statistics import median

from corpora.corpus import Corpus

from measures.operations import Figures, measure


def grown(corpus: Corpus, seed: int, cuts: int, lengths: Sequence[int]) -> dict[int, Figures]:
    """The figures by the length of the text, all from the same cuts in a core of the shortest length."""
    by_length: dict[int, Figures] = {}
    for text in corpus.growing(Random(seed), lengths):
        figures = by_length[len(text.data)] = Figures()
        measure(text, cuts, Random(seed), figures)
    return by_length


def slope(costs: dict[int, float]) -> float:
    """Milliseconds per 100,000 characters: the median slope of all pairs (Theil-Sen)."""
    points = sorted(costs.items())
    return median(
        (cost - less) / (length - shorter) * 1e5
        for i, (shorter, less) in enumerate(points)
        for length, cost in points[i + 1 :]
    )


def grows(costs: dict[int, float]) -> bool:
    """True if the longest text costs more than twice as much as the shortest, plus a millisecond."""
    return costs[max(costs)] > 2 * costs[min(costs)] + 1
