"""Reading bytes as lexemes, so that it can stop anywhere and go on in many ways.

A `Reading` is what is known after some bytes: maximal munch is deterministic once all text is known, so the
only open question is the lexeme being read. It may still grow (the DFA's state says into what), or it has
ended at its last acceptance and the few bytes since belong to what follows. This is the branching lexer of
Melcer et al. 2024 (arXiv 2402.17988, section V) with its two threads folded into one value.
"""

from __future__ import annotations

from typing import NamedTuple

from fimlsp.lexing.character_names import CharacterNames
from fimlsp.lexing.indentation import MARGIN, Column, Indents
from fimlsp.lexing.lexeme_states import Loops, counting_states, naming_states
from fimlsp.lexing.nesting import Nesting, changes_nesting, field_rules, file_start, unknown_bottom
from fimlsp.lexing.python_terminals import python_dfa
from fimlsp.lexing.python_versions import DEFAULT_VERSION, PythonVersion
from fimlsp.lexing.witnesses import Witnesses

_BLANKS = frozenset(b" \t\f")
_BACKSLASH = ord("\\")
MOST_DIGITS = 4300
"""The most digits of a decimal integer, CPython's default limit for `int`."""

NEWLINE, DEDENT, BAD = "NEWLINE", "DEDENT", "BAD"

Symbol = int | Column
"""A lexeme kind, `Lexicon.newline`, `Lexicon.dedent`, or the column of an INDENT or of a line's start."""


class Lexicon:
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
        "names",
        "naming",
        "nesting",
        "newline",
        "quiet",
        "real",
        "rules",
        "skipped",
        "space",
        "spelt",
        "unknown",
        "witnesses",
    )

    def __init__(self, version: PythonVersion = DEFAULT_VERSION) -> None:
        dfa = self.dfa = python_dfa(version)
        self.rules = field_rules(version)
        self.known = file_start(self.rules)
        self.unknown = unknown_bottom(self.rules)
        self.names = CharacterNames(version)
        self.witnesses = Witnesses(dfa)
        self.kinds: tuple[str, ...] = (*dfa.kinds, NEWLINE, DEDENT)
        self.newline = len(dfa.kinds)
        self.dedent = self.newline + 1
        self.space, self.comment, self.line_end, self.continuation, self.bad = (
            dfa.kinds.index(kind) for kind in ("SPACE", "COMMENT", "NL", "CONTINUATION", BAD)
        )
        self.nesting = frozenset(i for i, kind in enumerate(dfa.kinds) if changes_nesting(kind))
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

    reading: Reading
    symbols: list[Symbol]


class Reading(NamedTuple):
    """The state of reading.

    `state` is the DFA's state in the lexeme being read, `accepted` the kind of its longest finished part (-1
    if none), `leftover` the bytes after that part, `margin` is None once the line has a lexeme. `indents`
    is None when the left context is unknown: then every line's start is reported by its column. `name` is
    what was read of a character's name, with the brace before it, `digits` counts those of a decimal integer.
    """

    lexicon: Lexicon
    state: int
    nesting: Nesting
    indents: Indents | None
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
        return self.state == self.lexicon.dfa.starts[self.nesting.mode]

    @property
    def name_must_follow(self) -> bool:
        r"""Whether `\N` was read, which the name of a character in braces must follow."""
        return not self.name and self.lexicon.dfa.rows[self.state][ord("{")] in self.lexicon.naming

    @property
    def idle(self) -> bytes:
        """The bytes that change nothing of all this, as in most of a name, a string or a comment.

        Empty where it takes more than a look to know.
        """
        if self.leftover or self.digits or self.nesting.restricted:
            return b""
        if self.margin is not None and self.accepted != self.lexicon.comment:
            return b""
        return self.lexicon.loops[self.state]

    def feed(self, data: bytes) -> Step | None:
        """Read *data*; None when no continuation could be lexically valid. O(len(data))."""
        reader = _Reader(self)
        for byte in data:
            if not reader.read(byte):
                return None
        return Step(reader.freeze(), reader.symbols)

    def finish(self) -> Step | None:
        """End the lexeme being read here, as if nothing that extends it followed."""
        reader = _Reader(self)
        if not self.at_lexeme_start and not reader.end_lexeme():
            return None
        return Step(reader.freeze(), reader.symbols)

    def fall_back(self) -> Step | None:
        """End the lexeme being read at its last acceptance, and read what came after that again."""
        reader = _Reader(self)
        return Step(reader.freeze(), reader.symbols) if reader.read_again() else None

    def close(self) -> Step | None:
        """End the text here: the lexeme being read, and those that begin with what it read too far."""
        step: Step | None = Step(self, [])
        while step is not None and not step.reading.at_lexeme_start:
            following = step.reading.fall_back()
            step = following and Step(following.reading, step.symbols + following.symbols)
        return step

    def start_line(self, lead: bytes) -> Step | None:
        """Make the layout symbols of the line that begins here, if it is blank so far, after *lead*."""
        reader = _Reader(self)
        if reader.margin is not None and not self.nesting.depth:
            reader.margin = reader.margin.after(lead)
            if not reader.lay_out():
                return None
        return Step(reader.freeze(), reader.symbols)


