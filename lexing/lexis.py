"""The lexical description of a language: its lexemes, their roles, and the layout of lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.checked_parts import CountedPart, WordPart
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value

Family = Literal["string", "comment", "line end"]
"""How an author sees a lexeme: as quoted text, as a remark, or as something that ends or joins lines."""


@value(eq=False)
class Offside:
    """The offside rule: the columns of lines open and close blocks (Landin 1966).

    A lexeme that begins with one of the bytes `blank` leaves a blank line blank. At most `most_blocks` blocks
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
class Lexis:
    """The lexemes of a language.

    Kinds are named as in `dfa.kinds`. Lexemes of the kinds `space`, `comment`, `line_end`, `line_joiner` and
    `unseen` never reach the grammar; one of kind `rejected` is never valid. `start` is the mode stack at the
    start of a file, `unknown` that of code whose left side has not been read; only the kinds `mode_changers`
    change it; those among them that are `marks` do so without opening or closing anything. `brackets` maps
    each opening bracket to its closing one; line ends inside brackets mean nothing. `too_deep(lexemes,
    open_at_end)` tells whether brackets nest too deeply somewhere in *lexemes*, given that *open_at_end* are
    open behind them; it is only asked if more than `most_brackets` could be open.

    `separators` are bytes that are lexemes of their own, such as commas. A line is cut behind them: an edit
    in a file without line ends is as cheap as in any other. Only languages without a layout have them.
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
