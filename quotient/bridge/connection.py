"""What connects two contexts: the grammar of the middles, and the entries into the right context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from fimlsp.lexing.columns import Column
from fimlsp.lexing.lexer_state import LexerState, Symbol
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexeme, BoundaryLexer, End, way_into
from fimlsp.quotient.bridge.middle_grammar import MiddleGrammar
from fimlsp.quotient.earley.sets import EarleySet
from fimlsp.quotient.language.tables import LanguageTables


@value
class RightEntry:
    """A seam with the marker that the middle grammar has for it.

    `opened` is what the right context closes (as `ModeStack.opened`), `quotes` the delimiter that it begins
    with, of which no more than two may stand in a row with those before. `lead` is what stands
    before the first lexeme of the rest, None if that rest is blank. With `ends_line` nothing is left of the
    line but its end; the `marker` stands behind that.
    """

    boundary: BoundaryLexeme
    opened: tuple[str, ...]
    quotes: tuple[int, int] | None
    marker: int
    lead: bytes | None
    ends_line: bool = False

    def admits(self, lexer: LexerState) -> bool:
        """Whether a middle may end here after *lexer*."""
        if lexer.modes.opened != self.opened:
            return False
        if self.quotes is None or self.quotes[0] not in lexer.modes.forbidden_thrice:
            return True
        quote, count = self.quotes
        return lexer.equal_run[0] != quote or lexer.equal_run[1] + count < 3


@value(eq=False)
class Connection:
    """What connects a left and a right context: the grammar, and the ways to meet the right.

    `bracket` is the kind that the lexeme begun left of the cursor must have, if the grammar begins with it.
    """

    tables: LanguageTables
    grammar: MiddleGrammar
    right_entries: tuple[RightEntry, ...]
    data: bytes
    cursor: int
    bracket: int | None = None
    _ways_into: dict[tuple[int, bytes, BoundaryLexeme], bytes | None] = field(
        default_factory=dict, repr=False
    )
    _ends: dict[tuple[int, ModeStack], End] = field(default_factory=dict, repr=False)
    _scans: dict[tuple[EarleySet, Symbol], EarleySet | None] = field(default_factory=dict, repr=False)

    def scan(self, chart: EarleySet, symbol: Symbol) -> EarleySet | None:
        """The chart after *symbol* as well, None if that is not expected; remembered."""
        key = chart, symbol
        if key not in self._scans:
            self._scans[key] = self.grammar.earley.scan(chart, self._terminals(chart, symbol))
        return self._scans[key]

    def _terminals(self, chart: EarleySet, symbol: Symbol) -> Sequence[int]:
        if self.bracket is not None and chart is self.grammar.start and symbol != self.bracket:
            return ()
        if isinstance(symbol, Column):
            return self.grammar.indent_terminals(chart, symbol)
        return (self.tables.terminal_of[symbol],)

    def way_into(self, lexer: LexerState, boundary: BoundaryLexeme) -> bytes | None:
        """As `boundary_lexemes.way_into`, remembered."""
        key = lexer.state, lexer.word, boundary
        ways = self._ways_into
        if key not in ways:
            ways[key] = way_into(lexer, boundary)
        return ways[key]

    def end_of_lexeme(self, lexer: LexerState) -> End:
        """Where the lexeme being read ends in the right context; None if it ends with the middle."""
        key = lexer.state, lexer.modes
        if key not in self._ends:
            runs = BoundaryLexer(lexer.lexical, self.data, self.cursor, lexer.modes)
            self._ends[key] = runs.end_of(lexer.state)
        return self._ends[key]

    def ends_with_continuation(self, lexer: LexerState) -> bool:
        """Whether a backslash has joined the line to nothing."""
        return lexer.accepted == lexer.lexical.line_joiner and self.cursor == len(self.data)
