"""The result of decoding: a middle, why it stopped, what it cost, and how each token was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import exp
from time import monotonic
from typing import Literal

StopReason = Literal[
    "end", "follows", "lines", "repetition", "dead_end", "budget", "deadline", "cancelled", "asked", "unsure"
]
"""The model ends the middle, or goes on with what follows in the line already; or something else stops it."""


Side = Literal["prompt", "network", "constraint"]
"""What the time of a step is spent in."""


@dataclass(frozen=True, slots=True)
class TokenTrace:
    """How one token was chosen.

    Attributes:
        text: all of its bytes, even if the middle ends inside the token.
        log_probability: its log-probability (nats).
        refused: candidates that the constraint refused before this one, as ids and log-probabilities.
        steered: whether steering refused a likelier candidate.
        stop: log-probability of ending the middle after this token; None if the network was not asked.
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
        """How many candidates were refused."""
        return len(self.refused)

    @property
    def refused_mass(self) -> float:
        """The probabilities of the refused candidates in sum."""
        return sum(exp(log_probability) for _, log_probability in self.refused)


@dataclass(frozen=True, slots=True)
class Middle:
    """What was decoded.

    Attributes:
        text: the bytes to insert.
        complete: whether left + text + right is in the language.
        tokens: tokens decoded, including those that were dropped at the end.
        rejected: candidates refused by the constraint.
        steered: whether steering refused a candidate or wrote the shortest completion.
        stop_reason: why decoding stopped.
        log_probability: mean log-probability (nats) of the tokens of *text* that the network wrote.
        model_ms: milliseconds spent in the network after the prompt.
        engine_ms: milliseconds spent in the constraint.
        prefill_ms: milliseconds the network took to read the prompt.
        tried: candidates the constraint was asked about, including those that were taken.
        stop_at_start: log-probability that the middle is empty; None if the network was not asked.
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

    def behind(self, prefix: bytes) -> Middle:
        """This middle without *prefix*, with which its text begins.

        A token that ends with the prefix or before counts with the one that follows it.
        """
        n = len(prefix)
        return replace(self, text=self.text[n:], trace=tuple(self._trace_behind(n))) if n else self

    def _trace_behind(self, n: int) -> Iterator[TokenTrace]:
        """The trace behind its first *n* bytes."""
        before = 0.0
        for token in self.trace:
            if 0 < len(token.text) <= n:
                n -= len(token.text)
                before += token.log_probability
            else:
                yield replace(token, text=token.text[n:], log_probability=before + token.log_probability)
                n, before = 0, 0.0


class Stopwatch:
    """Milliseconds spent in the network, on the prompt and on later steps, and in the constraint."""

    def __init__(self) -> None:
        self.ms: dict[Side, float] = {"prompt": 0.0, "network": 0.0, "constraint": 0.0}
        self._since = monotonic()

    def charge(self, side: Side) -> None:
        """Charge the time since the last call to *side*."""
        now = monotonic()
        self.ms[side] += 1000 * (now - self._since)
        self._since = now
