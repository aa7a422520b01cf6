"""Where holes are cut into Python files, found with the standard library's `tokenize`.

Comments, line ends and the end of the file count as tokens too, as in the code of Melcer et al. 2024.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

from fimlsp.datasets.languages.suites import NoTokensError, Span, Suite, SuiteBuilder

_NOT_IN_A_STATEMENT = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


@lru_cache(maxsize=2)
def kinds_and_tokens(text: str) -> tuple[tuple[int, Span], ...]:
    """Kind and span of each token as `tokenize` of Python 3.11 gives them: an f-string is one token.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    starts = [0, *accumulate(len(line) for line in io.StringIO(text, newline="\n"))]

    def offset(position: tuple[int, int]) -> int:
        row, column = position
        return min(starts[min(row, len(starts)) - 1] + column, len(text))

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
    depth, begin = 0, (0, 0)
    for token in tokens:
        if token.type == opening:
            begin = begin if depth else token.start
            depth += 1
        elif token.type == closing:
            depth -= 1
            if not depth:
                yield tokenize.STRING, begin, token.end
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
    bodies, begins, last_end = list[Span](), list[int](), 0
    for kind, (start, _) in kinds_and_tokens(text):
        if kind == tokenize.INDENT:
            begins.append(start)
        elif kind == tokenize.DEDENT:
            bodies.append((begins.pop(), last_end))
        elif kind == tokenize.NEWLINE:
            last_end = start
    return sorted(bodies)


def statements_of(text: str) -> list[Span]:
    """Each logical line, without comments and its line end.

    Raises:
        NoTokensError: `tokenize` cannot read *text*.
    """
    lines, begin, last_end = list[Span](), None, 0
    for kind, (start, end) in kinds_and_tokens(text):
        if kind == tokenize.NEWLINE:
            if begin is not None:
                lines.append((begin, last_end))
            begin = None
        elif kind not in _NOT_IN_A_STATEMENT:
            begin = start if begin is None else begin
            last_end = end
    return lines
