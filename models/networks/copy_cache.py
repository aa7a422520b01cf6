"""Mixes a network with caches over buffer and project: text that followed here before is likely to again.

Small networks fail at names that they never saw; the buffer contains most of them, and the other files of the
project more. So the network's distribution is mixed with those counted on these texts. (Caches: Kuhn and De
Mori 1990. Nested caches on code: Hellendoorn and Devanbu 2017.) Wherever the bytes just written occur in a
text, the token after them gets a vote. A vote weighs more the longer the run of bytes before it that agrees
with the written text. `mixing.py` decides how much all votes count.

Agreement is counted in bytes, not tokens, because a cursor inside a name splits it into other tokens than
the buffer has. Each step costs one vectorised pass over the bytes of the texts, and the encoding of up to 24
short pieces of each text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from types import MappingProxyType
from typing import TYPE_CHECKING

from fimlsp.models.networks.matches import AGREEMENT_MAX, Match, MatchSource, ScannedTexts
from fimlsp.models.networks.mixing import CopyVotes, ExpectedTextTokens, load_mixing
from fimlsp.models.prompts.vocabulary import ModelVocabulary
from fimlsp.models.protocols import Cancellable, Candidates, ListsMore, Maskable, NextToken, ScoresStop

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary as MaskVocabulary

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
