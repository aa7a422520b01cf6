"""The value that describes Go to the engine, and its editor policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fimlsp.languages.go.lexical_spec import COMMENT_OVER_LINES, LINE_END, go_lexical_spec
from fimlsp.languages.suggested_lines import LinesPolicy
from fimlsp.lexing.lexical_spec import LexicalSpec
from fimlsp.lexing.nesting import TerminatorModes
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language, OpenModes, ReadToCode, TextAfterCursor
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

_WORDS = (
    b"break case chan const continue default defer else fallthrough for func go goto if import interface "
    b"map package range return select struct switch type var"
)
_PREDECLARED = (
    b"any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false "
    b"float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real "
    b"recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
)

GO_POLICY = LinesPolicy(
    file_ending=".go",
    comment=Comment("//"),
    known_names=frozenset((_WORDS + b" " + _PREDECLARED).split()),
    block_opener=re.compile(rb".*[(\[{]\s*\Z|\s*(?:case\b.*|default\s*):\s*\Z", re.DOTALL),
    not_code=re.compile(
        rb"//[^\n]*|/\*.*?(?:\*/|\Z)|`[^`]*`?|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?", re.DOTALL
    ),
    prose=re.compile(rb"\s*/[/*]"),
    repeatable=re.compile(
        rb"(?:if err\b.*|\} else \{|for \{|default:|break|continue|fallthrough|return\b.*)\Z"
    ),
)
"""Go's policy."""


START = "file"
_TERMINALS = {
    "NUMBER": "LITERAL",
    "RUNE": "LITERAL",
    "RAW_STRING": "STRING",
    LINE_END: ";",
    COMMENT_OVER_LINES: ";",
}


@dataclass(frozen=True)
class Go(Language):
    """Go 1.22 and later, as `go/parser` of Go 1.27 reads it without resolving names.

    Errors that this parser leaves to the compiler are accepted: in types, in labels, and in names that
    nothing binds. So are line directives with an impossible line number, which it refuses.
    """

    name = "Go"
    enclosures = {"(": ")", "{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class
    byte_order_mark = True

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return GO_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return go_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _go_grammar()

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return _TERMINALS.get(kind, kind)

    def open_modes(self, text: TextAfterCursor) -> OpenModes:
        """As in `Language`."""
        modes = text.lexical.unknown
        assert isinstance(modes, TerminatorModes)
        return ReadToCode(text, (modes.may_end,))


@cache
def _go_grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)


go = Go()
"""Go."""
