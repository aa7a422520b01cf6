"""Versions of a file as statements of its own block, and the statements that two versions share.

A question about a file costs a comparison of bytes and the reading of changed statements. It does not grow
with the number of statements: those that stay are ranges of numbers, and only the notable ones in them are
read.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, TypeVar

from fimlsp.languages.python.compiler.statement_rules import LogicalLine
from fimlsp.quotient.language.contract import Fault, Span

T = TypeVar("T")

_LONGEST_WORD = 8
"""Bytes after a statement that decide if it continues: `finally` and one more."""

_NEAR = 8
"""Statements among which the one at an offset is searched."""

_ALIKE = 64
"""Bytes of a statement that are compared to find it again."""

_FIRST_PIECE = 256
"""Bytes of the first piece of two texts that are compared."""


class Chunk(NamedTuple):
    """A statement of the file's own block: its lines from `start` to `end`, and its faults.

    All offsets in it count from `start`. `futures` are its imports of features. `declares` is True if it
    declares names of the file's own block. If it is not `readable`, the text after it decides its end.
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
        """True if a question about the file has to read more of it than its offsets."""
        return bool(self.faults or self.futures or self.declares or not self.readable)

    def moved(self, shift: int) -> Chunk:
        """The same chunk *shift* bytes later."""
        return self._replace(start=self.start + shift, end=self.end + shift) if shift else self


class Stretch(NamedTuple):
    """The `chunks` from number `first` to before `last`, `shift` bytes later.

    `notable` are the numbers of all notable ones.
    """

    chunks: Sequence[Chunk]
    notable: Sequence[int]
    first: int
    last: int
    shift: int

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Stretch:
        """All of *chunks*, not shifted."""
        notable = [number for number, chunk in enumerate(chunks) if chunk.is_notable]
        return cls(chunks, notable, 0, len(chunks), 0)

    @property
    def end(self) -> int:
        """The end of its last chunk; it has one."""
        return self.chunks[self.last - 1].end + self.shift

    def all(self) -> Iterator[Chunk]:
        """Its chunks."""
        return (self.chunks[number].moved(self.shift) for number in range(self.first, self.last))

    def notable_chunks(self) -> Iterator[Chunk]:
        """Its notable chunks."""
        for number in islice(self.notable, bisect_left(self.notable, self.first), None):
            if number >= self.last:
                break
            yield self.chunks[number].moved(self.shift)


def together(stretches: Iterable[Stretch]) -> Stretch:
    """All chunks of *stretches* as one stretch."""
    return Stretch.of([chunk for stretch in stretches for chunk in stretch.all()])


class UnchangedText(NamedTuple):
    """The unchanged parts of a file: up to `prefix_end`, and from `suffix_start` on, `shift` bytes later."""

    prefix_end: int
    suffix_start: int
    shift: int


class EditedChunk(NamedTuple):
    """A chunk of the last version of a file, and the parts of its text that did not change."""

    chunk: Chunk
    unchanged: UnchangedText

    def lines_before(self) -> list[LogicalLine]:
        """The first lines that did not change."""
        start, lines = self.chunk.start, self.chunk.lines
        return list(lines[: count(lines, lambda line: start + line.end < self.unchanged.prefix_end)])

    def lines_after(self) -> dict[int, int]:
        """The numbers of the lines after the change, by new offsets; without the first line of the chunk."""
        start, lines = self.chunk.start, self.chunk.lines
        first = max(count(lines, lambda line: start + line.start < self.unchanged.suffix_start), 1)
        shift = start + self.unchanged.shift
        return {lines[number].start + shift: number for number in range(first, len(lines))}

    def moved(self, number: int, start: int) -> list[LogicalLine]:
        """The lines from *number* on, in a chunk at *start*."""
        shift = self.chunk.start + self.unchanged.shift - start
        return [LogicalLine(a + shift, b + shift, column) for a, b, column in self.chunk.lines[number:]]

    @property
    def new_end(self) -> int:
        """The end of the chunk in the new version, if its last lines did not change."""
        return self.chunk.end + self.unchanged.shift


class FileVersion(NamedTuple):
    """A file with its chunks; *future* is True if its annotations are never evaluated."""

    data: bytes
    future: bool
    chunks: Stretch


