"""The lexemes of TypeScript and JavaScript, as TypeScript's scanner reads them (ECMAScript, chapter 12)."""

from __future__ import annotations

import hashlib
import string
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from fimlsp.languages.typescript.jsx_lexemes import element_lexemes, element_starts, generic_starts
from fimlsp.languages.typescript.jsx_modes import (
    ELEMENT_SHAPES,
    JSX_LINE_STARTS,
    STARTING_SHAPES,
    jsx_modes,
)
from fimlsp.languages.typescript.modes import (
    CODE_SHAPES,
    COMMENT_END,
    COMMENT_ENDS,
    CONTEXTUAL,
    LINE_END,
    LINE_ENDS,
    LINE_STARTS,
    template_modes,
)
from fimlsp.lexing.automata.dfa import CompactDfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import (
    Range,
    Regex,
    any_case,
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

PUNCTUATION = (
    *(
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ".",
        "...",
        ";",
        ",",
        "<",
        "<=",
        "==",
        "!=",
        "===",
        "!==",
        "+",
        "-",
        "*",
        "%",
    ),
    *(
        "**",
        "++",
        "--",
        "<<",
        "&",
        "|",
        "^",
        "!",
        "~",
        "&&",
        "||",
        "??",
        "?",
        "?.",
        ":",
        "+=",
        "-=",
        "*=",
        "%=",
    ),
    *("**=", "<<=", "&=", "|=", "^=", "&&=", "||=", "??=", "=>", "@"),
)
KEYWORDS = (
    *(
        "await",
        "break",
        "case",
        "catch",
        "class",
        "const",
        "continue",
        "debugger",
        "default",
        "delete",
        "do",
        "else",
    ),
    *(
        "enum",
        "export",
        "extends",
        "false",
        "finally",
        "for",
        "function",
        "if",
        "import",
        "in",
        "instanceof",
        "let",
        "new",
    ),
    *(
        "null",
        "return",
        "super",
        "switch",
        "this",
        "throw",
        "true",
        "try",
        "typeof",
        "var",
        "void",
        "while",
        "with",
    ),
    "yield",
)
"""The words that are no names."""

_FAMILIES: Mapping[str, Family] = {
    **dict.fromkeys(("STRING", "LEGACY_STRING", "TEXT", "ODD_TEXT", "REGEX", "ATTRIBUTE"), "string"),
    **dict.fromkeys(
        (
            "COMMENT",
            "HASHBANG",
            "HASHBANG_ALONE",
            "BLOCK_COMMENT",
            "ANGLE_COMMENT",
            COMMENT_END,
            *COMMENT_ENDS.values(),
        ),
        "comment",
    ),
    **dict.fromkeys((LINE_END, *LINE_ENDS.values()), "line end"),
}
_MARKS = {"ANGLE_SPACE", "ANGLE_COMMENT", "TAG_LINE_END"}
_UNSEEN = frozenset({"WIDE_SPACE", "BLOCK_COMMENT", "COMMENT_OVER_LINES", "TEXT", "CHILD_TEXT"}) | _MARKS
_SKIPPED = _UNSEEN - _MARKS | {"NL", "SPACE", "COMMENT", "BAD"}
_BRACKETS = {
    "TEMPLATE_START",
    "TEMPLATE_END",
    "${",
    "TAG_END",
    "CLOSE_START",
    "FRAGMENT",
    "CHILD_FRAGMENT",
    "VALUE_FRAGMENT",
    "FRAGMENT_END",
} | {"TAG_BRACE", "CHILD_BRACE"}

_BREAKS = "\n\r\u2028\u2029"
_BREAK = choice("\r\n", *_BREAKS)
_DIGIT, _HEX = one_of(string.digits), one_of(string.hexdigits)
_BEYOND_ASCII = choice(
    sequence("00", one_of("abcdefABCDEF"), _HEX),
    sequence("0", one_of("123456789abcdefABCDEF"), _HEX, _HEX),
    sequence(one_of("123456789abcABCefEF"), exactly(3, _HEX)),
    sequence(one_of("dD"), one_of("01234567"), _HEX, _HEX),
)
_OTHER_NUMBERS = (
    sequence(one_of("abcdefABCDEF"), _HEX),
    sequence(one_of("123456789abcdefABCDEF"), _HEX, _HEX, maybe(_HEX, maybe(_HEX))),
    sequence("10", exactly(4, _HEX)),
)
_OTHER_SPACE = (
    *((0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x202F, 0x202F), (0x205F, 0x205F)),
    *((0x3000, 0x3000), (0xFEFF, 0xFEFF)),
)
WIDE_SPACES = tuple(
    chr(point).encode() for low, high in (*_OTHER_SPACE, (0x2028, 0x2029)) for point in range(low, high + 1)
)
"""The white space and the line ends beyond ASCII."""


@cache
def typescript_lexical_spec(*, jsx: bool = False, types: bool = True) -> LexicalSpec:
    """The lexemes of both languages, with the layout of line ends; those of elements with *jsx*.

    Without *types* there are no generic functions, some of which start like elements. Comments may then start
    with `<!--`, or first on a line with `-->`.
    """
    dfa = _compiled(jsx=jsx, types=types).expand()
    changers = frozenset(dfa.kinds) - _SKIPPED
    line_starts = JSX_LINE_STARTS if jsx else LINE_STARTS
    return LexicalSpec(
        dfa=dfa,
        start=jsx_modes("line") if jsx else template_modes("line"),
        unknown=line_starts[0],
        line_starts=line_starts,
        comment="COMMENT",
        comment_mark=b"//",
        unseen=_UNSEEN,
        mode_changers=changers,
        marks=changers - _BRACKETS,
        families=_FAMILIES,
        delimiters=Delimiters(span=(b"*/", b"`"), within=(b'"', b"'")),
        separators=b"\n;,",
    )


def _compiled(*, jsx: bool, types: bool) -> CompactDfa:
    modes = {shape: _code(shape, types=types) for shape in CODE_SHAPES} | {"text": _text()}
    if jsx:
        modes = _with_elements(modes, types=types)
    described = repr([(mode, rule.kind, rule.pattern) for mode in modes for rule in modes[mode]])
    key = hashlib.sha256(described.encode()).hexdigest()
    return cached(key, lambda: compile_terminals(Terminals(modes)))


@cache
def _common() -> tuple[Rule, ...]:
    """The lexemes of all code, apart from words."""
    return (
        *(Rule(sign, sequence(sign)) for sign in PUNCTUATION),
        Rule("PRIVATE", sequence("#", identifier())),
        Rule("NUMBER", number()),
        Rule("LEGACY_NUMBER", legacy_number()),
        Rule("BAD", sequence(choice(number(), legacy_number()), _first())),
        Rule("QUESTION_NUMBER", sequence("?", _fraction())),
        Rule("BAD", sequence("?", _fraction(), _first())),
        Rule("STRING", choice(quoted('"'), quoted("'"))),
        Rule("LEGACY_STRING", choice(legacy_quoted('"'), legacy_quoted("'"))),
        Rule("TEMPLATE_START", sequence("`")),
        Rule("BAD", sequence("/*")),  # a closed one is a longer lexeme
    )


def _with_elements(modes: Mapping[str, tuple[Rule, ...]], *, types: bool) -> dict[str, tuple[Rule, ...]]:
    """The lexemes of code in *modes*, with those that start elements, and the lexemes of elements."""
    letter = choice(one_of(string.ascii_letters + "_$"), code_points(_ranges("letters")))
    name = letter, choice(letter, _DIGIT, code_points(_ranges("marks")))
    starts = element_starts(*name) + (generic_starts(*name, choice(*KEYWORDS)) if types else ())
    spaces = Rule("SPACE", some(one_of(" \t\v\f"))), Rule("WIDE_SPACE", some(code_points(_OTHER_SPACE)))
    comments = (
        Rule("COMMENT", sequence("//", many(character_but(_BREAKS)))),
        Rule("BLOCK_COMMENT", comment_in_line()),
    )
    gaps = *spaces, *comments, Rule("COMMENT_OVER_LINES", comment_over_lines()), Rule("BAD", sequence("/*"))
    elements = {shape: element_lexemes(shape, *name, gaps, types=types) for shape in ELEMENT_SHAPES}
    closing = Rule("BAD", sequence("</"))  # no place of code has one
    code = {
        shape: (*rules, *(starts if shape in STARTING_SHAPES else ()), closing)
        for shape, rules in modes.items()
    }
    return code | {"text": modes["text"]} | elements


@cache
def _words() -> tuple[Rule, ...]:
    return tuple(Rule(word, sequence(word)) for word in (*KEYWORDS, *CONTEXTUAL))


@cache
def _hashbangs() -> tuple[Rule, Rule]:
    text = sequence("#!", many(character_but(_BREAKS)))
    return Rule("HASHBANG", sequence(text, _BREAK)), Rule("HASHBANG_ALONE", text)


@cache
def _name() -> Rule:
    return Rule("NAME", identifier())


def _code(shape: str, *, types: bool) -> tuple[Rule, ...]:
    """The lexemes of code in a *shape* (see `modes.py`), with the comments of scripts if not *types*.

    First on a line `#!` starts a comment, which the grammar allows in the first line of a file. There a slash
    divides before white space and before `=`, as in formatted code. Elsewhere it starts a regular expression,
    if that ends on the line.
    """
    angle = shape == "angle"
    equals = [("ANGLE", ">"), ("ANGLE_EQUAL", "=")] if angle else [(sign, sign) for sign in (">", "=")]
    slashes = ["/", "/="] if shape in ("line", "operand") else []
    regex = (
        [] if shape == "operand" else [Rule("REGEX", regular_expression("\t =" if shape == "line" else ""))]
    )
    comments = ["//"] if types else ["//", "<!--", *(["-->"] if shape == "line" else [])]
    return (
        *_common(),
        Rule("COMMENT", sequence(choice(*comments), many(character_but(_BREAKS)))),
        *(() if shape == "dot" else _words()),
        *(Rule(kind, sequence(sign)) for kind, sign in equals),
        *(Rule(sign, sequence(sign)) for sign in slashes),
        *regex,
        *(_hashbangs() if shape == "line" else ()),
        _name(),
        Rule("ANGLE_COMMENT" if angle else "BLOCK_COMMENT", comment_in_line()),
        Rule(COMMENT_ENDS.get(shape, COMMENT_END), comment_over_lines()),
        Rule("ANGLE_SPACE" if angle else "SPACE", some(one_of(" \t\v\f"))),
        Rule("ANGLE_SPACE" if angle else "WIDE_SPACE", some(code_points(_OTHER_SPACE))),
        Rule(LINE_ENDS.get(shape, LINE_END), _BREAK),
    )


def _text() -> tuple[Rule, ...]:
    """The lexemes within a template. Only a tagged one may contain `ODD_TEXT`, a malformed escape.

    Text means nothing. It ends with a line, and at the separators, as lines are cut there.
    """
    cuts = ";,\n\r"
    plain, digit, zero = choice(character_but("`\\$" + string.digits + cuts), _escape()), _DIGIT, "\\0"
    odd_unicode = sequence(
        "\\u", choice(maybe(_HEX, maybe(_HEX, maybe(_HEX))), sequence("{", many(_HEX), maybe("}")))
    )
    return (
        Rule("TEXT", choice(some(choice(plain, digit, sequence(some(zero), plain))), zero, one_of("$,;"))),
        Rule("NL", choice("\r\n", *"\r\n")),
        Rule(
            "ODD_TEXT",
            choice(odd_unicode, sequence("\\x", maybe(_HEX)), sequence("\\", _DIGIT, maybe(_DIGIT))),
        ),
        Rule("TEMPLATE_END", sequence("`")),
        Rule("${", sequence("${")),
    )


def identifier() -> Regex:
    """A name, or a reserved word."""
    return sequence(_first(), many(_part()))


def _first() -> Regex:
    letters = string.ascii_letters + "_$"
    return choice(one_of(letters), code_points(_ranges("letters")), _escaped_in_name(letters))


def _part() -> Regex:
    return choice(_first(), _DIGIT, code_points(_ranges("marks")), _escaped_in_name(string.digits))


def _escaped_in_name(ascii: str) -> Regex:
    """An escape of one of the *ascii* characters, or of any other one, which may be no letter."""
    numbers = choice(*(any_case(f"{ord(character):x}") for character in ascii), *_OTHER_NUMBERS)
    exact = choice(*(any_case(f"{ord(character):04x}") for character in ascii), _BEYOND_ASCII)
    return sequence("\\u", choice(exact, sequence("{", many("0"), numbers, "}")))


def _unicode_escape() -> Regex:
    code_point = choice(
        sequence(_HEX, maybe(_HEX), maybe(_HEX), maybe(_HEX), maybe(_HEX)), sequence("10", exactly(4, _HEX))
    )
    return sequence("\\u", choice(exactly(4, _HEX), sequence("{", many("0"), code_point, "}")))


def number() -> Regex:
    """A number, with underscores only between digits."""
    digits, integer = _separated(_DIGIT), choice("0", sequence(one_of("123456789"), many(maybe("_"), _DIGIT)))
    power = maybe(one_of("eE"), maybe(one_of("+-")), digits)
    return choice(
        sequence(integer, maybe(".", maybe(digits)), power),
        _fraction(),
        sequence(integer, "n"),
        *(
            sequence("0", one_of(letter + letter.upper()), _separated(one_of(base)), maybe("n"))
            for letter, base in (("x", string.hexdigits), ("o", string.octdigits), ("b", "01"))
        ),
    )


def _fraction() -> Regex:
    digits = _separated(_DIGIT)
    return sequence(".", digits, maybe(one_of("eE"), maybe(one_of("+-")), digits))


def _separated(digit: Regex) -> Regex:
    return sequence(digit, many(maybe("_"), digit))


def legacy_number() -> Regex:
    """An octal number without a letter, or a decimal one with a leading zero."""
    power = maybe(one_of("eE"), maybe(one_of("+-")), some(_DIGIT))
    decimal = sequence("0", many(_DIGIT), one_of("89"), many(_DIGIT), maybe(".", many(_DIGIT)), power)
    return choice(sequence("0", some(one_of(string.octdigits))), decimal)


def quoted(quote: str) -> Regex:
    """A string between these *quote* marks."""
    plain, zero = choice(character_but(quote + "\\\n\r" + string.digits), _escape()), "\\0"
    return sequence(quote, many(choice(plain, _DIGIT, sequence(some(zero), plain))), many(zero), quote)


def legacy_quoted(quote: str) -> Regex:
    """A string that may contain octal escapes."""
    return sequence(
        quote, many(choice(character_but(quote + "\\\n\r"), _escape(), sequence("\\", _DIGIT))), quote
    )


def _escape() -> Regex:
    """An escape, apart from that of NUL, after which no digit may come."""
    return choice(
        sequence("\\", choice(character_but("ux" + string.digits + _BREAKS), _BREAK)),
        sequence("\\x", _HEX, _HEX),
        _unicode_escape(),
    )


def regular_expression(not_first: str) -> Regex:
    """A regular expression with its flags whose first character is none of *not_first*."""
    escaped = sequence("\\", character_but(_BREAKS))
    of_class = sequence("[", many(choice(character_but("]\\" + _BREAKS), escaped)), "]")
    first = choice(character_but("*/\\[" + _BREAKS + not_first), escaped, of_class)
    unit = choice(character_but("/\\[" + _BREAKS), escaped, of_class)
    flag = choice(
        one_of(string.ascii_letters + string.digits + "_$"),
        code_points(_ranges("letters")),
        code_points(_ranges("marks")),
    )
    return sequence("/", first, many(unit), "/", many(flag))


def comment_in_line() -> Regex:
    """A comment between `/*` and `*/` without a line end."""
    return sequence("/*", many(_comment_unit(_BREAKS)), some("*"), "/")


def comment_over_lines() -> Regex:
    """A comment between `/*` and `*/` with a line end."""
    first_line = sequence("/*", many(_comment_unit(_BREAKS)), many("*"))
    return sequence(first_line, choice(*_BREAKS), many(_comment_unit("")), some("*"), "/")


def _comment_unit(but: str) -> Regex:
    """A character of a comment, or one after stars, but none of those in *but*."""
    return choice(character_but("*" + but), sequence(some("*"), character_but("*/" + but)))


@cache
def _ranges(table: str) -> tuple[Range, ...]:
    """The code points beyond ASCII that a name may start with, or those that it may only continue with.

    Those of TypeScript 6.0.3.
    """
    text = files(__package__).joinpath("letters.txt").read_text("ascii")
    letters, _, marks = text.removeprefix("letters\n").partition("marks\n")
    parts = (part.partition("-") for part in {"letters": letters, "marks": marks}[table].split())
    return tuple((int(low, 16), int(high or low, 16)) for low, _, high in parts)
