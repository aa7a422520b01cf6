"""What the engine has to be told of a language.

A language is lexemes (`Lexis`), a grammar over them, and answers to a few questions that neither can say. Most
languages need none of the latter: they inherit the answers of `Language`. How to write one is told in
`docs/adding-a-language.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence

from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexis import Lexis
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value
from fimlsp.quotient.grammar.cfg import Grammar

NEWLINE, INDENT, DEDENT = "NEWLINE", "INDENT", "DEDENT"
"""The terminals that an offside layout makes; a grammar with that layout has all three."""


@value(eq=False)
class TextAfterCursor:
    """The text right of a cursor, `data[cursor:]`.

    `kept` are the strings that a middle has to stay in, outermost first; None if it may leave them.
    `is_rest_of_line(position)` tells whether the text from *position* on may be the rest of a line of code.
    `may_follow(kinds)` tells whether each two neighbours of *kinds* may stand beside each other.
    """

    lexical: LexerTables
    data: bytes
    cursor: int
    kept: tuple[str, ...] | None
    is_rest_of_line: Callable[[int], bool]
    may_follow: Callable[[Sequence[int]], bool]


@value
class StringTail:
    """One way to read the text after a cursor up to ordinary code.

    `kinds` are its lexemes, `end` is where code begins, `opened` what it closes (as `ModeStack.opened`).
    """

    kinds: tuple[int, ...]
    end: int
    opened: tuple[str, ...]


class OpenModes:
    """What may be open at a cursor, as far as the text after it tells. Here: nothing but ordinary code."""

    def places(self) -> Iterable[ModeStack]:
        """The stacks of modes, beside that of ordinary code, that a middle may end in."""
        return ()

    def tails(self, place: ModeStack, kind: int | None, position: int) -> Iterable[StringTail]:
        """The ways to read on from *position*, after a lexeme of *kind* begun inside *place*, if any."""
        del place, kind
        return (StringTail((), position, ()),)


class Language(ABC):
    """A language, as a value: equal languages are one, and cost nothing until an engine is made for them.

    `name` is how users call it. `enclosures` maps the terminals that open something to those that close it: a
    middle that has to stay does not leave one only to enter another. With `byte_order_mark` a file may begin
    with U+FEFF, which counts for nothing.
    """

    name: str
    enclosures: Mapping[str, str]
    byte_order_mark: bool = False

    @abstractmethod
    def lexis(self) -> Lexis:
        """The lexemes, and the layout."""

    @abstractmethod
    def grammar(self) -> Grammar:
        """The grammar; its sentences are the terminals of a whole file.

        With an offside layout it has the terminals NEWLINE, INDENT and DEDENT. Its start symbol is a
        repetition, of what a file is a sequence of, and every suite is written `INDENT repetition DEDENT`.
        """

    def terminal(self, kind: str) -> str:
        """The grammar's name for lexemes of *kind*."""
        return kind

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """What may be open at a cursor."""
        del text
        return OpenModes()

    def strings_in(self, opened: Sequence[str]) -> tuple[str, ...]:
        """The strings among what is *opened* (as `ModeStack.opened`), outermost first."""
        del opened
        return ()

    def kinds_of_opening(self, terminals: Sequence[str], opened: Sequence[str]) -> dict[int, str]:
        """By place in *terminals*, the kind of each that opens a string which none of them closes.

        The strings that are open behind *terminals* are those in *opened*.
        """
        del terminals, opened
        return {}
