"""Reading bytes as lexemes, so that it can stop anywhere and go on in many ways.

A `LexerState` is what is known after some bytes: maximal munch is deterministic once all text is known, so the
only open question is the lexeme being read. It may still grow (the DFA's state says into what), or it has
ended at its last acceptance and the few bytes since belong to what follows. This is the branching lexer of
Melcer et al. 2024 (arXiv 2402.17988, section V) with its two threads folded into one value.
"""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.languages.python.character_names import CharacterNames
from fimlsp.languages.python.terminals import python_dfa
from fimlsp.languages.python.versions import DEFAULT_VERSION, PythonVersion
from fimlsp.lexing.automata.shortest_words import ShortestWords
from fimlsp.lexing.checked_parts import Loops, counting_states, naming_states
from fimlsp.lexing.columns import MARGIN, BlockColumns, Column
from fimlsp.lexing.modes import ModeStack, changes_nesting, field_rules, file_start, unknown_bottom

_BLANKS = frozenset(b" \t\f")
_BACKSLASH = ord("\\")
MOST_DIGITS = 4300
"""The most digits of a decimal integer, CPython's default limit for `int`."""

NEWLINE, DEDENT, BAD = "NEWLINE", "DEDENT", "BAD"

Symbol = int | Column
"""A lexeme kind, `LexerTables.newline`, `LexerTables.dedent`, or the column of an INDENT or of a line's start."""


class LexerTables:
    """The lexeme kinds of a version of Python, and what the reader does with them.

    `known` is the nesting at the start of a file, `unknown` that of code of which the left has not been
    read. `quiet` bytes may begin what leaves a line blank. `skipped` kinds never reach the grammar, `blank`
    ones may stand wherever they are read. In the states `naming` the DFA reads the name of a character, in
    `counting` the digits of a decimal integer, `spelt` are both. `loops[state]` are the bytes that leave a
    state as it is and count for nothing else.
    """

    __slots__ = (
        "always_viable",
        "bad",
        "blank",
        "comment",
        "continuation",
        "counting",
        "dedent",
        "dfa",
        "ends_line",
        "kinds",
        "known",
        "line_end",
        "loops",
        "modes",
        "names",
        "naming",
        "newline",
        "quiet",
        "real",
        "rules",
        "shortest_words",
        "skipped",
        "space",
        "spelt",
        "unknown",
    )

    def __init__(self, version: PythonVersion = DEFAULT_VERSION) -> None:
        dfa = self.dfa = python_dfa(version)
        self.rules = field_rules(version)
        self.known = file_start(self.rules)
        self.unknown = unknown_bottom(self.rules)
        self.names = CharacterNames(version)
        self.shortest_words = ShortestWords(dfa)
        self.kinds: tuple[str, ...] = (*dfa.kinds, NEWLINE, DEDENT)
        self.newline = len(dfa.kinds)
        self.dedent = self.newline + 1
        self.space, self.comment, self.line_end, self.continuation, self.bad = (
            dfa.kinds.index(kind) for kind in ("SPACE", "COMMENT", "NL", "CONTINUATION", BAD)
        )
        self.modes = frozenset(i for i, kind in enumerate(dfa.kinds) if changes_nesting(kind))
        spec_line_ends = [i for i, kind in enumerate(dfa.kinds) if kind == "SPEC_NL"]
        skipped = (self.space, self.comment, self.line_end, self.continuation)
        self.skipped = frozenset((*skipped, *spec_line_ends))
        # In 3.8 a backslash in the indentation is already the beginning of the line.
        self.quiet = frozenset(b" \t\f#\r\n" if version == (3, 8) else b" \t\f#\\\r\n")
        self.real = dfa.kinds.index("REAL")
        self.naming = naming_states(dfa)
        self.counting = counting_states(dfa)
        self.spelt = self.naming | self.counting
        self.loops = Loops(dfa, self.spelt)
        self.blank = (self.space, self.continuation, *spec_line_ends)
        self.always_viable = sum(1 << kind for kind in self.blank)
        self.ends_line = 1 << self.comment | 1 << self.line_end

    def kinds_in(self, bits: int) -> list[int]:
        """The kinds in a bit set."""
        return [kind for kind in range(bits.bit_length()) if bits >> kind & 1]


