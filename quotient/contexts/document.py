"""The text of a buffer, with the left and the right context of each line start.

A left context depends on the text before it alone, a right context on the text after it. So an edit
invalidates only the left contexts below it and the right contexts above it. These are set aside. As soon as
one of them turns out to be valid again, so are all beyond it up to the next edit. A keystroke costs about its
own line.

`ContextTransitions` caches the context that follows or precedes another across a line. Equal contexts are the
same object, and lines that no context can tell apart share one representative. So both are few: they are the
states and the letters of two automata, one per direction, which are built on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar, cast

from fimlsp.lexing.bounded_dict import MEGABYTE, BoundedDict, WeighedDict
from fimlsp.lexing.interruption import EVERY, Interrupted, checkpoint
from fimlsp.lexing.line import MOST_JOINED, Line, LineReader, MayFollow, n_joined
from fimlsp.quotient.contexts.left import LeftContext, start_of_file
from fimlsp.quotient.contexts.replacement import Replacement
from fimlsp.quotient.contexts.right import RightContext, end_of_file
from fimlsp.quotient.contexts.stored import LeftOffsets, Readings, RightOffsets, split_for_edit
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.tables import LanguageTables

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_MOST_SET_ASIDE = 32
"""Stretches of contexts that are set aside in each direction, each between two places that were edited.

