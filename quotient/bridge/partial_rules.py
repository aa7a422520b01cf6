"""Rules for nodes cut by only one edge of the middle, created when first predicted.

`A!` derives the suffixes of a node `A` that begins in the left context and ends in the middle; `A?` derives
the prefixes of a node that begins in the middle and ends in the right context. There are hundreds of them at
any cursor, but a middle needs few of them. So each gets its number when a rule first mentions it, and its
rules when the parser first predicts it. None of them is useless: open rules are found from the cursor
outwards, so every open node has a rule whose open child was found before.

The rules for the right context are in a layer below those for the left. They depend on the text after the
cursor alone and stay valid while that is unchanged, so a keystroke reuses those that earlier keystrokes
needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from fimlsp.lexing.columns import MARGIN
from fimlsp.quotient.bridge.closed_blocks import BlockEnd, ClosedBlock, ClosedBlocks, GroupEnd
from fimlsp.quotient.contexts.left import LeftBlock
from fimlsp.quotient.earley.open_rules import Child, Leading, Open, OpenRules, OpenSuite
from fimlsp.quotient.grammar.rules import LazyRules, Rhs


class RightPartialRules(LazyRules):
    """The rules of the nodes `A?`, which begin in the middle and end in the right context.

    *closed_blocks* describes the right context. `indents` maps the terminals of INDENTs to the blocks that
    the right context closes, as far as they were predicted.
    """

    __slots__ = ("_open_rules_at", "_prefixes", "_start", "_terminals", "closed_blocks", "indents", "tables")

    def __init__(self, closed_blocks: ClosedBlocks, markers: int) -> None:
        tables = self.tables = closed_blocks.tables
        super().__init__(count(tables.first_free_symbol + markers))
        self.closed_blocks = closed_blocks
        self.indents: dict[int, ClosedBlock] = {}
        self._terminals: dict[ClosedBlock, int] = {}
        self._open_rules_at: dict[GroupEnd, OpenRules] = {}
        self._prefixes: dict[GroupEnd, dict[Child, int]] = {}
        self._start = tables.backward.start(tables.bodies)

    def open_rules(self, group_end: GroupEnd) -> OpenRules:
        """The rules that are open in *group_end*; cached."""
        found = self._open_rules_at.get(group_end)
        if found is None:
            found = self._open_rules_at[group_end] = group_end.open_rules(self.tables)
        return found

    def prefix_of(self, child: Child, group_end: GroupEnd) -> int:
        """The symbol `A?` for the open *child* in *group_end*; the marker of the line if it is None."""
        if child is None:
            assert group_end.marker is not None
            return group_end.marker
        if isinstance(child, OpenSuite):
            body = self.tables.suites[child.suite]
            return self.symbol((group_end.suites, body), RightPartialRules._suites, group_end, body)
        return self.symbol((child, group_end), RightPartialRules._rules, child, group_end)

    def leading(self, prefix: int) -> tuple[Leading, GroupEnd] | None:
        """As `OpenRules.leading` of the node `A?` of which this is the *prefix*, and its group.

        None for the prefix of a suite, which begins with an INDENT. No rule is made.
        """
        make, arguments = self.made_by(prefix)
        if make is not RightPartialRules._rules:
            return None
        opened, group_end = arguments
        return self.open_rules(group_end).leading(opened), group_end

    def _rules(self, opened: Open, group_end: GroupEnd) -> list[Rhs]:
        known = self._prefixes.setdefault(group_end, {})
        ways = self.open_rules(group_end).missing(opened)
        for _, child in ways:
            if child not in known:
                known[child] = self.prefix_of(child, group_end)
        return [(*missing, known[child]) for missing, child in ways]

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
                prefix = self.first_group(body, block_end)
                yield (indent, groups, prefix)
                if block_end.group_end is not None or block_end.on_line:
                    yield (indent, prefix)

    def _indent(self, block: ClosedBlock) -> int:
        terminal = self._terminals.get(block)
        if terminal is None:
            terminal = self._terminals[block] = next(self.fresh)
            self.indents[terminal] = block
        return terminal

    def first_group(self, body: int, block_end: BlockEnd) -> int:
        """The end of a block's groups: the prefix of a group, or the marker between two groups."""
        if block_end.group_end is not None:
            return self.prefix_of((body, self._start), block_end.group_end)
        assert block_end.marker is not None
        return block_end.marker


class LeftPartialRules(LazyRules):
    """The rules of the nodes `A!`, which begin in one of *blocks*, on the left, and end in the middle."""

    __slots__ = ("blocks", "tables")

    def __init__(self, right: RightPartialRules, blocks: list[LeftBlock]) -> None:
        super().__init__(right.fresh)
        self.tables = right.tables
        self.blocks = blocks

    def suffix_of(self, child: Open | OpenSuite, depth: int) -> int:
        """The symbol `A!` for the open child *child* of the last group of the block at *depth*."""
        if isinstance(child, OpenSuite):
            body = self.tables.suites[child.suite]
            return self.symbol((body, depth), LeftPartialRules._suite, body, depth + 1)
        return self.symbol((child, depth), LeftPartialRules._rules, child, depth)

    def _rules(self, opened: Open, depth: int) -> Iterator[Rhs]:
        for missing, child in self.blocks[depth].open_rules.missing(opened):
            yield missing if child is None else (self.suffix_of(child, depth), *missing)

    def _suite(self, body: int, depth: int) -> Iterator[Rhs]:
        dedent, groups = self.tables.dedent, self.tables.lists[body]
        for suffix in self.last_groups(body, depth):
            if suffix or not self.blocks[depth].empty:
                yield (*suffix, dedent)
            yield (*suffix, groups, dedent)

    def last_groups(self, body: int, depth: int) -> Iterator[Rhs]:
        """What completes the last group of the block at *depth*: nothing, or its suffix."""
        block = self.blocks[depth]
        if body in block.complete_bodies:
            yield ()
        if (body, block.start) in block.open_rules:
            yield (self.suffix_of((body, block.start), depth),)
