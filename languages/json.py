"""JSON as RFC 8259 defines it: its lexemes (sections 2, 6 and 7), its grammar and its editor policy."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fimlsp.languages.suggested_lines import FAR, column_of, suggested_lines
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
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language
from fimlsp.quotient.language.editor_policy import EditorPolicy

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


_KEY = re.compile(rb"\s*(\"(?:\\.|[^\"\\])*\")\s*:")


@dataclass(frozen=True)
class JsonPolicy(EditorPolicy):
    """JSON's policy. Values may repeat; a line is a repetition if its object already has its key."""

    def first_unwanted(self, left: bytes, text: bytes, right: bytes) -> int | None:
        """As in `EditorPolicy`: before a key that its object has already, in a line of the same column."""
        suggestion = suggested_lines(left, text, right)
        head_start = len(left) - len(suggestion.head)
        above = left[max(0, head_start - FAR) : head_start].split(b"\n")
        below = right.partition(b"\n")[2][:FAR].split(b"\n")
        for number, line in enumerate(suggestion.lines):
            key = _KEY.match(line.text)
            is_partial = number == 0 and _KEY.match(suggestion.head) is not None
            if key is not None and not is_partial:
                known = {*_keys(reversed(above), line.column), *_keys(below, line.column)}
                if key[1] in known:
                    return line.offset
            above.append(line.text)
        return None


def _keys(lines: Iterable[bytes], column: int) -> Iterator[bytes]:
    """The keys that *lines* have at *column*, up to the end of their object."""
    for line in lines:
        if line.strip() and column_of(line) < column:
            return
        key = _KEY.match(line) if column_of(line) == column else None
        if key is not None:
            yield key[1]


JSON_POLICY = JsonPolicy(file_ending=".json", known_names=frozenset([b"false", b"null", b"true"]))
"""JSON's policy."""


START = "text"


@dataclass(frozen=True)
class Json(Language):
    """JSON texts, strictly: no comments, no trailing commas, no NaN, no byte order mark."""

    name = "JSON"
    enclosures = {"{": "}", "[": "]"}  # noqa: RUF012 -- a constant of the class

    @property
    def editor(self) -> EditorPolicy:
        """As in `Language`."""
        return JSON_POLICY

    def lexical_spec(self) -> LexicalSpec:
        """As in `Language`."""
        return json_lexical_spec()

    def grammar(self) -> Grammar:
        """As in `Language`."""
        return _json_grammar()


@cache
def _json_grammar() -> Grammar:
    return read_grammar(files(__package__).joinpath("json.lark").read_text("utf-8"), START)


json = Json()
"""JSON."""
