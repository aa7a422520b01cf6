"""Mixes a network with caches over buffer and project: text that followed here before is likely to again.

Small networks fail at names that they never saw; the buffer contains most of them, and the other files of the
project more. So the network's distribution is mixed with those counted on these texts. (Caches: Kuhn and De
Mori 1990. Nested caches on code: Hellendoorn and Devanbu 2017.) Wherever the bytes just written occur in a
text, the token after them gets a vote. A vote weighs more the longer the run of bytes before it that agrees
with the written text.

The length of the agreement alone cannot distinguish a sure network from an unsure one. Nor can it distinguish
a text that always continues the same way. So a perceptron with one hidden layer (`Mixing`) corrects the
network's scores. It sees, for each token, its probabilities by the network and the
texts, and how sure each of them is. Its weights are in `mixing.json` beside this module;
`python -m benchmarks.models.fit_mixing` fits them.

Expected texts: the code after the cursor may use a name that nothing binds, or a change may be made again. A
small network hardly notices that. `ExpectedTextTokens` mixes such texts in, with their own probabilities.

Agreement is counted in bytes, not tokens, because a cursor inside a name splits it into other tokens than
the buffer has. Each step costs one vectorised pass over the bytes of the texts, and the encoding of up to 24
short pieces of each text.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fimlsp.models.networks.matches import AGREEMENT_MAX, PIECE, Match, MatchSource, ScannedTexts
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Cancellable, Candidates, ListsMore, Maskable, NextToken, ScoresStop
from fimlsp.quotient.language.editor_policy import ExpectedTexts

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary as MaskVocabulary

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


VOTE_BASE = 2.0
NONE_LISTED: Mapping[bytes, int] = MappingProxyType({})


class CopyCache:
    """`NextToken` that mixes *network* with votes of the buffer and of other texts (*elsewhere*).

    The buffer is the text *left* and *right* of the cursor. Texts that are *expected* there are mixed in as
    well, one kind after the other.
    """

    def __init__(
        self,
        network: NextToken,
        vocabulary: ModelVocabulary,
        left: bytes,
        right: bytes,
        elsewhere: MatchSource | None = None,
        expected: Sequence[ExpectedTextTokens] = (),
    ) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._vocabulary = vocabulary
        self._left = self._context = left[-AGREEMENT_MAX:]
        buffer = ScannedTexts([left, right])
        self._sources: list[MatchSource] = [buffer] if elsewhere is None else [buffer, elsewhere]
        self._mixing = load_mixing()
        self._expected = expected
        self._middle = b""

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and the tokens *written* after it."""
        self._go_to(written)
        return self._mixed(self._network.begin(tokens, written))

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        text = self.token_bytes[token] or b""
        self._middle += text
        self._context = (self._context + text)[-AGREEMENT_MAX:]
        return self._mixed(self._network.advance(token))

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """See `fimlsp.models.protocols.Cancellable`; no effect if the network is none."""
        return (
            self._network.cancellable(should_stop)
            if isinstance(self._network, Cancellable)
            else nullcontext()
        )

    @property
    def mask_vocabulary(self) -> MaskVocabulary:
        """See `fimlsp.models.protocols.Maskable`.

        Raises:
            AttributeError: the network is not maskable, so neither is this.
        """
        if not isinstance(self._network, Maskable):
            raise AttributeError("mask_vocabulary")
        return self._network.mask_vocabulary

    def stop_after(self, tokens: Sequence[int], written: Sequence[int]) -> float | None:
        """See `fimlsp.models.protocols.ScoresStop`: by the network alone; None if it cannot."""
        if not isinstance(self._network, ScoresStop):
            return None
        self._go_to(written)
        return self._network.stop_after(tokens, written)

    def more_after(
        self, tokens: Sequence[int], written: Sequence[int], most: int | None = None
    ) -> Candidates | None:
        """See `fimlsp.models.protocols.ListsMore`; None if the network cannot."""
        if not isinstance(self._network, ListsMore):
            return None
        more = self._network.more_after(tokens, written, most)
        return None if more is None else self._mixed(more)

    def _go_to(self, written: Sequence[int]) -> None:
        self._middle = self._vocabulary.decode(written)
        self._context = (self._left + self._middle)[-AGREEMENT_MAX:]

    def _mixed(self, candidates: Candidates) -> Candidates:
        listed = self._vocabulary.listed_texts(candidates.tokens)
        votes = [
            copy_votes(self._vocabulary, source.after(self._context), listed) for source in self._sources
        ]
        mixed = self._mixing.mixed(candidates, votes)
        for texts in self._expected:
            mixed = texts.mixed(mixed, self._middle)
        return mixed


def copy_votes(
    vocabulary: ModelVocabulary, matches: Sequence[Match], listed: Mapping[bytes, int] = NONE_LISTED
) -> CopyVotes:
    """The votes of *matches*, the longest first, for their first tokens; *listed* is as in `token_of`.

    One more byte of agreement doubles the weight of a vote.
    """
    pieces, tokens = defaultdict[bytes, float](float), defaultdict[int, float](float)
    for agreement, text, weight in matches:
        pieces[text] += weight * VOTE_BASE**agreement
    for piece, weight in pieces.items():
        token = vocabulary.token_of(piece, listed)
        if token is not None:
            tokens[token] += weight
    total = sum(tokens.values())
    shares = {token: weight / total for token, weight in tokens.items()}
    return CopyVotes(shares, matches[0].agreement if matches else 0)
