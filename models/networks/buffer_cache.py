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

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.protocols import Attended, Candidates, Maskable, NextToken, TellsAll, TellsStop
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary as MaskVocabulary

AGREEMENT_MAX = 32
VOTE_BASE = 2.0
OCCURRENCES_MAX = 24
PIECE = 40
CANDIDATES = 64
CURSOR = b"\0"


def by_agreement(steps: dict[int, float]) -> list[float]:
    """A weight for each length of agreement; *steps* maps the least length to the weight from there on."""
    return [max(weight for least, weight in steps.items() if least <= n) for n in range(AGREEMENT_MAX + 1)]


# By longest agreement in bytes; the card of the bundled model tells how they were chosen.
BUFFER_WEIGHTS = by_agreement(
    {0: 0.0, 1: 0.05, 2: 0.07, 3: 0.14, 4: 0.26, 6: 0.35, 8: 0.44, 17: 0.51, 25: 0.63, 32: 0.86}
)
FILES_WEIGHTS = by_agreement(
    {0: 0.0, 1: 0.02, 5: 0.05, 7: 0.09, 8: 0.15, 11: 0.18, 14: 0.24, 22: 0.34, 30: 0.85}
)


class BufferCache:
    """`NextToken` that adds to *network* what other *files* suggest, then what the buffer does.

    The buffer is the text *left* and *right* of the cursor.
    """

    def __init__(
        self,
        network: NextToken,
        vocabulary: Vocabulary,
        left: bytes,
        right: bytes,
        files: Sequence[bytes] = (),
    ) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._vocabulary = vocabulary
        self._left = self._written = left[-AGREEMENT_MAX:]
        buffer = TextCache(vocabulary, [left, right]), BUFFER_WEIGHTS
        self._layers = [(TextCache(vocabulary, files), FILES_WEIGHTS), buffer] if files else [buffer]

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
        for cache, weights in self._layers:
            votes, agreement = cache.votes(self._written)
            if votes:
                candidates = mix(candidates, votes, weights[agreement])
        return candidates


class TextCache:
    """What *parts* of text suggest; no suggestion goes beyond the end of a part."""

    def __init__(self, vocabulary: Vocabulary, parts: Sequence[bytes]) -> None:
        self._vocabulary = vocabulary
        self._text = bytes(AGREEMENT_MAX) + b"".join(part + CURSOR for part in parts)

    def votes(self, written: bytes) -> tuple[Counter[int], int]:
        """Shares of the tokens suggested after *written*, and the longest agreement before them (bytes)."""
        positions, agreement = best_occurrences(self._text, written)
        pieces, votes = Counter[bytes](), Counter[int]()
        for position, length in zip(positions.tolist(), agreement.tolist(), strict=True):
            piece = self._text[position : position + PIECE].partition(CURSOR)[0]
            pieces[piece] += VOTE_BASE**length
        for piece, weight in pieces.items():
            token = self._vocabulary.first_token(piece)
            if token is not None:
                votes[token] += weight
        total = votes.total()
        shares = Counter({token: weight / total for token, weight in votes.items()})
        return shares, int(agreement.max(initial=0))


def best_occurrences(text: bytes, written: bytes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Up to 24 positions of *text* that follow the longest runs *written* ends with; lengths of the runs.

    *text* must begin with as many zero bytes as a run may have. Positions of zero bytes do not count.
    """
    data = np.frombuffer(text, np.uint8)
    if not written:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    alive = positions = np.flatnonzero((data[:-1] == written[-1]) & (data[1:] != CURSOR[0])) + 1
    agreement = np.ones(len(positions), np.int64)
    for back in range(2, len(written) + 1):
        alive = alive[data[alive - back] == written[-back]]
        if not len(alive):
            break
        agreement[np.searchsorted(positions, alive)] += 1
    best = np.argsort(-agreement, kind="stable")[:OCCURRENCES_MAX]
    return positions[best], agreement[best]


def mix(candidates: Candidates, votes: Counter[int], weight: float) -> Candidates:
    """Mixture of the network's *candidates* and, with this *weight*, the cache's *votes*."""
    if weight == 0:
        return candidates
    share = dict(zip(candidates.tokens, np.exp(candidates.log_probabilities) * (1 - weight), strict=True))
    for token, vote in votes.items():
        share[token] = share.get(token, 0.0) + weight * vote
    ranked = sorted(share.items(), key=itemgetter(1), reverse=True)[: max(CANDIDATES, len(candidates.tokens))]
    tokens, shares = zip(*ranked, strict=True)
    return Candidates(
        tokens,
        np.log(shares).tolist(),
        candidates.stop + float(np.log(1 - weight)),
        candidates.stop_is_bound,
    )
