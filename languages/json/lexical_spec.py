"""The lexemes of JSON (RFC 8259, sections 2, 6 and 7)."""

from __future__ import annotations

import string
from functools import cache

from fimlsp.lexing.automata.dfa import Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import (
    Regex,
    character_but,
    choice,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)
from fimlsp.lexing.lexical_spec import Delimiters, Family, LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack

PUNCTUATION = ("{", "}", "[", "]", ",", ":")
LITERALS = ("true", "false", "null")
_FAMILIES: dict[str, Family] = {"STRING": "string", "NL": "line end"}
_CONTROLS = "".join(map(chr, range(0x20)))


@cache
def json_lexical_spec() -> LexicalSpec:
    """The lexemes of JSON."""
    return LexicalSpec(
        dfa=compile_terminals(Terminals({CODE: _rules()})).expand(),
        start=ModeStack(),
        unknown=ModeStack(known=False),
        families=_FAMILIES,
        delimiters=Delimiters(within=(b'"',)),
        separators=b",",
    )


def _rules() -> tuple[Rule, ...]:
    words = (Rule(text, sequence(text)) for text in (*PUNCTUATION, *LITERALS))
    return (
        *words,
        Rule("STRING", _string()),
        Rule("NUMBER", _number()),
        Rule("SPACE", some(one_of(" \t"))),
        Rule("NL", choice("\r\n", "\n", "\r")),
    )


def _string() -> Regex:
    escape = choice(one_of('"\\/bfnrt'), sequence("u", exactly(4, one_of(string.hexdigits))))
    return sequence('"', many(choice(character_but('"\\' + _CONTROLS), sequence("\\", escape))), '"')


def _number() -> Regex:
    digit = one_of(string.digits)
    integer = choice("0", sequence(one_of("123456789"), many(digit)))
    exponent = sequence(one_of("eE"), maybe(one_of("+-")), some(digit))
    return sequence(maybe("-"), integer, maybe(".", some(digit)), maybe(exponent))
