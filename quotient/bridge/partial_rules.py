"""The rules of what only one side of a cursor opens.

`A!` was begun on the left and ends in the middle, `A?` begins in the middle and ends on the right. There are
hundreds of them at any cursor, and a middle needs few. So each has a number as soon as a rule mentions it,
and rules once the parser predicts it. Nobody has to look for those that derive nothing: a spine is found from
the cursor outwards, so whatever is open has a rule of which the open child was found before.

The rules of the right lie in a layer below those of the left. They depend on the text after the cursor alone,
and so serve as long as that stays: every keystroke there finds those that the one before it needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from fimlsp.lexing.columns import MARGIN
from fimlsp.quotient.bridge.closed_blocks import BlockEnd, ClosedBlock, ClosedBlocks, GroupEnd
from fimlsp.quotient.bridge.open_blocks import LeftBlock
from fimlsp.quotient.earley.open_rules import Child, Open, OpenRules, OpenSuite
from fimlsp.quotient.grammar.rules import LazyRules, Rhs


class RightPartialRules(LazyRules):
    """Begun in the middle, ended on the right, as *closed_blocks* tells.

    `indents` has the terminals of blocks that the right context closes, as far as they were needed.
    """

    __slots__ = ("_open_rules_at", "_start", "_terminals", "closed_blocks", "indents", "tables")

    def __init__(self, closed_blocks: ClosedBlocks, markers: int) -> None:
        tables = self.tables = closed_blocks.tables
        super().__init__(count(tables.first_free_symbol + markers))
        self.closed_blocks = closed_blocks
        self.indents: dict[int, ClosedBlock] = {}
        self._terminals: dict[ClosedBlock, int] = {}
        self._open_rules_at: dict[GroupEnd, OpenRules] = {}
        self._start = tables.backward.start(tables.bodies)

    def open_rules(self, group_end: GroupEnd) -> OpenRules:
        """What is open in *group_end*."""
        found = self._open_rules_at.get(group_end)
        if found is None:
            found = self._open_rules_at[group_end] = group_end.open_rules(self.tables)
        return found

    def ended(self, child: Child, group_end: GroupEnd) -> int:
        """The symbol of what *group_end* leaves open; of the cursor's line itself if there is no child."""
        if child is None:
            assert group_end.marker is not None
            return group_end.marker
        if isinstance(child, OpenSuite):
            body = self.tables.suites[child.suite]
            return self.symbol((group_end.suites, body), RightPartialRules._suites, group_end, body)
        return self.symbol((child, group_end), RightPartialRules._rules, child, group_end)

    def _rules(self, opened: Open, group_end: GroupEnd) -> Iterator[Rhs]:
        for missing, child in self.open_rules(group_end).missing(opened):
            yield (*missing, self.ended(child, group_end))

    def _suites(self, group_end: GroupEnd, body: int) -> Iterator[Rhs]:
        for block in group_end.suites:
            if body in block.bodies:
                yield (self.symbol((block, body), RightPartialRules._suite, block, body),)

    def _suite(self, block: ClosedBlock, body: int) -> Iterator[Rhs]:
        column = block.shallowest(MARGIN)
        assert column is not None
        indent = self._indent(block)
        groups = self.tables.lists[body]
        for block_end in self.closed_blocks.block_ends_in(block, column):
            if block_end.may_end(body, self.tables):
                ended = self.first_group(body, block_end)
                yield (indent, groups, ended)
                if block_end.group_end is not None or block_end.on_line:
                    yield (indent, ended)

    def _indent(self, block: ClosedBlock) -> int:
        terminal = self._terminals.get(block)
        if terminal is None:
            terminal = self._terminals[block] = next(self.fresh)
            self.indents[terminal] = block
        return terminal

    def first_group(self, body: int, block_end: BlockEnd) -> int:
        """What a block's groups end with: the right context itself, or the beginning of a group."""
        if block_end.group_end is not None:
            return self.ended((body, self._start), block_end.group_end)
        assert block_end.marker is not None
        return block_end.marker


class LeftPartialRules(LazyRules):
    """Begun on the left, in *blocks*, and ended in the middle."""

    __slots__ = ("blocks", "tables")

    def __init__(self, right: RightPartialRules, blocks: list[LeftBlock]) -> None:
        super().__init__(right.fresh)
        self.tables = right.tables
        self.blocks = blocks

    def begun(self, child: Open | OpenSuite, depth: int) -> int:
        """The symbol of what is open in the last group of the block at *depth*."""
        if isinstance(child, OpenSuite):
            body = self.tables.suites[child.suite]
            return self.symbol((body, depth), LeftPartialRules._suite, body, depth + 1)
        return self.symbol((child, depth), LeftPartialRules._rules, child, depth)

    def _rules(self, opened: Open, depth: int) -> Iterator[Rhs]:
        for missing, child in self.blocks[depth].open_rules.missing(opened):
            yield missing if child is None else (self.begun(child, depth), *missing)

    def _suite(self, body: int, depth: int) -> Iterator[Rhs]:
        dedent, groups = self.tables.dedent, self.tables.lists[body]
        for begun in self.last_groups(body, depth):
            if begun or not self.blocks[depth].empty:
                yield (*begun, dedent)
            yield (*begun, groups, dedent)

    def last_groups(self, body: int, depth: int) -> Iterator[Rhs]:
        """What is left of the last group of the block at *depth*: nothing, or the rest of it."""
        block = self.blocks[depth]
        if body in block.ended:
            yield ()
        if (body, block.start) in block.open_rules:
            yield (self.begun((body, block.start), depth),)
