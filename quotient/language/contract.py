"""The interface of a language for the engine.

A language consists of lexemes (`LexicalSpec`), a grammar over them, and answers to a few questions that
neither of the two covers. Most languages inherit these answers from `Language`.
`docs/adding-a-language.md` explains how to write one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from fimlsp.lexing.interruption import checkpoint
from fimlsp.lexing.lexer_state import LexerState
from fimlsp.lexing.lexer_tables import LexerTables, longest_match
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.editor_policy import EditorPolicy

Span = tuple[int, int]

_DEEPEST = 50


class Fault(NamedTuple):
    """A reason to refuse a text although the grammar accepts it.

    Attributes:
        message: the reason in words.
        spans: the parts of the text that together are at fault, as offsets of bytes. A text with the same
            lexemes there has the fault too, unless the text up to `repaired_until` repairs it.
        local: True if that holds anywhere in the file after `since`; otherwise it depends on the text before.
        since: the offset up to which the text before the parts decides about a local fault.
        starts_line: True if a fault that is not local holds wherever a line starts with the parts.
        repaired_until: the offset up to which later text may repair the fault; 0 if it cannot.
        repaired_from: the offset from which on it may.
        repaired_by: a line that repairs the fault if it follows in a block around the fault.
        repaired_before: lines that repair the fault if they come before it. Its block is then in theirs.
        rather: two words; a completion of a text with the fault may need the second in place of the first.
        goes_on: a text that repairs the fault at `repaired_until`, or directly after its end if that is 0.
        together: True if text between the parts cannot separate them, such as the header of a block.
    """

    message: str
    spans: tuple[Span, ...]
    local: bool = True
    repaired_until: int = 0
    repaired_by: bytes = b""
    rather: tuple[bytes, bytes] | None = None
    goes_on: bytes = b""
    together: bool = False
    repaired_from: int = 0
    repaired_before: bytes = b""
    since: int = 0
    starts_line: bool = False

    def is_repaired_at(self, offset: int) -> bool:
        """True if text at *offset* may repair the fault."""
        return self.repaired_from <= offset <= self.repaired_until

    def moved(self, by: int) -> Fault:
        """The same fault in a text that has *by* more bytes before it."""
        spans = tuple([(start + by, end + by) for start, end in self.spans])
        repaired_until = self.repaired_until and self.repaired_until + by
        repaired_from = self.repaired_from and self.repaired_from + by
        since = self.since and self.since + by
        return self._replace(
            spans=spans, repaired_until=repaired_until, repaired_from=repaired_from, since=since
        )


class Verdict(Enum):
    """An early verdict on an unfinished middle, before a completion is known.

    `WRONG` means that every completion has a fault that the middle causes. `FINE` means that no fault lies in
    the text up to the end of the middle. After `UNKNOWN` the whole text has to be read.
    """

    WRONG = "wrong"
    FINE = "fine"
    UNKNOWN = "unknown"


class WholeTextCheck(ABC):
    """A check of whole texts that the grammar accepts. Its caches never change an answer.

    `halves` are lexemes that start others, each with the bytes that may continue it; their faults may be
    known before they end. After the words `spelt_after` in a statement only some names are valid, so a name
    may be wrong before it ends. A check of `structure` also holds in a broken text, read as a valid one.
    """

    structure: bool = False
    halves: Mapping[bytes, bytes] = MappingProxyType({})
    spelt_after: tuple[bytes, ...] = ()

    @abstractmethod
    def faults(self, data: bytes) -> Sequence[Fault]:
        """The reasons to refuse *data*; none if it is accepted, or is not a sentence of the grammar."""

    def mended(self, before: bytes, completion: bytes, after: bytes) -> bytes:
        """The *completion* of *before* with better words, where the check would refuse those before *after*.

        It has the same lexemes. Without an idea, it is the same text.
        """
        del before, after
        return completion

    def may_be_in_string(self, right: bytes, at: int) -> bool:
        """True if a middle may open a string over several lines that hides `right[at]`, after a cursor."""
        del at
        return b"'''" in right or b'"""' in right

    def may_be_quoted(self, line: bytes) -> bool:
        """True if a later *line* may be in another string that a middle opens."""
        return b"'" in line or b'"' in line

    def is_within(self, lexer: LexerState) -> bool:
        """True if *lexer* is within a lexeme that starts with one of `spelt_after`. Quick."""
        del lexer
        return False

    def verdict(self, left: bytes, middle: bytes, lexer: LexerState, fresh: bytes) -> Verdict:
        """The verdict on *middle* and the bytes *fresh* after it, as far as the text before them gives it.

        The lexer is in the state *lexer* after *left* and *middle*. The grammar allows the *fresh* bytes
        there. Quick, since a mask needs one for each token.
        """
        del left, middle, lexer, fresh
        return Verdict.UNKNOWN

    @abstractmethod
    def spelt(self, statement: bytes) -> Iterator[bytes]:
        """Continuations of the unfinished *statement* if it ends in such a name, or before one."""

    @abstractmethod
    def suspects(self, statement: bytes, fresh: int, around: tuple[bytes, bytes]) -> bool:
        """True if the last *fresh* bytes may have given the unfinished *statement* a fault. Quick.

        *around* are the texts before the middle and after it.
        """

    @abstractmethod
    def keeps_faultless(self, statement: bytes, fresh: int, right: bytes) -> bool:
        """True if the last *fresh* bytes of *statement*, in brackets, give no fault to a text that has none.

        The grammar accepts the text with and without them before *right*. Quick; False if that is not known.
        """


