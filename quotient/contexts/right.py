"""The right context: the blocks and brackets that the text after the cursor closes without opening them.

A `RightContext` belongs to a line start and is a function of the text after it alone, so it serves every
cursor before it. Contexts are computed from the end of the file towards its start, line by line.

Inside brackets a line end means nothing. In a valid file a line start is inside brackets exactly if the text
after it closes more brackets than it opens. The columns of the lines determine the blocks that the text opens
itself; any other block that it closes was opened further left.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum

from fimlsp.lexing.line import Line
from fimlsp.lexing.nesting import MARGIN, Column
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import SENTINELS
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.tables import Interned, LanguageTables

_Read = Callable[[EarleySet, tuple[int, ...]], EarleySet | None]

MOST_SETS = 100
"""The most backward sets at a place; a text with more counts as unreadable."""


class GroupContinuation(Enum):
    """The continuation of a line's group at the following line."""

    END = "the group ends"
    JOIN = "the following line, of the same column, continues it"
    SUITE_END = "the following lines are its suite, then it ends"
    SUITE_JOIN = "the following lines are its suite, then a line of its own column continues it"


_WITHIN: tuple[Column, tuple[GroupParse, ...], frozenset[int], None] = MARGIN, (), frozenset(), None
"""The attributes of a context that no group starts at, from its column on. Contexts share them."""


@value(eq=False)
class GroupParse(Interned):
    """One way to parse, backwards, the first group at a line start.

    `group` is the backward set at the line start, or None if the group cannot have an earlier line.
    `completed` are the possible bodies of the group if it starts here, and `later_bodies` those of the later
    groups of the block.
    """

    group: EarleySet | None
    completed: frozenset[int]
    later_bodies: frozenset[int]

    @property
    def bodies(self) -> frozenset[int]:
        """The possible bodies of all groups of the block, if this one starts here."""
        return self.completed & self.later_bodies


@value(eq=False)
class Ending(Interned):
    """One way in which a group continues after a line end.

    `base` is the backward set at the following line, before the line end is read. `later_bodies` are the
    possible bodies of the later groups of the block. Where a text is read in several ways, `reading` is the
    number of one.
    """

    continuation: GroupContinuation
    base: EarleySet
    later_bodies: frozenset[int]
    reading: int = 0


