"""The measures of a text at a cursor: its agreement with the truth, and its faults."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence

from fimlsp.models.learnt import agreeing, is_word

NEAR = 4
"""Lines above and below the cursor in which the same line is a repetition."""

_DEFINITION = re.compile(r"(\s*)(?:async\s+)?(?:def|class)\s+(\w+)")
_COMMON = frozenset(
    ["pass", "else:", "try:", "finally:", "return", "continue", "break", "raise", "yield", "...", '"""']
)


def goes_on(text: str, truth: str) -> bool:
    """True if *truth*, which starts with *text*, goes on with code in the same line."""
    rest = truth[len(text.rstrip()) :].partition("\n")[0].strip()
    return bool(rest) and not rest.startswith("#")


def is_exact(text: str, truth: str, is_within_line: bool) -> bool:
    """True if *text* equals *truth*, for a cut within a line, or if their first lines are equal."""
    if not is_within_line:
        text, truth = text.partition("\n")[0], truth.partition("\n")[0]
    return bool(text.strip()) and text.rstrip() == truth.rstrip()


def saved(text: str, truth: str) -> int:
    """The number of characters that the user need not type if the words of *text* that agree are accepted.

    White space at the start of a line does not count: editors insert it by themselves.
    """
    first, *others = text[: agreeing(text, truth)].split("\n")
    return len(first) + sum(len(line.lstrip()) for line in others)


def leaves_block(text: str, column: int) -> bool:
    """True if a line of *text* after its first starts left of *column*, the column of the block."""
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    return any(_indentation(line) < column for line in lines)


def repeats(left: str, text: str, right: str, truth: str = "") -> bool:
    """True if *text* has a line that occurs within four lines of it, or a definition that already exists.

    Blank lines, lines of brackets or keywords alone, and lines of *truth* do not count. A definition is
    identified by its name and column, within its block.
    """
    above_and_start, end_and_below = left.rpartition("\n"), right.partition("\n")
    line_start, line_end = above_and_start[2], end_and_below[0]
    written = [line for line in (line_start + text + line_end).split("\n") if line.strip()]
    above = [line for line in above_and_start[0].split("\n") if line.strip()]
    below = [line for line in end_and_below[2].split("\n") if line.strip()]
    true_lines = {line.strip() for line in (line_start + truth + line_end).split("\n")}
    lines = [*above[-NEAR:], *written, *below[:NEAR]]
    first = len(above[-NEAR:])
    for number, line in enumerate(written, first):
        near = [*lines[max(0, number - NEAR) : number], *lines[max(number + 1, first + len(written)) :]]
        if line.strip() not in true_lines and _is_distinctive(line) and line.strip() in map(str.strip, near):
            return True
    new = [line for line in written if line.strip() not in true_lines]
    return any(_is_defined_again(line, above, below) for line in new)


def _is_distinctive(line: str) -> bool:
    return line.strip() not in _COMMON and any(map(is_word, line))


def _is_defined_again(line: str, above: Sequence[str], below: Sequence[str]) -> bool:
    """True if *line* is a definition that its block already has."""
    definition = _DEFINITION.match(line)
    if definition is None:
        return False
    column = len(definition[1])
    return definition[2] in {*_defined(reversed(above), column), *_defined(below, column)}


def _defined(lines: Iterable[str], column: int) -> list[str]:
    """The names that *lines* define at *column*, to the end of the block."""
    names = list[str]()
    for line in lines:
        if _indentation(line) < column:
            break
        definition = _DEFINITION.match(line)
        if definition is not None and len(definition[1]) == column:
            names.append(definition[2])
    return names


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())


def undefined_names(left: str, text: str, right: str) -> frozenset[str]:
    """The names in *text* that pyflakes reports as undefined; none if the file does not parse.

    Names that are undefined in *left* or *right* do not count, such as those that the cut code defines.
    """
    start, end = _position(left), _position(left + text)
    names = _undefined_names(left + text + right)
    return frozenset(name for position, name in names if start <= position < end)


def _position(text: str) -> tuple[int, int]:
    """Line, from 1, and column in bytes after *text*."""
    return text.count("\n") + 1, len(text[text.rfind("\n") + 1 :].encode())


def _undefined_names(text: str) -> Iterator[tuple[tuple[int, int], str]]:
    from pyflakes.checker import Checker
    from pyflakes.messages import UndefinedLocal, UndefinedName

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        messages = Checker(tree).messages
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    for message in messages:
        if isinstance(message, UndefinedName | UndefinedLocal):
            yield (message.lineno, message.col), str(message.message_args[0])
