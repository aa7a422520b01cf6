"""Connects two contexts: makes the first state of the middles between them."""

from __future__ import annotations

from dataclasses import replace

from fimlsp.lexing.columns import MARGIN
from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState, Margin
from fimlsp.lexing.values import value
from fimlsp.quotient.bridge.boundary_lexemes import BoundaryLexer
from fimlsp.quotient.bridge.connection import Connection
from fimlsp.quotient.bridge.middle_grammar import middle_grammar
from fimlsp.quotient.connect.options import ConnectOptions
from fimlsp.quotient.connect.right_side import KeptLexemes, RightSideFinder
from fimlsp.quotient.contexts.document import Document
from fimlsp.quotient.contexts.left import LeftContext
from fimlsp.quotient.states.grammar_state import GrammarState
from fimlsp.quotient.states.lexeme_state import family_of_lexeme, within_lexeme
from fimlsp.quotient.states.protocol import State


def connect(
    document: Document, cursor: int, left: LeftContext, lexer: LexerState, options: ConnectOptions
) -> State | None:
    """The first state of the middles between *left* and the text after *cursor*; None if there are none.

    *lexer* is the lexer state at the end of the left context. If *options* forbid escape but no other middle
    exists, escape is allowed after all.
    """
    if options.forbid_escape:
        left_side = _with_bracket(document, cursor, left, lexer)
        start = _connect(document, cursor, left_side, lexer, options, left_side.kept(document))
        if start is not None:
            return within_lexeme(start) or start
    options = replace(options, forbid_escape=False)
    return _connect(document, cursor, _LeftSide(left, lexer), lexer, options, None)


@value
class _LeftSide:
    """A left context, with the lexer state at its end.

    If the lexeme being read is a bracket that must not be left, the context already includes it, and
    `bracket` is its kind; otherwise `bracket` is None.
    """

    left: LeftContext
    lexer: LexerState
    bracket: int | None = None

    def kept(self, document: Document) -> KeptLexemes:
        """The strings and the lexeme that a middle must stay in."""
        opened = self.lexer.modes.opened
        strings = document.tables.language.strings_in(opened) if opened else ()
        begins_line = self.lexer.margin == Margin() and not self.lexer.modes.depth
        return KeptLexemes(strings, family_of_lexeme(self.lexer), begins_line=begins_line)


def _connect(
    document: Document,
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
    grammar = middle_grammar(left_side.left, right.grammar, n_kept, bracket)
    if grammar is None:
        return None
    connection = Connection(
        document.tables, grammar, right.right_entries, document.data, cursor, left_side.bracket
    )
    start = GrammarState(connection, lexer, grammar.start)
    return start if start.viable else None


def _with_bracket(document: Document, cursor: int, left: LeftContext, lexer: LexerState) -> _LeftSide:
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
    """How many open blocks a middle must not leave: those whose column the cursor has reached.

    At the very beginning of a line these are all blocks, since editors strip the white space of blank lines.
    """
    columns = left.indents.columns
    margin = lexer.margin
    if margin is None or margin.column == MARGIN:
        return len(columns)
    return sum(not column.deeper_than(margin.column) for column in columns)


def read_up_to(document: Document, cursor: int) -> tuple[LeftContext, LexerState] | None:
    """The left context at *cursor* and the lexer state there; None if no valid file begins with this text."""
    start, context = document.left_at(cursor)
    step = context.lexer().feed(document.data[start:cursor])
    if step is None:
        return None
    left = context.after(step.symbols)
    return None if left is None else (left, step.lexer)
