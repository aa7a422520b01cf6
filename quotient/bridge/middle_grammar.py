"""Builds the grammar of every middle that connects a left and a right context.

Some node of the syntax tree is the innermost one that begins in the left context and ends in the right one.
The middle is what this node lacks in between: the suffix of a child that is open on the left (a nonterminal
`A!`), whole children, and the prefix of a child that is open on the right (a nonterminal `A?`). Which node it
is depends on how the two contexts are parsed. So all pairs of nodes, one open on the left and one on the
right, are visited from the file's own block inwards if they may be the same node. In each pair, every way in
which the left context has begun a rule is combined with every way in which the right context finishes the
same rule. A block that is open on both sides is such a pair if its column is one that the right context
closes. The column of a block that begins in the middle is checked when its INDENT is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field

from fimlsp.lexing.columns import Column
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.closed_blocks import BlockEnd, ClosedBlock, ClosedBlocks, GroupEnd
from fimlsp.quotient.bridge.partial_rules import LeftPartialRules, RightPartialRules
from fimlsp.quotient.contexts.left import LeftContext, left_blocks
from fimlsp.quotient.earley.automaton import Automaton
from fimlsp.quotient.earley.open_rules import Child, Open
from fimlsp.quotient.earley.sets import Earley, EarleySet
from fimlsp.quotient.grammar.costs import CheapestSentences
from fimlsp.quotient.grammar.rules import Rhs
from fimlsp.quotient.language.escape import BLOCK, of_child
from fimlsp.quotient.language.tables import LanguageTables


class RightGrammar:
    """The part of the middle grammar that depends on the right context alone; reused while typing.

    The first *markers* symbols beyond those of the language are the markers, terminals that end every middle.
    """

    __slots__ = ("automaton", "cheapest", "partial_rules")

    def __init__(self, closed_blocks: ClosedBlocks, markers: int) -> None:
        self.partial_rules = RightPartialRules(closed_blocks, markers)
        self.automaton = Automaton(self.partial_rules, closed_blocks.tables.forward.earley.automaton)
        self.cheapest: dict[int, CheapestSentences] = {}


@value(eq=False)
class MiddleGrammar:
    """The grammar of the middles between two contexts.

    `root` is its start symbol. Every sentence ends with the marker of one way to enter the right context.
    `start` is the Earley set before any symbol.
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
        """The blocks predicted so far that the right context closes, by the terminals of their INDENTs."""
        return self.right.partial_rules.indents

    def indent_terminals(self, before: EarleySet, column: Column, depth: int) -> list[int]:
        """The terminals that an INDENT to *column* after *before* may be, which opens a block at *depth*."""
        most = self.tables.lexical.most_blocks
        expected = before.expected_bits  # asked before `indents`, which grows with what is predicted
        closed = sorted(indent for indent in self.indents if expected >> indent & 1)
        fitting = [indent for indent in closed if self.indents[indent].fits(column, depth, most)]
        return [self.tables.indent, *fitting]


def middle_grammar(
    left: LeftContext, right: RightGrammar, kept: int | None = None, bracket: int | None = None
) -> MiddleGrammar | None:
    """The grammar of the middles between *left* and *right*; None if there are no middles.

    With *kept*, no middle escapes (see `escape.py`) from a bracket, or from the outermost *kept* blocks of
    *left*. If there is a *bracket*, the last terminal of *left*, every sentence begins with it, because the
    lexeme can still become another one in the middle. O(depth at the cursor), however long the contexts are.
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
    """Visits the nodes that may be open on both sides and finds the middles of each."""

    def __init__(self, left: LeftPartialRules, right: RightPartialRules, kept: int | None) -> None:
        self.tables = left.tables
        self.left = left
        self.right = right
        self.blocks = left.blocks
        self.kept = kept
        self.both: dict[tuple[int, ClosedBlock, int], None] = {}

    def middles(self) -> Iterator[Rhs]:
        """The middles of all nodes, outermost nodes first."""
        for file in self.right.closed_blocks.files:
            self._add_block(0, file, self.tables.file_body)
        for depth in range(len(self.blocks)):
            for block in [block for block in self.both if block[0] == depth]:
                yield from self._in_block(*block)

    def _add_block(self, depth: int, closed: ClosedBlock, body: int) -> None:
        if closed.fits(self.blocks[depth].frame.column, depth, self.tables.lexical.most_blocks):
            self.both[depth, closed, body] = None

    def _in_block(self, depth: int, closed: ClosedBlock, body: int) -> Iterator[Rhs]:
        """The middles in the block at *depth* with groups of kind *body*, which is closed as *closed*."""
        checkpoint()
        for block_end in self.right.closed_blocks.block_ends_in(closed, self.blocks[depth].frame.column):
            if block_end.may_end(body, self.tables):
                if body in self.tables.lists:
                    yield from self._between_groups(depth, block_end, body)
                if block_end.group_end is not None:
                    yield from self._in_group(depth, block_end.group_end, body)

    def _between_groups(self, depth: int, block_end: BlockEnd, body: int) -> Iterator[Rhs]:
        block, group_end = self.blocks[depth], block_end.group_end
        groups = self.tables.lists[body]
        prefix = self.right.first_group(body, block_end)
        left_node, right_node = self._last_group(depth, body)
        for suffix in self.left.last_groups(body, depth):
            if (
                suffix
                and group_end is not None
                and self._escapes(left_node, (), right_node, depth, group_end)
            ):
                continue
            yield (*suffix, groups, prefix)
            if suffix or group_end is not None or block_end.has_groups or not block.empty or not depth:
                yield (*suffix, prefix)

    def _last_group(self, depth: int, body: int) -> tuple[Open, Open]:
        """The last group of an open block, as a node of the left and as a node of the right context."""
        return (body, self.blocks[depth].start), (body, self.tables.backward.start(self.tables.bodies))

    def _in_group(self, depth: int, group_end: GroupEnd, body: int) -> Iterator[Rhs]:
        """The middles within the last group of the block at *depth*, which ends with *group_end*."""
        left_node, right_node = self._last_group(depth, body)
        nodes = self.tables.common_nodes(
            self.blocks[depth].open_rules, self.right.open_rules(group_end), left_node, right_node
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
            suffix = () if left is None else (self.left.suffix_of(left, depth),)
            yield (*suffix, *between, self.right.prefix_of(right, group_end))

    def _escapes(self, left: Child, between: Rhs, right: Child, depth: int, group_end: GroupEnd) -> bool:
        """Whether a middle escapes that finishes *left*, continues with *between*, and begins *right*."""
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
