"""Documents that are edited: they answer as new ones do, and a key reads its surroundings alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise

from fimlsp.lexing.line import Line, LineReader, MayFollow
from fimlsp.quotient.engine import Document
from fimlsp.testing.checking import Judged, verdict


def type_a_line(of: Judged, data: bytes, pieces: Sequence[bytes]) -> bytes:
    """Type *pieces* at a line start in the middle of *data*; returns the text with them.

    Raises:
        AssertionError: after one of them, the document answers differently from a new one.
    """
    document = of.engine.document(data)
    place = data.index(b"\n", len(data) // 2) + 1
    for piece in pieces:
        document.edit(place, place, piece)
        place += len(piece)
        fresh = of.fresh_engine().document(document.data).middle_at_bytes(place, place, relax=False).start
        state = document.middle_at_bytes(place, place, relax=False).start
        assert verdict(state) == verdict(fresh), (document.data, place)
    return document.data


class CountingReader(LineReader):
    """A reader of lines that counts the bytes of those that are looked at."""

    def __init__(self, document: Document) -> None:
        super().__init__(document.tables.lexical)
        self.count = 0

    def lines(self, data: bytes, start: int, may_follow: MayFollow | None = None) -> Iterator[Line]:
        """As in `LineReader`."""
        for line in super().lines(data, start, may_follow):
            self.count += line.size
            yield line

    def read(self, data: bytes, start: int, may_follow: MayFollow | None = None) -> Line:
        """As in `LineReader`."""
        line = super().read(data, start, may_follow)
        self.count += line.size
        return line


@contextmanager
def counting(document: Document) -> Iterator[CountingReader]:
    """Count the bytes of the lines of *document* that are looked at."""
    transitions = document.transitions
    reader, transitions.lines = transitions.lines, CountingReader(document)
    try:
        yield transitions.lines
    finally:
        transitions.lines = reader


def bytes_for_a_key(of: Judged, data: bytes, place: int, key: bytes = b"x") -> int:
    """The number of bytes that are looked at for *key*, typed at *place* in *data*. O(len(data))."""
    document = of.fresh_engine().document(data)
    document.prepare()
    document.middle_at_bytes(place, place, relax=False)
    with counting(document) as reader:
        document.edit(place, place, key)
        document.middle_at_bytes(place, place + len(key), relax=False)
    return reader.count


def grows(of: Judged, part: bytes, counts: Sequence[int] = (20, 80, 320)) -> list[int]:
    """The bytes that are looked at for a key in the middle of so many *parts*; empty if they do not grow.

    A file of parts has to be valid. More than twice the bytes of the shortest file count as growth.
    """
    found = [bytes_for_a_key(of, part * count, len(part) * (count // 2)) for count in counts]
    return found if any(after > 2 * max(before, len(part)) for before, after in pairwise(found)) else []
