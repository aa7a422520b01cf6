"""Whether a completion leaves the block or a bracket that both ends of a hole are in, judged by its text."""

from __future__ import annotations

import re
from collections.abc import Iterator

_STRING = r"(?s:\"\"\".*?(?:\"\"\"|\Z)|'''.*?(?:'''|\Z))|\"(?:[^\"\\\n]|\\.)*\"?|'(?:[^'\\\n]|\\.)*'?"
_LEXEME = re.compile(
    rf"(?P<quiet>{_STRING}|#[^\n]*|\\\n)|(?P<opens>[(\[{{])|(?P<closes>[)\]}}])|(?P<line>\n)"
)
_INDENTATION = re.compile(r"[ \t]*(?=[^\s#])")


def escapes(left: str, middle: str, completion: str) -> bool:
    """Whether *completion* leaves what the true *middle* behind *left* stays in: brackets, or the block."""
    depth = sum(step for _, step in _steps(left))
    if _closed(completion) > _closed(middle):
        return True
    start = left.rfind("\n") + 1
    line = (left + middle)[start:]
    column = len(line) - len(line.lstrip(" \t"))
    return any(indentation < column for indentation in _indentations(completion, depth))


def _steps(text: str) -> Iterator[tuple[int, int]]:
    """The places of brackets outside strings and comments, each with 1 or -1; of line ends, with 0."""
    for found in _LEXEME.finditer(text):
        if found.lastgroup != "quiet":
            yield found.end(), {"opens": 1, "closes": -1, "line": 0}[found.lastgroup or ""]


def _closed(text: str) -> int:
    """How many brackets *text* closes that it does not open."""
    depth = closed = 0
    for _, step in _steps(text):
        depth += step
        closed = max(closed, -depth)
    return closed


def _indentations(text: str, depth: int) -> Iterator[int]:
    """The indentation of each line of code that begins in *text*, which begins within *depth* brackets."""
    for end, step in _steps(text):
        depth += step
        if not step and depth <= 0 and (found := _INDENTATION.match(text, end)):
            yield len(found.group())
