"""Settings of the decoding loop, and the rules by which a middle stops that the model does not end.

The settings are budgets, rules for stopping, and the choice among candidates. A middle stops at a line end,
at a repetition, or at the place with the best score.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from fimlsp.lexing.interruption import Interrupted
from fimlsp.models.decoding.middle import Continuation, DecodeStep, PartialMiddle
from fimlsp.models.prompts.prompt import Prompt
from fimlsp.models.protocols import NextToken, Preference, ScoresStop
from fimlsp.quotient.language.editor_policy import EditorPolicy

if TYPE_CHECKING:
    from fimlsp.quotient.masks.vocabulary import Bitmask, BoolMask, Vocabulary

StopRule = Literal["first", "best", "last"]
Aligned = Literal["no", "adaptively", "exactly"]


@dataclass(frozen=True, slots=True)
class DecodeSettings:
    """Limits of one completion.

    Attributes:
        tokens: maximum number of decoded tokens.
        lines: number of lines to write. After them, decoding stops at the first line end where the middle is
            complete or lacks only closing brackets and quotes, at most two lines later. 0: no line end is
            written. None: no limit.
        steer: True to finish an incomplete middle with its shortest completion.
        seconds: time limit; a middle that reaches it is finished as at the end of the budget. None: no
            limit.
        stop_rule: "first": the middle ends where the model ends it, or where it starts to repeat itself.
            "best": decoding continues until the model ends the middle or the budget is used up. The result
            is the complete prefix with the best length-normalised log-probability, its end included (the
            rule of the evaluation by Melcer et al. 2024).
            "last": all that was written is kept; the middle ends where the model ends it or the budget is
            used up. After the last token of the budget the network is not read again.
        stop_when: a rule of the caller's own. It is called with the text after each token with which the
            middle is complete, and ends it there by returning True.
        candidates: number of different middles to decode.
        beams: width of a beam search, which follows the likeliest texts side by side; 1: no beam search.
            Without a temperature only.
        temperature: 0: the likeliest candidate is taken. Otherwise candidates are drawn from all that the
            network lists.
        top_k, min_p, top_p: with a temperature, only the *top_k* likeliest candidates are drawn. Of these,
            only those at least *min_p* times as likely as the likeliest, and of these the likeliest that hold
            a share of *top_p*. All refer to the model's own distribution at that temperature. If the
            constraint refuses all of these, others are drawn.
        seed: seed of the draws; the same seed gives the same middles.
        independent: with a temperature: exactly `candidates` middles, drawn independently of each other, in
            the order of the draws. Equal, empty and incomplete ones are included. A share of them is then an
            unbiased estimate, as pass@k needs it (Chen et al. 2021). The candidates of their first token are
            read once for all.
        aligned: with independent draws, the distribution to draw from. "no": each token is drawn among those
            that are allowed. "exactly": whole texts are drawn, as if the model wrote on its own and all
            refused texts were thrown away. A text may be begun several times, and there are fewer middles if
            that does not suffice. "adaptively": each draw of a call comes closer to that distribution.
        least_total: decoding stops if the sum of the log-probabilities (nats) falls below it.
        preference: prefers some of the likeliest candidates to others, for reasons of its own.
        follows: the text after the middle in its line. With the rule "first", a complete middle ends where
            the model would repeat this text and the constraint refuses that.

    Raises:
        ValueError: a number is outside its range, or a rule is unknown.
    """

    tokens: int = 96
    lines: int | None = 1
    steer: bool = True
    seconds: float | None = None
    stop_rule: StopRule = "first"
    stop_when: Callable[[bytes], bool] | None = None
    candidates: int = 1
    beams: int = 1
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int | None = None
    min_p: float = 0.0
    seed: int = 0
    independent: bool = False
    aligned: Aligned = "no"
    least_total: float = -inf
    preference: Preference | None = None
    follows: bytes = b""

    def __post_init__(self) -> None:
        rules = get_args(StopRule)
        for is_valid, rule in (
            (self.tokens >= 1, "tokens must be at least 1"),
            (self.lines is None or self.lines >= 0, "lines must be None or at least 0"),
            (self.seconds is None or self.seconds >= 0, "seconds must be None or at least 0"),
            (self.stop_rule in rules, f"stop_rule must be one of {', '.join(rules)}"),
            (self.candidates >= 1, "candidates must be at least 1"),
            (self.beams >= 1, "beams must be at least 1"),
            (self.beams == 1 or not self.temperature, "beams must be 1 with a temperature"),
            (self.beams == 1 or self.candidates <= self.beams, "candidates must be at most beams"),
            (0 <= self.temperature < inf, "temperature must be at least 0 and finite"),
            (0 < self.top_p <= 1, "top_p must be above 0 and at most 1"),
            (self.top_k is None or self.top_k >= 1, "top_k must be None or at least 1"),
            (0 <= self.min_p <= 1, "min_p must be at least 0 and at most 1"),
            (self.seed >= 0, "seed must be at least 0"),
            (not self.independent or self.temperature > 0, "independent draws need a temperature above 0"),
            (self.aligned in get_args(Aligned), f"aligned must be one of {', '.join(get_args(Aligned))}"),
            (self.aligned == "no" or self.independent, "aligned draws must be independent"),
            (self.aligned == "no" or not self._cuts, "aligned draws need all candidates, without a cut"),
        ):
            if not is_valid:
                raise ValueError(f"{rule}: {self}.")

    @property
    def _cuts(self) -> bool:
        return self.top_p < 1 or self.top_k is not None or self.min_p > 0


class Unconstrained:
    """A `fimlsp.quotient.states.protocol.State` that allows every text, to measure a model alone."""

    complete = True
    shortest_completion = b""

    def feed(self, data: bytes) -> Unconstrained:  # noqa: ARG002 - every text is allowed
        """The same state."""
        return self

    def mask(self, vocabulary: Vocabulary) -> Bitmask:
        """The mask of all tokens that have a text, and of stops."""
        return vocabulary.mask(self.allowed_texts(vocabulary), complete=True)

    def allowed_texts(self, vocabulary: Vocabulary) -> BoolMask:
        """All texts."""
        allowed = np.ones(len(vocabulary.texts) + 1, np.bool_)
        allowed[-1] = False
        return allowed


PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = b"\n"
CLOSERS = b")]}'\""
LAST_LINES_BYTES = 2000

_IN_WORD = re.compile(rb"[\w\s\x80-\xff]")
TEXT_IN_LINE = re.compile(rb"[^\S\r\n]*\S")
"""Matches text before the next line end."""


def is_one_line(mode: str, left: bytes, right: bytes, policy: EditorPolicy) -> bool:
    """True if a completion is to end with its line; *mode* is "always", "auto", or any other text for never.

    With "auto", a completion ends with its line if text follows the cursor in it. Otherwise it may be a block
    in three places: where one opens, at the beginning of the file, and on a blank line after a blank line or
    a comment. *policy* is that of the language.
    """
    if mode != "auto":
        return mode == "always"
    if TEXT_IN_LINE.match(right):
        return True
    *above, line = _last_two_lines(left)
    if line.strip():
        return not policy.opens_block(line)
    line_above = above[-1].strip() if above else b""
    if not line_above or policy.is_comment(line_above):
        return False
    return not policy.opens_block(above[-1])


def _last_two_lines(text: bytes) -> list[bytes]:
    """The last two lines of *text*."""
    ending = text[-LAST_LINES_BYTES:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return ending.split(b"\n")[-2:]


def n_repeated(tokens: Sequence[int]) -> int:
    """Number of tokens at the end of *tokens* that repeat the run before them.

    0 unless at least three equal runs of together at least 12 tokens are there.
    """
    if len(tokens) < REPEATED_TOKENS_MIN:
        return 0
    for size in range(1, min(PERIOD_MAX, len(tokens) // REPETITIONS) + 1):
        repeated = max(REPETITIONS * size, REPEATED_TOKENS_MIN)
        if (
            repeated <= len(tokens)
            and tokens[-1] == tokens[-1 - size]
            and tokens[-repeated:-size] == tokens[size - repeated :]
        ):
            return repeated - size
    return 0


@dataclass(frozen=True, slots=True)
class LineRule:
    """Stops at line ends, as `DecodeSettings.lines` demands, and before text that the line has already."""

    settings: DecodeSettings

    def continuation(
        self, middle: PartialMiddle, text: bytes, token: int, log_probability: float
    ) -> Continuation | None:
        """*middle* with one more *token*, whose bytes are *text*, cut at the line end where it is to stop.

        None if the constraint refuses the token. If the middle is complete at that line end, the rest of the
        token need not fit. An incomplete line that is to end gets its shortest completion. A token whose end
        repeats the text after the cursor, as `):` before a colon, is cut there if that completes the middle.
        """
        ends = self._line_ends(middle, text) if LINE_END in text else []
        for end, _ in ends[:1]:
            line = middle.extended(text[:end], token, log_probability)
            if line is not None and line.complete:
                return Continuation(line, "lines")
        following = middle.extended(text, token, log_probability)
        starts = self._starts_of_repetition(text)
        if starts and (following is None or not following.complete):
            for end in starts:
                before = middle.extended(text[:end], token, log_probability)
                if before is not None and before.complete:
                    return Continuation(before, "follows")
        if following is None:
            return None
        for end, surplus in ends:
            line = self._finished_line(middle.extended(text[:end], token, log_probability), surplus)
            if line is not None:
                return Continuation(line, "lines")
        return Continuation(following)

    def is_stopped_by_caller(self, middle: PartialMiddle) -> bool:
        """True if *middle* is complete and the caller's own rule ends it."""
        stop_when = self.settings.stop_when
        return stop_when is not None and middle.complete and stop_when(middle.text)

    def repeats_what_follows(self, text: bytes | None) -> bool:
        """True if *text*, which the constraint refused, follows the middle in its line already."""
        refused = (text or b"").rstrip()
        is_first = self.settings.stop_rule == "first"
        return is_first and refused.strip() != b"" and self.settings.follows.startswith(refused)

    def _starts_of_repetition(self, text: bytes) -> list[int]:
        """Offsets in *text*, between words, from which on it repeats the text that follows in the line."""
        follows = self.settings.follows
        if self.settings.stop_rule != "first" or not follows:
            return []
        return [
            start
            for start in range(1, len(text))
            if follows.startswith(text[start:]) and not _IN_WORD.match(text[start : start + 1])
        ]

    def leaves_line(self, middle: PartialMiddle) -> bool:
        """True if *middle* has a line end although none is wanted."""
        return self.settings.lines == 0 and LINE_END in middle.text

    def leads_too_far(self, before: PartialMiddle, middle: PartialMiddle) -> bool:
        """True if *middle* needs more lines than are allowed, and more than *before*.

        Computes shortest completions, but only for middles with more than the wanted lines.
        """
        lines = self.settings.lines
        if not lines or not self.settings.steer or middle.text.count(LINE_END) < lines:
            return False
        n_lines = _lines_needed(middle)
        return n_lines > lines + SURPLUS_LINES_MAX and n_lines > _lines_needed(before)

    def _line_ends(self, middle: PartialMiddle, text: bytes) -> list[tuple[int, int]]:
        """Line ends in *text* with enough lines before them, each with the number of surplus lines."""
        lines = self.settings.lines
        if lines is None:
            return []
        ends = [at for at in range(len(text)) if text.startswith(LINE_END, at)]
        surplus = middle.text.count(LINE_END) + 1 - lines
        enough = [(end, n) for n, end in enumerate(ends, surplus) if n >= 0]
        return enough[:1] if lines == 0 else enough

    def _finished_line(self, line: PartialMiddle | None, surplus: int) -> PartialMiddle | None:
        """*line*, completed, if the middle is to stop there, *surplus* lines beyond the limit."""
        if line is None or line.complete:
            return line
        if not self.settings.steer:
            return None
        completed = line.completed()
        only_closes = not completed.closing.strip(CLOSERS)
        surplus_lines = surplus + completed.closing.count(LINE_END)
        return completed if only_closes or surplus_lines >= SURPLUS_LINES_MAX else None


