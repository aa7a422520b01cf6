"""The terminals of Python against CPython's own tokenizer and parser."""

import ast
import io
import keyword
import sys
import sysconfig
import tokenize
import warnings
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, reject, settings
from hypothesis import strategies as st

from fimlsp.languages.python.lexical_spec import (
    BAD,
    KEYWORDS,
    OPERATORS,
    SOFT_KEYWORDS,
    python_dfa,
)
from fimlsp.languages.python.versions import DEFAULT_VERSION

DFA = python_dfa()
DEAD_END = "DEAD"
SKIPPED = {"SPACE", "COMMENT", "CONTINUATION", "NL"}


def lexeme(data: bytes, start: int, mode: str = "code") -> tuple[str, bytes]:
    """The longest lexeme at `start`; of the kind DEAD_END if there is none."""
    state, kind, end = DFA.starts[mode], -1, start
    for position in range(start, len(data)):
        state = DFA.rows[state][data[position]]
        if not state:
            break
        if DFA.accepts[state] >= 0:
            kind, end = DFA.accepts[state], position + 1
    return (DFA.kinds[kind], data[start:end]) if kind >= 0 else (DEAD_END, data[start:])


def lex(text: str, mode: str = "code") -> list[tuple[str, str]]:
    data, position, found = text.encode(), 0, []
    while position < len(data) and (not found or found[-1][0] != DEAD_END):
        kind, spelling = lexeme(data, position, mode)
        found.append((kind, spelling.decode()))
        position += len(spelling)
    return found


def kinds(text: str, mode: str = "code") -> list[str]:
    return [kind for kind, _ in lex(text, mode)]


