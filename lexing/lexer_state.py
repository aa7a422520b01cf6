"""An incremental lexer: its state can be saved at any byte and resumed in several ways.

Maximal munch is deterministic once all text is known, so the only open question in a `LexerState` is the lexeme
being read. It may still grow (the DFA's state says into what), or it has ended at its last acceptance and the
few bytes since belong to what follows. This is the branching lexer of Melcer et al. 2024 (arXiv 2402.17988,
section V) with its two threads folded into one value.
"""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.columns import MARGIN, BlockColumns, Column
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.modes import ModeStack

_BLANKS = frozenset(b" \t\f")
_BACKSLASH = ord("\\")

Symbol = int | Column
"""A kind of lexeme, `LexerTables.newline`, `LexerTables.dedent`, or the column of an INDENT or a line's start."""


class Margin(NamedTuple):
    """Where a line stands while nothing but white space and comments was read of it."""

    column: Column = MARGIN
    frozen: int = 0  # the column of a line joiner in the indentation, which then counts

    @property
    def counted(self) -> Column:
        """The column that the line has if a lexeme begins here."""
        return Column(self.frozen, self.frozen) if self.frozen else self.column

    def after(self, lead: bytes) -> Margin:
        """The margin after *lead*: white space, and line joiners (backslashes)."""
        column, frozen = self
        for byte in lead:
            if byte in _BLANKS:
                column = column.after(byte)
            elif byte == _BACKSLASH:
                frozen = frozen or column.tabs8
        return Margin(column, frozen)


class Step(NamedTuple):
    """A reading after some more bytes, with the symbols that ended meanwhile."""

    lexer: LexerState
    symbols: list[Symbol]


class LexerState(NamedTuple):
    """The state of reading.

    `state` is the DFA's state in the lexeme being read, `accepted` the kind of its longest finished part (-1
    if none), `leftover` the bytes after that part, `margin` is None once the line has a lexeme. `indents`
    is None when the left context is unknown: then every line's start is reported by its column. `word` is what
    was read of a word that is checked, with the byte before it; `counted` counts the bytes of a part of limited
    length; `equal_run` is the last byte that may not stand three times in a row, and how often it does.
    """

    lexical: LexerTables
    state: int
    modes: ModeStack
    indents: BlockColumns | None
    accepted: int = -1
    leftover: bytes = b""
    margin: Margin | None = None
    equal_run: tuple[int, int] = (0, 0)
    word: bytes = b""
    counted: int = 0

    @property
    def too_long(self) -> bool:
        """Whether a part of limited length is too long; the lexeme may still become another one."""
        return bool(self.counted) and self.counted > self.lexical.most_counted

    @property
    def at_lexeme_start(self) -> bool:
        """Whether no lexeme has begun."""
        return self.state == self.lexical.dfa.starts[self.modes.mode]

    @property
    def word_must_follow(self) -> bool:
        """Whether a word that is checked must come next, with the byte before it."""
        return (
            not self.word
            and self.lexical.dfa.rows[self.state][self.lexical.word_part.opening] in self.lexical.word_states
        )

    @property
    def idle(self) -> bytes:
        """The bytes that change nothing of all this, as in most of a name, a string or a comment.

        Empty where it takes more than a look to know.
        """
        if self.leftover or self.counted or self.modes.restricted:
            return b""
        if self.margin is not None and self.accepted != self.lexical.comment:
            return b""
        return self.lexical.loops[self.state]

    def feed(self, data: bytes) -> Step | None:
        """Read *data*; None when no continuation could be lexically valid. O(len(data))."""
        reader = _Lexer(self)
        for byte in data:
            if not reader.read(byte):
                return None
        return Step(reader.freeze(), reader.symbols)

    def finish(self) -> Step | None:
        """End the lexeme being read here, as if nothing that extends it followed."""
        reader = _Lexer(self)
        if not self.at_lexeme_start and not reader.end_lexeme():
            return None
        return Step(reader.freeze(), reader.symbols)

    def fall_back(self) -> Step | None:
        """End the lexeme being read at its last acceptance, and read what came after that again."""
        reader = _Lexer(self)
        return Step(reader.freeze(), reader.symbols) if reader.read_again() else None

    def close(self) -> Step | None:
        """End the text here: the lexeme being read, and those that begin with what it read too far."""
        step: Step | None = Step(self, [])
        while step is not None and not step.lexer.at_lexeme_start:
            following = step.lexer.fall_back()
            step = following and Step(following.lexer, step.symbols + following.symbols)
        return step

    def start_line(self, lead: bytes) -> Step | None:
        """Make the layout symbols of the line that begins here, if it is blank so far, after *lead*."""
        reader = _Lexer(self)
        if reader.margin is not None and not self.modes.depth:
            reader.margin = reader.margin.after(lead)
            if not reader.lay_out():
                return None
        return Step(reader.freeze(), reader.symbols)


