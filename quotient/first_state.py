"""Connects two contexts: makes the first state of the middles between them.

`RightSideFinder` finds the ways in which a middle can enter the text after the cursor, and the blocks that
this text closes. `connect` combines them with the left context.
"""

from __future__ import annotations

import re
from dataclasses import field, replace

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexical_spec import Family
from fimlsp.lexing.line import Line, Reading
from fimlsp.lexing.nesting import MARGIN, ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, BoundaryLexer, boundary_lexemes
from fimlsp.quotient.bridge.closed_blocks import ClosedBlocks, LineEnd
from fimlsp.quotient.bridge.middle_grammar import (
    Connection,
    MiddleGrammar,
    RightEntry,
    RightGrammar,
    middle_grammar,
)
from fimlsp.quotient.contexts.document import ContextDocument
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.right import Ending, RightContext, read_backward
from fimlsp.quotient.grammar.earley import EarleySet
from fimlsp.quotient.language.contract import StringTail, TextAfterCursor
from fimlsp.quotient.language.escape import BLOCK, BRACKET, NOTHING, Inside
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.lexeme_state import family_of_lexeme, not_swallowing, within_lexeme
from fimlsp.quotient.states.protocol import State


@value
class ConnectOptions:
    """The strictness of the fit of a middle to its context.

    With `forbid_escape`, the middle must not escape from the node that both contexts are in (see
    `escape.py`). If no other one exists, it may all the same, unless `falls_back` is False.
    """

    forbid_escape: bool = False
    falls_back: bool = True


def connect(
    document: ContextDocument, cursor: int, left: LeftContext, lexer: LexerState, options: ConnectOptions
) -> State | None:
    """The first state of the middles between *left* and the text after *cursor*; None if there are none.

    *lexer* is the lexer state at the end of the left context.
    """
    if options.forbid_escape:
        left_side = _with_bracket(document, cursor, left, lexer)
        start = _connect(document, cursor, left_side, lexer, options, left_side.kept(document))
        if start is not None:
            return within_lexeme(start) or start
        if not options.falls_back:
            return None
    options = replace(options, forbid_escape=False)
    return _connect(document, cursor, _LeftSide(left, lexer), lexer, options, None)


@value
class _LeftSide:
    """A left context, with the lexer state at its end.

    If the lexeme being read is a bracket that a middle must stay in, the context already includes it, and
    `bracket` is its kind. Otherwise `bracket` is None.
    """

    left: LeftContext
    lexer: LexerState
    bracket: int | None = None

    def kept(self, document: ContextDocument) -> KeptLexemes:
        """The strings and the lexeme that a middle must stay in."""
        opened = self.lexer.modes.opened
        strings = document.tables.language.strings_in(opened) if opened else ()
        begins_line = self.lexer.margin == Margin() and not self.lexer.modes.depth
        return KeptLexemes(strings, family_of_lexeme(self.lexer), begins_line=begins_line)


def _connect(
    document: ContextDocument,
    cursor: int,
    left_side: _LeftSide,
    lexer: LexerState,
    options: ConnectOptions,
    kept: KeptLexemes | None,
) -> GrammarState | None:
    checkpoint()
    right = document.cached_for_suffix(
        cursor, (options, kept), lambda: RightSideFinder(document, cursor, options, kept).right_side()
    )
    n_kept = _n_kept_blocks(left_side.left, left_side.lexer) if options.forbid_escape else None
    bracket = None if left_side.bracket is None else document.tables.terminal_of[left_side.bracket]
    grammar = right.middle_grammar(left_side.left, n_kept, bracket)
    if grammar is None:
        return None
    connection = Connection(
        document.tables, grammar, right.right_entries, document.data, cursor, left_side.bracket
    )
    start = GrammarState(connection, lexer, grammar.start)
    return start if start.viable else None


def _with_bracket(document: ContextDocument, cursor: int, left: LeftContext, lexer: LexerState) -> _LeftSide:
    """*left*, with the lexeme being read if it is a bracket: a middle that must not escape stays in it.

    It does not count as a bracket if it continues after *cursor*, as the first of two doubled braces may do.
    """
    if lexer.accepted not in document.tables.enclosing_kinds or lexer.leftover:
        return _LeftSide(left, lexer)
    runs = BoundaryLexer(lexer.lexical, document.data, cursor, lexer.modes)
    step = lexer.finish() if runs.end_of(lexer.state) is None else None
    after = step and left.after(step.symbols)
    if step is None or after is None:
        return _LeftSide(left, lexer)
    return _LeftSide(after, step.lexer, lexer.accepted)


