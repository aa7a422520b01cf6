"""The lexemes of scripts: words and signs for the incremental parser, an automaton for the engine."""

from __future__ import annotations

import hashlib
import re
import string
from functools import cache
from typing import ClassVar

from fimlsp.languages.typed import lexicon as core
from fimlsp.languages.typed.lexicon import DIGITS as DIGITS
from fimlsp.languages.typed.lexicon import LETTERS as LETTERS
from fimlsp.languages.typed.lexicon import WHITESPACE as WHITESPACE
from fimlsp.languages.typed.lexicon import WORD as WORD
from fimlsp.languages.typed.lexicon import Lexicon
from fimlsp.languages.typed.lexicon import needs_space as needs_space
from fimlsp.lexing.automata.dfa import CompactDfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import (
    Regex,
    character_but,
    choice,
    many,
    maybe,
    one_of,
    sequence,
    some,
)
from fimlsp.lexing.lexical_spec import Delimiters, Family, LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack

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


_FAMILIES: dict[str, Family] = {"STRING": "string", "NL": "line end"}
_WORD = string.ascii_letters + string.digits + "_"
_CONTROLS = "".join(map(chr, range(0x20))) + "\x7f"

NUMBER: Regex = sequence(some(one_of(string.digits)), maybe(".", some(one_of(string.digits))))
STRING: Regex = sequence(
    '"', many(choice(character_but('"\\' + _CONTROLS), sequence("\\", one_of('nt"\\')))), '"'
)


@cache
def slua_lexical_spec() -> LexicalSpec:
    """The lexemes of sLua."""
    return LexicalSpec(
        dfa=_compiled().expand(),
        start=ModeStack(),
        unknown=ModeStack(known=False),
        families=_FAMILIES,
        delimiters=Delimiters(within=(b'"',)),
        separators=b";",
    )


def _compiled() -> CompactDfa:
    rules = _rules()
    described = repr([(rule.kind, rule.pattern) for rule in rules])
    key = hashlib.sha256(described.encode()).hexdigest()
    return cached(key, lambda: compile_terminals(Terminals({CODE: rules})))


def _rules() -> tuple[Rule, ...]:
    words = (Rule(text, sequence(text)) for text in sorted(SIGNS | KEYWORDS))
    digits = some(one_of(string.digits))
    return (
        *words,
        Rule("NAME", sequence(one_of(string.ascii_letters), many(one_of(_WORD)))),
        Rule("NUMBER", NUMBER),
        Rule("BAD", sequence(digits, many(".", digits), one_of(_WORD + "."))),
        Rule("BAD", sequence("--")),
        Rule("STRING", STRING),
        Rule("SPACE", some(one_of(" \t"))),
        Rule("NL", choice("\r\n", "\n", "\r")),
    )
