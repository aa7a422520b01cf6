"""CPython as the judge of Python files: whether they parse, and whether they compile as well."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

_NAMES = re.compile(r"\b(argument|name|nonlocal) '\w+'|\b(feature) \w+|:.*", re.DOTALL)


def syntax_error(text: str) -> str | None:
    """The parser's objection to *text*, in one line; None if it parses."""
    error = _objection(ast.parse, text)
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.msg} (line {error.lineno})"
    return _message(error)


def compile_error(text: str) -> str | None:
    """The compiler's objection to *text*, without the names in it; None if it compiles."""
    error = _objection(_compile, text)
    return _NAMES.sub(r"\1\2", error.msg) if isinstance(error, SyntaxError) else _message(error)


def _compile(text: str) -> object:
    return compile(text, "<file>", "exec", dont_inherit=True)


def _objection(read: Callable[[str], object], text: str) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None


def _message(error: Exception | None) -> str | None:
    return None if error is None else str(error) or type(error).__name__
