"""Where a middle stops best: the complete place with the best length-normalised log-probability."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.decoding.partial_middle import DecodeStep, PartialMiddle
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken, TellsStop


def best_stop(steps: Sequence[DecodeStep], model: NextToken, prompt: Prompt) -> PartialMiddle | None:
    """The best of *steps* at which the middle is complete; None if it is at none.

    Where only a bound is known of how likely the end is, a network that can tell is asked.
    """
    stops = [step for step in steps if step.complete]
    if not stops:
        return None
    if isinstance(model, TellsStop) and any(step.candidates.stop_is_bound for step in stops):
        with suppress(Interrupted):
            return _best_asked(stops, model, prompt)
    return max(stops, key=lambda step: step.score).middle


def _best_asked(stops: Sequence[DecodeStep], model: TellsStop, prompt: Prompt) -> PartialMiddle:
    """The best of *stops*, where it is asked of those that might be the best how likely the end is."""
    bounds = sorted(stops, key=lambda step: -step.score)
    best, best_score = bounds[0].middle, float("-inf")
    for step in bounds:
        if step.score <= best_score:
            break
        score = step.score
        if step.candidates.stop_is_bound:
            stop = model.stop_after(prompt.tokens, step.middle.tokens)
            score = step.middle.score(step.candidates.stop if stop is None else stop)
        if score > best_score:
            best, best_score = step.middle, score
    return best
