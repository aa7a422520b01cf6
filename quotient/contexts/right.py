"""The right context: what is closed after the cursor and was not opened there.

A `RightContext` stands at a line start and is a function of the text after it alone, so it serves every
cursor before it. Contexts are built from the end of the file towards its start, a line at a time.

A line end is nothing inside brackets, and in a valid file it is inside brackets exactly when the text after
it closes more than it opens. The columns of the lines tell which blocks the text after the cursor opens
itself; any others it closes were opened further left.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from enum import Enum

from fimlsp.lexing.columns import MARGIN, Column
from fimlsp.lexing.line import Line
from fimlsp.lexing.values import value
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.grammar.cfg import SENTINELS
from fimlsp.quotient.language.interner import Interned
from fimlsp.quotient.language.tables import LanguageTables


class GroupContinuation(Enum):
    """How a line's group goes on at the following line, seen from the line before that one."""

    END = "the group ends"
    JOIN = "the following line, of the same column, continues it"
    SUITE_END = "the following lines are its suite, then it ends"
    SUITE_JOIN = "the following lines are its suite, then a line of its own column continues it"


@value(eq=False)
class Head(Interned):
    """A reading, from its end, of the first group at a line start.

    `group` is the backward set at the line start, None if no line may stand before it in its group;
    `completed` is what the group is if it begins there, `rest` what the later groups of the block may be.
    """

    group: EarleySet | None
    completed: frozenset[int]
    rest: frozenset[int]

    @property
    def bodies(self) -> frozenset[int]:
        """What all groups of the block may be, if this one begins here."""
        return self.completed & self.rest


@value(eq=False)
class Ending(Interned):
    """One way in which a group goes on after a line end: the backward set before that line end."""

    goes_on: GroupContinuation
    base: EarleySet
    rest: frozenset[int]


