"""The methods that are compared: how each turns the decoding of a prompt into an answer.

*Unconstrained* is the model's whole output. *Checked unconstrained* is a beginning of the same output after
which the file parses: the longest, or the one with the best length-normalised log-probability. *Constrained*
rejects tokens while it writes and ends at the best-scored place; *steered* also makes sure that it can end in
time. A text may end after any character; "between tokens" are the figures for those ends alone.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from time import perf_counter

from fimlsp.datasets.cases.case import Case
from fimlsp.datasets.cases.result import Attempt
from fimlsp.datasets.cases.stops import Stop, complete_stops, stops_of, valid_stops, whole_text
from fimlsp.models.decoding.loop import decode_middle
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.unconstrained import Unconstrained
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.states.protocol import State

WRONG = "accepted, but does not parse"
CAUSES = {"budget": "ran out of tokens", "end": "ended early", "dead_end": "50 candidates refused"}


def attempts(network: NextToken, prompt: Prompt, case: Case, tokens: int) -> dict[str, Attempt]:
    """Each method's attempt at *case*, with at most so many *tokens*."""
    answers = unconstrained(case, decode(network, prompt, None, tokens=tokens))
    if case.start is None:
        failed = case.judged(None, "engine finds no connection")
        return answers | dict.fromkeys(("constrained", "constrained_at_tokens", "steered"), failed)
    plain = decode(network, prompt, case.start, tokens=tokens)
    steered = decode(network, prompt, case.start, tokens=tokens, steer=True)
    return answers | {
        "constrained": constrained(case, case.start, plain),
        "constrained_at_tokens": constrained(case, case.start, plain, between_tokens=True),
        "steered": constrained(case, case.start, steered),
    }


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
    """The attempts of the methods that only read what the model wrote without a constraint."""
    text = whole_text(free)
    stops = checked_stops(case, free)
    at_tokens = [stop for stop in stops if stop.is_between_tokens]
    return {
        "unconstrained": case.judged(text, "does not parse", cost_of(free)),
        "longest": _checked(case, text, max(stops, key=lambda stop: stop.length, default=None)),
        "best": _checked(case, text, max(stops, default=None)),
        "longest_at_tokens": _checked(case, text, max(at_tokens, key=lambda stop: stop.length, default=None)),
    }


def checked_stops(case: Case, free: Middle) -> list[Stop]:
    """The stops of *free* after which the file parses.

    The constraint decides, as asking the judge after each of 2,000 characters would take seconds a case.
    Without a constraint the judge is asked after all: a fault of the engine must not count against the model.
    """
    text, stops = whole_text(free), stops_of(free, of_last=True)
    if case.start is None:
        return valid_stops(text, stops, lambda part: case.language.accepts(case.left, part, case.right))
    return list(complete_stops(text, stops, case.start))


def _checked(case: Case, text: bytes, stop: Stop | None) -> Attempt:
    if stop is None:
        return case.judged(None, "no beginning parses")
    return case.judged(text[: stop.length], WRONG)


def constrained(case: Case, start: State, middle: Middle, *, between_tokens: bool = False) -> Attempt:
    """The attempt of a constrained decoding from *start*, ended at its best stop.

    If there is none, a middle that steering has completed is the answer, and else what was written if just
    its end, where the model was cut off, is complete. Any other text is kept, but is no answer.
    """
    since = perf_counter()
    text = whole_text(middle)
    stops = [stop for stop in stops_of(middle) if stop.is_between_tokens or not between_tokens]
    best = max(complete_stops(text, stops, start), default=None)
    cost = cost_of(middle)
    cost = replace(cost, engine_ms=round(cost.engine_ms + 1000 * (perf_counter() - since), 3))
    if best is not None:
        return case.judged(text[: best.length], WRONG, cost)
    if middle.complete:
        return case.judged(middle.text, WRONG, cost)
    written = text.decode(errors="surrogateescape")
    cause = CAUSES.get(middle.stop_reason, middle.stop_reason)
    return case.judged(None, cause, replace(cost, written=written))


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