class _Lexer:
    """A mutable reading: the inner loop."""

    __slots__ = (
        "accepted",
        "checked",
        "counted",
        "equal_run",
        "indents",
        "leftover",
        "lexical",
        "margin",
        "modes",
        "quiet",
        "rows",
        "start",
        "state",
        "symbols",
        "word",
    )

    def __init__(self, lexer: LexerState) -> None:
        self.lexical = lexer.lexical
        self.rows = lexer.lexical.dfa.rows
        self.state = lexer.state
        self.modes = lexer.modes
        self.start = self.lexical.dfa.starts[self.modes.mode]
        self.indents = lexer.indents
        self.accepted = lexer.accepted
        self.leftover = lexer.leftover
        self.margin = lexer.margin
        self.equal_run = lexer.equal_run
        self.word = lexer.word
        self.counted = lexer.counted
        self.checked = lexer.lexical.checked
        self.quiet = lexer.lexical.quiet
        self.symbols: list[Symbol] = []

    def freeze(self) -> LexerState:
        return LexerState(
            self.lexical,
            self.state,
            self.modes,
            self.indents,
            self.accepted,
            self.leftover,
            self.margin,
            self.equal_run,
            self.word,
            self.counted,
        )

    def read(self, byte: int) -> bool:
        following = self.rows[self.state][byte]
        if not following:
            return self.state != self.start and self._end_before(byte)
        if self.modes.restricted and not self._permits(byte):
            return False
        if self.margin is not None:
            if self.state == self.start and byte not in self.quiet:
                if not self.lay_out():
                    return False
            elif byte in _BLANKS and (self.state == self.start or self.accepted == self.lexical.space):
                self.widen(byte)
        kind = self.lexical.dfa.accepts[following]
        if following in self.checked:
            self._check(byte, following)
        elif self.word:
            if self.word[1:] not in self.lexical.words:
                return False
            self.word = b""
        elif self.counted and kind >= 0:
            self.counted = 0
        self.state = following
        if kind >= 0:
            self.accepted = kind
            self.leftover = b""
        elif self.accepted >= 0 and self.accepted != self.lexical.bad:
            self.leftover += bytes((byte,))
        return True

    def _check(self, byte: int, following: int) -> None:
        if following in self.lexical.word_states:
            self.word += bytes((byte,))
        elif byte not in self.lexical.counted_part.uncounted:
            self.counted += 1

    def _end_before(self, byte: int) -> bool:
        return self.read_again() and self.read(byte)

    def read_again(self) -> bool:
        """End the lexeme at its last acceptance, and read the bytes after that as what follows it."""
        leftover = self.leftover
        if not self.end_lexeme():
            return False
        if not leftover:
            return True
        run, self.equal_run = self.equal_run, (0, 0)
        possible = all(self.read(byte) for byte in leftover)
        self.equal_run = run
        return possible

    def _permits(self, byte: int) -> bool:
        if byte in self.modes.forbidden:
            return False
        if byte in self.modes.forbidden_thrice:
            last, count = self.equal_run
            self.equal_run = (byte, count + 1 if last == byte else 1)
            return self.equal_run[1] < 3
        self.equal_run = (0, 0)
        return True

    def end_lexeme(self) -> bool:
        """End the lexeme at its last acceptance; the bytes after it are dropped."""
        kind = self.accepted
        lexical = self.lexical
        counted = self.counted
        self.accepted = -1
        self.leftover = b""
        self.counted = 0
        if kind < 0 or kind == lexical.bad or counted > lexical.most_counted:
            return False
        if kind == lexical.line_end:
            self._end_line()
        elif kind == lexical.line_joiner:
            if self.margin is not None:
                self.margin = self.margin.after(b"\\")
        elif kind != lexical.space and kind != lexical.comment:
            if kind not in lexical.skipped:
                self.symbols.append(kind)
            if kind in lexical.mode_changers:
                return self._nest(kind)
        self.state = self.start
        return True

    def _nest(self, kind: int) -> bool:
        modes = self.modes.after(self.lexical.kinds[kind])
        if modes is None:
            return False
        if modes is not self.modes:
            self.modes = modes
            self.start = self.lexical.dfa.starts[modes.mode]
        self.state = self.start
        return True

    def _end_line(self) -> None:
        if self.modes.depth or not self.modes.in_code or not self.lexical.offside:
            return
        if self.margin is None:
            self.symbols.append(self.lexical.newline)
        self.margin = Margin()

    def widen(self, byte: int) -> None:
        """One more byte of indentation."""
        assert self.margin is not None
        self.margin = Margin(self.margin.column.after(byte), self.margin.frozen)

    def lay_out(self) -> bool:
        """The line's first lexeme begins: report its column, or the blocks it opens and closes."""
        assert self.margin is not None
        column = self.margin.counted
        self.margin = None
        if self.indents is None:
            self.symbols.append(column)
            return True
        entered = self.indents.enter(column, self.lexical.most_blocks)
        if entered is None:
            return False
        self.indents, change = entered
        self.symbols.extend([column] if change > 0 else [self.lexical.dedent] * -change)
        return True


def start_of_line(lexical: LexerTables, modes: ModeStack, indents: BlockColumns | None) -> LexerState:
    """The reading at the start of a line, inside *modes*."""
    margin = Margin() if lexical.offside and not modes.depth and modes.in_code else None
    return LexerState(lexical, lexical.dfa.starts[modes.mode], modes, indents, margin=margin)
