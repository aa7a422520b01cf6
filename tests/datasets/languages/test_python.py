"""Python as replayed: the errors of the parser and the compiler, in the words that are counted."""

import sys

import pytest

from fimlsp.datasets.languages.python import PYTHON, compile_error, grammar_for, syntax_error
from fimlsp.languages.python import python

ERRORS = {
    # text: (the parser's error, the compiler's error)
    "x = 1\n": (None, None),
    "def f():\n    return 1\n": (None, None),
    "f(": ("'(' was never closed (line 1)", "'(' was never closed"),
    "return\n": (None, "'return' outside function"),
    "f(a=1, a=2)\n": (None, "keyword argument repeated"),
    "def f(a, b, a): pass\n": (None, "duplicate argument in function definition"),
    "def f(a):\n    global a\n": (None, "name is parameter and global"),
    "def f():\n    nonlocal a\n": (None, "no binding for nonlocal found"),
    "from __future__ import a\n": (
        "future feature a is not defined (line 1)" if sys.version_info >= (3, 14) else None,
        "future feature is not defined",
    ),
    "lambda é, é: 0\n": (None, "duplicate argument in function definition"),
    "'\\u12'\n": (
        "(unicode error) 'unicodeescape' codec can't decode bytes in position 0-3: "
        "truncated \\uXXXX escape (line 1)",
        "(unicode error) 'unicodeescape' codec can't decode bytes in position 0-3",
    ),
    "x = 1 is 1; y = '\\d'\n": (None, None),
    "\0": ("source code string cannot contain null bytes",) * 2,
    "(" * 99_999: ("too many nested parentheses (line 1)", "too many nested parentheses"),
}


@pytest.mark.parametrize("text", ERRORS, ids=lambda text: repr(text[:30]))
def test_errors(text):
    assert (syntax_error(text), compile_error(text)) == ERRORS[text]


@pytest.mark.parametrize(
    ("middle", "ok"), [(b"a", True), ("é".encode(), True), (b"\xc3", False), (b")", False)]
)
def test_holes(middle, ok):
    assert PYTHON.accepts("f(", middle, ")\n") is ok


@pytest.mark.parametrize(
    ("interpreter", "version"),
    [((3, 8), (3, 8)), ((3, 11), (3, 11)), ((3, 15), (3, 15)), ((3, 16), (3, 15)), ((4, 0), (3, 15))],
)
def test_the_grammar_is_that_of_the_interpreter_or_the_newest_before_it(interpreter, version):
    assert grammar_for(interpreter) == version


def test_python_is_that_which_runs():
    assert PYTHON.grammar == python(grammar_for(sys.version_info[:2]))
