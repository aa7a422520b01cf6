"""Draws from the distribution of the model given the constraint, learnt from the futures of earlier draws.

Drawing each token among those that are allowed favours beginnings that the model would rarely complete: the
constraint renormalises each step by itself. The distribution given the constraint weights a token by the
probability that the model, left alone, completes the text after it. That is unknown, but at most 1 for an
allowed token and 0 for a refused one. Each draw reads the tokens after its prefixes, and so lowers the
bounds of these, up to the first token (ASAp: Park et al. 2024, arXiv 2405.21047).

*Adaptive* draws go by the bounds known so far, and later ones come closer to that distribution. *Exact* draws
have it from the first on. A prefix may turn out to have a lower bound than it was drawn with. Then the text
is given up in proportion, and another one begun: adaptive rejection sampling, as by Parys et al. 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fimlsp.models.decoding.candidate_order import ScoredToken
from fimlsp.models.protocols import Candidates

NEGLIGIBLE = 1e-6
"""The share of the allowed candidates of a step that are too unlikely to be remembered."""

IsAllowed = Callable[[NDArray[np.intp]], NDArray[np.bool_]]
"""For each of some tokens, False if it is known to be refused."""


class Future:
    """The candidates after one prefix, each with a bound of the probability that the model completes it.

    `tokens` and `log_probabilities` are those that may be allowed, the likeliest first.
    """

    def __init__(self, listed: Candidates, temperature: float, is_allowed: IsAllowed) -> None:
        tokens = np.asarray(listed.tokens, np.intp)
        log_probabilities = np.asarray(listed.log_probabilities, np.float64)
        weights = np.exp((log_probabilities - log_probabilities.max(initial=-np.inf)) / temperature)
        shares = weights / weights.sum()
        kept = is_allowed(tokens)
        likely = np.flatnonzero(kept)
        rest = np.cumsum(shares[likely][::-1])[::-1]  # the probability from each of them on
        likely = likely[rest > NEGLIGIBLE * rest[:1]]
        self.tokens, self.log_probabilities = tokens[likely], log_probabilities[likely]
        self._shares = shares[likely]
        self._bounds = np.ones(len(likely))

    @property
    def weights(self) -> NDArray[np.float64]:
        """In these proportions the candidates are drawn next."""
        weights: NDArray[np.float64] = self._shares * self._bounds
        return weights

    @property
    def bound(self) -> float:
        """An upper bound of the probability that the model completes a text with this prefix."""
        return float(self.weights.sum())

    def bound_of(self, token: int) -> float:
        """That of one of the candidates."""
        return float(self._bounds[self._at(token)])

    def lower(self, token: int, bound: float) -> None:
        """Lower the bound of a candidate."""
        at = self._at(token)
        self._bounds[at] = min(bound, self._bounds[at])

    def drawn(self, random: Generator, most: int | None = None) -> Iterator[ScoredToken]:
        """The candidates in the order of draws without replacement, at most *most*.

        Whoever asks for another one has refused the one before it, which is then known never to be allowed.
        """
        with np.errstate(divide="ignore"):
            scores = np.log(self.weights)
        order = np.argsort(-(scores + random.gumbel(size=len(scores))))
        for at in order[: np.count_nonzero(scores > -np.inf)][:most].tolist():
            yield int(self.tokens[at]), float(self.log_probabilities[at])
            self._bounds[at] = 0.0

    def _at(self, token: int) -> int:
        return int(np.flatnonzero(self.tokens == token)[0])


class Futures:
    """The futures of the prefixes that were drawn so far; *is_exact*: the draws are exact, not adaptive.

    Attributes:
        known: the future of each prefix, by its tokens.
    """

    def __init__(self, *, is_exact: bool) -> None:
        self.is_exact = is_exact
        self.known: dict[tuple[int, ...], Future] = {}

    def drawn(
        self, written: Sequence[int], make: Callable[[], Future], random: Generator
    ) -> Iterator[ScoredToken]:
        """The candidates after the tokens *written* in the order of draws; none if these are given up.

        *make* reads the future of a prefix that is new.
        """
        prefix = tuple(written)
        if prefix not in self.known:
            self.known[prefix] = make()
        future = self.known[prefix]
        expected = self.known[prefix[:-1]].bound_of(prefix[-1]) if prefix else 0.0
        if not self.is_exact or random.random() * expected <= future.bound:
            yield from future.drawn(random, 1 if self.is_exact else None)

    def learn(self, written: Sequence[int], *, is_cut_off: bool) -> None:
        """Lower the bounds of all prefixes of *written*, a text that was drawn.

        If it *is_cut_off*, the text was not completed within the tokens allowed for it.
        """
        prefix = tuple(written)
        if is_cut_off and prefix:
            self.known[prefix[:-1]].lower(prefix[-1], 0.0)
        for length in range(len(prefix), 0, -1):
            future = self.known.get(prefix[:length])
            if future is not None:
                self.known[prefix[: length - 1]].lower(prefix[length - 1], future.bound)
