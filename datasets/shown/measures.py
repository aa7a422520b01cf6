"""Measures a text that was shown at a cursor: how far it agrees with the truth, and which faults it has."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

BEGINNING = 4
"""Characters that must agree for a text to begin right."""

NEAR = 4
"""Lines above and below the cursor in which the same line is a repetition."""

_WORD = re.compile(r"\s*(?:\w+|[^\w\s]+)")
_DEFINITION = re.compile(r"(\s*)(?:async\s+)?(?:def|class)\s+(\w+)")
_COMMON = frozenset(
    ["pass", "else:", "try:", "finally:", "return", "continue", "break", "raise", "yield", "...", '"""']
)


def agreeing(text: str, truth: str) -> int:
    """How many characters of *text* its leading words have that *truth* begins with as well.

    A word is a run of letters and digits or a run of other signs, with the white space before it, as editors
    accept a suggestion word by word. Where *truth* goes on within a word, that word does not agree.
    """
    end = 0
    for word in _WORD.finditer(text):
        if not truth.startswith(word[0], end) or _is_in_word(truth, word.end()):
            break
        end = word.end()
    return end


def _is_in_word(text: str, offset: int) -> bool:
    return 0 < offset < len(text) and _is_word(text[offset - 1]) and _is_word(text[offset])


def _is_word(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def is_wholly_right(text: str, truth: str) -> bool:
    """Whether all of *text* is what stood there, as far as it goes; white space at its end aside."""
    text = text.rstrip()
    return bool(text) and agreeing(text, truth) == len(text)


def is_exact(text: str, truth: str, is_within_line: bool) -> bool:
    """Whether *text* is what stood there: all of it for a cut within a line, else its first line."""
    if not is_within_line:
        text, truth = text.partition("\n")[0], truth.partition("\n")[0]
    return bool(text.strip()) and text.rstrip() == truth.rstrip()


def begins_right(text: str, truth: str) -> bool:
    """Whether the first four characters of *text* or more, to a word's end, are what stood there.

    A shorter truth must be there as a whole.
    """
    agreed = len(text[: agreeing(text, truth)].strip())
    return agreed >= min(BEGINNING, len(truth.strip()))


def saved(text: str, truth: str) -> int:
    """Characters that need not be typed if the words of *text* are accepted as long as they are right.

    White space at the beginning of a line is not counted: editors write it by themselves.
    """
    first, *others = text[: agreeing(text, truth)].split("\n")
    return len(first) + sum(len(line.lstrip()) for line in others)


def leaves_block(text: str, column: int) -> bool:
    """Whether a line of *text* behind its first begins left of *column*, where the block stands."""
    lines = [line for line in text.split("\n")[1:] if line.strip()]
    return any(_indentation(line) < column for line in lines)


def repeats(left: str, text: str, right: str, truth: str = "") -> bool:
    """Whether *text* writes a line that stands within four lines of it, or a definition that exists already.

    Blank lines do not count, nor brackets and keywords alone, nor what *truth* has as well. A definition is
    known by its name and column, within the block that it would stand in.
    """
    before, after = left.rpartition("\n"), right.partition("\n")
    written = [line for line in (before[2] + text + after[0]).split("\n") if line.strip()]
    above = [line for line in before[0].split("\n") if line.strip()]
    below = [line for line in after[2].split("\n") if line.strip()]
    meant = {line.strip() for line in (before[2] + truth + after[0]).split("\n")}
    lines = [*above[-NEAR:], *written, *below[:NEAR]]
    first = len(above[-NEAR:])
    for number, line in enumerate(written, first):
        near = [*lines[max(0, number - NEAR) : number], *lines[max(number + 1, first + len(written)) :]]
        if line.strip() not in meant and _tells(line) and line.strip() in map(str.strip, near):
            return True
    new = [line for line in written if line.strip() not in meant]
    return any(_exists(line, above, below) for line in new)


def _tells(line: str) -> bool:
    return line.strip() not in _COMMON and any(map(_is_word, line))


def _exists(line: str, above: Sequence[str], below: Sequence[str]) -> bool:
    """Whether the block that *line* defines something in has that definition already."""
    defined = _DEFINITION.match(line)
    if defined is None:
        return False
    column = len(defined[1])
    return defined[2] in {*_defined(reversed(above), column), *_defined(below, column)}


def _defined(lines: Iterable[str], column: int) -> list[str]:
    """The names that *lines* define at *column*, to the end of the block."""
    names = list[str]()
    for line in lines:
        if _indentation(line) < column:
            break
        found = _DEFINITION.match(line)
        if found is not None and len(found[1]) == column:
            names.append(found[2])
    return names


def _indentation(line: str) -> int:
    return len(line) - len(line.lstrip())
