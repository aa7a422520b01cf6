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

from fimlsp.models.middle import DecodedToken, DecodeSettings, Middle, Place, StopReason, Taken, Written
from fimlsp.models.prompt import Prompt
from fimlsp.models.protocols import Candidates, MiddleState, NextToken
from fimlsp.models.stopping import LineRule, n_repeated
from fimlsp.models.stopwatch import Stopwatch

REJECTIONS_PER_STEP_MAX = 50
STEERING_HORIZON = 32
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
    taken; so `places[n + 1]` is where token n was written.
    """

    model: NextToken
    prompt: Prompt
    settings: DecodeSettings
    written: Written
    ends_at: float
    places: list[Place] = field(default_factory=list)
    taken: list[Taken] = field(default_factory=list)
    is_reading: bool = False
    is_ended: bool = False
    tried: int = 0
    rejected: int = 0
    steered: bool = False
    watch: Stopwatch = field(default_factory=Stopwatch)

    @classmethod
    def begin(
        cls, model: NextToken, prompt: Prompt, start: MiddleState, settings: DecodeSettings
    ) -> Decoding:
        """A run from the start of the middle; its time begins now."""
        ends_at = float("inf") if settings.seconds is None else monotonic() + settings.seconds
        return cls(model, prompt, settings, Written(b"", start), ends_at)

    def branch(self, place: int, token: int, log_probability: float) -> Decoding | None:
        """A run that came by the first places of this one, up to *place*, and took *token* there.

        None: the token may not be written there. Where it is an end, `run` has nothing left to do. The time
        limit is that of this run.
        """
        at = self.places[place]
        following = self._following(at, token, log_probability)
        if following is None:
            return None
        run = Decoding(self.model, self.prompt, self.settings, at.written, self.ends_at)
        run.places, run.taken = self.places[: place + 1], self.taken[:place]
        run.is_ended = following is at.written
        if not run.is_ended:
            run._take(at, following, 0, steered=False)
        return run

    def run(self, should_stop: Callable[[], bool]) -> Middle:
        """Take steps until there is a reason to stop."""
        budget = min(self.settings.tokens, self.prompt.room)
        while (reason := self._interruption(should_stop)) is None:
            place = self._place()
            reason = self._step(place, budget - len(self.written.tokens))
            if reason is not None:
                break
        return self._finish(reason)

    def _interruption(self, should_stop: Callable[[], bool]) -> StopReason | None:
        if self.is_ended:
            return "end"
        if should_stop():
            return "cancelled"
        return "deadline" if monotonic() >= self.ends_at else None

    def _place(self) -> Place:
        """Ask the network what may follow."""
        self.watch.engine_done()
        if self.is_reading:
            candidates = self.model.advance(self.written.tokens[-1])
            self.watch.model_done()
        else:
            candidates = self.model.begin(self.prompt.tokens, self.written.tokens)
            self.is_reading = True
            self.watch.prefill_done()
        place = Place(self.written, self.written.state.complete, candidates)
        self.places.append(place)
        return place

    def _step(self, place: Place, left: int) -> StopReason | None:
        """Write the best candidate that may be written, *left* tokens being left; or the reason to stop."""
        if left <= 0:
            return "budget"
        line_rule = LineRule(self.settings.lines, self.settings.steer)
        before, steered = self.rejected, False
        for following in self._viable(place):
            if following is place.written:
                return "end"
            line = line_rule.last_line(place.written, following)
            leaves = line is None and line_rule.leaves_line(following)
            if leaves or (line is None and self._is_too_far(following, left - 1)):
                self.steered = steered = True
                continue
            self._take(place, line or following, self.rejected - before, steered)
            if line is not None:
                return "lines"
            repeats = self.settings.stop_rule == "first" and n_repeated(following.tokens)
            return "repetition" if repeats else None
        return "dead_end"

    def _viable(self, place: Place) -> Iterator[Written]:
        """What the middle may become, best first, till 50 were refused; itself where it may stop."""
        refused = 0
        for token, log_probability in _pairs(place.candidates):
            following = self._following(place, token, log_probability)
            self.tried += 1
            if following is not None:
                yield following
                continue
            refused += 1
            self.rejected += 1
            if refused == REJECTIONS_PER_STEP_MAX:
                return

    def _following(self, place: Place, token: int, log_probability: float) -> Written | None:
        if token in self.model.stops:
            return place.written if place.complete else None
        text = self.model.token_bytes[token]
        return place.written.extended(text, token, log_probability) if text else None

    def _take(self, place: Place, following: Written, rejected: int, steered: bool) -> None:
        """Write the last token of *following*."""
        text = self.model.token_bytes[following.tokens[-1]] or b""
        self.taken.append(Taken(text, following.total - place.written.total, rejected, steered))
        self.written = following

    def _is_too_far(self, following: Written, left: int) -> bool:
        """Whether *following* moves the nearest end out of reach of *left* more tokens."""
        if not self.settings.steer or left >= STEERING_HORIZON:
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
            steered=self.steered,
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
        if reason == "cancelled" or (reason == "end" and takes_first):
            return written
        if reason == "lines":
            return written if written.state.complete else self._completed()
        length = len(written.tokens) - (n_repeated(written.tokens) if takes_first else 0)
        return self._best_stop(length) or self._completed()

    def _best_stop(self, length: int) -> Written | None:
        """The best place to stop among the first *length* tokens."""
        stops = [place for place in islice(self.places, length + 1) if place.complete]
        return max(stops, key=lambda place: place.score).written if stops else None

    def _completed(self) -> Written:
        """The middle with its shortest completion behind it, if that may be written."""
        ending = self.written.state.shortest_completion
        state = self.written.state.feed(ending) if self.settings.steer else None
        if state is None:
            return self.written
        self.steered = True
        return replace(self.written, text=self.written.text + ending, state=state)


def _pairs(candidates: Candidates) -> Iterator[tuple[int, float]]:
    return zip(candidates.tokens, candidates.log_probabilities, strict=True)
