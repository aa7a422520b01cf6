"""Mixes a network with caches over buffer and project: what followed here before will follow again.

Small networks fail at names that they never saw; the buffer holds most of them, and the other files of the
project more. So the network's next-token distribution is mixed with those counted on these texts (caches:
Kuhn and De Mori 1990; nested caches on code: Hellendoorn and Devanbu 2017). Wherever the bytes just written
occur in a text, the token that follows them gets a vote, and the vote weighs more the longer the run of bytes
before it that agrees with what was written. How much all that counts, `mixing.py` decides.

Agreement is counted in bytes, not tokens, because a cursor inside a name splits it into other tokens than
the buffer has. Each step costs one vectorised pass over the bytes of the texts, and the encoding of up to 24
short pieces of each text.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING

from fimlsp.models.networks.mixing import Suggested, load_mixing
from fimlsp.models.networks.precedents import (
    AGREEMENT_MAX,
    Precedent,
    Precedents,
    ScannedTexts,
)
from fimlsp.models.networks.wanted_tokens import WantedTokens
from fimlsp.models.prompts.vocabulary import Vocabulary
from fimlsp.models.protocols import Attended, Candidates, Maskable, NextToken, TellsAll, TellsStop

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Vocabulary as MaskVocabulary

VOTE_BASE = 2.0


class BufferCache:
    """`NextToken` that mixes *network* with what the buffer suggests, and other texts (*elsewhere*).

    The buffer is the text *left* and *right* of the cursor. What is *wanted* there is mixed in as well.
    """

    def __init__(
        self,
        network: NextToken,
        vocabulary: Vocabulary,
        left: bytes,
        right: bytes,
        elsewhere: Precedents | None = None,
        wanted: WantedTokens | None = None,
    ) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._vocabulary = vocabulary
        self._left = self._written = left[-AGREEMENT_MAX:]
        buffer = ScannedTexts([left, right])
        self._sources: list[Precedents] = [buffer] if elsewhere is None else [buffer, elsewhere]
        self._mixing = load_mixing()
        self._wanted = wanted
        self._middle = b""

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt and what was written after it."""
        self._go_to(written)
        return self._mixed(self._network.begin(tokens, written))

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        text = self.token_bytes[token] or b""
        self._middle += text
        self._written = (self._written + text)[-AGREEMENT_MAX:]
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
        """As of `TellsStop`, by the network alone, if it is one; None otherwise."""
        if not isinstance(self._network, TellsStop):
            return None
        self._go_to(written)
        return self._network.stop_after(tokens, written)

    def all_after(self, tokens: Sequence[int], written: Sequence[int]) -> Candidates | None:
        """As of `TellsAll`, if the network is one; None otherwise."""
        if not isinstance(self._network, TellsAll):
            return None
        everything = self._network.all_after(tokens, written)
        return None if everything is None else self._mixed(everything)

    def _go_to(self, written: Sequence[int]) -> None:
        self._middle = self._vocabulary.decode(written)
        self._written = (self._left + self._middle)[-AGREEMENT_MAX:]

    def _mixed(self, candidates: Candidates) -> Candidates:
        found = [source.after(self._written) for source in self._sources]
        mixed = self._mixing.mixed(candidates, [suggested(self._vocabulary, each) for each in found])
        return mixed if self._wanted is None else self._wanted.mixed(mixed, self._middle)


def suggested(vocabulary: Vocabulary, found: Sequence[Precedent]) -> Suggested:
    """The tokens that the precedents *found* begin with; a byte of agreement doubles what one counts."""
    pieces, tokens = defaultdict[bytes, float](float), defaultdict[int, float](float)
    for agreement, text in found:
        pieces[text] += VOTE_BASE**agreement
    for piece, weight in pieces.items():
        token = vocabulary.first_token(piece)
        if token is not None:
            tokens[token] += weight
    total = sum(tokens.values())
    shares = {token: weight / total for token, weight in tokens.items()}
    return Suggested(shares, found[0].agreement if found else 0)
