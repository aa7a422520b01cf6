"""The lexemes of Go (its specification, section "Lexical elements"), as `go/scanner` reads them."""

from __future__ import annotations

import hashlib
from functools import cache

from fimlsp.languages.go.identifiers import identifier
from fimlsp.languages.go.literals import malformed_number, number, quoted, raw_string, rune
from fimlsp.lexing.automata.dfa import CompactDfa, compile_terminals
from fimlsp.lexing.automata.nfa import Rule, Terminals
from fimlsp.lexing.automata.regex import Regex, character_but, choice, many, one_of, sequence, some
from fimlsp.lexing.automata.table_cache import cached
from fimlsp.lexing.lexis import Delimiters, Family, Lexis
from fimlsp.lexing.modes import CODE
from fimlsp.lexing.terminators import MAY_END, TerminatorModes

PUNCTUATION = (
    *(
        "+",
        "-",
        "*",
        "/",
        "%",
        "&",
        "|",
        "^",
        "<<",
        ">>",
        "&^",
        "+=",
        "-=",
        "*=",
        "/=",
        "%=",
        "&=",
        "|=",
        "^=",
    ),
    *(
        "<<=",
        ">>=",
        "&^=",
        "&&",
        "||",
        "<-",
        "++",
        "--",
        "==",
        "<",
        ">",
        "=",
        "!",
        "~",
        "!=",
        "<=",
        ">=",
        ":=",
    ),
    *("...", "(", ")", "[", "]", "{", "}", ",", ";", ".", ":"),
)
KEYWORDS = (
    *("break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func"),
    *("go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct"),
    *("switch", "type", "var"),
)
LINE_END, COMMENT_OVER_LINES = "LINE_END", "COMMENT_OVER_LINES"
"""The kinds of a line end, and of a comment with one in it, where they end a statement."""

_ENDERS = (
    *("NAME", "NUMBER", "RUNE", "STRING", "RAW_STRING"),
    *("break", "continue", "fallthrough", "return", "++", "--", ")", "]", "}"),
)
_UNSEEN = "GENERAL_COMMENT"
_FAMILIES: dict[str, Family] = {
    "STRING": "string",
    "RAW_STRING": "string",
    "RUNE": "string",
    "COMMENT": "comment",
    _UNSEEN: "comment",
    COMMENT_OVER_LINES: "comment",
    "NL": "line end",
    LINE_END: "line end",
}


@cache
def go_lexis() -> Lexis:
    """The lexemes of Go, with its layout."""
    kinds = frozenset(
        (*_words(), "NAME", "NUMBER", "RUNE", "STRING", "RAW_STRING", LINE_END, COMMENT_OVER_LINES)
    )
    return Lexis(
        dfa=_compiled().expand(),
        start=TerminatorModes(LINE_END, _ENDERS),
        unknown=TerminatorModes(LINE_END, _ENDERS, known=False),
        comment="COMMENT",
        comment_mark=b"//",
        unseen=frozenset({_UNSEEN}),
        mode_changers=kinds,
        marks=kinds,
        families=_FAMILIES,
        delimiters=Delimiters(span=(b"`", b"*/"), within=(b'"', b"'")),
        separators=b"\n;",
    )


def _compiled() -> CompactDfa:
    modes = {CODE: _rules("NL", _UNSEEN), MAY_END: _rules(LINE_END, COMMENT_OVER_LINES)}
    described = repr([(mode, rule.kind, rule.pattern) for mode in modes for rule in modes[mode]])
    key = hashlib.sha256(described.encode()).hexdigest()
    return cached(key, lambda: compile_terminals(Terminals(modes)))


def _words() -> tuple[str, ...]:
    return (*PUNCTUATION, *KEYWORDS)


def _rules(line_end: str, comment_over_lines: str) -> tuple[Rule, ...]:
    """The lexemes, where line ends and comments with one in them are of these kinds."""
    return (
        *(Rule(text, sequence(text)) for text in _words()),
        Rule("NAME", identifier()),
        Rule("NUMBER", number()),
        Rule("BAD", malformed_number()),
        Rule("RUNE", rune()),
        Rule("STRING", quoted()),
        Rule("RAW_STRING", raw_string()),
        Rule("COMMENT", sequence("//", many(character_but("\n\ufeff")))),
        Rule(_UNSEEN, _general_comment("*\n\ufeff", "*/\n\ufeff")),
        Rule(comment_over_lines, _general_comment("*\ufeff", "*/\ufeff")),
        Rule("BAD", sequence("/*")),  # unless it ends, which makes it longer
        Rule("SPACE", some(one_of(" \t\r"))),
        Rule(line_end, sequence("\n")),
    )


def _general_comment(but: str, but_behind_star: str) -> Regex:
    """A comment between `/*` and `*/` without certain characters, some of them only directly behind stars."""
    stars = some("*")
    unit = choice(character_but(but), sequence(stars, character_but(but_behind_star)))
    return sequence("/*", many(unit), stars, "/")
