"""Versions of a file as statements of its own block, and where one goes on as another does.

A question about a file costs reading what changed and comparing bytes, whatever the number of its statements:
what stays is told by numbers of statements, of which only those are looked at that have something to tell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from fimlsp.languages.python.compiler.rules.statements import LogicalLine
from fimlsp.quotient.language.whole_text import Fault, Span

T = TypeVar("T")

_LONGEST_WORD = 8
_NEAR = 8
_ALIKE = 64
_FIRST_LOOK = 256


class Chunk(NamedTuple):
    """A statement of the file's own block: its lines from `start` to `end`, and what is wrong with it.

    All offsets in it count from `start`. `futures` are its imports of features, `declares` tells whether it
    declares names of the file's own block. If it is not `readable`, the text
    behind it decides where it ends.
    """

    start: int
    end: int
    lines: tuple[LogicalLine, ...]
    faults: tuple[Fault, ...]
    futures: tuple[Span, ...]
    declares: bool
    readable: bool

    @property
    def is_notable(self) -> bool:
        """Whether there is more to it than that it stands there."""
        return bool(self.faults or self.futures or self.declares or not self.readable)

    def moved(self, shift: int) -> Chunk:
        """The same chunk *shift* bytes later."""
        return self._replace(start=self.start + shift, end=self.end + shift) if shift else self


class Stretch(NamedTuple):
    """The `chunks` from number `first` to before `last`, `shift` bytes later.

    `notable` are the numbers of all that are.
    """

    chunks: Sequence[Chunk]
    notable: Sequence[int]
    first: int
    last: int
    shift: int

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Stretch:
        """All of *chunks*, where they are."""
        notable = [number for number, chunk in enumerate(chunks) if chunk.is_notable]
        return cls(chunks, notable, 0, len(chunks), 0)

    @property
    def end(self) -> int:
        """Where it ends; it has a chunk."""
        return self.chunks[self.last - 1].end + self.shift

    def all(self) -> Iterator[Chunk]:
        """Its chunks."""
        return (self.chunks[number].moved(self.shift) for number in range(self.first, self.last))

    def told(self) -> Iterator[Chunk]:
        """Its notable chunks."""
        for at in range(bisect_left(self.notable, self.first), len(self.notable)):
            if self.notable[at] >= self.last:
                break
            yield self.chunks[self.notable[at]].moved(self.shift)


def together(stretches: Iterable[Stretch]) -> Stretch:
    """All chunks of *stretches*, one behind the other."""
    return Stretch.of([chunk for stretch in stretches for chunk in stretch.all()])


class Stay(NamedTuple):
    """What stays of the last version of a file: up to `before`, and from `behind` on, `shift` bytes later."""

    before: int
    behind: int
    shift: int


class Edited(NamedTuple):
    """A chunk of the last version of a file, and what stays of its text."""

    chunk: Chunk
    stay: Stay

    def lines_before(self) -> list[LogicalLine]:
        """The first lines, as far as they stay."""
        start, lines = self.chunk.start, self.chunk.lines
        return list(lines[: count(lines, lambda line: start + line.end < self.stay.before)])

    def lines_behind(self) -> dict[int, int]:
        """Where lines that stay begin now, with their numbers; none is the first of the chunk."""
        start, lines = self.chunk.start, self.chunk.lines
        first = max(count(lines, lambda line: start + line.start < self.stay.behind), 1)
        return {start + lines[at].start + self.stay.shift: at for at in range(first, len(lines))}

    def moved(self, at: int, start: int) -> list[LogicalLine]:
        """The lines from number *at* on in a chunk that begins at *start*."""
        shift = self.chunk.start + self.stay.shift - start
        return [LogicalLine(a + shift, b + shift, column) for a, b, column in self.chunk.lines[at:]]


class FileVersion(NamedTuple):
    """A file that was read, whether its annotations are never evaluated, and all of its chunks."""

    data: bytes
    future: bool
    chunks: Stretch


NO_VERSION = FileVersion(b"", False, Stretch.of(()))


class Continuation:
    """Where *data* goes on as *version* does. It is asked from the beginning of *data* to its end."""

    def __init__(self, version: FileVersion, data: bytes) -> None:
        self._old, self._data = version.data, data
        self._known = version.chunks
        self._next = 0
        self._met: Edited | None = None
        self._behind = _common_suffix(self._old, data)
        self._shift = len(data) - len(self._old)

    def stays(self, position: int) -> Stretch | None:
        """The chunks that are known from *position* on, where one begins; None if that one changed."""
        self._met = None
        chunks, notable = self._known.chunks, self._known.notable
        number = count(chunks, lambda chunk: chunk.start < position - self._shift)
        if position >= len(self._data) - self._behind and self._begins(number, position - self._shift):
            return Stretch(chunks, notable, number, len(chunks), self._shift)
        near = range(self._next, min(self._next + _NEAR, len(chunks)))
        found = next((number for number in near if self._is_alike(number, position)), None)
        if found is None:
            return None
        start = chunks[found].start
        same = start + _common_prefix(self._old, start, self._data, position)
        self._next = max(found, min(self._first_unreadable(found), count(chunks, _ends_before(same))))
        if self._next > found:
            return Stretch(chunks, notable, found, self._next, position - start)
        if chunks[found].readable:
            stay = Stay(same, len(self._old) - self._behind, self._shift)
            self._met = Edited(chunks[found], stay)
        return None

    @property
    def edited(self) -> Edited | None:
        """The chunk that begins as the one that last did not stay."""
        return self._met

    def _begins(self, number: int, start: int) -> bool:
        chunks = self._known.chunks
        return number < len(chunks) and chunks[number].start == start

    def _is_alike(self, number: int, position: int) -> bool:
        """Whether what follows *position* begins as the chunk *number* did."""
        start = self._known.chunks[number].start
        return self._old[start : start + _ALIKE] == self._data[position : position + _ALIKE]

    def _first_unreadable(self, number: int) -> int:
        """The first chunk from *number* on that cannot be read; the number of all if each can."""
        chunks, notable = self._known.chunks, self._known.notable
        later = islice(notable, bisect_left(notable, number), None)
        return next((at for at in later if not chunks[at].readable), len(chunks))


def _ends_before(end: int) -> Callable[[Chunk], bool]:
    """Whether a chunk, and the word behind it, ends before *end*."""
    return lambda chunk: chunk.end + _LONGEST_WORD <= end


def count(found: Sequence[T], holds: Callable[[T], bool]) -> int:
    """For how many of the first of *found* it *holds*, which is True, then False. By bisection."""
    low, high = 0, len(found)
    while low < high:
        middle = (low + high) // 2
        if holds(found[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def _common_prefix(one: bytes, start: int, other: bytes, begin: int) -> int:
    """The length of the common prefix of *one* from *start* on and *other* from *begin* on."""
    most = min(len(one) - start, len(other) - begin)
    view = memoryview(other)

    def is_same(low: int, high: int) -> bool:
        return one.startswith(view[begin + low : begin + high], start + low)

    return _common_length(most, is_same)


def _common_suffix(one: bytes, other: bytes) -> int:
    """The length of the common suffix."""
    view = memoryview(other)

    def is_same(low: int, high: int) -> bool:
        return one.endswith(view[len(other) - high : len(other) - low], 0, len(one) - low)

    return _common_length(min(len(one), len(other)), is_same)


def _common_length(most: int, is_same: Callable[[int, int], bool]) -> int:
    """How far two texts, of at least *most* bytes each, are the same; *is_same* compares a piece of both.

    Larger and larger pieces are compared, then halves of the first that differs.
    """
    same, size = 0, _FIRST_LOOK
    while same < most:
        size = min(size, most - same)
        if is_same(same, same + size):
            same, size = same + size, 2 * size
        else:
            most = same + size - 1
            size = max(1, size // 2)
    return same
