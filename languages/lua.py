"""Lua 5.4: its lexemes (reference manual, section 3.1), its grammar and its editor policy."""

from __future__ import annotations

import hashlib
import re
import string
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import pairwise

from fimlsp.languages.jumps import LUA_RULES
from fimlsp.languages.syntax_trees import TreePolicy
from fimlsp.lexing.automata.dfa import CompactDfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import (
    EMPTY,
    Regex,
    choice,
    code_points,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)
from fimlsp.lexing.lexical_spec import Delimiters, Family, LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

PUNCTUATION = (
    *("+", "-", "*", "/", "//", "%", "^", "#", "&", "~", "|", "<<", ">>", "==", "~=", "<=", ">=", "<", ">"),
    *("=", "(", ")", "{", "}", "[", "]", "::", ";", ":", ",", ".", "..", "..."),
)
KEYWORDS = (
    *("and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local"),
    *("nil", "not", "or", "repeat", "return", "then", "true", "until", "while"),
)
ATTRIBUTES = ("const", "close")
"""Names with a meaning in declarations."""

MOST_EQUAL_SIGNS = 20
"""The highest level of long brackets (`[=[` is level 1). Lua itself has no limit."""

_LAST = 0x10FFFF
_LINE_ENDS = "\r\n"
_LINE_END = choice("\r\n", "\n\r", "\n", "\r")
_SPACES = " \t\v\f"
_LETTERS = string.ascii_letters + "_"
_FAMILIES: dict[str, Family] = {
    "STRING": "string",
    "LONG_STRING": "string",
    "COMMENT": "comment",
    "LONG_COMMENT": "comment",
    "NL": "line end",
}


@cache
def lua_lexical_spec() -> LexicalSpec:
    """The lexemes of Lua."""
    return LexicalSpec(
        dfa=_compiled().expand(),
        start=ModeStack(),
        unknown=ModeStack(known=False),
        comment="COMMENT",
        comment_mark=b"--",
        unseen=frozenset({"LONG_COMMENT"}),
        families=_FAMILIES,
        delimiters=Delimiters(span=tuple(map(_closing, _LEVELS)), within=(b'"', b"'")),
        separators=b";",
    )


_LEVELS = range(MOST_EQUAL_SIGNS + 1)


def _closing(level: int) -> bytes:
    return b"]" + b"=" * level + b"]"


def _compiled() -> CompactDfa:
    rules = _rules()
    described = repr([(rule.kind, rule.pattern) for rule in rules])
    key = hashlib.sha256(described.encode()).hexdigest()
    return cached(key, lambda: compile_terminals(Terminals({CODE: rules})))


def _rules() -> tuple[Rule, ...]:
    words = (Rule(text, sequence(text)) for text in (*PUNCTUATION, *KEYWORDS, *ATTRIBUTES))
    return (
        *words,
        Rule("NAME", sequence(one_of(_LETTERS), many(one_of(_LETTERS + string.digits)))),
        Rule("NUMBER", _number()),
        Rule("BAD", _malformed_number()),
        Rule("BAD", sequence(maybe("--"), "[", many("="), "[")),  # a closed one is a longer lexeme
        Rule("STRING", choice(_quoted('"'), _quoted("'"))),
        Rule("LONG_STRING", choice(*map(_long_bracket, _LEVELS))),
        Rule("LONG_COMMENT", sequence("--", choice(*map(_long_bracket, _LEVELS)))),
        Rule("COMMENT", _comment()),
        Rule("SPACE", some(one_of(_SPACES))),
        Rule("NL", _LINE_END),
    )


def _any_but(excluded: str) -> Regex:
    """Any character except those in *excluded*. Unlike elsewhere, NUL is one."""
    bounds = [-1, *sorted(map(ord, excluded)), _LAST + 1]
    return code_points([(low + 1, high - 1) for low, high in pairwise(bounds) if low + 1 < high])


def _number() -> Regex:
    digits, hexdigits = one_of(string.digits), one_of(string.hexdigits)
    sign = maybe(one_of("+-"))
    return choice(
        sequence(_mantissa(digits), maybe(one_of("eE"), sign, some(digits))),
        sequence("0", one_of("xX"), _mantissa(hexdigits), maybe(one_of("pP"), sign, some(digits))),
    )


def _mantissa(digit: Regex) -> Regex:
    return choice(sequence(some(digit), maybe(".", many(digit))), sequence(".", some(digit)))


def _malformed_number() -> Regex:
    """The text that Lua reads as one numeral before it checks it (`read_numeral` in llex.c)."""
    part, sign, letter = one_of(string.hexdigits + "."), maybe(one_of("+-")), maybe(one_of(_LETTERS))
    digit = one_of(string.digits)
    decimal = many(choice(sequence(one_of("eE"), sign), part))
    hexadecimal = many(choice(sequence(one_of("pP"), sign), part))
    return choice(
        sequence(maybe("."), digit, decimal, letter),
        sequence("0", one_of("xX"), hexadecimal, letter),
    )


