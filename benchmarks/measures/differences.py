"""Decides if llama.cpp's own numerics explain the difference between two completions.

The results of llama.cpp depend on its reading of a text: in one batch, in pieces, or token by token. Its
cache has half precision. So the first position of a difference is read again in several of these ways. The
numerics explain it if the order of the two tokens depends on the way, or if their distance is within the
spread of the ways. Any other difference is a fault of ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from fimlsp.models.decoding.middle import Middle
from fimlsp.models.remote.http_client import HttpClient

PIECES = (0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Numbers of tokens at the end that are read one by one, after all others in one batch."""

FORCED = 1000.0
END = -1


@dataclass(frozen=True, slots=True)
class Written:
    """A prompt, and the text written after it."""

    prompt: Sequence[int]
    middle: Middle

    @property
    def tokens(self) -> list[int]:
        """Its tokens, with `END` if the model ended it."""
        ended = [END] if self.middle.stop_reason == "end" else []
        return [*(token.token for token in self.middle.trace), *ended]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of two completions: the number of tokens before it, and the two tokens.

    *gaps* are the nats by which the first is likelier than the second, for each way of reading the text.
    """

    place: int
    tokens: tuple[int, int]
    gaps: Sequence[float]

    @property
    def spread(self) -> float:
        """The spread of the ways, in nats."""
        return max(self.gaps) - min(self.gaps)

    @property
    def gap(self) -> float:
        """The least distance of the two tokens, in nats."""
        return min(map(abs, self.gaps))

    @property
    def is_numerics(self) -> bool:
        """True if the server itself does not always prefer the same token."""
        return self.gap <= self.spread

    def __str__(self) -> str:
        """One line for people."""
        verdict = "llama.cpp's own numerics" if self.is_numerics else "NOT EXPLAINED"
        return (
            f"token {self.place}: {self.tokens[0]} or {self.tokens[1]}, {min(self.gaps):+.5f} to "
            f"{max(self.gaps):+.5f} nats apart in {len(self.gaps)} ways of reading: {verdict}"
        )


def difference(
    peer: HttpClient, vocabulary_size: int, stops: frozenset[int], a: Written, b: Written
) -> Difference:
    """The first difference of *a* and *b*, with the server's readings of it.

    Raises:
        ValueError: the tokens are the same, or the prompts are not.
    """
    if a.prompt != b.prompt:
        raise ValueError("the prompts differ")
    pairs = enumerate(zip_longest(a.tokens, b.tokens, fillvalue=END))
    place, tokens = next((number, pair) for number, pair in pairs if pair[0] != pair[1])
    text = [*a.prompt, *a.tokens[:place]]
    gaps = [
        _likelihood(shares, tokens[0], stops) - _likelihood(shares, tokens[1], stops)
        for shares in (_read(peer, text, n, vocabulary_size, stops) for n in PIECES)
    ]
    return Difference(place, tokens, gaps)


def _likelihood(shares: Mapping[int, float], token: int, stops: frozenset[int]) -> float:
    return shares[token] if token != END else max(shares[stop] for stop in stops)


def _read(
    peer: HttpClient, text: Sequence[int], pieces: int, size: int, stops: frozenset[int]
) -> Mapping[int, float]:
    """Log-probabilities after *text*, whose last *pieces* tokens are read one by one."""
    reply: Any = None
    for end in range(max(1, len(text) - pieces), len(text) + 1):
        is_first = reply is None
        body = {
            "prompt": text[:end],
            "n_predict": 1,
            "n_probs": size if end == len(text) else 1,
            "temperature": 0,
            "cache_prompt": not is_first,
            "id_slot": 0,
            "logit_bias": [[min(stops), FORCED]],
        }
        reply = peer.ask("/completion", body)
    likeliest = reply["completion_probabilities"][0]["top_logprobs"]
    return {token["id"]: token["logprob"] for token in likeliest}
