"""Values of the decoding loop: its limits, a middle being written, and the middle that results."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from fimlsp.models.protocols import Candidates, MiddleState

StopReason = Literal["end", "lines", "repetition", "dead_end", "budget", "deadline", "cancelled"]
StopRule = Literal["first", "best"]


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Limits of one completion.

    Attributes:
        tokens: at most so many tokens are decoded.
        lines: after so many lines, decoding stops before a line end where the middle is complete, or lacks
            but closing brackets and quotes, or at most two lines later; 0: no line end; None: no limit.
        steer: whether a middle that is not complete when decoding stops is finished by its shortest
            completion.
        seconds: time limit; when it is over, the middle is finished as at the end of the budget. None: no
            limit.
        stop_rule: "first": the middle ends where the model ends it, or where it begins to repeat itself.
            "best": decoding goes on until the model ends the middle or the budget is used up, and of all
            places where the middle was complete the one with the best length-normalised log-probability,
            its end included, is taken (Melcer et al. 2024, the rule of their evaluation).
        candidates: how many different middles `complete_many` looks for.
        column: decoding stops, where the middle is complete, before a line that begins further left; see
            `fimlsp.models.decoding.stopping.block_column`. None: no such limit.
        temperature: 0: the likeliest candidate is taken; else candidates are drawn, from the 64 likeliest.
        top_p: with a temperature, only the likeliest candidates that have this share are drawn, unless none
            of them may be written.
        seed: of the drawing; the same seed gives the same middle.
        heal: whether the last token of the prompt is taken back and written again, maybe by a longer one.
    """

    tokens: int = 96
    lines: int | None = 1
    steer: bool = True
    seconds: float | None = None
    stop_rule: StopRule = "first"
    candidates: int = 1
    column: int | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    heal: bool = False


@dataclass(frozen=True, slots=True)
class DecodedToken:
    """One token of a trace.

    Attributes:
        text: its bytes, all of them, even if the middle ends before its end.
        log_probability: of the token where it was taken (nats).
        stop: log-probability that the middle ends behind it; None where the network was not asked.
        rejected: candidates that the constraint refused before it was taken.
        steered: whether steering refused a likelier candidate.
    """

    text: bytes
    log_probability: float
    stop: float | None
    rejected: int
    steered: bool


@dataclass(frozen=True, slots=True)
class Middle:
    """What was decoded.

    Attributes:
        text: the bytes to insert.
        complete: whether left + text + right is in the language.
        tokens: tokens decoded, those dropped at the end included.
        rejected: candidates refused by the constraint.
        steered: whether steering refused a candidate or wrote the shortest completion.
        stop_reason: why decoding stopped.
        log_probability: mean log-probability (nats) of the decoded tokens of *text*.
        model_ms: milliseconds spent in the network, but for the prompt.
        engine_ms: milliseconds spent in the constraint.
        prefill_ms: milliseconds in which the network read the prompt.
        tried: candidates that the constraint was asked about, those taken included.
        stop_at_start: log-probability that the middle is empty; None where the network was not asked.
        trace: the tokens decoded, those dropped at the end included.
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
    trace: tuple[DecodedToken, ...] = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A middle so far: bytes, constraint, tokens, and the sum of the log-probabilities of these.

    *owed* are the bytes before the cursor that its tokens have yet to write again, *ending* those at the end
    of the text that no token wrote.
    """

    text: bytes
    state: MiddleState
    tokens: tuple[int, ...] = ()
    total: float = 0.0
    owed: bytes = b""
    ending: bytes = b""

    def extended(self, text: bytes, token: int, log_probability: float) -> Written | None:
        """This middle with one more *token* that writes *text*; None when it may not stand here."""
        n_owed = len(self.owed)
        if text[:n_owed] != self.owed[: len(text)]:
            return None
        state = self.state.feed(text[n_owed:]) if len(text) > n_owed else self.state
        if state is None:
            return None
        written, owed = self.text + text[n_owed:], self.owed[len(text) :]
        return Written(written, state, (*self.tokens, token), self.total + log_probability, owed)

    def completed(self) -> Written:
        """This middle with its shortest completion behind it; itself if that may not be written."""
        ending = self.state.shortest_completion
        state = self.state.feed(ending)
        return self if state is None else replace(self, text=self.text + ending, state=state, ending=ending)

    @property
    def complete(self) -> bool:
        """Whether the middle may stop here."""
        return not self.owed and self.state.complete

    def score(self, stop: float) -> float:
        """Length-normalised log-probability of stopping here, the stop having log-probability *stop*."""
        return (self.total + stop) / (len(self.tokens) + 1)

    @property
    def mean(self) -> float:
        """Mean log-probability of the tokens; 0 when there are none."""
        return self.total / max(1, len(self.tokens))


class Following(NamedTuple):
    """What a middle becomes with a candidate, and why it ends there, if it does."""

    written: Written
    ended: StopReason | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """A place between two tokens: the middle so far, and what the network says may follow."""

    written: Written
    candidates: Candidates

    @property
    def complete(self) -> bool:
        """Whether the middle may stop here; the constraint is asked only where that decides something."""
        return self.written.complete

    @property
    def score(self) -> float:
        """Length-normalised log-probability of stopping here."""
        return self.written.score(self.candidates.stop)


@dataclass(frozen=True, slots=True)
class Taken:
    """How a token was taken: see `DecodedToken`."""

    text: bytes
    log_probability: float
    rejected: int
    steered: bool
