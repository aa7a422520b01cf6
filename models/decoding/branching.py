"""Several different middles for one cursor.

With a temperature they are drawn independently. Else the first is the greedy one; the others branch off a
middle found before: of all tokens that were listed at a place and not taken there, the one with the most
likely text up to it is taken, and from there decoding is greedy again. What lies before the branch has been
read and checked already, so a branch costs its own tokens only; and a network that reads several texts in
about the time of one takes several branches at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, nsmallest
from itertools import count, islice

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.middle import DecodeSettings, Middle
from fimlsp.models.decoding.together import run_ahead
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import MiddleState, NextToken

BRANCHES_PER_PLACE = 4
RUNS_PER_MIDDLE = 3


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """A token not taken by *run* at a place; the *cost* is the negative log-probability of text and token."""

    cost: float
    place: int
    token: int
    run_number: int
    log_probability: float = field(compare=False)
    run: Decoding = field(compare=False)

    def begin(self) -> Begun | None:
        """The run that takes the token; None where it may not be written."""
        run = self.run.branch(self.place, self.token, self.log_probability)
        return None if run is None else Begun(run, run.written.text, run.ended is not None)


@dataclass(frozen=True, slots=True)
class Begun:
    """A run, and how it was when it had taken the token where it branches off: its text, and whether over."""

    run: Decoding
    text: bytes
    is_over: bool


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
    others = _samples(first, should_stop) if settings.temperature else _branches(first, found, should_stop)
    for run in islice(others, RUNS_PER_MIDDLE * (settings.candidates - 1)):
        middle = run.run(should_stop)
        if middle.stop_reason in ("cancelled", "deadline"):
            break
        if _is_new(middle, found):
            found.append(middle)
        if len(found) == settings.candidates:
            break
    return tuple(sorted(found, key=lambda middle: -middle.log_probability))


def _samples(first: Decoding, should_stop: Callable[[], bool]) -> Iterator[Decoding]:
    """Runs like *first* with other seeds."""
    n = first.settings.candidates - 1
    for seeds in count(first.settings.seed + 1, n):
        runs = [first.again(seed) for seed in range(seeds, seeds + n)]
        run_ahead(runs, should_stop)
        yield from runs


def _branches(
    first: Decoding, found: Sequence[Middle], should_stop: Callable[[], bool]
) -> Iterator[Decoding]:
    """Runs that branch off *first* and off each other, those with the likeliest beginning first.

    Each must have run, and what it *found* be known, before the next is asked for. As many as are still
    wanted run ahead together; those that branch off them may come first nevertheless.
    """
    branches, begun, numbers = list[Branch](), dict[Branch, Begun | None](), count()
    _add_branches(branches, first, 0, next(numbers))
    while branches:
        if branches[0] not in begun:
            wanted = nsmallest(first.settings.candidates - len(found), branches)
            more = {branch: branch.begin() for branch in wanted if branch not in begun}
            run_ahead([each.run for each in more.values() if each is not None], should_stop)
            begun |= more
        branch = heappop(branches)
        each = begun.pop(branch)
        if each is not None and not _repeats(each, found):
            yield each.run
            _add_branches(branches, each.run, branch.place + 1, next(numbers))


def _add_branches(branches: list[Branch], run: Decoding, first: int, run_number: int) -> None:
    """What *run* did not take at its places from *first* on."""
    ending = run.model.stops if run.ended == "end" else ()
    for number, place in enumerate(run.places[first:], first):
        taken = run.written.tokens[number : number + 1] or ending
        listed = zip(place.candidates.tokens, place.candidates.log_probabilities, strict=True)
        for rank, (token, log_probability) in enumerate(listed):
            if rank > BRANCHES_PER_PLACE:
                break
            if token not in taken:
                cost = -place.written.total - log_probability
                heappush(branches, Branch(cost, number, token, run_number, log_probability, run))


def _repeats(begun: Begun, found: Sequence[Middle]) -> bool:
    """Whether it begins as a middle found before: likely the same in other tokens."""
    return not begun.is_over and any(middle.text.startswith(begun.text) for middle in found)


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