NEWLINE, INDENT, DEDENT = "NEWLINE", "INDENT", "DEDENT"
"""The terminals that an offside layout produces.

The grammar of a language with that layout uses all three.
"""


@value(eq=False)
class TextAfterCursor:
    """The text to the right of a cursor, `data[cursor:]`.

    `kept` are the strings that a middle must stay inside, outermost first; None if it may leave them.
    `is_rest_of_line(position)` is True if the text from *position* on may be the rest of a line of code.
    `may_follow(kinds)` is True if all neighbours in *kinds* may be adjacent in a sentence.
    """

    lexical: LexerTables
    data: bytes
    cursor: int
    kept: tuple[str, ...] | None
    is_rest_of_line: Callable[[int], bool]
    may_follow: Callable[[Sequence[int]], bool]


@value
class StringTail:
    """One way to read the text after a cursor from inside strings, up to ordinary code.

    `kinds` are the lexemes read, `end` is the offset where code starts, and `opened` are the modes that the
    lexemes close (in the order of `ModeStack.opened`). With several line starts, the text at `end` is read
    from that of the number `line_start`.
    """

    kinds: tuple[int, ...]
    end: int
    opened: tuple[str, ...]
    line_start: int = 0


class OpenModes:
    """The possible mode stacks at a cursor, judging by the text after it. Here: only ordinary code."""

    def places(self) -> Iterable[ModeStack]:
        """The mode stacks that a middle may end in, apart from that of ordinary code."""
        return ()

    def tails(self, place: ModeStack, kind: int | None, position: int) -> Iterable[StringTail]:
        """The ways to read on from *position*, after a lexeme of *kind* (if any) begun inside *place*."""
        del place, kind
        return (StringTail((), position, ()),)


@value
class Elements:
    """Enclosures that start with a tag of several terminals and end with another, as in JSX.

    A tag starts with one of the terminals `starts`. One with content ends with `opens`, another one with
    `empty`. `closes` are the terminals of a closing tag. `closing` gives its text by that of the first
    terminal of the opening one. `end_texts` are the texts of `opens` and `empty`. The terminal `text` is that
    of a text as the value of an attribute, after `equal`.
    """

    starts: frozenset[str]
    opens: str
    empty: str
    closes: tuple[str, ...]
    closing: Callable[[bytes], bytes]
    end_texts: tuple[bytes, bytes]
    equal: str
    text: str


