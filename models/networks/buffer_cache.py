"""Mixes a network with caches over the buffer and open files: what followed here before will follow again.

Small networks fail at names that they never saw; the buffer holds most of them, and the files open beside it
more. So the network's next-token distribution is mixed with one counted on those files, and the result with
one counted on the buffer itself (caches: Kuhn and De Mori 1990; nested caches on code: Hellendoorn and
Devanbu 2017). Wherever the bytes just written occur in a text, the token that follows them gets a vote, and
the vote weighs more the longer the run of bytes before it that agrees with what was written. The weight of
the whole cache grows with the longest agreement.

Agreement is counted in bytes, not tokens, because a cursor inside a name splits it into other tokens than
the buffer has. Each step costs one vectorised pass over the bytes of the texts, and the encoding of up to 24
short pieces of each text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

import numpy as np
from fimlsp.models.networks.continuations import AGREEMENT_MAX, Continuation, Continuations, ScannedTexts
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.protocols import Attended, Candidates, Maskable, NextToken, TellsAll, TellsStop

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary as MaskVocabulary

VOTE_BASE = 2.0
CANDIDATES = 64


def by_agreement(steps: dict[int, float]) -> list[float]:
    """A weight for each length of agreement; *steps* maps the least length to the weight from there on."""
    return [max(weight for least, weight in steps.items() if least <= n) for n in range(AGREEMENT_MAX + 1)]


# By longest agreement in bytes; the card of the bundled model tells how they were chosen.
BUFFER_WEIGHTS = by_agreement(
    {0: 0.0, 1: 0.05, 2: 0.07, 3: 0.14, 4: 0.26, 6: 0.35, 8: 0.44, 17: 0.51, 25: 0.63, 32: 0.86}
)
ELSEWHERE_WEIGHTS = by_agreement(
    {
        0: 0.0,
        3: 0.04,
        4: 0.07,
        5: 0.1,
        6: 0.13,
        9: 0.15,
        12: 0.17,
        15: 0.31,
        18: 0.38,
        21: 0.42,
        25: 0.45,
        32: 0.78,
    }
)


class BufferCache:
    """`NextToken` that adds to *network* what other texts suggest (*elsewhere*), then what the buffer does.

    The buffer is the text *left* and *right* of the cursor.
    """

    def __init__(
        self,
        network: NextToken,
        vocabulary: Vocabulary,
        left: bytes,
        right: bytes,
        elsewhere: Continuations | None = None,
    ) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._vocabulary = vocabulary
        self._left = self._written = left[-AGREEMENT_MAX:]
        buffer = ScannedTexts([left, right]), BUFFER_WEIGHTS
        self._layers = [buffer] if elsewhere is None else [(elsewhere, ELSEWHERE_WEIGHTS), buffer]

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was written after it."""
        self._written = self._last_bytes(written)
        return self._mixed(self._network.begin(tokens, written))

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        self._written = (self._written + (self.token_bytes[token] or b""))[-AGREEMENT_MAX:]
        return self._mixed(self._network.advance(token))

    def attended(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """As of `Attended`, if the network is one."""
        return self._network.attended(should_stop) if isinstance(self._network, Attended) else nullcontext()

    @property
    def mask_vocabulary(self) -> MaskVocabulary:
        """As of `Maskable`, if the network is one.

        Raises:
            AttributeError: it is none, so neither is this.
        """
        if not isinstance(self._network, Maskable):
            raise AttributeError("mask_vocabulary")
        return self._network.mask_vocabulary

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """As of `TellsStop`, if the network is one; None otherwise."""
        if not isinstance(self._network, TellsStop):
            return None
        stop = self._network.stop_after(tokens, written)
        self._written = self._last_bytes(written)
        mixed = None if stop is None else self._mixed(Candidates([], [], stop))
        return None if mixed is None else mixed.stop

    def all_after(self, tokens: Sequence[int], written: Sequence[int]) -> Candidates | None:
        """As of `TellsAll`, if the network is one; None otherwise."""
        if not isinstance(self._network, TellsAll):
            return None
        everything = self._network.all_after(tokens, written)
        return None if everything is None else self._mixed(everything)

    def _last_bytes(self, written: Sequence[int]) -> bytes:
        return (self._left + self._vocabulary.decode(written))[-AGREEMENT_MAX:]

    def _mixed(self, candidates: Candidates) -> Candidates:
        for source, weights in self._layers:
            shares, agreement = votes(self._vocabulary, source.after(self._written))
            if shares:
                candidates = mix(candidates, shares, weights[agreement])
        return candidates


def votes(vocabulary: Vocabulary, found: Sequence[Continuation]) -> tuple[dict[int, float], int]:
    """Shares of the tokens that the continuations *found* begin with, and the longest agreement (bytes)."""
    pieces, tokens = defaultdict[bytes, float](float), defaultdict[int, float](float)
    for agreement, text in found:
        pieces[text] += VOTE_BASE**agreement
    for piece, weight in pieces.items():
        token = vocabulary.first_token(piece)
        if token is not None:
            tokens[token] += weight
    total = sum(tokens.values())
    shares = {token: weight / total for token, weight in tokens.items()}
    return shares, max((each.agreement for each in found), default=0)


def mix(candidates: Candidates, votes: Mapping[int, float], weight: float) -> Candidates:
    """Mixture of the network's *candidates* and, with this *weight*, the cache's *votes*."""
    if weight == 0:
        return candidates
    share = dict(zip(candidates.tokens, np.exp(candidates.log_probabilities) * (1 - weight), strict=True))
    for token, vote in votes.items():
        share[token] = share.get(token, 0.0) + weight * vote
    ranked = sorted(share.items(), key=lambda item: -item[1])[: max(CANDIDATES, len(candidates.tokens))]
    return Candidates(
        [token for token, _ in ranked],
        np.log([value for _, value in ranked]).tolist(),
        candidates.stop + float(np.log(1 - weight)),
        candidates.stop_is_bound,
    )
