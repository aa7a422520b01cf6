"""An incremental lexer: its state can be saved at any byte and resumed in several ways.

Maximal munch is deterministic once all text is known. So a `LexerState` leaves only one question open: the
end of the lexeme being read. Either the lexeme still grows, in the DFA's state. Or it ended where the DFA
last accepted, and the few bytes since belong to the next lexeme. This is the branching lexer of Melcer et al.
2024 (arXiv 2402.17988, section V), with both branches in one value.
"""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.lexer_tables import NOT_ASCII, LexerTables
from fimlsp.lexing.nesting import MARGIN, BlockColumns, Column, ModeStack

_BLANKS = frozenset(b" \t\f")
_BACKSLASH = ord("\\")

Symbol = int | Column
"""A lexeme kind, `LexerTables.newline` or `.dedent`, or the column of an INDENT or of a line."""


class Margin(NamedTuple):
    """The indentation read so far of a line that has no lexeme yet."""

    column: Column = MARGIN
    frozen: int = 0  # the column of the first line joiner in the indentation, which then decides; 0 if none

    @property
    def counted(self) -> Column:
        """The column of the line if its first lexeme starts here."""
        return Column(self.frozen, self.frozen) if self.frozen else self.column

    def after(self, lead: bytes) -> Margin:
        """The margin after *lead*, which is white space and line joiners (backslashes)."""
        column, frozen = self
        for byte in lead:
            if byte in _BLANKS:
                column = column.after(byte)
            elif byte == _BACKSLASH:
                frozen = frozen or column.tabs8
        return Margin(column, frozen)


class Step(NamedTuple):
    """The lexer state after some more bytes, and the symbols completed on the way."""

    lexer: LexerState
    symbols: list[Symbol]


class LexerState(NamedTuple):
    """The state of the lexer between two bytes.

    Attributes:
        state: the DFA's state inside the lexeme being read.
        modes: the stack of open modes.
        indents: the columns of the open blocks. None if the left context is unknown; then each line reports
            its column instead of INDENT and DEDENT.
        accepted: the kind of the longest prefix of that lexeme that is a lexeme itself; -1 if none is.
        leftover: the bytes after that prefix.
        margin: the indentation of the line; None once the line has a lexeme.
        equal_run: the last byte that must not occur three times in a row, and its count so far.
        word: the part of a checked word read so far, with its opening byte.
        counted: the number of bytes read of a part of limited length.
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
        """True if a part of limited length is too long; only a lexeme of another kind is still possible."""
        return bool(self.counted) and self.counted > self.lexical.most_counted

    @property
    def depth(self) -> int:
        """The number of blocks open in the file's own one; 0 if the left context is unknown."""
        return 0 if self.indents is None else len(self.indents.columns) - 1

    @property
    def at_lexeme_start(self) -> bool:
        """True if no lexeme is being read."""
        return self.state == self.lexical.dfa.starts[self.modes.mode]

    @property
    def word_must_follow(self) -> bool:
        """True if only a checked word can come next, starting with its opening byte."""
        return (
            not self.word
            and self.lexical.dfa.rows[self.state][self.lexical.word_part.opening] in self.lexical.word_states
        )

    @property
    def possible_kinds(self) -> int:
        """The bit set of kinds that the lexeme being read may become, without those that nest too deeply."""
        lexical, modes, accepted = self.lexical, self.modes, self.accepted
        live = lexical.dfa.live[self.state]
        if accepted not in lexical.mode_changers or self.leftover:
            return live
        if modes.after(lexical.kinds[accepted]) is not None:
            return live
        kinds = lexical.mode_changers.intersection(lexical.kinds_in(live))
        return live & ~sum(1 << kind for kind in kinds if modes.after(lexical.kinds[kind]) is None)

    @property
    def idle(self) -> bytes:
        """Bytes that do not change this state, for instance letters within a name, a string or a comment.

        Empty where finding them would take more than a look-up.
        """
        if self.leftover or self.counted or self.modes.restricted:
            return b""
        if self.margin is not None and self.accepted != self.lexical.comment:
            return b""
        return self.lexical.loops[self.state]

    def feed(self, data: bytes) -> Step | None:
        """Read *data*; None if no continuation of it is lexically valid. O(len(data))."""
        reader = _Lexer(self)
        for byte in data:
            if not reader.read(byte):
                return None
        return Step(reader.freeze(), reader.symbols)

    def finish(self) -> Step | None:
        """End the lexeme being read here, as if the next byte could not extend it."""
        reader = _Lexer(self)
        if not self.at_lexeme_start and not reader.end_lexeme():
            return None
        return Step(reader.freeze(), reader.symbols)

    @property
    def may_fall_back(self) -> bool:
        """True if the lexeme being read may have ended earlier, so that the bytes since begin another one.

        In a language whose white space is ASCII, that is impossible if they do not start with ASCII. To the
        lexer all other characters are alike: a lexeme that can contain the first byte of one can contain the
        whole character.
        """
        leftover, lexical = self.leftover, self.lexical
        return bool(leftover) and (
            leftover[0] < NOT_ASCII or lexical.has_wide_space or lexical.separation is not None
        )

    def fall_back(self) -> Step | None:
        """End the lexeme being read where the DFA last accepted, and read the bytes since then again."""
        reader = _Lexer(self)
        return Step(reader.freeze(), reader.symbols) if reader.read_again() else None

    def close(self) -> Step | None:
        """End the text here: falls back until all bytes belong to complete lexemes."""
        step: Step | None = Step(self, [])
        while step is not None and not step.lexer.at_lexeme_start:
            following = step.lexer.fall_back()
            step = following and Step(following.lexer, step.symbols + following.symbols)
        return step

    def start_line(self, lead: bytes) -> Step | None:
        """Emit the layout symbols of the line that is blank so far, whose first lexeme follows *lead*."""
        reader = _Lexer(self)
        if reader.margin is not None and not self.modes.depth:
            reader.margin = reader.margin.after(lead)
            if not reader.lay_out():
                return None
        return Step(reader.freeze(), reader.symbols)


class _Lexer:
    """The mutable lexer that implements `LexerState`: its inner loop, one byte at a time."""

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
        while not following:
            if self.state == self.start or not self.read_again():
                return False
            following = self.rows[self.state][byte]
        if self.modes.restricted and not self._permits(byte):
            return False
        if self.margin is not None and (self.state == self.start or self.accepted == self.lexical.space):
            if byte in self.quiet:
                if byte in _BLANKS:
                    self.widen(byte)
            elif not self.lay_out():
                return False
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

    def read_again(self) -> bool:
        """End the lexeme where the DFA last accepted, and read the bytes since then as the next ones."""
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
        """End the lexeme where the DFA last accepted; the bytes since then are dropped."""
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
                return self._change_modes(kind)
        self.state = self.start
        return True

    def _change_modes(self, kind: int) -> bool:
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
        """Add one byte of white space to the indentation."""
        assert self.margin is not None
        self.margin = Margin(self.margin.column.after(byte), self.margin.frozen)

    def lay_out(self) -> bool:
        """Emit the layout symbols before a line's first lexeme: INDENT, DEDENTs, or just its column."""
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
    """The lexer state at the start of a line, inside *modes*."""
    margin = Margin() if lexical.offside and not modes.depth and modes.in_code else None
    return LexerState(lexical, lexical.dfa.starts[modes.mode], modes, indents, margin=margin)
