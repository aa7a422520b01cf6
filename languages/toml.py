"""TOML 1.0: its lexemes, its grammar and its editor policy.

A bare key may look like a number or a date, as `1.5` or `1979-05-27` do. Such text is of a kind of its own,
so the lexer need not know where keys stand. Keys that start like numbers keep their dots, as in `1.5b`.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

from fimlsp.languages.toml_definitions import DefinedOnce
from fimlsp.lexing.automata.dfa import Rule, Terminals, compile_terminals
from fimlsp.lexing.automata.regex import (
    Regex,
    any_case,
    character_but,
    choice,
    exactly,
    many,
    maybe,
    one_of,
    sequence,
    some,
)
from fimlsp.lexing.lexer_tables import LexerTables
from fimlsp.lexing.lexical_spec import Delimiters, Family, LexicalSpec
from fimlsp.lexing.nesting import CODE, ModeStack
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language, WholeTextCheck
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

PUNCTUATION = ("[", "]", "{", "}", ",", "=", ".")
_FAMILIES: dict[str, Family] = {
    "STRING": "string",
    "LONG_STRING": "string",
    "COMMENT": "comment",
    "EOL": "line end",
}
_CONTROLS = "".join(map(chr, (*range(0x09), *range(0x0A, 0x20), 0x7F)))
_DIGIT, _FROM_ONE, _HEX = one_of(string.digits), one_of("123456789"), one_of(string.hexdigits)
_LINE_END = choice("\r\n", "\n")
_SPACE = some(one_of(" \t"))


@cache
def toml_lexical_spec() -> LexicalSpec:
    """The lexemes of TOML."""
    return LexicalSpec(
        dfa=compile_terminals(Terminals({CODE: _rules()})).expand(),
        start=ModeStack(),
        unknown=ModeStack(known=False),
        families=_FAMILIES,
        comment_mark=b"#",
        delimiters=Delimiters(span=(b'"""', b"'''"), within=(b'"', b"'")),
        separators=b"\n,",
    )


def _rules() -> tuple[Rule, ...]:
    bare = one_of(string.ascii_letters + string.digits + "_-")
    like_number = sequence(one_of(string.digits + "-"), many(bare), some(".", some(bare)))
    return (
        *(Rule(text, sequence(text)) for text in PUNCTUATION),
        Rule(
            "KEY_OR_VALUE", choice(_number("-", "-"), _based_number(), _name("-"), "true", "false", _date())
        ),
        Rule("VALUE", choice(_number("+-", "+-"), _name("+"), _time(), _date_and_time())),
        Rule("KEY", choice(some(bare), like_number)),
        Rule("STRING", choice(_string(), _literal())),
        Rule("LONG_STRING", choice(_long_string(), _long_literal())),
        Rule("COMMENT", sequence("#", many(character_but(_CONTROLS)))),
        Rule("SPACE", _SPACE),
        Rule("EOL", _LINE_END),
    )


def _digits(first: Regex, digit: Regex) -> Regex:
    """Digits, with single underscores between them."""
    return sequence(first, many(maybe("_"), digit))


def _number(signs: str, signs_of_exponent: str) -> Regex:
    integer = choice("0", _digits(_FROM_ONE, _DIGIT))
    fraction = sequence(".", _digits(_DIGIT, _DIGIT))
    exponent = sequence(one_of("eE"), maybe(one_of(signs_of_exponent)), _digits(_DIGIT, _DIGIT))
    return sequence(maybe(one_of(signs)), integer, maybe(fraction), maybe(exponent))


def _based_number() -> Regex:
    digits = {"x": _HEX, "o": one_of("01234567"), "b": one_of("01")}
    return choice(*(sequence("0", base, _digits(digit, digit)) for base, digit in digits.items()))


def _name(signs: str) -> Regex:
    return sequence(maybe(one_of(signs)), choice("inf", "nan"))


