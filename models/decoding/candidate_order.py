"""The order in which the candidates of a step are tried: likeliest first, or drawn at random.

Where many candidates were refused, a mask filters the others.

Drawing each token among those that are allowed favours beginnings that the model would rarely complete: the
constraint renormalises each step by itself. The distribution given the constraint weights a token by the
probability that the model, left alone, completes the text after it. That is unknown, but at most 1 for an
allowed token and 0 for a refused one. *Aligned* draws read the tokens after their prefixes, and so lower the
bounds of these, up to the first token (ASAp: Park et al. 2024, arXiv 2405.21047).

*Adaptive* draws go by the bounds known so far, and later ones come closer to that distribution. *Exact* draws
have it from the first on. A prefix may turn out to have a lower bound than it was drawn with. Then the text
is given up in proportion, and another one begun: adaptive rejection sampling, as by Parys et al. 2025.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from fimlsp.models.decoding.settings import LINE_END
from fimlsp.models.protocols import Candidates, ListsViable, Maskable, NextToken
from fimlsp.quotient.states.protocol import State, by_grammar

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary

ScoredToken = tuple[int, float]
"""A token id with its log-probability (nats)."""

UNLISTED_MAX = 1 << 20
"""No vocabulary has more tokens."""

LISTED_MAX = 64
"""Further candidates count as unlisted, so that draws do not depend on how many a network lists."""

NEGLIGIBLE = 1e-9
"""Unlisted candidates that are less likely than this in total are ignored."""


def preferred_first(
    candidates: Iterable[ScoredToken], misfit: Callable[[int], float]
) -> Iterator[ScoredToken]:
    """*candidates* (likeliest first) in the order of log-probability minus *misfit*, a penalty (nats).

    *misfit* is called only for tokens on which the order of the consumed candidates depends.
    """
    delayed = list[tuple[float, int, ScoredToken]]()
    for number, candidate in enumerate(candidates):
        while delayed and -delayed[0][0] >= candidate[1]:
            yield heappop(delayed)[2]
        penalty = misfit(candidate[0])
        if penalty:
            heappush(delayed, (penalty - candidate[1], number, candidate))
        else:
            yield candidate
    while delayed:
        yield heappop(delayed)[2]


@dataclass(frozen=True, slots=True)
class Draw:
    """How candidates are drawn; see `DecodeSettings`.

    The cuts apply to the model's own distribution at that temperature. They keep the `top_k` likeliest; of
    these, those at least `min_p` times as likely as the likeliest. Of the rest, they keep the likeliest that
    hold a share of `top_p`.
    """

    temperature: float
    top_p: float = 1.0
    top_k: int | None = None
    min_p: float = 0.0

    @property
    def cuts(self) -> bool:
        """True if candidates may be cut off."""
        return self.top_p < 1 or self.top_k is not None or self.min_p > 0

    def n_kept(self, scores: NDArray[np.float64], unlisted: float) -> int | None:
        """Number of the likeliest candidates that are kept; None if that depends on unlisted candidates.

        *scores* are the log-probabilities of the listed candidates, best first, over the temperature.
        *unlisted* is an upper bound of the total weight of the others, as a multiple of the best.
        """
        weights = np.exp(scores - scores[0])
        n = len(weights) if self.top_k is None else min(self.top_k, len(weights))
        is_known = not unlisted or (self.top_k is not None and self.top_k <= len(weights))
        n_likely = int(np.count_nonzero(weights >= self.min_p))
        is_known = is_known or n_likely < len(weights) or self.min_p > unlisted
        n = min(n, max(1, n_likely))
        if self.top_p < 1:
            sums, unlisted_sum = np.cumsum(weights[:n]), 0.0 if is_known else unlisted
            low = int(np.searchsorted(sums, self.top_p * sums[-1])) + 1
            high = int(np.searchsorted(sums, self.top_p * (sums[-1] + unlisted_sum))) + 1
            return min(low, n) if low == high or is_known else None
        return n if is_known else None


def at_random(
    candidates: Candidates,
    draw: Draw,
    random: Generator,
    list_all: Callable[[], Candidates | None] = lambda: None,
) -> Iterator[ScoredToken]:
    """All candidates in the order of draws without replacement, those that *draw* cuts off last.

    Law: the first one that passes a test is distributed as the candidates that pass it, renormalised. So
    trying them in this order is exact adaptive rejection sampling. Sorting by Gumbel noise draws without
    replacement (Vieira 2014). All unlisted candidates count as one until it is drawn. Then *list_all* is
    called for them; if it returns None they are left out. Their total weight is only bounded at first, hence
    a second draw.
    """
    if len(candidates.tokens) > LISTED_MAX:
        complete_list = candidates
        candidates, list_all = _likeliest(candidates, LISTED_MAX), lambda: complete_list
    scores = np.asarray(candidates.log_probabilities) / draw.temperature
    unlisted = _unlisted_weight(candidates, draw.temperature)
    n_kept = draw.n_kept(scores, unlisted) if draw.cuts else None
    if n_kept is None and draw.cuts:
        candidates = list_all() or candidates
        scores, unlisted = np.asarray(candidates.log_probabilities) / draw.temperature, 0.0
        n_kept = draw.n_kept(scores, unlisted)
    if n_kept is None:
        yield from _with_unlisted(candidates, scores, unlisted, draw.temperature, random, list_all)
        return
    yield from _drawn(candidates, scores, np.arange(n_kept), random)
    everything = list_all() if unlisted else None
    if everything is None:
        cut_off = list(range(n_kept, len(scores)))
    else:
        kept = set(candidates.tokens[:n_kept])
        cut_off = [at for at, token in enumerate(everything.tokens) if token not in kept]
        candidates, scores = everything, np.asarray(everything.log_probabilities) / draw.temperature
    yield from _drawn(candidates, scores, np.asarray(cut_off, np.intp), random)


def _likeliest(candidates: Candidates, n: int) -> Candidates:
    """The *n* likeliest of *candidates*."""
    return replace(
        candidates, tokens=candidates.tokens[:n], log_probabilities=candidates.log_probabilities[:n]
    )


def _with_unlisted(
    candidates: Candidates,
    scores: NDArray[np.float64],
    unlisted: float,
    temperature: float,
    random: Generator,
    list_all: Callable[[], Candidates | None],
) -> Iterator[ScoredToken]:
    """As `at_random` without cuts; *unlisted* is an upper bound of the weight of unlisted candidates."""
    n_listed = len(scores)
    weights = np.append(scores, np.log(unlisted) + scores[0]) if unlisted else scores
    order = np.argsort(-(weights + random.gumbel(size=len(weights)))).tolist()
    for number, at in enumerate(order):
        if at < n_listed:
            yield candidates.tokens[at], candidates.log_probabilities[at]
            continue
        everything = list_all()
        if everything is None:
            continue
        listed, drawn = set(candidates.tokens), {candidates.tokens[earlier] for earlier in order[:number]}
        all_scores = np.asarray(everything.log_probabilities) / temperature
        new = np.asarray([at for at, token in enumerate(everything.tokens) if token not in listed], np.intp)
        exact = float(np.exp(all_scores[new] - scores[0]).sum())
        if len(new) and random.random() < exact / unlisted:
            first = next(_drawn(everything, all_scores, new, random))
            drawn.add(first[0])
            yield first
        left = [at for at, token in enumerate(everything.tokens) if token not in drawn]
        yield from _drawn(everything, all_scores, np.asarray(left, np.intp), random)
        return


def _drawn(
    candidates: Candidates, scores: NDArray[np.float64], among: NDArray[np.intp], random: Generator
) -> Iterator[ScoredToken]:
    """The candidates numbered *among* in the order of draws without replacement."""
    for at in among[np.argsort(-(scores[among] + random.gumbel(size=len(among))))].tolist():
        yield candidates.tokens[at], candidates.log_probabilities[at]


def _unlisted_weight(candidates: Candidates, temperature: float) -> float:
    """Upper bound of the weight of all unlisted candidates, as a multiple of the likeliest; 0 if negligible.

    Each is at most as likely as the last listed one, and together they have the remaining probability.
    """
    probabilities = np.exp(candidates.log_probabilities)
    total = 1 - float(probabilities.sum())
    if total <= NEGLIGIBLE:
        return 0.0
    best, last = float(probabilities[0]), float(probabilities[-1])
    if temperature <= 1:  # p ** (1 / T) is at most p / last times last ** (1 / T)
        return float(total / best * (last / best) ** (1 / temperature - 1))
    n = UNLISTED_MAX  # the function of each is concave, so equal shares have the largest sum
    return float(n * (total / n / best) ** (1 / temperature))


def filter_by_mask(
    candidates: Iterator[ScoredToken], is_allowed: NDArray[np.bool_] | None
) -> Iterator[ScoredToken]:
    """Those of *candidates* for which *is_allowed* has True; all of them if it is None."""
    if is_allowed is None:
        yield from candidates
        return
    n = len(is_allowed)
    for token, log_probability in candidates:
        if token < n and is_allowed[token]:
            yield token, log_probability


def allowed_tokens(
    vocabulary: Vocabulary | None, state: State, may_cut_lines: bool
) -> NDArray[np.bool_] | None:
    """For each token of *vocabulary*, True if it may follow *state*, and for stop tokens; None without one.

    If the loop *may_cut_lines*, tokens with a line end stay, as a part of them may be allowed. If whole texts
    are checked on top of the grammar, the mask is that of the grammar alone. Checking every token would cost
    more than it saves.
    """
    if vocabulary is None:
        return None
    allowed = by_grammar(state).allowed_texts(vocabulary)
    if may_cut_lines:
        suffixes = vocabulary.suffixes
        allowed = allowed | np.append(suffixes.holding(LINE_END[0])[suffixes.number_of], False)
    return vocabulary.tokens(allowed, complete=True)


def mask_vocabulary(model: NextToken, *, may_wait: bool) -> Vocabulary | None:
    """The tokens of *model* for masks; None if it has no masks, or only slow ones and nobody *may_wait*."""
    if isinstance(model, Maskable):
        return model.mask_vocabulary
    return model.known_vocabulary if may_wait and isinstance(model, ListsViable) else None


UNLIKELY = 1e-6
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
        likely = likely[rest > UNLIKELY * rest[:1]]
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
