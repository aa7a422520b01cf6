r"""The lexemes of Python, with CPython's tokenizer as the reference: terminals, modes, limits and layout.

The terminals are regular expressions. Where CPython reports an error although it could read shorter lexemes,
the longest match is of kind `BAD`, which no grammar uses. So maximal munch decides everywhere.

The names in `\N{...}` and the number of digits of an integer are checked apart from the DFA, which cannot do
it.
"""

from __future__ import annotations

import hashlib
import string
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from fimlsp.languages.python.mode_stack import (
    BRACKETS,
    F_STRING_STYLES,
    MAX_BRACKETS,
    QUOTES,
    STRING_STARTS,
    UNDECODABLE,
    changes_modes,
    field_rules,
    file_start,
    marks_modes,
    unknown_bottom,
)
from fimlsp.languages.python.unicode_tables import TABLES, CharacterNames, identifier_parts, identifier_starts
from fimlsp.languages.python.versions import DEFAULT_VERSION, PythonVersion, known_version
from fimlsp.lexing import automata
from fimlsp.lexing.automata.dfa import Dfa, Rule, Terminals, cached, compile_terminals
from fimlsp.lexing.automata.regex import (
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
from fimlsp.lexing.lexical_spec import CountedPart, Delimiters, Family, LexicalSpec, Offside, WordPart

BAD = "BAD"

_KEYWORD_TABLE = """
    False None True and as assert async await break class continue def del elif else except finally for from
    global if import in is lambda nonlocal not or pass raise return try while with yield
"""
KEYWORDS = tuple(_KEYWORD_TABLE.split())
SOFT_KEYWORDS: dict[PythonVersion, tuple[str, ...]] = {
    (3, 8): (),
    (3, 9): (),
    (3, 10): ("match", "case", "_"),
    (3, 11): ("match", "case", "_"),
    (3, 12): ("match", "case", "_", "type"),
    (3, 13): ("match", "case", "_", "type"),
    (3, 14): ("match", "case", "_", "type"),
    (3, 15): ("match", "case", "_", "type", "lazy"),
}
"""Words that are keywords only in some positions, by version."""

_OPERATOR_TABLE = """
    + - * ** / // % @ << >> & | ^ ~ := < > <= >= == != ( ) [ ] { } , : . ; = ->
    += -= *= /= //= %= @= &= |= ^= >>= <<= **= ...
"""
OPERATORS = tuple(_OPERATOR_TABLE.split())

_FIELDS_OF_CODE: PythonVersion = (3, 12)
"""The first version in which fields are read like other code (PEP 701)."""

_TEMPLATE_STRINGS: PythonVersion = (3, 14)
"""The first version with template strings (PEP 750)."""

_NO_OTHER_CONSTANTS: PythonVersion = (3, 14)
"""The first version in which no name in other letters can be `True`, `False` or `None`."""

_LENIENT_FIELDS = frozenset[PythonVersion]({(3, 12), (3, 13)})
"""The versions that continue after a line end in a format specification, and decode raw strings there."""

_STR_PREFIXES, _RAW_STR_PREFIXES = ("", "u"), ("r",)
_BYTES_PREFIXES, _RAW_BYTES_PREFIXES = ("b",), ("br", "rb")
_F_PREFIXES, _RAW_F_PREFIXES = ("f",), ("fr", "rf")
_T_PREFIXES, _RAW_T_PREFIXES = ("t",), ("tr", "rt")

_LINE_END = choice("\r\n", "\n", "\r")
_HEX = one_of(string.hexdigits)
_NUMERIC_ESCAPE = choice(
    sequence("x", exactly(2, _HEX)),
    sequence("u", exactly(4, _HEX)),
    sequence("U000", exactly(5, _HEX)),
    sequence("U0010", exactly(4, _HEX)),
)
_NAME_LETTER = one_of(string.ascii_letters + string.digits + " -")
_GUESSED_NAME = sequence("\\N{", _NAME_LETTER, some(_NAME_LETTER), "}")
_LAST_ASCII = 0x7F


@cache
def python_dfa(version: PythonVersion = DEFAULT_VERSION) -> Dfa:
    """The DFA of a version's terminals, from the cache on disk if that has it.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    known_version(version)
    definition = hashlib.sha256(f"{version} {unicodedata.unidata_version}".encode() + TABLES.read_bytes())
    for path in (*sorted(Path(automata.__path__[0]).glob("*.py")), Path(__file__)):
        definition.update(path.read_bytes())
    return cached(definition.hexdigest(), lambda: compile_terminals(python_terminals(version))).expand()


def python_terminals(version: PythonVersion) -> Terminals:
    """The modes of the lexer, with the lexemes of each.

    `code` is Python outside f-strings. `field` is the top level of a replacement field, and `nested` the
    inside of brackets in a field. `text:Q` is the literal text of an f-string of style `Q`, `spec:Q` its
    format specifications.

    In 3.12 and 3.13, a line end in a format specification of a single-quoted f-string makes CPython continue
    as in code. That is the mode `tail`, and `plain` is the top level of a field there. `respec:Q` is a format
    specification after a nested field; from 3.13 on, CPython reads it as text of the string.

    Template strings differ from f-strings only in their start.
    """
    is_lenient = version in _LENIENT_FIELDS
    outer = _code_rules(version, _strings())
    modes = _code_modes(version, outer, _code_rules(version, _strings_in_field()) if is_lenient else outer)
    for style in F_STRING_STYLES:
        modes[f"text:{style}"] = _text_rules(style, marks_escapes=is_lenient)
        modes[f"spec:{style}"] = _spec_rules(style, version)
        if version >= (3, 13):
            modes[f"respec:{style}"] = _spec_rules(style, version, after_field=True)
    return Terminals(modes)


def _code_rules(version: PythonVersion, strings: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """The lexemes of code with *strings*, without operators and comments."""
    literals = tuple(_literals(version, strings))
    return (*_words(version), *literals, Rule("SPACE", some(one_of(" \t\f"))), Rule("NL", _LINE_END))


def _code_modes(
    version: PythonVersion, outer: tuple[Rule, ...], inner: tuple[Rule, ...]
) -> dict[str, tuple[Rule, ...]]:
    """The modes of code: *outer* has the lexemes outside f-strings, *inner* those in fields.

    `field` is the first mode, so that BAD is the first kind, which wins.
    """
    operators = {text: Rule(text, sequence(text)) for text in OPERATORS}
    in_field = tuple(rule for text, rule in operators.items() if text not in (":", ":=", "}", "="))
    no_lambda = Rule(BAD, sequence("lambda"))  # its colon would end the field
    outside = (
        Rule("COMMENT", sequence("#", many(character_but("\r\n")))),
        Rule("CONTINUATION", sequence("\\", _LINE_END)),
    )
    as_code = outside if version >= _FIELDS_OF_CODE else ()
    modes = {
        "field": (no_lambda, *inner, *in_field, *_field_marks(version), *as_code),
        "code": (*outer, *operators.values(), *outside),
        "nested": (*inner, *operators.values(), *as_code),
    }
    if version in _LENIENT_FIELDS:
        modes["plain"] = (*modes["field"], Rule(BAD, sequence(":=")))
        spaces = tuple(rule for rule in inner if rule.kind in ("SPACE", "NL"))
        braces = Rule("FIELD_OPEN", sequence("{")), Rule("FIELD_CLOSE", sequence("}"))
        modes["tail"] = (*spaces, *as_code, *braces)
    return modes


def _words(version: PythonVersion) -> tuple[Rule, ...]:
    """Keywords, and names as all other words."""
    keywords = [Rule(word, sequence(word)) for word in (*KEYWORDS, *SOFT_KEYWORDS[version])]
    if version == (3, 9):
        keywords.append(Rule(BAD, sequence("__peg_parser__")))
    if version >= _NO_OTHER_CONSTANTS:
        keywords += [Rule(BAD, _in_other_letters(word)) for word in ("False", "None", "True")]
    return (*keywords, Rule("NAME", _name(version)))


def _in_other_letters(word: str) -> Regex:
    """*word* with at least one letter in a variant that NFKC normalises to it, such as a full-width one."""
    variants = [code_points((code, code) for code in _variants(letter)) for letter in word]
    any_way = [choice(letter, variant) for letter, variant in zip(word, variants, strict=True)]
    return choice(*(sequence(word[:at], variants[at], *any_way[at + 1 :]) for at in range(len(word))))


@cache
def _variants(character: str) -> tuple[int, ...]:
    """The other characters that are normalised to *character* in a name (NFKC)."""
    codes = range(_LAST_ASCII + 1, 0x110000)
    return tuple(code for code in codes if unicodedata.normalize("NFKC", chr(code)) == character)


def _name(version: PythonVersion, at_least: int = 1) -> Regex:
    """An identifier or keyword of at least *at_least* characters."""
    part = code_points(identifier_parts(version))
    return sequence(code_points(identifier_starts(version)), exactly(at_least - 1, part), many(part))


def _literals(version: PythonVersion, strings: tuple[Rule, ...]) -> Iterator[Rule]:
    """Numbers, *strings* and starts of f-strings, and lexemes in their place that CPython rejects."""
    real, imaginary = _numbers()
    # Of the keywords that must not touch a number, only these could follow one in a program (`as` also covers
    # `async`). And CPython takes `0or` for an octal number because of its second character.
    if version >= (3, 10):
        yield Rule(BAD, sequence(choice(real, imaginary), choice("as", "from")))
    yield Rule(BAD, sequence("0", one_of("xXoObB")))
    yield Rule("REAL", real)
    yield Rule("IMAGINARY", imaginary)
    # Otherwise an unterminated string could be a name or an empty string followed by something else.
    plain_prefixes = (*_STR_PREFIXES, *_RAW_STR_PREFIXES, *_BYTES_PREFIXES, *_RAW_BYTES_PREFIXES)
    yield Rule(BAD, sequence(_prefix(plain_prefixes), choice(*QUOTES)))
    yield from strings
    for style in F_STRING_STYLES:
        prefixes = _RAW_F_PREFIXES if style.startswith("r") else _F_PREFIXES
        yield Rule(f"FSTRING_START:{style}", sequence(_prefix(prefixes), style.lstrip("r")))
        if version >= _TEMPLATE_STRINGS:
            prefixes = _RAW_T_PREFIXES if style.startswith("r") else _T_PREFIXES
            yield Rule(f"TSTRING_START:{style}", sequence(_prefix(prefixes), style.lstrip("r")))


def _numbers() -> tuple[Regex, Regex]:
    """Real and imaginary numbers (Language Reference 2.4.4 to 2.4.7)."""
    digit = one_of(string.digits)
    digits = sequence(digit, many(maybe("_"), digit))
    integer = choice(
        sequence(one_of("123456789"), many(maybe("_"), digit)),
        sequence("0", many(maybe("_"), "0")),
        sequence("0", one_of("xX"), some(maybe("_"), _HEX)),
        sequence("0", one_of("oO"), some(maybe("_"), one_of(string.octdigits))),
        sequence("0", one_of("bB"), some(maybe("_"), one_of("01"))),
    )
    exponent = sequence(one_of("eE"), maybe(one_of("+-")), digits)
    with_point = choice(sequence(digits, ".", maybe(digits)), sequence(".", digits))
    floating = choice(sequence(with_point, maybe(exponent)), sequence(digits, exponent))
    return choice(integer, floating), sequence(choice(digits, floating), one_of("jJ"))


def _prefix(spellings: tuple[str, ...]) -> Regex:
    """A string prefix, in upper or lower case."""
    return choice(*map(any_case, spellings))


def _strings() -> tuple[Rule, ...]:
    return Rule("STRING", choice(*map(_string, QUOTES))), Rule("BYTES", choice(*map(_bytes, QUOTES)))


def _strings_in_field() -> tuple[Rule, ...]:
    """As `_strings`, with other kinds for strings that would be invalid if they were not raw."""
    strings, bytes_ = _strings()
    return (
        Rule("STRING", choice(*map(_decodable, QUOTES))),
        Rule("BYTES", choice(*map(_decodable_bytes, QUOTES))),
        Rule("STRING" + UNDECODABLE, strings.pattern),
        Rule("BYTES" + UNDECODABLE, bytes_.pattern),
    )


def _decodable(quote: str) -> Regex:
    """A str literal whose escapes are valid, raw or not. In raw ones any name of a character is accepted."""
    ordinary = character_but(_special(quote))
    return choice(
        _quoted(_STR_PREFIXES, quote, choice(ordinary, _escape())),
        _quoted(_RAW_STR_PREFIXES, quote, choice(ordinary, _escape(names=False), _GUESSED_NAME)),
    )


def _decodable_bytes(quote: str) -> Regex:
    """A bytes literal whose escapes would be valid in a str literal as well."""
    ordinary = character_but(_special(quote), _LAST_ASCII)
    escape = sequence("\\", choice(_LINE_END, _NUMERIC_ESCAPE, character_but("xuUN\r\n", _LAST_ASCII)))
    return _quoted(_BYTES_PREFIXES + _RAW_BYTES_PREFIXES, quote, choice(ordinary, escape, _GUESSED_NAME))


def _string(quote: str) -> Regex:
    """A str literal (Language Reference 2.4.1)."""
    ordinary = character_but(_special(quote))
    return choice(
        _quoted(_STR_PREFIXES, quote, choice(ordinary, _escape())),
        _quoted(_RAW_STR_PREFIXES, quote, choice(ordinary, _raw_escape())),
    )


def _bytes(quote: str) -> Regex:
    """A bytes literal."""
    ordinary = character_but(_special(quote), _LAST_ASCII)
    other = character_but("x\r\n", _LAST_ASCII)
    escape = sequence("\\", choice(_LINE_END, sequence("x", exactly(2, _HEX)), other))
    raw_escape = sequence("\\", choice(_LINE_END, character_but("", _LAST_ASCII)))
    return choice(
        _quoted(_BYTES_PREFIXES, quote, choice(ordinary, escape)),
        _quoted(_RAW_BYTES_PREFIXES, quote, choice(ordinary, raw_escape)),
    )


def _special(quote: str) -> str:
    """The special characters in a string with these quotes."""
    return "\\" + quote[0] + ("" if _is_triple(quote) else "\r\n")


def _is_triple(quote: str) -> bool:
    return len(quote) == 3


def _quoted(prefixes: tuple[str, ...], quote: str, item: Regex) -> Regex:
    """A whole literal. In a triple-quoted one, one or two quotes may precede any item."""
    inner = maybe(quote[0], maybe(quote[0])) if _is_triple(quote) else sequence()
    return sequence(_prefix(prefixes), quote, many(inner, item), quote)


def _escape(plain_backslash_before: str = "", *, names: bool = True) -> Regex:
    """An escape in a str literal, as CPython validates it."""
    named = sequence("N{", some(one_of(string.ascii_letters + string.digits + " -")), "}")
    other = character_but("xuUN\r\n" + plain_backslash_before)
    return sequence("\\", choice(_NUMERIC_ESCAPE, *([named] if names else []), _LINE_END, other))


def _raw_escape(plain_backslash_before: str = "") -> Regex:
    """A backslash and the character or line end after it, in a raw literal."""
    return sequence("\\", choice(_LINE_END, character_but(plain_backslash_before)))


def _field_marks(version: PythonVersion) -> Iterator[Rule]:
    """The lexemes that end the expression of a replacement field."""
    if version >= _FIELDS_OF_CODE:
        # The conversion is a name like others, so its letter may be a variant, for instance full-width.
        letters = sorted(code for letter in _CONVERSIONS for code in (ord(letter), *_variants(letter)))
        yield Rule("FIELD_CONVERSION", sequence("!", code_points((code, code) for code in letters)))
        yield Rule(BAD, sequence("!", _name(version, at_least=2)))
    else:  # white space must not follow
        yield Rule(BAD, sequence("!", one_of("rsa"), one_of(" \t\f\r\n")))
        yield Rule("FIELD_CONVERSION", sequence("!", one_of("rsa")))
    yield Rule("FIELD_EQUAL", sequence("="))
    yield Rule("FIELD_COLON", sequence(":"))
    yield Rule("FIELD_CLOSE", sequence("}"))


_CONVERSIONS = "rsa"


def _text_rules(style: str, *, marks_escapes: bool) -> tuple[Rule, ...]:
    """The lexemes of the literal text of an f-string.

    With *marks_escapes*, escapes in raw strings have another kind if they would be invalid in other strings.
    """
    is_marked = marks_escapes and style.startswith("r")
    return (
        *(_marked_characters(style) if is_marked else _characters(style)),
        Rule("FSTRING_TEXT", choice("{{", "}}")),
        Rule("FIELD_OPEN", sequence("{")),
        Rule("FSTRING_END", sequence(style.lstrip("r"))),
        Rule(BAD, sequence("}")),
    )


def _spec_rules(style: str, version: PythonVersion, *, after_field: bool = False) -> tuple[Rule, ...]:
    """The lexemes of a format specification: no doubled braces, and no end of the string."""
    quote = style.lstrip("r")
    special = []
    if _is_triple(quote):
        special.append(Rule(BAD, sequence(quote)))
    elif version in _LENIENT_FIELDS and not after_field:
        special.append(Rule("SPEC_NL", _LINE_END))
    if after_field:
        special.append(Rule("FSTRING_TEXT", sequence("{{")))
    return (
        *_characters(style, checked=version in _LENIENT_FIELDS),
        Rule("FIELD_OPEN", sequence("{")),
        Rule("FIELD_CLOSE", sequence("}")),
        *special,
    )


def _marked_characters(style: str) -> Iterator[Rule]:
    """Characters and escapes in a raw f-string, with another kind for escapes invalid in other strings."""
    quote = style.lstrip("r")
    quotes = choice(quote[0], quote[0] * 2) if _is_triple(quote) else choice()
    ordinary = character_but("{}" + _special(quote))
    yield Rule("FSTRING_TEXT", choice(some(ordinary), _escape("{}", names=False), "\\", quotes))
    yield Rule("FSTRING_TEXT" + UNDECODABLE, sequence("\\", one_of("xuUN")))


def _characters(style: str, *, checked: bool = False) -> Iterator[Rule]:
    """Characters and escapes in an f-string. A backslash before a brace is text of its own.

    In a raw string escapes are validated only if *checked*.
    """
    is_raw, quote = style.startswith("r"), style.lstrip("r")
    escape = _raw_escape("{}") if is_raw and not checked else _escape("{}", names=not is_raw)
    quotes = choice(quote[0], quote[0] * 2) if _is_triple(quote) else choice()
    ordinary = character_but("{}" + _special(quote))
    yield Rule("FSTRING_TEXT", choice(some(ordinary), escape, "\\", quotes))
    if checked or not is_raw:
        yield Rule(BAD, sequence("\\", one_of("xuUN")))


MOST_DIGITS = 4300
"""The most digits of a decimal integer: CPython's default limit for `int`."""
_MAX_INDENTS = 99  # MAXINDENT of CPython's tokenizer, minus the level of the file itself
_OPENING, _CLOSING = {*BRACKETS, "FIELD_OPEN"}, {*BRACKETS.values(), "FIELD_CLOSE"}
_FAMILIES: dict[str, Family] = {
    "STRING": "string",
    "BYTES": "string",
    "STRING" + UNDECODABLE: "string",
    "BYTES" + UNDECODABLE: "string",
    "COMMENT": "comment",
    "NL": "line end",
    "CONTINUATION": "line end",
}


def python_lexical_spec(version: PythonVersion = DEFAULT_VERSION) -> LexicalSpec:
    """The lexical description of a version of Python; its DFA is loaded from disk or compiled. Cached.

    Raises:
        UnknownVersionError: The version is not one of `PYTHON_VERSIONS`.
    """
    return _python_lexis(known_version(version))


@cache
def _python_lexis(version: PythonVersion) -> LexicalSpec:
    dfa = python_dfa(version)
    rules = field_rules(version)

    marks = frozenset[str]() if rules.sealed else frozenset(filter(marks_modes, dfa.kinds))

    def brackets_too_deep(lexemes: Sequence[str], open_at_end: int) -> bool:
        return too_deep(lexemes, open_at_end, sealed=rules.sealed)

    return LexicalSpec(
        dfa=dfa,
        start=file_start(rules),
        unknown=unknown_bottom(rules),
        comment="COMMENT",
        line_joiner="CONTINUATION",
        unseen=frozenset({"SPEC_NL"}).intersection(dfa.kinds),
        mode_changers=frozenset(filter(changes_modes, dfa.kinds)).union(marks),
        marks=marks,
        brackets=BRACKETS,
        most_brackets=MAX_BRACKETS,
        too_deep=brackets_too_deep,
        families=_FAMILIES,
        comment_mark=b"#",
        delimiters=Delimiters(
            span=tuple(quote.encode() for quote in QUOTES if len(quote) == 3),
            within=tuple(quote.encode() for quote in QUOTES if len(quote) == 1),
        ),
        word_part=WordPart(naming_states(dfa), CharacterNames(version), ord("{"), ord("}")),
        counted_part=CountedPart(
            counting_states(dfa), "REAL", MOST_DIGITS, frozenset(b"_"), has_too_many_digits, way_out=b"."
        ),
        # In 3.8 the code of a line starts at a backslash in its indentation.
        offside=Offside(frozenset(b" \t\f#\r\n" if version == (3, 8) else b" \t\f#\\\r\n"), _MAX_INDENTS),
    )


def naming_states(dfa: Dfa) -> frozenset[int]:
    r"""The states inside the braces of `\N{...}`."""
    openings = [(start, b"") for mode, start in dfa.starts.items() if ":" in mode]
    openings += [(dfa.starts["code"], quote.encode()) for quote in QUOTES]
    states = {dfa.run(start, quote + rb"\N{") for start, quote in openings if dfa.run(start, quote + rb"\N")}
    states.discard(0)
    waiting = list(states)
    while waiting:
        for byte, following in enumerate(dfa.rows[waiting.pop()]):
            if following and byte != ord("}") and following not in states:
                states.add(following)
                waiting.append(following)
    return frozenset(states)


def counting_states(dfa: Dfa) -> frozenset[int]:
    """The DFA states inside a decimal integer other than zero."""
    digits = [dfa.run(dfa.starts[mode], b"1") for mode in ("code", "field", "nested")]
    return frozenset((*digits, *(dfa.run(state, b"_") for state in digits)))


def has_too_many_digits(number: bytes, more: int = 0) -> bool:
    """True if *more* digits followed by *number* are a decimal integer that is too long for CPython."""
    if len(number) + more <= MOST_DIGITS or (not more and number.startswith(b"0")):
        return False
    digits = number.replace(b"_", b"")
    return digits.isdigit() and len(digits) + more > MOST_DIGITS


def too_deep(lexemes: Sequence[str], open_at_end: int, *, sealed: bool) -> bool:
    """True if brackets nest too deeply in *lexemes*, after which *open_at_end* are open.

    In the *sealed* f-strings of old versions, brackets are counted separately.
    """
    depth = open_at_end
    strings = 0
    for lexeme in reversed(lexemes):
        strings += (lexeme == "FSTRING_END") - lexeme.startswith(STRING_STARTS)
        if sealed and strings:
            continue
        depth += (lexeme in _CLOSING) - (lexeme in _OPENING)
        if depth > MAX_BRACKETS:
            return True
    return False
