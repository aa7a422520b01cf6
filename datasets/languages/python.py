"""Python: CPython as the reference parser, and the places for holes: tokens, suites and statements.

The places are found with the standard library's `tokenize`. Comments, line ends and the end of the file count
as tokens too, as in the code of Melcer et al. 2024.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from fimlsp.datasets.languages.replay_language import (
    NoTokensError,
    ReplayLanguage,
    Span,
    Suite,
    SuiteBuilder,
)
from fimlsp.languages.python import python as python_grammar
from fimlsp.languages.python.versions import PYTHON_VERSIONS, PythonVersion

_NAMES = re.compile(r"\b(argument|name|nonlocal) '\w+'|\b(feature) \w+|:.*", re.DOTALL)
_NOT_IN_A_STATEMENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def syntax_error(text: str) -> str | None:
    """The parser's error in *text*, in one line; None if it parses."""
    error = _error_of(ast.parse, text)
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{error.msg} (line {error.lineno})"
    return _message(error)


def compile_error(text: str) -> str | None:
    """The compiler's error in *text*, without the names in it; None if it compiles."""
    error = _error_of(_compile, text)
    return _NAMES.sub(r"\1\2", error.msg) if isinstance(error, SyntaxError) else _message(error)


def _compile(text: str) -> object:
    return compile(text, "<file>", "exec", dont_inherit=True)


def _error_of(read: Callable[[str], object], text: str) -> Exception | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error
    return None


def _message(error: Exception | None) -> str | None:
    return None if error is None else str(error) or type(error).__name__


def grammar_for(interpreter: PythonVersion) -> PythonVersion:
    """The version of the grammar for *interpreter* as the reference: its own, or the newest one before it."""
    return max(version for version in PYTHON_VERSIONS if version <= interpreter)


@lru_cache(maxsize=2)
def kinds_and_tokens(text: str) -> tuple[tuple[int, Span], ...]:
    """Kind and span of each token as `tokenize` of Python 3.11 gives them: an f-string is one token.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    line_starts = [0, *accumulate(len(line) for line in io.StringIO(text, newline="\n"))]

    def offset(position: tuple[int, int]) -> int:
        row, column = position
        return min(line_starts[min(row, len(line_starts)) - 1] + column, len(text))

    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(text, newline="\n").readline))
    except (tokenize.TokenError, SyntaxError) as error:
        raise NoTokensError(str(error)) from error
    return tuple((kind, (offset(start), offset(end))) for kind, start, end in _whole_strings(tokens))


def _whole_strings(
    tokens: Iterable[tokenize.TokenInfo],
) -> Iterator[tuple[int, tuple[int, int], tuple[int, int]]]:
    """The tokens, with the parts into which Python 3.12 splits an f-string joined again."""
    opening, closing = getattr(tokenize, "FSTRING_START", None), getattr(tokenize, "FSTRING_END", None)
    depth, string_start = 0, (0, 0)
    for token in tokens:
        if token.type == opening:
            string_start = string_start if depth else token.start
            depth += 1
        elif token.type == closing:
            depth -= 1
            if not depth:
                yield tokenize.STRING, string_start, token.end
        elif not depth:
            yield token.type, token.start, token.end


def suites_of(text: str) -> tuple[Suite, ...]:
    """The tokens of each indented suite, and last those of the file itself.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    suites = SuiteBuilder()
    for kind, token in kinds_and_tokens(text):
        if kind == tokenize.INDENT:
            suites.enter()
        elif kind == tokenize.DEDENT:
            suites.leave()
        else:
            suites.add(token)
    return suites.suites()


def bodies_of(text: str) -> list[Span]:
    """Each indented suite from the indentation of its first line to its last line end.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    bodies, starts, last_end = list[Span](), list[int](), 0
    for kind, (start, _) in kinds_and_tokens(text):
        if kind == tokenize.INDENT:
            starts.append(start)
        elif kind == tokenize.DEDENT:
            bodies.append((starts.pop(), last_end))
        elif kind == tokenize.NEWLINE:
            last_end = start
    return sorted(bodies)


def statements_of(text: str) -> list[Span]:
    """Each logical line, without comments and its line end.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    statements, first, last_end = list[Span](), None, 0
    for kind, (start, end) in kinds_and_tokens(text):
        if kind == tokenize.NEWLINE:
            if first is not None:
                statements.append((first, last_end))
            first = None
        elif kind not in _NOT_IN_A_STATEMENT:
            first = start if first is None else first
            last_end = end
    return statements


PYTHON = ReplayLanguage(
    name="python",
    patterns=("*.py",),
    grammar=python_grammar(grammar_for(sys.version_info[:2])),
    reference_parser="CPython",
    syntax_error=syntax_error,
    compiler=compile_error,
    suites=suites_of,
    bodies=bodies_of,
    statements=statements_of,
)