def parsed(text: str, mode: str = "eval") -> ast.AST | None:
    """The syntax tree by CPython of an expression or a program; None if it rejects that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(text, mode=mode).body
        except (SyntaxError, ValueError):
            return None


def test_keywords_are_those_of_the_language():
    assert sorted(KEYWORDS) == sorted(keyword.kwlist)
    assert set(SOFT_KEYWORDS[3, 11]) <= set(keyword.softkwlist)


def test_every_word_and_operator_is_a_kind_of_its_own():
    for text in (*KEYWORDS, *SOFT_KEYWORDS[3, 11], *OPERATORS):
        assert lex(text) == [(text, text)]
    for word in (*KEYWORDS, *SOFT_KEYWORDS[3, 11]):
        assert kinds(word + "x") == kinds("é" + word) == kinds(word + "9") == ["NAME"]


SPLIT = [
    ("0777", "REAL REAL"),
    ("0777.5", "REAL"),
    ("0777j", "IMAGINARY"),
    ("00_0", "REAL"),
    ("1__0", "REAL NAME"),
    ("1.real", "REAL NAME"),
    ("1..real", "REAL . NAME"),
    ("1...", "REAL . ."),
    ("0x1for", "REAL or"),
    ("0or 1", "BAD NAME SPACE REAL"),
    ("00or", "REAL or"),
    ("0b2", "BAD REAL"),
    ("1if", "REAL if"),
    ("1as", "BAD"),
    ("1.5async", "BAD NAME"),
    ("1jfrom", "BAD"),
    ("1for", "REAL for"),
    ("1_as", "REAL NAME"),
    ("1é", "REAL NAME"),
    ("''", "STRING"),
    ("''''''", "STRING"),
    ("'''a", "BAD NAME"),
    ("'''''", "BAD STRING"),
    ("''''", "BAD BAD"),
    ("'a", "BAD NAME"),
    ("rB'a", "BAD NAME"),
    ("ur''", "NAME STRING"),
    ("b'é'", "BAD NAME BAD"),
    ("'\\x4'", "BAD DEAD"),
    ("f''", "FSTRING_START:' BAD"),
    ('Rf"""', 'FSTRING_START:r"""'),
    ("bf'", "NAME BAD"),
    ("a\\\r\n\\\rb", "NAME CONTINUATION CONTINUATION NAME"),
    ("#é\r\n\r\r", "COMMENT NL NL NL"),
    ("# \0", "COMMENT DEAD"),
    (" \t\f", "SPACE"),
    ("a<>b", "NAME < > NAME"),
    ("a:=b", "NAME := NAME"),
    (".. ...", ". . SPACE ..."),
    ("a!b", "NAME DEAD"),
    ("$", "DEAD"),
    ("\ufeff", "DEAD"),
    ("\xa0", "DEAD"),
]
SPLIT_IN_FIELD = [
    ("a!r:", "NAME FIELD_CONVERSION FIELD_COLON"),
    ("a!=b", "NAME != NAME"),
    ("a!real", "NAME FIELD_CONVERSION NAME"),
    ("a!r }", "NAME BAD FIELD_CLOSE"),
    ("a!x", "NAME DEAD"),
    ("a:=5", "NAME FIELD_COLON FIELD_EQUAL REAL"),
    ("a==b=}", "NAME == NAME FIELD_EQUAL FIELD_CLOSE"),
    ("a<=b>=c+=d->", "NAME <= NAME >= NAME += NAME ->"),
    ("a#", "NAME DEAD"),
    ("a\\\n", "NAME DEAD"),
    ("a\n", "NAME NL"),
    ("'}'", "STRING"),
]
SPLIT_IN_TEXT = [
    ("ab é{{}}{", "FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT FIELD_OPEN"),
    ("{{{", "FSTRING_TEXT FIELD_OPEN"),
    ("}}}", "FSTRING_TEXT BAD"),
    ("\\N{DIGIT ONE}\\x41\\\\", "FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT"),
    ("\\{x", "FSTRING_TEXT FIELD_OPEN FSTRING_TEXT"),
    ("\\}", "FSTRING_TEXT BAD"),
    ("\\U0011aaaa", "BAD FSTRING_TEXT"),
    ("\\'\\\r\n", "FSTRING_TEXT FSTRING_TEXT"),
    ("'", "FSTRING_END"),
    ("\n", "DEAD"),
    ("\0", "DEAD"),
]
MODES = [
    *(("code", *case) for case in SPLIT),
    *(("field", *case) for case in SPLIT_IN_FIELD),
    *(("text:'", *case) for case in SPLIT_IN_TEXT),
    ("nested", "a:=b}", "NAME := NAME }"),
    ("nested", "a#", "NAME DEAD"),
    ("nested", "a!r", "NAME DEAD"),
    ("text:r'", "\\x\\'\\{{", "FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT"),
    ("text:r'", "\\\\'", "FSTRING_TEXT FSTRING_END"),
    ("text:'''", "a\n''b'{'''", "FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT FIELD_OPEN FSTRING_END"),
    ("spec:'", ">{{}}", "FSTRING_TEXT FIELD_OPEN FIELD_OPEN FIELD_CLOSE FIELD_CLOSE"),
    ("spec:'", "\\'\\x41\\}'", "FSTRING_TEXT FSTRING_TEXT FSTRING_TEXT FIELD_CLOSE DEAD"),
    ("spec:'", "\\x4", "BAD FSTRING_TEXT"),
    ("spec:r'", "\\x4", "FSTRING_TEXT FSTRING_TEXT"),
    ('spec:"""', '""\n"""', "FSTRING_TEXT FSTRING_TEXT BAD"),
]


@pytest.mark.parametrize(("mode", "text", "expected"), MODES)
def test_longest_matches(mode, text, expected):
    assert kinds(text, mode) == expected.split()


@settings(max_examples=1000)
@given(st.text("01789aefjJxXoObB._", min_size=1, max_size=8))
def test_numbers_are_those_of_cpython(text):
    node = parsed(text)
    is_number = isinstance(node, ast.Constant) and type(node.value) in (int, float, complex)
    assert (kinds(text) in (["REAL"], ["IMAGINARY"])) == is_number
    if is_number:
        assert (kinds(text) == ["IMAGINARY"]) == isinstance(node.value, complex)


NUMBERS = ["0", "1", "00", "1.", ".5", "1e5", "0x1", "0b1", "0o7", "1j", "1_0"]
AROUND_NUMBERS = [
    *(
        "[{}for x in y]",
        "{}if x else y",
        "x if {}else y",
        "{}and x",
        "{}or x",
        "{}in x",
        "{}is x",
        "{}not in x",
    ),
    *(
        "raise {}from x",
        "with {}as x: 0",
        "[x for y in {}async for x in y]",
        "{}lambda: 0",
        "{}None",
        "{}0",
        "{}x",
    ),
]
CANNOT_FOLLOW_NUMBERS = {"NAME", "REAL", "lambda", "None"}


@pytest.mark.parametrize("template", AROUND_NUMBERS)
@pytest.mark.parametrize("number", NUMBERS)
def test_words_after_numbers(template, number):
    found = kinds(template.format(number))
    after = {kind for before, kind in pairwise(found) if before in ("REAL", "IMAGINARY")}
    rejected = BAD in found or not after.isdisjoint(CANNOT_FOLLOW_NUMBERS)
    assert rejected == (parsed(template.format(number), "exec") is None)


STRING_PIECES = [
    *(
        "'",
        '"',
        "'''",
        '"""',
        "\n",
        "\r",
        "\r\n",
        " ",
        "a",
        "F",
        "é",
        "\U0001f600",
        "0",
        "00",
        "0000",
        "0010",
    ),
    *("\\", "\\x", "\\u", "\\U", "\\N", "\\N{DIGIT ONE}", "r", "b", "u", "R", "B", "x"),
]
PREFIXES = st.sampled_from(["", "r", "b", "Rb", "bR", "U", "ur"])
QUOTES = st.sampled_from(["'", '"', "'''", '"""'])


