"""Settings of the decoding loop: budgets, rules for stopping, and the choice among candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from fimlsp.models.protocols import Preference

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary


StopRule = Literal["first", "best", "last"]
Aligned = Literal["no", "adaptively", "exactly"]


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Limits of one completion.

    Attributes:
        tokens: maximum number of decoded tokens.
        lines: number of lines to write. After them, decoding stops at the first line end where the middle is
            complete or lacks only closing brackets and quotes, at most two lines later. 0: no line end is
            written. None: no limit.
        steer: True to finish an incomplete middle with its shortest completion.
        seconds: time limit; a middle that reaches it is finished as at the end of the budget. None: no
            limit.
        stop_rule: "first": the middle ends where the model ends it, or where it starts to repeat itself.
            "best": decoding continues until the model ends the middle or the budget is used up. The result
            is the complete prefix with the best length-normalised log-probability, its end included (the
            rule of the evaluation by Melcer et al. 2024).
            "last": all that was written is kept; the middle ends where the model ends it or the budget is
            used up. After the last token of the budget the network is not read again.
        stop_when: a rule of the caller's own. It is called with the text after each token with which the
            middle is complete, and ends it there by returning True.
        candidates: number of different middles to decode.
        beams: width of a beam search, which follows the likeliest texts side by side; 1: no beam search.
            Without a temperature only.
        temperature: 0: the likeliest candidate is taken. Otherwise candidates are drawn from all that the
            network lists.
        top_k, min_p, top_p: with a temperature, only the *top_k* likeliest candidates are drawn. Of these,
            only those at least *min_p* times as likely as the likeliest, and of these the likeliest that hold
            a share of *top_p*. All refer to the model's own distribution at that temperature. If the
            constraint refuses all of these, others are drawn.
        seed: seed of the draws; the same seed gives the same middles.
        independent: with a temperature: exactly `candidates` middles, drawn independently of each other, in
            the order of the draws. Equal, empty and incomplete ones are included. A share of them is then an
            unbiased estimate, as pass@k needs it (Chen et al. 2021). The candidates of their first token are
            read once for all.
        aligned: with independent draws, the distribution to draw from. "no": each token is drawn among those
            that are allowed. "exactly": whole texts are drawn, as if the model wrote on its own and all
            refused texts were thrown away. A text may be begun several times, and there are fewer middles if
            that does not suffice. "adaptively": each draw of a call comes closer to that distribution.
        least_total: decoding stops if the sum of the log-probabilities (nats) falls below it.
        preference: prefers some of the likeliest candidates to others, for reasons of its own.
        follows: the text after the middle in its line. With the rule "first", a complete middle ends where
            the model would repeat this text and the constraint refuses that.

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
    aligned: Aligned = "no"
    least_total: float = -inf
    preference: Preference | None = None
    follows: bytes = b""

    def __post_init__(self) -> None:
        rules = get_args(StopRule)
        for is_valid, rule in (
            (self.tokens >= 1, "tokens must be at least 1"),
            (self.lines is None or self.lines >= 0, "lines must be None or at least 0"),
            (self.seconds is None or self.seconds >= 0, "seconds must be None or at least 0"),
            (self.stop_rule in rules, f"stop_rule must be one of {', '.join(rules)}"),
            (self.candidates >= 1, "candidates must be at least 1"),
            (self.beams >= 1, "beams must be at least 1"),
            (self.beams == 1 or not self.temperature, "beams must be 1 with a temperature"),
            (self.beams == 1 or self.candidates <= self.beams, "candidates must be at most beams"),
            (0 <= self.temperature < inf, "temperature must be at least 0 and finite"),
            (0 < self.top_p <= 1, "top_p must be above 0 and at most 1"),
            (self.top_k is None or self.top_k >= 1, "top_k must be None or at least 1"),
            (0 <= self.min_p <= 1, "min_p must be at least 0 and at most 1"),
            (self.seed >= 0, "seed must be at least 0"),
            (not self.independent or self.temperature > 0, "independent draws need a temperature above 0"),
            (self.aligned in get_args(Aligned), f"aligned must be one of {', '.join(get_args(Aligned))}"),
            (self.aligned == "no" or self.independent, "aligned draws must be independent"),
            (self.aligned == "no" or not self._cuts, "aligned draws need all candidates, without a cut"),
        ):
            if not is_valid:
                raise ValueError(f"{rule}: {self}.")

    @property
    def _cuts(self) -> bool:
        return self.top_p < 1 or self.top_k is not None or self.min_p > 0


class Unconstrained:
    """A `fimlsp.quotient.states.protocol.State` that allows every text, to measure a model alone."""

    complete = True
    shortest_completion = b""

    def feed(self, data: bytes) -> Unconstrained:  # noqa: ARG002 - every text is allowed
        """The same state."""
        return self

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """The mask of all tokens that have a text, and of stops."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=True)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """All texts."""
        allowed = np.ones(len(vocabulary.texts) + 1, np.bool_)
        allowed[-1] = False
        return allowed
