"""The order in which the candidates of a step are tried: likeliest first, or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush

import numpy as np
from fimlsp.models.protocols import Candidates
from numpy.random import Generator
from numpy.typing import NDArray

Pair = tuple[int, float]

DRAWN_FROM = 64
"""How many of the likeliest candidates are drawn from; others that a network lists are not."""


def best_first(candidates: Candidates) -> Iterator[Pair]:
    """Tokens with their log-probabilities, from the likeliest down."""
    return zip(candidates.tokens, candidates.log_probabilities, strict=True)


def preferred_first(pairs: Iterable[Pair], misfit: Callable[[int], float]) -> Iterator[Pair]:
    """*pairs*, likeliest first, with each token taken for less likely by its *misfit*, in nats.

    *misfit* is asked only about tokens on which the order of those that are taken depends.
    """
    waiting = list[tuple[float, int, Pair]]()
    for number, pair in enumerate(pairs):
        while waiting and -waiting[0][0] >= pair[1]:
            yield heappop(waiting)[2]
        less = misfit(pair[0])
        if less:
            heappush(waiting, (less - pair[1], number, pair))
        else:
            yield pair
    while waiting:
        yield heappop(waiting)[2]


def at_random(candidates: Candidates, temperature: float, top_p: float, random: Generator) -> Iterator[Pair]:
    """The 64 likeliest of these pairs in the order of draws without replacement.

    Law: the first pair that passes a test is distributed as the candidates that pass it, renormalised; so
    trying them in this order is exact adaptive rejection sampling. Probabilities are those listed, to the
    power 1 / *temperature*. The nucleus, the likeliest candidates that hold a share of *top_p* (Holtzman et
    al. 2020), comes before all others. Sorting by Gumbel noise draws without replacement (Vieira 2014).
    """
    scores = np.asarray(candidates.log_probabilities[:DRAWN_FROM]) / temperature
    noisy = scores + random.gumbel(size=len(scores))
    n = _nucleus_size(scores, top_p)
    order = np.concatenate([np.argsort(-noisy[:n]), n + np.argsort(-noisy[n:])])
    for at in order.tolist():
        yield candidates.tokens[at], candidates.log_probabilities[at]


def _nucleus_size(scores: NDArray[np.float64], top_p: float) -> int:
    """How many of the best candidates together hold a share of *top_p* of the listed probability."""
    share = np.exp(scores - scores[0])
    reached = np.cumsum(share) >= top_p * share.sum()
    return int(np.argmax(reached)) + 1 if reached.any() else len(scores)
