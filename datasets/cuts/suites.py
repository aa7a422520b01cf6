"""The tokens of a file by the suite they stand in, as the boundary cuts of the paper choose them.

A *group* is one suite (the body of one compound statement, or the whole file); its *runs* are the stretches
of tokens between nested suites. Comments, line ends and the end of the file are tokens as well.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import accumulate

Token = tuple[int, int]
"""Where a token starts and ends, in characters."""

Run = tuple[Token, ...]
Group = tuple[Run, ...]


class NoTokensError(Exception):
    """The file parses, but `tokenize` does not read it."""


@lru_cache(maxsize=2)
def kinds_and_tokens(text: str) -> tuple[tuple[int, Token], ...]:
    """Kind and place of each token as `tokenize` of Python 3.11 has them: an f-string is one.

    Raises:
        NoTokensError: *text* cannot be read so.
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
    """The tokens, with the parts that Python 3.12 gives of an f-string put together again."""
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


def groups_of(text: str) -> tuple[Group, ...]:
    """The suites of *text*, in the order in which they end.

    Raises:
        NoTokensError: *text* cannot be read by `tokenize`.
    """
    done = list[Group]()
    open_groups: list[list[list[Token]]] = [[[]]]
    for kind, token in kinds_and_tokens(text):
        if kind == tokenize.INDENT:
            open_groups[-1].append([])
            open_groups.append([[]])
        elif kind == tokenize.DEDENT:
            done.append(_closed(open_groups.pop()))
        else:
            open_groups[-1][-1].append(token)
    return (*done, *map(_closed, reversed(open_groups)))


def _closed(runs: list[list[Token]]) -> Group:
    return tuple(tuple(run) for run in runs if run)


def suites_of(text: str) -> list[Token]:
    """Where each indented suite starts and ends: from its first line's indentation to its last line end.

    Raises:
        NoTokensError: *text* cannot be read by `tokenize`.
    """
    suites, begins, last_end = list[Token](), list[int](), 0
    for kind, (start, _) in kinds_and_tokens(text):
        if kind == tokenize.INDENT:
            begins.append(start)
        elif kind == tokenize.DEDENT:
            suites.append((begins.pop(), last_end))
        elif kind == tokenize.NEWLINE:
            last_end = start
    return sorted(suites)


def statement_lines_of(text: str) -> list[Token]:
    """Where each logical line starts and ends, comments and the line end left out.

    Raises:
        NoTokensError: *text* cannot be read by `tokenize`.
    """
    lines, begin, last_end = list[Token](), None, 0
    for kind, (start, end) in kinds_and_tokens(text):
        if kind == tokenize.NEWLINE:
            if begin is not None:
                lines.append((begin, last_end))
            begin = None
        elif kind not in (
            tokenize.COMMENT,
            tokenize.NL,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        ):
            begin = start if begin is None else begin
            last_end = end
    return lines
