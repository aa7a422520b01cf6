"""Where a middle may stop before the model ends it: at line ends, and where it begins to repeat itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fimlsp.models.middle import Written
from fimlsp.models.protocols import MiddleState

PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = ord("\n")
CLOSING = b")]}'\""


def n_repeated(tokens: Sequence[int]) -> int:
    """How many of the last *tokens* only repeat the run before them (thrice, 12 tokens in all); else 0."""
    for size in range(1, PERIOD_MAX + 1):
        repeated = max(REPETITIONS * size, REPEATED_TOKENS_MIN)
        if repeated <= len(tokens) and tokens[-repeated:-size] == tokens[size - repeated :]:
            return repeated - size
    return 0


@dataclass(frozen=True, slots=True)
class LineRule:
    """Stops after *lines* lines (see `DecodeSettings`); *may_finish* allows to stop where closers lack."""

    lines: int | None
    may_finish: bool

    def last_line(self, written: Written, following: Written) -> Written | None:
        """The part of *following* before the line end at which to stop; None: it does not write that.

        *following* is *written* with one more token.
        """
        if self.lines is None:
            return None
        begin = len(written.text)
        ends = [at for at in range(begin, len(following.text)) if following.text[at] == LINE_END]
        n_before = written.text.count(b"\n")
        for n_lines, at in enumerate(ends, n_before + 1):
            state = written.state.feed(following.text[begin:at])
            if state is not None and self._may_stop(state, n_lines - self.lines):
                return replace(following, text=following.text[:at], state=state)
            if self.lines == 0:
                break
        return None

    def leaves_line(self, following: Written) -> bool:
        """Whether *following* has a line end where none is wanted."""
        return self.lines == 0 and b"\n" in following.text

    def _may_stop(self, state: MiddleState, surplus: int) -> bool:
        """Whether to stop before a line end that would begin line *surplus* + 1 beyond the limit."""
        if surplus < 0 or state.complete:
            return surplus >= 0
        only_closes = not state.shortest_completion.strip(CLOSING)
        return self.may_finish and (only_closes or surplus >= SURPLUS_LINES_MAX)
