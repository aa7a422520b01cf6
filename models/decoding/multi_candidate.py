"""Several different middles for one cursor: drawn, branched off the best, or found by a beam search.

| settings | middles |
|---|---|
| a temperature | each is drawn anew |
| a temperature, `independent` | draws to be counted: in their order, equal and incomplete ones included |
| these, `aligned` | draws from the model's distribution given the constraint, see `candidate_order.py` |
| no temperature | the greedy one, and branches off the middles found before |
| beams | the likeliest texts side by side |

Among all tokens that were listed at some step and not taken there, the next branch takes the one with the
most likely text up to and including it. From there decoding is greedy again. The text before the branch has
been read and checked already, so a branch costs only its own tokens. A network that reads several texts in
about the time of one runs several branches at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from heapq import heappop, heappush, nsmallest
from itertools import chain, count, islice

from fimlsp.models.decoding.loop import Decoding
from fimlsp.models.decoding.middle import Middle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.models.errors import OutOfMemoryError
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import ListsAllRows, NextToken, Redraws, SideBySide
from fimlsp.quotient.states.protocol import State

BRANCHES_PER_STEP = 4
RUNS_PER_MIDDLE = 3
RUNS_PER_DRAW = 1_000
"""Texts that are begun for each exact draw, on average of all, before there are fewer of these."""

CHILDREN_PER_BEAM = 2
"""Continuations of each text that a beam search examines; one of them may end the text."""


def decode_many(
    model: NextToken,
    prompt: Prompt,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> tuple[Middle, ...]:
    """Up to `settings.candidates` middles, best first; independent ones in the order of the draws.

    The middle of `decode_middle` is always among them. The others differ from it and from each other, are
    complete and not empty. Costs at most three runs for each middle beyond the first.
    """
    first = Decoding.begin(model, prompt, start, settings)
    with first.cancellable(should_stop):
        if settings.beams > 1:
            return beam_search(first, should_stop)
        if settings.independent:
            return tuple(_independent(first, should_stop))
        middles = _different(first, should_stop)
    return tuple(sorted(middles, key=lambda middle: -middle.log_probability))


def _different(first: Decoding, should_stop: Callable[[], bool]) -> list[Middle]:
    """The middle of *first*, and different ones up to the wanted number."""
    settings = first.settings
    middles = [first.run(should_stop)]
    if isinstance(first.model, Redraws) and (drawn := first.model.drawn(1, settings.candidates - 1)):
        runs = _redrawn(first, middles, first.model, drawn)
    elif settings.temperature:
        runs = _samples(first, should_stop)
    else:
        runs = _branches(first, middles, should_stop)
    for run in islice(runs, RUNS_PER_MIDDLE * (settings.candidates - 1)):
        middle = run.run(should_stop)
        if middle.stop_reason in ("cancelled", "deadline"):
            break
        if _is_new(middle, middles):
            middles.append(middle)
        if len(middles) == settings.candidates:
            break
    return middles


def _independent(first: Decoding, should_stop: Callable[[], bool]) -> Iterator[Middle]:
    """The wanted number of draws; fewer, but one, if decoding ends early or gives up too many of them."""
    wanted = first.settings.candidates
    most, missing = wanted * RUNS_PER_DRAW, wanted
    for number, run in enumerate(chain([first], _samples(first, should_stop)), 1):
        middle = run.run(should_stop)
        is_over = middle.stop_reason in ("cancelled", "deadline") or number == most
        if not run.is_given_up or (is_over and missing == wanted):
            yield middle
            missing -= 1
        if is_over or not missing:
            return


def _samples(first: Decoding, should_stop: Callable[[], bool]) -> Iterator[Decoding]:
    """Runs like *first* that are drawn anew; side by side, unless they learn from each other."""
    n = max(1, first.settings.candidates - 1)
    for number in count(1, n):
        runs = [first.redrawn(draw) for draw in range(number, number + n)]
        if first.futures is None:
            run_ahead(runs, should_stop)
        yield from runs


def _redrawn(
    first: Decoding, middles: Sequence[Middle], model: Redraws, drawn: Sequence[NextToken]
) -> Iterator[Decoding]:
    """Runs like *first* with texts that *model* draws, of which the first are *drawn*.

    Each starts with a word of its own draw. The caller adds new middles to *middles*; as many as are missing
    then are drawn together.
    """
    number = 1
    while drawn:
        for network in drawn:
            yield replace(first.redrawn(0), model=network, at_prompt=None)
        number += len(drawn)
        drawn = model.drawn(number, first.settings.candidates - len(middles))


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
    """A run, its text up to the token where it branched off, and True if it was over then."""

    run: Decoding
    text: bytes
    is_over: bool


def _branches(
    first: Decoding, middles: Sequence[Middle], should_stop: Callable[[], bool]
) -> Iterator[Decoding]:
    """Runs that branch off *first* and off each other, those with the likeliest prefix first.

    The caller must finish each run, and add its middle to *middles*, before it takes the next. As many runs
    as there are missing middles run ahead together, although their own branches may still precede others.
    """
    branches, started, numbers = list[Branch](), dict[Branch, StartedBranch | None](), count()
    _add_branches(branches, first, 0, next(numbers))
    while branches:
        if branches[0] not in started:
            likeliest = nsmallest(first.settings.candidates - len(middles), branches)
            new = {branch: branch.start() for branch in likeliest if branch not in started}
            run_ahead([branch.run for branch in new.values() if branch is not None], should_stop)
            started |= new
        branch = heappop(branches)
        running = started.pop(branch)
        if running is not None and not _repeats(running, middles):
            yield running.run
            _add_branches(branches, running.run, branch.step_number + 1, next(numbers))


def _add_branches(branches: list[Branch], run: Decoding, first: int, run_number: int) -> None:
    """Add the likeliest tokens that *run* did not take at step *first* and later."""
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


def _repeats(branch: StartedBranch, middles: Sequence[Middle]) -> bool:
    """True if *branch* has the prefix of another middle, so is likely the same text in other tokens."""
    return not branch.is_over and any(middle.text.startswith(branch.text) for middle in middles)


def _is_new(middle: Middle, middles: Sequence[Middle]) -> bool:
    """True if *middle* is complete, not forced by steering, and unlike all *middles*."""
    text = middle.text.strip()
    is_forced = middle.steered and middle.stop_reason != "lines"
    return (
        middle.complete
        and not is_forced
        and bool(text)
        and all(text != other.text.strip() for other in middles)
    )


def run_ahead(runs: Sequence[Decoding], should_stop: Callable[[], bool]) -> None:
    """Advance *runs*, which share one prompt, together as far as possible, if their network can do that.

    Each pass of the network reads the next token of all of them. Each run writes exactly the same as alone,
    and can be continued alone at any time. Returns when all have ended, when there is a reason to stop, or
    when memory does not suffice for all.
    """
    active = [run for run in runs if run.stop_reason is None]
    if len(active) < 2 or should_stop():
        return
    with suppress(OutOfMemoryError):  # each run can continue alone
        _step_together(active, should_stop)


def _step_together(active: list[Decoding], should_stop: Callable[[], bool]) -> None:
    first = active[0]
    if not isinstance(first.model, SideBySide):
        return
    *shared, last = first.prompt.tokens
    rows = first.model.side_by_side(shared, first.budget) if shared else None
    if rows is None:
        return
    candidates = rows.begin([(last, *run.middle.tokens) for run in active])
    while True:
        for number, (run, row_candidates) in enumerate(zip(active, candidates, strict=True)):
            list_all = partial(rows.all_of, number) if isinstance(rows, ListsAllRows) else None
            run.step_with(row_candidates, list_all)
        kept = [number for number, run in enumerate(active) if run.interruption(should_stop) is None]
        active = [active[number] for number in kept]
        if not active:
            return
        candidates = rows.advance(kept, [run.middle.tokens[-1] for run in active])


def beam_search(first: Decoding, should_stop: Callable[[], bool]) -> tuple[Middle, ...]:
    """Up to `settings.candidates` different middles, best length-normalised log-probability first.

    At each step the `settings.beams` likeliest texts continue, each with its best allowed tokens. The search
    ends with the budget, or when as many texts have ended and all score better than the others do now. A
    width of 1 is greedy decoding. Times of a result are those of the whole search.
    """
    alive, ended = _grow_beams(first, should_stop)
    ended.sort(key=_score, reverse=True)
    middles = dict[bytes, Middle]()
    for run in (*ended, *alive):
        middle = run.run(should_stop)
        middles.setdefault(middle.text, middle)
        if len(middles) == first.settings.candidates and len(ended) >= len(middles):
            break
    by_score = sorted(middles.values(), key=lambda middle: -middle.log_probability)
    return tuple(by_score[: first.settings.candidates])


def _grow_beams(first: Decoding, should_stop: Callable[[], bool]) -> tuple[list[Decoding], list[Decoding]]:
    """The runs that are still alive at the end of the search, and those that have ended."""
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
    return alive, ended


def _score(run: Decoding) -> float:
    """The length-normalised log-probability of the text of *run*."""
    has_ended = run.stop_reason == "end"
    return run.total / max(1, len(run.middle.tokens) + has_ended)
