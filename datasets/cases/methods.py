"""The methods that are compared: how each turns the decoding of a prompt into an answer.

*Unconstrained* is the model's whole output. *Checked unconstrained* is a beginning of the same output after
which the file parses: the longest, or the one with the best length-normalised log-probability. *Constrained*
rejects tokens while it writes; *steered* also makes sure that it can end in time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from fimlsp.datasets.cases.case import Case
from fimlsp.datasets.cases.result import Attempt
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.unconstrained import Unconstrained
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.states.protocol import State

WRONG = "accepted, but does not parse"
CAUSES = {"budget": "ran out of tokens", "end": "ended early", "dead_end": "50 candidates refused"}


@dataclass(frozen=True, slots=True)
class EndPoint:
    """A place where a written text may end: its *length* so far in bytes, and the *score* of ending there."""

    length: int
    score: float


def attempts(network: NextToken, prompt: Prompt, case: Case, tokens: int) -> dict[str, Attempt]:
    """Each method's attempt at *case*, with at most so many *tokens*."""
    free = decode(network, prompt, None, tokens=tokens)
    answers = unconstrained(case, free)
    for name, steer in (("constrained", False), ("steered", True)):
        if case.start is None:
            answers[name] = case.judged(None, "engine finds no connection")
        else:
            answers[name] = constrained(case, decode(network, prompt, case.start, tokens=tokens, steer=steer))
    return answers


def decode(
    network: NextToken,
    prompt: Prompt,
    start: State | None,
    *,
    tokens: int,
    steer: bool = False,
) -> Middle:
    """What *network* writes with the settings of the protocol; without a constraint if *start* is None."""
    settings = DecodeSettings(tokens=tokens, lines=None, steer=steer, seconds=None, stop_rule="best")
    return decode_middle(network, prompt, start or Unconstrained(), settings, lambda: False)


def unconstrained(case: Case, free: Middle) -> dict[str, Attempt]:
    """The attempts of the three methods that only read what the model wrote without a constraint."""
    text = whole_text(free)
    ends = valid_end_points(case, text, end_points(free))
    longest = max(ends, key=lambda end: end.length, default=None)
    best = max(ends, key=lambda end: end.score, default=None)
    return {
        "unconstrained": case.judged(text, "does not parse", cost_of(free)),
        "longest": _checked(case, text, longest),
        "best": _checked(case, text, best),
    }


def _checked(case: Case, text: bytes, end: EndPoint | None) -> Attempt:
    if end is None:
        return case.judged(None, "no beginning parses")
    return case.judged(text[: end.length], WRONG)


def constrained(case: Case, middle: Middle) -> Attempt:
    """The attempt of a constrained decoding; a middle that is not complete is no answer."""
    if middle.complete:
        return case.judged(middle.text, WRONG, cost_of(middle))
    return case.judged(None, CAUSES.get(middle.stop_reason, middle.stop_reason), cost_of(middle))


def whole_text(middle: Middle) -> bytes:
    """Everything that was written, up to the model's own end or the end of the budget."""
    return b"".join(token.text for token in middle.trace)


def end_points(middle: Middle) -> list[EndPoint]:
    """Every place between tokens at which the network was asked, from the empty middle on."""
    total, length = 0.0, 0
    ends = [] if middle.stop_at_start is None else [EndPoint(0, middle.stop_at_start)]
    for number, token in enumerate(middle.trace, 1):
        total += token.log_probability
        length += len(token.text)
        if token.stop is not None:
            ends.append(EndPoint(length, (total + token.stop) / (number + 1)))
    return ends


def valid_end_points(case: Case, text: bytes, ends: list[EndPoint]) -> list[EndPoint]:
    """Those of the *ends* of *text* after which the file parses.

    The constraint decides, as asking the judge at each of 500 places would take seconds a case. Without a
    constraint the judge is asked after all: a fault of the engine must not count against the model.
    """
    if case.start is None:
        return [end for end in ends if case.language.accepts(case.left, text[: end.length], case.right)]
    return list(_complete_end_points(text, ends, case.start))


def _complete_end_points(text: bytes, ends: list[EndPoint], start: State) -> Iterator[EndPoint]:
    state, fed = start, 0
    for end in ends:
        following = state.feed(text[fed : end.length])
        if following is None:
            return
        state, fed = following, end.length
        if state.complete:
            yield end


def cost_of(middle: Middle) -> Attempt:
    """The cost of decoding *middle*, as an attempt without an answer."""
    rejections = Counter(token.rejected for token in middle.trace)
    return Attempt(
        ok=False,
        text=None,
        tokens=middle.tokens,
        tried=middle.tried,
        rejected=middle.rejected,
        rejections={str(refused): tokens for refused, tokens in sorted(rejections.items())},
        steered=middle.steered,
        stop=middle.stop_reason,
        model_ms=round(middle.model_ms + middle.prefill_ms, 3),
        engine_ms=round(middle.engine_ms, 3),
    )