Each edit shifts them all, so more of them would make an edit of thousands of places slow."""

_MOST_SUFFIXES = 16
_MOST_TRIED = 3

T = TypeVar("T")


class ContextDocument:
    """The text of a buffer as UTF-8, with the contexts of its lines."""

    def __init__(self, transitions: ContextTransitions, data: bytes) -> None:
        self.transitions = transitions
        self.tables = transitions.tables
        self.data = data
        self._reset()

    def _reset(self) -> None:
        first = len(BYTE_ORDER_MARK) if self._is_marked() else 0
        self._lefts = LeftOffsets([first], [start_of_file(self.tables)])
        self._rights = RightOffsets([0], [end_of_file(self.tables)])
        self._left_stale: list[LeftOffsets] = []
        self._right_stale: list[RightOffsets] = []
        self._dead: set[int] = set()
        self._read_ahead: dict[int, Line] = {}
        self._cached_for_suffix: BoundedDict[tuple[int, Hashable], object] = BoundedDict(_MOST_SUFFIXES)
        self.readings = Readings(self.tables) if self.tables.lexical.contextual else None

    def _is_marked(self) -> bool:
        """True if the text starts with a byte order mark that is ignored."""
        return self.tables.language.byte_order_mark and self.data.startswith(BYTE_ORDER_MARK)

    def prepare(self) -> None:
        """Make all contexts now, so that no later question pays for them. O(len(data)) the first time."""
        self.prepare_language()
        if self.readings is not None:
            self.readings.left_at(self.data, len(self.data))
            self.readings.right_at(self.data, 0)
            return
        self.left_at(len(self.data))
        self.right_at(self._lefts.first)

    def prepare_language(self) -> None:
        """As `LanguageTables.prepare`."""
        self.tables.prepare()

    def copy(self) -> ContextDocument:
        """A document of the same text, with the contexts that were made so far."""
        twin = ContextDocument(self.transitions, self.data)
        twin._lefts = self._lefts.copy()
        twin._rights = self._rights.copy()
        twin._dead = set(self._dead)
        twin._cached_for_suffix.update(self._cached_for_suffix)
        return twin

    def line_at(self, position: int) -> Line:
        """The line that starts at *position*."""
        return self.transitions.lines.read(self.data, position)

    def rest_of_line(self, position: int) -> Line:
        """The line that would start at *position*, broken if no file can contain it."""
        return self.transitions.lines.read(self.data, position, self.tables.may_follow)

    def left_at(self, position: int) -> tuple[int, LeftContext]:
        """The start of the line with *position*, and the context there. O(lines not seen before)."""
        if self.readings is not None:
            return self._lefts.first, self._lefts.at_or_before(0)[1]
        while self._lefts.last[0] < position and self._extend_left(position):
            pass
        for start in self._lefts.unreadable:
            if start < position and self._is_open_from(start, position):
                position = start
        return self._within_joined(*self._lefts.at_or_before(position), position)

    def broken_above(self, position: int) -> int | None:
        """The start of the first unreadable line; None if all up to *position* can be read."""
        start, context = self.left_at(position)
        if context.broken:
            return self._lefts.first_broken
        return start if start < position else None

    def statement_before(self, position: int) -> tuple[int, LeftContext]:
        """The last line start up to *position* that is outside brackets, and the context there."""
        start, context = self._lefts.at_or_before(position)
        while context.modes.depth:
            start, context = self._lefts.at_or_before(start - 1)
        return start, context

    def broken_below(self, position: int) -> int | None:
        """The start of the last unreadable line; None if all from *position* on can be read."""
        if not self.right_at(position).broken:
            return None
        place = last = position
        for line in self.transitions.lines.lines(self.data, position):
            context = self._rights.get(len(self.data) - place)
            if context is not None:
                if not context.broken:
                    break
                last = place
            place += line.size
        return last

    def statement_start(self, position: int) -> int:
        """The start of the logical line with *position*. O(its physical lines)."""
        start, context = self.left_at(position)
        while context.modes.depth and start > 0:
            start, context = self.left_at(start - 1)
        return start

    def _within_joined(self, start: int, context: LeftContext, position: int) -> tuple[int, LeftContext]:
        """As `left_at`, if *position* may be within lines from *start* on that were read as one."""
        end_of_stretch = self.transitions.lines.end_of_stretch
        while start < self._lefts.last[0] and end_of_stretch(self.data, start) <= position:
            line = self.line_at(start)
            if start + line.size > position:
                break
            start += line.size
            context = self.transitions.after(context, line)
            self._lefts.put(start, context)
        return start, context

    def _is_open_from(self, start: int, position: int) -> bool:
        """True if the line at *start*, which cannot be read to its end, can be read up to *position*."""
        _, context = self._lefts.at_or_before(start)
        return context.lexer().feed(self.data[start:position]) is not None

    def _extend_left(self, position: int) -> bool:
        """Read some lines that end before *position*; False if none remains, or the next is unreadable."""
        start, context = self._lefts.last
        for line in self.transitions.lines.lines(self.data, start):
            if not self._ends_before(position, start, line):
                return False
            if not context.can_read(line):
                if self._is_open_from(start, position):
                    return False
                self._lefts.unreadable.append(start)
            opens = line.openers and not context.modes.depth and not context.broken
            whole = self._joined_from(line, start, position) if opens else line
            following = self.transitions.after(context, whole)
            if following.broken and whole is not line:
                whole, following = line, self.transitions.after(context, line)
            start, context = start + whole.size, following
            self._lefts.put(start, context)
            if self._revive_left(start, context) or whole is not line:
                return True
        return False

    def _ends_before(self, position: int, start: int, line: Line) -> bool:
        """True if *line*, which starts at *start*, has an end, and that not after *position*."""
        end = start + line.size
        return start < end <= position and self.transitions.lines.may_end(self.data, end)

    def _joined_from(self, line: Line, start: int, position: int) -> Line:
        """*line* with the lines that its brackets join to it, if they end before *position*; else *line*."""
        lines = [line]
        depth = len(line.openers)
        end = start + line.size
        while depth and len(lines) < MOST_JOINED:
            line = self.line_at(end)
            if line.broken or len(line.closers) > depth or not self._ends_before(position, end, line):
                break
            end += line.size
            lines.append(line)
            depth += len(line.openers) - len(line.closers)
        whole = lines[0] if depth else self.transitions.lines.joined(lines)
        return lines[0] if self.tables.too_deep(whole.kinds, 0) else whole

    def _revive_left(self, start: int, context: LeftContext) -> bool:
        """Revive contexts beyond *start* that were set aside; True if some are valid again."""
        for batch in self._left_stale:
            if self._lefts.revive(batch, start, context):
                self._left_stale.remove(batch)
                return True
        return False

    def right_at(self, position: int) -> RightContext:
        """The context at *position*, a line start in ordinary code. O(lines not seen before)."""
        distance = len(self.data) - position
        if self._rights.get(distance) is None:
            self._revive_rights(distance)
        while (context := self._rights.get(distance)) is None:
            self._extend_right(distance, [line for _, line in self._unknown_lines(position)])
        return context

    def goes_on_at(self, position: int) -> RightContext | None:
        """As `right_at`, but None as soon as a line turns out to be broken."""
        if self.readings is not None:
            return self.readings.right_at(self.data, position)
        distance = len(self.data) - position
        if self._rights.get(distance) is None:
            self._revive_rights(distance)
        while self._rights.get(distance) is None:
            if not self._read_on(position):
                return None
        context = self.right_at(position)
        return None if context.broken else context

    def _read_on(self, position: int) -> bool:
        """Make contexts up to that at *position*; False as soon as a line after it is broken.

        Of a long text, the lines that were read when that was interrupted are kept for the next attempt.
        """
        lines: dict[int, Line] = {}
        try:
            for distance, line in self._unknown_lines(position, self.tables.may_follow):
                lines[distance] = line
                if distance in self._dead or line.broken or not self.transitions.may_stand(line):
                    self._dead.update(lines)
                    return False
            if not self._extend_right(len(self.data) - position, [*lines.values()], only_whole=True):
                broken = self._rights.known_within(len(self.data) - position)
                self._dead.update(distance for distance in lines if distance > broken)
                return False
        except Interrupted:
            self._read_ahead = lines
            raise
        self._read_ahead = {}
        return True

    def _unknown_lines(
        self, position: int, may_follow: MayFollow | None = None
    ) -> Iterator[tuple[int, Line]]:
        """The lines from *position* on, with their distances, up to one before which the context is known."""
        distance = len(self.data) - position
        known = self._rights.known_within(distance)
        for line in self._lines_from(distance, may_follow):
            if distance <= known:
                known = self._rights.known_within(distance)
                if distance == known:
                    return
            yield distance, line
            distance -= line.size

    def _lines_from(self, distance: int, may_follow: MayFollow | None) -> Iterator[Line]:
        """The lines from *distance* on; those that were read ahead are not read again."""
        ahead = self._read_ahead
        while distance:
            while (known := ahead.get(distance)) is not None:
                yield known
                distance -= known.size
            for line in self.transitions.lines.lines(self.data, len(self.data) - distance, may_follow):
                yield line
                distance -= line.size
                if distance in ahead:
                    break

    def _extend_right(self, distance: int, lines: list[Line], *, only_whole: bool = False) -> bool:
        """Make the contexts before *lines*, the first of which is at *distance*, beginning with the last.

        Ends early if contexts that were set aside turn out to be valid again. False if it ends at a broken
        one, with *only_whole*.
        """
        distance -= sum([line.size for line in lines])
        context = self._rights.get(distance)
        assert context is not None
        while lines:
            if only_whole and context.broken:
                return False
            if not len(lines) % EVERY:
                checkpoint()
            whole = line = lines[-1]
            count = 1
            if line.closers and not context.unmatched and not context.broken:
                count = n_joined(lines)
                whole = self.transitions.lines.joined(lines[-count:])
            before = self.transitions.before(context, whole)
            if before.broken and count > 1:
                count, whole, before = 1, line, self.transitions.before(context, line)
            del lines[-count:]
            distance += whole.size
            context = before
            self._rights.put_line(distance, context, whole)
            if self._revive_right(distance, context):
                break
        return True

    def _revive_rights(self, distance: int) -> None:
        """Make the first contexts up to *distance* that were set aside, so that others may be valid again."""
        tried = 0
        while tried < _MOST_TRIED:
            known, context = self._rights.at_or_before(distance)
            if context.broken:
                return  # as all contexts beyond it are
            places = [batch.first_beyond(known) for batch in self._right_stale]
            near = [place for place in places if place is not None and place <= distance]
            if not near:
                return
            count = len(self._right_stale)
            lines = [line for _, line in self._unknown_lines(len(self.data) - min(near))]
            self._extend_right(min(near), lines)
            tried += len(self._right_stale) == count

    def _revive_right(self, distance: int, context: RightContext) -> bool:
        """As `_revive_left`."""
        for batch in self._right_stale:
            if self._rights.revive(batch, distance, context):
                self._right_stale.remove(batch)
                return True
        return False

    def cached_for_suffix(self, position: int, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make()` for *key*, cached until the text after *position* changes."""
        place = len(self.data) - position, key
        if place not in self._cached_for_suffix:
            self._cached_for_suffix[place] = make()
        return cast("T", self._cached_for_suffix[place])

    def edit(self, start: int, end: int, replacement: bytes) -> None:
        """Replace `data[start:end]`. Contexts beyond it are set aside and made again on demand.

        O(len(data)) for a copy of the bytes, and O(contexts set aside), which while typing are few.
        """
        length = len(self.data)
        marked = self._is_marked()
        self.data = Replacement(start, end, replacement).applied_to(self.data)
        shift = len(self.data) - length
        if marked != self._is_marked():
            self._reset()
        else:
            first = max(start, self._lefts.first + 1)  # the context at the start of the file stays
            lefts = *self._left_stale, self._lefts.cut_for_edit(first)
            left_parts = split_for_edit(lefts, lambda batch: batch.cut_for_edit(first), end, shift)
            self._left_stale = [*left_parts][-_MOST_SET_ASIDE:]
            rights = *self._right_stale, self._rights.cut(length - end)
            right_parts = split_for_edit(rights, lambda batch: batch.cut(length - end), length - start, shift)
            self._right_stale = [*right_parts][-_MOST_SET_ASIDE:]
            self._forget_beyond(length - end)
            if self.readings is not None:
                self.readings.edited(start, length - end)

    def _forget_beyond(self, distance: int) -> None:
        """Drop cached results for places further from the end of the text than *distance*."""
        if self._dead:
            self._dead = {known for known in self._dead if known <= distance}
        if self._read_ahead:
            self._read_ahead = {at: line for at, line in self._read_ahead.items() if at <= distance}
        for place in [*self._cached_for_suffix]:
            if place[0] > distance:
                del self._cached_for_suffix[place]


