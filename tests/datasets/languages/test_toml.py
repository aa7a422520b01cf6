"""TOML: the reference parser of a replay, and the places for holes."""

import pytest

from fimlsp.datasets.languages import json_and_toml
from fimlsp.datasets.languages.json_and_toml import TOML, toml_tokens
from fimlsp.datasets.languages.replay_language import MissingParserError

ERRORS = [
    ("a = 1\n", None),
    ("a = \n", "Invalid value (at line 1, column 5)"),
    ("a = 1\na = 2\n", "Cannot overwrite a value (at line 2, column 6)"),
    ("a = {\n}\n", "Invalid initial character for a key part (at line 1, column 6)"),
]


@pytest.mark.parametrize(("text", "error"), ERRORS)
def test_errors(text, error):
    assert TOML.syntax_error(text) == error


def test_another_version_of_the_parser_is_refused(monkeypatch):
    monkeypatch.setattr(json_and_toml, "package_version", lambda _: "2.5.0")
    with pytest.raises(MissingParserError, match=r"pip install tomli==2\.2\.1"):
        TOML.syntax_error("")


TOKENS = [
    ("a.b = 1.5 # one = 2\n", ["a.b", "=", "1.5"]),
    ('[[a]]\nb = {c = \'#\', d = "\\""}', ["[", "[", "a", "]", "]", "b", "=", "{", "c", "=", "'#'", ","]),
    ('a = """\n[x]""""\nb = 1', ["a", "=", '"""\n[x]""""', "b"]),
]


@pytest.mark.parametrize(("text", "first"), TOKENS)
def test_tokens(text, first):
    assert [text[slice(*span)] for span in toml_tokens(text)][: len(first)] == first


def test_lines_and_brackets_are_places():
    text = "[a]\nb = [\n  1,\n]\n"
    assert [text[slice(*span)] for span in TOML.statements(text)] == ["[a]", "b = [", "1,", "]"]
    assert [text[slice(*span)] for span in TOML.bodies(text)] == ["a", "\n  1,\n"]
