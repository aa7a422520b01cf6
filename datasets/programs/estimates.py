"""pass@k: how likely at least one of k answers is right, estimated without bias (Chen et al. 2021)."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb


def pass_at(k: int, n: int, right: int) -> float:
    """The unbiased estimate for one problem of which *right* of *n* independent answers are right.

    It is the share of the subsets of k answers that have a right one (Chen et al. 2021, arXiv 2107.03374,
    section 2.1).

    Raises:
        ValueError: there are fewer than *k* answers.
    """
    if not 0 < k <= n or not 0 <= right <= n:
        raise ValueError(f"pass@{k} cannot be estimated from {right} of {n}")
    return 1 - comb(n - right, k) / comb(n, k)


def mean_pass_at(k: int, problems: Iterable[tuple[int, int]]) -> float | None:
    """The mean over *problems*, each given as its answers and how many are right; None if one has too few."""
    found = list(problems)
    if not found or any(n < k for n, _ in found):
        return None
    return sum(pass_at(k, n, right) for n, right in found) / len(found)