class Language(ABC):
    """A language, as a value: equal languages share their tables, which are made for the first engine.

    `name` is its name for users. `enclosures` maps each opening terminal, such as a bracket, to the terminal
    that closes it. A middle that must not escape never leaves one to enter another. With `byte_order_mark` a
    file may start with U+FEFF, which is ignored.
    """

    name: str
    enclosures: Mapping[str, str]
    blocks: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    byte_order_mark: bool = False

    @property
    def elements(self) -> Elements | None:
        """The enclosures with tags, if there are any."""
        return None

    @property
    def header_ends(self) -> tuple[tuple[str, ...], ...]:
        """Terminals with which headers end before their blocks, the likelier first.

        They may be missing where a line is cut off.
        """
        return ()

    @property
    def closers(self) -> Mapping[str, tuple[str, ...]]:
        """The terminals that close each terminal which opens an enclosure or a block."""
        return {**{opener: (closer,) for opener, closer in self.enclosures.items()}, **self.blocks}

    @property
    def closing(self) -> frozenset[str]:
        """The terminals that close an enclosure or a block."""
        return frozenset(chain(*self.closers.values()))

    @property
    def editor(self) -> EditorPolicy:
        """The knowledge of an editor beside lexemes and grammar."""
        return EditorPolicy()

    @abstractmethod
    def lexical_spec(self) -> LexicalSpec:
        """The lexical description: lexemes and layout."""

    @abstractmethod
    def grammar(self) -> Grammar:
        """The grammar. Its sentences are the sequences of terminals of whole files.

        With an offside layout it uses the terminals NEWLINE, INDENT and DEDENT, its start symbol derives a
        repetition, and every suite has the form `INDENT repetition DEDENT`.
        """

    def terminal(self, kind: str) -> str:
        """The name of the grammar's terminal for lexemes of *kind*."""
        return kind

    def whole_text_check(self) -> WholeTextCheck | None:
        """A further check of valid texts; None if the grammar alone decides."""
        return None

    def exceeded_limit(self, text: bytes) -> str | None:
        """The limit of the lexemes or the grammar that *text* exceeds, in words; None if it exceeds none.

        A text that exceeds a limit may be valid even if it is refused.
        """
        del text
        return None

    def refused_place(self, text: bytes, cursor: int) -> str | None:
        """The place that keeps every text at *cursor* from making *text* valid, in words for a user.

        None if neither side of the cursor is to blame alone, or if the language names no places. It reads
        both sides, the right one several times.
        """
        del text, cursor
        return None

    def finer(self, beginning: bytes) -> Language:
        """A language of the same lexemes whose grammar excludes more of the texts that the check refuses.

        It is for files with this *beginning*. It is slower, so it is used only where it matters. Without such
        a language, this is the language itself.
        """
        del beginning
        return self

    def needs_finer_after(self, text: bytes, since: int = 0) -> bool:
        """True if `finer` may refuse more after *text*, the beginning of a statement. Quick.

        It does so through words or signs that end after the offset *since*.
        """
        del text, since
        return False

    def needs_finer_before(self, text: bytes) -> bool:
        """True if `finer` may refuse more before *text*, the rest of a file. Quick."""
        del text
        return False

    def another_word(self, kind: str, number: int) -> bytes | None:
        """A lexeme of *kind* that few texts contain, another for each *number*; None if none is known."""
        del kind, number
        return None

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """The mode stacks that the cursor before *text* may be in."""
        del text
        return OpenModes()

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """The strings in *opened* (a value of `ModeStack.opened`), outermost first."""
        del opened
        return ()

    def kinds_of_opening(self, terminals: Sequence[str], opened: Sequence[str]) -> dict[int, str]:
        """The exact kinds of terminals that open a string which stays open, by index in *terminals*.

        The strings that are still open after *terminals* are those in *opened*.
        """
        del terminals, opened
        return {}


