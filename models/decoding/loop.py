"""The decoding loop: takes the likeliest tokens after which the middle can still be completed.

Candidates are tried from the most likely down. A rejected one costs a check by the constraint and no step of
the network (adaptive rejection). The end of the text is a candidate like any other, allowed only where the
middle is complete. A rejected candidate that repeats the text after the cursor in its line means the end too.

The rule for the end of the budget is that of Melcer et al. 2024 (arXiv 2402.17988): the middle stops at the
complete step with the best length-normalised log-probability. Steering goes beyond the paper. When the budget
runs low, only candidates are taken that the remaining tokens can complete. At worst the shortest completion
itself is written, so the result always connects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from time import monotonic

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from fimlsp.lexing.interruption import Interrupted, interruptible, time_limit
from fimlsp.models.decoding.candidate_order import (
    Draw,
    Future,
    Futures,
    ScoredToken,
    allowed_tokens,
    at_random,
    filter_by_mask,
    mask_vocabulary,
    preferred_first,
)
from fimlsp.models.decoding.healing import Healed
from fimlsp.models.decoding.middle import (
    Continuation,
    DecodeStep,
    Middle,
    PartialMiddle,
    StopReason,
    Stopwatch,
    TokenTrace,
)
from fimlsp.models.decoding.settings import LINE_END, DecodeSettings, LineRule, best_stop, n_repeated
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import (
    Cancellable,
    Candidates,
    Launching,
    ListsMore,
    ListsViable,
    NextToken,
    Preference,
)
from fimlsp.quotient.states.protocol import State

REJECTIONS_PER_STEP_MAX = 50
REFUSALS_BEFORE_MASK = 24
"""Refusals at one step that cost about as much as a mask (`benchmarks/models/refusals.py`)."""

STEERING_HORIZON = 16
STEERED_PER_STEP_MAX = 16
STEERED_BYTES_PER_TOKEN = 2
LONGER_LISTS = 1_024, 16_384
"""Numbers of candidates that are requested one after the other, before all of them."""

VIABLE_MAX = 4_096
"""Draws need all viable candidates, and a network lists so many of them."""

RARE = 1e-4
"""Candidates that are together less likely than this are not requested."""

ENGINE_SECONDS = 0.5
"""Time for one token, or for the end of a middle, that the constraint gets even when the time is up."""


def decode_middle(
    model: NextToken,
    prompt: Prompt,
    start: State,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> Middle:
    """Decode the middle that *start* constrains, from *model* at *prompt*.

    *should_stop* is called before every step of the network. Law: with `settings.steer` the result is
    complete unless it was cancelled. Costs at most `settings.tokens` + 1 steps of the network and 50
    rejections each.
    """
    decoding = Decoding.begin(model, prompt, start, settings)
    with decoding.cancellable(should_stop):
        return decoding.run(should_stop)


@dataclass(slots=True)
class Decoding:
    """One run of the loop.

    With a temperature, `draw` numbers the runs with equal settings, each of which draws by itself. `steps`
    has one entry per network step, `trace` one per token, so `steps[n + 1]` follows token n.

    If the network can be launched, it starts on the next token as soon as that is known. Meanwhile the loop
    does the work that does not decide about it; then `pending` waits for the result. While texts are read
    side by side, `list_all_of_row` lists all candidates of this one. Aligned draws share `futures`. All draws
    share the candidates `at_prompt`, so none but the first reads the network for its first token. `mask` is
    that of the last step, if it needed one.
    """

    model: NextToken
    prompt: Prompt
    settings: DecodeSettings
    start: State
    middle: PartialMiddle
    ends_at: float
    draw: int = 0
    steps: list[DecodeStep] = field(default_factory=list)
    trace: list[TokenTrace] = field(default_factory=list)
    has_read_prompt: bool = False
    launch: Callable[[int], Callable[[], Candidates]] | None = None
    pending: Callable[[], Candidates] | None = None
    list_all_of_row: Callable[[], Candidates | None] | None = None
    futures: Futures | None = None
    at_prompt: Candidates | None = None
    stop_reason: StopReason | None = None
    tried: int = 0
    rejected: int = 0
    refused: list[ScoredToken] = field(default_factory=list)
    mask: NDArray[np.bool_] | None = None
    steered: bool = False
    watch: Stopwatch = field(default_factory=Stopwatch)
    rule: LineRule = field(init=False)

    def __post_init__(self) -> None:
        self.rule = LineRule(self.settings)

    @classmethod
    def begin(cls, model: NextToken, prompt: Prompt, start: State, settings: DecodeSettings) -> Decoding:
        """A run from the start of the middle; its time limit counts from now."""
        ends_at = float("inf") if settings.seconds is None else monotonic() + settings.seconds
        futures = None if settings.aligned == "no" else Futures(is_exact=settings.aligned == "exactly")
        return cls(model, prompt, settings, start, PartialMiddle(b"", start), ends_at, futures=futures)

    def redrawn(self, draw: int) -> Decoding:
        """Draw number *draw* with the seed of this run, from the start, with the same end of time."""
        middle = PartialMiddle(b"", self.start)
        return Decoding(
            self.model,
            self.prompt,
            self.settings,
            self.start,
            middle,
            self.ends_at,
            draw,
            futures=self.futures,
            at_prompt=self.at_prompt,
        )

    def branch(self, number: int, token: int, log_probability: float) -> Decoding | None:
        """A run that shares the steps up to *number* with this one and takes *token* there.

        None if the constraint or steering refuses the token. If it ends the middle, `run` has nothing left
        to do. The time limit is that of this run.
        """
        step, left = self.steps[number], self.budget - number
        continuation = self._continuation(step, token, log_probability)
        if continuation is None:
            return None
        run = Decoding(self.model, self.prompt, self.settings, self.start, step.middle, self.ends_at)
        run.steps, run.trace = self.steps[: number + 1], self.trace[:number]
        if continuation.stop_reason != "end" and (left <= 0 or run._steers_away(continuation, left - 1)):
            return None
        run.stop_reason = run._take(step, continuation)
        return run

    def grown(self, most: int) -> Iterator[Decoding]:
        """Runs that continue this one with each of the best allowed candidates, at most *most*.

        Costs one step of the network, which reads the difference from the text that it read last. The runs
        share their stopwatch.
        """
        self.watch.charge("constraint")
        listed = self.model.begin(self.prompt.tokens, self.middle.tokens)
        step = self._step_with(listed)
        self.watch.charge("network")
        left, self.refused, self.mask = self.budget - len(self.middle.tokens), [], None
        for continuation in islice(self._allowed(step), most):
            if self._steers_away(continuation, left - 1):
                self.steered = True
                continue
            run = Decoding(self.model, self.prompt, self.settings, self.start, self.middle, self.ends_at)
            run.steps, run.trace, run.watch = [*self.steps, step], self.trace[:], self.watch
            run.tried, run.rejected, run.steered = self.tried, self.rejected, self.steered
            run.stop_reason = run._take(step, continuation, tuple(self.refused), self.steered)
            yield run

    @property
    def total(self) -> float:
        """The log-probability (nats) of the middle so far, its end included if the network has ended it."""
        return self.middle.total + (self.steps[-1].candidates.stop if self.stop_reason == "end" else 0.0)

    @property
    def budget(self) -> int:
        """Maximum number of tokens."""
        return min(self.settings.tokens, self.prompt.room)

    def cancellable(self, should_stop: Callable[[], bool]) -> AbstractContextManager[None]:
        """Within this context, no run waits for a network elsewhere beyond its end of time."""
        if not isinstance(self.model, Cancellable):
            return nullcontext()
        return self.model.cancellable(lambda: should_stop() or monotonic() >= self.ends_at)

    def run(
        self, should_stop: Callable[[], bool], on_text: Callable[[bytes], None] = lambda _: None
    ) -> Middle:
        """Take steps until there is a reason to stop; *on_text* gets the bytes that each step adds."""
        while (reason := self.interruption(should_stop)) is None:
            try:
                step = self._read_next()
            except Interrupted:
                return self._result(self.interruption(should_stop) or "cancelled")
            self._write_token(step)
            if self.middle is not step.middle:
                on_text(self.middle.text[len(step.middle.text) :])
        if self.futures is not None and reason not in ("cancelled", "deadline"):
            self.futures.learn(self.middle.tokens, is_cut_off=reason == "budget")
        return self._result(reason)

    @property
    def is_given_up(self) -> bool:
        """True if this is no draw of the wanted distribution, but was needed to find one."""
        is_exact = self.futures is not None and self.futures.is_exact
        return is_exact and self.stop_reason in ("dead_end", "budget")

    def step_with(self, candidates: Candidates, list_all: Callable[[], Candidates] | None = None) -> None:
        """Take one step with *candidates* that `run_ahead` got from the network for this run.

        *list_all* returns all of them, if they can be listed. The time since the last step counts as the
        network's.
        """
        self.watch.charge("network")
        self.list_all_of_row = list_all or (lambda: None)
        self._write_token(self._new_step(candidates))
        self.list_all_of_row = None
        self.watch.charge("constraint")

    def interruption(self, should_stop: Callable[[], bool]) -> StopReason | None:
        """The reason to stop; None if there is none."""
        if self.stop_reason is not None:
            return self.stop_reason
        if should_stop():
            return "cancelled"
        return "deadline" if monotonic() >= self.ends_at else None

    def _read_next(self) -> DecodeStep:
        self.watch.charge("constraint")
        if not self.middle.tokens and self.at_prompt is not None:
            return self._new_step(self.at_prompt)
        if self.has_read_prompt:
            candidates = self.pending() if self.pending else self.model.advance(self.middle.tokens[-1])
            self.watch.charge("network")
        else:
            candidates = self.model.begin(self.prompt.tokens, self.middle.tokens)
            self.has_read_prompt = True
            self.at_prompt = None if self.middle.tokens else candidates
            self.launch = self.model.launch if isinstance(self.model, Launching) else None
            self.watch.charge("prompt")
        return self._new_step(candidates)

    def _new_step(self, candidates: Candidates) -> DecodeStep:
        step = self._step_with(candidates)
        self.steps.append(step)
        return step

    def _step_with(self, candidates: Candidates) -> DecodeStep:
        """The step from the middle so far to *candidates*."""
        if not isinstance(self.middle.state, Healed) and self.prompt.left_out:
            texts = self.model.token_bytes
            candidates = candidates.ended_by(lambda token: self.prompt.repeats_left_out(texts[token]))
        return DecodeStep(self.middle, candidates).healed(self.model.token_bytes, self._list_some)

    def _write_token(self, step: DecodeStep) -> None:
        left = max(ENGINE_SECONDS, self.ends_at - monotonic())
        try:
            with interruptible(time_limit(left)):
                self.stop_reason = self._best_allowed(step, self.budget - len(self.middle.tokens))
        except Interrupted:
            self.stop_reason = "deadline"

    def _best_allowed(self, step: DecodeStep, left: int) -> StopReason | None:
        """Take the best allowed candidate, with *left* tokens left; returns the reason to stop, if any."""
        if left <= 0:
            return "budget"
        refused = self.refused = list[ScoredToken]()
        self.mask = None
        allowed = islice(self._allowed(step), STEERED_PER_STEP_MAX)
        for n_steered, continuation in enumerate(allowed):
            if not self._steers_away(continuation, left - 1):
                return self._take(step, continuation, tuple(refused), n_steered > 0)
            self.steered = True
        return "dead_end"

    def _allowed(self, step: DecodeStep) -> Iterator[Continuation]:
        """Continuations that the constraint allows, in the order of candidates, until 50 were rejected.

        After many refusals a mask filters the candidates, however many there are. With the rule "best" there
        is no mask, and any refused candidate ends a complete middle, as in the released code of Melcer et al.
        2024. With the rule "first", a refused candidate ends a complete middle if it repeats the text that
        follows in the line. The network need not have read that text.
        """
        is_plain = self.settings.stop_rule == "best"
        for token, log_probability in self._ordered(step) if is_plain else self._filtered(step):
            continuation = self._continuation(step, token, log_probability)
            self.tried += 1
            if continuation is not None:
                yield continuation
                continue
            self.refused.append((token, log_probability))
            self.rejected += 1
            text = self.model.token_bytes[token]
            repeats = self.rule.repeats_what_follows(text) or self.prompt.repeats_left_out(text)
            if (is_plain or repeats) and step.complete:
                yield Continuation(step.middle, "end" if is_plain else "follows")
                return
            if len(self.refused) == REJECTIONS_PER_STEP_MAX:
                return

    def _filtered(self, step: DecodeStep) -> Iterator[ScoredToken]:
        """The candidates in their order; after 24 refusals only those that a mask allows."""
        ordered = self._ordered(step)
        for candidate in ordered:
            yield candidate
            if len(self.refused) == REFUSALS_BEFORE_MASK:
                break
        else:
            return
        self._make_mask(step)
        yield from filter_by_mask(ordered, self.mask)

    def _make_mask(self, step: DecodeStep) -> None:
        """Set the mask of *step*, if it has none yet."""
        if self.mask is None:
            self.mask = self._mask_at(step, may_wait=self.settings.seconds is None)

    def _mask_at(self, step: DecodeStep, *, may_wait: bool) -> NDArray[np.bool_] | None:
        """The tokens that may follow *step*; None if the network has no masks. See `mask_vocabulary`."""
        vocabulary = mask_vocabulary(self.model, may_wait=may_wait)
        return allowed_tokens(vocabulary, step.middle.state, self.settings.lines is not None)

    def _ordered(self, step: DecodeStep) -> Iterator[ScoredToken]:
        settings = self.settings
        if not settings.temperature:
            preference = settings.preference
            ranked = self._best_first(step)
            return (
                ranked if preference is None else preferred_first(ranked, self._misfit_at(step, preference))
            )
        random = default_rng((settings.seed, self.draw, len(step.middle.tokens)))
        if self.futures is not None:
            return self.futures.drawn(step.middle.tokens, lambda: self._future_at(step), random)
        draw = Draw(settings.temperature, settings.top_p, settings.top_k, settings.min_p)
        listed = partial(self._list_all, step, is_cut=draw.cuts)
        return at_random(step.candidates, draw, random, listed)

    def _list_all(self, step: DecodeStep, *, is_cut: bool) -> Candidates | None:
        """All candidates of *step*, or those that its mask allows; None if the network cannot list them.

        If draws are cut (*is_cut*), the cut depends on all of them.
        """
        if self.settings.seconds is None and not is_cut and isinstance(self.model, ListsViable):
            self._make_mask(step)
        return self._list_viable(step, most=VIABLE_MAX) or self._list_more(step)

    def _future_at(self, step: DecodeStep) -> Future:
        """What is known of the texts that go on from *step*, before any of them is drawn."""
        state = step.middle.state
        listed = self._list_more(step) or step.candidates
        if isinstance(state, Healed):
            listed = state.compatible(listed, self.model.token_bytes)
        mask = self._mask_at(step, may_wait=False)
        ends = np.array(sorted(self.model.stops), np.intp)

        def is_allowed(tokens: NDArray[np.intp]) -> NDArray[np.bool_]:
            allowed = np.ones(len(tokens), np.bool_) if mask is None else mask.take(tokens, mode="clip")
            return allowed & (step.complete | ~np.isin(tokens, ends))

        return Future(listed, self.settings.temperature, is_allowed)

    def _best_first(self, step: DecodeStep) -> Iterator[ScoredToken]:
        """The listed candidates, then the others if the network can list them, which it does only then.

        It lists those that a mask allows, if there is one and the network can list certain tokens. Otherwise
        it lists more and more of them, until the others together are too unlikely to matter.
        """
        state, known, unlisted = step.middle.state, set[int](), 1.0
        yield from _unknown(step.candidates, known)
        if (viable := self._list_viable(step)) is not None:
            yield from _unknown(viable, known)
            return
        for most in (*LONGER_LISTS, None):
            longer = self._list_more(step, most) if unlisted >= RARE else None
            if longer is None:
                return
            unlisted = longer.unlisted
            if isinstance(state, Healed):
                longer = state.compatible(longer, self.model.token_bytes)
            yield from _unknown(longer, known)

    def _list_some(self, step: DecodeStep) -> Candidates | None:
        """More candidates of *step* than are listed, though perhaps not all."""
        return self._list_more(step, LONGER_LISTS[0])

    def _list_more(self, step: DecodeStep, most: int | None = None) -> Candidates | None:
        """At least *most* candidates of *step*, or all; None if the network cannot list them."""
        if self.list_all_of_row is not None:
            return self.list_all_of_row()
        if not isinstance(self.model, ListsMore):
            return None
        self.watch.charge("constraint")
        if self.at_prompt is not None and not self.has_read_prompt and not step.middle.tokens:
            self.model.begin(self.prompt.tokens)  # another draw has read on since
            self.has_read_prompt = True
        more = self.model.more_after(self.prompt.tokens, step.middle.tokens, most)
        self.watch.charge("network")
        return more

    def _list_viable(self, step: DecodeStep, most: int | None = None) -> Candidates | None:
        """The likeliest candidates of *step* that its mask allows; all of them if *most* limits their number.

        None without a mask, with more than *most* tokens in it, or if the network cannot list them.
        """
        if self.mask is None or not isinstance(self.model, ListsViable):
            return None
        mask = self.mask.copy()
        mask[sorted(self.model.stops)] = step.complete
        viable = np.flatnonzero(mask)
        if most is not None and len(viable) > most:
            return None
        self.watch.charge("constraint")
        listed = self.model.viable_after(
            self.prompt.tokens, step.middle.tokens, viable.tolist(), step.candidates
        )
        self.watch.charge("network")
        return listed

    def _misfit_at(self, step: DecodeStep, preference: Preference) -> Callable[[int], float]:
        """The penalty (nats) of each token at *step*."""
        text, texts = step.middle.text, self.model.token_bytes
        return lambda token: preference.misfit(text, texts[token] or LINE_END)

    def _continuation(self, step: DecodeStep, token: int, log_probability: float) -> Continuation | None:
        if token in self.model.stops:
            return Continuation(step.middle, "end") if step.complete else None
        text = self.model.token_bytes[token]
        return self.rule.continuation(step.middle, text, token, log_probability) if text else None

    def _steers_away(self, continuation: Continuation, left: int) -> bool:
        """True if steering refuses *continuation*, after which *left* tokens are left."""
        middle, stop_reason = continuation
        if self.rule.leads_too_far(self.middle, middle):
            return True
        return stop_reason is None and (self.rule.leaves_line(middle) or self._is_out_of_reach(middle, left))

    def _is_out_of_reach(self, middle: PartialMiddle, left: int) -> bool:
        """True if *middle* moves the nearest end further away than *left* more tokens can reach."""
        if not self.settings.steer or left >= STEERING_HORIZON:
            return False
        if middle.state is self.middle.state or middle.complete:
            return False
        need = len(middle.state.shortest_completion)
        return need > STEERED_BYTES_PER_TOKEN * left and need > len(self.middle.state.shortest_completion)

    def _take(
        self,
        step: DecodeStep,
        continuation: Continuation,
        refused: tuple[ScoredToken, ...] = (),
        steered: bool = False,
    ) -> StopReason | None:
        """Continue with *continuation*; returns the reason to stop there, if any."""
        middle, stop_reason = continuation
        if middle is step.middle:
            return stop_reason
        token = middle.tokens[-1]
        if stop_reason is None and self.settings.stop_rule == "last" and len(middle.tokens) == self.budget:
            stop_reason = "budget"  # the network's view of the end would change nothing
        if self.launch and stop_reason is None:
            self.pending = self.launch(token)
        text = self.model.token_bytes[token] or b""
        log_probability = middle.total - step.middle.total
        self.trace.append(TokenTrace(text, log_probability, refused, steered, token=token))
        self.middle = middle
        if stop_reason is None and middle.total < self.settings.least_total:
            return "unsure"
        if stop_reason is None and self.rule.is_stopped_by_caller(middle):
            return "asked"
        if stop_reason is None and self.settings.stop_rule == "first" and n_repeated(middle.tokens):
            return "repetition"
        return stop_reason

    def _result(self, reason: StopReason) -> Middle:
        middle = self._finished(reason)
        self.watch.charge("constraint")
        stops = [step.candidates.stop for step in self.steps]
        return Middle(
            text=middle.text,
            complete=middle.state.complete,
            tokens=len(self.trace),
            rejected=self.rejected,
            steered=self.steered or bool(middle.closing),
            stop_reason=reason,
            log_probability=middle.mean,
            model_ms=self.watch.ms["network"],
            engine_ms=self.watch.ms["constraint"],
            prefill_ms=self.watch.ms["prompt"],
            tried=self.tried,
            stop_at_start=stops[0] if stops else None,
            trace=tuple(self._trace_with_stops(stops[1:])),
        )

    def _trace_with_stops(self, stops: list[float]) -> Iterator[TokenTrace]:
        """The trace, with the log-probability of a stop after each token that the network read."""
        for number, token in enumerate(self.trace):
            yield replace(token, stop=stops[number]) if number < len(stops) else token

    def _finished(self, reason: StopReason) -> PartialMiddle:
        """The part of the middle to keep, completed if that is wanted and takes little time."""
        try:
            with interruptible(time_limit(max(ENGINE_SECONDS, self.ends_at - monotonic()))):
                return self._finished_in_time(reason)
        except Interrupted:
            return self.middle

    def _finished_in_time(self, reason: StopReason) -> PartialMiddle:
        """As `_finished`: all of the middle, the part up to its best stop, or its shortest completion.

        All of it is kept if it stopped for a reason of its own, or with the rule "last". Otherwise the best
        stop counts, without repeated tokens; an incomplete middle is completed if steering is on.
        """
        middle = self.middle
        takes_first = self.settings.stop_rule == "first"
        if reason == "lines" and self.rule.leaves_line(middle):
            within = best_stop(self.steps[: len(middle.tokens) + 1], self.model, self.prompt)
            return within if within is not None and within.text else middle
        if reason in ("follows", "cancelled", "lines", "asked", "unsure"):
            return middle
        if self.settings.stop_rule == "last" and not middle.complete:
            return middle.completed() if self.settings.steer else middle
        if self.settings.stop_rule == "last" or (reason == "end" and takes_first):
            return middle
        length = len(middle.tokens) - (n_repeated(middle.tokens) if takes_first else 0)
        best = best_stop(self.steps[: length + 1], self.model, self.prompt)
        return best or (middle.completed() if self.settings.steer else middle)


def _unknown(candidates: Candidates, known: set[int]) -> Iterator[ScoredToken]:
    """Those of *candidates* that are not *known*; they are known afterwards."""
    for token, log_probability in zip(candidates.tokens, candidates.log_probabilities, strict=True):
        if token not in known:
            known.add(token)
            yield token, log_probability
