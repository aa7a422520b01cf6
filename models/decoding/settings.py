"""What a caller may ask of the decoding loop: budgets, where to stop, how to choose among candidates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fimlsp.models.protocols import Preference

StopRule = Literal["first", "best"]


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
        candidates: how many different middles are wanted.
        temperature: 0: the likeliest candidate is taken; otherwise candidates are drawn from the 64
            likeliest.
        top_p: with a temperature, only the likeliest candidates that hold this share of the probability are
            drawn, unless the constraint refuses all of these.
        seed: seed of the draws; the same seed gives the same middle.
        preference: which of the likeliest candidates are better than others, for reasons of their own.
    """

    tokens: int = 96
    lines: int | None = 1
    steer: bool = True
    seconds: float | None = None
    stop_rule: StopRule = "first"
    candidates: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    preference: Preference | None = None
