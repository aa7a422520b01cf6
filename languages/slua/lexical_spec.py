"""The lexemes of scripts, for the engine."""

from __future__ import annotations

import hashlib
import string
from functools import cache

from fimlsp.languages.slua.incremental.tokens import KEYWORDS, SIGNS
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
