"""Mixes a network's candidates with the tokens that other texts and expected ones suggest.

Texts: in nested caches on code (Hellendoorn and Devanbu 2017) weights depend only on the length of the
agreement. They cannot distinguish a sure network from an unsure one, nor a text that always continues the
same way from one that does not. So a perceptron with one hidden layer (`Mixing`) corrects the network's
scores. It sees, for each token, its probabilities by the network and the texts, and how sure each of them is.
Its weights are in `mixing.json` beside this module; `python -m benchmarks.models.fit_mixing` fits them.

Expected texts: the code after the cursor may use a name that nothing binds, or a change may be made again. A
small network hardly notices that. `ExpectedTextTokens` mixes such texts in, with their own probabilities.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.networks.matches import PIECE
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.language.editor_policy import ExpectedTexts

WEIGHTS = Path(__file__).with_name("mixing.json")
CANDIDATES_MAX = 64
UNLISTED = -14.0
"""The log-probability of a token that the network does not list."""

TEXTS = 2
"""Buffer and project."""

SMOOTHING = 0.1
"""Added to a token's probability by the network before it weighs several expected texts."""

_AGREEMENT_STEPS = (8, 16, 31)
_SMALL_SHARE = 0.01

Floats = NDArray[np.float32]


class CopyVotes(NamedTuple):
    """The votes of one text for the next token: the share of each, and the longest agreement (bytes)."""

    shares: Mapping[int, float]
    agreement: int


@dataclass(frozen=True, slots=True, eq=False)
class Mixing:
    """The perceptron: weights (features, units), (units,), and (units,) of its only output."""

    hidden: Floats
    bias: Floats
    output: Floats

    def mixed(self, candidates: Candidates, votes: Sequence[CopyVotes]) -> Candidates:
        """The network's *candidates* and the *votes* of one or two texts as one distribution.

        Tokens without votes that the network does not list keep their share of it. Without any votes
        *candidates* stay.
        """
        if not any(vote.shares for vote in votes):
            return candidates
        tokens, network_scores, features = evidence(candidates, votes)
        scores = network_scores + np.tanh(features @ self.hidden + self.bias) @ self.output
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
    candidates: Candidates, votes: Sequence[CopyVotes]
) -> tuple[list[int], NDArray[np.float64], Floats]:
    """All tokens listed or voted for, their log-probabilities by the network, and the perceptron's features.

    The last two have one more row, for the end of the middle.
    """
    tokens = list(dict.fromkeys(chain(candidates.tokens, *[vote.shares for vote in votes])))
    network_scores = np.full(len(tokens) + 1, UNLISTED)
    network_scores[: len(candidates.tokens)] = candidates.log_probabilities
    network_scores[-1] = candidates.stop
    shares, agreement = np.zeros((TEXTS, len(network_scores))), [0] * TEXTS
    for number, vote in enumerate(votes):
        shares[number, :-1] = [vote.shares.get(token, 0.0) for token in tokens]
        agreement[number] = vote.agreement
    return tokens, network_scores, _features(network_scores, shares, agreement)


def _features(
    network_scores: NDArray[np.float64], shares: NDArray[np.float64], agreement: Sequence[int]
) -> Floats:
    """The features of each token: (tokens, features), from (tokens,), (texts, tokens) and (texts,)."""
    scores = np.maximum(network_scores, UNLISTED)
    listed = np.exp(scores[:-1])
    certainty = [listed.max(initial=0.0), -(listed * scores[:-1]).sum() / 3]
    for text_shares, length in zip(shares, agreement, strict=True):
        certainty += [length / 16, text_shares.max(initial=0.0), np.log1p(np.count_nonzero(text_shares))]
        certainty += [length >= least for least in _AGREEMENT_STEPS]
    by_texts = [part for text in shares for part in (text, text > 0, np.log(text + _SMALL_SHARE) / 2)]
    of_token = np.stack([scores / 5, *by_texts], axis=1)
    of_all = np.broadcast_to(certainty, (len(scores), len(certainty)))
    return np.concatenate([of_token, of_all], axis=1).astype(np.float32)


@cache
def load_mixing() -> Mixing:
    """The weights that come with the program."""
    parts = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return Mixing(*(np.array(parts[name], np.float32) for name in Mixing.__slots__))


class ExpectedTextTokens:
    """Raises the tokens of the *expected* texts at the cursor after *left*.

    The probability of a text applies token by token, as long as the written text is a prefix of it. Among
    several texts the network's own scores decide. If decoding starts earlier than at the cursor, it repeats
    the last bytes of *left*, which are *again*.
    """

    def __init__(
        self, vocabulary: ModelVocabulary, left: bytes, again: bytes, expected: ExpectedTexts
    ) -> None:
        self._vocabulary = vocabulary
        self._expected = expected
        self._repeated = again[: max(0, len(again) - expected.back)]
        self._typed = left[len(left) - expected.back : len(left) - len(again)]

    def mixed(self, candidates: Candidates, written: bytes) -> Candidates:
        """*candidates* for the token after *written*, mixed with those of the expected texts."""
        shares = self._token_shares(written, self._vocabulary.listed_texts(candidates.tokens))
        if not shares:
            return candidates
        mixed = dict(zip(candidates.tokens, np.exp(candidates.log_probabilities).tolist(), strict=True))
        weights = {token: share * (mixed.get(token, 0.0) + SMOOTHING) for token, share in shares.items()}
        total, scale = sum(shares.values()), sum(weights.values())
        for token in mixed:
            mixed[token] *= 1 - total
        for token, weight in weights.items():
            mixed[token] = mixed.get(token, 0.0) + total * weight / scale
        tokens = sorted(mixed, key=lambda token: -mixed[token])
        return Candidates(
            tokens,
            np.log([mixed[token] for token in tokens]).tolist(),
            candidates.stop + float(np.log(1 - total)),
            candidates.stop_is_bound,
        )

    def _token_shares(self, written: bytes, listed: Mapping[bytes, int]) -> Mapping[int, float]:
        """The first tokens of the texts that may follow *written*, with their probabilities."""
        shares = defaultdict[int, float](float)
        for text, share in self._texts(written).items():
            if (token := self._vocabulary.token_of(text[:PIECE], listed)) is not None:
                shares[token] += share
        return shares

    def _texts(self, written: bytes) -> Mapping[bytes, float]:
        """The texts that may follow *written*, with their probabilities.

        While *written* still repeats the code before the place of a text, they start with the rest of that.
        """
        repeated = self._repeated
        if len(written) >= len(repeated):
            return self._expected.after(self._typed + written[len(repeated) :])
        texts = self._expected.after(b"") if repeated.startswith(written) else {}
        return {repeated[len(written) :] + text: share for text, share in texts.items()}