def _date() -> Regex:
    """A day of the calendar, in the years 1 to 9999 (RFC 3339, appendix C)."""
    fourth = choice(*(f"{year:02}" for year in range(4, 100, 4)))
    leap_year = choice(sequence(_DIGIT, _DIGIT, fourth), sequence(fourth, "00"))
    year = choice(*(sequence("0" * n, _FROM_ONE, exactly(3 - n, _DIGIT)) for n in range(4)))
    to_28 = choice(sequence("0", _FROM_ONE), sequence("1", _DIGIT), sequence("2", one_of("012345678")))
    to_30 = choice(to_28, "29", "30")
    short, long = choice("04", "06", "09", "11"), choice("01", "03", "05", "07", "08", "10", "12")
    day = choice(
        sequence(long, "-", choice(to_30, "31")), sequence(short, "-", to_30), sequence("02-", to_28)
    )
    return choice(sequence(year, "-", day), sequence(leap_year, "-02-29"))


def _hour_and_minute() -> Regex:
    hour = choice(sequence(one_of("01"), _DIGIT), sequence("2", one_of("0123")))
    return sequence(hour, ":", one_of("012345"), _DIGIT)


def _time() -> Regex:
    return sequence(_hour_and_minute(), ":", one_of("012345"), _DIGIT, maybe(".", some(_DIGIT)))


def _date_and_time() -> Regex:
    offset = choice(any_case("z"), sequence(one_of("+-"), _hour_and_minute()))
    return sequence(_date(), one_of("Tt "), _time(), maybe(offset))


def _escape() -> Regex:
    """An escape; those of Unicode stand for scalar values, so for no surrogates."""
    surrogate_free = choice(
        sequence(one_of("0123456789ABCEFabcef"), exactly(3, _HEX)),
        sequence(one_of("Dd"), one_of("01234567"), exactly(2, _HEX)),
    )
    above = sequence(choice(sequence("0", one_of(string.hexdigits.replace("0", ""))), "10"), exactly(4, _HEX))
    return sequence(
        "\\",
        choice(
            one_of('btnfr"\\'),
            sequence("u", surrogate_free),
            sequence("U", choice(sequence("0000", surrogate_free), sequence("00", above))),
        ),
    )


def _string() -> Regex:
    return sequence('"', many(choice(character_but('"\\' + _CONTROLS), _escape())), '"')


def _literal() -> Regex:
    return sequence("'", many(character_but("'" + _CONTROLS)), "'")


def _long_string() -> Regex:
    joined_line = sequence("\\", many(one_of(" \t")), _LINE_END)
    return _long('"', choice(character_but('"\\' + _CONTROLS), _LINE_END, _escape(), joined_line))


def _long_literal() -> Regex:
    return _long("'", choice(character_but("'" + _CONTROLS), _LINE_END))


def _long(quote: str, character: Regex) -> Regex:
    """A string of several lines; up to two quotes may stand in it, also before the closing ones."""
    quotes = sequence(maybe(quote), maybe(quote))
    return sequence(quote * 3, many(quotes, character), quotes, quote * 3)


TOML_POLICY = EditorPolicy(
    file_ending=".toml",
    comment=Comment("#"),
    known_names=frozenset([b"true", b"false", b"inf", b"nan"]),
    not_code=re.compile(rb"#[^\n]*|\"(?:\\.|[^\"\\\n])*\"?|'[^'\n]*'?"),
)
"""TOML's policy."""

START = "file"


@dataclass(frozen=True)
class Toml(Language):
    """TOML 1.0 in UTF-8, without a byte order mark.

    It is read as tomli 2.2.1 and `tomllib` up to Python 3.14 read it. Numbers may have any number of digits
    and brackets may nest deeply, which these limit.
    """

    name = "TOML"
    enclosures = {"{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return TOML_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return toml_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _toml_grammar()

    def whole_text_check(self) -> WholeTextCheck:
        """As in `Language`: each key and table is defined once."""
        return DefinedOnce(LexerTables(self.lexical_spec()))


@cache
def _toml_grammar() -> Grammar:
    grammar = read_grammar(files(__package__).joinpath("toml.lark").read_text("utf-8"), START)
    return replace(grammar, may_be_empty=True)


toml = Toml()
"""TOML."""
