"""Stores the left contexts of a text by offset, and keeps those that an edit does not affect."""

from __future__ import annotations

from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.offsets import Offsets


class LeftOffsets:
    """The left contexts by offset, and the starts of lines that cannot be read to their ends.

    A cursor within such an unreadable line still has a left context if the line can be read up to the cursor.
    """

    __slots__ = ("_contexts", "unreadable")

    def __init__(self, contexts: Offsets[LeftContext], unreadable: list[int] | None = None) -> None:
        self._contexts = contexts
        self.unreadable = [] if unreadable is None else unreadable

    def __len__(self) -> int:
        return len(self._contexts)

    @property
    def last(self) -> tuple[int, LeftContext]:
        """The last offset and its context."""
        return self._contexts.last

    @property
    def first(self) -> int:
        """The first offset."""
        return self._contexts.first

    @property
    def first_broken(self) -> int:
        """The offset of the first line that could not be read; some context must tell that there is one."""
        return self._contexts.last_until(lambda context: context.broken)

    def copy(self) -> LeftOffsets:
        """The same, to be changed on its own."""
        return LeftOffsets(self._contexts.copy(), list(self.unreadable))

    def at_or_before(self, offset: int) -> tuple[int, LeftContext]:
        """The last offset that is not beyond *offset*, or else the first one of all, with its context."""
        return self._contexts.at_or_before(offset)

    def put(self, offset: int, context: LeftContext) -> None:
        """Set the *context* at *offset*, which has none yet."""
        self._contexts.put(offset, context)

    def cut_for_edit(self, start: int) -> LeftOffsets:
        """Remove and return what an edit at *start* can affect, and all beyond that.

        What makes a line unreadable, such as an unclosed string, may be repaired anywhere after it.
        """
        first = self.unreadable[0] if self.unreadable else start
        cut = self._contexts.cut(max(min(start - 1, first), self._contexts.first))
        n_kept = sum(offset < self._contexts.last[0] for offset in self.unreadable)
        self.unreadable, beyond = self.unreadable[:n_kept], self.unreadable[n_kept:]
        return LeftOffsets(cut, beyond)

    def moved_beyond(self, offset: int, shift: int) -> LeftOffsets:
        """What is beyond *offset*, moved by *shift*; this object must not be used afterwards."""
        unreadable = [each + shift for each in self.unreadable if each > offset]
        return LeftOffsets(self._contexts.moved_beyond(offset, shift), unreadable)

    def revive(self, stale: LeftOffsets, offset: int, context: LeftContext) -> bool:
        """Add what *stale* has beyond *offset*, if its context there is *context*; whether it is."""
        if stale._contexts.get(offset) is not context:
            return False
        self._contexts.extend(stale._contexts, offset, until=lambda later: later.broken != context.broken)
        self.unreadable += [each for each in stale.unreadable if offset <= each < self._contexts.last[0]]
        return True
