"""Go as the engine is given it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fimlsp.languages.go.editor_policy import GO_POLICY
from fimlsp.languages.go.lexis import COMMENT_OVER_LINES, LINE_END, go_lexis
from fimlsp.lexing.lexis import Lexis
from fimlsp.lexing.terminators import TerminatorModes
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language, OpenModes, TextAfterCursor
from fimlsp.quotient.language.editor_policy import EditorPolicy
from fimlsp.quotient.language.terminators import LineMayEnd

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

    What that parser leaves to the compiler is accepted: types, labels, names that nothing binds. Line
    directives with an impossible line number are accepted too, though it refuses them.
    """

    name = "Go"
    enclosures = {"(": ")", "{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class
    byte_order_mark = True

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return GO_POLICY

    def lexis(self) -> Lexis:
        """As in `Language`."""
        return go_lexis()

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
        return LineMayEnd(text, modes)


@cache
def _go_grammar() -> Grammar:
    text = files(__package__).joinpath("grammar.lark").read_text("utf-8")
    return read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)


go = Go()
"""Go."""
