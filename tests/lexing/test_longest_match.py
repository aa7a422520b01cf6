"""Reading lexemes of known text, one at a time."""

import pytest

from fimlsp.languages.python.lexical_spec import has_too_many_digits, python_lexical_spec
from fimlsp.lexing.lexer_tables import LexerTables, longest_match

TABLES = LexerTables(python_lexical_spec())
FIRST = [
    ("code", "x = 1", "NAME", 1),
    ("code", "x" * 1000 + " ", "NAME", 1000),
    ("code", "1else", "REAL", 1),
    ("code", "'a' b", "STRING", 3),
    ("code", "'''" + "a\n" * 500 + "'''x", "STRING", 1006),
    ("code", "'''" + r"a'b\'''c''d" * 50 + "'''" + "x", "STRING", 556),
    ("code", "'" + r"a\'" * 50 + "' '", "STRING", 152),
    ("code", r"'\N{BULLET}'x", "STRING", 12),
    ("code", r"'\N{BULLETS}'", None, None),
    ("code", "0" * 5000, "REAL", 5000),
    ("code", "1" * 4300 + " ", "REAL", 4300),
    ("code", "1" * 4301, None, None),
    ("code", "1" * 5000 + ".", "REAL", 5001),
    ("field", "a!r", "NAME", 1),
    ("field", "lambda x", "BAD", 6),
    ("field", "!r}", "FIELD_CONVERSION", 2),
    ("text:'", "ab{", "FSTRING_TEXT", 2),
    ("text:'", "'", "FSTRING_END", 1),
    ("text:'", "\n", None, None),
]


@pytest.mark.parametrize(("mode", "text", "kind", "end"), FIRST)
def test_first_lexeme(mode, text, kind, end):
    found = longest_match(TABLES, TABLES.dfa.starts[mode], text.encode(), 0)
    assert (found and (TABLES.kinds[found[0]], found[1])) == (kind and (kind, end))


DIGITS = [(b"1" * 4300, 0, False), (b"1" * 4301, 0, True), (b"1" * 10, 4291, True), (b"1.5", 9000, False)]


@pytest.mark.parametrize(("number", "more", "too_many"), DIGITS)
def test_digits(number, more, too_many):
    assert has_too_many_digits(number, more) is too_many