def pieces_of(pieces):
    return st.lists(st.sampled_from(pieces), max_size=8)


@pytest.mark.slow
@settings(max_examples=1000)
@given(PREFIXES, QUOTES, pieces_of(STRING_PIECES), st.booleans())
def test_strings_are_those_of_cpython(prefix, quote, pieces, closed):
    text = prefix + quote + "".join(pieces) + quote * closed + "\n"
    found = set(kinds(text)) - SKIPPED
    node = parsed(f"({text})")
    value = node.value if isinstance(node, ast.Constant) else None
    assert (found == {"STRING"}) == isinstance(value, str), text
    assert (found == {"BYTES"}) == isinstance(value, bytes), text


def f_string_is_valid(text: str) -> bool:
    """True if modes and the order of a field's parts allow an f-string whose fields are single names.

    Examples with strings or dicts inside fields are given up.
    """
    kind, opening = lexeme(text.encode(), 0)
    if not kind.startswith("FSTRING_START:"):
        return False
    style = kind.partition(":")[2]
    position, parts = len(opening), [f"text:{style}"]
    while parts and position < len(text.encode()):
        mode = parts[-1] if parts[-1].startswith(("text", "spec")) else "field"
        kind, spelling = lexeme(text.encode(), position, mode)
        position += len(spelling)
        if not step(parts, kind, style):
            return False
    return not parts and position == len(text.encode())


FIELD_ORDER = {
    "NAME": ("open", "named"),
    "FIELD_EQUAL": ("named", "equal"),
    "FIELD_CONVERSION": ("named equal", "converted"),
}


def step(parts: list[str], kind: str, style: str) -> bool:
    """Follow one lexeme; each entry of `parts` is a text, a spec, or how far a field has come."""
    if kind in ("STRING", "BYTES", "{"):
        reject()
    if kind == "FIELD_OPEN":
        depth = sum(part.startswith("spec") for part in parts)
        parts.append("open")
        return depth < 2
    if kind == "FSTRING_END":
        parts.pop()
        return not parts
    if kind == "FIELD_CLOSE":
        return parts.pop() not in ("open", f"text:{style}")
    if kind == "FIELD_COLON":
        is_named, parts[-1] = parts[-1] != "open", f"spec:{style}"
        return is_named
    if kind in FIELD_ORDER:
        before, after = FIELD_ORDER[kind]
        is_due, parts[-1] = parts[-1] in before.split(), after
        return is_due
    return kind in ("FSTRING_TEXT", "SPACE") or (kind == "NL" and len(style) > 2)


F_STRING_PIECES = [
    *(
        "{",
        "}",
        "{{",
        "}}",
        "{a}",
        "{a:",
        "{a!r}",
        "{a!r ",
        "{a=}",
        "{a :>{b}}",
        "{b:{a:",
        "!s",
        "=",
        ":",
        "a",
        "é",
    ),
    *("'", '"', "''", "\\", "\\x41", "\\x", "\\u12", "\\N{DIGIT ONE}", "\\N-", "\n", "\r\n", " "),
]


@pytest.mark.slow
@pytest.mark.skipif(
    sys.version_info[:2] != DEFAULT_VERSION,
    reason="other versions read the fields of f-strings in other ways",
)
@settings(max_examples=1000)
@given(st.sampled_from(["f", "rF", "Fr"]), QUOTES, pieces_of(F_STRING_PIECES))
@example("f", "'", ["{a:", "{", "{}", "}", "}"])
def test_f_strings_are_those_of_cpython(prefix, quote, pieces):
    text = prefix + quote + "".join(pieces) + quote
    is_one_string = kinds("r" + text[len(prefix) :]) == ["STRING"]
    is_f_string = isinstance(parsed(f"({text}\n)"), ast.JoinedStr)
    assert f_string_is_valid(text) == (is_one_string and is_f_string), text


MODULES = (
    "ast bisect colorsys decimal difflib fractions heapq inspect keyword numbers opcode pickle sched shlex "
    "textwrap token typing"
)
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
}


@pytest.mark.parametrize("module", MODULES.split())
def test_files_split_as_tokenize_splits_them(module):
    """Up to the first f-string, where tokenize differs by version."""
    source = (Path(sysconfig.get_path("stdlib")) / f"{module}.py").read_bytes()
    tokens = tokenize.tokenize(io.BytesIO(source).readline)
    theirs = iter([token.string for token in tokens if token.type not in LAYOUT])
    position = 0
    while position < len(source):
        kind, spelling = lexeme(source, position)
        if kind.startswith("FSTRING_START"):
            return
        assert kind not in (BAD, DEAD_END)
        assert kind in SKIPPED or spelling.decode() == next(theirs)
        position += len(spelling)
    assert list(theirs) == [""]
