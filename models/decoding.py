"""The decoding loop: greedy, with every token that would leave the middle unable to connect rejected.

Candidates are tried from the most likely down; a rejected one costs a check by the constraint and no step
of the network (adaptive rejection). The end of the text is a candidate like any other, allowed only where
the middle is complete. The rule for the end of the budget is that of Melcer et al. 2024 (arXiv 2402.17988):
of all places where the middle was complete, the one with the best length-normalised log-probability. Beyond
the paper, steering: when the budget runs low, only candidates are taken that the tokens left can still
complete, and at worst the shortest completion itself is written, so the result always connects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from time import monotonic

from fimlsp.models.middle import DecodeSettings, Middle, StopReason, Written
from fimlsp.models.prompt import Prompt
from fimlsp.models.protocols import Candidates, MiddleState, NextToken
from fimlsp.models.stopwatch import Stopwatch

REJECTIONS_PER_STEP_MAX = 50
STEERING_HORIZON = 32
STEERED_BYTES_PER_TOKEN = 2
PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = ord("\n")
CLOSING = b")]}'\""


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
    return _Decoding(model, settings, start).run(prompt, should_stop)


def n_repeated(tokens: Sequence[int]) -> int:
    """How many of the last *tokens* only repeat the run before them (thrice, 12 tokens in all); else 0."""
    for size in range(1, PERIOD_MAX + 1):
        repeated = max(REPETITIONS * size, REPEATED_TOKENS_MIN)
        if repeated <= len(tokens) and tokens[-repeated:-size] == tokens[size - repeated :]:
            return repeated - size
    return 0


class _Decoding:
    """One run of the loop; `stops` are the places where the middle may stop, with their scores."""

    def __init__(self, model: NextToken, settings: DecodeSettings, start: MiddleState) -> None:
        self.model = model
        self.settings = settings
        self.written = Written(b"", start)
        self.stops = list[tuple[float, Written]]()
        self.rejected = 0
        self.steered = False
        self.watch = Stopwatch()
        self.ends_at = float("inf") if settings.seconds is None else monotonic() + settings.seconds

    def run(self, prompt: Prompt, should_stop: Callable[[], bool]) -> Middle:
        """Take steps until there is a reason to stop."""
        budget = min(self.settings.tokens, prompt.room)
        while (reason := self._interruption(should_stop)) is None:
            candidates = self._candidates(prompt)
            reason = self._step(candidates, budget - len(self.written.tokens))
            if reason is not None:
                break
        return self._finish(reason)

    def _interruption(self, should_stop: Callable[[], bool]) -> StopReason | None:
        if should_stop():
            return "cancelled"
        return "deadline" if monotonic() >= self.ends_at else None

    def _candidates(self, prompt: Prompt) -> Candidates:
        self.watch.engine_done()
        last = self.written.tokens[-1:]
        candidates = self.model.advance(last[0]) if last else self.model.begin(prompt.tokens)
        self.watch.model_done()
        return candidates

    def _step(self, candidates: Candidates, left: int) -> StopReason | None:
        """Write the best candidate that may be written, *left* tokens being left; or the reason to stop."""
        if self.written.state.complete:
            self.stops.append((self.written.score(candidates.stop), self.written))
        if left <= 0:
            return "budget"
        for following in self._viable(candidates):
            if following is self.written:
                return "end"
            if (line := self._last_line(following)) is not None:
                self.written = line
                return "lines"
            if self._leaves_line(following) or self._is_too_far(following, left - 1):
                self.steered = True
                continue
            self.written = following
            return "repetition" if n_repeated(following.tokens) else None
        return "dead_end"

    def _viable(self, candidates: Candidates) -> Iterator[Written]:
        """What the middle may become, best first, till 50 were refused; itself where it may stop."""
        refused = 0
        for token, log_probability in zip(candidates.tokens, candidates.log_probabilities, strict=True):
            following = self._following(token, log_probability)
            if following is not None:
                yield following
                continue
            refused += 1
            self.rejected += 1
            if refused == REJECTIONS_PER_STEP_MAX:
                return

    def _following(self, token: int, log_probability: float) -> Written | None:
        if token in self.model.stops:
            return self.written if self.written.state.complete else None
        text = self.model.token_bytes[token]
        return self.written.extended(text, token, log_probability) if text else None

    def _last_line(self, following: Written) -> Written | None:
        """The part of *following* before the line end at which to stop; None: it does not write that."""
        if self.settings.lines is None:
            return None
        begin = len(self.written.text)
        ends = [at for at in range(begin, len(following.text)) if following.text[at] == LINE_END]
        n_before = self.written.text.count(b"\n")
        for n_lines, at in enumerate(ends, n_before + 1):
            state = self.written.state.feed(following.text[begin:at])
            if state is not None and self._may_stop(state, n_lines - self.settings.lines):
                return replace(following, text=following.text[:at], state=state)
            if self.settings.lines == 0:
                break
        return None

    def _may_stop(self, state: MiddleState, surplus: int) -> bool:
        """Whether to stop before a line end that would begin line *surplus* + 1 beyond the limit."""
        if surplus < 0 or state.complete:
            return surplus >= 0
        only_closes = not state.shortest_completion.strip(CLOSING)
        return self.settings.steer and (only_closes or surplus >= SURPLUS_LINES_MAX)

    def _leaves_line(self, following: Written) -> bool:
        return self.settings.lines == 0 and b"\n" in following.text

    def _is_too_far(self, following: Written, left: int) -> bool:
        """Whether *following* moves the nearest end out of reach of *left* more tokens."""
        if not self.settings.steer or left >= STEERING_HORIZON:
            return False
        need = len(following.state.shortest_completion)
        return need > STEERED_BYTES_PER_TOKEN * left and need > len(self.written.state.shortest_completion)

    def _finish(self, reason: StopReason) -> Middle:
        written = self._finished(reason)
        self.watch.engine_done()
        return Middle(
            text=written.text,
            complete=written.state.complete,
            tokens=len(self.written.tokens),
            rejected=self.rejected,
            steered=self.steered,
            stop_reason=reason,
            log_probability=written.mean,
            model_ms=self.watch.model_ms,
            engine_ms=self.watch.engine_ms,
        )

    def _finished(self, reason: StopReason) -> Written:
        """What to keep, and to add, of what was written."""
        written = self.written
        if reason in ("end", "cancelled") or (reason == "lines" and written.state.complete):
            return written
        length = len(written.tokens) - n_repeated(written.tokens)
        best = None if reason == "lines" else self._best_stop(length)
        return best or self._completed()

    def _best_stop(self, length: int) -> Written | None:
        """The best place to stop among the first *length* tokens."""
        places = [(score, place) for score, place in self.stops if len(place.tokens) <= length]
        return max(places, key=lambda scored: scored[0])[1] if places else None

    def _completed(self) -> Written:
        """The middle with its shortest completion behind it, if that may be written."""
        ending = self.written.state.shortest_completion
        state = self.written.state.feed(ending) if self.settings.steer else None
        if state is None:
            return self.written
        self.steered = True
        return replace(self.written, text=self.written.text + ending, state=state)
