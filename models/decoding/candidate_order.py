"""The order in which the candidates of a step are tried: likeliest first, or drawn at random."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fimlsp.models.protocols import Candidates

Pair = tuple[int, float]

UNLISTED_MOST = 1 << 20
"""No vocabulary has more tokens."""

LISTED_MOST = 64
"""Further candidates count as not listed: what is drawn does not depend on how many a network lists."""

NOTHING_LEFT = 1e-9
"""Where what is not listed is less likely in sum, it is not asked for."""


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


@dataclass(frozen=True, slots=True)
class Draw:
    """How candidates are drawn; see `DecodeSettings`.

    The cuts are of the model's own distribution at that temperature: the `top_k` likeliest, of these those at
    least `min_p` times as likely as the likeliest, and of these the likeliest that hold a share of `top_p`.
    """

    temperature: float
    top_p: float = 1.0
    top_k: int | None = None
    min_p: float = 0.0

    @property
    def cuts(self) -> bool:
        """Whether anything is left out."""
        return self.top_p < 1 or self.top_k is not None or self.min_p > 0

    def n_kept(self, scores: NDArray[np.float64], rest: float) -> int | None:
        """How many of the likeliest candidates are left; None if those that are not listed decide that.

        *scores* are the listed ones, best first, over the temperature; *rest* is a bound of what the others
        weigh together, as a multiple of the best.
        """
        shares = np.exp(scores - scores[0])
        n = len(shares) if self.top_k is None else min(self.top_k, len(shares))
        closed = not rest or (self.top_k is not None and self.top_k <= len(shares))
        enough = int(np.count_nonzero(shares >= self.min_p))
        closed = closed or enough < len(shares) or self.min_p > rest
        n = min(n, max(1, enough))
        if self.top_p < 1:
            sums, unlisted = np.cumsum(shares[:n]), 0.0 if closed else rest
            low = int(np.searchsorted(sums, self.top_p * sums[-1])) + 1
            high = int(np.searchsorted(sums, self.top_p * (sums[-1] + unlisted))) + 1
            return min(low, n) if low == high or closed else None
        return n if closed else None


def at_random(
    candidates: Candidates,
    draw: Draw,
    random: Generator,
    everything: Callable[[], Candidates | None] = lambda: None,
) -> Iterator[Pair]:
    """All candidates in the order of draws without replacement, those that *draw* cuts off last.

    Law: the first pair that passes a test is distributed as the candidates that pass it, renormalised; so
    trying them in this order is exact adaptive rejection sampling. Sorting by Gumbel noise draws without
    replacement (Vieira 2014). What is not listed is one candidate more, until it is drawn; then *everything*
    tells it, or it is left out if that gives None. Its weight is a bound at first, hence a second draw.
    """
    if len(candidates.tokens) > LISTED_MOST:
        listed_all = candidates
        candidates, everything = _first(candidates, LISTED_MOST), lambda: listed_all
    scores = np.asarray(candidates.log_probabilities) / draw.temperature
    rest = _rest(candidates, draw.temperature)
    n = draw.n_kept(scores, rest) if draw.cuts else None
    if n is None and draw.cuts:
        candidates = everything() or candidates
        scores, rest = np.asarray(candidates.log_probabilities) / draw.temperature, 0.0
        n = draw.n_kept(scores, rest)
    if n is not None:
        yield from _drawn(candidates, scores, np.arange(n), random)
        told = everything() if rest else None
        if told is not None:
            drawn = set(candidates.tokens[:n])
            others = [at for at, token in enumerate(told.tokens) if token not in drawn]
            candidates, scores = told, np.asarray(told.log_probabilities) / draw.temperature
        else:
            others = list(range(n, len(scores)))
        yield from _drawn(candidates, scores, np.asarray(others, np.intp), random)
        return
    yield from _with_rest(candidates, scores, rest, draw.temperature, random, everything)


def _first(candidates: Candidates, most: int) -> Candidates:
    """The likeliest of *candidates*, at *most* so many."""
    return replace(
        candidates,
        tokens=candidates.tokens[:most],
        log_probabilities=candidates.log_probabilities[:most],
    )


def _with_rest(
    candidates: Candidates,
    scores: NDArray[np.float64],
    rest: float,
    temperature: float,
    random: Generator,
    everything: Callable[[], Candidates | None],
) -> Iterator[Pair]:
    """As `at_random` without cuts, with *rest* as the bound of what is not listed."""
    size = len(scores)
    weights = np.append(scores, np.log(rest) + scores[0]) if rest else scores
    order = np.argsort(-(weights + random.gumbel(size=len(weights)))).tolist()
    for number, at in enumerate(order):
        if at < size:
            yield candidates.tokens[at], candidates.log_probabilities[at]
            continue
        told = everything()
        if told is None:
            continue
        listed, drawn = set(candidates.tokens), {candidates.tokens[other] for other in order[:number]}
        all_scores = np.asarray(told.log_probabilities) / temperature
        unlisted = np.asarray([at for at, token in enumerate(told.tokens) if token not in listed], np.intp)
        exact = float(np.exp(all_scores[unlisted] - scores[0]).sum())
        if len(unlisted) and random.random() < exact / rest:
            first = next(_drawn(told, all_scores, unlisted, random))
            drawn.add(first[0])
            yield first
        others = [at for at, token in enumerate(told.tokens) if token not in drawn]
        yield from _drawn(told, all_scores, np.asarray(others, np.intp), random)
        return


def _drawn(
    candidates: Candidates, scores: NDArray[np.float64], among: NDArray[np.intp], random: Generator
) -> Iterator[Pair]:
    """The candidates numbered *among* in the order of draws without replacement."""
    for at in among[np.argsort(-(scores[among] + random.gumbel(size=len(among))))].tolist():
        yield candidates.tokens[at], candidates.log_probabilities[at]


def _rest(candidates: Candidates, temperature: float) -> float:
    """At most what those that are not listed weigh together, as a multiple of the likeliest; 0 if nothing.

    Each is at most as likely as the last that is listed, and together they have what the others leave.
    """
    probabilities = np.exp(candidates.log_probabilities)
    left = 1 - float(probabilities.sum())
    if left <= NOTHING_LEFT:
        return 0.0
    most, last = float(probabilities[0]), float(probabilities[-1])
    if temperature <= 1:  # p ** (1 / T) is at most p times that of the last over the last
        return float(left / most * (last / most) ** (1 / temperature - 1))
    n = UNLISTED_MOST  # a concave function of each: equal shares weigh most
    return float(n * (left / n / most) ** (1 / temperature))
