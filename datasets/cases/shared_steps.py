"""A network shared by several decodings of one prompt, which computes every prediction only once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fimlsp.models.protocols import Candidates, NextToken


@dataclass(slots=True)
class _Prediction:
    """The candidates after some tokens, and the predictions after each of those that were chosen."""

    candidates: Candidates
    after: dict[int, _Prediction] = field(default_factory=dict)


class SharedSteps:
    """A `NextToken` that remembers what *network* predicted for one prompt.

    Greedy decodings under different constraints agree up to the first token that one of them rejects. The
    network computes that part once, and reads it again only when a decoding departs from the one before.
    """

    def __init__(self, network: NextToken) -> None:
        self.token_bytes = network.token_bytes
        self.stops = network.stops
        self._network = network
        self._prompt: tuple[int, ...] = ()
        self._root: _Prediction | None = None
        self._at: _Prediction | None = None
        self._written = list[int]()
        self._read = list[int]()

    def begin(self, tokens: Sequence[int], written: Sequence[int] = ()) -> Candidates:
        """Read a prompt, or return to the end of the same one; then read what was *written* after it."""
        if self._root is None or self._prompt != tuple(tokens):
            self._prompt, self._read = tuple(tokens), []
            self._root = _Prediction(self._network.begin(tokens))
        self._at, self._written = self._root, []
        for token in written:
            self.advance(token)
        return self._at.candidates

    def advance(self, token: int) -> Candidates:
        """Read one more token."""
        if self._at is None:
            raise RuntimeError("advance comes after begin")
        self._written.append(token)
        if token not in self._at.after:
            self._at.after[token] = _Prediction(self._predict(token))
        self._at = self._at.after[token]
        return self._at.candidates

    def _predict(self, token: int) -> Candidates:
        if self._read == self._written[:-1]:
            candidates = self._network.advance(token)
        else:
            candidates = self._network.begin(self._prompt, self._written)
        self._read = list(self._written)
        return candidates
