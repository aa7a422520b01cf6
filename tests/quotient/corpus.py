"""Python text to hold the grammar against: the standard library and the syntax it is tested with."""

from __future__ import annotations

import ast
import doctest
import random
import re
import sysconfig
import textwrap
import tokenize
import warnings
from collections.abc import Iterator
from pathlib import Path

LIBRARY = Path(sysconfig.get_path("stdlib"))
SUBJECTS = (
    *("syntax", "grammar", "patma", "fstring", "exceptions", "compile", "ast", "unparse", "codeop", "eof"),
    *("positional_only_arg", "keywordonlyarg", "named_expressions", "unpack_ex", "unpack", "extcall"),
    *("except_star", "exception_group", "with", "generators", "genexps", "listcomps", "setcomps"),
    *("coroutines", "asyncgen", "decorators", "global", "future", "type_comments", "string_literals"),
)


def parsed(text: str) -> ast.Module:
    """The tree of *text* by CPython, without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text)


def complaint(text: str, *, compiled: bool = False) -> str | None:
    """The error of CPython's parser, or compiler, for *text*; None if it accepts the text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "case", "exec", 0 if compiled else ast.PyCF_ONLY_AST, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return str(error) or type(error).__name__
    return None


def compiles(text: str) -> bool:
    """True if the Python that runs this compiles *text*."""
    return complaint(text, compiled=True) is None


def library_files(count: int, seed: int) -> list[Path]:
    """A sample of the standard library's files."""
    files = sorted(LIBRARY.rglob("*.py"))
    return random.Random(seed).sample(files, min(count, len(files)))


def read(path: Path) -> str:
    """The text of a Python file, or an empty one where its encoding is wrong."""
    try:
        with tokenize.open(path) as file:
            return file.read()
    except (SyntaxError, UnicodeDecodeError):
        return ""


def syntax_snippets() -> list[str]:
    """Strings, doctests and short statements of the standard library's own tests of syntax."""
    paths = [LIBRARY / "test" / f"test_{subject}.py" for subject in SUBJECTS]
    found = (snippet for path in paths if path.exists() for snippet in snippets(read(path)))
    return list(dict.fromkeys(found))


def snippets(source: str) -> Iterator[str]:
    """The strings, doctests and statements of at most 12 lines in *source*."""
    lines = source.splitlines(keepends=True)
    for node in ast.walk(parsed(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_string(node.value)
        elif (
            isinstance(node, ast.stmt) and node.end_lineno is not None and node.end_lineno - node.lineno < 12
        ):
            yield textwrap.dedent("".join(lines[node.lineno - 1 : node.end_lineno]))


def _of_string(text: str) -> Iterator[str]:
    if ">>> " in text:
        try:
            yield from (example.source for example in doctest.DocTestParser().get_examples(text))
        except ValueError:
            return
    elif len(text) < 1000 and not re.fullmatch(r"[\w .]*", text):
        yield textwrap.dedent(text)
