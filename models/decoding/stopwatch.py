"""Splits elapsed time between network and constraint, and limits it."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic


def time_limit(seconds: float) -> Callable[[], bool]:
    """A function that tells whether *seconds* have passed since this call; see `lexing/interruption.py`."""
    ends_at = monotonic() + seconds
    return lambda: monotonic() >= ends_at


class Stopwatch:
    """Milliseconds spent in the network, on the prompt and on later steps, and in the constraint.

    Each method charges the time since the previous call to one of the three.
    """

    def __init__(self) -> None:
        self.prefill_ms = 0.0
        self.model_ms = 0.0
        self.engine_ms = 0.0
        self._since = monotonic()

    def prefill_done(self) -> None:
        """Charge the time since the last call to reading the prompt."""
        self.prefill_ms += self._lap()

    def model_done(self) -> None:
        """Charge the time since the last call to the network."""
        self.model_ms += self._lap()

    def engine_done(self) -> None:
        """Charge the time since the last call to the constraint."""
        self.engine_ms += self._lap()

    def _lap(self) -> float:
        now = monotonic()
        passed, self._since = 1000 * (now - self._since), now
        return passed
