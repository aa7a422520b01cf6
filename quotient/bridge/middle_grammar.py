"""Builds the grammar of every middle that connects a left and a right context.

Some node of the syntax tree is the innermost one that starts in the left context and ends in the right one.
The middle is the missing part of this node. It has the suffix of a child that is open on the left (a
nonterminal `A!`), whole children, and the prefix of a child that is open on the right (a nonterminal `A?`).

The parses of the two contexts determine the node. So pairs of nodes, one open on the left and one on the
right, are visited from the file's own block inwards if they may be the same node. In each pair, every begun
rule of the left context is combined with every way in which the right context finishes the rule. A block that
is open on both sides is such a pair if the right context closes its column. The column of a block that starts
in the middle is checked when its INDENT is read.

There are hundreds of nodes `A!` and `A?` at any cursor, but a middle needs few of them. So each gets its
number when a rule first mentions it, and its rules when the parser first predicts it. None of them is
useless: open rules are found from the cursor outwards, so every open node has a rule with a known open child.

The rules for the right context are in a layer below those for the left. They depend on the text after the
cursor alone and stay valid while that is unchanged, so a keystroke reuses those of earlier keystrokes.

A `Connection` is that grammar with the ways into the right context, each of which has a marker as its symbol.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from itertools import count
from typing import Any

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.nesting import MARGIN, Column, ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, BoundaryLexer, End
from fimlsp.quotient.bridge.closed_blocks import BlockEnd, ClosedBlock, ClosedBlocks, GroupEnd
from fimlsp.quotient.contexts.left import LeftBlock, LeftContext, left_blocks
from fimlsp.quotient.grammar.cfg import CheapestSentences, LazyRules, Rhs
from fimlsp.quotient.grammar.earley import Automaton, Earley, EarleySet
from fimlsp.quotient.grammar.open_rules import Child, Leading, Open, OpenRules, OpenSuite
from fimlsp.quotient.language.escape import BLOCK, of_child
from fimlsp.quotient.language.tables import LanguageTables


class RightPartialRules(LazyRules):
    """The rules of the nodes `A?`, which start in the middle and end in the right context.

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
        open_rules = self._open_rules_at.get(group_end)
        if open_rules is None:
            open_rules = self._open_rules_at[group_end] = group_end.open_rules(self.tables)
        return open_rules

    def prefix_of(self, child: Child, group_end: GroupEnd) -> int:
        """The symbol `A?` for the open *child* in *group_end*; a marker if it is the place of the cursor."""
        if isinstance(child, int):
            return group_end.entries[child].marker
        if isinstance(child, OpenSuite):
            body = self.tables.suites[child.suite]
            return self.symbol((group_end.suites, body), RightPartialRules._suites, group_end, body)
        return self.symbol((child, group_end), RightPartialRules._rules, child, group_end)

    def leading(self, prefix: int) -> tuple[Leading, GroupEnd] | None:
        """As `OpenRules.leading` of the node `A?` of which this is the *prefix*, and its group.

        None for the prefix of a suite, which starts with an INDENT. No rule is made.
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
    """The rules of the nodes `A!`, which start in one of *blocks*, on the left, and end in the middle."""

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
            yield missing if isinstance(child, int) else (self.suffix_of(child, depth), *missing)

    def _suite(self, body: int, depth: int) -> Iterator[Rhs]:
        dedent, groups = self.tables.dedent, self.tables.lists[body]
        for suffix in self.last_groups(body, depth):
            if suffix or not self.blocks[depth].empty:
                yield (*suffix, dedent)
            yield (*suffix, groups, dedent)

    def last_groups(self, body: int, depth: int) -> Iterator[Rhs]:
        """The symbols that complete the last group of the block at *depth*: none, or its suffix."""
        block = self.blocks[depth]
        if body in block.complete_bodies:
            yield ()
        if (body, block.start) in block.open_rules:
            yield (self.suffix_of((body, block.start), depth),)


class RightGrammar:
    """The part of the middle grammar that depends on the right context alone; reused while typing.

    The first *markers* symbols beyond those of the language are the markers, terminals that end every middle.
    """

    __slots__ = ("automaton", "cheapest", "partial_rules")

    def __init__(self, closed_blocks: ClosedBlocks, markers: int) -> None:
        self.partial_rules = RightPartialRules(closed_blocks, markers)
        self.automaton = Automaton(self.partial_rules, closed_blocks.tables.forward.earley.automaton)
        self.cheapest: dict[tuple[int, frozenset[int]], CheapestSentences] = {}


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
    cheapest: dict[tuple[int, frozenset[int]], CheapestSentences] = field(default_factory=dict, repr=False)

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
        expected = before.expected_bits  # read before `indents`, which grows with the prediction
        closed = sorted(indent for indent in self.indents if expected >> indent & 1)
        fitting = [indent for indent in closed if self.indents[indent].fits(column, depth, most)]
        return [self.tables.indent, *fitting]


def middle_grammar(
    left: LeftContext, right: RightGrammar, kept: int | None = None, bracket: int | None = None
) -> MiddleGrammar | None:
    """The grammar of the middles between *left* and *right*; None if there are no middles.

    With *kept*, no middle escapes (see `escape.py`) from a bracket, or from the outermost *kept* blocks of
    *left*. If there is a *bracket*, the last terminal of *left*, every sentence starts with it: the lexeme
    can still become another one in the middle. O(depth at the cursor), however long the contexts are.
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
            suffix = () if isinstance(left, int) else (self.left.suffix_of(left, depth),)
            yield (*suffix, *between, self.right.prefix_of(right, group_end))

    def _escapes(self, left: Child, between: Rhs, right: Child, depth: int, group_end: GroupEnd) -> bool:
        """True if a middle escapes that finishes *left*, continues with *between*, and starts *right*."""
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


