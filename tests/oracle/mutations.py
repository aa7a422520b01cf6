"""Small changes of a true middle, each of a kind by which its verdicts are counted."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from .vocabulary import GROUPS

_MARKS = {
    "brackets": re.compile(rb"[()\[\]{}]"),
    "quotes": re.compile(rb"[a-zA-Z]{0,2}(?:'''|\"\"\"|'|\")"),
    "line ends": re.compile(rb"\r\n|\n|\r|\\|#|;"),
    "spaces": re.compile(rb"[ \t\f]+"),
    "digits": re.compile(rb"[\d.]+[eEjxob_]?"),
    "escapes": re.compile(rb"\\."),
    "f-string parts": re.compile(rb"[{}:!=]"),
    "operators": re.compile(rb"[^\w\s'\"()\[\]{}#\\]+"),
    "keywords": re.compile(rb"\b[a-z]{2,8}\b *"),
    "names": re.compile(rb"\b[a-zA-Z_]\w*"),
    "statements": re.compile(rb"[^\n]+"),
    "bytes": re.compile(rb"[\x80-\xff]"),
}
"""What the pieces of a group may stand in for."""


def mutant(middle: bytes, rng: random.Random) -> tuple[str, bytes]:
    """A change of *middle* after the name of its kind."""
    kind = rng.choice(_KINDS)
    return kind, MUTATIONS[kind](middle, rng)


def _inserting(group: str) -> Callable[[bytes, random.Random], bytes]:
    def insert(middle: bytes, rng: random.Random) -> bytes:
        place = rng.randrange(len(middle) + 1)
        return middle[:place] + rng.choice(GROUPS[group]) + middle[place:]

    return insert


def _replacing(group: str) -> Callable[[bytes, random.Random], bytes]:
    def exchange(middle: bytes, rng: random.Random) -> bytes:
        found = [match.span() for match in _MARKS[group].finditer(middle)]
        if not found:
            return _inserting(group)(middle, rng)
        start, end = rng.choice(found)
        return middle[:start] + rng.choice((b"", *GROUPS[group])) + middle[end:]

    return exchange


def delete(middle: bytes, rng: random.Random) -> bytes:
    """A few bytes left out."""
    place = rng.randrange(len(middle) + 1)
    return middle[:place] + middle[place + rng.choice((1, 1, 2, 4, 8)) :]


def double(middle: bytes, rng: random.Random) -> bytes:
    """A few bytes written twice."""
    start = rng.randrange(len(middle) + 1)
    return middle[: start + rng.choice((1, 3, 9))] + middle[start:]


def cut_short(middle: bytes, rng: random.Random) -> bytes:
    """The end left out."""
    return middle[: rng.randrange(len(middle) + 1)]


def shift_line(middle: bytes, rng: random.Random) -> bytes:
    """A line moved to another column."""
    lines = middle.splitlines(keepends=True) or [b""]
    place = rng.randrange(len(lines))
    line = lines[place]
    lines[place] = rng.choice(
        (b" " + line, b"    " + line, b"\t" + line.lstrip(b" "), line[1:], line.lstrip(b" "))
    )
    return b"".join(lines)


def swap_lines(middle: bytes, rng: random.Random) -> bytes:
    """Two lines exchanged, or one left out."""
    lines = middle.splitlines(keepends=True) or [b""]
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines if one != other else lines[:one] + lines[one + 1 :])


MUTATIONS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "delete": delete,
    "double": double,
    "cut short": cut_short,
    "shift a line": shift_line,
    "swap lines": swap_lines,
    **{f"insert {group}": _inserting(group) for group in GROUPS},
    **{f"replace {group}": _replacing(group) for group in GROUPS},
}
_KINDS = tuple(MUTATIONS)
