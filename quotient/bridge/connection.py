"""The connection of two contexts: the grammar of the middles, and the ways into the right context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field
from typing import Any

from fimlsp.lexing.lexer_state import LexerState, Margin, Symbol
from fimlsp.lexing.nesting import Column, ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, BoundaryLexer, End
from fimlsp.quotient.bridge.middle_grammar import MiddleGrammar
from fimlsp.quotient.grammar.costs import CheapestSentences
from fimlsp.quotient.grammar.earley_sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables

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
