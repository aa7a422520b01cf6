"""Right contexts by their distance from the end of a text, and which of them an edit leaves as they are."""

from __future__ import annotations

from fimlsp.lexing.line import Line
from fimlsp.quotient.contexts.offsets import Offsets
from fimlsp.quotient.contexts.right import RightContext


class RightOffsets:
    """The contexts, with how far those lines reach that more than their own physical line decides about.

    A context holds again if one that it was made from does, unless a line between them reaches beyond that.
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
        """Set the *context* at *distance*, which has none, made of *line*."""
        self._contexts.put(distance, context)
        if line.reach:
            self._reaches.put(distance, line.reach)
            self._longest_reach = max(self._longest_reach, line.reach)

    def cut(self, distance: int) -> RightOffsets:
        """Take away what stands beyond *distance*."""
        return RightOffsets(self._contexts.cut(distance), self._reaches.cut(distance), self._longest_reach)

    def moved_beyond(self, distance: int, shift: int) -> RightOffsets:
        """What stands beyond *distance*, moved by *shift*; this is not to be used any more."""
        return RightOffsets(
            self._contexts.moved_beyond(distance, shift),
            self._reaches.moved_beyond(distance, shift),
            self._longest_reach,
        )

    def revive(self, stale: RightOffsets, distance: int, context: RightContext) -> bool:
        """Add what *stale* has beyond *distance* if it holds again, as the *context* there tells."""
        if stale.get(distance) is not context or stale._reaches_beyond(distance):
            return False
        self._contexts.extend(stale._contexts, distance, until=lambda _: False)
        self._reaches.extend(stale._reaches, distance, until=lambda _: False)
        self._longest_reach = max(self._longest_reach, stale._longest_reach)
        return True

    def _reaches_beyond(self, distance: int) -> bool:
        """Whether a line left of *distance* reaches beyond it. O(lines as far as the longest reach)."""
        near = self._reaches.between(distance, distance + self._longest_reach)
        return any(offset - reach < distance for offset, reach in near)
