"""Go: its lexemes as `go/scanner` reads them (section "Lexical elements"), its grammar, its editor policy."""

from __future__ import annotations

import hashlib
import re
import string
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from fimlsp.languages.jumps import GO_RULES
from fimlsp.languages.syntax_trees import TreePolicy
from fimlsp.lexing.automata.dfa import CompactDfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import (
    Range,
    Regex,
    character_but,
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
from fimlsp.lexing.nesting import CODE, MAY_END, TerminatorModes
from fimlsp.quotient.grammar.cfg import Grammar
from fimlsp.quotient.grammar.lark_loader import read_grammar
from fimlsp.quotient.language.contract import Language, OpenModes, ReadToCode, TextAfterCursor
from fimlsp.quotient.language.editor_policy import Comment, EditorPolicy

PUNCTUATION = (
    *("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "&^"),
    *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "&^="),
    *("&&", "||", "<-", "++", "--", "==", "<", ">", "=", "!", "~", "!=", "<=", ">=", ":="),
    *("...", "(", ")", "[", "]", "{", "}", ",", ";", ".", ":"),
)
KEYWORDS = (
    *("break", "case", "chan", "const", "continue", "default", "defer", "else", "fallthrough", "for", "func"),
    *("go", "goto", "if", "import", "interface", "map", "package", "range", "return", "select", "struct"),
    *("switch", "type", "var"),
)
LINE_END, COMMENT_OVER_LINES = "LINE_END", "COMMENT_OVER_LINES"
"""The kinds of a line end, and of a comment with one in it, that end a statement."""

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

_MARK = "\ufeff"
_DIGIT, _OCTAL, _BINARY = one_of(string.digits), one_of(string.octdigits), one_of("01")
_HEX = one_of(string.hexdigits)
_BREAK = maybe("_")


@cache
def go_lexical_spec() -> LexicalSpec:
    """The lexemes of Go, with its layout."""
    kinds = frozenset(
        (*_words(), "NAME", "NUMBER", "RUNE", "STRING", "RAW_STRING", LINE_END, COMMENT_OVER_LINES)
    )
    return LexicalSpec(
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
    """The lexemes, with these kinds for line ends and for comments with line ends in them."""
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
        Rule("BAD", sequence("/*")),  # a closed one is a longer lexeme
        Rule("SPACE", some(one_of(" \t\r"))),
        Rule(line_end, sequence("\n")),
    )


def _general_comment(but: str, but_after_star: str) -> Regex:
    """A comment between `/*` and `*/` without some characters, and without others directly after stars."""
    stars = some("*")
    unit = choice(character_but(but), sequence(stars, character_but(but_after_star)))
    return sequence("/*", many(unit), stars, "/")


def number() -> Regex:
    """A number, with underscores only between digits or after the letters of a base."""
    decimal, power = _separated(_DIGIT), _exponent("eE")
    hexadecimal = _after_base("xX", _HEX)
    hexadecimal_digits = choice(
        sequence(hexadecimal, maybe(".", maybe(_separated(_HEX)))),
        sequence("0", one_of("xX"), ".", _separated(_HEX)),
    )
    floating = choice(
        sequence(decimal, ".", maybe(decimal), maybe(power)),
        sequence(decimal, power),
        sequence(".", decimal, maybe(power)),
        sequence(hexadecimal_digits, _exponent("pP")),
    )
    integer = choice(
        sequence(one_of("123456789"), many(_BREAK, _DIGIT)),
        sequence("0", many(_BREAK, _OCTAL)),
        hexadecimal,
        _after_base("oO", _OCTAL),
        _after_base("bB", _BINARY),
    )
    imaginary = choice(decimal, hexadecimal, _after_base("oObB", _DIGIT), floating)
    return choice(integer, floating, sequence(imaginary, "i"))


def malformed_number() -> Regex:
    """The text that is read as one number before it is checked."""
    digits, sign = many(one_of(string.digits + "_")), maybe(one_of("+-"))
    hexdigits = many(one_of(string.hexdigits + "_"))
    exponent = maybe(one_of("eEpP"), sign, digits)
    binary_exponent = maybe(one_of("pP"), sign, digits)  # an "e" is one of the digits
    return choice(
        sequence(_DIGIT, digits, maybe(".", digits), exponent, maybe("i")),
        sequence(".", _DIGIT, digits, exponent, maybe("i")),
        sequence("0", one_of("bBoO"), digits, maybe(".", digits), exponent, maybe("i")),
        sequence("0", one_of("xX"), hexdigits, maybe(".", hexdigits), binary_exponent, maybe("i")),
    )


def _separated(digit: Regex) -> Regex:
    return sequence(digit, many(_BREAK, digit))


def _after_base(letters: str, digit: Regex) -> Regex:
    return sequence("0", one_of(letters), some(_BREAK, digit))


def _exponent(letters: str) -> Regex:
    return sequence(one_of(letters), maybe(one_of("+-")), _separated(_DIGIT))


def rune() -> Regex:
    """One character, or an escape, in single quotes."""
    return sequence("'", choice(character_but("'\\\n" + _MARK), _escape("'")), "'")


def quoted() -> Regex:
    """A string in double quotes."""
    return sequence('"', many(choice(character_but('"\\\n' + _MARK), _escape('"'))), '"')


def raw_string() -> Regex:
    """A string between back quotes, without escapes."""
    return sequence("`", many(character_but("`" + _MARK)), "`")


def _escape(quote: str) -> Regex:
    """An escape in a literal with these *quote* marks. Escapes of code points exclude surrogates."""
    three = exactly(3, _HEX)
    basic = choice(
        sequence(one_of("0123456789abcABCefEF"), three),
        sequence(one_of("dD"), one_of("01234567"), exactly(2, _HEX)),
    )
    plane = choice(sequence("000", one_of("123456789abcdefABCDEF")), "0010")
    return sequence(
        "\\",
        choice(
            one_of("abfnrtv\\" + quote),
            sequence(one_of("0123"), _OCTAL, _OCTAL),
            sequence("x", exactly(2, _HEX)),
            sequence("u", basic),
            sequence("U", choice(sequence("0000", basic), sequence(plane, exactly(4, _HEX)))),
        ),
    )


def identifier() -> Regex:
    """A name, or a keyword."""
    first = choice(one_of(string.ascii_letters + "_"), code_points(_ranges("letters")))
    digit = choice(one_of(string.digits), code_points(_ranges("digits")))
    return sequence(first, many(choice(first, digit)))


@cache
def _tables() -> dict[str, tuple[Range, ...]]:
    """The code points beyond ASCII of the categories L and Nd in Unicode 17, as in Go 1.27."""
    tables: dict[str, list[Range]] = {}
    for line in files(__package__).joinpath("go_letters.txt").read_text("ascii").splitlines():
        if line in ("letters", "digits"):
            ranges = tables[line] = []
            continue
        for part in line.split():
            low, _, high = part.partition("-")
            ranges.append((int(low, 16), int(high or low, 16)))
    return {name: tuple(ranges) for name, ranges in tables.items()}


def _ranges(name: str) -> tuple[Range, ...]:
    return _tables()[name]


_WORDS = (
    b"break case chan const continue default defer else fallthrough for func go goto if import interface "
    b"map package range return select struct switch type var"
)
_PREDECLARED = (
    b"any append bool byte cap clear close comparable complex complex128 complex64 copy delete error false "
    b"float32 float64 imag int int16 int32 int64 int8 iota len make max min new nil panic print println real "
    b"recover rune string true uint uint16 uint32 uint64 uint8 uintptr"
)

GO_POLICY = TreePolicy(
    grammar="go",
    rules=GO_RULES,
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
    text = files(__package__).joinpath("go.lark").read_text("utf-8")
    return read_grammar(text, START, lambda name: False if name == "NEVER" else None, drop_useless=True)


go = Go()
"""Go."""
