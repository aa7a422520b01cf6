"""Joins what a network predicts with what texts suggest: a small network scores each token by both.

Weights that depend only on how much of a text agrees (as in nested caches on code, Hellendoorn and Devanbu
2017) cannot tell a sure network from an unsure one, nor a text that always goes on the same way from one that
does not. So the scores of the network are corrected by a perceptron with one hidden layer, which sees, for
each token, what the network and the texts give it, and how sure each of them is. `mixing.json` beside this
module has its weights; `python -m fimlsp.models.training.mixing` makes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.protocols import Candidates

WEIGHTS = Path(__file__).with_name("mixing.json")
CANDIDATES_MAX = 64
UNLISTED = -14.0
"""The log-probability of a token that the network does not list."""

TEXTS = 2
"""Buffer and project."""

_AGREEMENT_STEPS = (8, 16, 31)
_SMALL = 0.01

Floats = NDArray[np.float32]


class Suggested(NamedTuple):
    """What one text suggests next: the share of each token, and the longest agreement before them (bytes)."""

    shares: Mapping[int, float]
    agreement: int


@dataclass(frozen=True, slots=True, eq=False)
class Mixing:
    """The perceptron: weights (features, units), (units,), and (units,) of its only output."""

    hidden: Floats
    bias: Floats
    output: Floats

    def mixed(self, candidates: Candidates, suggested: Sequence[Suggested]) -> Candidates:
        """The network's *candidates* and what one or two texts have *suggested*, as one distribution.

        What is neither listed nor suggested keeps its share of it. If nothing is, *candidates* stay.
        """
        if not any(each.shares for each in suggested):
            return candidates
        tokens, given, seen = evidence(candidates, suggested)
        scores = given + np.tanh(seen @ self.hidden + self.bias) @ self.output
        listed = min(1.0, float(np.exp(candidates.log_probabilities).sum()))
        scores += np.log(listed) - np.logaddexp.reduce(scores[:-1])
        best = np.argsort(-scores[:-1], kind="stable")[: max(CANDIDATES_MAX, len(candidates.tokens))]
        return Candidates(
            [tokens[rank] for rank in best],
            scores[best].tolist(),
            min(0.0, float(scores[-1])),
            candidates.stop_is_bound,
        )

    def to_json(self) -> dict[str, Any]:
        """As lists of numbers."""
        return {name: np.round(getattr(self, name), 5).tolist() for name in self.__slots__}


def evidence(
    candidates: Candidates, suggested: Sequence[Suggested]
) -> tuple[list[int], NDArray[np.float64], Floats]:
    """The tokens that are listed or suggested, the network's log-probabilities, and what the perceptron sees.

    Both have a last row more, for the end of the middle.
    """
    tokens = list(dict.fromkeys(chain(candidates.tokens, *[each.shares for each in suggested])))
    given = np.full(len(tokens) + 1, UNLISTED)
    given[: len(candidates.tokens)] = candidates.log_probabilities
    given[-1] = candidates.stop
    shares, agreement = np.zeros((TEXTS, len(given))), [0] * TEXTS
    for number, each in enumerate(suggested):
        shares[number, :-1] = [each.shares.get(token, 0.0) for token in tokens]
        agreement[number] = each.agreement
    return tokens, given, _features(given, shares, agreement)


def _features(given: NDArray[np.float64], shares: NDArray[np.float64], agreement: Sequence[int]) -> Floats:
    """What is seen of each token: (tokens, features), from (tokens,), (texts, tokens) and (texts,)."""
    given = np.maximum(given, UNLISTED)
    listed = np.exp(given[:-1])
    certainty = [listed.max(initial=0.0), -(listed * given[:-1]).sum() / 3]
    for text, length in zip(shares, agreement, strict=True):
        certainty += [length / 16, text.max(initial=0.0), np.log1p(np.count_nonzero(text))]
        certainty += [length >= least for least in _AGREEMENT_STEPS]
    of_texts = [part for text in shares for part in (text, text > 0, np.log(text + _SMALL) / 2)]
    of_token = np.stack([given / 5, *of_texts], axis=1)
    everywhere = np.broadcast_to(certainty, (len(given), len(certainty)))
    return np.concatenate([of_token, everywhere], axis=1).astype(np.float32)


@cache
def load_mixing() -> Mixing:
    """The weights that come with the program."""
    parts = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Mixing(*(np.array(parts[name], np.float32) for name in Mixing.__slots__))
