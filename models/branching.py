"""Several different middles for one cursor.

The first is the greedy one. The others branch off a middle found before: of all tokens that were listed at a
place and not taken there, the one with the most likely text up to it is taken, and from there decoding is
greedy again. What lies before the branch has been read and checked already, so a branch costs its own tokens
only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from heapq import heappop, heappush

from fimlsp.models.decoding import Decoding
from fimlsp.models.middle import DecodeSettings, Middle
from fimlsp.models.prompt import Prompt
from fimlsp.models.protocols import MiddleState, NextToken

BRANCHES_PER_PLACE = 4
BRANCHES_PER_MIDDLE = 3


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """A token not taken by *run* at a place; the *cost* is the negative log-probability of text and token."""

    cost: float
    place: int
    token: int
    log_probability: float = field(compare=False)
    run: Decoding = field(compare=False)


def decode_several(
    model: NextToken,
    prompt: Prompt,
    start: MiddleState,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` middles, best first.

    The one that `decode_middle` gives is always among them; the others differ from it and from each other,
    are complete and not empty. Costs at most three runs for each middle beyond the first.
    """
    first = Decoding.begin(model, prompt, start, settings)
    found = [first.run(should_stop)]
    branches = list[Branch]()
    _add_branches(branches, first, 0)
    runs_left = BRANCHES_PER_MIDDLE * (settings.candidates - 1)
    while len(found) < settings.candidates and branches and runs_left and found[0].stop_reason != "cancelled":
        branch = heappop(branches)
        run = branch.run.branch(branch.place, branch.token, branch.log_probability)
        if run is None or _repeats(run, found):
            continue
        runs_left -= 1
        middle = run.run(should_stop)
        if middle.stop_reason in ("cancelled", "deadline"):
            break
        if _is_new(middle, found):
            found.append(middle)
        _add_branches(branches, run, branch.place + 1)
    return tuple(sorted(found, key=lambda middle: -middle.log_probability))


def _add_branches(branches: list[Branch], run: Decoding, first: int) -> None:
    """What *run* did not take at its places from *first* on."""
    for number, place in enumerate(run.places[first:], first):
        taken = run.written.tokens[number : number + 1]
        listed = zip(place.candidates.tokens, place.candidates.log_probabilities, strict=True)
        for rank, (token, log_probability) in enumerate(listed):
            if rank > BRANCHES_PER_PLACE:
                break
            if token not in taken:
                cost = -place.written.total - log_probability
                heappush(branches, Branch(cost, number, token, log_probability, run))


def _repeats(run: Decoding, found: list[Middle]) -> bool:
    """Whether what *run* has written so far begins a middle found before: likely the same in other tokens."""
    return not run.is_ended and any(middle.text.startswith(run.written.text) for middle in found)


def _is_new(middle: Middle, found: list[Middle]) -> bool:
    """Whether *middle* is worth offering: the model meant it, and its text is another one."""
    text = middle.text.strip()
    is_forced = middle.steered and middle.stop_reason != "lines"
    return (
        middle.complete
        and not is_forced
        and bool(text)
        and all(text != other.text.strip() for other in found)
    )
