"""The slot of a llama.cpp server in which a prompt is read: the one that has read most of it already.

The server would choose another one while a cancelled request still holds its own, and read everything anew. A
request for a certain slot waits for it instead, and goes on after the part that was read.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

SHARED_ONE_IN = 2
"""A text goes on in a slot if that has this share of the text, or of its own; else it gets the oldest."""


class Slots:
    """The texts in the *number* slots of a server that has one client."""

    def __init__(self, number: int) -> None:
        self._texts: dict[int, Sequence[int]] = dict.fromkeys(range(number), ())

    def choose(self, text: Sequence[int]) -> int:
        """The slot for *text*, which it has read from now on."""
        shared = {slot: common_prefix(known, text) for slot, known in self._texts.items()}
        slot = max(shared, key=lambda slot: shared[slot])
        if shared[slot] * SHARED_ONE_IN < min(len(text), len(self._texts[slot])) or not shared[slot]:
            slot = next(iter(self._texts))
        del self._texts[slot]  # the newest is last
        self._texts[slot] = tuple(text)
        return slot


def common_prefix(a: Sequence[int], b: Sequence[int]) -> int:
    """The number of equal tokens at the start of both."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))
