"""In which order the candidates of a step are tried: the likeliest first, or at random."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from fimlsp.models.protocols import Candidates
from numpy.random import Generator
from numpy.typing import NDArray

Pair = tuple[int, float]


def best_first(candidates: Candidates) -> Iterator[Pair]:
    """Tokens with their log-probabilities, from the likeliest down."""
    return zip(candidates.tokens, candidates.log_probabilities, strict=True)


def at_random(candidates: Candidates, temperature: float, top_p: float, random: Generator) -> Iterator[Pair]:
    """The same pairs in the order of drawing without replacement.

    Law: the first pair that passes a test is distributed as the candidates that pass it, renormalised; so
    trying them in this order is exact adaptive rejection sampling. Probabilities are those listed, to the
    power 1 / *temperature*; the likeliest candidates with a share of *top_p* (Holtzman et al. 2020) come
    before all others. Adding Gumbel noise and sorting draws without replacement (Vieira 2014).
    """
    scores = np.asarray(candidates.log_probabilities) / temperature
    noisy = scores + random.gumbel(size=len(scores))
    n = _nucleus(scores, top_p)
    order = np.concatenate([np.argsort(-noisy[:n]), n + np.argsort(-noisy[n:])])
    for at in order.tolist():
        yield candidates.tokens[at], candidates.log_probabilities[at]


def _nucleus(scores: NDArray[np.float64], top_p: float) -> int:
    """How many of the best candidates have a share of *top_p* of what is listed."""
    share = np.exp(scores - scores[0])
    reached = np.cumsum(share) >= top_p * share.sum()
    return int(np.argmax(reached)) + 1 if reached.any() else len(scores)
