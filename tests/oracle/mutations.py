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
"""The text that the pieces of a group may replace."""


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
        spans = [match.span() for match in _MARKS[group].finditer(middle)]
        if not spans:
            return _inserting(group)(middle, rng)
        start, end = rng.choice(spans)
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


_MOST_PLACES = 3


def dressed(text: bytes, rng: random.Random) -> bytes:
    """*text*, every other time in another layout; now and then it is valid no more."""
    for _ in range(rng.choice((0, 0, 1, 1, 2))):
        text = rng.choice(_LAYOUTS)(text, rng)
    return text


def _everywhere(old: bytes, new: bytes) -> Callable[[bytes, random.Random], bytes]:
    return lambda text, _: text.replace(old, new)


def _somewhere(pattern: bytes, new: bytes) -> Callable[[bytes, random.Random], bytes]:
    """A few matches of *pattern* replaced by *new*, in which a backslash is written twice."""

    def change(text: bytes, rng: random.Random) -> bytes:
        places = list(re.finditer(pattern, text))
        for match in sorted(
            rng.sample(places, min(len(places), _MOST_PLACES)), key=re.Match.start, reverse=True
        ):
            text = text[: match.start()] + match.expand(new) + text[match.end() :]
        return text

    return change


_LAYOUTS = (
    lambda text, _: text.rstrip(b"\n"),
    _everywhere(b"\n", b"\r\n"),
    _everywhere(b"\n", b"\r"),
    _everywhere(b"    ", b"\t"),
    _everywhere(b"    ", b" "),
    _everywhere(b"\n", b"\n\f"),
    _everywhere(b"\n", b" # c\n"),
    _everywhere(b"\n", b"\n\n"),
    _somewhere(rb"\n( *)", rb"\n \n\1"),
    _somewhere(rb"\n( *)", rb"\n\1# c\n\1"),
    _somewhere(rb"(?m)^( *)", rb"\\\n\1"),
    _somewhere(rb"(?m)^( *)", rb"\1\\\n"),
    _somewhere(rb"(?m)^( *)", rb"\1\\\r\n  "),
    _somewhere(rb" +", rb" \\\n "),
    _somewhere(rb" +", rb"\t\\\r\n"),
    _somewhere(rb"(?m)$", rb"\\\n"),
    _somewhere(rb"([\[({,])", rb"\1\n"),
    _somewhere(rb"([\[({,])", rb"\1 # c\n"),
    _somewhere(rb"\n +", rb"; "),
    _somewhere(rb":\n +", rb": "),
    _somewhere(rb"(?m)^( +)", rb"\1\1"),
    _somewhere(rb"(\b[a-z]\w*)", b"\\1\xc3\xa9"),
    _somewhere(rb"'([^'\n]*)'", rb"f'\1'"),
    _somewhere(rb"'([^'\n]*)'", rb"f'''{\1}'''"),
    _somewhere(rb"\b([a-z]\w*)\b", rb"f'{\1!r:>{\1}}'"),
)
