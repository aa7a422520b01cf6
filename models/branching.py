"""Several different middles for one cursor.

With a temperature they are drawn independently. Else the first is the greedy one; the others branch off a
middle found before: of all tokens that were listed at a place and not taken there, the one with the most
likely text up to it is taken, and from there decoding is greedy again. What lies before the branch has been
read and checked already, so a branch costs its own tokens only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from itertools import count, islice

from fimlsp.models.decoding import Decoding
from fimlsp.models.middle import DecodeSettings, Middle
from fimlsp.models.prompt import Prompt
from fimlsp.models.protocols import MiddleState, NextToken

BRANCHES_PER_PLACE = 4
RUNS_PER_MIDDLE = 3


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
    others = _samples(first) if settings.temperature else _branches(first, found)
    for run in islice(others, RUNS_PER_MIDDLE * (settings.candidates - 1)):
        middle = run.run(should_stop)
        if middle.stop_reason in ("cancelled", "deadline"):
            break
        if _is_new(middle, found):
            found.append(middle)
        if len(found) == settings.candidates:
            break
    return tuple(sorted(found, key=lambda middle: -middle.log_probability))


def _samples(first: Decoding) -> Iterator[Decoding]:
    """Runs like *first* with other seeds."""
    for seed in count(first.settings.seed + 1):
        settings = replace(first.settings, seed=seed)
        run = Decoding.begin(first.model, first.prompt, first.start, settings)
        run.ends_at = first.ends_at
        yield run


def _branches(first: Decoding, found: Sequence[Middle]) -> Iterator[Decoding]:
    """Runs that branch off *first* and off each other, those with the likeliest beginning first.

    Each must have run, and what it *found* be known, before the next is asked for.
    """
    branches = list[Branch]()
    _add_branches(branches, first, 0)
    while branches:
        branch = heappop(branches)
        run = branch.run.branch(branch.place, branch.token, branch.log_probability)
        if run is not None and not _repeats(run, found):
            yield run
            _add_branches(branches, run, branch.place + 1)


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


def _repeats(run: Decoding, found: Sequence[Middle]) -> bool:
    """Whether what *run* has written so far begins a middle found before: likely the same in other tokens."""
    return run.ended is None and any(middle.text.startswith(run.written.text) for middle in found)


def _is_new(middle: Middle, found: Sequence[Middle]) -> bool:
    """Whether *middle* is worth offering: the model meant it, and its text is another one."""
    text = middle.text.strip()
    is_forced = middle.steered and middle.stop_reason != "lines"
    return (
        middle.complete
        and not is_forced
        and bool(text)
        and all(text != other.text.strip() for other in found)
    )
