"""A constraint that allows everything: for measuring a model alone, and for buffers in no known language."""

from __future__ import annotations


class Unconstrained:
    """`MiddleState` in which every middle is complete."""

    complete = True
    shortest_completion = b""

    def feed(self, data: bytes) -> Unconstrained:  # noqa: ARG002 - every text is as good
        """The same state."""
        return self