def _lines_needed(middle: PartialMiddle) -> int:
    """Number of lines of *middle* with its shortest completion."""
    missing = b"" if middle.complete else middle.state.shortest_completion
    return middle.text.count(LINE_END) + missing.count(LINE_END) + 1


def best_stop(steps: Sequence[DecodeStep], model: NextToken, prompt: Prompt) -> PartialMiddle | None:
    """The complete middle among *steps* with the best length-normalised log-probability; None without any.

    Where the log-probability of the end is only bounded, *model* scores it if it can.
    """
    stops = [step for step in steps if step.complete]
    if not stops:
        return None
    if isinstance(model, ScoresStop) and any(step.candidates.stop_is_bound for step in stops):
        with suppress(Interrupted):
            return _best_scored(stops, model, prompt)
    return max(stops, key=lambda step: step.score).middle


def _best_scored(stops: Sequence[DecodeStep], model: ScoresStop, prompt: Prompt) -> PartialMiddle:
    """The best of *stops*; *model* scores the end only at those that might be the best."""
    by_bound = sorted(stops, key=lambda step: -step.score)
    best, best_score = by_bound[0].middle, float("-inf")
    for step in by_bound:
        if step.score <= best_score:
            break
        score = step.score
        if step.candidates.stop_is_bound:
            stop = model.stop_after(prompt.tokens, step.middle.tokens)
            score = step.middle.score(step.candidates.stop if stop is None else stop)
        if score > best_score:
            best, best_score = step.middle, score
    return best
