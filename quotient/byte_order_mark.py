"""The byte order mark, which CPython drops at the beginning of a file and takes nowhere else in code."""

from __future__ import annotations

from dataclasses import dataclass

from fimlsp.quotient.connecting import State
from fimlsp.quotient.document import BYTE_ORDER_MARK


@dataclass(frozen=True, slots=True)
class FileStart:
    """A state like `MiddleState`, of a middle that begins in the first bytes of a file.

    `read` is the beginning of the mark that stands there already. `state` is the state after the mark; None
    if the right context goes on with the mark, after its part `mark`: then a middle can do nothing else.
    """

    read: bytes
    state: State | None
    mark: bytes = BYTE_ORDER_MARK

    def feed(self, data: bytes) -> FileStart | State | None:
        """The state after *data*, None if nothing that begins so connects. O(len(data))."""
        read = self.read + data
        if read and self.mark.startswith(read) and (read != BYTE_ORDER_MARK):
            return FileStart(read, self.state, self.mark)
        after = read.removeprefix(BYTE_ORDER_MARK)
        if not after:
            return self if not data else self.state
        return None if self.state is None else self.state.feed(after)

    @property
    def complete(self) -> bool:
        """Whether the middle may end here."""
        if self.state is None:
            return self.read == self.mark
        return not self.read and self.state.complete

    @property
    def shortest_completion(self) -> bytes:
        """A text, near the shortest, that completes this middle; empty if it is complete."""
        rest = self.mark[len(self.read) :] if self.read or self.state is None else b""
        return rest if self.state is None else rest + self.state.shortest_completion
