"""Stores right contexts by distance from the end of the text, and keeps those an edit does not affect."""

from __future__ import annotations

from fimlsp.lexing.line import Line
from fimlsp.quotient.contexts.offsets import Offsets
from fimlsp.quotient.contexts.right import RightContext


class RightOffsets:
    """The right contexts by distance, and the reach of lines that depend on more than one physical line.

    A context is valid again if a context it was made from is, unless a line between them reaches beyond the
    latter.
    """

    __slots__ = ("_contexts", "_longest_reach", "_reaches")

    def __init__(
        self, contexts: Offsets[RightContext], reaches: Offsets[int] | None = None, longest_reach: int = 0
    ) -> None:
        self._contexts = contexts
        self._reaches = Offsets([], []) if reaches is None else reaches
        self._longest_reach = longest_reach

    def __len__(self) -> int:
        return len(self._contexts)

    def copy(self) -> RightOffsets:
        """The same, to be changed on its own."""
        return RightOffsets(self._contexts.copy(), self._reaches.copy(), self._longest_reach)

    def get(self, distance: int) -> RightContext | None:
        """The context at *distance*."""
        return self._contexts.get(distance)

    def known_within(self, distance: int) -> int:
        """The last distance that is not beyond *distance* and has a context."""
        return self._contexts.at_or_before(distance)[0]

    def first_beyond(self, distance: int) -> int | None:
        """The first distance beyond *distance* that has a context, None if there is none."""
        return self._contexts.first_beyond(distance)

    def put(self, distance: int, context: RightContext, line: Line) -> None:
        """Set the *context* at *distance*, which has none yet; it begins with *line*."""
        self._contexts.put(distance, context)
        if line.reach:
            self._reaches.put(distance, line.reach)
            self._longest_reach = max(self._longest_reach, line.reach)

    def cut(self, distance: int) -> RightOffsets:
        """Remove and return what is beyond *distance*."""
        return RightOffsets(self._contexts.cut(distance), self._reaches.cut(distance), self._longest_reach)

    def moved_beyond(self, distance: int, shift: int) -> RightOffsets:
        """What is beyond *distance*, moved by *shift*; this object must not be used afterwards."""
        return RightOffsets(
            self._contexts.moved_beyond(distance, shift),
            self._reaches.moved_beyond(distance, shift),
            self._longest_reach,
        )

    def revive(self, stale: RightOffsets, distance: int, context: RightContext) -> bool:
        """Add what *stale* has beyond *distance*, if its context there is *context*; whether it is."""
        if stale.get(distance) is not context or stale._reaches_beyond(distance):
            return False
        self._contexts.extend(stale._contexts, distance, until=lambda _: False)
        self._reaches.extend(stale._reaches, distance, until=lambda _: False)
        self._longest_reach = max(self._longest_reach, stale._longest_reach)
        return True

    def _reaches_beyond(self, distance: int) -> bool:
        """Whether a line before *distance* reaches beyond it. O(lines within the longest reach)."""
        near = self._reaches.between(distance, distance + self._longest_reach)
        return any(offset - reach < distance for offset, reach in near)
