"""The interface of a language: what the engine has to know about it.

A language consists of lexemes (`Lexis`), a grammar over them, and answers to a few questions that neither of
the two covers. Most languages inherit these answers from `Language`. `docs/adding-a-language.md` explains how
to write one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexis import Lexis
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.language.editor_policy import EditorPolicy
from fimlsp.quotient.language.whole_text import WholeTextCheck

NEWLINE, INDENT, DEDENT = "NEWLINE", "INDENT", "DEDENT"
"""The terminals that an offside layout produces.

The grammar of a language with that layout uses all three.
"""


@value(eq=False)
class TextAfterCursor:
    """The text to the right of a cursor, `data[cursor:]`.

    `kept` are the strings that a middle must stay inside, outermost first; None if it may leave them.
    `is_rest_of_line(position)` tells whether the text from *position* on may be the rest of a line of code.
    `may_follow(kinds)` tells whether neighbours in *kinds* may occur next to each other in a sentence.
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

    `kinds` are the lexemes read, `end` is the offset where code begins, and `opened` is what the lexemes
    close (in the order of `ModeStack.opened`).
    """

    kinds: tuple[int, ...]
    end: int
    opened: tuple[str, ...]


class OpenModes:
    """Which mode stacks a cursor may be in, judging by the text after it. Here: only ordinary code."""

    def places(self) -> Iterable[ModeStack]:
        """The mode stacks that a middle may end in, apart from that of ordinary code."""
        return ()

    def tails(self, place: ModeStack, kind: int | None, position: int) -> Iterable[StringTail]:
        """The ways to read on from *position*, after a lexeme of *kind* (if any) begun inside *place*."""
        del place, kind
        return (StringTail((), position, ()),)


class Language(ABC):
    """A language, as a value: equal languages share their tables, which are made for the first engine.

    `name` is what users call it. `enclosures` maps each terminal that opens something, such as a bracket, to
    the terminal that closes it; a middle that must not escape never leaves one to enter another. With
    `byte_order_mark` a file may begin with U+FEFF, which is ignored.
    """

    name: str
    enclosures: Mapping[str, str]
    blocks: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    byte_order_mark: bool = False

    @property
    def editor(self) -> EditorPolicy:
        """What an editor has to know beside lexemes and grammar."""
        return EditorPolicy()

    @abstractmethod
    def lexis(self) -> Lexis:
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
        """What else decides whether a text is valid; None if the grammar alone does."""
        return None

    def not_read(self, text: bytes) -> str | None:
        """What in *text* is beyond a limit of the lexemes or the grammar, in words; None if nothing is.

        Where there is something, a text that is refused may be valid all the same.
        """
        del text
        return None

    def finer(self, beginning: bytes) -> Language:
        """A language of the same lexemes whose grammar leaves out more of what the check refuses.

        It is for files with this *beginning*. It is slower, so it is asked only where it matters; where it
        never does it is the language itself.
        """
        del beginning
        return self

    def needs_finer_behind(self, text: bytes) -> bool:
        """Whether `finer` may tell more about what follows *text*, the beginning of a statement. Quick."""
        del text
        return False

    def needs_finer_before(self, text: bytes) -> bool:
        """Whether `finer` may tell more about what precedes *text*, the rest of a file. Quick."""
        del text
        return False

    def another_word(self, kind: str, number: int) -> bytes | None:
        """A lexeme of *kind* that no text is likely to hold, another for each *number*; None if none is."""
        del kind, number
        return None

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """Which mode stacks the cursor before *text* may be in."""
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
