"""What the parser and the compiler say, in the words that are counted."""

import sys

import pytest

from fimlsp.datasets.languages.judges.python_judge import compile_error, syntax_error
from fimlsp.datasets.languages.known import PYTHON

FAULTS = {
    # what the parser says, what the compiler says
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


@pytest.mark.parametrize("text", FAULTS, ids=lambda text: repr(text[:30]))
def test_faults(text):
    assert (syntax_error(text), compile_error(text)) == FAULTS[text]


@pytest.mark.parametrize(
    ("middle", "ok"), [(b"a", True), ("é".encode(), True), (b"\xc3", False), (b")", False)]
)
def test_holes(middle, ok):
    assert PYTHON.accepts("f(", middle, ")\n") is ok