def _quoted(quote: str) -> Regex:
    """A string in *quote* marks.

    A decimal escape takes up to three digits, so no digit follows a shorter one.
    """
    digit, hexdigit = one_of(string.digits), one_of(string.hexdigits)
    hundreds = choice(
        sequence(one_of("01"), digit, digit),
        sequence("2", one_of("01234"), digit),
        sequence("25", one_of("012345")),
    )
    short = sequence("\\", digit, maybe(digit))
    few_hexdigits = [exactly(count, hexdigit) for count in range(1, 8)]
    code = choice(*few_hexdigits, sequence(one_of("01234567"), exactly(7, hexdigit)))
    escape = sequence(
        "\\",
        choice(
            one_of("abfnrtv\\\"'"),
            _LINE_END,
            sequence("x", hexdigit, hexdigit),
            sequence("z", many(one_of(_SPACES + _LINE_ENDS))),
            sequence("u{", many("0"), code, "}"),
            hundreds,
        ),
    )
    special = quote + "\\" + _LINE_ENDS
    plain, no_digit = _any_but(special), _any_but(special + string.digits)
    unit = choice(plain, escape, sequence(some(short), choice(no_digit, escape)))
    return sequence(quote, many(unit), many(short), quote)


def _long_bracket(level: int) -> Regex:
    """Long brackets with *level* equal signs, and any text between them except the closing bracket."""
    signs = "=" * level
    shorter = [sequence("]", "=" * count) for count in range(level)]
    wrong = choice(*shorter, sequence("]", signs, "=", many("=")))
    after = _any_but("]=")
    unit = choice(_any_but("]"), sequence(some(wrong), after), sequence(many(wrong), "]", signs, after))
    return sequence("[", signs, "[", many(unit), many(wrong), "]", signs, "]")


def _comment() -> Regex:
    """A comment that ends with its line: one that does not start with a long bracket."""
    rest = many(_any_but(_LINE_ENDS))
    starts = choice(
        EMPTY,
        sequence(_any_but("[" + _LINE_ENDS), rest),
        sequence("[", many("="), maybe(_any_but("[=" + _LINE_ENDS), rest)),
    )
    return sequence("--", starts)


_WORDS = (
    b"and break do else elseif end false for function goto if in local nil not or repeat return then true "
    b"until while"
)
_GLOBALS = (
    b"_ENV _G _VERSION assert collectgarbage coroutine debug dofile error getmetatable io ipairs load "
    b"loadfile math next os package pairs pcall print rawequal rawget rawlen rawset require select self "
    b"setmetatable string table tonumber tostring type utf8 warn xpcall"
)

LUA_POLICY = TreePolicy(
    grammar="lua",
    rules=LUA_RULES,
    file_ending=".lua",
    comment=Comment("--"),
    known_names=frozenset((_WORDS + b" " + _GLOBALS).split()),
    block_opener=re.compile(
        rb".*(?:[(\[{]|\b(?:then|do|else|repeat)|\bfunction\b(?:(?!\bfunction\b)[^()])*\([^()]*\))\s*\Z",
        re.DOTALL,
    ),
    block_closer=re.compile(rb"(?:end\b|[)\]},;\s])*\Z"),
    not_code=re.compile(
        rb"--\[(=*)\[.*?(?:\]\1\]|\Z)|--[^\n]*|\[(=*)\[.*?(?:\]\2\]|\Z)"
        rb"|\"(?:\\.|[^\"\\\n])*\"?|'(?:\\.|[^'\\\n])*'?",
        re.DOTALL,
    ),
    prose=re.compile(rb"\s*--"),
    access=re.compile(rb"[(\[]|\.(?![.\d])|:(?!:)"),
    repeatable=re.compile(rb"(?:else|do|repeat|then|break|return\b.*)\Z"),
)
"""Lua's policy: blocks stand between words as well."""


START = "chunk"

_LONGER_BRACKET = re.compile(rb"\[={%d,}" % (MOST_EQUAL_SIGNS + 1))


@dataclass(frozen=True)
class Lua(Language):
    """Lua 5.4 in UTF-8, as `load` reads it.

    Of the checks that `load` makes beyond the syntax, these are included:

    - `break` only in loops;
    - `...` only where a function has it;
    - only the attributes `const` and `close`, and one `close` in a declaration.

    Labels and jumps, assignments to constants, and the limits of a function are not checked.
    """

    name = "Lua"
    enclosures = {"(": ")", "{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class
    blocks = {  # noqa: RUF012 -- a constant of the class
        **dict.fromkeys(("function", "do", "else"), ("end",)),
        "then": ("end", "else", "elseif"),
    }

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return LUA_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return lua_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _lua_grammar()

    def terminal(self, kind: str) -> str:
        """As in `Language`."""
        return "STRING" if kind == "LONG_STRING" else kind

    def exceeded_limit(self, text: bytes) -> str | None:
        """As in `Language`: long brackets of a level beyond those of the automaton."""
        bracket = _LONGER_BRACKET.search(text)
        if bracket is None:
            return None
        line = text.count(b"\n", 0, bracket.start()) + 1
        return f"line {line}: a long bracket with more than {MOST_EQUAL_SIGNS} equal signs is not read"


@cache
def _lua_grammar() -> Grammar:
    text = files(__package__).joinpath("lua.lark").read_text("utf-8")
    grammar = read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)
    return replace(grammar, may_be_empty=True)


lua = Lua()
"""Lua."""
