"""The lexical specification of a language: its lexemes, their roles, and the layout of lines.

Two kinds of parts of lexemes are not left to the DFA: words that must belong to a large set, and parts of
limited length. A DFA could check both in theory, but with far too many states. So the lexer keeps the word or
a counter beside the state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal, Protocol

from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.nesting import ModeStack
from fimlsp.lexing.values import value

NO_KIND = -2
"""The kind number for a kind that the language lacks.

It differs from -1, which means that nothing is accepted.
"""


class Words(Protocol):
    """A set of words."""

    def __contains__(self, word: bytes) -> bool:
        """True if *word* is one of them."""

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """A text that completes *beginning* to a short word that ends with *ending*; None if none does."""


class NoWords:
    """The empty set of words."""

    def __contains__(self, word: bytes) -> bool:
        return False

    def between(self, beginning: bytes, ending: bytes) -> bytes | None:
        """None."""
        del beginning, ending
        return None


@value(eq=False)
class WordPart:
    """A part of a lexeme that must be one of `words`, between the bytes `opening` and `closing`.

    `states` are the DFA states inside the word, that is after `opening`.
    """

    states: frozenset[int] = frozenset()
    words: Words = NoWords()
    opening: int = 0
    closing: int = 0


def _never(_text: bytes, _more: int = 0) -> bool:
    return False


@value(eq=False)
class CountedPart:
    """A part of a lexeme of kind `kind` that may have at most `most` bytes, not counting those `uncounted`.

    `states` are the DFA states inside the part. `too_long(text, more)` is True if the part is too long when
    it consists of *more* counted bytes followed by *text*. `way_out` are bytes that turn the lexeme into one
    of another kind, whose length is not limited.
    """

    states: frozenset[int] = frozenset()
    kind: str = ""
    most: int = 0
    uncounted: frozenset[int] = frozenset()
    too_long: Callable[[bytes, int], bool] = _never
    way_out: bytes = b""


Family = Literal["string", "comment", "line end"]
"""The role of a lexeme for an author: quoted text, a comment, or a lexeme that ends or joins lines."""


@value(eq=False)
class Offside:
    """The offside rule: the columns of lines open and close blocks (Landin 1966).

    A lexeme that starts with one of the bytes `blank` leaves a blank line blank. At most `most_blocks` blocks
    may be open.
    """

    blank: frozenset[int]
    most_blocks: int


@value(eq=False)
class Delimiters:
    """The closing delimiters of lexemes such as strings.

    Lexemes that end with a delimiter in `span` may contain line ends, those that end with one in `within` may
    not. A delimiter directly after the byte `escape` does not close.
    """

    span: tuple[bytes, ...] = ()
    within: tuple[bytes, ...] = ()
    escape: bytes = b"\\"


def _never_too_deep(_lexemes: Sequence[str], _open_at_end: int) -> bool:
    return False


@value(eq=False)
class LexicalSpec:
    """The lexemes of a language. Kinds are named as in `dfa.kinds`.

    Lexemes of the kinds `space`, `comment`, `line_end`, `line_joiner` and `unseen` never reach the grammar.

    Attributes:
        start: the mode stack at the start of a file.
        unknown: the mode stack of code whose left side has not been read.
        rejected: the kind of lexemes that are never valid.
        mode_changers: the only kinds that change the mode stack.
        marks: those of `mode_changers` that open or close nothing.
        brackets: maps each opening bracket to its closing one. Line ends inside brackets mean nothing.
        too_deep: given lexemes and the number of brackets open after them, True if brackets nest too deeply
            somewhere. It is only called if more than `most_brackets` could be open.
        comment_mark: the text that starts a comment to the end of the line.
        separators: bytes that are lexemes of their own, such as commas. A line is cut after them, so an edit
            in a file without line ends is as cheap as in any other. Only languages without a layout have
            them.
        line_starts: the modes that a line may start in, each with an unknown bottom, if there are several.
            The first is `unknown`. A line is then read from each of them (see `line.py`).
        contextual: True if no place in a text is known to be read alike in every context. The text after a
            cursor is then read in all modes, and the grammar decides.
    """

    dfa: Dfa
    start: ModeStack
    unknown: ModeStack
    space: str = "SPACE"
    line_end: str = "NL"
    comment: str | None = None
    line_joiner: str | None = None
    unseen: frozenset[str] = frozenset()
    rejected: str = "BAD"
    mode_changers: frozenset[str] = frozenset()
    marks: frozenset[str] = frozenset()
    brackets: Mapping[str, str] = field(default_factory=dict)
    most_brackets: int | None = None
    too_deep: Callable[[Sequence[str], int], bool] = _never_too_deep
    families: Mapping[str, Family] = field(default_factory=dict)
    comment_mark: bytes | None = None
    delimiters: Delimiters = field(default_factory=Delimiters)
    word_part: WordPart = field(default_factory=WordPart)
    counted_part: CountedPart = field(default_factory=CountedPart)
    separators: bytes = b""
    offside: Offside | None = None
    line_starts: tuple[ModeStack, ...] = ()
    contextual: bool = False
