"""The interface of checks that look at a whole text, for what a grammar cannot tell of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

Span = tuple[int, int]


class Fault(NamedTuple):
    """Why a text is refused although the grammar accepts it.

    `spans` are the places that together are at fault, as offsets of bytes: a text with the same lexemes
    there has the fault too, unless the text up to `mended_until` mends it. With `local` that holds wherever
    in the file they stand; otherwise the text before them counts. `mended_by` is a line that mends it if it
    is written behind it in a block that the fault is in. `rather` are two words: what completes a text with
    the fault may have to say the second where it says the first. `goes_on` mends it where it has to be
    mended at the latest, at `mended_until`, or right behind its end if that is not given. What is `together`
    stays so whatever is written between its places: no header can part them.
    """

    message: str
    spans: tuple[Span, ...]
    local: bool = True
    mended_until: int = 0
    mended_by: bytes = b""
    rather: tuple[bytes, bytes] | None = None
    goes_on: bytes = b""
    together: bool = False

    def moved(self, by: int) -> Fault:
        """The same fault in a text that has *by* more bytes before it."""
        spans = tuple([(start + by, end + by) for start, end in self.spans])
        mended_until = self.mended_until and self.mended_until + by
        return self._replace(spans=spans, mended_until=mended_until)


class WholeTextCheck(ABC):
    """A check of whole texts that the grammar accepts. What it remembers never changes an answer.

    `halves` are lexemes with which others begin, each with the bytes that may go on with it; what becomes of
    them may be known before it is written. Behind the words `spelt_behind` in a statement only some names are
    known, so that one may be wrong before it ends.
    """

    halves: Mapping[bytes, bytes] = MappingProxyType({})
    spelt_behind: tuple[bytes, ...] = ()

    @abstractmethod
    def faults(self, data: bytes) -> Sequence[Fault]:
        """Why *data* is refused; nothing if it is accepted, or is no sentence of the grammar."""

    @abstractmethod
    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """What may go on behind the unfinished *statement* if it ends in such a name, or before one."""

    @abstractmethod
    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """Whether the last *fresh* bytes may have given the unfinished *statement* a fault. Quick.

        *around* are the texts before the middle and behind it.
        """

    @abstractmethod
    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """Whether the last *fresh* bytes of *statement*, in brackets, give no fault to a text that has none.

        The grammar accepts the text with and without them before *right*. Quick; no where that is not known.
        """
