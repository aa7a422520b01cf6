"""The lexemes of scripts."""

from __future__ import annotations

import re
from typing import ClassVar

from fimlsp.languages.typed import lexicon as core
from fimlsp.languages.typed.lexicon import DIGITS as DIGITS
from fimlsp.languages.typed.lexicon import LETTERS as LETTERS
from fimlsp.languages.typed.lexicon import WHITESPACE as WHITESPACE
from fimlsp.languages.typed.lexicon import WORD as WORD
from fimlsp.languages.typed.lexicon import Lexicon
from fimlsp.languages.typed.lexicon import needs_space as needs_space

KEYWORDS = frozenset(
    (
        *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "global", "goto"),
        *("if", "in", "interface", "local", "mutable", "nil", "not", "object", "optional", "or"),
        *("repeat", "return", "then", "true", "until", "while"),
    )
)
SIGNS = frozenset(
    (
        *("{", "}", "(", ")", ";", ":", ",", ".", "..", "=", "==", "~=", "<", "<=", ">", ">="),
        *("+", "-", "*", "/", "%", "^", "->"),
    )
)
LONGEST_NAME = 50

LEXEME = re.compile(
    rb'"(?:[^"\\\x00-\x1f\x7f]|\\[nt"\\])*"'
    rb"|[A-Za-z][A-Za-z0-9_]*"
    rb"|[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_.])"
    rb"|[<>=~]=|->|\.\.|-(?!-)|[{}();:,.=<>+*/%^]"
)
"""A lexeme of a script, in bytes. A string that matches may still be invalid UTF-8."""

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\x01\d+\x02|[A-Za-z]\w*|\d+(?:\.\d+)?|[<>=~]=|->|\.\.|\S')

LEXICON = Lexicon(
    KEYWORDS, SIGNS, LEXEME, TOKEN, quote='"', escapes=frozenset(b'nt"\\'), longest_name=LONGEST_NAME
)
first_token, is_name = LEXICON.first_token, LEXICON.is_name


class ExpectedTokens(core.ExpectedTokens):
    """The tokens of a script that may come next."""

    __slots__ = ()

    lexicon: ClassVar[Lexicon] = LEXICON