@value(eq=False)
class RightContext(Interned):
    """The parses of the text from a line start on. Equal contexts are the same object.

    Attributes:
        tables: the tables of the language.
        column: the column of a line that may start a group.
        parses: the ways to parse that group.
        bodies: the possible bodies of the groups of the block from here on.
        next_shallower: the context at the first later line that is further left.
        broken: True if some later text could not be parsed.
        unmatched: inside brackets, the number of brackets that the text closes.
        ways_within: inside brackets, the backward set here for each ending of the logical line.
        logical: inside brackets, the context after the logical line.
        height: the nesting depth of the blocks that the text opens within the block of its first line. It is
            0 unless some line is so far right that there may be too many blocks in all.
        elsewhere: in a language with several line starts, the backward sets for a text that is not read as
            code: the number of its line start, and the set.
    """

    tables: LanguageTables
    column: Column
    parses: tuple[GroupParse, ...]
    bodies: frozenset[int]
    next_shallower: RightContext | None
    broken: bool
    unmatched: int
    ways_within: tuple[tuple[Ending, EarleySet], ...]
    logical: RightContext | None
    height: int
    elsewhere: tuple[tuple[int, Ending, EarleySet], ...] = ()
    _endings: tuple[Ending, ...] = ()

    @property
    def is_end(self) -> bool:
        """True if only blank lines follow."""
        return self.next_shallower is None and not self.parses and not self.unmatched

    @property
    def endings(self) -> tuple[Ending, ...]:
        """The ways in which the group of the previous line may continue here."""
        if not self._endings:
            object.__setattr__(self, "_endings", tuple(self._find_endings()))  # a cache
        return self._endings

    def _find_endings(self) -> Iterator[Ending]:
        tables = self.tables
        start = tables.backward.start(tables.bodies)
        yield tables.intern(Ending, GroupContinuation.END, start, self.bodies)
        for parse in self.parses:
            if parse.group is not None:
                yield tables.intern(Ending, GroupContinuation.JOIN, parse.group, parse.later_bodies)
        if self.next_shallower is not None:
            suites = tables.suites_of(self.bodies)
            for continuation, base, later_bodies in self.next_shallower._after_suite(start):
                group = tables.backward.read_any(base, suites)
                if group is not None:
                    yield tables.intern(Ending, continuation, group, later_bodies)

    def _after_suite(self, start: EarleySet) -> Iterator[tuple[GroupContinuation, EarleySet, frozenset[int]]]:
        """The ways in which a group may continue here after its suite, with backward set and later bodies."""
        yield GroupContinuation.SUITE_END, start, self.bodies
        for parse in self.parses:
            if parse.group is not None:
                yield GroupContinuation.SUITE_JOIN, parse.group, parse.later_bodies

    @property
    def within_group(self) -> bool:
        """True if a line end before this context means nothing, being within the same group."""
        return self.unmatched > 0 or not self.tables.offside

    def ways(self) -> dict[Ending, EarleySet]:
        """For each way to continue, the backward set before the line end that precedes this context."""
        if self.within_group:
            return dict(self.ways_within)
        groups: dict[Ending, EarleySet] = {}
        for ending in self.endings:
            group = self.tables.backward.read(ending.base, (self.tables.newline,))
            if group is not None:
                groups[ending] = group
        return groups

    def ways_from(self, line_start: int) -> dict[Ending, EarleySet]:
        """As `ways`, for a text that is read from the line start of this number; 0 is that of code."""
        if not line_start:
            return self.ways()
        return {ending: group for number, ending, group in self.elsewhere if number == line_start}

    def ways_at(self, column: Column) -> dict[Ending, EarleySet]:
        """As `ways`, for a logical line that starts at *column*."""
        ways = self.ways()
        if self.within_group:
            return ways
        return {way: group for way, group in ways.items() if self._later_bodies(column, way) is not None}

    def after_logical_line(self) -> RightContext:
        """The context at the next line start that is outside brackets."""
        return self.logical if self.logical is not None else self

    def before_line(self, line: Line) -> RightContext:
        """The context before *line*, which directly precedes this one. Amortised O(line)."""
        if line.blank:
            return self
        if not self.tables.offside:
            return self._before_line_of_group(line)
        too_deep = self.tables.too_deep(line.kinds, self.unmatched)
        if line.broken or len(line.openers) > self.unmatched or too_deep:
            return self._passing_over()
        unmatched = len(line.closers) + self.unmatched - len(line.openers)
        symbols = self.tables.terminals(line.kinds)
        if not unmatched and not self.unmatched:
            assert line.column is not None
            parses = self._parses_of(line.column, symbols)
            return self._before_parses(line.column, parses, self.broken) or self._passing_over()
        ways = read_backward(self.tables, self.ways(), symbols)
        if unmatched:
            return self._within_brackets(unmatched, ways) if ways else self._passing_over()
        assert line.column is not None
        logical = self.after_logical_line()
        parses = logical._parses(line.column, ways)
        return logical._before_parses(line.column, parses, self.broken) or self._passing_over()

    def _before_line_of_group(self, line: Line) -> RightContext:
        """As `before_line`, in a language without a layout."""
        if line.broken:
            return self._passing_over()
        if line.readings:
            return self._before_readings(line)
        ways = read_backward(self.tables, self.ways(), self.tables.terminals(line.kinds))
        return self._within_brackets(0, ways) if ways else self._passing_over()

    def _before_readings(self, line: Line) -> RightContext:
        """As `_before_line_of_group`, for all readings of *line*."""
        canonical = self.tables.backward.canonical
        read = self.tables.backward.read_once
        sets = dict.fromkeys((start, canonical(group)) for start, group in self._sets_before(line, read))
        if not sets or len(sets) > MOST_SETS:
            return self._passing_over()
        every = [(start, _end_of(self.tables, number), group) for number, (start, group) in enumerate(sets)]
        within = tuple((ending, group) for start, ending, group in every if not start)
        elsewhere = tuple(one for one in every if one[0])
        logical = self.after_logical_line()
        return _context(self.tables, *_WITHIN, self.broken, 0, within, logical, elsewhere=elsewhere)

    def _sets_before(self, line: Line, read: _Read) -> Iterator[tuple[int, EarleySet]]:
        """The backward sets before *line*, in each of its readings: the line start, and the set."""
        for reading in line.readings:
            symbols = self.tables.terminals(reading.kinds)[::-1]
            for before in self.ways_from(reading.end).values():
                group = read(before, symbols)
                if group is not None:
                    yield reading.start, group

    def ways_before(self, line: Line) -> dict[Ending, EarleySet]:
        """As `ways`, before a *line* that is read in several ways, all from one line start."""
        sets = dict.fromkeys(group for _, group in self._sets_before(line, self.tables.backward.read))
        return {_end_of(self.tables, number): group for number, group in enumerate(sets)}

    def _within_brackets(self, unmatched: int, ways: dict[Ending, EarleySet]) -> RightContext:
        """The context before a line that starts inside brackets, given the backward sets there."""
        canonical = self.tables.backward.canonical
        ways_within = tuple((ending, canonical(group)) for ending, group in ways.items())
        return _context(self.tables, *_WITHIN, self.broken, unmatched, ways_within, self.after_logical_line())

    def _passing_over(self) -> RightContext:
        """This context with an unparsable line before it."""
        line_start = self.column, self.parses, self.bodies, self.next_shallower
        within = self.unmatched, self.ways_within, self.logical
        return _context(self.tables, *line_start, True, *within, height=self.height, elsewhere=self.elsewhere)

    def _parses_of(self, column: Column, symbols: tuple[int, ...]) -> list[GroupParse]:
        """The ways to parse the group at a line of *column*, which is the whole logical line *symbols*."""
        line = (*self.tables.line_classes.representative(symbols), self.tables.newline)[::-1]
        read = self.tables.backward.read
        fitting = [ending for ending in self.endings if self._later_bodies(column, ending) is not None]
        ways = {ending: group for ending in fitting if (group := read(ending.base, line)) is not None}
        return self._parses(column, ways)

    def _parses(self, column: Column, ways: dict[Ending, EarleySet]) -> list[GroupParse]:
        """The ways to parse the group at a line of *column*, given its backward sets."""
        return [parse for ending, group in ways.items() if (parse := self._parse(column, ending, group))]

    def _before_parses(self, column: Column, parses: list[GroupParse], broken: bool) -> RightContext | None:
        """The context at a line of *column*, given the *parses* of its group; None if there are none."""
        if not parses:
            return None
        bodies = frozenset[int]().union(*(parse.bodies for parse in parses))
        next_shallower: RightContext | None = self
        while next_shallower is not None and next_shallower.column.tabs8 >= column.tabs8:
            next_shallower = next_shallower.next_shallower
        height = self._height_before(column)
        if height > self.tables.lexical.most_blocks:
            return None
        return _context(self.tables, column, tuple(parses), bodies, next_shallower, broken, height=height)

    @property
    def height_around(self) -> int:
        """The `height` of a block around that of the first line, judging by this text alone."""
        return 1 + self.height if self.height or self.column.tabs1 > self.tables.lexical.most_blocks else 0

    def _height_before(self, column: Column) -> int:
        """The `height` of a line of *column* before this context."""
        height = 0
        context: RightContext | None = self
        if self.column.tabs8 > column.tabs8:
            height = self.height_around
            while context is not None and context.column.tabs8 > column.tabs8:
                context = context.next_shallower
        return max(height, context.height) if context is not None and context.column == column else height

    def _parse(self, column: Column, ending: Ending, group: EarleySet) -> GroupParse | None:
        later_bodies = self._later_bodies(column, ending)
        if later_bodies is None:
            return None
        open_group, completed = self.tables.at_line_start(group)
        parse = self.tables.intern(GroupParse, open_group, completed, later_bodies)
        return parse if parse.bodies or open_group is not None else None

    def _later_bodies(self, column: Column, ending: Ending) -> frozenset[int] | None:
        """The later bodies of the block for a line of *column* with *ending*; None if columns disagree."""
        every = self.tables.bodies
        if ending.continuation is GroupContinuation.JOIN:
            return ending.later_bodies if self.column == column else None
        if ending.continuation is GroupContinuation.END:
            if self.column == column:
                return ending.later_bodies
            return every if column.deeper_than(self.column) else None
        next_shallower = self.next_shallower
        if next_shallower is None or not self.column.deeper_than(column):
            return None
        if next_shallower.column == column:
            return ending.later_bodies
        return (
            every
            if ending.continuation is GroupContinuation.SUITE_END
            and column.deeper_than(next_shallower.column)
            else None
        )


