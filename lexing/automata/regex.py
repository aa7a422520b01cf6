"""Regular expressions over bytes, as a small algebra.

An expression is a tree of four node types, built by the functions below. Wherever they expect an expression
they also take a plain string, which means its UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
"""The code points from the first number to the second, both included."""

LAST_CHARACTER = 0x10FFFF


@dataclass(frozen=True, slots=True)
class OneByte:
    """Any one byte of a set."""

    members: frozenset[int]


@dataclass(frozen=True, slots=True)
class Sequence:
    """The parts, one after the other; without parts, the empty string."""

    parts: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any one of the options; without options, nothing at all."""

    options: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Many:
    """The body, any number of times (Kleene star)."""

    body: Regex


Regex: TypeAlias = OneByte | Sequence | Choice | Many
Part: TypeAlias = Regex | str

EMPTY = Sequence(())


def sequence(*parts: Part) -> Regex:
    """The parts, one after the other."""
    return Sequence(tuple(map(_regex, parts)))


def choice(*options: Part) -> Regex:
    """Any one of the options."""
    return Choice(tuple(map(_regex, options)))


def many(*parts: Part) -> Regex:
    """The sequence of the parts, any number of times."""
    return Many(sequence(*parts))


def some(*parts: Part) -> Regex:
    """The sequence of the parts, once or more."""
    return sequence(*parts, many(*parts))


def maybe(*parts: Part) -> Regex:
    """The sequence of the parts, or nothing."""
    return choice(EMPTY, sequence(*parts))


def exactly(count: int, part: Part) -> Regex:
    """The part, a fixed number of times."""
    return sequence(*[part] * count)


def one_of(characters: str) -> Regex:
    """Any one of some ASCII characters."""
    return OneByte(frozenset(characters.encode("ascii")))


def any_case(word: str) -> Regex:
    """An ASCII word, each letter in either case."""
    return sequence(*(one_of(letter.lower() + letter.upper()) for letter in word))


def character_but(excluded: str, last: int = 0x10FFFF) -> Regex:
    """Any character up to `last` except those in `excluded` and NUL, which source text cannot contain."""
    bounds = [0, *sorted(map(ord, excluded)), last + 1]
    return code_points([(low + 1, high - 1) for low, high in pairwise(bounds)])


def code_points(ranges: Iterable[Range]) -> Regex:
    """Any one character of ascending ranges, in UTF-8; surrogates, which have no UTF-8 form, are left out.

    The tree is a trie of the encodings. Lead bytes with equal continuations share a branch, so the tree is
    hardly larger than the minimal DFA.
    """
    wanted = list(ranges)
    return Choice(
        tuple(
            _bytes(clipped, 6 * continuations, marker)
            for continuations, marker, length_range in _UTF8_LENGTHS
            if (clipped := _intersection(wanted, length_range))
        )
    )


# Continuation bytes, high bits of the lead byte, range of code points (the Unicode Standard, table 3-6).
_UTF8_LENGTHS = (
    (0, 0x00, (0x0000, 0x007F)),
    (1, 0xC0, (0x0080, 0x07FF)),
    (2, 0xE0, (0x0800, 0xD7FF)),
    (2, 0xE0, (0xE000, 0xFFFF)),
    (3, 0xF0, (0x10000, 0x10FFFF)),
)


@cache
def _bytes(ranges: tuple[Range, ...], shift: int, marker: int) -> Regex:
    """A byte with `marker` and the bits from `shift` upwards, then continuation bytes with the lower bits."""
    leads: dict[tuple[Range, ...], list[int]] = {}
    for top in sorted({top for low, high in ranges for top in range(low >> shift, (high >> shift) + 1)}):
        first = top << shift
        inside = _intersection(ranges, (first, first + (1 << shift) - 1))
        below = tuple((low - first, high - first) for low, high in inside)
        leads.setdefault(below, []).append(marker | top)
    return Choice(
        tuple(
            sequence(OneByte(frozenset(lead)), _bytes(below, shift - 6, 0x80) if shift else EMPTY)
            for below, lead in leads.items()
        )
    )


def ascending(ranges: Iterable[Range], *, is_negated: bool) -> tuple[Range, ...]:
    """The characters of *ranges*, or all others, as ascending ranges with gaps between them."""
    merged: list[Range] = []
    for low, high in sorted(ranges):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(high, merged[-1][1])
        else:
            merged.append((low, high))
    if not is_negated:
        return tuple(merged)
    edges = [-1, *(edge for one in merged for edge in one), LAST_CHARACTER + 1]
    gaps = zip(edges[::2], edges[1::2], strict=True)
    return tuple((low + 1, high - 1) for low, high in gaps if low + 1 <= high - 1)


def _intersection(ranges: Iterable[Range], window: Range) -> tuple[Range, ...]:
    """The parts of the ranges that lie inside the window."""
    clipped = ((max(low, window[0]), min(high, window[1])) for low, high in ranges)
    return tuple((low, high) for low, high in clipped if low <= high)


def _regex(part: Part) -> Regex:
    """The part itself, or the expression for a string."""
    if isinstance(part, str):
        return Sequence(tuple(OneByte(frozenset((byte,))) for byte in part.encode()))
    return part
