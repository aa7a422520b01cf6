"""Finds how a middle can enter the text after a cursor, and which blocks that text closes."""

from __future__ import annotations

import re
from dataclasses import replace

from fimlsp.lexing.columns import MARGIN
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexis import Family
from fimlsp.lexing.line import Line
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, boundary_lexemes
from fimlsp.quotient.bridge.closed_blocks import ClosedBlocks, LineEnd
from fimlsp.quotient.bridge.connection import RightEntry
from fimlsp.quotient.bridge.middle_grammar import RightGrammar
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.right import Ending, RightContext, read_backward
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.contract import StringTail, TextAfterCursor
from fimlsp.quotient.language.escape import BLOCK, BRACKET, NOTHING, Inside
from fimlsp.quotient.states.lexeme_state import not_swallowing


@value
class KeptLexemes:
    """What a middle that must not escape has to stay in.

    These are `strings`, outermost first, and the lexeme being read if it is of a `family`. If the cursor
    `begins_line` outside brackets, and the text after it is indented, that text stays a line of its own.
    """

    strings: tuple[str, ...]
    family: Family | None
    begins_line: bool = False


_LineEndKey = tuple[RightContext, tuple[int, ...] | None, int, Inside]


@value
class RightSide:
    """All that the text after a cursor tells about the middle before it."""

    right_entries: tuple[RightEntry, ...]
    grammar: RightGrammar


class RightSideFinder:
    """Finds the ways into the text after a cursor; entries with equal continuations share their marker."""

    def __init__(
        self, document: Document, cursor: int, options: ConnectOptions, kept: KeptLexemes | None
    ) -> None:
        self.document = document
        self.options = options
        self.kept = kept
        self.tables = document.tables
        self.cursor = cursor
        self._rests_of_lines: dict[int, tuple[Line, RightContext] | None] = {}
        self.line_ends: dict[_LineEndKey, LineEnd] = {}
        self.places: dict[int, set[ModeStack]] = {}

    def right_side(self) -> RightSide:
        """The entries into the text after the cursor, and the grammar of what it closes."""
        right_entries = self._find()
        for entry in right_entries:
            self.places.setdefault(entry.marker, set()).add(entry.boundary.modes)
        return RightSide(right_entries, RightGrammar(self._closed_blocks(), len(self.line_ends)))

    def _find(self) -> tuple[RightEntry, ...]:
        lexical, data, cursor = self.tables.lexical, self.document.data, self.cursor
        kept = None if self.kept is None else self.kept.strings
        text = TextAfterCursor(lexical, data, cursor, kept, self._is_rest_of_line, self.tables.may_follow)
        open_modes = self.tables.language.open_modes(text)
        found = boundary_lexemes(lexical, data, cursor, open_modes.places())
        if self.kept is not None:
            found = not_swallowing(lexical, data, cursor, self.kept.family, found)
        return tuple(
            entry
            for boundary in found
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
        """The symbols behind which no entry with this *marker* can be."""
        terminated = self.tables.lexical.terminated
        return self.tables.not_before(frozenset(self.places[marker])) if terminated else frozenset()

    def _keeps(self, kept: tuple[str, ...], tail: StringTail) -> bool:
        """Whether *tail* closes exactly the strings *kept*, compared from the outermost."""
        closed = self.tables.language.strings_in(tail.opened)
        return all(own == other for own, other in zip(kept, closed, strict=False))

    def _is_rest_of_line(self, position: int) -> bool:
        return self._rest_of_line(position) is not None

    def _rest_of_line(self, position: int) -> tuple[Line, RightContext] | None:
        """The rest of a line of code from *position* on, and the context after it; None if invalid."""
        if position not in self._rests_of_lines:
            self._rests_of_lines[position] = self._read_rest_of_line(position)
        return self._rests_of_lines[position]

    def _read_rest_of_line(self, position: int) -> tuple[Line, RightContext] | None:
        line = self.document.rest_of_line(position)
        if line.broken or not self.document.transitions.may_stand(line):
            return None
        following = self.document.goes_on_at(position + line.size)
        if following is None or (len(line.openers) > following.unmatched and self.tables.offside):
            return None
        return line, following

    def _entry(self, boundary: BoundaryLexeme, tail: StringTail) -> RightEntry | None:
        found = self._rest_of_line(tail.end)
        if found is None:
            return None
        line, following = found
        opened = tail.opened
        delimiter = (
            _leading_delimiter(self.tables.lexical, self.document.data, self.cursor) if opened else None
        )
        if boundary.kind is None and not tail.kinds and line.blank:
            if following.within_group:
                marker = self._marker(following, (), inside=BRACKET)
                return RightEntry(boundary, opened, delimiter, marker, None)
            marker = self._marker(following, None)
            return RightEntry(boundary, opened, delimiter, marker, None, ends_line=True)
        if self._stays_line(tail, line):
            own = self.document.goes_on_at(self.cursor)
            if own is None or not own.within_group:
                if own is None:
                    return None
                own_marker = self._marker(own, None)
                return RightEntry(boundary, opened, delimiter, own_marker, None, begins_line=True)
        straddling = (
            () if boundary.kind is None or boundary.kind in self.tables.lexical.skipped else (boundary.kind,)
        )
        kinds = (*straddling, *tail.kinds, *line.kinds)
        if not self.tables.may_follow(kinds) or self.tables.too_deep(kinds, following.unmatched):
            return None
        begins_in_code = boundary.kind is None and not opened
        lead = self._lead(tail.end) if begins_in_code else b""
        width = line.column.tabs8 if begins_in_code and line.column is not None else 0
        if lead.startswith(b"\\"):
            width = min(width, 1)  # a line joiner decides the column, unless it stands in column 0
        unmatched = len(line.closers) + following.unmatched - len(line.openers)
        inside = BLOCK | BRACKET if self.tables.offside and (unmatched > 0 or opened) else BLOCK
        marker = self._marker(following, kinds, width, inside)
        return RightEntry(boundary, opened, delimiter, marker, lead)

    def _stays_line(self, tail: StringTail, line: Line) -> bool:
        """Whether *line*, directly after the cursor, has to stay a line of its own outside brackets."""
        if self.kept is None or not self.kept.begins_line or tail.end != self.cursor or tail.kinds:
            return False
        return line.column not in (None, MARGIN)

    def _lead(self, position: int) -> bytes:
        """The white space and line joiners at *position*, before the line's first lexeme."""
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
        """The marker of a line that ends with *kinds*; None stands for a line that is blank."""
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
        behind = read_backward(self.tables, following.ways(), terminals[1:])  # shared by many entries
        return read_backward(self.tables, behind, terminals[:1])


def _leading_delimiter(lexical: LexerTables, data: bytes, position: int) -> tuple[int, int] | None:
    """The one-byte delimiter at *position*, and how often it is repeated there, at most three times."""
    delimiter = data[position : position + 1]
    if not delimiter or delimiter not in lexical.delimiters.within:
        return None
    rest = data[position : position + 3]
    return delimiter[0], len(rest) - len(rest.lstrip(delimiter))


_LEADS = {
    True: re.compile(rb"(?:[ \t\f]|\\(?:\r\n?|\n))*"),
    False: re.compile(rb"[ \t\f]*"),
}
"""What precedes the first lexeme of a line, by whether a line joiner is part of it."""
