"""Decides where a middle stops that the model does not end: with its line, or where it repeats something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fimlsp.models.decoding.partial_middle import Continuation, PartialMiddle
from fimlsp.models.decoding.settings import DecodeSettings
from fimlsp.quotient.language.editor_policy import EditorPolicy

PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = b"\n"
CLOSERS = b")]}'\""


TEXT_IN_LINE = re.compile(rb"[^\S\r\n]*\S")
"""Matches where the rest of a line has text."""


def is_one_line(mode: str, left: bytes, right: bytes, policy: EditorPolicy) -> bool:
    """Whether a completion is to end with its line: always, never, or as the text suggests ("auto").

    With text behind the cursor it does. Else it may be a block where one begins, at the beginning of the
    file, and on a blank line behind a blank one or a remark, which says what is to come. *policy* is that
    of the language.
    """
    if mode != "auto":
        return mode == "always"
    if TEXT_IN_LINE.match(right):
        return True
    *above, line = _lines(left)
    if line.strip():
        return not policy.opens_block(line)
    before = above[-1].strip() if above else b""
    if not before or policy.is_remark(before):
        return False
    return not policy.opens_block(above[-1])


def _lines(left: bytes) -> list[bytes]:
    """The last two lines of *left*."""
    ending = left[-2000:].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return ending.split(b"\n")[-2:]


def n_repeated(tokens: Sequence[int]) -> int:
    """How many of the last *tokens* repeat the run before them; 0 unless three runs, 12 tokens, are equal."""
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
    """Stops at line ends, as `DecodeSettings.lines` asks, and before what the line has already."""

    settings: DecodeSettings

    def continuation(
        self, middle: PartialMiddle, text: bytes, token: int, log_probability: float
    ) -> Continuation | None:
        """*middle* with one more *token*, whose bytes are *text*, cut at the line end where it is to stop.

        None: the constraint refuses the token. What follows a line end at which the middle is complete need
        not fit. A line that is to end but is incomplete gets its shortest completion.
        """
        ends = self._line_ends(middle, text) if LINE_END in text else []
        for end, _ in ends[:1]:
            line = middle.extended(text[:end], token, log_probability)
            if line is not None and line.complete:
                return Continuation(line, "lines")
        following = middle.extended(text, token, log_probability)
        if following is None:
            return None
        for end, surplus in ends:
            line = self._finished_line(middle.extended(text[:end], token, log_probability), surplus)
            if line is not None:
                return Continuation(line, "lines")
        return Continuation(following)

    def is_asked_to_stop(self, middle: PartialMiddle) -> bool:
        """Whether the caller's own rule ends *middle*, which is complete."""
        wanted = self.settings.stop_when
        return wanted is not None and middle.complete and wanted(middle.text)

    def says_what_follows(self, text: bytes | None) -> bool:
        """Whether *text*, which the constraint refused, stands behind the middle in its line already."""
        said = (text or b"").rstrip()
        is_asked = self.settings.stop_rule == "first"
        return is_asked and said.strip() != b"" and self.settings.follows.startswith(said)

    def leaves_line(self, middle: PartialMiddle) -> bool:
        """Whether *middle* has a line end although none is wanted."""
        return self.settings.lines == 0 and LINE_END in middle.text

    def _line_ends(self, middle: PartialMiddle, text: bytes) -> list[tuple[int, int]]:
        """Line ends in *text* where enough lines are written, each with the number of lines too many."""
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
        more = surplus + completed.closing.count(LINE_END)
        return completed if only_closes or more >= SURPLUS_LINES_MAX else None

    def leads_too_far(self, before: PartialMiddle, middle: PartialMiddle) -> bool:
        """Whether *middle* needs more lines than are allowed, and more than *before*.

        Asks for shortest completions, but only beyond the lines that are wanted.
        """
        lines = self.settings.lines
        if not lines or not self.settings.steer or middle.text.count(LINE_END) < lines:
            return False
        n_lines = _lines_needed(middle)
        return n_lines > lines + SURPLUS_LINES_MAX and n_lines > _lines_needed(before)


def _lines_needed(middle: PartialMiddle) -> int:
    """The lines of *middle* with its shortest completion."""
    missing = b"" if middle.complete else middle.state.shortest_completion
    return middle.text.count(LINE_END) + missing.count(LINE_END) + 1
