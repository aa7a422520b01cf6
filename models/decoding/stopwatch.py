"""Time spent on sides that take turns."""

from __future__ import annotations

from time import monotonic


class Stopwatch:
    """Milliseconds spent in the network, on prompt and on steps, and in the constraint.

    They are read off at every change of sides.
    """

    def __init__(self) -> None:
        self.prefill_ms = 0.0
        self.model_ms = 0.0
        self.engine_ms = 0.0
        self._since = monotonic()

    def prefill_done(self) -> None:
        """What passed since the last change went to reading the prompt."""
        self.prefill_ms += self._lap()

    def model_done(self) -> None:
        """What passed since the last change was the network's."""
        self.model_ms += self._lap()

    def engine_done(self) -> None:
        """What passed since the last change was the constraint's."""
        self.engine_ms += self._lap()

    def _lap(self) -> float:
        now = monotonic()
        passed, self._since = 1000 * (now - self._since), now
        return passed
