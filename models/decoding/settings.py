"""What a caller may ask of the decoding loop: budgets, where to stop, how to choose among candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from fimlsp.models.protocols import Preference

StopRule = Literal["first", "best", "last"]


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Limits of one completion.

    Attributes:
        tokens: the most tokens that are decoded.
        lines: after this many lines, decoding stops at the first line end where the middle is complete or
            lacks nothing but closing brackets and quotes, and at most two lines later in any case. 0: no
            line end is written. None: no limit.
        steer: whether a middle that is incomplete when decoding stops is finished with its shortest
            completion.
        seconds: time limit; a middle that reaches it is finished as at the end of the budget. None: no
            limit.
        stop_rule: "first": the middle ends where the model ends it, or where it begins to repeat itself.
            "best": decoding goes on until the model ends the middle or the budget is used up; the result is
            the complete beginning with the best length-normalised log-probability, its end included (the
            rule of the evaluation by Melcer et al. 2024).
            "last": nothing that was written is taken back; the middle ends where the model ends it or the
            budget is used up.
        stop_when: a rule of the caller's own: it is given the text after each token with which the middle is
            complete, and ends it there by saying True.
        candidates: how many different middles are wanted.
        beams: with more than one, middles are found by a beam search of that width, which follows the
            likeliest texts side by side; without a temperature only.
        temperature: 0: the likeliest candidate is taken; otherwise candidates are drawn, from all that the
            network tells: on a server those that it lists.
        top_k, min_p, top_p: with a temperature, only the *top_k* likeliest candidates are drawn, of these
            those at least *min_p* times as likely as the likeliest, and of these the likeliest that hold a
            share of *top_p*, all in the model's own distribution at that temperature; unless the constraint
            refuses all of these.
        seed: seed of the draws; the same seed gives the same middles.
        independent: with a temperature: exactly `candidates` middles, drawn independently of each other and
            given in the order of the draws, with those that are equal, empty or incomplete. A share of them
            is then an unbiased estimate, as pass@k needs it (Chen et al. 2021).
        least_total: decoding stops where the sum of the log-probabilities (nats) falls below it, as nothing
            of use can follow.
        preference: which of the likeliest candidates are better than others, for reasons of their own.
        follows: what stands behind the middle in its line. With the rule "first", a middle that is complete
            ends where the model would go on with just that and the constraint refuses it.

    Raises:
        ValueError: a number is outside its range, or a rule is unknown.
    """

    tokens: int = 96
    lines: int | None = 1
    steer: bool = True
    seconds: float | None = None
    stop_rule: StopRule = "first"
    stop_when: Callable[[bytes], bool] | None = None
    candidates: int = 1
    beams: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int | None = None
    min_p: float = 0.0
    seed: int = 0
    independent: bool = False
    least_total: float = -inf
    preference: Preference | None = None
    follows: bytes = b""

    def __post_init__(self) -> None:
        rules = get_args(StopRule)
        for is_right, wanted in (
            (self.tokens >= 1, "tokens must be at least 1"),
            (self.lines is None or self.lines >= 0, "lines must be None or at least 0"),
            (self.seconds is None or self.seconds >= 0, "seconds must be None or at least 0"),
            (self.stop_rule in rules, f"stop_rule must be one of {', '.join(rules)}"),
            (self.candidates >= 1, "candidates must be at least 1"),
            (self.beams >= 1, "beams must be at least 1"),
            (self.beams == 1 or not self.temperature, "a beam search draws nothing: no temperature"),
            (
                self.beams == 1 or self.candidates <= self.beams,
                "there are at most as many candidates as beams",
            ),
            (0 <= self.temperature < inf, "temperature must be at least 0 and finite"),
            (0 < self.top_p <= 1, "top_p must be above 0 and at most 1"),
            (self.top_k is None or self.top_k >= 1, "top_k must be None or at least 1"),
            (0 <= self.min_p <= 1, "min_p must be at least 0 and at most 1"),
            (self.seed >= 0, "seed must be at least 0"),
            (not self.independent or self.temperature > 0, "independent draws need a temperature above 0"),
        ):
            if not is_right:
                raise ValueError(f"{wanted}: {self}.")
