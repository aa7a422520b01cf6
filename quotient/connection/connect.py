"""From two contexts to their middles."""

from __future__ import annotations

import re
from dataclasses import replace

from fimlsp.languages.python.open_strings import OpenStrings, StringTail
from fimlsp.languages.python.terminals import F_STRING_STYLES
from fimlsp.lexing.columns import MARGIN
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.line import Line, physical_end
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import (
    BoundaryLexeme,
    BoundaryLexer,
    boundary_lexemes,
    closing_quote,
)
from fimlsp.quotient.bridge.closed_blocks import ClosedBlocks, LineEnd
from fimlsp.quotient.bridge.middle_grammar import RightGrammar, middle_grammar
from fimlsp.quotient.bridge.options import ConnectOptions
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.contexts.right import Ending, RightContext, read_backward
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.escape import BLOCK, BRACKET, NOTHING, Inside
from fimlsp.quotient.states.grammar_state import Connection, GrammarState, RightEntry
from fimlsp.quotient.states.lexeme_state import Kind, LexemeState, kind_of_lexeme, staying, within_lexeme

State = GrammarState | LexemeState

_QUOTES = ("'", '"', "'''", '"""')
_ESCAPED = (b"'", b'"', b"\\", b"\r", b"\n")
"""What means something else behind a backslash, in the text of a string."""


def connect(
    document: Document, cursor: int, left: LeftContext, lexer: LexerState, options: ConnectOptions
) -> State | None:
    """The middles that connect *left*, read on by *lexer*, with the text after *cursor*; None if none does.

    Where only an escape connects, they may escape.
    """
    if options.forbid_escape:
        begun = _with_bracket(document, cursor, left, lexer)
        start = _connect(document, cursor, begun, lexer, options, begun.place)
        if start is not None:
            return within_lexeme(start) or start
    options = replace(options, forbid_escape=False)
    return _connect(document, cursor, _LeftSide(left, lexer), lexer, options, None)


@value
class _MiddleStart:
    """Where a middle begins that has to stay: in which f-strings, outermost first, and in which lexeme.

    Such a middle does not close one of them and open another. So it cannot end where the text after it closes
    others than these, beginning with the outermost.
    """

    strings: tuple[str, ...]
    lexeme: Kind

    def admits(self, rest: StringTail) -> bool:
        """Whether a middle may end before *rest*."""
        return all(
            begun == closed for begun, closed in zip(self.strings, _strings(rest.opened), strict=False)
        )


def _strings(opened: tuple[str, ...]) -> tuple[str, ...]:
    """The f-strings among what is *opened* (as `ModeStack.opened`), outermost first."""
    return tuple(part for part in reversed(opened) if part.startswith("text:"))


@value
class _LeftSide:
    """A left context, and the reading behind it.

    They have the lexeme that is being read, if it is a `bracket`, whose kind that is; otherwise not.
    """

    left: LeftContext
    lexer: LexerState
    bracket: int | None = None

    @property
    def place(self) -> _MiddleStart:
        """Where a middle begins that has to stay."""
        return _MiddleStart(_strings(self.lexer.modes.opened), kind_of_lexeme(self.lexer))


def _connect(
    document: Document,
    cursor: int,
    begun: _LeftSide,
    lexer: LexerState,
    options: ConnectOptions,
    place: _MiddleStart | None,
) -> GrammarState | None:
    right = document.cached_for_suffix(
        cursor, (options, place), lambda: _RightSideFinder(document, cursor, options, place).right_side()
    )
    kept = _n_kept_blocks(begun.left, begun.lexer) if options.forbid_escape else None
    bracket = None if begun.bracket is None else document.tables.terminal_of[begun.bracket]
    grammar = middle_grammar(begun.left, right.grammar, kept, bracket)
    if grammar is None:
        return None
    meeting = right.right_entries, lexer, document.data, cursor
    start = Connection(document.tables, grammar, *meeting, begun.bracket).start
    return start if start.viable else None


def _with_bracket(document: Document, cursor: int, left: LeftContext, lexer: LexerState) -> _LeftSide:
    """*left* with the bracket that is being read, if it is one: then it is not to be left.

    It is none if it makes another lexeme with the text after *cursor*, as two braces in an f-string do.
    """
    if lexer.accepted not in lexer.lexical.modes or lexer.leftover:
        return _LeftSide(left, lexer)
    runs = BoundaryLexer(lexer.lexical, document.data, cursor, lexer.modes)
    step = lexer.finish() if runs.end_of(lexer.state) is None else None
    after = step and left.after(step.symbols)
    if step is None or after is None:
        return _LeftSide(left, lexer)
    return _LeftSide(after, step.lexer, lexer.accepted)


