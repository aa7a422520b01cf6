"""The ways to read the text around the cursor's line as a valid one, the likelier first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from fimlsp.quotient.recovery.above import Above
from fimlsp.quotient.recovery.alternatives import closed, outside, without_all, without_line
from fimlsp.quotient.recovery.below import Below
from fimlsp.quotient.recovery.enclosed import enclosed
from fimlsp.quotient.recovery.mended_text import MendedText
from fimlsp.quotient.recovery.statements.readings import Edit

T = TypeVar("T")


class Kind(Enum):
    """How much a reading is trusted: whether it may be taken although it does not settle."""

    GENTLE = "taken if nothing settles"
    SURE = "taken only if it settles"
    ENCLOSED = "taken only if it settles, whatever is open above"
    ROUGH = "taken as it is, where no gentle one connects"


class Candidate(NamedTuple):
    """A mended text, with what is above the cursor's line; `number` is its own."""

    text: MendedText
    left: Above
    number: int = -1

    def start_below(self, below: Below) -> int:
        """Where the line after the cursor's begins, which *below* finds in its own text."""
        return self.text.cursor_end + below.start - below.text.cursor_end


def candidates(above: Above, below: Below) -> Iterator[tuple[Candidate, Kind]]:
    """The mended text, then others, the gentle ones first, which keep all that is at the cursor's line.

    Most often the first one is taken, so nothing is made before it is asked for.
    """
    taken_out = _Kept(chain((above,), outside(above)))
    balanced = _Kept(chain([()], below.balanced(above)))
    for reading in _combined(taken_out, balanced, below):
        yield reading, Kind.GENTLE
    for reading in _combined(_Kept(outside(above, surely=True)), balanced, below):
        yield reading, Kind.SURE
    for left in taken_out:
        if edits := enclosed(left, below):
            yield _changed(left, edits, below), Kind.ENCLOSED
    lefts = _Kept(chain((above,), closed(above)))
    changes = _Kept(_changes(below))
    for reading in _combined(lefts, changes, below):
        yield reading, Kind.ROUGH
    bare_below = (*below.without_rest(), *below.without_all())
    for reading in _combined(lefts, [bare_below], below):
        yield reading, Kind.ROUGH
    bare = without_all(above)
    last = [without_line(above), bare, without_line(bare)]
    for reading in _combined(last, [*changes, bare_below], below):
        yield reading, Kind.ROUGH


def _changes(below: Below) -> Iterator[tuple[Edit, ...]]:
    """What may be changed below the cursor, nothing among it; the likelier first."""
    strays = below.has_strays
    if not strays:
        yield ()
    if closers := below.without_closers():
        yield closers
    if strays:
        yield ()
    yield from below.completed_rest()
    if rest := below.without_rest():
        yield rest


class _Kept(Generic[T]):
    """The elements of an iterator, made when they are first asked for and then kept."""

    def __init__(self, source: Iterator[T]) -> None:
        self._source = source
        self._known: list[T] = []

    def __iter__(self) -> Iterator[T]:
        yield from self._known
        for element in self._source:
            self._known.append(element)
            yield element


def _combined(
    lefts: Iterable[Above], changes: Iterable[tuple[Edit, ...]], below: Below
) -> Iterator[Candidate]:
    """Each of *lefts* with each of the *changes* below."""
    for change in changes:
        for left in lefts:
            yield _changed(left, change, below)


def _changed(left: Above, change: tuple[Edit, ...], below: Below) -> Candidate:
    """*left* with the *change* of the text below."""
    text = left.text.copy() if change else left.text
    shift = left.text.cursor - below.text.cursor
    text.replace([(start + shift, end + shift, new) for start, end, new in change])
    return Candidate(text, left)
