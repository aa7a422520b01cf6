"""Time spent on each of two sides that take turns."""

from __future__ import annotations

from time import monotonic


class Stopwatch:
    """Milliseconds spent in the network and in the constraint, read off at every change of sides."""

    def __init__(self) -> None:
        self.model_ms = 0.0
        self.engine_ms = 0.0
        self._since = monotonic()

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