class ReadToCode(OpenModes):
    """Reads the text after a cursor in each of *places* up to a line start, from where lines are read alike.

    These are all modes that the lexer may be in at the cursor, apart from that of ordinary code. With several
    line starts, the text is read up to any of them, mostly within the line. A lexeme that closes code below
    an unknown bottom may leave several stacks (`ModeStack.beyond`).
    """

    def __init__(self, text: TextAfterCursor, places: Sequence[ModeStack]) -> None:
        self._text = text
        self._places = places
        self._read: dict[tuple[ModeStack, int, bool], list[StringTail]] = {}
        self._depth = 0

    def places(self) -> Iterable[ModeStack]:
        """As in `OpenModes`."""
        return self._places

    def tails(self, place: ModeStack, kind: int | None, position: int) -> Iterable[StringTail]:
        """As in `OpenModes`."""
        opened = place.opened
        return [
            StringTail(tail.kinds, tail.end, (*opened, *closed, *tail.opened), tail.line_start)
            for closed, modes in ([((), place)] if kind is None else self._after(place, kind))
            for tail in self._from(modes, position, is_first=True)
        ]

    def _after(self, modes: ModeStack, kind: int) -> Iterable[tuple[tuple[str, ...], ModeStack]]:
        """The stacks after a lexeme of *kind*, each with the modes that it closes below an unknown bottom."""
        lexical = self._text.lexical
        if kind not in lexical.mode_changers:
            return [((), modes)]
        following = modes.after(lexical.kinds[kind])
        return modes.beyond(lexical.kinds[kind]) if following is None else [((), following)]

    def _from(self, modes: ModeStack, position: int, *, is_first: bool) -> list[StringTail]:
        """The ways to read on from *position*; *is_first* before the first lexeme there. Cached."""
        if (line_start := modes.starts_line) is not None:
            return [StringTail((), position, (), line_start)]
        key = modes, position, is_first
        if key not in self._read:
            self._read[key] = []  # in case the recursion gets too deep
            if self._depth < _DEEPEST:
                self._depth += 1
                self._read[key] = list(self._tails_from(modes, position, is_first=is_first))
                self._depth -= 1
        return self._read[key]

    def _tails_from(self, modes: ModeStack, position: int, *, is_first: bool) -> Iterator[StringTail]:
        """As `_from`. Recursive after the first lexeme, as places share the rest, and where stacks part."""
        lexical, data = self._text.lexical, self._text.data
        kinds: list[int] = []
        while (line_start := modes.starts_line) is None:
            checkpoint()
            if position == len(data):
                if not modes.in_code:
                    return
                line_start = 0
                break
            lexeme = longest_match(lexical, lexical.dfa.starts[modes.mode], data, position)
            if lexeme is None or lexeme[0] == lexical.bad:
                return
            kind, position = lexeme
            if kind not in lexical.skipped:
                kinds.append(kind)
                if not self._text.may_follow(kinds[-2:]):
                    return
            stacks = [*self._after(modes, kind)]
            if len(stacks) != 1 or (is_first and kinds):
                yield from self._continued(kinds, stacks, position)
                return
            modes = stacks[0][1]
        yield StringTail(tuple(kinds), position, (), line_start)

    def _continued(
        self, kinds: list[int], stacks: Iterable[tuple[tuple[str, ...], ModeStack]], position: int
    ) -> Iterator[StringTail]:
        for closed, modes in stacks:
            for tail in self._from(modes, position, is_first=False):
                if self._text.may_follow((*kinds[-1:], *tail.kinds[:1])):
                    both = (*kinds, *tail.kinds)
                    yield StringTail(both, tail.end, (*closed, *tail.opened), tail.line_start)