_LOOKED_AT = 10_000


@value
class RightEntry:
    """A way to enter the right context: a boundary lexeme, and the rest of its line.

    Attributes:
        boundary: the boundary lexeme.
        opened: the modes that the right context closes, in the order of `ModeStack.opened`.
        delimiter: the delimiter byte at the start of the right context, and the number of its repetitions.
            Together with those before the cursor, it must not occur three times in a row.
        marker: the terminal of the middle grammar for the rest of the line.
        lead: the white space before the first lexeme of the rest; None if the rest is blank.
        ends_line: True if only the line end is left of the line, and `marker` comes after it.
        begins_line: True if it is only entered at the start of a line.
    """

    boundary: BoundaryLexeme
    opened: tuple[str, ...]
    delimiter: tuple[int, int] | None
    marker: int
    lead: bytes | None
    ends_line: bool = False
    begins_line: bool = False

    def admits(self, lexer: LexerState) -> bool:
        """True if a middle that ends with this lexer state may enter here, by its modes and delimiters."""
        modes = lexer.modes
        if modes.opened != self.opened and not modes.closes_as(self.opened):
            return False
        if self.delimiter is None or self.delimiter[0] not in lexer.modes.forbidden_thrice:
            return True
        byte, count = self.delimiter
        return lexer.equal_run[0] != byte or lexer.equal_run[1] + count < 3


def _columns_of_blocks(lines: Iterable[bytes]) -> list[Column]:
    """The columns of lines that start a block below a line at the margin, as it seems.

    The line above them ends no bracket or string of other lines, nor leaves one open.
    """
    columns, is_header = list[Column](), False
    for line in filter(bytes.strip, lines):
        code = line.lstrip(b" \t")
        if is_header and len(code) < len(line):
            columns.append(Margin().after(line[: len(line) - len(code)]).counted)
        is_header = code == line and not any(
            line.count(opening) - line.count(closing) for opening, closing in (b"()", b"[]", b"{}")
        )
        is_header = is_header and not any(line.count(quotes) % 2 for quotes in (b'"""', b"'''"))
    return columns


@value(eq=False)
class Connection:
    """Two connected contexts: the grammar of the middles and the entries into the right context.

    `bracket` is the kind that the lexeme begun left of the cursor must have, if the grammar starts with it.
    `mask_answers` holds the caches of masks (see `masks/mask.py`).
    """

    tables: LanguageTables
    grammar: MiddleGrammar
    right_entries: tuple[RightEntry, ...]
    data: bytes
    cursor: int
    bracket: int | None = None
    _ends: dict[tuple[int, ModeStack], End] = field(default_factory=dict, repr=False)
    _scans: dict[tuple[EarleySet, Symbol], EarleySet | None] = field(default_factory=dict, repr=False)
    mask_answers: dict[object, Any] = field(default_factory=dict, repr=False)
    _without_blocks: list[CheapestSentences] = field(default_factory=list, repr=False)
    _units: list[Column | None] = field(default_factory=list, repr=False)

    def scan(self, chart: EarleySet, symbol: Symbol, depth: int = 0) -> EarleySet | None:
        """The chart after *symbol*; None if it is not expected. Cached.

        *depth* is the number of blocks that are open in the file's own one. The chart alone determines it.
        """
        key = chart, symbol
        if key not in self._scans:
            self._scans[key] = self.grammar.earley.scan(chart, self._terminals(chart, symbol, depth))
        return self._scans[key]

    def _terminals(self, chart: EarleySet, symbol: Symbol, depth: int) -> Sequence[int]:
        if self.bracket is not None and chart is self.grammar.start and symbol != self.bracket:
            return ()
        if isinstance(symbol, Column):
            return self.grammar.indent_terminals(chart, symbol, depth + 1)
        return (self.tables.terminal_of[symbol],)

    @property
    def without_blocks(self) -> CheapestSentences:
        """The cheapest sentences of the grammar in which no block starts."""
        if not self._without_blocks:
            grammar, language = self.grammar, self.tables.cheapest_without_blocks
            known = language.costs | {entry.marker: 0 for entry in self.right_entries}
            right = CheapestSentences(known, {}, grammar.right.partial_rules, language)
            self._without_blocks.append(CheapestSentences(known.copy(), {}, grammar.left, right))
        return self._without_blocks[0]

    def unit_of_blocks(self) -> Column | None:
        """The column of blocks in the file's own one, by the nearest such block; None if there is none."""
        if not self._units:
            above = self.data[max(self.cursor - _LOOKED_AT, 0) : self.cursor].splitlines()
            below = self.data[self.cursor : self.cursor + _LOOKED_AT].splitlines()
            units = *reversed(_columns_of_blocks(above)), *_columns_of_blocks(below)
            self._units.append(units[0] if units else None)
        return self._units[0]

    def end_of_lexeme(self, lexer: LexerState) -> End:
        """The end of the lexeme being read in the right context; None if it ends with the middle. Cached."""
        key = lexer.state, lexer.modes
        if key not in self._ends:
            runs = BoundaryLexer(lexer.lexical, self.data, self.cursor, lexer.modes)
            self._ends[key] = runs.end_of(lexer.state)
        return self._ends[key]

    def ends_with_continuation(self, lexer: LexerState) -> bool:
        """True if the text ends with a line joiner, which then joins the line to nothing."""
        return lexer.accepted == lexer.lexical.line_joiner and self.cursor == len(self.data)
