"""What CPython says of a text: whether it parses, and whether it compiles as well."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable

_NAMES = re.compile(r"\b(argument|name|nonlocal) '\w+'|\b(feature) \w+|:.*", re.DOTALL)


def syntax_error(text: str) -> str | None:
    """What the parser says against *text*, in one line; None if it parses."""
    error = _refusal(ast.parse, text)
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.msg} (line {error.lineno})"
    return _told(error)


def compile_error(text: str) -> str | None:
    """What the compiler says against *text*, without the names in it; None if it compiles."""
    error = _refusal(_compile, text)
    return _NAMES.sub(r"\1\2", error.msg) if isinstance(error, SyntaxError) else _told(error)


def parses(left: str, middle: bytes, right: str) -> bool:
    """Whether the file with *middle* in the hole parses."""
    try:
        return syntax_error(left + middle.decode() + right) is None
    except UnicodeDecodeError:
        return False


def _compile(text: str) -> object:
    return compile(text, "<file>", "exec", dont_inherit=True)


def _refusal(read: Callable[[str], object], text: str) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None


def _told(error: Exception | None) -> str | None:
    return None if error is None else str(error) or type(error).__name__