def read_backward(
    tables: LanguageTables, ways: dict[Ending, EarleySet], symbols: tuple[int, ...]
) -> dict[Ending, EarleySet]:
    """Read *symbols* backwards in each of *ways*; those in which that is invalid are dropped."""
    backward = symbols[::-1]
    read = tables.backward.read
    groups: dict[Ending, EarleySet] = {}
    for ending, before in ways.items():
        group = read(before, backward)
        if group is not None:
            groups[ending] = group
    return groups


def end_of_file(tables: LanguageTables) -> RightContext:
    """The context at the end of a file."""
    line_start = MARGIN, (), tables.bodies, None
    if tables.offside:
        return _context(tables, *line_start, broken=False)
    start = tables.backward.start(tables.bodies)
    end = tables.backward.read(start, (tables.grammar.symbol(SENTINELS[1]),))
    assert end is not None
    ending = tables.intern(Ending, GroupContinuation.END, start, tables.bodies)
    return _context(tables, *line_start, broken=False, ways_within=((ending, end),))


def _end_of(tables: LanguageTables, number: int) -> Ending:
    """An ending that stands for the reading of this *number*."""
    start = tables.backward.start(tables.bodies)
    return tables.intern(Ending, GroupContinuation.END, start, tables.bodies, number)


def with_readings(end: RightContext, sets: Iterable[EarleySet]) -> RightContext:
    """The context of a text with a backward set for each reading; *end* is the context of the file's end."""
    tables = end.tables
    ways = tuple((_end_of(tables, number), one) for number, one in enumerate(sets))
    return _context(tables, *_WITHIN, broken=False, ways_within=ways, logical=end)


def _context(
    tables: LanguageTables,
    column: Column,
    parses: tuple[GroupParse, ...],
    bodies: frozenset[int],
    next_shallower: RightContext | None,
    broken: bool,
    unmatched: int = 0,
    ways_within: tuple[tuple[Ending, EarleySet], ...] = (),
    logical: RightContext | None = None,
    height: int = 0,
    elsewhere: tuple[tuple[int, Ending, EarleySet], ...] = (),
) -> RightContext:
    line_start = column, parses, bodies, next_shallower
    within = unmatched, ways_within, logical
    return tables.intern(RightContext, tables, *line_start, broken, *within, height, elsewhere)
