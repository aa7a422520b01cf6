"""Middles: while one is written, with the constraint's state after it, and as the result of decoding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import exp
from time import monotonic
from typing import Literal, NamedTuple

from fimlsp.models.decoding.healing import Healed
from fimlsp.models.protocols import Candidates
from fimlsp.quotient.states.protocol import State

StopReason = Literal[
    "end", "follows", "lines", "repetition", "dead_end", "budget", "deadline", "cancelled", "asked", "unsure"
]
"""Why decoding stopped.

| reason | meaning |
|---|---|
| end | the model ended the middle |
| follows | the model repeated the text that follows in the line |
| lines | the wanted number of lines is written |
| repetition | the model repeated itself |
| dead_end | the constraint refused all candidates that were tried |
| budget | all tokens are used up |
| deadline | the time is up |
| cancelled | the caller lost interest |
| asked | the caller's own rule ended the middle |
| unsure | the log-probability fell below the limit |
"""

Phase = Literal["prompt", "network", "constraint"]
"""Part of decoding that time is charged to."""


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """How one token was chosen.

    Attributes:
        text: all of its bytes, even if the middle ends inside the token.
        log_probability: its log-probability (nats).
        refused: candidates that the constraint refused before this one, as ids and log-probabilities.
        steered: True if steering refused a likelier candidate.
        stop: log-probability of ending the middle after this token; None if the network did not read it.
        token: its id.
    """

    text: bytes
    log_probability: float
    refused: tuple[tuple[int, float], ...]
    steered: bool
    stop: float | None = None
    token: int = -1

    @property
    def rejected(self) -> int:
        """Number of refused candidates."""
        return len(self.refused)

    @property
    def refused_mass(self) -> float:
        """Total probability of the refused candidates."""
        return sum(exp(log_probability) for _, log_probability in self.refused)


@dataclass(frozen=True, slots=True)
class Middle:
    """The result of decoding.

    Attributes:
        text: the bytes to insert.
        complete: True if left + text + right is in the language.
        tokens: number of decoded tokens, including those that were dropped at the end.
        rejected: number of candidates that the constraint refused.
        steered: True if steering refused a candidate or wrote the shortest completion.
        stop_reason: why decoding stopped.
        log_probability: mean log-probability (nats) of the tokens of *text* that the network wrote.
        model_ms: milliseconds in the network after the prompt.
        engine_ms: milliseconds in the constraint.
        prefill_ms: milliseconds of the network for the prompt.
        tried: number of candidates that the constraint checked, including those that were taken.
        stop_at_start: log-probability that the middle is empty; None if the network was not called.
        trace: one entry for each decoded token, including those that were dropped at the end.
    """

    text: bytes
    complete: bool
    tokens: int
    rejected: int
    steered: bool
    stop_reason: StopReason
    log_probability: float
    model_ms: float
    engine_ms: float
    prefill_ms: float = 0.0
    tried: int = 0
    stop_at_start: float | None = None
    trace: tuple[TokenTrace, ...] = ()

    @property
    def decoded(self) -> bytes:
        """The bytes of all decoded tokens."""
        return b"".join(token.text for token in self.trace)

    def without_prefix(self, prefix: bytes) -> Middle:
        """This middle without *prefix*, the beginning of its text.

        A token that ends within the prefix or with it counts with the token after it.
        """
        n = len(prefix)
        return replace(self, text=self.text[n:], trace=tuple(self._trace_after(n))) if n else self

    def _trace_after(self, n: int) -> Iterator[TokenTrace]:
        """The trace after its first *n* bytes."""
        skipped = 0.0
        for token in self.trace:
            if 0 < len(token.text) <= n:
                n -= len(token.text)
                skipped += token.log_probability
            else:
                yield replace(token, text=token.text[n:], log_probability=skipped + token.log_probability)
                n, skipped = 0, 0.0


class Stopwatch:
    """Milliseconds in each phase: the prompt, later steps of the network, and the constraint."""

    def __init__(self) -> None:
        self.ms: dict[Phase, float] = {"prompt": 0.0, "network": 0.0, "constraint": 0.0}
        self._since = monotonic()

    def charge(self, phase: Phase) -> None:
        """Charge the time since the last call to *phase*."""
        now = monotonic()
        self.ms[phase] += 1000 * (now - self._since)
        self._since = now


@dataclass(frozen=True, slots=True)
class PartialMiddle:
    """A middle that is being written.

    Attributes:
        text: the bytes so far.
        state: the constraint after them.
        tokens: their tokens.
        total: sum of the log-probabilities (nats) of the tokens.
        closing: the bytes at the end of *text* that belong to no token: the shortest completion.
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
        """True if the middle may stop here."""
        return self.state.complete

    def score(self, stop: float) -> float:
        """Length-normalised log-probability of stopping here, if the stop has log-probability *stop*."""
        return (self.total + stop) / (len(self.tokens) + 1)

    @property
    def mean(self) -> float:
        """Mean log-probability of the tokens; 0 if there are none."""
        return self.total / max(1, len(self.tokens))


class Continuation(NamedTuple):
    """A middle after one more candidate, and the reason to stop there, if any."""

    middle: PartialMiddle
    stop_reason: StopReason | None = None


@dataclass(frozen=True, slots=True)
class DecodeStep:
    """One step of the network: the middle before it, and the candidates after that."""

    middle: PartialMiddle
    candidates: Candidates

    @property
    def complete(self) -> bool:
        """True if the middle may stop here. Calls the constraint, so use it only where the answer matters."""
        return self.middle.complete

    @property
    def score(self) -> float:
        """Length-normalised log-probability of stopping here."""
        return self.middle.score(self.candidates.stop)

    def healed(
        self, token_bytes: Sequence[bytes | None], list_more: Callable[[DecodeStep], Candidates | None]
    ) -> DecodeStep:
        """This step; while a healed prefix is written, with the candidates that are compatible with it.

        See `Healed.compatible`; *list_more* returns more candidates of a step, if the network can list them.
        """
        state = self.middle.state
        if not isinstance(state, Healed):
            return self
        candidates = state.compatible(self.candidates, token_bytes, partial(list_more, self))
        return replace(self, candidates=candidates)
