"""What the lexer is told of a language: its lexemes, what they are for, and how lines are laid out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Literal

from fimlsp.lexing.automata.dfa import Dfa
from fimlsp.lexing.checked_parts import CountedPart, WordPart
from fimlsp.lexing.modes import ModeStack
from fimlsp.lexing.values import value

Family = Literal["string", "comment", "line end"]
"""What a lexeme is to somebody who edits: text between quotes, a remark, or what ends or joins lines."""


@value(eq=False)
class Offside:
    """A layout in which the columns of lines open and close blocks (Landin 1966).

    `blank` are the bytes that may begin what leaves a line blank. At most `most_blocks` blocks may be open.
    """

    blank: frozenset[int]
    most_blocks: int


@value(eq=False)
class Delimiters:
    """The closing delimiters of lexemes such as strings: those that `span` lines, and those `within` a line.

    Behind the byte `escape` a closing delimiter does not close.
    """

    span: tuple[bytes, ...] = ()
    within: tuple[bytes, ...] = ()
    escape: bytes = b"\\"


def _never_too_deep(_lexemes: Sequence[str], _open_at_end: int) -> bool:
    return False


@value(eq=False)
class Lexis:
    """The lexemes of a language.

    Every kind of lexeme is named as in `dfa.kinds`. Those of kind `space`, `comment`, `line_end`, `line_joiner`
    and the `unseen` never reach the grammar, and no lexeme of kind `rejected` is ever valid. `start` is the
    stack of modes at the beginning of a file, `unknown` that of code of which the left has not been read; the
    kinds `mode_changers` change it. `brackets` maps brackets inside which line ends mean nothing to their
    closing ones; `too_deep(lexemes, open_at_end)` tells whether more of them are open somewhere in *lexemes*
    than may be, if so many are open at their end, and never before `most_brackets` are.
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
    brackets: Mapping[str, str] = field(default_factory=dict)
    most_brackets: int | None = None
    too_deep: Callable[[Sequence[str], int], bool] = _never_too_deep
    families: Mapping[str, Family] = field(default_factory=dict)
    comment_mark: bytes | None = None
    delimiters: Delimiters = field(default_factory=Delimiters)
    word_part: WordPart = field(default_factory=WordPart)
    counted_part: CountedPart = field(default_factory=CountedPart)
    offside: Offside | None = None
