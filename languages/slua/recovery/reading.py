"""Reads a text that may be broken to its end, with the cheapest change at each lexeme that may not come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from fimlsp.languages.slua.incremental.machine import Machine
from fimlsp.languages.slua.recovery.changes import (
    MOST_WRITTEN,
    Change,
    missing_lexemes,
    misspelt,
    next_written,
    spans,
)
from fimlsp.languages.slua.recovery.lexemes import Piece
from fimlsp.lexing.interruption import checkpoint
from fimlsp.quotient.states.protocol import Replacement

_MOST_CHANGES = 40
_AHEAD = 10
_UNREAD = 2


class Reading:
    """The lexemes *pieces*, read from *machine* on.

    Attributes:
        places: before each piece that was read, and behind the last.
    """

    def __init__(self, pieces: Sequence[Piece], machine: Machine) -> None:
        self.pieces = pieces
        self.places = [machine]
        self._passed: set[int] = set()
        self._written: dict[int, tuple[str, ...]] = {}

    def read(self) -> bool:
        """Read to the end; False if no change helps."""
        changes = 0
        while (number := len(self.places) - 1) < len(self.pieces):
            checkpoint()
            following = self.take(self.places[number], number)
            if following is not None:
                self.places.append(following)
                continue
            change = self._cheapest(number)
            changes += 1
            if change is None or changes > _MOST_CHANGES:
                return False
            self._apply(change)
        return True

    @property
    def is_read(self) -> bool:
        """Whether all was read."""
        return len(self.places) > len(self.pieces)

    def take(self, machine: Machine, number: int) -> Machine | None:
        """*machine* behind the piece of this *number*; None if it may not come."""
        text = self.pieces[number].text
        return machine.take(text) if text else None

    def may_change(self, first: int, resumed: int) -> bool:
        """Whether something may be written before *first*, and the pieces up to *resumed* passed over."""
        del first, resumed
        return True

    def is_free(self, number: int) -> bool:
        """Whether what is written before this piece is no change of the text."""
        del number
        return False

    def guesses(self, number: int) -> Iterator[Change]:
        """Changes that only suppose something of the piece of this *number*."""
        del number
        return iter(())

    def _cheapest(self, broken: int) -> Change | None:
        best: tuple[int, Change] | None = None
        for change in self._changes(broken):
            cost = (
                0
                if self.is_free(change.first) and change.first == change.resumed
                else change.cost(self.pieces)
            )
            if best is not None and cost >= best[0]:
                continue
            read = self._read_ahead(change, broken)
            if read or change.resumed > broken:
                cost += _UNREAD * (_AHEAD - read)
                if best is None or cost < best[0]:
                    best = cost, change
        return None if best is None else best[1]

    def _changes(self, broken: int) -> Iterator[Change]:
        yield from self.guesses(broken)
        if self.may_change(broken, broken):
            yield from filter(self._goes_on, missing_lexemes(self.places[broken], broken))
        begun = [
            Change(first, resumed, (), self.places[first])
            for first, resumed in dict.fromkeys(spans(self.pieces, self.places, broken))
            if self.may_change(first, resumed)
        ]
        if self.may_change(broken, broken + 1):
            begun += misspelt(self.places[broken], broken, self.pieces[broken].text)
        for change in begun:
            yield from self._finished(change)

    def _finished(self, begun: Change) -> Iterator[Change]:
        """*begun*, with as much of the cheapest end of the script as has to be written there."""
        change: Change | None = begun if begun.resumed > begun.first else _with_more(begun)
        while change is not None:
            if self._goes_on(change):
                yield change
                return
            change = _with_more(change)

    def _goes_on(self, change: Change) -> bool:
        end = len(self.pieces)
        return change.resumed == end or self.take(change.machine, change.resumed) is not None

    def _read_ahead(self, change: Change, broken: int) -> int:
        """How many of the next pieces, from the broken one on, can be read after *change*."""
        machine, start = change.machine, max(broken, change.resumed)
        for number in range(change.resumed, min(start + _AHEAD, len(self.pieces))):
            following = self.take(machine, number)
            if following is None:
                return max(0, number - start)
            machine = following
        return _AHEAD

    def _apply(self, change: Change) -> None:
        first, resumed = change.first, change.resumed
        self._passed = {number for number in self._passed if number < first} | {*range(first, resumed)}
        self._written = {number: text for number, text in self._written.items() if number <= first}
        if change.written and not (self.is_free(first) and first == resumed):
            self._written[first] = (*self._written.get(first, ()), *change.written)
        self.places[first:] = [change.machine] * (resumed - first + 1)

    @property
    def edits(self) -> tuple[Replacement, ...]:
        """What was changed, in the order of the text."""
        found = list[Replacement]()
        for number in sorted({*self._passed, *self._written}):
            words = self._written.get(number, ())
            start, end = self._span(number)
            text = f" {' '.join(words)} ".encode()
            if number in self._passed and number - 1 in self._passed:
                start, _, before = found.pop()
                text = before.rstrip() + text
            found.append((start, end, text))
        return tuple(found)

    def _span(self, number: int) -> tuple[int, int]:
        """Where the piece stands if it is passed over; else behind the one before."""
        if number in self._passed:
            return self.pieces[number].start, self.pieces[number].end
        at = self.pieces[number - 1].end if number else self.pieces[0].start
        return at, at


def _with_more(change: Change) -> Change | None:
    """*change* with more written; None if all is closed, or that is too much."""
    more = next_written(change.machine) if len(change.written) < MOST_WRITTEN else None
    return None if more is None else replace(change, written=(*change.written, *more[0]), machine=more[1])
