"""Left contexts by their places in a text, and which of them an edit leaves as they are."""

from __future__ import annotations

from fimlsp.quotient.left_context import LeftContext
from fimlsp.quotient.places import Places


class LeftPlaces:
    """The contexts, with the starts of lines that cannot be read to their ends.

    Within such a line a cursor may stand all the same, if it can be read up to there.
    """

    __slots__ = ("_contexts", "unreadable")

    def __init__(self, contexts: Places[LeftContext], unreadable: list[int] | None = None) -> None:
        self._contexts = contexts
        self.unreadable = [] if unreadable is None else unreadable

    def __len__(self) -> int:
        return len(self._contexts)

    @property
    def last(self) -> tuple[int, LeftContext]:
        """The last place and its context."""
        return self._contexts.last

    @property
    def first(self) -> int:
        """The first place."""
        return self._contexts.first

    def at_or_before(self, place: int) -> tuple[int, LeftContext]:
        """The last place that is not beyond *place*, with its context; the first of all if there is none."""
        return self._contexts.at_or_before(place)

    def put(self, place: int, context: LeftContext) -> None:
        """Set the *context* at *place*, which has none."""
        self._contexts.put(place, context)

    def cut_for_edit(self, start: int) -> LeftPlaces:
        """Take away what an edit at *start* can touch, and all beyond that.

        What a line cannot be read for may stand anywhere after it, an unclosed string for instance.
        """
        first = self.unreadable[0] if self.unreadable else start
        cut = self._contexts.cut(max(min(start - 1, first), self._contexts.first))
        n_kept = sum(place < self._contexts.last[0] for place in self.unreadable)
        self.unreadable, beyond = self.unreadable[:n_kept], self.unreadable[n_kept:]
        return LeftPlaces(cut, beyond)

    def moved_beyond(self, place: int, shift: int) -> LeftPlaces:
        """What stands beyond *place*, moved by *shift*; this is not to be used any more."""
        unreadable = [each + shift for each in self.unreadable if each > place]
        return LeftPlaces(self._contexts.moved_beyond(place, shift), unreadable)

    def revive(self, stale: LeftPlaces, place: int, context: LeftContext) -> bool:
        """Add what *stale* has beyond *place* if it holds again, as the *context* there tells."""
        if stale._contexts.get(place) is not context:
            return False
        self._contexts.extend(stale._contexts, place, until=lambda later: later.broken != context.broken)
        self.unreadable += [each for each in stale.unreadable if place <= each < self._contexts.last[0]]
        return True
