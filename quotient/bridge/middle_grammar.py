"""The grammar of every middle that connects a left and a right context.

Some node of the file's tree is the innermost one that is begun on the left and ended on the right. A middle
is what this node has between the two: the rest of a child that is open on the left (`A!`), whole children,
and the beginning of one that is open on the right (`A?`). Which node it is depends on how the two contexts
are read. So all pairs of an open node of the left and one of the right that may be the same are visited,
from the file's own block inwards, and in each the ways in which the left has begun a rule are joined with
those in which the right has ended the same rule. A block that is open on both sides is a pair as well, if its
column is one that the right context closes; for a block begun in the middle the column is checked when its
INDENT is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from fimlsp.lexing.columns import Column
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.closed_blocks import BlockEnd, ClosedBlock, ClosedBlocks, GroupEnd
from fimlsp.quotient.bridge.open_blocks import left_blocks
from fimlsp.quotient.bridge.partial_rules import LeftPartialRules, RightPartialRules
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.earley.automaton import Automaton
from fimlsp.quotient.earley.open_rules import Child, Open
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.costs import CheapestSentences
from fimlsp.quotient.grammar.rules import Rhs
from fimlsp.quotient.language.escape import BLOCK, of_child
from fimlsp.quotient.language.tables import LanguageTables


class RightGrammar:
    """What the text after a cursor says about the middle before it, and what was made of that.

    The first *markers* symbols beyond those of the language are markers.
    """

    __slots__ = ("automaton", "cheapest", "partial_rules")

    def __init__(self, closed_blocks: ClosedBlocks, markers: int) -> None:
        self.partial_rules = RightPartialRules(closed_blocks, markers)
        self.automaton = Automaton(self.partial_rules, closed_blocks.tables.forward.earley.automaton)
        self.cheapest: dict[int, CheapestSentences] = {}


@value(eq=False)
class MiddleGrammar:
    """The grammar of the middles between two contexts.

    Each sentence of `root` ends with the marker of one reading of the right context. `start` is the set
    before any symbol.
    """

    left: LeftPartialRules
    right: RightGrammar
    earley: Earley
    start: EarleySet
    root: int
    cheapest: dict[int, CheapestSentences] = field(default_factory=dict, repr=False)

    @property
    def tables(self) -> LanguageTables:
        """The language of the file."""
        return self.left.tables

    @property
    def indents(self) -> dict[int, ClosedBlock]:
        """The terminals of blocks that the right context closes, as far as they are expected anywhere."""
        return self.right.partial_rules.indents

    def indent_terminals(self, before: EarleySet, column: Column) -> list[int]:
        """The terminals that an INDENT to *column* after *before* may be."""
        closed = sorted(before.expected() & self.indents.keys())
        return [self.tables.indent, *(indent for indent in closed if self.indents[indent].fits(column))]


def middle_grammar(
    left: LeftContext, right: RightGrammar, kept: int | None = None, bracket: int | None = None
) -> MiddleGrammar | None:
    """The grammar of the middles between *left* and *right*; None if there are none.

    With *kept* no middle escapes (see `escape.py`) from a bracket, or from the outermost *kept* blocks of
    *left*. Every sentence begins with the *bracket*, if there is one: the last terminal of *left*, which may
    turn out to be none, as `f"` does before `""`. O(depth at the cursor), independent of the lengths of the
    contexts.
    """
    partial_rules = LeftPartialRules(right.partial_rules, left_blocks(left))
    root = next(partial_rules.fresh)
    middles = dict.fromkeys(_Pairs(partial_rules, right.partial_rules, kept).middles())
    if not middles:
        return None
    partial_rules.add(root, *(middles if bracket is None else [(bracket, *middle) for middle in middles]))
    earley = Earley(Automaton(partial_rules, right.automaton))
    return MiddleGrammar(partial_rules, right, earley, earley.start((root,)), root)


class _Pairs:
    """Visits the nodes that may be open on both sides, for what each has between the two."""

    def __init__(self, left: LeftPartialRules, right: RightPartialRules, kept: int | None) -> None:
        self.tables = left.tables
        self.left = left
        self.right = right
        self.blocks = left.blocks
        self.kept = kept
        self.both: dict[tuple[int, ClosedBlock, int], None] = {}

    def middles(self) -> Iterator[Rhs]:
        """The middles of all nodes, those of the outermost first."""
        for file in self.right.closed_blocks.files:
            self._add_block(0, file, self.tables.file_body)
        for depth in range(len(self.blocks)):
            for block in [block for block in self.both if block[0] == depth]:
                yield from self._in_block(*block)

    def _add_block(self, depth: int, closed: ClosedBlock, body: int) -> None:
        if closed.fits(self.blocks[depth].frame.column):
            self.both[depth, closed, body] = None

    def _in_block(self, depth: int, closed: ClosedBlock, body: int) -> Iterator[Rhs]:
        """The middles in a block of groups of kind *body* that is the one at *depth*, and *closed*."""
        for block_end in self.right.closed_blocks.block_ends_in(closed, self.blocks[depth].frame.column):
            if block_end.may_end(body, self.tables):
                if body in self.tables.lists:
                    yield from self._between_groups(depth, block_end, body)
                if block_end.group_end is not None:
                    yield from self._in_group(depth, block_end.group_end, body)

    def _between_groups(self, depth: int, block_end: BlockEnd, body: int) -> Iterator[Rhs]:
        block, group_end = self.blocks[depth], block_end.group_end
        groups = self.tables.lists[body]
        ended = self.right.first_group(body, block_end)
        begun_top, ended_top = self._tops(depth, body)
        for begun in self.left.last_groups(body, depth):
            if begun and group_end is not None and self._escapes(begun_top, (), ended_top, depth, group_end):
                continue
            yield (*begun, groups, ended)
            if begun or group_end is not None or block_end.has_groups or not block.empty or not depth:
                yield (*begun, ended)

    def _tops(self, depth: int, body: int) -> tuple[Open, Open]:
        """The last group of an open block, as it begins on the left and as it ends on the right."""
        return (body, self.blocks[depth].start), (body, self.tables.backward.start(self.tables.bodies))

    def _in_group(self, depth: int, group_end: GroupEnd, body: int) -> Iterator[Rhs]:
        """The middles in a group that is the last one of the block at *depth*, and ends with *group_end*."""
        begun, ended = self._tops(depth, body)
        nodes = self.tables.common_nodes(
            self.blocks[depth].open_rules, self.right.open_rules(group_end), begun, ended
        )
        for left, between, right in nodes.between:
            yield from self._middle(left, between, right, depth, group_end)
        for suite in nodes.suites:
            for closed in group_end.suites:
                self._add_block(depth + 1, closed, self.tables.suites[suite])

    def _middle(
        self, left: Child, between: Rhs, right: Child, depth: int, group_end: GroupEnd
    ) -> Iterator[Rhs]:
        if not self._escapes(left, between, right, depth, group_end):
            begun = () if left is None else (self.left.begun(left, depth),)
            yield (*begun, *between, self.right.ended(right, group_end))

    def _escapes(self, left: Child, between: Rhs, right: Child, depth: int, group_end: GroupEnd) -> bool:
        """Whether a middle escapes that ends *left*, goes on with *between*, and begins *right*."""
        if self.kept is None:
            return False
        block, tables = self.blocks[depth], self.tables
        closed = of_child(left, tables.forward.insides(block.open_rules))
        if depth + 1 < len(self.blocks):
            closed |= self.blocks[-1].inside
        if depth + 1 >= self.kept:
            closed -= BLOCK
        insides = tables.backward.insides(self.right.open_rules(group_end))
        opened = of_child(right, insides) - BLOCK | group_end.inside
        return tables.enclosures.escapes(closed, between, opened)