_MOST_TRANSITIONS = 10_000


class ContextTransitions:
    """The transition functions of left and right contexts, shared by all documents of an engine."""

    __slots__ = ("_after", "_before", "_finer", "_letter_of", "_letters", "_may_stand", "lines", "tables")

    def __init__(self, tables: LanguageTables) -> None:
        self.tables = tables
        self.lines = LineReader(tables.lexical)
        self._after: BoundedDict[tuple[LeftContext, Line], LeftContext] = BoundedDict(_MOST_TRANSITIONS)
        self._before: BoundedDict[tuple[RightContext, Line], RightContext] = BoundedDict(_MOST_TRANSITIONS)
        self._letters = WeighedDict[tuple[Hashable, ...], Line](2 * MEGABYTE, lambda _, line: 2 * line.weight)
        self._letter_of = WeighedDict[tuple[Line, bool], Line | None](
            8 * MEGABYTE, lambda key, _: key[0].weight
        )
        self._may_stand = WeighedDict[Line, bool](4 * MEGABYTE, lambda line, _: line.weight)
        self._finer: dict[Language, ContextTransitions] = {}

    def finer(self, language: Language) -> ContextTransitions:
        """Those of *language*, which is one of `Language.finer`."""
        transitions = self._finer.get(language)
        if transitions is None:
            transitions = self._finer[language] = ContextTransitions(self.tables.finer(language))
        return transitions

    def after(self, context: LeftContext, line: Line) -> LeftContext:
        """As `LeftContext.after_line`, cached."""
        letter = self._letter(line, context.modes.depth > 0 or not self.tables.offside)
        if letter is None:
            return context.after_line(line)
        key = context, letter
        following = self._after.get(key)
        if following is None:
            following = self._after[key] = context.after_line(line)
        return following

    def before(self, context: RightContext, line: Line) -> RightContext:
        """As `RightContext.before_line`, cached."""
        letter = self._letter(line, context.within_group)
        if letter is None:
            return context.before_line(line)
        key = context, letter
        preceding = self._before.get(key)
        if preceding is None:
            preceding = self._before[key] = context.before_line(line)
        return preceding

    def may_stand(self, line: Line) -> bool:
        """True if neighbouring lexemes of *line* may be adjacent; cached."""
        may_stand = self._may_stand.get(line)
        if may_stand is None:
            ways = [one.kinds for one in line.readings] or [line.kinds]
            may_stand = self._may_stand[line] = any(map(self.tables.may_follow, ways))
        return may_stand

    def _letter(self, line: Line, inside: bool) -> Line | None:
        """The representative of *line*, either *inside* brackets or outside; None if it has none."""
        if line.column is None:
            return None
        try:
            return self._letter_of[line, inside]
        except KeyError:
            letter = self._letter_of[line, inside] = self._find_letter(line, inside)
            return letter

    def _find_letter(self, line: Line, inside: bool) -> Line | None:
        if self.tables.too_deep(line.kinds, 0):
            return None
        assert line.column is not None
        symbols = self.tables.terminals(line.kinds)
        if not (inside or line.openers or line.closers):
            symbols = self.tables.line_classes.representative(symbols)
        readings = [(one.start, self.tables.terminals(one.kinds), one.end) for one in line.readings]
        key = line.column, symbols, *readings
        letter = self._letters.get(key)
        if letter is None:
            letter = self._letters[key] = line
        return letter
