"""Raises what is wanted at the cursor among what a network predicts there.

The code behind the cursor may show what has to stand there, as when it uses a name that nothing binds
(`fimlsp.languages.python.wanted`). A small network hardly sees that. So its predictions are mixed with the
texts that are wanted, each as likely as it is known to be: token by token, as long as what is written may
become one of them. Of several, that is favoured which the network finds likelier.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np

from fimlsp.models.networks.precedents import PIECE
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.language.wanted import Wanted

SMALL = 0.1
"""Added to what the network gives a token before several that are wanted are weighed by it."""


class WantedTokens:
    """The tokens that are *wanted* behind *left*, at whose end *again* is written anew."""

    def __init__(self, vocabulary: Vocabulary, left: bytes, again: bytes, wanted: Wanted) -> None:
        self._vocabulary = vocabulary
        self._wanted = wanted
        self._gap = again[: max(0, len(again) - wanted.back)]
        self._begun = left[len(left) - wanted.back : len(left) - len(again)]

    def mixed(self, candidates: Candidates, written: bytes) -> Candidates:
        """*candidates* for what follows *written*, with what is wanted there."""
        wanted = self._tokens(written)
        if not wanted:
            return candidates
        mixed = dict(zip(candidates.tokens, np.exp(candidates.log_probabilities).tolist(), strict=True))
        favoured = {token: share * (mixed.get(token, 0.0) + SMALL) for token, share in wanted.items()}
        total, scale = sum(wanted.values()), sum(favoured.values())
        for token in mixed:
            mixed[token] *= 1 - total
        for token, share in favoured.items():
            mixed[token] = mixed.get(token, 0.0) + total * share / scale
        tokens = sorted(mixed, key=lambda token: -mixed[token])
        return Candidates(
            tokens,
            np.log([mixed[token] for token in tokens]).tolist(),
            candidates.stop + float(np.log(1 - total)),
            candidates.stop_is_bound,
        )

    def _tokens(self, written: bytes) -> Mapping[int, float]:
        """The tokens that what is wanted behind *written* begins with, each with its probability."""
        tokens = defaultdict[int, float](float)
        for text, share in self._texts(written).items():
            if (token := self._vocabulary.first_token(text[:PIECE])) is not None:
                tokens[token] += share
        return tokens

    def _texts(self, written: bytes) -> Mapping[bytes, float]:
        """What is wanted behind *written*, with what is missing of the text before the place."""
        gap = self._gap
        if len(written) >= len(gap):
            return self._wanted.after(self._begun + written[len(gap) :])
        wanted = self._wanted.after(b"") if gap.startswith(written) else {}
        return {gap[len(written) :] + text: share for text, share in wanted.items()}
