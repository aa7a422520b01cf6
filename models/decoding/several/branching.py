"""Several different middles for one cursor.

With a temperature, each is drawn anew; if asked for, they are independent draws to be counted, in their
order and with those that are equal or incomplete. Without a temperature the first is the greedy one and the
others branch off a middle found before: among all tokens that were listed at some step and not taken there,
the one with the most likely text up to and including it is taken, and decoding is greedy again from there.
What precedes the branch has been read and checked already, so a branch costs only its own tokens; and a
network that reads several texts in about the time of one takes several branches at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush, nsmallest
from itertools import count, islice

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.decoding.several.beams import beam_search
from fimlsp.models.decoding.several.side_by_side import run_ahead
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken
from fimlsp.quotient.states.protocol import State

BRANCHES_PER_STEP = 4
RUNS_PER_MIDDLE = 3


@dataclass(frozen=True, slots=True, order=True)
class Branch:
    """A token that *run* did not take at a step; *cost* is the negative log-probability of text and token."""

    cost: float
    step_number: int
    token: int
    run_number: int
    log_probability: float = field(compare=False)
    run: Decoding = field(compare=False)

    def start(self) -> StartedBranch | None:
        """The run that takes the token; None if the token is refused."""
        run = self.run.branch(self.step_number, self.token, self.log_probability)
        return None if run is None else StartedBranch(run, run.middle.text, run.stop_reason is not None)


@dataclass(frozen=True, slots=True)
class StartedBranch:
    """A run, its text right after the token where it branched off, and whether it was over then."""

    run: Decoding
    text: bytes
    is_over: bool


def decode_several(
    model: NextToken,
    prompt: Prompt,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` middles, best first; if they are to be independent, as they were drawn.

    The one that `decode_middle` gives is always among them; the others differ from it and from each other,
    are complete and not empty. Costs at most three runs for each middle beyond the first.
    """
    first = Decoding.begin(model, prompt, start, settings)
    with first.attended(should_stop):
        if settings.beams > 1:
            return beam_search(first, should_stop)
        if settings.independent:
            return (first.run(should_stop), *_independent(first, should_stop))
        found = _different(first, should_stop)
    return tuple(sorted(found, key=lambda middle: -middle.log_probability))


def _different(first: Decoding, should_stop: Callable[[], bool]) -> list[Middle]:
    """What *first* writes, and further middles as long as they are wanted."""
    settings = first.settings
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
    return found


def _independent(first: Decoding, should_stop: Callable[[], bool]) -> Iterator[Middle]:
    """The further draws that are wanted, whatever they are; fewer if there was a reason to stop."""
    for run in islice(_samples(first, should_stop), first.settings.candidates - 1):
        middle = run.run(should_stop)
        yield middle
        if middle.stop_reason in ("cancelled", "deadline"):
            return


def _samples(first: Decoding, should_stop: Callable[[], bool]) -> Iterator[Decoding]:
    """Runs like *first* that are drawn anew."""
    n = first.settings.candidates - 1
    for begin in count(1, n):
        runs = [first.redrawn(draw) for draw in range(begin, begin + n)]
        run_ahead(runs, should_stop)
        yield from runs


def _branches(
    first: Decoding, found: Sequence[Middle], should_stop: Callable[[], bool]
) -> Iterator[Decoding]:
    """Runs that branch off *first* and off each other, those with the likeliest beginning first.

    The caller must finish each run, and add what it found to *found*, before it asks for the next. As many
    as are still wanted run ahead together, although branches of these may still come before others.
    """
    branches, started, numbers = list[Branch](), dict[Branch, StartedBranch | None](), count()
    _add_branches(branches, first, 0, next(numbers))
    while branches:
        if branches[0] not in started:
            wanted = nsmallest(first.settings.candidates - len(found), branches)
            more = {branch: branch.start() for branch in wanted if branch not in started}
            run_ahead([each.run for each in more.values() if each is not None], should_stop)
            started |= more
        branch = heappop(branches)
        each = started.pop(branch)
        if each is not None and not _repeats(each, found):
            yield each.run
            _add_branches(branches, each.run, branch.step_number + 1, next(numbers))


def _add_branches(branches: list[Branch], run: Decoding, first: int, run_number: int) -> None:
    """Add the likeliest tokens that *run* did not take at its steps from *first* on."""
    stop_tokens = run.model.stops if run.stop_reason in ("end", "follows") else ()
    for number, step in enumerate(run.steps[first:], first):
        taken = run.middle.tokens[number : number + 1] or stop_tokens
        listed = zip(step.candidates.tokens, step.candidates.log_probabilities, strict=True)
        for rank, (token, log_probability) in enumerate(listed):
            if rank > BRANCHES_PER_STEP:
                break
            if token not in taken:
                cost = -step.middle.total - log_probability
                heappush(branches, Branch(cost, number, token, run_number, log_probability, run))


def _repeats(branch: StartedBranch, found: Sequence[Middle]) -> bool:
    """Whether it begins like a middle found before, and so is likely the same text in other tokens."""
    return not branch.is_over and any(middle.text.startswith(branch.text) for middle in found)


def _is_new(middle: Middle, found: Sequence[Middle]) -> bool:
    """Whether *middle* is worth offering: complete, meant by the model, and unlike all others."""
    text = middle.text.strip()
    is_forced = middle.steered and middle.stop_reason != "lines"
    return (
        middle.complete
        and not is_forced
        and bool(text)
        and all(text != other.text.strip() for other in found)
    )
