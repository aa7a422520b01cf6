"""Left contexts by their places in a text, and which of them an edit leaves as they are."""

from __future__ import annotations

from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.offsets import Offsets


class LeftOffsets:
    """The contexts, with the starts of lines that cannot be read to their ends.

    Within such a line a cursor may stand all the same, if it can be read up to there.
    """

    __slots__ = ("_contexts", "unreadable")

    def __init__(self, contexts: Offsets[LeftContext], unreadable: list[int] | None = None) -> None:
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

    def at_or_before(self, offset: int) -> tuple[int, LeftContext]:
        """The last place that is not beyond *offset*, with its context; the first of all if there is none."""
        return self._contexts.at_or_before(offset)

    def put(self, offset: int, context: LeftContext) -> None:
        """Set the *context* at *offset*, which has none."""
        self._contexts.put(offset, context)

    def cut_for_edit(self, start: int) -> LeftOffsets:
        """Take away what an edit at *start* can touch, and all beyond that.

        What a line cannot be read for may stand anywhere after it, an unclosed string for instance.
        """
        first = self.unreadable[0] if self.unreadable else start
        cut = self._contexts.cut(max(min(start - 1, first), self._contexts.first))
        n_kept = sum(offset < self._contexts.last[0] for offset in self.unreadable)
        self.unreadable, beyond = self.unreadable[:n_kept], self.unreadable[n_kept:]
        return LeftOffsets(cut, beyond)

    def moved_beyond(self, offset: int, shift: int) -> LeftOffsets:
        """What stands beyond *offset*, moved by *shift*; this is not to be used any more."""
        unreadable = [each + shift for each in self.unreadable if each > offset]
        return LeftOffsets(self._contexts.moved_beyond(offset, shift), unreadable)

    def revive(self, stale: LeftOffsets, offset: int, context: LeftContext) -> bool:
        """Add what *stale* has beyond *offset* if it holds again, as the *context* there tells."""
        if stale._contexts.get(offset) is not context:
            return False
        self._contexts.extend(stale._contexts, offset, until=lambda later: later.broken != context.broken)
        self.unreadable += [each for each in stale.unreadable if offset <= each < self._contexts.last[0]]
        return True