def _n_kept_blocks(left: LeftContext, lexer: LexerState) -> int:
    """The number of open blocks that a middle must stay in: those whose column the cursor has reached.

    At the very beginning of a line these are all blocks, since editors strip the white space of blank lines.
    """
    columns = left.indents.columns
    margin = lexer.margin
    if margin is None or margin.column == MARGIN:
        return len(columns)
    return sum(not column.deeper_than(margin.column) for column in columns)


def read_up_to(document: ContextDocument, cursor: int) -> tuple[LeftContext, LexerState] | None:
    """The left context at *cursor* and the lexer state there; None if no valid file starts with this text."""
    if document.readings is not None:
        return document.readings.left_at(document.data, cursor)
    start, context = document.left_at(cursor)
    step = context.lexer().feed(document.data[start:cursor])
    if step is None:
        return None
    left = context.after(step.symbols)
    return None if left is None else (left, step.lexer)


@value
class KeptLexemes:
    """The enclosures that a middle without escape has to stay in.

    These are `strings`, outermost first, and the lexeme being read if it is of a `family`. If the cursor
    `begins_line` outside brackets, and the text after it is indented, that text stays a line of its own.
    """

    strings: tuple[str, ...]
    family: Family | None
    begins_line: bool = False


_NO_LINE = Line(0)
_LineEndKey = tuple[RightContext, tuple[int, ...] | None, int, Inside, tuple[Reading, ...]]


_WayIn = tuple[int, bytes]
"""The marker of an entry, and the white space before the first lexeme."""

_Left = tuple[LeftContext, int | None, int | None]
"""A left context, with the number of its blocks and the bracket that `middle_grammar` is given."""


@value(eq=False)
class RightSide:
    """The constraints of the text after a cursor on the middle before it."""

    right_entries: tuple[RightEntry, ...]
    grammar: RightGrammar
    _last: dict[_Left, MiddleGrammar | None] = field(default_factory=dict, repr=False)

    def middle_grammar(
        self, left: LeftContext, kept: int | None, bracket: int | None
    ) -> MiddleGrammar | None:
        """As `middle_grammar`; the last one is kept, for the next letter of the same word."""
        key = left, kept, bracket
        if key not in self._last:
            grammar = middle_grammar(left, self.grammar, kept, bracket)
            self._last.clear()
            self._last[key] = grammar
        return self._last[key]