class Margin(NamedTuple):
    """Where a line stands while nothing but white space and comments was read of it."""

    column: Column = MARGIN
    frozen: int = 0  # the column of a backslash in the indentation, which then counts

    @property
    def counted(self) -> Column:
        """The column that the line has if a lexeme begins here."""
        return Column(self.frozen, self.frozen) if self.frozen else self.column

    def after(self, lead: bytes) -> Margin:
        """The margin after *lead*: white space, and backslashes that join the line to the next one."""
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
    is None when the left context is unknown: then every line's start is reported by its column. `name` is
    what was read of a character's name, with the brace before it, `digits` counts those of a decimal integer.
    """

    lexical: LexerTables
    state: int
    modes: ModeStack
    indents: BlockColumns | None
    accepted: int = -1
    leftover: bytes = b""
    margin: Margin | None = None
    quote_run: tuple[int, int] = (0, 0)
    name: bytes = b""
    digits: int = 0

    @property
    def too_long(self) -> bool:
        """Whether a decimal integer has more digits than CPython reads; it may still become a float."""
        return self.digits > MOST_DIGITS

    @property
    def at_lexeme_start(self) -> bool:
        """Whether no lexeme has begun."""
        return self.state == self.lexical.dfa.starts[self.modes.mode]

    @property
    def name_must_follow(self) -> bool:
        r"""Whether `\N` was read, which the name of a character in braces must follow."""
        return not self.name and self.lexical.dfa.rows[self.state][ord("{")] in self.lexical.naming

    @property
    def idle(self) -> bytes:
        """The bytes that change nothing of all this, as in most of a name, a string or a comment.

        Empty where it takes more than a look to know.
        """
        if self.leftover or self.digits or self.modes.restricted:
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
        "digits",
        "indents",
        "leftover",
        "lexical",
        "margin",
        "modes",
        "name",
        "quiet",
        "quote_run",
        "rows",
        "spelt",
        "start",
        "state",
        "symbols",
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
        self.quote_run = lexer.quote_run
        self.name = lexer.name
        self.digits = lexer.digits
        self.spelt = lexer.lexical.spelt
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
            self.quote_run,
            self.name,
            self.digits,
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
        if following in self.spelt:
            self._spell(byte, following)
        elif self.name:
            if self.name[1:] not in self.lexical.names:
                return False
            self.name = b""
        elif self.digits and kind >= 0:
            self.digits = 0
        self.state = following
        if kind >= 0:
            self.accepted = kind
            self.leftover = b""
        elif self.accepted >= 0 and self.accepted != self.lexical.bad:
            self.leftover += bytes((byte,))
        return True

    def _spell(self, byte: int, following: int) -> None:
        if following in self.lexical.naming:
            self.name += bytes((byte,))
        elif byte != ord("_"):
            self.digits += 1

    def _end_before(self, byte: int) -> bool:
        return self.read_again() and self.read(byte)

    def read_again(self) -> bool:
        """End the lexeme at its last acceptance, and read the bytes after that as what follows it."""
        leftover = self.leftover
        if not self.end_lexeme():
            return False
        if not leftover:
            return True
        counted, self.quote_run = self.quote_run, (0, 0)
        possible = all(self.read(byte) for byte in leftover)
        self.quote_run = counted
        return possible

    def _permits(self, byte: int) -> bool:
        if byte in self.modes.forbidden:
            return False
        if byte in self.modes.triple_quotes:
            quote, run = self.quote_run
            self.quote_run = (byte, run + 1 if quote == byte else 1)
            return self.quote_run[1] < 3
        self.quote_run = (0, 0)
        return True

    def end_lexeme(self) -> bool:
        """End the lexeme at its last acceptance; the bytes after it are dropped."""
        kind = self.accepted
        lexical = self.lexical
        digits = self.digits
        self.accepted = -1
        self.leftover = b""
        self.digits = 0
        if kind < 0 or kind == lexical.bad or digits > MOST_DIGITS:
            return False
        if kind == lexical.line_end:
            self._end_line()
        elif kind == lexical.continuation:
            if self.margin is not None:
                self.margin = self.margin.after(b"\\")
        elif kind != lexical.space and kind != lexical.comment:
            if kind not in lexical.skipped:
                self.symbols.append(kind)
            if kind in lexical.modes:
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
        if self.modes.depth or self.modes.mode != "code":
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
        entered = self.indents.enter(column)
        if entered is None:
            return False
        self.indents, change = entered
        self.symbols.extend([column] if change > 0 else [self.lexical.dedent] * -change)
        return True


def start_of_line(lexical: LexerTables, modes: ModeStack, indents: BlockColumns | None) -> LexerState:
    """The reading at the start of a line, inside *modes*."""
    margin = None if modes.depth or modes.mode != "code" else Margin()
    return LexerState(lexical, lexical.dfa.starts[modes.mode], modes, indents, margin=margin)
