"""TOML: the reference parser of a replay, and the places for holes."""

import pytest

pytest.importorskip("tomllib")

from fimlsp.datasets.languages.toml import TOML, tokens_of

ERRORS = [
    ("a = 1\n", None, None),
    ("a = \n", "Invalid value (at line 1, column 5)", None),
    ("a = 1\na = 2\n", None, "Cannot overwrite a value (at line 2, column 6)"),
]


@pytest.mark.parametrize(("text", "of_syntax", "beyond"), ERRORS)
def test_what_is_defined_twice_is_no_fault_of_syntax(text, of_syntax, beyond):
    assert (TOML.syntax_error(text), TOML.compile_error(text)) == (of_syntax, beyond)


TOKENS = [
    ("a.b = 1.5 # one = 2\n", ["a.b", "=", "1.5"]),
    ('[[a]]\nb = {c = \'#\', d = "\\""}', ["[", "[", "a", "]", "]", "b", "=", "{", "c", "=", "'#'", ","]),
    ('a = """\n[x]""""\nb = 1', ["a", "=", '"""\n[x]""""', "b"]),
]


@pytest.mark.parametrize(("text", "first"), TOKENS)
def test_tokens(text, first):
    assert [text[slice(*span)] for span in tokens_of(text)][: len(first)] == first


def test_lines_and_brackets_are_places():
    text = "[a]\nb = [\n  1,\n]\n"
    assert [text[slice(*span)] for span in TOML.statements(text)] == ["[a]", "b = [", "1,", "]"]
    assert [text[slice(*span)] for span in TOML.bodies(text)] == ["a", "\n  1,\n"]
