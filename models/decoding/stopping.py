"""Where a middle may stop before the model ends it: at line ends, and where it begins to repeat itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fimlsp.models.decoding.middle import DecodeSettings, Following, Written
from fimlsp.models.protocols import MiddleState

PERIOD_MAX = 24
REPETITIONS = 3
REPEATED_TOKENS_MIN = 12
SURPLUS_LINES_MAX = 2
LINE_END = b"\n"
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

    def following(
        self, written: Written, text: bytes, token: int, log_probability: float
    ) -> Following | None:
        """*written* with one more *token*, which writes *text*; only up to the line end at which to stop.

        None: it may not stand there. Behind a line end before which the middle is complete nothing need fit.
        A line that is not complete, but is not to go on, is completed.
        """
        ends = self._line_ends(written, text) if LINE_END in text else []
        for end, _ in ends[:1]:
            line = written.extended(text[:end], token, log_probability)
            if line is not None and line.complete:
                return Following(line, "lines")
        following = written.extended(text, token, log_probability)
        if following is None:
            return None
        for end, surplus in ends:
            line = self._ended(written.extended(text[:end], token, log_probability), surplus)
            if line is not None:
                return Following(line, "lines")
        block = None if self.settings.column is None else self._end_of_block(written, following)
        return Following(following) if block is None else Following(block, "lines")

    def leaves_line(self, following: Written) -> bool:
        """Whether *following* has a line end where none is wanted."""
        return self.settings.lines == 0 and LINE_END in following.text

    def _line_ends(self, written: Written, text: bytes) -> list[tuple[int, int]]:
        """Where in *text* the lines wanted end, and how many more there are by then."""
        lines = self.settings.lines
        if lines is None:
            return []
        ends = [at for at in range(len(written.owed), len(text)) if text.startswith(LINE_END, at)]
        surplus = written.text.count(LINE_END) + 1 - lines
        enough = [(end, n) for n, end in enumerate(ends, surplus) if n >= 0]
        return enough[:1] if lines == 0 else enough

    def _ended(self, line: Written | None, surplus: int) -> Written | None:
        """*line*, complete, if the middle is to stop here, *surplus* lines beyond the limit."""
        if line is None or line.complete:
            return line
        if not self.settings.steer:
            return None
        completed = line.completed()
        only_closes = not completed.ending.strip(CLOSING)
        return completed if only_closes or surplus >= SURPLUS_LINES_MAX else None

    def _end_of_block(self, written: Written, following: Written) -> Written | None:
        """The part before the first line that begins too far left, if that line begins in the new token."""
        line_start = following.text.rfind(LINE_END) + 1
        if not line_start:
            return None
        line = following.text[line_start:]
        indentation = len(line) - len(line.lstrip(BLANK))
        begins_now = line_start + indentation >= len(written.text) and indentation < len(line)
        if not begins_now or indentation >= (self.settings.column or 0):
            return None
        text = following.text[:line_start].rstrip(BLANK + LINE_END)
        state = self.start.feed(text)
        return replace(following, text=text, state=state) if state is not None and state.complete else None
