"""A middle while it is being written: its text so far, and the state of the constraint after it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

from fimlsp.models.decoding.middle import StopReason
from fimlsp.models.healing import Healed
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.states.protocol import State


@dataclass(frozen=True, slots=True)
class PartialMiddle:
    """The bytes written so far, the constraint after them, their tokens and the sum of log-probabilities.

    *closing* are the bytes at the end of *text* that belong to no token: the shortest completion.
    """

    text: bytes
    state: State
    tokens: tuple[int, ...] = ()
    total: float = 0.0
    closing: bytes = b""

    def extended(self, text: bytes, token: int, log_probability: float) -> PartialMiddle | None:
        """This middle with one more *token*, whose bytes are *text*; None if the constraint refuses it."""
        state = self.state.feed(text) if text else self.state
        if state is None:
            return None
        return PartialMiddle(self.text + text, state, (*self.tokens, token), self.total + log_probability)

    def completed(self) -> PartialMiddle:
        """This middle followed by its shortest completion; unchanged if the constraint refuses that."""
        closing = self.state.shortest_completion
        state = self.state.feed(closing)
        return (
            self if state is None else replace(self, text=self.text + closing, state=state, closing=closing)
        )

    @property
    def complete(self) -> bool:
        """Whether the middle may stop here."""
        return self.state.complete

    def score(self, stop: float) -> float:
        """Length-normalised log-probability of stopping here, if the stop has log-probability *stop*."""
        return (self.total + stop) / (len(self.tokens) + 1)

    @property
    def mean(self) -> float:
        """Mean log-probability of the tokens; 0 if there are none."""
        return self.total / max(1, len(self.tokens))


class Continuation(NamedTuple):
    """A middle after one more candidate, and why decoding stops there, if it does."""

    middle: PartialMiddle
    stop_reason: StopReason | None = None


@dataclass(frozen=True, slots=True)
class DecodeStep:
    """One step of the network: the middle before it, and what the network says may follow."""

    middle: PartialMiddle
    candidates: Candidates

    @property
    def complete(self) -> bool:
        """Whether the middle may stop here. Asks the constraint, so use it only where the answer matters."""
        return self.middle.complete

    @property
    def score(self) -> float:
        """Length-normalised log-probability of stopping here."""
        return self.middle.score(self.candidates.stop)

    def healed(
        self, token_bytes: Sequence[bytes | None], everything: Callable[[DecodeStep], Candidates | None]
    ) -> DecodeStep:
        """This step; where what is there is written again, with the candidates that go with that.

        See `Healed.agreeing`; *everything* tells all candidates of a step, if it can.
        """
        state = self.middle.state
        if not isinstance(state, Healed):
            return self
        agreeing = state.agreeing(self.candidates, token_bytes, partial(everything, self))
        return replace(self, candidates=agreeing)
