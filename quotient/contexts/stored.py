"""Stores the contexts of a text by offset, so that an edit keeps those that it does not affect.

Left contexts are stored by their distance from the beginning of the text, right contexts by that from its
end. `LeftOffsets` and `RightOffsets` have those of line starts, which an edit cuts and shifts cheaply.

`Readings` has those of a text in which no line is read alike in every context (`LexicalSpec.contextual`).
Left of a cursor the modes of the lexer are known, so the text is read once, and its states are kept at line
ends. Right of it each lexeme is read in every mode. Where all modes agree on its end, the parser reads any of
its kinds in one step. Elsewhere the readings part until they meet again. The grammar mentions the modes, so a
reading with a wrong one soon connects with nothing and is dropped.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from fimlsp.lexing.interruption import EVERY, checkpoint
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import longest_match
from fimlsp.lexing.line import Line
from fimlsp.quotient.contexts.left import LeftContext, start_of_file
from fimlsp.quotient.contexts.right import RightContext, end_of_file, with_readings
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import LanguageTables

T = TypeVar("T")
B = TypeVar("B", bound="Offsets[Any]")


class Offsets(Generic[T]):
    """A map from offsets to values, sorted by offset.

    A look-up is a bisection, and adding at the end is O(1). Shifting all offsets is O(1); removing or cutting
    off those beyond an offset is linear in their number.
    """

    __slots__ = ("_first", "_keys", "_shift", "_values")

    def __init__(self, keys: Iterable[int], values: list[T], shift: int = 0) -> None:
        self._keys = array("q", keys)
        self._values = values
        self._shift = shift
        self._first = 0  # index of the first valid entry

    def __len__(self) -> int:
        return len(self._keys) - self._first

    def get(self, offset: int) -> T | None:
        """The value at *offset*; None if there is none."""
        index = bisect_left(self._keys, offset - self._shift, self._first)
        if index < len(self._keys) and self._keys[index] == offset - self._shift:
            return self._values[index]
        return None

    def put(self, offset: int, value: T) -> None:
        """Set the value at *offset*, which has none yet."""
        key = offset - self._shift
        if self._keys and key < self._keys[-1]:
            index = bisect_left(self._keys, key, self._first)
            self._keys.insert(index, key)
            self._values.insert(index, value)
        else:
            self._keys.append(key)
            self._values.append(value)

    @property
    def first(self) -> int:
        """The first offset."""
        return self._keys[self._first] + self._shift

    @property
    def last(self) -> tuple[int, T]:
        """The last offset and its value."""
        return self._keys[-1] + self._shift, self._values[-1]

    def at_or_before(self, offset: int) -> tuple[int, T]:
        """The last offset that is not beyond *offset*, or else the first one of all, with its value."""
        index = max(bisect_right(self._keys, offset - self._shift, self._first) - 1, self._first)
        return self._keys[index] + self._shift, self._values[index]

    def last_until(self, until: Callable[[T], bool]) -> int:
        """The last offset whose value does not satisfy *until*; all later values must satisfy it."""
        index = bisect_left(self._values, True, self._first, key=until)
        return self._keys[index - 1] + self._shift

    def copy(self) -> Offsets[T]:
        """The same map, to be changed on its own."""
        return Offsets(self._keys[self._first :], self._values[self._first :], self._shift)

    def first_beyond(self, offset: int) -> int | None:
        """The first offset beyond *offset*, None if there is none."""
        index = bisect_right(self._keys, offset - self._shift, self._first)
        return self._keys[index] + self._shift if index < len(self._keys) else None

    def between(self, offset: int, last: int) -> Iterator[tuple[int, T]]:
        """The offsets beyond *offset* but not beyond *last* with their values, in order."""
        start = bisect_right(self._keys, offset - self._shift, self._first)
        end = bisect_right(self._keys, last - self._shift, start)
        return zip([key + self._shift for key in self._keys[start:end]], self._values[start:end], strict=True)

    def cut(self, offset: int) -> Offsets[T]:
        """Remove and return the entries beyond *offset*."""
        return Offsets(*self._removed_beyond(offset))

    def _removed_beyond(self, offset: int) -> tuple[array[int], list[T], int]:
        """As `cut`, in parts: keys, values and shift."""
        index = bisect_right(self._keys, offset - self._shift, self._first)
        beyond = self._keys[index:], self._values[index:], self._shift
        del self._keys[index:], self._values[index:]
        return beyond

    def move_beyond(self, offset: int, shift: int) -> bool:
        """Move the entries beyond *offset* by *shift*, and drop the others; True if any remain."""
        self._first = bisect_right(self._keys, offset - self._shift, self._first)
        self._shift += shift
        return self._first < len(self._keys)

    def extend(self, later: Offsets[T], offset: int, until: Callable[[T], bool]) -> None:
        """Add the entries of *later* beyond *offset*, up to the first value for which *until* is true.

        *until* must then be true for all later values as well.
        """
        start = bisect_right(later._keys, offset - later._shift, later._first)
        end = bisect_left(later._values, True, start, key=until)
        moved = later._shift - self._shift
        keys = later._keys[start:end]
        if moved:
            keys = array("q", [key + moved for key in keys])
        if keys and self._keys and keys[0] <= self._keys[-1]:
            known = dict(zip(keys, later._values[start:end], strict=True))
            known.update(zip(self._keys, self._values, strict=True))
            self._keys, self._first = array("q", sorted(known)), 0
            self._values = [known[key] for key in self._keys]
            return
        self._keys += keys
        self._values += later._values[start:end]


class LeftOffsets(Offsets[LeftContext]):
    """The left contexts by offset, and the starts of lines that cannot be read to their ends.

    A cursor within such an unreadable line still has a left context if the line can be read up to the cursor.
    """

    __slots__ = ("unreadable",)

    def __init__(
        self, keys: Iterable[int], values: list[LeftContext], shift: int = 0, unreadable: Sequence[int] = ()
    ) -> None:
        super().__init__(keys, values, shift)
        self.unreadable = [*unreadable]

    @property
    def first_broken(self) -> int:
        """The offset of the first unreadable line; some context must be broken."""
        return self.last_until(lambda context: context.broken)

    def copy(self) -> LeftOffsets:
        """The same, to be changed on its own."""
        return LeftOffsets(
            self._keys[self._first :], self._values[self._first :], self._shift, self.unreadable
        )

    def cut_for_edit(self, start: int) -> LeftOffsets:
        """Remove and return the entries that an edit at *start* can affect, and all beyond them.

        An unreadable line, such as one with an unclosed string, may be repaired anywhere after it.
        """
        unreadable = self.unreadable
        last = min(start - 1, unreadable[0]) if unreadable else start - 1
        self.unreadable = []
        return LeftOffsets(*self._removed_beyond(last), unreadable)

    def move_beyond(self, offset: int, shift: int) -> bool:
        """As `Offsets.move_beyond`."""
        if self.unreadable:
            self.unreadable = [start + shift for start in self.unreadable if start > offset]
        return super().move_beyond(offset, shift)

    def revive(self, stale: LeftOffsets, offset: int, context: LeftContext) -> bool:
        """Add the entries of *stale* beyond *offset*, if its context there is *context*; True if it is."""
        if stale.get(offset) is not context:
            return False
        self.extend(stale, offset, until=lambda later: later.broken != context.broken)
        self.unreadable += [start for start in stale.unreadable if offset <= start < self.last[0]]
        return True


class RightOffsets(Offsets[RightContext]):
    """The right contexts by distance, and the reach of lines that depend on more than one physical line.

    After an edit, a context that was set aside is valid again on two conditions: one nearer to the end of the
    text is valid, and no line between the two depends on text beyond that one.
    """

    __slots__ = ("_longest_reach", "_reaches")

    def __init__(
        self,
        keys: Iterable[int],
        values: list[RightContext],
        shift: int = 0,
        reaches: Offsets[int] | None = None,
        longest_reach: int = 0,
    ) -> None:
        super().__init__(keys, values, shift)
        self._reaches = Offsets([], []) if reaches is None else reaches
        self._longest_reach = longest_reach

    def copy(self) -> RightOffsets:
        """The same, to be changed on its own."""
        own = self._keys[self._first :], self._values[self._first :], self._shift
        return RightOffsets(*own, self._reaches.copy(), self._longest_reach)

    def known_within(self, distance: int) -> int:
        """The last distance that is not beyond *distance* and has a context."""
        return self.at_or_before(distance)[0]

    def put_line(self, distance: int, context: RightContext, line: Line) -> None:
        """Set the *context* at *distance*, which has none yet; it starts with *line*."""
        self.put(distance, context)
        if line.reach:
            self._reaches.put(distance, line.reach)
            self._longest_reach = max(self._longest_reach, line.reach)

    def cut(self, distance: int) -> RightOffsets:
        """Remove and return the entries beyond *distance*."""
        own = self._removed_beyond(distance)
        return RightOffsets(*own, self._reaches.cut(distance), self._longest_reach)

    def move_beyond(self, distance: int, shift: int) -> bool:
        """As `Offsets.move_beyond`."""
        self._reaches.move_beyond(distance, shift)
        return super().move_beyond(distance, shift)

    def revive(self, stale: RightOffsets, distance: int, context: RightContext) -> bool:
        """Add the entries of *stale* beyond *distance*, if its context there is *context*; True if it is.

        Broken contexts may be equal although lines start elsewhere, so they prove nothing.
        """
        if context.broken or stale.get(distance) is not context or stale._reaches_beyond(distance):
            return False
        self.extend(stale, distance, until=lambda _: False)
        self._reaches.extend(stale._reaches, distance, until=lambda _: False)
        self._longest_reach = max(self._longest_reach, stale._longest_reach)
        return True

    def _reaches_beyond(self, distance: int) -> bool:
        """True if a line before *distance* reaches beyond it. O(lines within the longest reach)."""
        near = self._reaches.between(distance, distance + self._longest_reach)
        return any(offset - reach < distance for offset, reach in near)


def split_for_edit(batches: Iterable[B], cut: Callable[[B], B], beyond: int, shift: int) -> Iterator[B]:
    """The parts of *batches* that an edit leaves in place, and those beyond it, moved by *shift*.

    *cut* removes and returns the entries that the edit can affect. Those *beyond* it may become valid again.
    """
    for batch in batches:
        moved = cut(batch)
        if len(batch):
            yield batch
        if moved.move_beyond(beyond, shift):
            yield moved


MOST_READINGS = 200
"""The readings of the text after a place; beyond it, the text counts as unreadable."""

_CHUNK = 2_000

Step = tuple[int, tuple[int, ...]]
"""The end of a lexeme and the terminals that it may be; no terminals at the end of the text."""


class Readings:
    """The states at line ends left of any place, and the readings of the text right of any place."""

    def __init__(self, tables: LanguageTables) -> None:
        self._tables = tables
        start = start_of_file(tables)
        self._places = [0]
        self._lefts: list[tuple[LeftContext, LexerState]] = [(start, start.lexer())]
        self._end = end_of_file(tables)
        self._sets: dict[int, tuple[EarleySet, ...]] = {}
        self._rights: dict[int, RightContext | None] = {}

    def edited(self, start: int, distance: int) -> None:
        """Forget all that depends on text from *start* on, or further than *distance* from the end."""
        keep = max(1, bisect_right(self._places, start))
        del self._places[keep:], self._lefts[keep:]
        self._sets = {place: sets for place, sets in self._sets.items() if place <= distance}
        self._rights = {place: right for place, right in self._rights.items() if place <= distance}

    def left_at(self, data: bytes, position: int) -> tuple[LeftContext, LexerState] | None:
        """The context at *position* and the lexer state there; None if no valid text starts like this."""
        at = bisect_right(self._places, position) - 1
        place, (context, lexer) = self._places[at], self._lefts[at]
        while place < position:
            checkpoint()
            line_end = data.find(b"\n", place, min(place + _CHUNK, position))
            end = line_end + 1 if line_end >= 0 else min(place + _CHUNK, position)
            step = lexer.feed(data[place:end])
            following = step and context.after(step.symbols)
            if step is None or following is None:
                return None
            context = following.at(following.frame, self._tables.forward.canonical(following.group))
            place, lexer = end, step.lexer
            if place == self._places[-1] or end < position:
                self._keep(place, context, lexer)
        return context, lexer

    def _keep(self, place: int, context: LeftContext, lexer: LexerState) -> None:
        if place > self._places[-1]:
            self._places.append(place)
            self._lefts.append((context, lexer))

    def right_at(self, data: bytes, position: int) -> RightContext | None:
        """The context at *position*, where a lexeme starts; None if no valid text ends like this."""
        distance = len(data) - position
        if distance not in self._rights:
            sets = self._sets_at(data, position)
            self._rights[distance] = with_readings(self._end, sets) if sets else None
        return self._rights[distance]

    def _sets_at(self, data: bytes, position: int) -> tuple[EarleySet, ...]:
        """The backward sets at *position*, one for each reading that differs. O(lexemes not seen before)."""
        size = len(data)
        steps: dict[int, list[Step]] = {}
        waiting = [position]
        while waiting:
            place = waiting.pop()
            if place in steps or size - place in self._sets:
                continue
            if not len(steps) % EVERY:
                checkpoint()
            steps[place] = self._steps_at(data, place)
            waiting += [end for end, terminals in steps[place] if terminals]
        for count, place in enumerate(sorted(steps, reverse=True)):
            if not count % EVERY:
                checkpoint()
            sets: dict[EarleySet, None] = {}
            for end, terminals in steps[place]:
                if not terminals:
                    sets.update(dict.fromkeys(self._end.ways().values()))
                    continue
                for following in self._sets[size - end]:
                    before = self._tables.backward.read_any(following, terminals)
                    if before is not None:
                        sets[self._tables.backward.canonical(before)] = None
            self._sets[size - place] = tuple(sets) if len(sets) <= MOST_READINGS else ()
        return self._sets[size - position]

    def _steps_at(self, data: bytes, position: int) -> list[Step]:
        """The lexemes that start at *position* in some mode, after ignored ones, by their ends."""
        lexical, terminal_of = self._tables.lexical, self._tables.terminal_of
        ends: dict[int, dict[int, None]] = {}
        for start in lexical.dfa.starts.values():
            place = position
            while place < len(data):
                lexeme = longest_match(lexical, start, data, place)
                if lexeme is None or lexeme[0] == lexical.bad:
                    break
                kind, place = lexeme
                if kind not in lexical.skipped:
                    ends.setdefault(place, {})[terminal_of[kind]] = None
                    break
            else:
                ends.setdefault(len(data) + 1, {})
        return [(end, tuple(terminals)) for end, terminals in ends.items()]
