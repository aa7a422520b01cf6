"""Says of two completions that differ whether llama.cpp's own numerics explain it.

What llama.cpp computes depends on how a text was read: in one batch, in pieces, token by token; its cache
holds half precision. So the first place where the two completions part is read again in several of these
ways. If the two tokens change places among them, or are no further apart than the ways are, then token by
token would not have agreed with itself either; anything else is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from fimlsp.models.decoding.middle import Middle
from fimlsp.models.served.http.peer import Peer

PIECES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""So many tokens at the end are read one after another, behind all others at once."""

FORCED = 1000.0
END = -1


@dataclass(frozen=True, slots=True)
class Written:
    """A prompt, and what was written after it."""

    prompt: Sequence[int]
    middle: Middle

    @property
    def tokens(self) -> list[int]:
        """Its tokens; `END` if the model ended it."""
        ended = [END] if self.middle.stop_reason == "end" else []
        return [*(token.token for token in self.middle.trace), *ended]


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two completions part: after so many tokens, with one token here and another there.

    *gaps* are by how many nats the first is likelier than the second, for each way of reading the text.
    """

    place: int
    tokens: tuple[int, int]
    gaps: Sequence[float]

    @property
    def spread(self) -> float:
        """How far apart the ways are, in nats."""
        return max(self.gaps) - min(self.gaps)

    @property
    def gap(self) -> float:
        """How far apart the two tokens are where they are nearest, in nats."""
        return min(map(abs, self.gaps))

    @property
    def is_numerics(self) -> bool:
        """Whether the server itself does not always prefer the same of the two."""
        return self.gap <= self.spread

    def __str__(self) -> str:
        """One line for people."""
        verdict = "llama.cpp's own numerics" if self.is_numerics else "NOT EXPLAINED"
        return (
            f"token {self.place}: {self.tokens[0]} or {self.tokens[1]}, {min(self.gaps):+.5f} to "
            f"{max(self.gaps):+.5f} nats apart in {len(self.gaps)} ways of reading: {verdict}"
        )


def difference(peer: Peer, vocabulary_size: int, stops: frozenset[int], a: Written, b: Written) -> Difference:
    """Where *a* and *b* part, read again from the server.

    Raises:
        ValueError: the tokens are the same, or the prompts are not.
    """
    if a.prompt != b.prompt:
        raise ValueError("the prompts differ")
    pairs = enumerate(zip_longest(a.tokens, b.tokens, fillvalue=END))
    place, tokens = next((at, pair) for at, pair in pairs if pair[0] != pair[1])
    text = [*a.prompt, *a.tokens[:place]]
    gaps = [
        _likelihood(shares, tokens[0], stops) - _likelihood(shares, tokens[1], stops)
        for shares in (_read(peer, text, n, vocabulary_size, stops) for n in PIECES)
    ]
    return Difference(place, tokens, gaps)


def _likelihood(shares: Mapping[int, float], token: int, stops: frozenset[int]) -> float:
    return shares[token] if token != END else max(shares[stop] for stop in stops)


def _read(
    peer: Peer, text: Sequence[int], pieces: int, size: int, stops: frozenset[int]
) -> Mapping[int, float]:
    """Log-probabilities behind *text*, whose last *pieces* tokens are read one by one."""
    told: Any = None
    for end in range(max(1, len(text) - pieces), len(text) + 1):
        is_first = told is None
        body = {
            "prompt": text[:end],
            "n_predict": 1,
            "n_probs": size if end == len(text) else 1,
            "temperature": 0,
            "cache_prompt": not is_first,
            "id_slot": 0,
            "logit_bias": [[min(stops), FORCED]],
        }
        told = peer.ask("/completion", body)
    return {each["id"]: each["logprob"] for each in told["completion_probabilities"][0]["top_logprobs"]}