NO_VERSION = FileVersion(b"", False, Stretch.of(()))


class Continuation:
    """The parts of *data* that continue as *version*. Its offsets are queried in ascending order.

    `edited` is the old chunk at the last offset whose chunk changed, if it starts alike.
    """

    def __init__(self, version: FileVersion, data: bytes) -> None:
        self._old, self._data = version.data, data
        self._known = version.chunks
        self._next = 0
        self.edited: EditedChunk | None = None
        self._common_suffix = _common_suffix(self._old, data)
        self._shift = len(data) - len(self._old)

    def unchanged_from(self, position: int) -> Stretch | None:
        """The unchanged chunks from *position* on, the start of a chunk; None if that one changed."""
        self.edited = None
        chunks, notable = self._known.chunks, self._known.notable
        number = count(chunks, lambda chunk: chunk.start < position - self._shift)
        if position >= len(self._data) - self._common_suffix and self._starts(number, position - self._shift):
            return Stretch(chunks, notable, number, len(chunks), self._shift)
        near = range(self._next, min(self._next + _NEAR, len(chunks)))
        first = next((number for number in near if self._is_alike(number, position)), None)
        if first is None:
            return None
        start = chunks[first].start
        same = start + _common_prefix(self._old, start, self._data, position)
        self._next = max(first, min(self._first_unreadable(first), count(chunks, _ends_before(same))))
        if self._next > first:
            return Stretch(chunks, notable, first, self._next, position - start)
        if chunks[first].readable:
            unchanged = UnchangedText(same, len(self._old) - self._common_suffix, self._shift)
            self.edited = EditedChunk(chunks[first], unchanged)
        return None

    def _starts(self, number: int, start: int) -> bool:
        """True if chunk *number* starts at *start* of the old version."""
        chunks = self._known.chunks
        return number < len(chunks) and chunks[number].start == start

    def _is_alike(self, number: int, position: int) -> bool:
        """True if the text at *position* starts as the old chunk *number*."""
        start = self._known.chunks[number].start
        return self._old[start : start + _ALIKE] == self._data[position : position + _ALIKE]

    def _first_unreadable(self, number: int) -> int:
        """The number of the first unreadable chunk from *number* on; the number of all chunks if none is."""
        chunks, notable = self._known.chunks, self._known.notable
        later = islice(notable, bisect_left(notable, number), None)
        return next((other for other in later if not chunks[other].readable), len(chunks))


def _ends_before(end: int) -> Callable[[Chunk], bool]:
    """A function that is True for a chunk that ends, with the word after it, before *end*."""
    return lambda chunk: chunk.end + _LONGEST_WORD <= end


def count(items: Sequence[T], holds: Callable[[T], bool]) -> int:
    """The number of *items* for which *holds* is True; these come first. By bisection."""
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if holds(items[middle]):
            low = middle + 1
        else:
            high = middle
    return low


def _common_prefix(old: bytes, old_start: int, new: bytes, new_start: int) -> int:
    """The length of the common prefix of *old* from *old_start* on and *new* from *new_start* on."""
    most = min(len(old) - old_start, len(new) - new_start)
    view = memoryview(new)

    def is_same(low: int, high: int) -> bool:
        return old.startswith(view[new_start + low : new_start + high], old_start + low)

    return _common_length(most, is_same)


def _common_suffix(old: bytes, new: bytes) -> int:
    """The length of the common suffix."""
    view = memoryview(new)

    def is_same(low: int, high: int) -> bool:
        return old.endswith(view[len(new) - high : len(new) - low], 0, len(old) - low)

    return _common_length(min(len(old), len(new)), is_same)


def _common_length(most: int, is_same: Callable[[int, int], bool]) -> int:
    """The length to which two texts, of at least *most* bytes each, are equal; *is_same* compares a piece.

    Larger and larger pieces are compared, then halves of the first that differs.
    """
    same, size = 0, _FIRST_PIECE
    while same < most:
        size = min(size, most - same)
        if is_same(same, same + size):
            same, size = same + size, 2 * size
        else:
            most = same + size - 1
            size = max(1, size // 2)
    return same
