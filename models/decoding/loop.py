"""The decoding loop: greedy, with every token that would leave the middle unable to connect rejected.

Candidates are tried from the most likely down; a rejected one costs a check by the constraint and no step
of the network (adaptive rejection). The end of the text is a candidate like any other, allowed only where
the middle is complete. The rule for the end of the budget is that of Melcer et al. 2024 (arXiv 2402.17988):
of all places where the middle was complete, the one with the best length-normalised log-probability. Beyond
the paper, steering: when the budget runs low, only candidates are taken that the tokens left can still
complete, and at worst the shortest completion itself is written, so the result always connects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from time import monotonic

from fimlsp.models.decoding.choosing import at_random, best_first
from fimlsp.models.decoding.middle import (
    DecodedToken,
    DecodeSettings,
    Following,
    Middle,
    Place,
    StopReason,
    Taken,
    Written,
)
from fimlsp.models.decoding.stopping import LineRule, n_repeated
from fimlsp.models.decoding.stopwatch import Stopwatch
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import Candidates, Launching, MiddleState, NextToken
from numpy.random import default_rng

REJECTIONS_PER_STEP_MAX = 50
STEERING_HORIZON = 16
STEERED_PER_STEP_MAX = 16
STEERED_BYTES_PER_TOKEN = 2


def decode_middle(
    model: NextToken,
    prompt: Prompt,
    start: MiddleState,
    settings: DecodeSettings,
    should_stop: Callable[[], bool],
) -> Middle:
    """Decode the middle that *start* constrains, from *model* at *prompt*.

    *should_stop* is asked before every step of the network. Law: with `settings.steer` the result is
    complete unless it was cancelled. Costs at most `settings.tokens` + 1 steps of the network and 50
    rejections each.
    """
    return Decoding.begin(model, prompt, start, settings).run(should_stop)


@dataclass(slots=True)
class Decoding:
    """One run of the loop.

    `places` are the places it came by, one for each step of the network, and `taken` how each token was
    taken; so `places[n + 1]` is where token n was written. A network that can be launched is, as soon as it
    is known what it has to read: what does not decide that is done meanwhile, and `pending` waits for it.
    """

    model: NextToken
    prompt: Prompt
    settings: DecodeSettings
    start: MiddleState
    written: Written
    ends_at: float
    places: list[Place] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    is_reading: bool = False
    launch: Callable[[int], Callable[[], Candidates]] | None = None
    pending: Callable[[], Candidates] | None = None
    ended: StopReason | None = None
    tried: int = 0
    rejected: int = 0
    steered: bool = False
    watch: Stopwatch = field(default_factory=Stopwatch)
    rule: LineRule = field(init=False)

    def __post_init__(self) -> None:
        self.rule = LineRule(self.settings, self.start)

    @classmethod
    def begin(
        cls, model: NextToken, prompt: Prompt, start: MiddleState, settings: DecodeSettings
    ) -> Decoding:
        """A run from the start of the middle; its time begins now."""
        ends_at = float("inf") if settings.seconds is None else monotonic() + settings.seconds
        return cls(model, prompt, settings, start, Written(b"", start, owed=prompt.owed), ends_at)

    def again(self, seed: int) -> Decoding:
        """A run like this from its start, with another *seed* and the time limit of this one."""
        settings = replace(self.settings, seed=seed)
        written = Written(b"", self.start, owed=self.prompt.owed)
        return Decoding(self.model, self.prompt, settings, self.start, written, self.ends_at)

    def branch(self, place: int, token: int, log_probability: float) -> Decoding | None:
        """A run that came by the first places of this one, up to *place*, and took *token* there.

        None: the token may not be written there. Where it ends the middle, `run` has nothing left to do. The
        time limit is that of this run.
        """
        at, left = self.places[place], self.budget - place
        following = self._following(at, token, log_probability)
        if following is None:
            return None
        run = Decoding(self.model, self.prompt, self.settings, self.start, at.written, self.ends_at)
        run.places, run.taken = self.places[: place + 1], self.taken[:place]
        if following.ended != "end" and (left <= 0 or run._is_refused(following, left - 1)):
            return None
        run.ended = run._take(at, following)
        return run

    @property
    def budget(self) -> int:
        """The most tokens that may be written."""
        return min(self.settings.tokens, self.prompt.room)

    def run(self, should_stop: Callable[[], bool]) -> Middle:
        """Take steps until there is a reason to stop."""
        while (reason := self.interruption(should_stop)) is None:
            self._go_on(self._place())
        return self._finish(reason)

    def see(self, candidates: Candidates) -> None:
        """Take the step for which somebody else asked the network, `run_ahead`.

        Waiting for runs beside this one counts as time of the network.
        """
        self.watch.model_done()
        self._go_on(self._arrive(candidates))
        self.watch.engine_done()

    def _go_on(self, place: Place) -> None:
        self.ended = self._step(place, self.budget - len(self.written.tokens))

    def interruption(self, should_stop: Callable[[], bool]) -> StopReason | None:
        """Why not to go on."""
        if self.ended is not None:
            return self.ended
        if should_stop():
            return "cancelled"
        return "deadline" if monotonic() >= self.ends_at else None

    def _place(self) -> Place:
        """Ask the network what may follow."""
        self.watch.engine_done()
        if self.is_reading:
            candidates = self.pending() if self.pending else self.model.advance(self.written.tokens[-1])
            self.watch.model_done()
        else:
            candidates = self.model.begin(self.prompt.tokens, self.written.tokens)
            self.is_reading = True
            self.launch = self.model.launch if isinstance(self.model, Launching) else None
            self.watch.prefill_done()
        return self._arrive(candidates)

    def _arrive(self, candidates: Candidates) -> Place:
        place = Place(self.written, candidates)
        self.places.append(place)
        return place

    def _step(self, place: Place, left: int) -> StopReason | None:
        """Write the best candidate that may be written, *left* tokens being left; or the reason to stop."""
        if left <= 0:
            return "budget"
        before = self.rejected
        for n_steered, following in enumerate(islice(self._viable(place), STEERED_PER_STEP_MAX)):
            if not self._is_refused(following, left - 1):
                return self._take(place, following, self.rejected - before, n_steered > 0)
            self.steered = True
        return "dead_end"

    def _viable(self, place: Place) -> Iterator[Following]:
        """What the middle may become, in turn, till 50 were refused."""
        refused = 0
        for token, log_probability in self._ordered(place):
            following = self._following(place, token, log_probability)
            self.tried += 1
            if following is not None:
                yield following
                continue
            refused += 1
            self.rejected += 1
            if refused == REJECTIONS_PER_STEP_MAX:
                break
        if owed := place.written.owed:
            yield from self._forced(place, owed)

    def _ordered(self, place: Place) -> Iterator[tuple[int, float]]:
        settings, candidates = self.settings, place.candidates
        if not settings.temperature:
            return best_first(candidates)
        random = default_rng((settings.seed, len(place.written.tokens)))
        return at_random(candidates, settings.temperature, settings.top_p, random)

    def _following(self, place: Place, token: int, log_probability: float) -> Following | None:
        if token in self.model.stops:
            return Following(place.written, "end") if place.complete else None
        text = self.model.token_bytes[token]
        return self.rule.following(place.written, text, token, log_probability) if text else None

    def _forced(self, place: Place, owed: bytes) -> Iterator[Following]:
        """The middle with the *owed* bytes, or the first of them, where no candidate writes them."""
        for text in (owed, owed[:1]):
            if text in self.model.token_bytes:
                token = self.model.token_bytes.index(text)
                following = self.rule.following(place.written, text, token, 0.0)
                if following is not None:
                    yield following

    def _is_refused(self, following: Following, left: int) -> bool:
        """Whether steering refuses *following*, behind which *left* tokens are left."""
        written = following.written
        return following.ended is None and (self.rule.leaves_line(written) or self._is_too_far(written, left))

    def _take(
        self, place: Place, following: Following, rejected: int = 0, steered: bool = False
    ) -> StopReason | None:
        """Go on with *following*; the reason to stop there, if there is one."""
        written, ended = following
        if ended == "end":
            return ended
        token = written.tokens[-1]
        if self.launch and ended is None:
            self.pending = self.launch(token)
        text = (self.model.token_bytes[token] or b"")[len(place.written.owed) :]
        self.taken.append(Taken(text, written.total - place.written.total, rejected, steered))
        self.written = written
        if ended is None and self.settings.stop_rule == "first" and n_repeated(written.tokens):
            return "repetition"
        return ended

    def _is_too_far(self, following: Written, left: int) -> bool:
        """Whether *following* moves the nearest end out of reach of *left* more tokens."""
        if not self.settings.steer or left >= STEERING_HORIZON:
            return False
        if following.state is self.written.state or following.complete:
            return False
        need = len(following.state.shortest_completion)
        return need > STEERED_BYTES_PER_TOKEN * left and need > len(self.written.state.shortest_completion)

    def _finish(self, reason: StopReason) -> Middle:
        written = self._finished(reason)
        self.watch.engine_done()
        stops = [place.candidates.stop for place in self.places]
        return Middle(
            text=written.text,
            complete=written.state.complete,
            tokens=len(self.taken),
            rejected=self.rejected,
            steered=self.steered or bool(written.ending),
            stop_reason=reason,
            log_probability=written.mean,
            model_ms=self.watch.model_ms,
            engine_ms=self.watch.engine_ms,
            prefill_ms=self.watch.prefill_ms,
            tried=self.tried,
            stop_at_start=next(iter(stops), None),
            trace=tuple(self._trace(stops[1:])),
        )

    def _trace(self, stops: list[float]) -> Iterator[DecodedToken]:
        for number, taken in enumerate(self.taken):
            stop = stops[number] if number < len(stops) else None
            yield DecodedToken(taken.text, taken.log_probability, stop, taken.rejected, taken.steered)

    def _finished(self, reason: StopReason) -> Written:
        """What to keep, and to add, of what was written."""
        written = self.written
        takes_first = self.settings.stop_rule == "first"
        if reason in ("cancelled", "lines") or (reason == "end" and takes_first):
            return written
        length = len(written.tokens) - (n_repeated(written.tokens) if takes_first else 0)
        return self._best_stop(length) or (written.completed() if self.settings.steer else written)

    def _best_stop(self, length: int) -> Written | None:
        """The best place to stop among the first *length* tokens."""
        stops = [place for place in islice(self.places, length + 1) if place.complete]
        return max(stops, key=lambda place: place.score).written if stops else None