class RightSideFinder:
    """Finds the ways into the text after a cursor; entries with equal continuations share their marker."""

    def __init__(
        self, document: ContextDocument, cursor: int, options: ConnectOptions, kept: KeptLexemes | None
    ) -> None:
        self.document = document
        self.options = options
        self.kept = kept
        self.tables = document.tables
        self.cursor = cursor
        self._rests_of_lines: dict[int, tuple[Line, RightContext] | None] = {}
        self._from_starts: dict[tuple[int, int], tuple[Line, RightContext] | None] = {}
        self._ways_in: dict[tuple[int | None, tuple[int, ...], int, int, bool], _WayIn | None] = {}
        self._leading = _leading_delimiter(document.tables.lexical, document.data, cursor)
        self.line_ends: dict[_LineEndKey, LineEnd] = {}
        self.modes_of_marker: dict[int, set[ModeStack]] = {}

    def right_side(self) -> RightSide:
        """The entries into the text after the cursor, and the grammar of the nodes that it closes."""
        right_entries = self._find()
        for entry in right_entries:
            self.modes_of_marker.setdefault(entry.marker, set()).add(entry.boundary.modes)
        return RightSide(right_entries, RightGrammar(self._closed_blocks(), len(self.line_ends)))

    def _find(self) -> tuple[RightEntry, ...]:
        lexical, data, cursor = self.tables.lexical, self.document.data, self.cursor
        kept = None if self.kept is None else self.kept.strings
        text = TextAfterCursor(lexical, data, cursor, kept, self._is_rest_of_line, self.tables.may_follow)
        open_modes = self.tables.language.open_modes(text)
        boundaries = boundary_lexemes(lexical, data, cursor, open_modes.places())
        if self.kept is not None:
            boundaries = not_swallowing(lexical, data, cursor, self.kept.family, boundaries)
        return tuple(
            entry
            for boundary in boundaries
            for tail in open_modes.tails(boundary.modes, boundary.kind, cursor + boundary.offset)
            if kept is None or self._keeps(kept, tail)
            if (entry := self._entry(boundary, tail)) is not None
        )

    def _closed_blocks(self) -> ClosedBlocks:
        """The blocks that are closed, for each line that the cursor's line may precede."""
        by_context: dict[RightContext, list[LineEnd]] = {}
        for (following, *_), line_end in self.line_ends.items():
            if line_end.ways:
                ends = by_context.setdefault(following.after_logical_line(), [])
                ends.append(replace(line_end, not_before=self._not_before(line_end.marker)))
        closed_blocks = ClosedBlocks(self.tables)
        for logical, ends in by_context.items():
            closed_blocks.add(logical, ends)
        return closed_blocks

    def _not_before(self, marker: int) -> frozenset[int]:
        """The symbols after which no entry with this *marker* can be."""
        terminated = self.tables.lexical.terminated
        return self.tables.not_before(frozenset(self.modes_of_marker[marker])) if terminated else frozenset()

    def _keeps(self, kept: tuple[str, ...], tail: StringTail) -> bool:
        """True if *tail* closes exactly the strings *kept*, compared from the outermost."""
        closed = self.tables.language.strings_in(tail.opened)
        return all(own == other for own, other in zip(kept, closed, strict=False))

    def _is_rest_of_line(self, position: int) -> bool:
        return self._rest_of_line(position) is not None

    def _line_at(self, position: int) -> Line | None:
        line = self.document.rest_of_line(position)
        return None if line.broken or not self.document.transitions.may_stand(line) else line

    def _rest_of_line(self, position: int) -> tuple[Line, RightContext] | None:
        """The rest of a line of code from *position* on, and the context after it; None if invalid."""
        if position not in self._rests_of_lines:
            self._rests_of_lines[position] = self._read_rest_of_line(position)
        return self._rests_of_lines[position]

    def _read_rest_of_line(self, position: int) -> tuple[Line, RightContext] | None:
        if self.tables.lexical.contextual:
            rest = self.document.goes_on_at(position)
            return None if rest is None else (_NO_LINE, rest)
        line = self._line_at(position)
        if line is None:
            return None
        following = self.document.goes_on_at(position + line.size)
        if following is None or (len(line.openers) > following.unmatched and self.tables.offside):
            return None
        return line, following

    def _rest_from(self, position: int, line_start: int) -> tuple[Line, RightContext] | None:
        """As `_rest_of_line`, with the readings of one *line_start* alone; None also if it has none."""
        key = position, line_start
        if key not in self._from_starts:
            rest = self._rest_of_line(position)
            if rest is not None and rest[0].readings:
                line = rest[0].from_line_start(line_start)
                rest = (line, rest[1]) if line.readings else None
            self._from_starts[key] = rest
        return self._from_starts[key]

    def _entry(self, boundary: BoundaryLexeme, tail: StringTail) -> RightEntry | None:
        """The entry by *boundary* and *tail* into the rest of the cursor's line; None if that is invalid."""
        rest_of_line = self._rest_from(tail.end, tail.line_start)
        if rest_of_line is None:
            return None
        line, following = rest_of_line
        if boundary.kind is None and not tail.kinds and line.blank:
            return self._entry_into_blank(boundary, tail, line, following)
        if self._stays_line(tail, line):
            own = self.document.goes_on_at(self.cursor)
            if own is None:
                return None
            if not own.within_group:
                marker = self._marker(own, None)
                return RightEntry(
                    boundary, tail.opened, self._delimiter(tail), marker, None, begins_line=True
                )
        return self._entry_into_line(boundary, tail, line, following)

    def _entry_into_blank(
        self, boundary: BoundaryLexeme, tail: StringTail, line: Line, following: RightContext
    ) -> RightEntry:
        """The entry into a *line* without further lexemes, *following* being the context after it."""
        delimiter = self._delimiter(tail)
        if following.within_group:
            marker = self._marker(following, (), inside=BRACKET, line=line)
            return RightEntry(boundary, tail.opened, delimiter, marker, None)
        marker = self._marker(following, None)
        return RightEntry(boundary, tail.opened, delimiter, marker, None, ends_line=True)

    def _entry_into_line(
        self, boundary: BoundaryLexeme, tail: StringTail, line: Line, following: RightContext
    ) -> RightEntry | None:
        """The entry into the rest *line*, *following* being the context after it; None if that is invalid."""
        key = boundary.kind, tail.kinds, tail.end, tail.line_start, not tail.opened
        if key not in self._ways_in:
            self._ways_in[key] = self._way_in(boundary, tail, line, following)
        way_in = self._ways_in[key]
        if way_in is None:
            return None
        return RightEntry(boundary, tail.opened, self._delimiter(tail), *way_in)

    def _way_in(
        self, boundary: BoundaryLexeme, tail: StringTail, line: Line, following: RightContext
    ) -> _WayIn | None:
        """The marker of an entry into the rest *line*, and its lead; many modes share them."""
        is_seen = boundary.kind is not None and boundary.kind not in self.tables.lexical.skipped
        straddling = (boundary.kind,) if boundary.kind is not None and is_seen else ()
        own = () if line.readings else line.kinds
        kinds = (*straddling, *tail.kinds, *own)
        if not self.tables.may_follow(kinds) or self.tables.too_deep(kinds, following.unmatched):
            return None
        begins_in_code = boundary.kind is None and not tail.opened
        lead = self._lead(tail.end) if begins_in_code else b""
        width = line.column.tabs8 if begins_in_code and line.column is not None else 0
        if lead.startswith(b"\\"):
            width = min(width, 1)  # a line joiner decides the column, unless it is in column 0
        unmatched = len(line.closers) + following.unmatched - len(line.openers)
        inside = BLOCK | BRACKET if self.tables.offside and (unmatched > 0 or tail.opened) else BLOCK
        return self._marker(following, kinds, width, inside, line), lead

    def _delimiter(self, tail: StringTail) -> tuple[int, int] | None:
        """The delimiter at the cursor, if *tail* closes strings."""
        return self._leading if tail.opened else None

    def _stays_line(self, tail: StringTail, line: Line) -> bool:
        """True if *line*, directly after the cursor, has to stay a line of its own outside brackets."""
        if self.kept is None or not self.kept.begins_line or tail.end != self.cursor or tail.kinds:
            return False
        return line.column not in (None, MARGIN)

    def _lead(self, position: int) -> bytes:
        """The white space and line joiners at *position*, before the line's first lexeme."""
        quiet = self.tables.lexical.quiet
        lead = _LEADS[ord("\\") in quiet].match(self.document.data, position)
        assert lead is not None
        return lead.group() if _FORM_FEED in quiet else lead.group().partition(b"\f")[0]

    def _marker(
        self,
        following: RightContext,
        kinds: tuple[int, ...] | None,
        width: int = 0,
        inside: Inside = NOTHING,
        line: Line = _NO_LINE,
    ) -> int:
        """The marker of a line that ends with *kinds*, which is None for a blank line.

        After them it ends with one of the readings of *line*, if that has any.
        """
        key = following, kinds, width, inside, line.readings
        line_end = self.line_ends.get(key)
        if line_end is None:
            marker = self.tables.first_free_symbol + len(self.line_ends)
            ways = self._ways(following, kinds, line)
            enclosed = self._enclosed(following, kinds, line, len(ways))
            line_end = self.line_ends[key] = LineEnd(marker, ways, kinds is None, width, inside, enclosed)
        return line_end.marker

    def _enclosed(
        self, following: RightContext, kinds: tuple[int, ...] | None, line: Line, count: int
    ) -> tuple[RightContext, tuple[int, ...]] | None:
        """The brackets of a line end and the context after them (see `LineEnd`); it has *count* ways."""
        if not self.options.forbid_escape:
            return following.after_logical_line(), ()
        if count > 1 or len(line.readings) > 1:
            return None
        every = (*(kinds or ()), *(kind for one in line.readings for kind in one.kinds))
        enclosures, terminal_of = self.tables.enclosures, self.tables.terminal_of
        return following, tuple([kind for kind in every if terminal_of[kind] in enclosures])

    def _ways(
        self, following: RightContext, kinds: tuple[int, ...] | None, line: Line
    ) -> dict[Ending, EarleySet]:
        if kinds is None:
            return {ending: ending.base for ending in following.endings}
        terminals = self.tables.terminals(kinds)
        ways = following.ways_before(line) if line.readings else following.ways()
        shared = read_backward(self.tables, ways, terminals[1:])  # by many entries
        return read_backward(self.tables, shared, terminals[:1])


def _leading_delimiter(lexical: LexerTables, data: bytes, position: int) -> tuple[int, int] | None:
    """The one-byte delimiter at *position*, and the number of its repetitions there, at most three."""
    delimiter = data[position : position + 1]
    if not delimiter or delimiter not in lexical.delimiters.within:
        return None
    rest = data[position : position + 3]
    return delimiter[0], len(rest) - len(rest.lstrip(delimiter))


_FORM_FEED = 0x0C
_LEADS = {
    True: re.compile(rb"(?:[ \t\f]|\\(?:\r\n?|\n))*"),
    False: re.compile(rb"[ \t\f]*"),
}
"""The text before the first lexeme of a line; the key is True if line joiners may be part of it."""