@value(eq=False)
class RightContext(Interned):
    """What a file's end leaves to be opened, at a line start. Equal contexts are the same object.

    Of a line that may begin a group: `column`, its `heads`, what the block's groups may be from here on
    (`bodies`), and `fall`, the first later line left of it. Inside brackets (`unmatched` counts those that
    the text closes), `inside` holds for each ending of the logical line the backward set here, and `logical`
    the context after the logical line. `broken` tells that something after could not be parsed.
    """

    tables: LanguageTables
    column: Column
    heads: tuple[Head, ...]
    bodies: frozenset[int]
    fall: RightContext | None
    broken: bool
    unmatched: int
    inside: tuple[tuple[Ending, EarleySet], ...]
    logical: RightContext | None
    _endings: list[Ending] = field(default_factory=list)

    @property
    def is_end(self) -> bool:
        """Whether only blank lines follow."""
        return self.fall is None and not self.heads and not self.unmatched

    @property
    def endings(self) -> list[Ending]:
        """The ways in which the group of a line before may go on here."""
        if not self._endings:
            self._endings.extend(self._find_endings())
        return self._endings

    def _find_endings(self) -> Iterator[Ending]:
        tables = self.tables
        start = tables.backward.start(tables.bodies)
        yield tables.once(Ending, GroupContinuation.END, start, self.bodies)
        for head in self.heads:
            if head.group is not None:
                yield tables.once(Ending, GroupContinuation.JOIN, head.group, head.rest)
        if self.fall is not None:
            suites = tables.suites_of(self.bodies)
            for goes_on, base, rest in self.fall._after_suite(start):
                group = tables.backward.read_any(base, suites)
                if group is not None:
                    yield tables.once(Ending, goes_on, group, rest)

    def _after_suite(self, start: EarleySet) -> Iterator[tuple[GroupContinuation, EarleySet, frozenset[int]]]:
        """The ways in which a group may go on here after its suite: the sets after that, and what follows."""
        yield GroupContinuation.SUITE_END, start, self.bodies
        for head in self.heads:
            if head.group is not None:
                yield GroupContinuation.SUITE_JOIN, head.group, head.rest

    @property
    def within_group(self) -> bool:
        """Whether a line end before this context counts for nothing, as it is within a group."""
        return self.unmatched > 0 or not self.tables.offside

    def ways(self) -> dict[Ending, EarleySet]:
        """For each way to go on, the backward set at the end of the line before, its line end included."""
        if self.within_group:
            return dict(self.inside)
        found: dict[Ending, EarleySet] = {}
        for ending in self.endings:
            group = self.tables.backward.read(ending.base, (self.tables.newline,))
            if group is not None:
                found[ending] = group
        return found

    def after_logical_line(self) -> RightContext:
        """The context at the next line start outside brackets."""
        return self.logical if self.logical is not None else self

    def before_line(self, line: Line) -> RightContext:
        """The context before *line*, which stands directly before this one. Amortised O(line)."""
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
            heads = self._heads_of(line.column, symbols)
            return self._before_heads(line.column, heads, self.broken) or self._passing_over()
        ways = read_backward(self.tables, self.ways(), symbols)
        if unmatched:
            return self._inside(unmatched, ways)
        assert line.column is not None
        logical = self.after_logical_line()
        heads = logical._heads(line.column, ways)
        return logical._before_heads(line.column, heads, self.broken) or self._passing_over()

    def _before_line_of_group(self, line: Line) -> RightContext:
        """As `before_line`, in a language without a layout."""
        if line.broken:
            return self._passing_over()
        ways = read_backward(self.tables, self.ways(), self.tables.terminals(line.kinds))
        return self._inside(0, ways) if ways else self._passing_over()

    def _inside(self, unmatched: int, ways: dict[Ending, EarleySet]) -> RightContext:
        """The context before a line within brackets, given its readings."""
        shared = self.tables.backward.shared
        readings = tuple((ending, shared(group)) for ending, group in ways.items())
        place = MARGIN, (), frozenset[int](), None
        return _context(self.tables, *place, self.broken, unmatched, readings, self.after_logical_line())

    def _passing_over(self) -> RightContext:
        """This context, with a line before it that cannot be parsed."""
        place = self.column, self.heads, self.bodies, self.fall
        return _context(self.tables, *place, True, self.unmatched, self.inside, self.logical)

    def _heads_of(self, column: Column, symbols: tuple[int, ...]) -> list[Head]:
        """The heads at a line start of *column*, before a whole logical line of *symbols*."""
        line = (*self.tables.line_classes.representative(symbols), self.tables.newline)[::-1]
        read = self.tables.backward.read
        fitting = [ending for ending in self.endings if self._rest(column, ending) is not None]
        ways = {ending: group for ending in fitting if (group := read(ending.base, line)) is not None}
        return self._heads(column, ways)

    def _heads(self, column: Column, ways: dict[Ending, EarleySet]) -> list[Head]:
        """The heads at a line start of *column*, given its readings."""
        return [head for ending, group in ways.items() if (head := self._head(column, ending, group))]

    def _before_heads(self, column: Column, heads: list[Head], broken: bool) -> RightContext | None:
        """The context at a line of *column*, given its *heads*; None if there are none."""
        if not heads:
            return None
        bodies = frozenset[int]().union(*(head.bodies for head in heads))
        fall: RightContext | None = self
        while fall is not None and fall.column.tabs8 >= column.tabs8:
            fall = fall.fall
        return _context(self.tables, column, tuple(heads), bodies, fall, broken)

    def _head(self, column: Column, ending: Ending, group: EarleySet) -> Head | None:
        rest = self._rest(column, ending)
        if rest is None:
            return None
        goes_on, completed = self.tables.at_line_start(group)
        head = self.tables.once(Head, goes_on, completed, rest)
        return head if head.bodies or goes_on is not None else None

    def _rest(self, column: Column, ending: Ending) -> frozenset[int] | None:
        """What groups after one of *column* may be, given its *ending*; None if the columns do not fit."""
        every = self.tables.bodies
        if ending.goes_on is GroupContinuation.JOIN:
            return ending.rest if self.column == column else None
        if ending.goes_on is GroupContinuation.END:
            if self.column == column:
                return ending.rest
            return every if column.deeper_than(self.column) else None
        fall = self.fall
        if fall is None or not self.column.deeper_than(column):
            return None
        if fall.column == column:
            return ending.rest
        return (
            every
            if ending.goes_on is GroupContinuation.SUITE_END and column.deeper_than(fall.column)
            else None
        )


def read_backward(
    tables: LanguageTables, ways: dict[Ending, EarleySet], symbols: tuple[int, ...]
) -> dict[Ending, EarleySet]:
    """Read *symbols* from their end in each of *ways*; ways that do not fit are dropped."""
    backward = symbols[::-1]
    read = tables.backward.read
    found: dict[Ending, EarleySet] = {}
    for ending, before in ways.items():
        group = read(before, backward)
        if group is not None:
            found[ending] = group
    return found


def end_of_file(tables: LanguageTables) -> RightContext:
    """The context at the end of a file."""
    place = MARGIN, (), tables.bodies, None
    if tables.offside:
        return _context(tables, *place, broken=False)
    start = tables.backward.start(tables.bodies)
    end = tables.backward.read(start, (tables.grammar.symbol(SENTINELS[1]),))
    assert end is not None
    ending = tables.once(Ending, GroupContinuation.END, start, tables.bodies)
    return _context(tables, *place, broken=False, inside=((ending, end),))


def _context(
    tables: LanguageTables,
    column: Column,
    heads: tuple[Head, ...],
    bodies: frozenset[int],
    fall: RightContext | None,
    broken: bool,
    unmatched: int = 0,
    inside: tuple[tuple[Ending, EarleySet], ...] = (),
    logical: RightContext | None = None,
) -> RightContext:
    place = column, heads, bodies, fall
    return tables.once(RightContext, tables, *place, broken, unmatched, inside, logical)
