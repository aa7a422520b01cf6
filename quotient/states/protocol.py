"""The interface of a state of a middle, whatever it is made of."""

from __future__ import annotations

from typing import Protocol


class State(Protocol):
    """What is known after some bytes of a middle. Immutable: feeding makes new states.

    A state is never a dead end: some continuation is complete.
    """

    def feed(self, data: bytes) -> State | None:
        """The state after *data*; None if nothing that begins like this connects. O(len(data)).

        *data* may be any bytes and may end inside a character.
        """

    @property
    def complete(self) -> bool:
        """Whether the middle may end here: left context, middle and right context together are valid."""

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