class _Reader:
    """A mutable reading: the inner loop."""

    __slots__ = (
        "accepted",
        "digits",
        "indents",
        "leftover",
        "lexicon",
        "margin",
        "name",
        "nesting",
        "quiet",
        "quote_run",
        "rows",
        "spelt",
        "start",
        "state",
        "symbols",
    )

    def __init__(self, reading: Reading) -> None:
        self.lexicon = reading.lexicon
        self.rows = reading.lexicon.dfa.rows
        self.state = reading.state
        self.nesting = reading.nesting
        self.start = self.lexicon.dfa.starts[self.nesting.mode]
        self.indents = reading.indents
        self.accepted = reading.accepted
        self.leftover = reading.leftover
        self.margin = reading.margin
        self.quote_run = reading.quote_run
        self.name = reading.name
        self.digits = reading.digits
        self.spelt = reading.lexicon.spelt
        self.quiet = reading.lexicon.quiet
        self.symbols: list[Symbol] = []

    def freeze(self) -> Reading:
        return Reading(
            self.lexicon,
            self.state,
            self.nesting,
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
        if self.nesting.restricted and not self._permits(byte):
            return False
        if self.margin is not None:
            if self.state == self.start and byte not in self.quiet:
                if not self.lay_out():
                    return False
            elif byte in _BLANKS and (self.state == self.start or self.accepted == self.lexicon.space):
                self.widen(byte)
        kind = self.lexicon.dfa.accepts[following]
        if following in self.spelt:
            self._spell(byte, following)
        elif self.name:
            if self.name[1:] not in self.lexicon.names:
                return False
            self.name = b""
        elif self.digits and kind >= 0:
            self.digits = 0
        self.state = following
        if kind >= 0:
            self.accepted = kind
            self.leftover = b""
        elif self.accepted >= 0 and self.accepted != self.lexicon.bad:
            self.leftover += bytes((byte,))
        return True

    def _spell(self, byte: int, following: int) -> None:
        if following in self.lexicon.naming:
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
        if byte in self.nesting.forbidden:
            return False
        if byte in self.nesting.triple_quotes:
            quote, run = self.quote_run
            self.quote_run = (byte, run + 1 if quote == byte else 1)
            return self.quote_run[1] < 3
        self.quote_run = (0, 0)
        return True

    def end_lexeme(self) -> bool:
        """End the lexeme at its last acceptance; the bytes after it are dropped."""
        kind = self.accepted
        lexicon = self.lexicon
        digits = self.digits
        self.accepted = -1
        self.leftover = b""
        self.digits = 0
        if kind < 0 or kind == lexicon.bad or digits > MOST_DIGITS:
            return False
        if kind == lexicon.line_end:
            self._end_line()
        elif kind == lexicon.continuation:
            if self.margin is not None:
                self.margin = self.margin.after(b"\\")
        elif kind != lexicon.space and kind != lexicon.comment:
            if kind not in lexicon.skipped:
                self.symbols.append(kind)
            if kind in lexicon.nesting:
                return self._nest(kind)
        self.state = self.start
        return True

    def _nest(self, kind: int) -> bool:
        nesting = self.nesting.after(self.lexicon.kinds[kind])
        if nesting is None:
            return False
        if nesting is not self.nesting:
            self.nesting = nesting
            self.start = self.lexicon.dfa.starts[nesting.mode]
        self.state = self.start
        return True

    def _end_line(self) -> None:
        if self.nesting.depth or self.nesting.mode != "code":
            return
        if self.margin is None:
            self.symbols.append(self.lexicon.newline)
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
        self.symbols.extend([column] if change > 0 else [self.lexicon.dedent] * -change)
        return True


def start_of_line(lexicon: Lexicon, nesting: Nesting, indents: Indents | None) -> Reading:
    """The reading at the start of a line, inside *nesting*."""
    margin = None if nesting.depth or nesting.mode != "code" else Margin()
    return Reading(lexicon, lexicon.dfa.starts[nesting.mode], nesting, indents, margin=margin)