def _n_kept_blocks(left: LeftContext, lexer: LexerState) -> int:
    """How many of the open blocks are not to be left: those that the cursor stands right of.

    At the very beginning of a line it may be anywhere: editors strip the white space of blank lines.
    """
    columns = left.indents.columns
    margin = lexer.margin
    if margin is None or margin.column == MARGIN:
        return len(columns)
    return sum(not column.deeper_than(margin.column) for column in columns)


@value
class _RightSide:
    """All that the text after a cursor says about the middle before it."""

    right_entries: tuple[RightEntry, ...]
    grammar: RightGrammar


class _RightSideFinder:
    """Finds where a middle may meet the text after a cursor; equal continuations are looked at once."""

    def __init__(
        self, document: Document, cursor: int, options: ConnectOptions, place: _MiddleStart | None
    ) -> None:
        self.document = document
        self.options = options
        self.place = place
        self.tables = document.tables
        self.cursor = cursor
        self.rests: dict[int, tuple[Line, RightContext] | None] = {}
        self.line_ends: dict[tuple[RightContext, tuple[int, ...] | None, int, Inside], LineEnd] = {}

    def right_side(self) -> _RightSide:
        """The ways to meet the text after the cursor, and what is closed there."""
        right_entries = self._find()
        return _RightSide(right_entries, RightGrammar(self._closed_blocks(), len(self.line_ends)))

    def _find(self) -> tuple[RightEntry, ...]:
        lexical, data, cursor = self.tables.lexical, self.document.data, self.cursor
        strings = OpenStrings(self.tables, data, cursor, self._styles())
        found = boundary_lexemes(lexical, data, cursor, strings.places())
        if self.place is not None:
            rest_of_line = data[cursor : physical_end(data, cursor)]
            found = staying(lexical, rest_of_line, self.place.lexeme, found)
        return tuple(
            entry
            for boundary in found
            for rest in strings.rests(boundary.place, boundary.kind, cursor + boundary.offset)
            if self.place is None or self.place.admits(rest)
            if (entry := self._join(boundary, rest)) is not None
        )

    def _closed_blocks(self) -> ClosedBlocks:
        """What the text after the cursor closes, for each line that the cursor's line may end before."""
        by_context: dict[RightContext, list[LineEnd]] = {}
        for (following, *_), line_end in self.line_ends.items():
            if line_end.ways:
                by_context.setdefault(following.after_logical_line(), []).append(line_end)
        closed_blocks = ClosedBlocks(self.tables)
        for logical, ends in by_context.items():
            closed_blocks.add(logical, ends)
        return closed_blocks

    def _styles(self) -> list[str]:
        """The styles of f-strings in which the cursor may be, and others around those."""
        place = self.place
        styles = [s for s in F_STRING_STYLES if place is None or f"text:{s}" in place.strings]
        if not styles or not self.tables.lexical.rules.sealed:
            return styles
        ends = {quote: self._ends(quote) for quote in _QUOTES}
        found: list[str] = []
        for quote in sorted(_QUOTES, key=lambda quote: -max(ends[quote], default=0)):
            in_other = any(max(ends[other]) > min(ends[quote], default=0) for other in found)
            if in_other or any(self._rest(end) is not None for end in ends[quote]):
                found += [quote] * bool(ends[quote])
        return [style for style in styles if style.removeprefix("r") in found]

    def _ends(self, quote: str) -> list[int]:
        """Where a sealed string of *quote* that is open at the cursor may end."""
        data, cursor = self.document.data, self.cursor
        taken = [0]
        if data[cursor : cursor + 1] in _ESCAPED:  # by a backslash before the cursor
            taken.append(2 if data.startswith(b"\r\n", cursor) else 1)
        ends = {closing_quote(data, cursor + each, quote) for each in taken} - {None}
        if len(quote) == 3:  # the closing quotes may straddle the cursor
            ends |= {cursor + k for k in (1, 2) if data.startswith(quote[:k].encode(), cursor)}
        return [end for end in ends if end is not None]

    def _rest(self, position: int) -> tuple[Line, RightContext] | None:
        """The rest of a line of code from *position* on, and the context after it; None if that cannot be."""
        if position not in self.rests:
            self.rests[position] = self._read_rest(position)
        return self.rests[position]

    def _read_rest(self, position: int) -> tuple[Line, RightContext] | None:
        line = self.document.line_at(position)
        if line.broken or not self.document.transitions.may_stand(line):
            return None
        context_at = self.document.right_at if self.options.lenient else self.document.goes_on_at
        following = context_at(position + line.size)
        if following is None or len(line.openers) > following.unmatched:
            return None
        return line, following

    def _join(self, boundary: BoundaryLexeme, rest: StringTail) -> RightEntry | None:
        found = self._rest(rest.end)
        if found is None:
            return None
        line, following = found
        quotes = _leading_quotes(self.document.data, self.cursor) if rest.opened else None
        if boundary.kind is None and not rest.kinds and line.blank:
            if following.unmatched:
                marker = self._marker(following, (), inside=BRACKET)
                return RightEntry(boundary, rest.opened, quotes, marker, None)
            return RightEntry(
                boundary, rest.opened, quotes, self._marker(following, None), None, ends_line=True
            )
        straddling = (
            () if boundary.kind is None or boundary.kind in self.tables.lexical.skipped else (boundary.kind,)
        )
        kinds = (*straddling, *rest.kinds, *line.kinds)
        if not self.tables.may_follow(kinds) or self.tables.too_deep(kinds, following.unmatched):
            return None
        begins_in_code = boundary.kind is None and not rest.opened
        lead = self._lead(rest.end) if begins_in_code else b""
        width = line.column.tabs8 if begins_in_code and line.column is not None else 0
        if lead.startswith(b"\\"):
            width = min(width, 1)  # it may stand at any column, and is measured only if that is the first
        unmatched = len(line.closers) + following.unmatched - len(line.openers)
        inside = BLOCK | BRACKET if unmatched > 0 or rest.opened else BLOCK
        marker = self._marker(following, kinds, width, inside)
        return RightEntry(boundary, rest.opened, quotes, marker, lead)

    def _lead(self, position: int) -> bytes:
        """What stands at *position* before the line's first lexeme."""
        found = _LEADS[ord("\\") in self.tables.lexical.quiet].match(self.document.data, position)
        assert found is not None
        return found.group()

    def _marker(
        self,
        following: RightContext,
        kinds: tuple[int, ...] | None,
        width: int = 0,
        inside: Inside = NOTHING,
    ) -> int:
        """The marker of a line that ends with *kinds*; no kinds stand for one that is blank altogether."""
        key = following, kinds, width, inside
        found = self.line_ends.get(key)
        if found is None:
            marker = self.tables.first_free_symbol + len(self.line_ends)
            found = self.line_ends[key] = LineEnd(
                marker, self._ways(following, kinds), kinds is None, width, inside
            )
        return found.marker

    def _ways(self, following: RightContext, kinds: tuple[int, ...] | None) -> dict[Ending, EarleySet]:
        if kinds is None:
            return {ending: ending.base for ending in following.endings}
        terminals = self.tables.terminals(kinds)
        behind = read_backward(self.tables, following.ways(), terminals[1:])  # often the same
        return read_backward(self.tables, behind, terminals[:1])


def _leading_quotes(data: bytes, position: int) -> tuple[int, int] | None:
    """The quote at *position*, and how many of it stand there in a row."""
    quote = data[position : position + 1]
    if quote not in (b"'", b'"') or not quote:
        return None
    rest = data[position : position + 3]
    return quote[0], len(rest) - len(rest.lstrip(quote))


_LEADS = {
    True: re.compile(rb"(?:[ \t\f]|\\(?:\r\n?|\n))*"),
    False: re.compile(rb"[ \t\f]*"),
}
"""What a line begins with, by whether a backslash is part of that."""


def read_up_to(document: Document, cursor: int) -> tuple[LeftContext, LexerState] | None:
    """The left context at *cursor*, with the lexeme being read there; None if it begins no valid file."""
    start, context = document.left_at(cursor)
    step = context.lexer().feed(document.data[start:cursor])
    if step is None:
        return None
    left = context.after(step.symbols)
    return None if left is None else (left, step.lexer)
