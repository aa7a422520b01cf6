"""A constraint that allows every text, for measuring a model alone."""

from __future__ import annotations


class Unconstrained:
    """A `fimlsp.quotient.states.protocol.State` in which every middle is complete."""

    complete = True
    shortest_completion = b""

    def feed(self, data: bytes) -> Unconstrained:  # noqa: ARG002 - every text is allowed
        """The same state."""
        return self
