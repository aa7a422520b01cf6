"""What a state of a middle answers, whatever it is made of."""

from __future__ import annotations

from typing import Protocol


class State(Protocol):
    """What is known after some bytes of a middle. Immutable: feeding makes new states.

    A state is never a dead end: some continuation of it is complete.
    """

    def feed(self, data: bytes) -> State | None:
        """The state after *data* as well, any bytes; None if nothing that begins so connects. O(len(data))."""

    @property
    def complete(self) -> bool:
        """Whether the middle may end here: left context, middle and right context are valid together."""

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
