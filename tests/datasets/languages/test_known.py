"""The languages that can be replayed, and which grammar of Python goes with the judge."""

import sys

import pytest

from fimlsp.datasets.languages.known import LANGUAGES, PYTHON, grammar_for
from fimlsp.languages.python import python


@pytest.mark.parametrize(
    ("interpreter", "version"),
    [((3, 8), (3, 8)), ((3, 11), (3, 11)), ((3, 15), (3, 15)), ((3, 16), (3, 15)), ((4, 0), (3, 15))],
)
def test_the_grammar_is_that_of_the_judge_or_the_newest_before_it(interpreter, version):
    assert grammar_for(interpreter) == version


def test_python_is_that_which_runs():
    assert PYTHON.grammar == python(grammar_for(sys.version_info[:2]))


@pytest.mark.parametrize(
    ("name", "own", "foreign"),
    [
        ("python", ["a.py", "__init__.py"], ["a.pyi", "a.json", "py", "a.PY"]),
        ("json", ["a.json", ".x.json", "b.ipynb"], ["a.jsonl", "a.py", "json"]),
        ("lua", ["a.lua"], ["a.luac", "lua"]),
        ("go", ["a.go", "a_test.go"], ["go.mod", "go"]),
        ("slua", ["a.slua"], ["a.lua", "slua"]),
    ],
)
def test_files_are_known_by_their_names(name, own, foreign):
    language = LANGUAGES[name]
    assert [file for file in [*own, *foreign] if language.has_file(file)] == own
