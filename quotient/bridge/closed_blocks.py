"""Finds which open blocks the right context closes, and where.

Let b1 be the column of the first line after the cursor's line, and b1 > b2 > ... > bm = 0 the successive
minima of the columns from there on. Consider a block that was opened before the right context and is closed
in it. If it has one of these columns, it is closed where the columns fall below it. If its column is strictly
between two of them, it is closed by the fall across it. If it is deeper than b1, the first line closes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import field, replace
from functools import reduce
from operator import or_
from typing import NamedTuple

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.nesting import MARGIN, Column
from fimlsp.lexing.values import value
from fimlsp.quotient.contexts.right import Ending, GroupContinuation, RightContext
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.grammar.open_rules import OpenRules, Way
from fimlsp.quotient.language.escape import BLOCK, NOTHING, Inside
from fimlsp.quotient.language.tables import LanguageTables


@value(eq=False)
class LineEnd:
    """The rest of the cursor's line, parsed backwards in one way.

    Attributes:
        marker: the terminal for the rest of the line at the end of a middle.
        ways: the backward sets at the cursor, by the continuation of the line's group.
        blank: True if the rest is empty, and the line before the cursor is blank or ended.
        spaces: the width of the white space before the first lexeme of the rest. It is a lower bound of the
            line's column if the middle leaves the line blank.
        inside: has BRACKET if the rest closes brackets that it did not open, and BLOCK if it has lexemes,
            which belong to the block of the line.
        enclosed: equal for line ends before which the same middles escape; None if its ways may differ.
        not_before: symbols that never directly precede the rest.
    """

    marker: int
    ways: dict[Ending, EarleySet]
    blank: bool
    spaces: int
    inside: Inside
    enclosed: Hashable = None
    not_before: frozenset[int] = frozenset()


class LineEntry(NamedTuple):
    """One way into the rest of the cursor's line: the backward set there, and the line's `marker`.

    The symbols `not_before` never directly precede the rest. Some end a line, so the white space of the rest
    would move it out of the block. After others it would be read in another way.
    """

    group: EarleySet
    not_before: frozenset[int]
    marker: int


@value(eq=False)
class GroupEnd:
    """The suffix of a group that starts before the right context.

    Attributes:
        entries: the ways in which the right context enters the group at the cursor's line, if it does there.
        group: otherwise the backward set where it enters the group, after an open block.
        suites: the open blocks of which one ends there; none if there are entries.
        inside: the other enclosures open there within the group: the block that the cursor's line opens, and
            those open within `suites`.
    """

    entries: tuple[LineEntry, ...] = ()
    group: EarleySet | None = None
    suites: tuple[ClosedBlock, ...] = ()
    inside: Inside = NOTHING

    def _query(self, tables: LanguageTables) -> tuple[tuple[Way, ...], tuple[int, ...] | None]:
        """The ways to read the group backwards up to the cursor, and the suites that `suites` may be."""
        if self.group is None:
            return tuple([(entry.group, entry.not_before) for entry in self.entries]), None
        bodies = frozenset[int]().union(*[block.bodies for block in self.suites])
        return ((self.group, frozenset()),), tables.suites_of(bodies)

    def open_rules(self, tables: LanguageTables) -> OpenRules:
        """The rules that are open in the group. The middle can start all of them."""
        return tables.backward.open_rules(*self._query(tables))

    def bodies(self, tables: LanguageTables) -> frozenset[int]:
        """The bodies that the group may be."""
        return tables.backward.possible_bodies(*self._query(tables), tables.bodies)


@value(eq=False)
class BlockEnd:
    """The end of the groups of a block in the right context.

    The cursor is either within a group, whose suffix is `group_end`, or between groups, at the `marker` of
    its line. `bodies` are the possible bodies of the groups. `has_groups` is True if whole groups follow, and
    `on_line` if the first of them is on the cursor's own line.
    """

    bodies: frozenset[int]
    group_end: GroupEnd | None = None
    marker: int | None = None
    has_groups: bool = False
    on_line: bool = False

    def may_end(self, body: int, tables: LanguageTables) -> bool:
        """True if groups of kind *body* may end like this."""
        return body in self.bodies and (self.group_end is None or body in self.group_end.bodies(tables))

    def possible_bodies(self, tables: LanguageTables) -> frozenset[int]:
        """The possible bodies of groups that end like this."""
        return self.bodies if self.group_end is None else self.bodies & self.group_end.bodies(tables)


@value(eq=False)
class ClosedBlock:
    """The blocks closed at one point: those of column `exactly`, or strictly between `above` and `below`.

    `least` is a lower bound of the column too, for a block whose first line starts on the cursor's line.
    `height` is the nesting depth of the blocks that the right context opens within it, as in `RightContext`.
    `bodies` are the possible bodies of its groups if it starts in the middle. The ends of the groups are
    stored in `ClosedBlocks`, to avoid cycles: a block can be open in another one that is closed at the same
    point.
    """

    exactly: Column | None = None
    above: Column | None = None
    below: Column | None = None
    least: int = 0
    height: int = 0
    bodies: set[int] = field(default_factory=set)

    def fits(self, column: Column, depth: int, most: int) -> bool:
        """True if a block of this *column* is closed here.

        It is at this *depth* (0: the file), and at most *most* blocks may be nested.
        """
        if depth + self.height > most:
            return False
        if column.tabs8 < min(self.least, 1):  # a line joiner can hide the rest of an indentation
            return False
        if self.exactly is not None:
            return column == self.exactly
        if self.below is not None and not self.below.deeper_than(column):
            return False
        return self.above is not None and column.deeper_than(self.above)

    def shallowest(self, outer: Column) -> Column | None:
        """The smallest column of such a block inside one of column *outer*; None if there is none."""
        if self.exactly is not None:
            return self.exactly if self.exactly.deeper_than(outer) else None
        above = self.above or MARGIN
        column = Column(max(outer.tabs8, above.tabs8) + 1, max(outer.tabs1, above.tabs1) + 1)
        return column if self.below is None or self.below.deeper_than(column) else None


@value(eq=False)
class _Level:
    """One of the successive minima: the blocks of its column, and those between it and the previous one.

    `bounded` are those of the latter that start on the cursor's line, which bounds their column from below.
    """

    context: RightContext
    same: ClosedBlock
    between: ClosedBlock
    bounded: list[ClosedBlock] = field(default_factory=list)


class ClosedBlocks:
    """All blocks that the text after a cursor closes, and the possible ends of the groups of each.

    `files` holds the outermost block, the file, once for each line that the cursor's line may precede; all
    others are nested in these.
    """

    __slots__ = ("_block_ends", "_block_ends_in", "files", "tables")

    def __init__(self, tables: LanguageTables) -> None:
        self.files: list[ClosedBlock] = []
        self.tables = tables
        self._block_ends: defaultdict[ClosedBlock, list[BlockEnd]] = defaultdict(list)
        self._block_ends_in: dict[tuple[ClosedBlock, Column], tuple[BlockEnd, ...]] = {}

    def add(self, logical: RightContext, line_ends: Sequence[LineEnd]) -> None:
        """Add the blocks closed if the context at the next logical line is *logical*.

        *line_ends* are the ways to parse the rest of the cursor's line before it.
        """
        levels = _levels(logical)
        if self.tables.offside:
            for line_end in line_ends:
                for ending, group in line_end.ways.items():
                    self._add_line(levels, line_end, ending, group)
        else:
            self._add_together(levels[0].same, line_ends)
        inside = reduce(or_, (line_end.inside for line_end in line_ends), NOTHING)
        inner: tuple[ClosedBlock, ...] = ()
        for level in levels:
            checkpoint()
            suites = (level.between, *level.bounded)
            self._add_suites(level, (*inner, *suites), inside)
            for block in (*level.bounded, level.between, level.same):
                self._find_bodies(block)
            inner = (level.same,)
            inside |= BLOCK  # from here on the blocks contain whole lines of the right context
        self.files.append(levels[-1].same)

    def block_ends_in(self, block: ClosedBlock, column: Column) -> tuple[BlockEnd, ...]:
        """The possible ends of the groups of *block* at *column*; a block open in it must be deeper."""
        key = block, column
        block_ends = self._block_ends_in.get(key)
        if block_ends is None:
            block_ends = self._block_ends_in[key] = tuple(self._find_block_ends_in(*key))
        return block_ends

    def _find_block_ends_in(self, block: ClosedBlock, column: Column) -> Iterator[BlockEnd]:
        for block_end in self._block_ends[block]:
            group_end = block_end.group_end
            suites = group_end.suites if group_end else ()
            deeper = tuple(suite for suite in suites if suite.shallowest(column) is not None)
            if deeper == suites:
                yield block_end
            elif group_end is not None and deeper:
                yield replace(block_end, group_end=replace(group_end, suites=deeper))

    def _find_bodies(self, block: ClosedBlock) -> None:
        """Find the `bodies` of *block*, given those of all blocks that may be open in it, itself included."""
        column = block.shallowest(MARGIN)
        block_ends = () if column is None else self.block_ends_in(block, column)
        tables = self.tables
        missing = possible = tables.bodies
        while possible and missing:
            possible = missing.intersection(
                frozenset().union(*[r.possible_bodies(tables) for r in block_ends])
            )
            missing -= possible
            block.bodies.update(possible)

    def _add_line(self, levels: list[_Level], line_end: LineEnd, ending: Ending, group: EarleySet) -> None:
        """Add one way to parse the end of the cursor's line: the backward set *group*, with its *ending*."""
        indented = ending.continuation in (GroupContinuation.SUITE_END, GroupContinuation.SUITE_JOIN)
        level = levels[1 if indented else 0]
        every = self.tables.bodies
        start = self.tables.backward.start(every)
        options = [(level.same, ending.later_bodies)]
        if self.tables.suites and ending.continuation in (GroupContinuation.END, GroupContinuation.SUITE_END):
            options.append((level.between, every))
        for block, later_bodies in options:
            block_ends = self._block_ends[block]
            if group is start:
                follows = block is level.same and not level.context.is_end
                block_ends.append(BlockEnd(later_bodies, marker=line_end.marker, has_groups=follows))
                continue
            within_line = line_end.spaces > 0 and block.exactly == MARGIN
            not_before = self.tables.line_ends if within_line else line_end.not_before
            entry = LineEntry(group, not_before, line_end.marker)
            inside = BLOCK if indented else NOTHING
            block_ends.append(BlockEnd(later_bodies, GroupEnd((entry,), inside=inside)))
            completed = group.completed_from(start) & later_bodies
            if completed and not line_end.blank:
                self._add_own_line(block, level, completed, line_end)

    def _add_together(self, file: ClosedBlock, line_ends: Sequence[LineEnd]) -> None:
        """Add the ways to parse the end of the cursor's line in a language without a layout.

        They differ little, so those that are alike in `LineEnd.enclosed` enter one group end.
        """
        entries: defaultdict[Hashable, list[LineEntry]] = defaultdict(list)
        for line_end in line_ends:
            for group in line_end.ways.values():
                key = (line_end, group) if line_end.enclosed is None else line_end.enclosed
                entries[key].append(LineEntry(group, line_end.not_before, line_end.marker))
        self._block_ends[file] += [
            BlockEnd(self.tables.bodies, GroupEnd(tuple(alike))) for alike in entries.values()
        ]

    def _add_own_line(
        self, block: ClosedBlock, level: _Level, completed: frozenset[int], line_end: LineEnd
    ) -> None:
        """Add that the rest of the cursor's line is a whole group, if the line is blank so far."""
        block_end = BlockEnd(completed, marker=line_end.marker, has_groups=True, on_line=True)
        if block.exactly is None:
            bounded = ClosedBlock(None, block.above, block.below, line_end.spaces, block.height)
            level.bounded.append(bounded)
            self._block_ends[bounded].append(block_end)
        elif block.exactly.tabs8 >= line_end.spaces:
            self._block_ends[block].append(block_end)

    def _add_suites(self, level: _Level, inner: tuple[ClosedBlock, ...], inside: Inside) -> None:
        """Add that the last group of a block ends with one of the *inner* blocks."""
        every = self.tables.bodies
        if not self.tables.suites:
            return
        group_end = GroupEnd((), self.tables.backward.start(every), inner, inside)
        self._block_ends[level.between].append(BlockEnd(every, group_end))
        same = self._block_ends[level.same]
        same.append(BlockEnd(level.context.bodies, group_end))
        for parse in level.context.parses:
            if parse.group is not None:
                same.append(BlockEnd(parse.later_bodies, GroupEnd((), parse.group, inner, inside)))


def _levels(logical: RightContext) -> list[_Level]:
    levels: list[_Level] = []
    context: RightContext | None = logical
    below: Column | None = None
    height = 0
    while context is not None:
        same = ClosedBlock(exactly=context.column, height=max(height, context.height))
        between = ClosedBlock(above=context.column, below=below, height=height)
        levels.append(_Level(context, same, between))
        below = context.column
        is_far_right = below.tabs1 > logical.tables.lexical.most_blocks
        height = same.height + 1 if same.height or is_far_right else 0
        context = context.next_shallower
    return levels
