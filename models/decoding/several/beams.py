"""Beam search: the likeliest texts side by side, each step by step, all of which the constraint allows."""

from __future__ import annotations

from collections.abc import Callable

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.middle import Middle

CHILDREN_PER_BEAM = 2
"""So many continuations of each text are looked at, as one of them may end it."""


def beam_search(first: Decoding, should_stop: Callable[[], bool]) -> tuple[Middle, ...]:
    """Up to `settings.candidates` different middles, best length-normalised log-probability first.

    At each step the `settings.beams` likeliest texts go on, each with its best allowed tokens. The search
    ends when as many texts have ended, all better than what the others are worth now, or with the budget. A
    width of 1 is greedy decoding. Times of a result are those of the whole search.
    """
    width, alive, ended = first.settings.beams, [first], list[Decoding]()
    while alive and first.interruption(should_stop) is None:
        if len(alive[0].middle.tokens) >= first.budget:
            break
        grown = [run for parent in alive for run in parent.grown(CHILDREN_PER_BEAM * width)]
        if not grown:
            for run in alive:
                run.stop_reason = "dead_end"
            break
        grown.sort(key=lambda run: -run.total)
        best = grown[: CHILDREN_PER_BEAM * width]
        ended += [run for run in best if run.stop_reason is not None]
        alive = [run for run in best if run.stop_reason is None][:width]
        if len(ended) >= width and alive and _score(alive[0]) < min(map(_score, ended)):
            alive = []
    ended.sort(key=_score, reverse=True)
    found = dict[bytes, Middle]()
    for run in (*ended, *alive):
        middle = run.run(should_stop)
        found.setdefault(middle.text, middle)
        if len(found) == first.settings.candidates and len(ended) >= len(found):
            break
    by_score = sorted(found.values(), key=lambda middle: -middle.log_probability)
    return tuple(by_score[: first.settings.candidates])


def _score(run: Decoding) -> float:
    """The length-normalised log-probability of what *run* has written."""
    ends = run.stop_reason == "end"
    return run.total / max(1, len(run.middle.tokens) + ends)
