"""Where a file is cut into left, middle and right."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from .laws import Case

_LEXEME = re.compile(rb"\w{2,}|[^\w\s]{2,}|\"[^\"\n]{2,}\"|'[^'\n]{2,}'|\d[\d.e_]+")
_HEADER = re.compile(rb"^([ \t]*)\w[^\n]*:\n", re.MULTILINE)
_LENGTHS = (1, 3, 10, 30, 100, 300)
_LONGEST = 600

Span = tuple[int, int]


def cut(kind: str, data: bytes, rng: random.Random) -> Case:
    """*data*, which is not empty, cut in the way of *kind*, one of `KINDS`."""
    start, end = KINDS[kind](data, rng)
    return Case(data[:start], data[start:end], data[end:])


def anywhere(data: bytes, rng: random.Random) -> Span:
    """From any byte, inside a character too, over a length drawn from several magnitudes."""
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(0, rng.choice(_LENGTHS)))


def within_lexemes(data: bytes, rng: random.Random) -> Span:
    """From inside a lexeme to inside the same or a later one."""
    lexemes = _LEXEME.finditer(data, rng.randrange(len(data)))
    spans = [match.span() for _, match in zip(range(20), lexemes, strict=False)]
    if not spans:
        return anywhere(data, rng)
    first, last = sorted((rng.choice(spans), rng.choice([spans[0], rng.choice(spans)])))
    start, end = rng.randrange(first[0] + 1, first[1]), rng.randrange(last[0] + 1, last[1])
    return min(start, end), max(start, end)


def whole_lines(data: bytes, rng: random.Random) -> Span:
    """A few lines, with or without the end of the last."""
    starts = [0, *(match.end() for match in re.finditer(rb"\n", data))]
    first = rng.randrange(len(starts))
    last = min(len(starts) - 1, first + rng.choice((1, 2, 3, 8)))
    return starts[first], max(starts[first], starts[last] - rng.randrange(2))


def whole_block(data: bytes, rng: random.Random) -> Span:
    """An indented block to its end: with its header, from its first line, or from a later one."""
    matches = _HEADER.finditer(data, rng.randrange(len(data)))
    headers = [match for _, match in zip(range(6), matches, strict=False)]
    if not headers:
        return whole_lines(data, rng)
    header = rng.choice(headers)
    end = _end_of_block(data, header.end(), header[1])
    lines = [header.end() + match.end() for match in re.finditer(rb"\n[ \t]*", data[header.end() : end])]
    return rng.choice([header.start(), header.end(), rng.choice([header.end(), *lines])]), end


def _end_of_block(data: bytes, start: int, margin: bytes) -> int:
    """The end of the lines from *start* that are blank or deeper than *margin*; a long block is cut off."""
    end = start
    while end < len(data) and end - start < _LONGEST:
        line_end = data.find(b"\n", end) + 1 or len(data)
        line = data[end:line_end]
        if line.strip() and not (line.startswith(margin) and line[len(margin) : len(margin) + 1] in b" \t"):
            break
        end = line_end
    return end


def nothing(data: bytes, rng: random.Random) -> Span:
    """A cursor with nothing to fill in."""
    place = rng.randrange(len(data) + 1)
    return place, place


KINDS: dict[str, Callable[[bytes, random.Random], Span]] = {
    "random span": anywhere,
    "within lexemes": within_lexemes,
    "whole lines": whole_lines,
    "whole block": whole_block,
    "nothing": nothing,
}
