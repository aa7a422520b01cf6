"""An edit of a text: some bytes are replaced by others."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Replacement:
    """An edit in bytes: those from *start* to *end* become *text*."""

    start: int
    end: int
    text: bytes = field(repr=False)

    @property
    def shift(self) -> int:
        """The growth of the text by the edit, in bytes; negative if it shrinks."""
        return len(self.text) - (self.end - self.start)

    def applied_to(self, data: bytes) -> bytes:
        """*data* after the edit. O(len(data)), in one copy, where slices and `+` would make four."""
        before = memoryview(data)
        return b"".join((before[: self.start], self.text, before[self.end :]))
