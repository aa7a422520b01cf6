"""Where a middle may stop before the model ends it: at line ends, and where it begins to repeat itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fimlsp.models.middle import DecodeSettings, Written
from fimlsp.models.protocols import MiddleState

PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = ord("\n")
CLOSING = b")]}'\""
BLANK = b" \t\r\f"


def n_repeated(tokens: Sequence[int]) -> int:
    """How many of the last *tokens* only repeat the run before them (thrice, 12 tokens in all); else 0."""
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


def block_column(left: bytes) -> int:
    """The least column of the lines that belong to what is written at the end of *left*.

    On a blank line that is the cursor's own column, else one more than where the cursor's line begins.
    """
    line = left[max(left.rfind(b"\n"), left.rfind(b"\r")) + 1 :]
    indentation = len(line) - len(line.lstrip(BLANK))
    return indentation if indentation == len(line) else indentation + 1


@dataclass(frozen=True, slots=True)
class LineRule:
    """Stops at line ends, as `DecodeSettings` say for middles that begin with *start*."""

    settings: DecodeSettings
    start: MiddleState

    def last_line(self, written: Written, following: Written) -> Written | None:
        """The part of *following* before the line end at which to stop; None: it does not write that.

        *following* is *written* with one more token.
        """
        if b"\n" in following.text[len(written.text) :] and (end := self._end_of_lines(written, following)):
            return end
        return None if self.settings.column is None else self._end_of_block(written, following)

    def leaves_line(self, following: Written) -> bool:
        """Whether *following* has a line end where none is wanted."""
        return self.settings.lines == 0 and b"\n" in following.text

    def _end_of_lines(self, written: Written, following: Written) -> Written | None:
        if self.settings.lines is None:
            return None
        begin = len(written.text)
        ends = [at for at in range(begin, len(following.text)) if following.text[at] == LINE_END]
        n_before = written.text.count(b"\n")
        for n_lines, at in enumerate(ends, n_before + 1):
            state = written.state.feed(following.text[begin:at])
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

    def _end_of_block(self, written: Written, following: Written) -> Written | None:
        """The part before the first line that begins too far left, if that line begins in the new token."""
        line_start = following.text.rfind(b"\n") + 1
        if not line_start:
            return None
        line = following.text[line_start:]
        indentation = len(line) - len(line.lstrip(BLANK))
        begins_now = line_start + indentation >= len(written.text) and indentation < len(line)
        if not begins_now or indentation >= (self.settings.column or 0):
            return None
        text = following.text[:line_start].rstrip(BLANK + b"\n")
        state = self.start.feed(text)
        return replace(following, text=text, state=state) if state is not None and state.complete else None
